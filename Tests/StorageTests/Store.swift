import Postgres
import Storage
import TestSupport
import Testing
import Trading

let symbol = Symbol("NVDA")!
let account = AccountID("acc_1")!
let venueSession = "ROUTER->VENUE"

/// One test at a time: they block their threads, and several wait for what another thread does.
@Suite(.serialized) struct `On PostgreSQL, storage` {}

/// A database of its own with one account, and legs on it.
final class Store: Sendable {
    let database: TestDatabase

    init() throws {
        database = try TestDatabase()
        #expect(
            try storage().createAccount(
                account,
                cash: Amount("100000")!,
                positions: [(symbol, Amount(whole: 50)!, Amount("500")!)],
                by: "test",
                at: 1
            )
        )
    }

    func storage() throws(PostgresError) -> Database { Database(PostgresOptions(url: database.url)) }

    func value(_ sql: String) throws -> Int64 { try database.connect().query("SELECT (\(sql))::bigint").int64(0, 0) }

    func text(_ sql: String) throws -> String { try database.connect().query("SELECT (\(sql))::text").text(0, 0) }

    func faults() throws -> [String] { try Invariants.faults(database.connect()) }

    static func key(_ number: Int) -> IdempotencyKey {
        IdempotencyKey(high: 1_773_648_000_000 << 16 | 0x7000, low: 1 << 63 | UInt64(number))!
    }

    static func order(_ number: Int, of owner: AccountID = account, quantity: Int64 = 10) -> OrderState {
        let seed = Array("\(owner)/\(number)".utf8)
        let price = Amount("10")!
        return OrderState(
            id: OrderID(key: key(number), digest: (0..<32).map { $0 < seed.count ? seed[$0] : 0 }),
            account: owner,
            key: key(number),
            terms: OrderTerms(
                symbol: symbol,
                side: .buy,
                type: .limit,
                timeInForce: .day,
                quantity: quantity,
                limitPrice: price,
                stopPrice: nil
            ),
            holdPrice: price,
            createdAt: 1_000 + Int64(number),
            routeBy: 5_000,
            held: price.times(quantity)!,
            updatedAt: 1_000 + Int64(number)
        )
    }

    /// The changes of an accepting leg, begun and filled, not committed.
    static func begin(_ storage: Database, _ numbers: [Int], of owner: AccountID = account) throws(PostgresError) -> ShardChanges {
        let reads = try storage.beginAccept(
            shards: [owner.shard],
            venueSession: venueSession,
            accounts: [owner],
            balances: [Balances.Key(.customer(owner), .cash)],
            keys: numbers.map { KeyID(owner, key($0)) },
            credentials: [],
            orders: []
        )
        var changes = ShardChanges(locks: reads.locks, at: 1_000, accounts: reads.accounts, balances: reads.balances)
        for number in numbers {
            let order = order(number, of: owner)
            precondition(changes.balances.hold(order.held, of: .cash, for: owner, order: order.id))
            changes.insert(.init(state: order, clientTimestamp: 1, quoteReference: 1, credentialID: "c1"))
            changes.claim(
                KeyRecord(
                    id: KeyID(owner, order.key),
                    outcome: .accepted,
                    fingerprint: [UInt8(truncatingIfNeeded: number)],
                    orderID: order.id,
                    httpStatus: 201,
                    answer: Array("answer \(number)".utf8),
                    statusNow: .accepted,
                    createdAt: 1_000
                )
            )
            changes.tell(.accepted, of: order)
        }
        return changes
    }

    static func accept(_ storage: Database, _ numbers: [Int], of owner: AccountID = account) throws(PostgresError) {
        try storage.commit(try begin(storage, numbers, of: owner))
    }
}

/// The SQLSTATE that a body fails with; nil when it does not fail.
func sqlState(_ body: () throws(PostgresError) -> Void) -> String? {
    do {
        try body()
        return nil
    } catch {
        return error.sqlState ?? error.code.rawValue
    }
}
