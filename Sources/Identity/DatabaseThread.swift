import Postgres
import Storage
import Synchronization

/// Why the database was of no use to a call.
enum DatabaseTrouble: Error {
    /// Too many calls wait, or this one waited too long: nothing was done.
    case busy
    case failed(PostgresError)
}

/// A `Database` with the thread that it lives on. Any task may call; calls are done one after the other.
///
/// Unchecked: `database` is touched by nobody but the jobs of `thread`, which `run` checks; it is freed with the last reference to this
/// object, when no job is left.
final class DatabaseThread: @unchecked Sendable {
    /// How long a call may wait for its turn: less than a client's own time-out, so that the answer still reaches it.
    private static let patience: Duration = .seconds(5)
    /// A second try finds a connection that broke while nobody used it made anew; more would only hold up who waits behind.
    private static let tries = 2

    private let thread: DedicatedThread
    private let database: Database
    private let waitingLimit: Int
    private let waiting = Mutex(0)
    private let report: @Sendable (PostgresError) -> Void

    /// - Parameters:
    ///   - waitingLimit: calls under way or waiting; one more is refused.
    ///   - report: told of every failure. It must not block.
    init(name: String, _ options: PostgresOptions, waitingLimit: Int, report: @escaping @Sendable (PostgresError) -> Void) {
        thread = DedicatedThread(name: name)
        database = Database(options)
        self.waitingLimit = waitingLimit
        self.report = report
    }

    /// Does the work on the thread, in a transaction of its own; once more when the first try failed for a reason that passes.
    ///
    /// Concurrent: a caller on an actor would otherwise keep the work on that actor's executor.
    ///
    /// - Parameter makeWork: makes, on the thread, the work of all tries. An earlier try may have been committed: the work finds out.
    @concurrent
    func run<Value: Sendable>(
        _ makeWork: @Sendable () -> (Database) throws(PostgresError) -> Value
    ) async throws(DatabaseTrouble) -> Value {
        let isAdmitted = waiting.withLock { waiting in
            guard waiting < waitingLimit else { return false }
            waiting += 1
            return true
        }
        guard isAdmitted else { throw .busy }
        defer { waiting.withLock { $0 -= 1 } }
        let arrivedAt = ContinuousClock.now
        return try await thread.run { () throws(DatabaseTrouble) -> Value in
            thread.checkIsolated()
            guard ContinuousClock.now - arrivedAt < Self.patience else { throw .busy }
            return try persist(makeWork())
        }
    }

    private func persist<Value>(_ work: (Database) throws(PostgresError) -> Value) throws(DatabaseTrouble) -> Value {
        var tried = 0
        while true {
            do throws(PostgresError) {
                return try work(database)
            } catch {
                report(error)
                tried += 1
                // The server rolls back what a broken call left open, and a try through another connection finds the truth.
                database.drop()
                guard tried < Self.tries, error.isTransient else { throw .failed(error) }
            }
        }
    }
}
