import Postgres

extension Command {
    static let serve = Command(
        "serve",
        "Serves clients, and the venue's session when it is this router's turn. Ends on SIGTERM or SIGINT after pending requests are answered.",
        settings: Setting.all
    ) { arguments in
        let configuration = try arguments.configuration()
        let log = Log(least: configuration.logLevel)
        try await withEndingSignals { ended in
            try await Serve(configuration, log: log).run(until: ended) { port in
                log(.info, "ready", ["listen": Endpoint(host: configuration.listen.host, port: port).description])
            }
        }
        return .ok
    }
}

/// The circle, wired: every station of a router in one task group.
struct Serve: Sendable {
    private let configuration: Configuration
    private let log: Log

    init(_ configuration: Configuration, log: Log) {
        self.configuration = configuration
        self.log = log
    }

    /// Serves until the signal comes, then stops gracefully.
    ///
    /// - Parameters:
    ///   - ended: the signal to end.
    ///   - ready: called once, with the port in use, when clients are served, the venue's session is up and quotes have come.
    func run(until ended: EndingSignal, ready: @escaping @Sendable (_ port: UInt16) throws -> Void) async throws {
        let crash = CrashPoint(configuration.crashPoint)
        log(.info, "starting", ["venue": configuration.venue.endpoint.description, "crash_at": crash.description])
        throw CommandFailure("this build serves nobody: its stations are not wired")
    }
}
