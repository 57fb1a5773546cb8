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
    /// How long to leave a database alone that just failed.
    static let troublePause: Duration = .milliseconds(200)

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
                // A shard that cannot go on now does not keep the others waiting.
                var failure: PostgresError?
                for shard in shards {
                    do {
                        try settle(shard)
                    } catch {
                        observer.trouble("settle", error.description)
                        database.drop()
                        failure = error
                    }
                }
                if shards.isEmpty || failure != nil { await signal.wait(upTo: failure == nil ? Self.pollInterval : Self.troublePause) }
            } catch {
                observer.trouble("settle", error.description)
                database.drop()
                await signal.wait(upTo: Self.troublePause)
            }
        }
        database.drop()
    }

    /// A report that the database refuses, and why.
    private struct Poison {
        let inboxID: Int64
        let why: String
    }

    /// Settles everything that waits in a shard's inbox now. A batch that holds something that the database refuses is settled report by report; one
    /// that is refused even alone is parked, so that those behind it still settle. Any other failure is no report's fault: thrown, tried again later.
    package func settle(_ shard: Int16) throws(PostgresError) {
        var cap = Self.batchCap
        var poison: Poison?
        while true {
            var first: Int64?
            do {
                let settled = try leg(shard, limit: cap, parking: poison, first: &first)
                poison = nil
                if settled < cap { return }
            } catch {
                guard error.refusesData, poison == nil, let first else { throw error }
                observer.trouble("settle", error.description)
                poison = cap == 1 ? Poison(inboxID: first, why: error.message) : nil
                cap = 1
            }
        }
    }

    /// One transaction. Returns how many reports it settled.
    ///
    /// - Parameter first: the first report that it read, also where it fails afterwards.
    private func leg(_ shard: Int16, limit: Int, parking poison: Poison?, first: inout Int64?) throws(PostgresError) -> Int {
        let begun = ContinuousClock.now
        do {
            let (lock, reports) = try database.beginSettle(shard: shard, limit: limit)
            guard let last = reports.last else { return 0 }
            first = reports.first?.inboxID
            let (reads, booked) = try database.readForSettle(
                lock,
                orders: Array(Set(reports.compactMap { $0.report.orderID.flatMap(OrderID.init) })),
                venue: rules.venue,
                executions: Array(Set(reports.compactMap(\.report.executionKey)))
            )
            var settlement = Settlement(reads: reads, booked: booked, venue: rules.venue, now: now())
            for report in reports {
                // By its id: another router may have settled it meanwhile, and the next report is innocent.
                if let poison, poison.inboxID == report.inboxID { settlement.giveUp(report, why: poison.why) } else { settlement.settle(report) }
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

extension PostgresError {
    /// True where the data itself was refused: a value (SQLSTATE class 22), a constraint (23) or a size (54). A commit that is not durable, a server
    /// that fails or a table that is missing says nothing about a report.
    fileprivate var refusesData: Bool {
        guard code == .server, let sqlState else { return false }
        return ["22", "23", "54"].contains(sqlState.prefix(2))
    }
}
