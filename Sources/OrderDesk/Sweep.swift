package import Postgres
import Storage
import Trading

/// sweep: what time does to orders, each by a commit under its shard's lock.
///
/// An order that was not numbered for the venue by its route deadline is cancelled by us (`not_routed`). An order that the venue has not answered in
/// time becomes UNKNOWN: its hold stays, the venue is asked, and only evidence moves it on. The orders of a client that has fallen silent are cancelled where
/// it has asked for that (cancel-all-after). Rows past their keeping are deleted in portions,
/// and the parts of the coming weeks are made.
package final class Sweep {
    package struct Times: Sendable {
        /// Between two looks.
        package var interval: Duration = .milliseconds(500)
        /// Between two looks for rows past their keeping: they have lain there for days.
        package var deleteInterval: Duration = .seconds(10)
        /// Between two looks whether parts are made ahead: there is something to make once a week, and weeks to try it in.
        package var partsInterval: Duration = .seconds(600)
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
    /// Overdue orders at one look; the next look finds the rest.
    static let overdueLimit = 2_048
    /// Timers that ran out, at one look.
    static let timerLimit = 256
    /// Messages of a session watched for silence at one look, and how often in a row: a fast sender numbers some 3,000 between two looks, and a router
    /// that comes back after an hour is soon past what lies there.
    static let watchPortion = 2_000
    static let watchPortions = 20

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
        var (deleteDue, partsDue) = (ContinuousClock.now, ContinuousClock.now)
        while !Task.isCancelled {
            do {
                try sweep()
                if ContinuousClock.now >= deleteDue {
                    deleteDue = .now + times.deleteInterval
                    try delete()
                }
                if ContinuousClock.now >= partsDue {
                    partsDue = .now + times.partsInterval
                    _ = try database.makeParts(at: now())
                }
            } catch {
                observer.trouble("sweep", error.description)
                database.drop()
            }
            try? await Task.sleep(for: times.interval)
        }
        database.drop()
    }

    /// One look at all shards and sessions. What is found is read again under its shard's lock: what was numbered or answered meanwhile is left alone.
    package func sweep() throws(PostgresError) {
        let now = now()
        for timer in try database.dueCancelTimers(now: now, limit: Self.timerLimit) { try cancelAll(timer, at: now) }
        try change(try database.overdueOrders(now: now, limit: Self.overdueLimit), at: now) { $0.isOverdue(at: now) ? .notRouted : nil }
        // Whoever sends, any router watches: several at once find the same and one of them changes it.
        for _ in 0..<Self.watchPortions {
            let silent = try database.silentOrders(sentBefore: now - times.silence, limit: Self.watchPortion)
            try change(silent.orders, at: now) {
                $0.status == .routed ? .doubted(reason: "venue_silent", sentIn: silent.sentIn[$0.id]) : nil
            }
            if silent.lastWatched.isEmpty { return }
            // Only now: after a crash in between they are looked at once more.
            try database.advanceWatch(silent.lastWatched)
        }
    }

    private func change(_ found: [Int16: [OrderID]], at now: Int64, _ event: (OrderState) -> OrderEvent?) throws(PostgresError) {
        for (shard, orders) in found.sorted(by: { $0.key < $1.key }) {
            for first in stride(from: 0, to: orders.count, by: Self.portion) {
                try change(shard, Array(orders[first..<min(first + Self.portion, orders.count)]), at: now, event)
            }
        }
    }

    private func change(_ shard: Int16, _ orders: [OrderID], at now: Int64, _ event: (OrderState) -> OrderEvent?) throws(PostgresError) {
        do {
            let reads = try database.beginOrders(shards: [shard], orders: orders)
            var changes = reads.changes(at: now)
            for var order in reads.orders.values {
                guard let event = event(order), case .changed(let type, _) = order.apply(event, balances: &changes.balances, at: now) else {
                    continue
                }
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

    /// What the client is told as the reason of what it has not asked for one by one.
    static let clientSilent = "cancel_all_after"

    /// cancel-all-after: cancels are requested in portions; the timer goes with the last, so that a crash in between loses none.
    private func cancelAll(_ timer: DueCancelTimer, at now: Int64) throws(PostgresError) {
        do {
            while let reads = try database.beginCancelAll(timer) {
                var changes = reads.changes(at: now)
                for var order in reads.orders.values.sorted(by: { $0.createdAt < $1.createdAt }) {
                    _ = changes.requestCancel(of: &order, because: Self.clientSilent)
                }
                let isLast = reads.orders.count < Database.cancelAllCap
                try database.commitCancelAll(changes, ending: isLast ? timer : nil)
                if changes.eventCount > 0 { observer.committed() }
                if isLast { return }
            }
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
