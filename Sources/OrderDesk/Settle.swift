package import Postgres
package import Storage
import Trading

/// settle: inbox to log. Reports become fills, postings, order states and events, one shard per transaction, in the order they were received.
///
/// The cursor, the bookings and the log rows commit together: after a crash settling goes on where the last commit ended, and no report is booked twice.
package final class Settle {
    /// Reports per transaction: enough to fill a commit, few enough that the shard is soon free for accepting again.
    static let batchCap = 256
    /// How long to wait for a signal before looking anyway: busy to idle.
    static let pollInterval: Duration = .milliseconds(50)

    private let database: Database
    private let rules: DeskRules
    private let observer: DeskObserver
    private let signal: CommitSignal
    private let now: @Sendable () -> Int64

    /// - Parameter signal: raised when reports were committed to the inbox.
    package init(
        database: PostgresOptions,
        rules: DeskRules,
        observer: DeskObserver,
        signal: CommitSignal,
        now: @escaping @Sendable () -> Int64
    ) {
        self.database = Database(database)
        self.rules = rules
        self.observer = observer
        self.signal = signal
        self.now = now
    }

    /// Runs on a thread of its own until cancelled.
    package func run() async throws {
        while !Task.isCancelled {
            do {
                let shards = try database.shardsToSettle()
                for shard in shards { try settle(shard) }
                if shards.isEmpty { await signal.wait(upTo: Self.pollInterval) }
            } catch {
                observer.trouble("settle", error.description)
                database.drop()
                await signal.wait(upTo: .milliseconds(200))
            }
        }
        database.drop()
    }

    /// Settles everything that waits in a shard's inbox now. A batch that the database refuses is settled report by report; one that is refused
    /// even alone is parked, so that those behind it still settle.
    package func settle(_ shard: Int16) throws(PostgresError) {
        var cap = Self.batchCap
        var refusal: String?
        while true {
            do {
                let settled = try leg(shard, limit: cap, parking: refusal)
                refusal = nil
                if settled < cap { return }
            } catch {
                if error.isTransient { throw error }
                observer.trouble("settle", error.description)
                guard refusal == nil else { throw error }
                refusal = cap == 1 ? error.message : nil
                cap = 1
            }
        }
    }

    /// One transaction. Returns how many reports it settled.
    private func leg(_ shard: Int16, limit: Int, parking refusal: String?) throws(PostgresError) -> Int {
        let begun = ContinuousClock.now
        do {
            let (lock, reports) = try database.beginSettle(shard: shard, limit: limit)
            guard let last = reports.last else { return 0 }
            let (reads, booked) = try database.readForSettle(
                lock,
                orders: Array(Set(reports.compactMap { $0.report.orderID.flatMap(OrderID.init) })),
                venue: rules.venue,
                executions: Array(Set(reports.compactMap(\.report.executionKey)))
            )
            var settlement = Settlement(reads: reads, booked: booked, venue: rules.venue, now: now())
            for report in reports {
                if let refusal { settlement.park(report, why: refusal) } else { settlement.settle(report) }
            }
            settlement.changes.settledInbox = last.inboxID
            observer.step(.settleDecided)
            try database.commit(settlement.changes)
            observer.step(.settleCommitted)
            for (alarm, order) in settlement.alarms { observer.alarm(alarm, order) }
            if settlement.changes.eventCount > 0 { observer.committed() }
            observer.batch("settle", reports.count, .now - begun)
            return reports.count
        } catch {
            database.rollback()
            throw error
        }
    }
}

extension VenueReport {
    var executionKey: ExecutionKey? {
        guard let tradeDate, let execID else { return nil }
        return ExecutionKey(tradeDate: tradeDate, execID: execID)
    }
}
