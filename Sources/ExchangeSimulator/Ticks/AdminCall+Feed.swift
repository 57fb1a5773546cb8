extension AdminCall {
    /// What can be done to the feeds.
    static let feed = [
        AdminCall(
            "/feed-faults",
            "Of so many ticks one is lost, comes twice, comes late; so many requests stay unanswered; 0 = none.",
            values: "[drop=] [repeat=] [late=] [unanswered=]"
        ) { venue, query in
            var faults = TickFaults()
            faults.dropEvery = try count(query, "drop")
            faults.repeatEvery = try count(query, "repeat")
            faults.lateEvery = try count(query, "late")
            faults.unanswered = try count(query, "unanswered")
            try binary(venue).adjust { [faults] in
                let spoiled = $0.spoiled
                $0 = faults
                $0.spoiled = spoiled
            }
            venue.adjust { [faults] in $0.dropUpdatesEvery = faults.dropEvery }
            return "done"
        },
        AdminCall(
            "/feed-spoil",
            "The next change of a symbol carries a price that cannot be.",
            values: "symbol= name=\(TickFaults.Spoiled.allCases.map(\.rawValue).joined(separator: "|"))"
        ) { venue, query in
            let (symbol, name) = (try query.text("symbol"), try query.text("name"))
            guard let spoiled = TickFaults.Spoiled(rawValue: name) else { throw Wrong(text: "no such price is called \(name)") }
            try binary(venue).adjust { $0.spoiled[symbol] = spoiled }
            return "done"
        },
        AdminCall("/feed-rate", "Moves of prices a second on the binary feed.", values: "rate=") { venue, query in
            try binary(venue).setRate(count(query, "rate"))
            return "done"
        },
        AdminCall("/feed-restart", "The binary feed begins anew: another session, other ids, numbers from the beginning.") { venue, _ in
            try binary(venue).restart()
            return "done"
        },
        AdminCall("/feed-disconnect", "Breaks the binary feed's TCP lines.") { venue, _ in
            try binary(venue).dropLines()
            return "done"
        },
    ]

    private static func binary(_ venue: SimulatedVenue) throws(Wrong) -> TickPublisher {
        guard let ticks = venue.ticks else { throw Wrong(text: "it was started without the binary feed (--feed-tcp)") }
        return ticks
    }

    private static func count(_ query: Query, _ name: String) throws(Wrong) -> Int {
        guard let text = query.optional(name) else { return 0 }
        guard let count = Int(text), (0...1_000_000).contains(count) else { throw Wrong(text: "\(name) is a whole number from 0 to 1000000") }
        return count
    }
}
