package import Postgres
import Synchronization

/// A few connections for reads outside any leg, each on a thread of its own.
package final class Readers: Sendable {
    /// A connection and the thread that alone touches it.
    ///
    /// Unchecked: `database` is used only inside `thread.run`.
    private final class Reader: @unchecked Sendable {
        let thread: DedicatedThread
        let database: Database

        init(_ options: PostgresOptions, number: Int) {
            thread = DedicatedThread(name: "reader-\(number)")
            database = Database(options)
        }
    }

    private let readers: [Reader]
    private let waiting: Mutex<[Int]>

    package init(_ options: PostgresOptions, count: Int) {
        precondition(count > 0, "There is at least one reader.")
        readers = (0..<count).map { Reader(options, number: $0) }
        waiting = Mutex(Array(repeating: 0, count: count))
    }

    /// Runs `body` on the connection with the fewest callers. A connection that was lost is opened again, once: reads may be repeated.
    package func read<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) async throws -> Value {
        let index = waiting.withLock { waiting in
            let index = waiting.indices.min { waiting[$0] < waiting[$1] } ?? 0
            waiting[index] += 1
            return index
        }
        defer { waiting.withLock { $0[index] -= 1 } }
        let reader = readers[index]
        return try await reader.thread.run {
            do {
                return try body(reader.database)
            } catch let error as PostgresError where error.isTransient {
                reader.database.drop()
                return try body(reader.database)
            }
        }
    }

    /// Closes the connections and ends the threads. Nothing may be read afterwards.
    package func stop() async {
        for reader in readers {
            await reader.thread.run { reader.database.drop() }
            reader.thread.stop()
        }
    }
}
