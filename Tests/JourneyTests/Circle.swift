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

    let database: TestDatabase
    let options: PostgresOptions
    let venue: SimulatedVenue
    let queue = OrderQueue(capacity: 4_096, batchCap: 256)
    let streams: EventStreams
    let readers: Readers
    let board = QuoteBoard(now: Circle.now)
    private let streamSignal = CommitSignal()
    private let settleSignal = CommitSignal()
    private let venuePort: UInt16

    init(venue: SimulatedVenue.Configuration = Circle.frozenVenue, database given: TestDatabase? = nil) throws {
        database = try given ?? TestDatabase()
        options = try database.options
        self.venue = try SimulatedVenue(venue, log: { _ in })
        venuePort = try self.venue.start()
        streams = EventStreams(database: options, signal: streamSignal, trouble: { print("streams: \($0)") })
        readers = Readers(options, count: 1)
    }

    static var frozenVenue: SimulatedVenue.Configuration {
        var configuration = SimulatedVenue.Configuration()
        configuration.frozen = true
        return configuration
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
        settings.leaseDuration = 3_000
        var venueObserver = VenueObserver()
        let link = Mutex<VenueLink?>(nil)
        venueObserver.committed = { [streamSignal] in streamSignal.raise() }
        venueObserver.received = { [settleSignal] in settleSignal.raise() }
        venueObserver.trouble = { print("venue: \($0)") }
        let opened = VenueLink(settings: settings, database: options, clock: .system, observer: venueObserver, random: { 0.5 })
        link.withLock { $0 = opened }
        var observer = DeskObserver()
        observer.committed = { [streamSignal] in
            streamSignal.raise()
            opened.wake()
        }
        observer.trouble = { leg, what in print("\(leg): \(what)") }
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
            trouble: { print("feed: \($0)") }
        )
        let (queue, board, streams, settleSignal, venue) = (queue, board, streams, settleSignal, venue)
        var stations: [@Sendable () async throws -> Void] = [
            { try await venue.run() }, { try await opened.run() }, { try await feed.run() },
            Self.onThread("streams") { try await streams.run() },
            Self.onThread("settle") {
                try await Settle(database: options, rules: Circle.rules, observer: deskObserver, signal: settleSignal, now: Circle.now).run()
            },
            Self.onThread("sweep") { try await Sweep(database: options, times: .init(), observer: deskObserver, now: Circle.now).run() },
        ]
        for lane in 0..<2 {
            stations.append(
                Self.onThread("lane-\(lane)") {
                    await Accept(queue: queue, database: options, market: board, rules: Circle.rules, observer: deskObserver, now: Circle.now).run()
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
                            CredentialRecord(id: "cred_test", account: account, alias: "test", publicKeySPKI: [1], state: .active, createdAt: 0),
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
                    credentialID: "cred_test",
                    clientTimestamp: Circle.now(),
                    quoteReference: Circle.now(),
                    receivedAt: Circle.now()
                )
            )
        )
    }

    /// The account's events, from the first on, until one satisfies.
    func events(of account: AccountID, until isEnd: @Sendable (EventRecord) -> Bool) async throws -> [EventRecord] {
        var seen: [EventRecord] = []
        let deadline = ContinuousClock.now + .seconds(20)
        while ContinuousClock.now < deadline {
            let next = await streams.next(account, after: seen.last?.number ?? 0)
            seen += next
            if next.contains(where: isEnd) { return seen }
            if next.isEmpty { break }
        }
        throw TimedOut(what: "an event of \(account); seen: \(seen.map { "\($0.type) \($0.order.status)" })")
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
