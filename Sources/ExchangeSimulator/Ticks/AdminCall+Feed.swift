extension AdminCall {
    /// What can be done to the feeds.
    static let feed = [
        AdminCall(
            "/feed-faults",
            "Of so many ticks one is lost, comes twice, comes late; so many requests stay unanswered; 0 = none, as is what is left out.",
            values: "[drop=] [repeat=] [late=] [unanswered=]"
        ) { venue, query in
            let ticks = try binary(venue)
            var faults = TickFaults()
            faults.dropEvery = try count(query, "drop")
            faults.repeatEvery = try count(query, "repeat")
            faults.lateEvery = try count(query, "late")
            faults.unanswered = try count(query, "unanswered")
            ticks.adjust { [faults] in
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
            let ticks = try binary(venue)
            let (symbol, name) = (try query.symbol(of: venue), try query.text("name"))
            guard venue.symbols.contains(symbol) else { throw Wrong(text: "the feed does not list \(symbol): GET /symbols says what it lists") }
            guard let spoiled = TickFaults.Spoiled(rawValue: name) else {
                throw Wrong(text: "no such price is called \(name): \(TickFaults.Spoiled.allCases.map(\.rawValue).joined(separator: ", ")) are")
            }
            ticks.adjust { $0.spoiled[symbol] = spoiled }
            return "done"
        },
        AdminCall("/feed-rate", "Moves of prices a second on the binary feed.", values: "rate=") { venue, query in
            let ticks = try binary(venue)
            ticks.setRate(Int(try query.number("rate", in: counts)))
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

    /// Of ticks, and of moves in a second: more than any machine sends.
    private static let counts: ClosedRange<Int64> = 0...1_000_000

    private static func count(_ query: AdminQuery, _ name: String) throws(Wrong) -> Int {
        query.optional(name) == nil ? 0 : Int(try query.number(name, in: counts))
    }
}
