package import Postgres
package import Storage
import Trading

/// settle: inbox to log. Reports become fills, postings, order states and events, several shards per transaction, each in
/// the order they were received.
///
/// The cursor, the bookings and the log rows commit together: after a crash settling goes on where the last commit ended, and no report is booked twice.
package final class Settle {
    /// Shards per transaction: a commit costs the same for one as for several, and the other half is free for accepting meanwhile.
    static let shardsAtOnce = Int(AccountID.shardCount) / 2
    /// Reports of each shard per transaction: enough to fill a commit, few enough that the shards are soon free for accepting again.
    static let batchCap = 128
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
                // Shards that cannot go on now do not keep the others waiting.
                var failure: PostgresError?
                for start in stride(from: 0, to: shards.count, by: Self.shardsAtOnce) {
                    do {
                        try settle(Array(shards[start..<min(start + Self.shardsAtOnce, shards.count)]))
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

    /// Settles everything that waits in these shards' inboxes now.
    package func settle(_ shards: [Int16]) throws(PostgresError) {
        do {
            var first: Int64?
            while try leg(shards, limit: Self.batchCap, parking: nil, first: &first) >= Self.batchCap {}
        } catch {
            guard error.refusesData else { throw error }
            observer.trouble("settle", error.description)
            for shard in shards { try settleAlone(shard) }
        }
    }

    /// Settles a shard whose reports hold something that the database refuses, report by report; one that is refused even alone is parked, so that those
    /// behind it still settle. Any other failure is no report's fault: thrown, tried again later.
    private func settleAlone(_ shard: Int16) throws(PostgresError) {
        var cap = Self.batchCap
        var poison: Poison?
        while true {
            var first: Int64?
            do {
                let settled = try leg([shard], limit: cap, parking: poison, first: &first)
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

    /// One transaction. Returns how many reports it settled of the shard that had most.
    ///
    /// - Parameter first: the first report that it read, also where it fails afterwards.
    private func leg(_ shards: [Int16], limit: Int, parking poison: Poison?, first: inout Int64?) throws(PostgresError) -> Int {
        let begun = ContinuousClock.now
        do {
            let (locks, reports) = try database.beginSettle(shards: shards, limit: limit)
            if reports.isEmpty { return 0 }
            first = reports.first?.inboxID
            let (reads, booked) = try database.readForSettle(
                locks,
                orders: Array(Set(reports.compactMap { $0.report.orderID.flatMap(OrderID.init) })),
                venue: rules.venue,
                executions: Array(Set(reports.compactMap(\.report.executionKey)))
            )
            var settlement = Settlement(reads: reads, booked: booked, venue: rules.venue, now: now())
            for report in reports {
                // By its id: another router may have settled it meanwhile, and the next report is innocent.
                if let poison, poison.inboxID == report.inboxID { settlement.giveUp(report, why: poison.why) } else { settlement.settle(report) }
            }
            observer.step(.settleDecided)
            try database.commit(settlement.changes)
            observer.step(.settleCommitted)
            for (alarm, order) in settlement.alarms { observer.alarm(alarm, order) }
            if settlement.changes.eventCount > 0 { observer.committed() }
            observer.batch("settle", reports.count, .now - begun)
            return Dictionary(grouping: reports, by: \.shard).values.map(\.count).max() ?? 0
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
