import ExchangeSimulator
import FIX

extension Command {
    /// Where the simulator listens unless it is told otherwise.
    static let simulatorEndpoint = Endpoint(host: "127.0.0.1", port: 9_880)

    static let simulate = Command(
        "simulate",
        "Runs a venue to trade against: a FIX 4.4 acceptor with orders, quotes and faults on request.",
        flags: [
            Flag("listen", "host:port", .optional, "Where it listens; \(simulatorEndpoint) without it. Port 0 takes any free one."),
            Flag("comp-id", "id", .optional, "Its own CompID; EXCH without it."),
            Flag("orders-comp-id", "id", .repeated, "Who may log on for orders; ORDERS without it."),
            Flag("market-data-comp-id", "id", .repeated, "Who may log on for market data; QUOTES without it."),
            Flag("any-comp-id", .mark, "Anybody may log on."),
            Flag("state", "folder", .optional, "Where orders and sessions outlive the process; in memory without it."),
            Flag("receipts", "file", .optional, "Notes there when each new order came: ClOrdID and microseconds since the epoch, a line each."),
            Flag("seed", "n", .optional, "Seed of the prices; 1 without it."),
            Flag("ticks", "n", .optional, "Moves of each price in a second, 1 to 1000; 4 without it."),
            Flag("frozen", .mark, "Prices stay where they are."),
            Flag("validation", "how", .optional, "off, lenient or strict about the FIX 4.4 dictionary; strict without it."),
            Flag("reset-on-logon", .mark, "Sequence numbers begin again with each logon."),
            Flag("reset-on-logout", .mark, "Sequence numbers begin again after each Logout."),
            Flag("reset-on-disconnect", .mark, "Sequence numbers begin again after each end of a connection."),
            Flag("sending-time-tolerance", "time", .optional, "How far a SendingTime may be from the clock; not checked without it."),
            Flag("heartbeat-bounds", "from-to", .optional, "Seconds that it takes as HeartBtInt; 0-3600 without it."),
            Flag("next-expected", .mark, "Logons say which number is expected next (tag 789)."),
            Flag("resend-open-end", .mark, "Gaps are asked for with EndSeqNo 0."),
            Flag("scenario", "symbol=name", .repeated, "What it does wrong with a symbol; the suffix does the same (NVDA.MUTE)."),
        ],
        details: "Scenarios:\n"
            + Scenario.allCases.map { "  \($0.rawValue)\(String(repeating: " ", count: 10 - $0.rawValue.count))\($0.summary)\n" }.joined()
    ) { arguments in
        let configuration = try venueConfiguration(arguments)
        let log = Log(least: .info)
        let venue = try SimulatedVenue(configuration) { log(.info, "venue", ["text": $0]) }
        let port = try venue.start()
        say("The venue \(configuration.compID) listens on \(Endpoint(host: configuration.host, port: port)).")
        try await withEndingSignals { ended in
            try await withThrowingTaskGroup { group in
                group.addTask { try await venue.run() }
                group.addTask { await ended.wait() }
                // The signal ends the venue; a venue that fails ends the wait.
                try await group.next()
                group.cancelAll()
                try await group.waitForAll()
            }
        }
        return .ok
    }

    private static func venueConfiguration(_ arguments: Arguments) throws(UsageError) -> SimulatedVenue.Configuration {
        let compID = ValueKind<String>.compID
        let endpoint = try arguments.parsed("listen", ValueKind<Endpoint>.endpoint.expected, Endpoint.init(_:)) ?? simulatorEndpoint
        var configuration = SimulatedVenue.Configuration()
        configuration.host = endpoint.host
        configuration.port = endpoint.port
        configuration.compID = try arguments.parsed("comp-id", compID.expected, compID.parse) ?? configuration.compID
        for (flag, path) in [("orders-comp-id", \.orderParties), ("market-data-comp-id", \.marketDataParties)]
            as [(String, WritableKeyPath<SimulatedVenue.Configuration, Set<String>>)]
        where arguments.has(flag) {
            configuration[keyPath: path] = Set(arguments.all(flag))
            guard arguments.all(flag).allSatisfy({ compID.parse($0) != nil }) else {
                throw UsageError("--\(flag) is not valid: expected is \(compID.expected).")
            }
        }
        configuration.acceptsAnyParty = arguments.has("any-comp-id")
        configuration.stateDirectory = arguments.value("state")
        configuration.receiptsFile = arguments.value("receipts")
        configuration.seed = try arguments.parsed("seed", "a whole number", ValueKind<UInt64>.number(0...UInt64.max).parse) ?? configuration.seed
        configuration.ticksPerSecond =
            try arguments.parsed("ticks", "a whole number from 1 to 1000", ValueKind<Int>.number(1...1_000).parse) ?? configuration.ticksPerSecond
        configuration.frozen = arguments.has("frozen")
        configuration.agree = try agreement(arguments)
        for text in arguments.all("scenario") {
            let sides = text.split(separator: "=", omittingEmptySubsequences: false)
            guard sides.count == 2, !sides[0].isEmpty, let scenario = Scenario(rawValue: String(sides[1])) else {
                throw UsageError(
                    "--scenario is '\(text)': expected is symbol=name with a name of \(Scenario.allCases.map(\.rawValue).joined(separator: ", "))."
                )
            }
            configuration.exchange.scenarios[String(sides[0])] = scenario
        }
        return configuration
    }

    /// What the flags say of every session.
    private static func agreement(_ arguments: Arguments) throws(UsageError) -> @Sendable (inout SessionSettings) -> Void {
        let tolerance = ValueKind<Int64>.time(.seconds(1)...(.seconds(3_600)))
        let validation = ValueKind<SessionOptions.Validation>.validation
        var options = SessionOptions()
        options.validation = try arguments.parsed("validation", validation.expected, validation.parse) ?? options.validation
        options.resets = Set(SessionOptions.Reset.allCases.filter { arguments.has("reset-on-\($0.rawValue)") })
        options.sendingTimeTolerance = try arguments.parsed("sending-time-tolerance", tolerance.expected, tolerance.parse)
        options.announcesNextExpected = arguments.has("next-expected")
        options.asksToInfinity = arguments.has("resend-open-end")
        let bounds = try arguments.parsed("heartbeat-bounds", "two whole numbers from 0 to 3600, such as 5-60", heartbeatBounds)
        return { [options] settings in
            options.apply(to: &settings)
            if let bounds { settings.heartbeatBounds = bounds }
        }
    }

    private static func heartbeatBounds(_ text: String) -> ClosedRange<Int64>? {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false).map { ValueKind<Int64>.number(0...3_600).parse(String($0)) }
        guard ends.count == 2, let from = ends[0], let through = ends[1], from <= through else { return nil }
        return from...through
    }
}
