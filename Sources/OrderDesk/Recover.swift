package import Postgres
package import Storage
import Trading

/// recover: before a database that was restored from a backup accepts again.
///
/// The venue knows more than such a database does. So nothing is sent as new from it: orders that waited for their number may have had it, and are UNKNOWN
/// like all others until the venue has said where they stand; our numbers go on above all that the venue can have received; what it has sent meanwhile is
/// asked for again by the session itself. Keys of before are looked up at the venue when they come back (see Decision+Recovery.swift).
package final class Recover {
    /// Numbers that are left out: as many messages as are sent in some minutes of full load. The venue asks for them, and gets a gap fill.
    static let skippedNumbers: Int64 = 1_000_000
    /// Cancel requests of one order that may have been lost.
    static let skippedCancels: Int16 = 100
    /// Blocks of orders read at once, as the kill switch does.
    private static let readPortion: Int64 = 1_024
    private static let portion = 256

    /// Why nothing was recovered, and nothing changed.
    package enum Obstacle: Error, Sendable, Equatable {
        /// No router has ever run on this database.
        case noSession
        /// Orders go by another session here than the one that was named.
        case ordersGoBy(String)
        case routerSpeaks
        /// The number that was given has been used already: the next one that is known here.
        case numberLiesBack(nextOut: Int64)
    }

    private let reading: Database
    private let database: Database
    private let session: String
    private let whom: String
    private let now: @Sendable () -> Int64

    package init(_ options: PostgresOptions, session: String, by whom: String, now: @escaping @Sendable () -> Int64) {
        reading = Database(options)
        database = Database(options)
        self.session = session
        self.whom = whom
        self.now = now
    }

    /// Safe to be repeated, also after it broke off.
    ///
    /// - Parameter nextOut: MsgSeqNum of our next message, where the venue has said which; nil: far above the last one that is known here.
    /// - Returns: how many orders are in doubt, beside what was recovered.
    /// - Throws: `Obstacle` before anything is changed: an order that is doubted stays so until the venue has spoken.
    package func run(nextOut: Int64?) throws -> (recovered: Recovered, doubted: Int) {
        defer {
            reading.drop()
            database.drop()
        }
        try lookForObstacles(nextOut)
        var doubted = 0
        try change { order, changes in
            doubted += 1
            guard case .changed(let type, _) = order.apply(.doubted(reason: "restored"), balances: &changes.balances, at: changes.at) else { return }
            changes.update(order)
            changes.tell(type, of: order)
        }
        let recovered = try database.recover(
            session: session,
            nextOut: nextOut,
            skipping: Self.skippedNumbers,
            cancels: Self.skippedCancels,
            by: whom,
            at: now()
        )
        // A router that has begun to speak since has the doubts answered.
        guard let recovered else { throw Obstacle.routerSpeaks }
        // Under their new numbers: the venue may have answered the old ones.
        try change { order, changes in
            if order.cancelPending { changes.tell(.cancelRequested, of: order) }
        }
        return (recovered, doubted)
    }

    private func lookForObstacles(_ nextOut: Int64?) throws {
        guard let inForce = try database.sessionInForce() else { throw Obstacle.noSession }
        if inForce.id != session { throw Obstacle.ordersGoBy(inForce.id) }
        if inForce.isHeld { throw Obstacle.routerSpeaks }
        if let nextOut, nextOut < inForce.nextOut { throw Obstacle.numberLiesBack(nextOut: inForce.nextOut) }
    }

    /// Every open order, a portion per transaction.
    private func change(_ body: (inout OrderState, inout ShardChanges) -> Void) throws {
        try reading.openOrders(blocks: Self.readPortion) { found in
            for (shard, orders) in found.sorted(by: { $0.key < $1.key }) {
                for first in stride(from: 0, to: orders.count, by: Self.portion) {
                    try change(Array(orders[first..<min(first + Self.portion, orders.count)]), of: shard, body)
                }
            }
        }
    }

    private func change(_ orders: [OrderID], of shard: Int16, _ body: (inout OrderState, inout ShardChanges) -> Void) throws(PostgresError) {
        do {
            let reads = try database.beginOrders(shards: [shard], orders: orders)
            var changes = reads.changes(at: now())
            for var order in reads.orders.values.sorted(by: { $0.createdAt < $1.createdAt }) where order.status.isOpen { body(&order, &changes) }
            try database.commit(changes)
        } catch {
            database.rollback()
            throw error
        }
    }
}
