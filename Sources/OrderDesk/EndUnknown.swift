package import Postgres
package import Storage
package import Trading

/// end: the way on for an UNKNOWN order that no report will ever end: the venue had it and does not know it any more (`forgotten_by_venue`), or answers no
/// question about it. The venue's people can say what was filled of it. An operator who has their word ends it: CANCELLED, its hold free, its client told,
/// and his name and their words in the audit, all in one commit.
///
/// Only where nothing here contradicts that word: the venue's newest report is that it does not know the order, or there is none since it was asked, none
/// waits to be settled, and what was filled is booked. Should the venue report a fill all the same, it books and alarms as any after an end.
package final class EndUnknown {
    /// What became of it.
    package enum Word: String, Sendable {
        case ended
        /// Shares are booked otherwise: the venue has to report what is missing, by its ExecID.
        case fillsDiffer = "fills differ"
        /// The venue has reported on it, and nobody has settled it yet.
        case reportWaits = "report waits"
        /// UNKNOWN, and the venue has spoken of it since, or has not been asked for long: its answer may tell.
        case stillAsked = "still asked"
        /// Open as it should be: it can be cancelled.
        case notUnknown = "not unknown"
        case notOpen = "not open"
        case notFound = "not found"
    }

    package struct Outcome: Sendable {
        package let id: OrderID
        package let word: Word
        /// As it stands then; nil where there is none.
        package let order: OrderState?
        /// What it held until then.
        package let released: Amount
    }

    private let database: Database
    private let whom: String
    private let words: String
    private let now: @Sendable () -> Int64

    /// A question that has no answer after ten minutes has none: milliseconds. A venue's session, or ours, is back from a restart before that.
    package static let answersWithin: Int64 = 600_000

    /// - Parameters:
    ///   - whom: for the audit.
    ///   - words: the venue's: who said what.
    package init(_ database: Database, by whom: String, venueSays words: String, now: @escaping @Sendable () -> Int64) {
        self.database = database
        self.whom = whom
        self.words = words
        self.now = now
    }

    /// One outcome for each order, in the order given.
    ///
    /// - Parameter filled: shares in all of each of them, by the venue's word.
    package func end(_ ids: [OrderID], filled: Int64) throws(PostgresError) -> [Outcome] {
        var outcomes: [OrderID: Outcome] = [:]
        // Once for all shards: it reads all messages.
        let unanswered = try database.unanswered(ids, since: now() - Self.answersWithin)
        for (shard, orders) in try database.ordersByShard(ids) {
            for outcome in try end(orders, of: shard, filled: filled, unanswered) { outcomes[outcome.id] = outcome }
        }
        return ids.map { outcomes[$0] ?? Outcome(id: $0, word: .notFound, order: nil, released: .zero) }
    }

    /// Orders of one shard, in one transaction.
    ///
    /// - Parameter unanswered: those of all shards about which the venue says nothing, with how far their shard was settled then.
    private func end(_ ids: [OrderID], of shard: Int16, filled: Int64, _ unanswered: [OrderID: Int64]) throws(PostgresError) -> [Outcome] {
        do {
            let reads = try database.beginOrders(shards: [shard], orders: ids)
            guard let lock = reads.locks.first else { preconditionFailure("Every shard has its row.") }
            // Of what has come since the evidence was read nobody has judged whether it is an answer.
            let waiting = try database.reports(on: ids, behind: ids.compactMap { unanswered[$0] }.min() ?? lock.settledInbox, lock)
            var changes = reads.changes(at: now())
            let outcomes = reads.orders.values.sorted { $0.createdAt < $1.createdAt }.map { order in
                let isUnanswered = unanswered[order.id] != nil
                let word = waiting.contains(order.id) ? .reportWaits : Self.word(of: order, filled: filled, isUnanswered: isUnanswered)
                return word == .ended ? end(order, &changes) : Outcome(id: order.id, word: word, order: order, released: .zero)
            }
            let audited = outcomes.filter { $0.word == .ended }.map { "\($0.id): \(filled) filled, \($0.released) released; the venue: \(words)" }
            try database.commit(changes, audited: audited, as: "order_ended", by: whom)
            return outcomes
        } catch {
            database.rollback()
            throw error
        }
    }

    private static func word(of order: OrderState, filled: Int64, isUnanswered: Bool) -> Word {
        if !order.status.isOpen { return .notOpen }
        if order.status != .unknown { return .notUnknown }
        if !order.needsTheDesk(isUnanswered: isUnanswered) { return .stillAsked }
        return order.filledQuantity == filled ? .ended : .fillsDiffer
    }

    private func end(_ found: OrderState, _ changes: inout ShardChanges) -> Outcome {
        var order = found
        guard case .changed(let type, _) = order.apply(OrderState.endedByOperator, balances: &changes.balances, at: changes.at) else {
            preconditionFailure("An UNKNOWN order can be cancelled.")
        }
        changes.update(order)
        changes.tell(type, of: order)
        // An order that ends takes its replace along: its client is told.
        if found.replaces.pending != nil { changes.tell(.replaceRejected, of: order) }
        return Outcome(id: order.id, word: .ended, order: order, released: found.held)
    }
}
