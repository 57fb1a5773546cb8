import Cryptography
import ExchangeSimulator
import FIX
import HTTPServer

extension Command {
    /// Where the simulator listens unless it is told otherwise.
    static let simulatorEndpoint = Endpoint(host: "127.0.0.1", port: 9_880)

    /// The simulator's CompID says what it is: no counterparty takes it for a live venue.
    private static let simulatorCompID = "EXCH-SIM"

    static let simulate = Command(
        "simulate",
        "Runs a venue to trade against: a FIX 4.4 acceptor with orders, quotes and faults on request.",
        flags: [
            Flag("listen", "host:port", .optional, "Where it listens; \(simulatorEndpoint) without it. Port 0 takes any free one."),
            Flag("tls-certificate", "file", .optional, "Certificate chain in PEM: every line is then secured by TLS; plain without it."),
            Flag("tls-key", "file", .optional, "Private key of the certificate in PEM."),
            Flag("tls-client-ca", "file", .optional, "Who connects must show a certificate that one of these authorities (PEM) has signed."),
            Flag("comp-id", "id", .optional, "Its own CompID, which contains SIM or TEST; \(simulatorCompID) without it."),
            Flag("allow-live-name", .mark, "The CompID may be any: for a counterparty that cannot be told another."),
            Flag("orders-comp-id", "id", .repeated, "Who may log on for orders; ORDERS without it."),
            Flag("market-data-comp-id", "id", .repeated, "Who may log on for market data; QUOTES without it."),
            Flag("any-comp-id", .mark, "Anybody may log on."),
            Flag("state", "folder", .optional, "Where orders and sessions outlive the process; in memory without it."),
            Flag("receipts", "file", .optional, "Notes there when each new order came: ClOrdID and microseconds since the epoch, a line each."),
            Flag("seed", "n", .optional, "Seed of the prices; 1 without it."),
            Flag("ticks", "n", .optional, "Moves of each price in a second, 1 to 1000; 4 without it."),
            Flag("frozen", .mark, "Prices stay where they are."),
            Flag(
                "feed-tcp",
                "host:port",
                .optional,
                "Where the binary feed takes its TCP lines: definitions, snapshots, and without --feed-udp the ticks."
            ),
            Flag("feed-udp", "group:port", .optional, "Where the binary feed sends its datagrams: an IPv4 group or address; needs --feed-tcp."),
            Flag("feed-interface", "address", .optional, "IPv4 address of the interface for them; 127.0.0.1 without it: this machine alone."),
            Flag("feed-rate", "n", .optional, "Moves of prices a second on the binary feed, all symbols together, beside --ticks; 0 without it."),
            Flag("feed-symbols", "n", .optional, "Symbols beside the named ones, S00001 and on; 0 without it."),
            Flag("validation", "how", .optional, "off, lenient or strict about the FIX 4.4 dictionary; strict without it."),
            Flag("reset-on-logon", .mark, "Sequence numbers begin again with each logon."),
            Flag("reset-on-logout", .mark, "Sequence numbers begin again after each Logout."),
            Flag("reset-on-disconnect", .mark, "Sequence numbers begin again after each end of a connection."),
            Flag("sending-time-tolerance", "time", .optional, "How far a SendingTime may be from the clock; not checked without it."),
            Flag("heartbeat-bounds", "from-to", .optional, "Seconds that it takes as HeartBtInt; 0-3600 without it."),
            Flag("next-expected", .mark, "Logons say which number is expected next (tag 789)."),
            Flag("resend-open-end", .mark, "Gaps are asked for with EndSeqNo 0."),
            Flag("scenario", "symbol=name", .repeated, "What it does wrong with a symbol; the suffix does the same (NVDA.MUTE)."),
            Flag("lateness", "ms", .optional, "How late the scenarios LATE, SILENT and REORDER are; 3000 without it."),
            Flag("admin", "host:port", .optional, "Where it takes calls that switch faults on and off, by HTTP, on this machine alone."),
            Flag("scenarios", .mark, "Lists what can go wrong and how it is switched on, and ends."),
            Flag("echo", .mark, "Sends orders and security definitions back instead of trading, for conformance runs. See the README."),
        ],
        details: "Scenarios:\n" + scenarioLines
    ) { arguments in
        if arguments.has("scenarios") {
            say(scenarioLines, terminator: "")
            say(howToSwitch, terminator: "")
            return .ok
        }
        let log = Log(least: .info)
        if arguments.has("echo") {
            try await echo(arguments, log)
            return .ok
        }
        let configuration = try venueConfiguration(arguments)
        let admin = try adminEndpoint(arguments)
        let venue = try SimulatedVenue(configuration) { log(.info, "venue", ["text": $0]) }
        for (symbol, scenario) in configuration.exchange.scenarios.sorted(by: { $0.key < $1.key }) where venue.quote(of: symbol) == nil {
            throw UsageError("--scenario is '\(symbol)=\(scenario.rawValue)': the venue lists no \(symbol).")
        }
        let port = try venue.start()
        let switches = try admin.map { admin in
            var http = HTTPConfiguration()
            (http.host, http.port) = (admin.host, admin.port)
            let listener = try HTTPListener(http, handler: SimulatorAdmin(venue))
            say("Its switches are at http://\(Endpoint(host: admin.host, port: listener.port))/")
            return listener
        }
        if let ticks = venue.ticks { say("Its binary feed is at \(Endpoint(host: configuration.ticks?.host ?? "", port: ticks.port)).") }
        say("The venue \(configuration.compID) listens on \(Endpoint(host: configuration.host, port: port)).")
        try await untilSignal { group in
            group.addTask { try await venue.run() }
            if let switches { group.addTask { try await switches.run() } }
        }
        return .ok
    }

    /// What the echo has none of: orders, prices, faults, a memory that outlives the process.
    private static let notOfTheEcho = [
        "market-data-comp-id", "state", "receipts", "seed", "ticks", "frozen", "feed-tcp", "feed-udp", "feed-interface", "feed-rate", "feed-symbols",
        "scenario", "lateness", "admin",
    ]

    private static func echo(_ arguments: Arguments, _ log: Log) async throws {
        if let flag = notOfTheEcho.first(where: { arguments.has($0) }) {
            throw UsageError("--\(flag) means nothing with --echo, which sends back what comes and keeps nothing: leave it out.")
        }
        let endpoint = try simulatorListen(arguments)
        var configuration = EchoVenue.Configuration()
        configuration.host = endpoint.host
        configuration.port = endpoint.port
        configuration.tls = try lineTLS(arguments)
        configuration.compID = try testCompID(arguments, configuration.compID)
        configuration.parties = arguments.has("any-comp-id") ? [] : try compIDs(arguments, "orders-comp-id") ?? []
        configuration.resetOnLogon = arguments.has("reset-on-logon")
        configuration.agree = try agreement(arguments)
        let venue = EchoVenue(configuration) { log(.info, "echo", ["text": $0]) }
        let port = try venue.start()
        say("The echo \(configuration.compID) listens on \(Endpoint(host: configuration.host, port: port)).")
        try await untilSignal { $0.addTask { try await venue.run() } }
    }

    /// The signal ends what was added; one of it that fails ends the wait.
    private static func untilSignal(_ add: @escaping @Sendable (inout ThrowingTaskGroup<Void, any Error>) -> Void) async throws {
        try await withEndingSignals { ended in
            try await withThrowingTaskGroup(of: Void.self) { group in
                add(&group)
                group.addTask { await ended.wait() }
                try await group.next()
                group.cancelAll()
                try await group.waitForAll()
            }
        }
    }

    private static let scenarioLines = Scenario.list.split(separator: "\n").map { "  \($0)\n" }.joined()

    private static let howToSwitch = """

        By the symbol's suffix (NVDA and AAPL are quoted with every suffix: NVDA.MUTE), for any symbol with --scenario F=MUTE, or while it runs, started
        with --admin 127.0.0.1:9881:  curl -X POST 'http://127.0.0.1:9881/scenario?symbol=F&name=MUTE'
        There too: silence and disconnection of the whole venue, logout, halts, quotes, trades taken back and corrected. GET / lists the calls.

        """

    private static func simulatorListen(_ arguments: Arguments) throws(UsageError) -> Endpoint {
        try arguments.parsed("listen", ValueKind<Endpoint>.endpoint.expected, Endpoint.init(_:)) ?? simulatorEndpoint
    }

    private static func adminEndpoint(_ arguments: Arguments) throws(UsageError) -> Endpoint? {
        guard let endpoint = try arguments.parsed("admin", ValueKind<Endpoint>.endpoint.expected, Endpoint.init(_:)) else { return nil }
        guard SimulatorAdmin.hosts.contains(endpoint.host) else {
            throw UsageError("--admin is '\(endpoint)': it asks for no token, so it listens on this machine alone, such as on 127.0.0.1:9881.")
        }
        return endpoint
    }

    private static func testCompID(_ arguments: Arguments, _ fallback: String) throws(UsageError) -> String {
        let kind = ValueKind<String>.compID
        let id = try arguments.parsed("comp-id", kind.expected, kind.parse) ?? fallback
        guard id.uppercased().contains("SIM") || id.uppercased().contains("TEST") || arguments.has("allow-live-name") else {
            throw UsageError("--comp-id is '\(id)', which could be a live venue's: a simulator's contains SIM or TEST, or say --allow-live-name.")
        }
        return id
    }

    private static func compIDs(_ arguments: Arguments, _ flag: String) throws(UsageError) -> Set<String>? {
        guard arguments.has(flag) else { return nil }
        let kind = ValueKind<String>.compID
        guard arguments.all(flag).allSatisfy({ kind.parse($0) != nil }) else {
            throw UsageError("--\(flag) is not valid: expected is \(kind.expected).")
        }
        return Set(arguments.all(flag))
    }

    private static func lineTLS(_ arguments: Arguments) throws -> LineTLS? {
        let (certificate, key, clients) = (arguments.value("tls-certificate"), arguments.value("tls-key"), arguments.value("tls-client-ca"))
        guard let certificate, let key else {
            guard certificate == nil, key == nil, clients == nil else {
                throw UsageError("TLS needs both files, --tls-certificate and --tls-key.")
            }
            return nil
        }
        return try LineTLS.acceptor(identity: LineTLS.Identity(certificateChain: certificate, privateKey: key), clientAuthorities: clients)
    }

    private static func venueConfiguration(_ arguments: Arguments) throws -> SimulatedVenue.Configuration {
        let endpoint = try simulatorListen(arguments)
        var configuration = SimulatedVenue.Configuration()
        configuration.host = endpoint.host
        configuration.port = endpoint.port
        configuration.tls = try lineTLS(arguments)
        configuration.compID = try testCompID(arguments, simulatorCompID)
        configuration.orderParties = try compIDs(arguments, "orders-comp-id") ?? configuration.orderParties
        configuration.marketDataParties = try compIDs(arguments, "market-data-comp-id") ?? configuration.marketDataParties
        configuration.acceptsAnyParty = arguments.has("any-comp-id")
        configuration.stateDirectory = arguments.value("state")
        configuration.receiptsFile = arguments.value("receipts")
        configuration.seed = try arguments.parsed("seed", "a whole number", ValueKind<UInt64>.number(0...UInt64.max).parse) ?? configuration.seed
        configuration.ticksPerSecond =
            try arguments.parsed("ticks", "a whole number from 1 to 1000", ValueKind<Int>.number(1...1_000).parse) ?? configuration.ticksPerSecond
        configuration.frozen = arguments.has("frozen")
        configuration.agree = try agreement(arguments)
        configuration.madeUpSymbols =
            try arguments.parsed("feed-symbols", "a whole number from 1 to 100000", ValueKind<Int>.number(1...100_000).parse) ?? 0
        configuration.ticks = try binaryFeed(arguments)
        configuration.exchange.lateness =
            try arguments.parsed("lateness", "milliseconds from 1 to 3600000", ValueKind<Int64>.number(1...3_600_000).parse)
            ?? configuration.exchange.lateness
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

    /// Nil where there is none.
    private static func binaryFeed(_ arguments: Arguments) throws(UsageError) -> TickPublisher.Settings? {
        let endpoint = ValueKind<Endpoint>.endpoint
        guard let line = try arguments.parsed("feed-tcp", endpoint.expected, endpoint.parse) else {
            if let flag = ["feed-udp", "feed-rate", "feed-interface"].first(where: { arguments.has($0) }) {
                throw UsageError("--\(flag) needs --feed-tcp: the binary feed's line for definitions and snapshots.")
            }
            return nil
        }
        var settings = TickPublisher.Settings()
        (settings.host, settings.port) = (line.host, line.port)
        if let group = try arguments.parsed("feed-udp", endpoint.expected, endpoint.parse) {
            settings.group = (group.host, group.port, arguments.value("feed-interface") ?? "127.0.0.1")
        }
        if settings.group == nil, arguments.has("feed-interface") {
            throw UsageError("--feed-interface needs --feed-udp: without datagrams there is none.")
        }
        settings.rate = try arguments.parsed("feed-rate", "a whole number from 0 to 1000000", ValueKind<Int>.number(0...1_000_000).parse) ?? 0
        return settings
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
