import FIX
import Foundation
import Gateway
import HTTPServer
import Identity
import MarketData
import OrderDesk
import Postgres
import Quotes
import Storage
import Synchronization
import Trading
import Venue

extension Command {
    static let serve = Command(
        "serve",
        "Serves clients, and the venue's session when it is this router's turn. Ends on SIGTERM or SIGINT after pending requests are answered.",
        settings: Setting.all
    ) { arguments in
        let configuration = try arguments.configuration()
        let writer = LogWriter { Log.line(.warning, "log_lines_dropped", ["count": String($0)], at: SessionClock.system.wall()) }
        writer.spillOnCrash()
        defer { writer.close() }
        let log = Log(least: configuration.logLevel, write: writer.write)
        try await withEndingSignals { ended in
            try await Serve(configuration, log: log).run(until: ended) { port in
                log(.info, "ready", ["listen": Endpoint(host: configuration.listen.host, port: port).description])
            }
        }
        return .ok
    }
}

/// What the venue's last Logon said of it, while this router holds its session.
private final class VenueIsTest: Sendable {
    private let told = Mutex<Bool?>(nil)
    private let (denials, denied) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    var now: Bool? { told.withLock { $0 } }
    func set(_ isTest: Bool?) {
        told.withLock { $0 = isTest }
        if isTest == false { denied.yield() }
    }

    /// Waits until a venue's Logon does not say that it is a test system; false when the task was cancelled meanwhile.
    func wasDenied() async -> Bool {
        for await _ in denials { return true }
        return false
    }
}

/// The circle, wired: every station of a router in one task group. The stations meet in committed rows; what they call of one another here are
/// wake-ups alone, which may be lost without harm.
struct Serve: Sendable {
    let configuration: Configuration
    let log: Log
    private let crash: CrashPoint
    let metrics = Metrics()
    let now = SessionClock.system.wall
    private let streamSignal = CommitSignal()
    private let settleSignal = CommitSignal()
    private let venueIsTest = VenueIsTest()

    init(_ configuration: Configuration, log: Log) {
        self.configuration = configuration
        self.log = log
        crash = CrashPoint(configuration.crashPoint)
    }

    /// Serves until the signal comes, then stops in order: no new requests, pending ones answered, lanes, the venue's logout.
    ///
    /// - Parameters:
    ///   - ended: the signal to end.
    ///   - ready: called once, with the port in use, when clients are served, the venue's session is up and quotes have come.
    func run(until ended: EndingSignal, ready: @escaping @Sendable (_ port: UInt16) throws -> Void) async throws {
        let database = PostgresOptions(url: configuration.databaseURL)
        let migrator = try Migrator(directory: Migrations.folder(configuration.migrations))
        try Self.checkMigrations(migrator, database)
        try checkSession(database)
        let keys = KeySetSource(location: try KeySetLocation(configuration.keySet), report: logKeys)
        try await keys.load()
        let board = QuoteBoard(rules: configuration.bookRules, now: now)
        let lines = try configuration.lines.lines(quotesOnSameHost: configuration.quotes.endpoint.host == configuration.venue.endpoint.host)
        let feed = try marketFeed(board, lines.quotes)
        let market = Market(configuration, board: board, calendars: try calendars(), trouble: trouble("instruments"))
        market.tellEndings(log, at: now())
        let queue = OrderQueue(capacity: configuration.queueCapacity, batchCap: configuration.batchCap, lanes: configuration.lanes)
        let reads = Reads(database)
        market.instruments.replace(with: try await reads.prices.read { try $0.instruments() })
        let streams = EventStreams(
            database: database,
            signal: streamSignal,
            trouble: trouble("publish"),
            delivered: { [metrics, now] oldestAt, count in
                metrics.size("order_router_batch_size", [("leg", "publish")], count)
                metrics.time("order_router_leg_seconds", [("leg", "publish")], .milliseconds(max(0, now() - oldestAt)))
            }
        )
        let link = venueLink(database, lines.orders)
        let api = api(keys, database, market, feed, queue, reads, streams, migrator)
        var http = configuration.http
        http.problem = { [now] in HTTPResponse.refused($0, $1, at: now()) }
        let listener = try HTTPListener(http, handler: APIHandler(api))
        market.prices.start(on: listener.streams)
        log(
            .info,
            "starting",
            ["listen_port": String(listener.port), "venue": configuration.venue.endpoint.description, "crash_at": crash.description]
        )

        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<configuration.lanes { group.addTask { await accept(lane, queue, database, market, link) } }
            if configuration.pricesAreRecorded { group.addTask { try await endAtVenueOfRealMoney() } }
            group.addTask { try await link.run() }
            group.addTask { try await onThread("settle") { try await settle(database).run() } }
            group.addTask { try await onThread("sweep") { try await sweep(database, link).run() } }
            group.addTask { try await onThread("publish") { try await streams.run() } }
            group.addTask { try await feed.run() }
            group.addTask { try await feedWatch(feed, board).run() }
            group.addTask { try await market.run(reads.prices, trouble: trouble("market")) }
            group.addTask { try await market.instruments.run(reads.prices) }
            group.addTask { try await onThread("record") { try await recorder(database, market).run() } }
            group.addTask { try await keys.run() }
            group.addTask { try await listener.run() }
            group.addTask { try await clientGauges(listener) }
            group.addTask {
                try await waitForVenue(reads.orders, board)
                try ready(listener.port)
            }
            group.addTask {
                // Ends the wait below; the stations go on until what is pending is answered.
                await ended.wait()
                throw Ending()
            }
            try await end(&group, listener, queue)
        }
        await reads.stop()
        log(.info, "ended")
    }

    private struct Ending: Error {}

    /// Waits for the signal, or for a station that fails: then the whole router ends, and its supervisor starts it anew from the last commits.
    private func end(
        _ group: inout ThrowingTaskGroup<Void, any Error>,
        _ listener: HTTPListener,
        _ queue: OrderQueue
    ) async throws {
        var failure: (any Error)?
        do {
            while try await group.next() != nil {}
        } catch is Ending {
            log(.info, "ending")
        } catch {
            log(.error, "station_failed", ["error": String(describing: error)])
            failure = error
        }
        // Streams say that the server stops, and end.
        await listener.stop(within: configuration.http.stopWithin)
        queue.close()
        group.cancelAll()
        while let result = await group.nextResult() {
            if case .failure(let error) = result, !(error is CancellationError), !(error is Ending) { failure = failure ?? error }
        }
        if let failure { throw failure }
    }

    /// The router works only on the schema that it was built for.
    private static func checkMigrations(_ migrator: Migrator, _ database: PostgresOptions) throws {
        let connection = try PostgresConnection(database)
        defer { connection.close() }
        let pending = try migrator.status(connection).filter { $0.state == .pending }
        guard pending.isEmpty else {
            throw CommandFailure(
                "\(pending.count) migrations are pending, the first is \(pending[0].fileName): run order-router migrate, then start again"
            )
        }
    }

    /// Two routers of different sessions would take orders from one another, each for its own venue: there is one session for a database.
    private func checkSession(_ options: PostgresOptions) throws {
        let database = Database(options)
        defer { database.drop() }
        let session = configuration.deskRules.venueSession
        let inForce = try database.sessionInForce(elseBeginning: session).id
        guard inForce == session else {
            throw CommandFailure(
                "orders of this database go by the session \(inForce), and --sender-comp-id and --target-comp-id of this router make \(session): "
                    + "set them as the other routers have them. To change the venue, end all routers and call order-router change-session"
            )
        }
    }

    /// Between two looks whether the venue and its prices are there.
    private static let venueInterval: Duration = .milliseconds(50)
    /// How long to leave a database alone that just failed.
    private static let troublePause: Duration = .milliseconds(200)

    /// Waits until orders can be taken. A database that is away for a while is a trouble, as it is for every station.
    private func waitForVenue(_ pool: DatabasePool, _ board: QuoteBoard) async throws {
        let session = configuration.deskRules.venueSession
        while true {
            do {
                if try await pool.read({ try $0.venueIsUp(session) }), board.ages.symbols > 0, mayTrade() { return }
                try await Task.sleep(for: Self.venueInterval)
            } catch {
                // Of any kind: without the database also whoever waits for a connection gives up in the end.
                if error is CancellationError { throw error }
                trouble("start")("whether the venue is up cannot be read: \(error)")
                try await Task.sleep(for: Self.troublePause)
            }
        }
    }
}

// MARK: Stations

extension Serve {
    /// Recorded prices are for test systems alone. The venue's session gives it nothing either: this router is of no use beside it, and whoever started it has
    /// to know.
    private func endAtVenueOfRealMoney() async throws {
        guard await venueIsTest.wasDenied() else { return }
        throw CommandFailure(
            "--feed (ORDER_ROUTER_FEED) is a recorded file, and the venue's Logon does not say that it is a test system (464=Y): "
                + "nobody trades for real on prices of another day"
        )
    }

    private func accept(_ lane: Int, _ queue: OrderQueue, _ database: PostgresOptions, _ market: Market, _ link: VenueLink) async {
        let thread = DedicatedThread(name: "accept-\(lane)")
        await withTaskExecutorPreference(thread) {
            let prices = TradedPrices(board: market.board, instruments: market.instruments, mayTrade: mayTrade)
            await Accept(queue: queue, database: database, market: prices, rules: configuration.deskRules, observer: deskObserver(link), now: now)
                .run()
        }
    }

    /// Recorded prices count for orders only while this router itself has the word of the venue that it is a test system: orders of a router that does not
    /// hold the session go wherever the one leads that does.
    private func mayTrade() -> Bool { !configuration.pricesAreRecorded || venueIsTest.now == true }

    private func settle(_ database: PostgresOptions) -> Settle {
        Settle(database: database, rules: configuration.deskRules, observer: deskObserver(nil), signal: settleSignal, now: now)
    }

    private func sweep(_ database: PostgresOptions, _ link: VenueLink) -> Sweep {
        Sweep(database: database, times: configuration.sweep, observer: deskObserver(link), now: now)
    }

    private func venueLink(_ database: PostgresOptions, _ tls: LineTLS?) -> VenueLink {
        var observer = VenueObserver()
        observer.step = { [crash] in crash.at($0) }
        observer.committed = { [streamSignal] in streamSignal.raise() }
        observer.received = { [settleSignal] in settleSignal.raise() }
        observer.batch = batch
        observer.trouble = trouble("venue")
        observer.venueIsTest = { [venueIsTest, log] isTest in
            venueIsTest.set(isTest)
            if isTest { log(.warning, "venue_is_test") }
        }
        observer.loggedOn = { [metrics, log, venueIsTest] isUp in
            if !isUp { venueIsTest.set(nil) }
            metrics.set("order_router_venue_session_up", to: isUp ? 1 : 0)
            log(.info, isUp ? "venue_logged_on" : "venue_logged_off")
        }
        metrics.set("order_router_venue_session_up", to: 0)
        return VenueLink(
            settings: configuration.venueSettings(holder: UUID().uuidString, tls),
            database: database,
            clock: .system,
            observer: observer,
            random: { Double.random(in: 0..<1) }
        )
    }

    private func api(
        _ keys: KeySetSource,
        _ database: PostgresOptions,
        _ market: Market,
        _ feed: any MarketFeed,
        _ queue: OrderQueue,
        _ reads: Reads,
        _ streams: EventStreams,
        _ migrator: Migrator
    ) -> API {
        let book = CredentialBook(database: database, trouble: trouble("credentials"))
        let session = configuration.deskRules.venueSession
        return API(
            tokens: TokenVerifier(settings: .init(issuer: configuration.issuer, audience: configuration.audience), source: keys),
            credentials: book,
            enrolment: Enrolment(database: database, book: book, trouble: trouble("enrolment")),
            queue: queue,
            reads: reads,
            streams: streams,
            prices: market.prices,
            instruments: market.instruments,
            accountLimits: RateLimits(configuration.accountRate),
            addressLimits: RateLimits(configuration.addressRate),
            metrics: metrics,
            readiness: { [self] in
                let isPriced = market.board.ages.freshest.map { $0 <= configuration.freshness.maximumAge } ?? false
                do {
                    return try await reads.orders.read { database in
                        let isCurrent = try migrator.status(database.connection()).allSatisfy { $0.state != .pending }
                        return Readiness(
                            database: true,
                            migrations: isCurrent,
                            venue: try database.venueIsUp(session) && mayTrade(),
                            marketData: isPriced,
                            killSwitch: try isCurrent && database.halts().contains { $0.scope == .killSwitch },
                            venueIsTest: venueIsTest.now,
                            isReplay: feed.status.isReplay
                        )
                    }
                } catch {
                    log(.warning, "not_ready", ["error": String(describing: error)])
                    return Readiness(database: false, migrations: false, venue: false, marketData: isPriced, venueIsTest: venueIsTest.now)
                }
            },
            gauges: { [metrics, now] in
                market.gauge(metrics, at: now())
                feedGauges(feed, market.board)
            },
            answered: logRequest,
            now: now,
            runID: String(UUID().uuidString.prefix(8).lowercased())
        )
    }

    private func onThread(_ name: String, _ body: @Sendable () async throws -> Void) async throws {
        let thread = DedicatedThread(name: name)
        try await withTaskExecutorPreference(thread) { try await body() }
    }
}

// MARK: What the stations tell

extension Serve {
    private func deskObserver(_ link: VenueLink?) -> DeskObserver {
        var observer = DeskObserver()
        observer.step = { [crash] in crash.at($0) }
        observer.committed = { [streamSignal] in
            streamSignal.raise()
            link?.wake()
        }
        observer.batch = batch
        observer.alarm = { [metrics, log] alarm, order in
            metrics.count("order_router_alarms_raised_total", [("kind", alarm.kind.rawValue)])
            log(.error, "alarm", ["kind": alarm.kind.rawValue, "order_id": order, "detail": alarm.detail])
        }
        observer.trouble = { [metrics, log] leg, what in
            metrics.count("order_router_troubles_total", [("leg", leg)])
            log(.warning, "leg_failed", ["leg": leg, "error": what])
        }
        return observer
    }

    private var batch: @Sendable (String, Int, Duration) -> Void {
        { [metrics] leg, size, took in
            metrics.size("order_router_batch_size", [("leg", leg)], size)
            metrics.time("order_router_leg_seconds", [("leg", leg)], took)
        }
    }

    func trouble(_ part: String) -> @Sendable (String) -> Void {
        { [metrics, log] what in
            metrics.count("order_router_troubles_total", [("leg", part)])
            log(.warning, "trouble", ["part": part, "what": what])
        }
    }

    private func logKeys(_ report: KeySetSource.Report) {
        switch report {
        case .refreshed(let keys, let skipped, true): log(.info, "token_keys", ["keys": String(keys), "skipped": String(skipped.count)])
        case .refreshed: break
        case .failed(let error, let age):
            metrics.count("order_router_troubles_total", [("leg", "token_keys")])
            log(.warning, "token_keys_failed", ["error": error.description, "age": age.map { "\($0)" }])
        }
    }

    private func logRequest(_ request: AnsweredRequest) {
        // Probes come every second and say nothing when all is well.
        let level: Log.Level = request.status >= 500 ? .warning : request.account == nil && request.status < 400 ? .debug : .info
        log(
            level,
            "request",
            [
                "request_id": request.requestID, "method": request.method, "path": request.path, "peer": request.peer,
                "status": String(request.status), "code": request.code, "account": request.account, "order_id": request.orderID,
                "ms": String(request.took.milliseconds),
            ]
        )
    }
}
