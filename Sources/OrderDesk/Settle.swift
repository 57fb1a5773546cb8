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
    /// Reports per transaction: enough to fill a commit, also where one account has them all, and few enough that the shards are soon free for accepting
    /// again.
    static let batchCap = 512
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
                if try !settle() { await signal.wait(upTo: Self.pollInterval) }
            } catch {
                observer.trouble("settle", error.description)
                database.drop()
                await signal.wait(upTo: Self.troublePause)
            }
        }
        database.drop()
    }

    /// Settles what waits in every shard's inbox now, up to the cap. False when nothing waited.
    ///
    /// - Throws: the last failure, where shards could not go on; that did not keep the others waiting.
    package func settle() throws(PostgresError) -> Bool {
        let waiting = Dictionary(grouping: try database.unsettledReports(limit: Self.batchCap, by: rules.venueSession), by: \.shard)
        let shards = waiting.keys.sorted()
        var failure: PostgresError?
        let counts = shards.map { ($0, waiting[$0]?.count ?? 0) }
        for turn in turns(counts, shards: Self.shardsAtOnce, cap: Self.batchCap) {
            do {
                try settle(turn.flatMap { waiting[$0] ?? [] })
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return !waiting.isEmpty
    }

    /// Settles reports, each shard's in their order. Where the database refuses something of them they are settled one by one, and one that is refused
    /// even alone is parked, so that those behind it still settle. Any other failure is no report's fault: thrown, tried again later.
    private func settle(_ reports: [InboxReport]) throws(PostgresError) {
        do {
            try leg(reports)
        } catch {
            guard error.refusesData else { throw error }
            observer.trouble("settle", error.description)
            for report in reports { try settleAlone(report) }
        }
    }

    private func settleAlone(_ report: InboxReport) throws(PostgresError) {
        do {
            try leg([report])
        } catch {
            guard error.refusesData else { throw error }
            observer.trouble("settle", error.description)
            try leg([report], parkedBecause: error.message)
        }
    }

    /// One transaction.
    private func leg(_ waiting: [InboxReport], parkedBecause why: String? = nil) throws(PostgresError) {
        let begun = ContinuousClock.now
        do {
            let reads = try database.beginSettle(waiting, venue: rules.venue)
            if reads.reports.isEmpty { return }
            var settlement = Settlement(reads: reads.orders, booked: reads.booked, venue: rules.venue, now: now(), sendsAgain: rules.sendsAgain)
            for report in reads.reports {
                if let why { settlement.giveUp(report, why: why) } else { settlement.settle(report) }
            }
            observer.step(.settleDecided)
            try database.commit(settlement.changes)
            observer.step(.settleCommitted)
            for (alarm, order) in settlement.alarms { observer.alarm(alarm, order) }
            if settlement.changes.eventCount > 0 { observer.committed() }
            observer.batch("settle", reads.reports.count, .now - begun)
        } catch {
            database.rollback()
            throw error
        }
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
