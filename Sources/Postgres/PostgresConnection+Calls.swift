import CLibPQ

extension PostgresConnection {
    /// Runs SQL text without parameters, several statements if need be, as one implicit transaction unless it says otherwise. The results
    /// are text: only `text`, `commandTag` and `affected` can be read from them.
    ///
    /// Throws `server` with the first error; the statements behind it were not run.
    @discardableResult
    package func execute(_ sql: String, within time: Duration? = nil) throws(PostgresError) -> [Rows] {
        unsafe try call("execute", within: time) { handle in unsafe PQsendQuery(handle, sql) }
    }

    /// Runs one statement that has not been prepared, with binary parameters and results.
    @discardableResult
    package func query(_ sql: String, _ parameters: Parameters = Parameters(), within time: Duration? = nil) throws(PostgresError) -> Rows {
        let results = unsafe try call("query", within: time) { handle in
            unsafe parameters.withPointers { count, values, lengths, formats in
                unsafe PQsendQueryParams(handle, sql, count, parameters.types, values, lengths, formats, 1)
            }
        }
        return results[0]
    }

    /// Runs a prepared statement. One that was not prepared on this connection, or parameters of other types than it takes, are faults.
    @discardableResult
    package func run(_ statement: Statement, _ parameters: Parameters = Parameters(), within time: Duration? = nil) throws(PostgresError) -> Rows {
        precondition(pipelinesInFlight.isEmpty, "\(statement.name) was run while a pipeline waits to be read.")
        let end = deadline(time)
        try queue(statement, parameters)
        let rows = try collect(statement.name, until: end)[0]
        if let failure = Self.refusedCommit(statement, rows, at: nil) { throw failure }
        return rows
    }

    package func begin() throws(PostgresError) { try run(.begin) }

    /// Throws `server` (25P02) where the transaction had failed and the server rolled it back instead. After `connectionLost`, `timedOut`
    /// and `notDurable` nobody knows yet whether it was committed.
    package func commit(within time: Duration? = nil) throws(PostgresError) { try run(.commit, within: time) }

    package func rollback() throws(PostgresError) { try run(.rollback) }

    /// Prepares all statements in one round trip and learns the types of their parameters.
    ///
    /// Throws `server`, named after the statement that the server does not take; none of them is then to be relied on.
    package func prepare(_ statements: [Statement], within time: Duration? = nil) throws(PostgresError) {
        precondition(pipelinesInFlight.isEmpty, "Statements were prepared while a pipeline waits to be read.")
        for statement in statements {
            precondition(prepared[statement.name] == nil, "A connection prepares \(statement.name) twice.")
        }
        let end = deadline(time)
        let handle = unsafe try open("prepare")
        var members: [PipelineInFlight.Member] = []
        guard unsafe PQenterPipelineMode(handle) == 1 else { throw unsafe sendFailure(handle, "prepare") }
        for statement in statements {
            let types = statement.parameterTypes
            let sent = unsafe PQsendPrepare(handle, statement.name, statement.sql, Int32(types.count), types)
            guard sent == 1, unsafe PQsendDescribePrepared(handle, statement.name) == 1 else { throw unsafe sendFailure(handle, statement.name) }
            members.append(.preparation(statement))
            members.append(.preparation(statement))
        }
        try finishPipeline(members, until: end)
        let results = try readPipeline(until: end)
        for (index, statement) in statements.enumerated() {
            prepared[statement.name] = PreparedStatement(statement: statement, parameterTypes: results[2 * index + 1].parameterTypes)
        }
    }

    /// The error for a COMMIT that the server answered with ROLLBACK.
    static func refusedCommit(_ statement: Statement, _ rows: Rows, at index: Int?) -> PostgresError? {
        guard statement == .commit, rows.commandTag != "COMMIT" else { return nil }
        return PostgresError(
            code: .server,
            operation: statement.name,
            message: "the transaction had failed: the server answered COMMIT with \(rows.commandTag)",
            sqlState: "25P02",
            statementIndex: index
        )
    }

    private func call(_ operation: String, within time: Duration?, _ send: (OpaquePointer) -> Int32) throws(PostgresError) -> [Rows] {
        precondition(pipelinesInFlight.isEmpty, "\(operation) was called while a pipeline waits to be read.")
        let end = deadline(time)
        let handle = unsafe try open(operation)
        guard unsafe send(handle) == 1 else { throw unsafe sendFailure(handle, operation) }
        return try collect(operation, until: end)
    }

    /// Reads all results of what was sent outside a pipeline; at least one.
    private func collect(_ operation: String, until deadline: ContinuousClock.Instant) throws(PostgresError) -> [Rows] {
        try flush(operation, until: deadline)
        var results: [Rows] = []
        var failure: PostgresError?
        while let rows = try nextResult(operation, until: deadline) {
            switch rows.status {
            case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY: results.append(rows)
            case PGRES_FATAL_ERROR: failure = failure ?? rows.error(isLost: false)
            default: throw abandon(.protocolViolation, operation, "the server answered with status \(rows.status.rawValue); COPY is not supported")
            }
        }
        // First: a commit that is not durable weighs more than what failed behind it.
        try checkDurability(operation)
        if let failure { throw failure }
        guard !results.isEmpty else { throw abandon(.protocolViolation, operation, "the server did not answer") }
        return results
    }
}
