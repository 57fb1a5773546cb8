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
}
