package import Postgres
import Trading

/// One connection of a station, opened when first used and again after it was lost, with every statement prepared.
///
/// Owned by one dedicated thread; its calls block that thread (never Swift's pool) until the server has answered or the deadline has passed.
package final class Database {
    private var options: PostgresOptions
    private var current: PostgresConnection?

    /// - Parameter options: every host of its connection string is tried in turn; after a failure the next connection begins behind the host that failed.
    package init(_ options: PostgresOptions) {
        var options = options
        // Batches of every size share one plan by index. A table that was empty when it was analysed looks free to read whole, and that plan would
        // stay while the table grows: only what has no index is scanned. Such a scan then looks dear enough to be compiled, which takes longer.
        options.settings["plan_cache_mode"] = "force_generic_plan"
        options.settings["enable_seqscan"] = "off"
        options.settings["jit"] = "off"
        // A batch looks each of its rows up by key. Every other join reads a whole table or a wide stretch of its index, and a plan that was made while
        // the table was empty takes it: seen were 2 ms an order for what takes 5 µs.
        for other in ["hashjoin", "mergejoin", "material"] { options.settings["enable_\(other)"] = "off" }
        // Each statement sees what was committed when it begins: what is read behind the shard's lock must not be older than the lock.
        options.settings["default_transaction_isolation"] = "read committed"
        // A router that dies while it holds a shard must not keep it: the server ends a transaction that stands idle this long.
        options.settings["idle_in_transaction_session_timeout"] = "10s"
        self.options = options
    }

    /// The connection, opened and prepared if need be.
    package func connection() throws(PostgresError) -> PostgresConnection {
        if let current, current.isUsable { return current }
        drop()
        let opened = try PostgresConnection(options)
        current = opened
        do {
            try opened.prepare(SQL.all)
        } catch {
            drop()
            throw error
        }
        return opened
    }

    /// Closes the connection: the next call opens another. The server rolls back what was not committed.
    package func drop() {
        guard let current else { return }
        // A host that hangs may still accept connections: it is the last to be tried again.
        options = options.rotated(past: current.hostIndex)
        current.close()
        self.current = nil
    }

    /// Ends a transaction that will not be committed. A connection that cannot even do that is dropped.
    package func rollback() {
        guard let current else { return }
        do {
            try current.rollback()
        } catch {
            drop()
        }
    }

    func run(_ statement: Statement, _ build: (inout Parameters) -> Void = { _ in }) throws(PostgresError) -> Rows {
        var values = Parameters()
        build(&values)
        return try connection().run(statement, values)
    }

    // MARK: Legs

    /// Writes a leg and commits it, in one pipeline. Returns only after COMMIT's own tag was read.
    ///
    /// - Parameter more: statements of the same transaction that belong to another table (the FIX session's, last in lock order).
    /// - Parameter sent: called when everything is sent and nothing is answered yet: where a crash leaves the outcome open.
    /// - Throws: on any failure nothing may be assumed committed or not committed when `isOutcomeUnknown`; otherwise nothing is.
    package func commit(
        _ changes: ShardChanges,
        sent: () -> Void = {},
        _ more: (inout Pipeline) -> Void = { _ in }
    ) throws(PostgresError) {
        try commit(sent: sent) { pipeline in
            changes.write(into: &pipeline)
            more(&pipeline)
        }
    }

    func commit(sent: () -> Void = {}, _ build: (inout Pipeline) -> Void) throws(PostgresError) {
        let connection = try connection()
        try connection.sendPipeline { pipeline in
            build(&pipeline)
            pipeline.add(.commit)
        }
        sent()
        let results = try connection.readPipeline()
        guard results.last?.commandTag == "COMMIT" else {
            throw PostgresError(
                code: .server,
                operation: "COMMIT",
                message: "the transaction was rolled back: \(results.last?.commandTag ?? "no result")"
            )
        }
    }

    /// Begins a transaction and reads, in one pipeline; the results without BEGIN's.
    func begin(_ build: (inout Pipeline) -> Void) throws(PostgresError) -> [Rows] {
        do {
            return Array(
                try connection().pipeline { pipeline in
                    pipeline.add(.begin)
                    build(&pipeline)
                }.dropFirst()
            )
        } catch {
            rollback()
            throw error
        }
    }
}

extension Pipeline {
    mutating func add(_ statement: Statement, _ build: (inout Parameters) -> Void) {
        var values = Parameters()
        build(&values)
        add(statement, values)
    }

    mutating func lock(_ shards: [Int16]) { add(SQL.lockShards) { $0.append(shards) } }

    mutating func readAccounts(_ accounts: [AccountID]) { add(SQL.readAccounts) { $0.append(accounts.map(\.text)) } }

    mutating func readBalances(_ keys: [Balances.Key]) {
        add(SQL.readBalances) {
            $0.append(keys.map(\.account.description))
            $0.append(keys.map(\.asset.text))
        }
    }
}
