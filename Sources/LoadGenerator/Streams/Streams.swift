import Foundation

extension Command {
    static let streams = Command(
        "streams",
        "Connects many clients to a router's price streams and says how old the prices are when they come, and what they cost.",
        flags: [
            Flag("router", "host:port", .required, "Where the router listens: an IPv4 address."),
            Flag("token", "token", .optional, "With the scope market:read; for form plain none."),
            Flag("form", "form", .optional, "sse, websocket, or plain (against broadcast); sse without it."),
            Flag("clients", "n", .optional, "1 to 19000; 1000 without it."),
            Flag("symbols", "list", .optional, "NVDA,AAPL,…: of these each client watches some; the simulator's named ones without it."),
            Flag("each", "n", .optional, "Symbols a client watches, 1 to 100; 15 without it."),
            Flag("for", "time", .optional, "How long to measure; 20s without it."),
            Flag("warm-up", "time", .optional, "Before that, once all are connected; 5s without it."),
            Flag("slow", "Clients take a kilobyte every two seconds: they are behind for ever."),
            Flag("process", "pid", .optional, "The server's process, to say what it uses."),
        ],
        details:
            "All clients come from one address: the router needs --max-connections-per-address. The age counts from the router's change of a price, by the "
            + "clock of this machine, to its arrival here, in whole milliseconds."
    ) { arguments in
        guard let router = arguments.value("router"), let colon = router.lastIndex(of: ":"), let port = UInt16(router[router.index(after: colon)...])
        else { throw UsageError("--router is not host:port, such as 127.0.0.1:8080.") }
        let form = try arguments.parsed("form", "sse, websocket or plain", StreamSettings.Form.init(rawValue:)) ?? .sse
        guard form == .plain || arguments.value("token") != nil else { throw UsageError("--token is missing: order-router tokens issue makes one.") }
        let settings = StreamSettings(
            host: String(router[..<colon]),
            port: port,
            token: arguments.value("token") ?? "",
            form: form,
            clients: try arguments.number("clients", 1...19_000) ?? 1_000,
            symbols: arguments.value("symbols")?.split(separator: ",").map(String.init) ?? StreamReport.symbols,
            each: try arguments.number("each", 1...100) ?? 15,
            span: try arguments.time("for") ?? 20_000_000_000,
            warmUp: try arguments.time("warm-up") ?? 5_000_000_000,
            isSlow: arguments.has("slow"),
            server: try arguments.number("process", 1...Int(Int32.max)).map { Int32($0) }
        )
        try DescriptorLimit.raise()
        let run = try StreamRun(settings)
        StreamReport(try run.run()).say()
        return .ok
    }

    static let broadcast = Command(
        "broadcast",
        "Sends the same bytes to every client, again and again: the floor that price streams are compared with.",
        flags: [
            Flag("port", "n", .required, "Where to listen, on this machine."),
            Flag("bytes", "n", .required, "Bytes of one message."),
            Flag("per-second", "n", .optional, "Messages a client a second; 2 without it."),
        ],
        details: "Runs until it is ended."
    ) { arguments in
        guard let port = try arguments.number("port", 1...65_535), let bytes = try arguments.number("bytes", 1...1_000_000) else {
            throw UsageError("--port and --bytes are needed.")
        }
        try DescriptorLimit.raise()
        try Broadcast(port: UInt16(port), bytes: bytes, perSecond: try arguments.number("per-second", 1...100) ?? 2).run()
        return .ok
    }
}

/// What a run has shown, in lines.
struct StreamReport {
    private let outcome: StreamRun.Outcome

    /// The simulator's, the busiest first.
    static let symbols = [
        "NVDA", "AAPL", "MSFT", "AMZN", "GOOGL", "META", "TSLA", "AVGO", "JPM", "LLY", "V", "UNH", "XOM", "MA", "COST", "HD", "PG", "JNJ", "NFLX",
        "BAC",
    ]

    init(_ outcome: StreamRun.Outcome) { self.outcome = outcome }

    func say() {
        func text(_ value: Double, _ unit: String) -> String { String(format: "%.1f", value) + unit }
        let seconds = outcome.seconds
        LoadGenerator.say("\(outcome.clients) clients, \(outcome.lost) lost, \(text(seconds, " s"))")
        LoadGenerator.say("\(text(Double(outcome.events) / seconds, "/s")) events, \(text(Double(outcome.bytes) / seconds / 1e6, " MB/s"))")
        for share in [0.5, 0.99, 0.999, 1.0] {
            if let age = outcome.ages.quantile(share) { LoadGenerator.say("p\(share * 100): \(age / 1_000_000) ms from change to arrival") }
        }
        if let use = outcome.use {
            for name in ["server", "load"] {
                guard let before = use.before.cpu[name], let after = use.after.cpu[name] else { continue }
                let perEvent = outcome.events > 0 ? (after - before) * 1e6 / Double(outcome.events) : 0
                LoadGenerator.say("\(name): \(text((after - before) / seconds * 100, " % of a core")), \(text(perEvent, " µs an event"))")
            }
        }
        if let memory = outcome.memory, outcome.clients > 0 {
            LoadGenerator.say("server: \(memory.after / 1_048_576) MB, \((memory.after - memory.before) / outcome.clients) bytes more a client")
        }
    }
}

/// Each client is a descriptor, here and at the server.
enum DescriptorLimit {
    static func raise() throws(LoadFailure) {
        var limit = rlimit()
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        guard unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            throw LoadFailure("the limit of descriptors cannot be raised (errno \(errno))")
        }
    }
}
