import Foundation

extension Command {
    static let run = Command(
        "run",
        "Sends signed orders at a router for a bounded time, follows them to the venue and to their fills, and prints a table and a line of JSON.",
        flags: [
            Flag("directory", "folder", .required, "What prepare has made."),
            Flag("router", "address:port", .optional, "Where the router serves; 127.0.0.1:8080 without it."),
            Flag("connections", "n", .optional, "Kept-alive connections; 256 without it. In a closed loop each sends its next order when answered."),
            Flag("rate", "n", .optional, "An open loop: so many orders a second, latency from the intended time; a closed loop without it."),
            Flag("arrivals", "form", .optional, "Of an open loop: poisson (without it) or even."),
            Flag("seed", "n", .optional, "Of orders and arrivals; 1 without it."),
            Flag("warm-up", "time", .optional, "Not counted; 3s without it."),
            Flag("duration", "time", .optional, "Counted; 10s without it."),
            Flag("orders", "n", .optional, "Orders at most, duplicates not counted."),
            Flag("ahead", "n", .optional, "Signed orders that wait, 512 without it; with as many as --orders all are signed before the run begins."),
            Flag("hot-share", "share", .optional, "Of orders through one account, such as 0.5."),
            Flag("duplicates", "share", .optional, "Of requests that repeat an earlier one byte for byte."),
            Flag("refusals", "share", .optional, "Of orders that must be refused: unknown symbol, beyond the collar, bad signature."),
            Flag("resting", "Limits far from the market: nothing fills."),
            Flag("symbols", "list", .optional, "What is traded; \(Preparation.symbols.joined(separator: ",")) without it."),
            Flag("no-streams", "Does not follow orders to their fills."),
            Flag("receipts", "file", .optional, "What order-router simulate --receipts writes: follows orders to the venue."),
            Flag("watch", "name=pid", .repeated, "router, venue or postgres (the postmaster): their processor time and memory are reported."),
            Flag("timeout", "time", .optional, "After which an answer is not awaited any more and the request sent again; 10s without it."),
        ],
        details: """
            An order is signed over the time of its signing: what waits in the pool must be younger than the router's
            --stale-after (2.5 s without a setting) when it is sent, and never older than 30 s.
            A duplicate must get the first answer's 201 again, marked as a repetition; anything else is a contradiction.
            Lost connections, time-outs and 503 busy are counted, and the same request is sent again until it is answered.
            """
    ) { arguments in
        let settings = try loadSettings(arguments)
        let result = try Run(settings).perform()
        note(result.table)
        say(try result.json())
        return result.holds ? .ok : .failed
    }

    private static func loadSettings(_ arguments: Arguments) throws -> LoadSettings {
        var settings = LoadSettings()
        let address = (arguments.value("router") ?? "127.0.0.1:8080").split(separator: ":")
        guard address.count == 2, let port = UInt16(address[1]) else { throw UsageError("--router is not an IPv4 address and a port.") }
        (settings.host, settings.port) = (String(address[0]), port)
        settings.connections = try arguments.number("connections", 1...10_000) ?? settings.connections
        if let rate = try arguments.number("rate", 1...1_000_000) {
            let isPoisson = try arguments.parsed("arrivals", "poisson or even") { ["poisson": true, "even": false][$0] } ?? true
            settings.pace = .open(rate: Double(rate), isPoisson: isPoisson)
        }
        settings.seed = UInt64(try arguments.number("seed", 0...Int.max) ?? 1)
        settings.warmUp = try arguments.time("warm-up") ?? settings.warmUp
        settings.duration = try arguments.time("duration") ?? settings.duration
        settings.orders = try arguments.number("orders", 1...100_000_000)
        settings.ahead = try arguments.number("ahead", 1...10_000_000) ?? settings.ahead
        settings.hotShare = try arguments.share("hot-share") ?? 0
        settings.duplicates = try arguments.share("duplicates") ?? 0
        settings.refusals = try arguments.share("refusals") ?? 0
        guard settings.duplicates < 1 else { throw UsageError("--duplicates is 1: then there is nothing to repeat.") }
        settings.isResting = arguments.has("resting")
        settings.symbols = arguments.value("symbols")?.split(separator: ",").map { String($0) } ?? settings.symbols
        settings.streams = !arguments.has("no-streams")
        settings.receipts = arguments.value("receipts")
        settings.watched = try arguments.all("watch").map { text throws(UsageError) in
            guard let process = WatchedProcess(text) else {
                throw UsageError("--watch is '\(text)': expected is a name (router, venue, postgres), = and a process's number.")
            }
            return process
        }
        settings.timeout = try arguments.time("timeout") ?? settings.timeout
        guard let folder = arguments.value("directory") else { throw UsageError("--directory is missing.") }
        settings.traders = try TraderFile.read(folder)
        return settings
    }
}

/// A run with what surrounds it: prices before it, the venue's receipts after it, and what the processes used meanwhile.
struct Run {
    /// How often later orders get newer prices.
    private static let repricing: TimeInterval = 1
    private let settings: LoadSettings

    init(_ settings: LoadSettings) { self.settings = settings }

    /// Blocks the calling thread until the run is over.
    func perform() throws -> LoadResult {
        let client = RouterClient(host: settings.host, port: settings.port)
        guard let trader = settings.traders.first else { throw LoadFailure("there is nobody to trade") }
        let orders = SignedOrders(settings, prices: try client.prices(settings.symbols, trader))
        defer { orders.stop() }
        if settings.showsProgress, settings.ahead >= settings.orders ?? .max { note("  signing \(settings.orders ?? 0) orders …") }
        try orders.start()
        var receipts = settings.receipts.map { Receipts($0) }
        let run = try LoadRun(settings, orders: orders)
        var before = ProcessUse()
        var batchesBefore: [String: BatchCount] = [:]
        try run.run {
            before = try ProcessUse.now(settings.watched)
            batchesBefore = try client.batches()
        }
        try receipts?.join(run, until: MonotonicClock.now + settings.patience)
        let batches = try client.batches().reduce(into: [String: BatchCount]()) { legs, leg in
            legs[leg.key] = leg.value - (batchesBefore[leg.key] ?? BatchCount(pieces: 0, batches: 0))
        }
        return LoadResult(run, before: before, after: try ProcessUse.now(settings.watched), batches: batches)
    }
}

extension LoadResult {
    /// One line.
    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
}
