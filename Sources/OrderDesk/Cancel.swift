package import Postgres
package import Storage
package import Trading

extension ShardChanges {
    /// Requests an order's cancel: an event, which the sender turns into a message. What the venue has never been numbered for ends by this very commit.
    ///
    /// - Parameter reason: told to the client with the event, and as the reason of an end by our own commit; nil where the client asked himself.
    /// - Returns: the order as it was requested of; nil when it has ended already.
    mutating func requestCancel(of order: inout OrderState, because reason: String? = nil) -> OrderState? {
        guard case .changed(let requested, _) = order.apply(.cancelRequested, balances: &balances, at: at) else { return nil }
        let answer = order
        // Of the request alone: the order may still fill, and why it is UNKNOWN is evidence.
        var told = order
        told.reason = reason ?? order.reason
        tell(requested, of: told)
        if order.status == .accepted, case .changed(let ended, _) = order.apply(.cancelled(reason: reason), balances: &balances, at: at) {
            tell(ended, of: order)
        }
        update(order)
        return answer
    }
}

extension Database {
    /// Orders by their shards, those that there are. Read without a lock, for their shards alone: an order never changes its account.
    func ordersByShard(_ ids: [OrderID]) throws(PostgresError) -> [(shard: Int16, orders: [OrderID])] {
        let shards = Dictionary(grouping: try orders(ids).values, by: \.account.shard)
        return shards.sorted { $0.key < $1.key }.map { (shard: $0.key, orders: $0.value.map(\.id)) }
    }
}

/// cancel on behalf: what an operator ends in a client's place, by the rule that a client's own cancel goes by: under the shard's lock, an event, and the
/// router that speaks for the venue's session sends the request. Each is in the operators' audit, in the same commit.
package final class CancelOnBehalf {
    /// What became of a request.
    package enum Word: String, Sendable {
        /// The venue is asked.
        case requested
        /// It had no number for the venue yet and has ended by our own commit.
        case cancelled
        /// A cancel was requested before, and the venue has not answered.
        case pending
        case notOpen = "not open"
        case notFound = "not found"

        /// False for what could not be done.
        package var isDone: Bool { self != .notOpen && self != .notFound }
    }

    package struct Outcome: Sendable {
        package let id: OrderID
        package let word: Word
        /// As it stands then; nil where there is none.
        package let order: OrderState?
    }

    /// Orders per transaction: short enough that accepting need not wait.
    static let portion = 256

    private let database: Database
    private let whom: String
    private let why: String
    private let told: String
    private let now: @Sendable () -> Int64

    /// - Parameters:
    ///   - whom: for the audit, as is `why`.
    ///   - told: the reason that the client sees.
    package init(_ database: Database, by whom: String, because why: String, told: String, now: @escaping @Sendable () -> Int64) {
        self.database = database
        self.whom = whom
        self.why = why
        self.told = told
        self.now = now
    }

    /// One outcome for each order, in the order given.
    package func cancel(_ ids: [OrderID]) throws(PostgresError) -> [Outcome] {
        var outcomes: [OrderID: Outcome] = [:]
        for first in stride(from: 0, to: ids.count, by: Self.portion) {
            for (shard, orders) in try database.ordersByShard(Array(ids[first..<min(first + Self.portion, ids.count)])) {
                for outcome in try cancel(orders, of: shard) { outcomes[outcome.id] = outcome }
            }
        }
        return ids.map { outcomes[$0] ?? Outcome(id: $0, word: .notFound, order: nil) }
    }

    /// Orders of one shard, in one transaction.
    package func cancel(_ ids: [OrderID], of shard: Int16) throws(PostgresError) -> [Outcome] {
        do {
            let reads = try database.beginOrders(shards: [shard], orders: ids)
            var changes = reads.changes(at: now())
            let outcomes = reads.orders.values.sorted { $0.createdAt < $1.createdAt }.map { request($0, &changes) }
            let audited = outcomes.filter { $0.word == .requested || $0.word == .cancelled }.map { "\($0.id): \(why)" }
            try database.commit(changes, audited: audited, as: "order_cancel_requested", by: whom)
            return outcomes
        } catch {
            database.rollback()
            throw error
        }
    }

    private func request(_ found: OrderState, _ changes: inout ShardChanges) -> Outcome {
        var order = found
        if order.cancelPending { return Outcome(id: order.id, word: .pending, order: order) }
        guard changes.requestCancel(of: &order, because: told) != nil else { return Outcome(id: order.id, word: .notOpen, order: order) }
        return Outcome(id: order.id, word: order.status.isOpen ? .requested : .cancelled, order: order)
    }
}
