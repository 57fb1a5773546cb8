import Cryptography
import Foundation
import OrderDesk
import Postgres
import Quotes
import Storage
import Synchronization
import Trading
import Wire

/// The desk and its database alone: prepared work goes straight into the queue, without HTTP, signature, venue or streams.
struct DeskAlone: Sendable {
    struct Result: Codable, Sendable {
        let ordersPerSecond: Double
        /// Microseconds of PostgreSQL's processor time, and of the desk's.
        let postgresPerOrder: Double
        let deskPerOrder: Double
    }

    /// A router's defaults.
    private static let lanes = 4
    /// As many as a closed loop's connections.
    private static let submitters = 256
    private static let session = "ORDERS->EXCH"
    /// Nobody else wants it.
    private static let lease: Int64 = 600_000

    let cluster: BenchCluster
    let folder: String
    let accounts: Int

    func run(seconds: Double) async throws -> Result {
        let url = try cluster.database("desk_alone")
        let traders = try await Preparation(databaseURL: url, folder: folder + "/desk-alone", accounts: accounts).run()
        let options = PostgresOptions(url: url)
        try Self.raiseSession(options)
        let queue = OrderQueue(capacity: 4_096, batchCap: 256, lanes: Self.lanes)
        let watched = [try cluster.process]
        let counts = Counts()
        let (before, ownBefore, begun) = (try ProcessUse.now(watched), ProcessClock.used, MonotonicClock.now)
        let end = begun + Int64(seconds * 1e9)
        await withTaskGroup(of: Void.self) { group in
            for lane in 0..<Self.lanes { group.addTask { await Self.accept(lane, queue, options) } }
            await withTaskGroup(of: Void.self) { submitters in
                for _ in 0..<Self.submitters { submitters.addTask { await Self.submit(traders, queue, counts, until: end) } }
            }
            queue.close()
        }
        let elapsed = Double(MonotonicClock.now - begun) / 1e9
        let (count, refused) = (counts.accepted.load(ordering: .relaxed), counts.refused.load(ordering: .relaxed))
        guard refused == 0, count > 0 else { throw LoadFailure("the desk alone refused \(refused) of \(refused + count) orders") }
        let postgres = (try ProcessUse.now(watched).cpu["postgres"] ?? 0) - (before.cpu["postgres"] ?? 0)
        return Result(
            ordersPerSecond: (Double(count) / elapsed).rounded(),
            postgresPerOrder: (postgres * 1e6 / Double(count)).rounded(),
            deskPerOrder: (Double(ProcessClock.used - ownBefore) / 1e3 / Double(count)).rounded()
        )
    }

    private final class Counts: Sendable {
        let accepted = Atomic(0)
        let refused = Atomic(0)
    }

    private static func accept(_ lane: Int, _ queue: OrderQueue, _ options: PostgresOptions) async {
        await withTaskExecutorPreference(DedicatedThread(name: "accept-\(lane)")) {
            await Accept(
                queue: queue,
                database: options,
                market: FixedMarket(),
                rules: rules,
                observer: DeskObserver(),
                now: { WallClock.milliseconds }
            ).run()
        }
    }

    private static func submit(_ traders: [Trader], _ queue: OrderQueue, _ counts: Counts, until end: Int64) async {
        var work = PreparedWork(traders: traders)
        while MonotonicClock.now < end {
            if case .accepted = await queue.decide(.place(work.next())) {
                counts.accepted.add(1, ordering: .relaxed)
            } else {
                counts.refused.add(1, ordering: .relaxed)
            }
        }
    }

    /// The desk takes orders only while the venue's session is up.
    private static func raiseSession(_ options: PostgresOptions) throws {
        let database = Database(options)
        defer { database.drop() }
        guard let record = try database.takeLease(session: session, holder: "bench", epoch: 0, milliseconds: lease) else {
            throw LoadFailure("somebody holds the venue's session of a new database")
        }
        try database.setLoggedOn(true, session: session, epoch: record.epoch)
    }

    private static let rules: DeskRules = {
        var rules = DeskRules(
            limits: RiskLimits(
                maximumQuantity: 1_000_000,
                maximumNotional: Amount(units: 100_000_000 * Amount.unitsPerOne),
                collarBasisPoints: 1_000
            ),
            freshness: Freshness(maximumAge: 60_000),
            deadlines: RouteDeadlines(immediateMilliseconds: 5_000, sessionMilliseconds: 23_400_000),
            venue: "EXCH",
            venueSession: session
        )
        // Nobody sends here.
        rules.unsentLimit = .max
        return rules
    }()
}

/// One price for everything, vouched for at this moment.
private struct FixedMarket: QuoteSource {
    func listing(of symbol: Symbol) -> Listing? {
        let now = WallClock.milliseconds
        let (bid, ask) = (Amount(units: 1_255_000), Amount(units: 1_255_200))
        let quote = Quote(symbol: symbol, bid: bid, ask: ask, last: ask, volume: 0, sequence: 1, changedAt: now, vouchedAt: now)
        return Listing(symbol: symbol, quote: quote)
    }
}

/// What a gateway hands to the desk, without what it did before.
private struct PreparedWork {
    private let accounts: [AccountID]
    private let credentials: [String]
    private var random = SystemRandomNumberGenerator()

    init(traders: [Trader]) {
        accounts = traders.map(\.account)
        credentials = traders.map(\.credential)
    }

    mutating func next() -> Submission {
        let number = Int.random(in: accounts.indices, using: &random)
        let now = WallClock.milliseconds
        let key = OrderBytes.newKey(at: now, using: &random)
        let account = accounts[number]
        let terms = OrderTerms(
            symbol: Self.symbol,
            side: Bool.random(using: &random) ? .buy : .sell,
            type: .limit,
            timeInForce: .day,
            quantity: Int64.random(in: 1...100, using: &random),
            limitPrice: Amount(units: 1_255_000),
            stopPrice: nil
        )
        return Submission(
            account: account,
            key: key,
            orderID: OrderID(key: key, digest: sha256(SignedForm.orderIdentityText(account: account, key: key))),
            terms: terms,
            fingerprint: sha256(SignedForm.fingerprintText(account: account, terms: terms, estimatedTotal: nil, key: key)),
            credentialID: credentials[number],
            clientTimestamp: now,
            quoteReference: now,
            receivedAt: now
        )
    }

    private static let symbol = Symbol("NVDA")!
}
