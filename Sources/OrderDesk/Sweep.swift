package import Postgres
import Storage
import Trading

/// sweep: what time does to orders, each by a commit under its shard's lock.
///
/// An order that was not numbered for the venue by its route deadline is cancelled by us (`not_routed`). An order that the venue has not answered in
/// time becomes UNKNOWN: its hold stays, the venue is asked, and only evidence moves it on. Rows past their keeping are deleted in portions.
package final class Sweep {
    package struct Times: Sendable {
        /// Between two looks.
        package var interval: Duration = .milliseconds(500)
        /// Between two looks for rows past their keeping: they have lain there for days.
        package var deleteInterval: Duration = .seconds(10)
        /// How long a venue may stay silent about a routed order, ms.
        package var silence: Int64 = 10_000
        /// Event ids can be resumed this long, ms (design section 4.4: 7 days).
        package var eventsKept: Int64 = 7 * 86_400_000
        /// Settled inbox rows and sent messages are kept this long, ms: past any resend that a venue still asks for.
        package var messagesKept: Int64 = 2 * 86_400_000

        package init() {}
    }

    /// Orders changed per transaction, and rows deleted per statement: short transactions.
    static let portion = 256
    static let deletePortion = 2_000
    /// Portions in a row before orders are looked at again.
    static let deletePortions = 20

    private let database: Database
    private let times: Times
    private let observer: DeskObserver
    private let now: @Sendable () -> Int64

    package init(database: PostgresOptions, times: Times, observer: DeskObserver, now: @escaping @Sendable () -> Int64) {
        self.database = Database(database)
        self.times = times
        self.observer = observer
        self.now = now
    }

    /// Runs on a thread of its own until cancelled.
    package func run() async throws {
        var deleteDue = ContinuousClock.now
        while !Task.isCancelled {
            do {
                try sweep()
                if ContinuousClock.now >= deleteDue {
                    deleteDue = .now + times.deleteInterval
                    try delete()
                }
            } catch {
                observer.trouble("sweep", error.description)
                database.drop()
            }
            try? await Task.sleep(for: times.interval)
        }
        database.drop()
    }

    /// One look at all shards.
    package func sweep() throws(PostgresError) {
        let now = now()
        for shard in try database.shardsToSweep(now: now, silentSince: now - times.silence) {
            let overdue = try database.overdueOrders(shard: shard, now: now, limit: Self.portion)
            let silent = try database.silentOrders(shard: shard, routedBefore: now - times.silence, limit: Self.portion)
            try change(shard, overdue: Set(overdue), silent: Set(silent), now: now)
        }
    }

    private func change(_ shard: Int16, overdue: Set<OrderID>, silent: Set<OrderID>, now: Int64) throws(PostgresError) {
        do {
            let reads = try database.beginOrders(shards: [shard], orders: Array(overdue.union(silent)))
            var changes = reads.changes(at: now)
            // Read again under the lock: what was numbered or acknowledged meanwhile is left alone.
            for var order in reads.orders.values {
                let event: OrderEvent
                switch order.status {
                case .accepted where order.routeBy < now: event = .cancelled(reason: "not_routed")
                case .routed where silent.contains(order.id): event = .doubted(reason: "venue_silent")
                default: continue
                }
                guard case .changed(let type, _) = order.apply(event, balances: &changes.balances, at: now) else { continue }
                changes.update(order)
                changes.tell(type, of: order)
            }
            try database.commit(changes)
            if changes.eventCount > 0 { observer.committed() }
        } catch {
            database.rollback()
            throw error
        }
    }

    private func delete() throws(PostgresError) {
        for _ in 0..<Self.deletePortions {
            let now = now()
            let deleted = try database.deletePast(
                before: now - times.messagesKept,
                eventsBefore: now - times.eventsKept,
                limit: Self.deletePortion
            )
            if deleted < Self.deletePortion { return }
        }
    }
}
