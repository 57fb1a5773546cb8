import Cryptography
import ExchangeSimulator
import FIX
import Foundation
import Gateway
import JourneySupport
import MarketData
import OrderDesk
import Postgres
import Quotes
import Storage
import Synchronization
import TestSupport
import Testing
import Trading
import Venue
import Wire

/// The whole circle in one process on real parts: PostgreSQL, FIX over TCP, the simulated venue, the stations. Signatures and HTTP are tested elsewhere.
final class Circle: Sendable {
    static let now: @Sendable () -> Int64 = { SessionClock.system.wall() }

    /// Times of the router, short where a test has to see them pass.
    struct Times: Sendable {
        var silence: Int64 = 10_000
        var ask: Int64 = 5_000
        var sweep: Duration = .milliseconds(500)
        var immediate: Int64 = 5_000
        var lease: Int64 = 3_000
        /// What the router and the venue have agreed upon beyond the usual.
        var agree: @Sendable (inout SessionSettings) -> Void = { _ in }
        /// The clock of the venue's session, and what happens at its steps.
        var clock = SessionClock.system
        var step: @Sendable (VenueStep) -> Void = { _ in }

        /// Everything that waits for the venue is in doubt at once.
        static let impatient: Times = {
            var times = Times()
            (times.silence, times.ask, times.sweep, times.immediate) = (300, 100, .milliseconds(50), 400)
            return times
        }()
    }

    let database: TestDatabase
    let options: PostgresOptions
    let times: Times
    /// What the stations complained of.
    let troubles = Mutex<[String]>([])
    let queue = OrderQueue(capacity: 4_096, batchCap: 256, lanes: 2)
    let streams: EventStreams
    let readers: DatabasePool
    let board = QuoteBoard(now: Circle.now)
    private let streamSignal = CommitSignal()
    private let settleSignal = CommitSignal()
    let venuePort: UInt16
    private let current: Mutex<SimulatedVenue>
    private let successor = Mutex<SimulatedVenue?>(nil)

    init(_ times: Times = Times(), venue: SimulatedVenue.Configuration = Circle.frozenVenue, database given: TestDatabase? = nil) throws {
        self.times = times
        database = try given ?? TestDatabase()
        options = try database.options
        let first = try SimulatedVenue(venue, log: { _ in })
        current = Mutex(first)
        venuePort = try first.start()
        streams = EventStreams(database: options, signal: streamSignal, trouble: { print("streams: \($0)") })
        readers = DatabasePool("readers", options, count: 1, waitingLimit: 1_000)
    }

    var venue: SimulatedVenue { current.withLock { $0 } }

    /// Ends the venue that runs; another takes its place at the same address, with what is in its configuration and no memory of the first.
    func replaceVenue(_ configuration: SimulatedVenue.Configuration = Circle.frozenVenue) throws {
        var configuration = configuration
        configuration.port = venuePort
        let next = try SimulatedVenue(configuration, log: { _ in })
        successor.withLock { $0 = next }
        venue.stop()
    }

    private func runVenue() async throws {
        while true {
            try await venue.run()
            guard !Task.isCancelled, let next = successor.withLock({ $0.take() }) else { return }
            _ = try next.start()
            current.withLock { $0 = next }
        }
    }

    static var frozenVenue: SimulatedVenue.Configuration {
        var configuration = SimulatedVenue.Configuration()
        configuration.frozen = true
        return configuration
    }

    private var rules: DeskRules {
        var rules = Self.rules
        rules.deadlines.immediateMilliseconds = times.immediate
        return rules
    }

    static let rules = DeskRules(
        limits: RiskLimits(maximumQuantity: 1_000_000, maximumNotional: Amount(whole: 100_000_000)!, collarBasisPoints: 1_000),
        freshness: Freshness(),
        deadlines: RouteDeadlines(immediateMilliseconds: 5_000, sessionMilliseconds: 86_400_000),
        venue: "EXCH",
        venueSession: "ORDERS->EXCH"
    )

    /// Runs the router around `body`, until it returns; then everything ends in order.
    func run(_ body: @escaping @Sendable (Circle) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for station in stations() { group.addTask { try await station() } }
            var failure: (any Error)?
            do {
                try await body(self)
            } catch {
                failure = error
            }
            queue.close()
            group.cancelAll()
            while true {
                do {
                    guard try await group.next() != nil else { break }
                } catch is CancellationError {
                    continue
                }
            }
            if let failure { throw failure }
        }
        await readers.stop()
    }

    private func stations() -> [@Sendable () async throws -> Void] {
        let options = options
        var settings = VenueSettings(
            host: "127.0.0.1",
            port: venuePort,
            senderCompID: "ORDERS",
            targetCompID: "EXCH",
            heartbeatSeconds: 30,
            holder: UUID().uuidString
        )
        times.agree(&settings.session)
        settings.leaseDuration = times.lease
        settings.askInterval = times.ask
        let note: @Sendable (String) -> Void = { [self] what in troubles.withLock { $0.append(what) } }
        var venueObserver = VenueObserver()
        let link = Mutex<VenueLink?>(nil)
        venueObserver.committed = { [streamSignal] in streamSignal.raise() }
        venueObserver.received = { [settleSignal] in settleSignal.raise() }
        venueObserver.trouble = { note("venue: \($0)") }
        venueObserver.step = times.step
        let opened = VenueLink(settings: settings, database: options, clock: times.clock, observer: venueObserver, random: { 0.5 })
        link.withLock { $0 = opened }
        var observer = DeskObserver()
        observer.committed = { [streamSignal] in
            streamSignal.raise()
            opened.wake()
        }
        observer.trouble = { leg, what in note("\(leg): \(what)") }
        let deskObserver = observer
        let feed = QuoteFeed(
            settings: FeedSettings(
                host: "127.0.0.1",
                port: venuePort,
                senderCompID: "QUOTES",
                targetCompID: "EXCH",
                heartbeatSeconds: 30,
                symbols: ["*"]
            ),
            board: board,
            clock: .system,
            random: { 0.5 },
            trouble: { note("feed: \($0)") }
        )
        let (queue, board, streams, settleSignal, rules) = (queue, board, streams, settleSignal, rules)
        var sweep = Sweep.Times()
        sweep.silence = times.silence
        sweep.interval = times.sweep
        let sweepTimes = sweep
        var stations: [@Sendable () async throws -> Void] = [
            { try await self.runVenue() }, { try await opened.run() }, { try await feed.run() },
            Self.onThread("streams") { try await streams.run() },
            Self.onThread("settle") {
                try await Settle(database: options, rules: rules, observer: deskObserver, signal: settleSignal, now: Circle.now).run()
            },
            Self.onThread("sweep") { try await Sweep(database: options, times: sweepTimes, observer: deskObserver, now: Circle.now).run() },
        ]
        for lane in 0..<2 {
            stations.append(
                Self.onThread("lane-\(lane)") {
                    await Accept(queue: queue, database: options, market: board, rules: rules, observer: deskObserver, now: Circle.now).run()
                }
            )
        }
        return stations
    }

    private static func onThread(_ name: String, _ body: @escaping @Sendable () async throws -> Void) -> @Sendable () async throws -> Void {
        {
            let thread = DedicatedThread(name: name)
            try await withTaskExecutorPreference(thread) { try await body() }
        }
    }

    // MARK: What a client does

    func account(_ name: String, cash: Int64, positions: [(String, Int64)] = []) async throws -> AccountID {
        let account = AccountID(name)!
        let shares = positions.map { (symbol: Symbol($0.0)!, shares: Amount(whole: $0.1)!, cost: Amount.zero) }
        _ = try await readers.read { database in
            _ = try database.createAccount(account, cash: Amount(whole: cash)!, positions: shares, by: "test", at: Circle.now())
            return try database.changeCredentials(of: account, by: "test", at: Circle.now()) { _ in
                (
                    (),
                    [
                        .create(
                            CredentialRecord(id: "cred_\(name)", account: account, alias: "test", publicKeySPKI: [1], state: .active, createdAt: 0),
                            audit: "enrolled"
                        )
                    ]
                )
            }
        }
        return account
    }

    /// Waits until the venue's session is up and the symbol has a price.
    func ready(_ symbol: String = "NVDA") async throws {
        for _ in 0..<2_000 {
            let isUp = try await readers.read { database in try database.venueIsUp("ORDERS->EXCH") }
            if isUp, board.listing(of: Symbol(symbol)!)?.quote != nil { return }
            try await Task.sleep(for: .milliseconds(5))
        }
        throw TimedOut(what: "the venue's session and prices")
    }

    func place(_ account: AccountID, _ terms: OrderTerms, key: IdempotencyKey = Circle.newKey()) async -> Verdict {
        await queue.decide(
            .place(
                Submission(
                    account: account,
                    key: key,
                    orderID: OrderID(key: key, digest: sha256(SignedForm.orderIdentityText(account: account, key: key))),
                    terms: terms,
                    fingerprint: sha256(SignedForm.fingerprintText(account: account, terms: terms, estimatedTotal: nil, key: key)),
                    credentialID: "cred_\(account)",
                    clientTimestamp: Circle.now(),
                    quoteReference: Circle.now(),
                    receivedAt: Circle.now()
                )
            )
        )
    }

    /// The account's events, from the first on, until one satisfies.
    func events(of account: AccountID, until isEnd: @escaping @Sendable (EventRecord) -> Bool) async throws -> [EventRecord] {
        let streams = streams
        let waiting = Task {
            var seen: [EventRecord] = []
            while !seen.contains(where: isEnd) {
                let next = await streams.next(account, after: seen.last?.number ?? 0)
                if next.isEmpty { throw TimedOut(what: "an event of \(account); seen: \(seen.map { "\($0.type) \($0.order.status)" })") }
                seen += next
            }
            return seen
        }
        // The deadline guards alone.
        let patience = Task {
            try await Task.sleep(for: .seconds(60))
            waiting.cancel()
        }
        defer { patience.cancel() }
        return try await waiting.value
    }

    static func newKey() -> IdempotencyKey {
        let time = UInt64(now())
        return IdempotencyKey(
            high: time << 16 | 0x7000 | UInt64.random(in: 0..<0x1000),
            low: 0x8000_0000_0000_0000 | UInt64.random(in: 0..<(1 << 62))
        )!
    }

    static func limit(_ side: Side, _ quantity: Int64, _ price: String, symbol: String = "NVDA") -> OrderTerms {
        OrderTerms(
            symbol: Symbol(symbol)!,
            side: side,
            type: .limit,
            timeInForce: .day,
            quantity: quantity,
            limitPrice: Amount(price),
            stopPrice: nil
        )
    }
}
