import CLibPQ

/// Statements that go to the server together, with one Sync behind the last: one round trip, and after an error the rest is skipped.
package struct Pipeline {
    private let connection: PostgresConnection
    fileprivate var members: [PipelineInFlight.Member] = []
    fileprivate var failure: PostgresError?

    fileprivate init(_ connection: PostgresConnection) {
        self.connection = connection
    }

    /// How many statements there are so far: the index of the next one among the results.
    package var count: Int { members.count }

    /// The parameters are copied: their buffer can be filled again at once.
    package mutating func add(_ statement: Statement, _ parameters: borrowing Parameters = Parameters()) {
        guard failure == nil else { return }
        do throws(PostgresError) {
            try connection.queue(statement, parameters)
            members.append(.execution(statement))
        } catch {
            failure = error
        }
    }
}

/// A pipeline whose results have not been read.
struct PipelineInFlight {
    enum Member {
        case execution(Statement)
        case preparation(Statement)

        var name: String {
            switch self {
            case .execution(let statement), .preparation(let statement): statement.name
            }
        }
    }

    let members: [Member]
}

extension PostgresConnection {
    /// So many pipelines may wait to be read. A lane needs two: the next batch's reads behind the last one's commit.
    private static let maximumPipelinesInFlight = 16

    /// Sends the statements that the body adds and returns their results in order.
    ///
    /// Throws the first statement's error, with its index; the others behind it were skipped, all results have been read and the
    /// connection can be used again (an open transaction has failed and needs `rollback()`). Without BEGIN the pipeline is one
    /// transaction; an error that arises only at its end (a deferred constraint) has no index.
    package func pipeline(within time: Duration? = nil, _ body: (inout Pipeline) -> Void) throws(PostgresError) -> [Rows] {
        precondition(pipelinesInFlight.isEmpty, "A pipeline was run while another one waits to be read; send and read it instead.")
        let end = deadline(time)
        try sendPipeline(until: end, body)
        return try readPipeline(until: end)
    }

    /// Sends a pipeline without reading its results, so that another can follow on its heels.
    package func sendPipeline(within time: Duration? = nil, _ body: (inout Pipeline) -> Void) throws(PostgresError) {
        try sendPipeline(until: deadline(time), body)
    }

    /// Reads the results of the oldest pipeline that was sent; throws as `pipeline` does. Its deadline begins with this call.
    package func readPipeline(within time: Duration? = nil) throws(PostgresError) -> [Rows] {
        try readPipeline(until: deadline(time))
    }

    private func sendPipeline(until deadline: ContinuousClock.Instant, _ body: (inout Pipeline) -> Void) throws(PostgresError) {
        precondition(pipelinesInFlight.count < Self.maximumPipelinesInFlight, "Too many pipelines wait to be read.")
        let handle = unsafe try open("pipeline")
        guard unsafe PQenterPipelineMode(handle) == 1 else { throw unsafe sendFailure(handle, "pipeline") }
        var pipeline = Pipeline(self)
        body(&pipeline)
        if let failure = pipeline.failure { throw failure }
        try finishPipeline(pipeline.members, until: deadline)
    }

    /// Puts the Sync behind what was queued and sends all of it.
    func finishPipeline(_ members: [PipelineInFlight.Member], until deadline: ContinuousClock.Instant) throws(PostgresError) {
        let handle = unsafe try open("pipeline")
        guard unsafe PQpipelineSync(handle) == 1 else { throw unsafe sendFailure(handle, "pipeline") }
        pipelinesInFlight.append(PipelineInFlight(members: members))
        try flush("pipeline", until: deadline)
    }

    func readPipeline(until deadline: ContinuousClock.Instant) throws(PostgresError) -> [Rows] {
        _ = unsafe try open("pipeline")
        precondition(!pipelinesInFlight.isEmpty, "No pipeline waits to be read.")
        let pipeline = pipelinesInFlight[0]
        var results: [Rows] = []
        results.reserveCapacity(pipeline.members.count)
        var failure: PostgresError?
        for (index, member) in pipeline.members.enumerated() {
            guard let rows = try nextResult(member.name, until: deadline) else {
                throw abandon(.protocolViolation, member.name, "the server did not answer")
            }
            switch rows.status {
            case PGRES_TUPLES_OK, PGRES_COMMAND_OK:
                results.append(rows)
                if case .execution(let statement) = member { failure = failure ?? Self.refusedCommit(statement, rows, at: index) }
            case PGRES_FATAL_ERROR: failure = failure ?? rows.error(isLost: false, statementIndex: index)
            case PGRES_PIPELINE_ABORTED where failure != nil: break
            default: throw abandon(.protocolViolation, member.name, "the server answered with status \(rows.status.rawValue)")
            }
            guard try nextResult(member.name, until: deadline) == nil else {
                throw abandon(.protocolViolation, member.name, "the server answered twice")
            }
        }
        let endFailure = try readSync(until: deadline)
        pipelinesInFlight.removeFirst()
        try leavePipelineMode()
        // First: a commit that is not durable weighs more than what failed behind it.
        try checkDurability("pipeline")
        if let failure = failure ?? endFailure { throw failure }
        return results
    }

    /// Reads up to the answer to Sync; returns the error of an implicit transaction that failed only at its end.
    private func readSync(until deadline: ContinuousClock.Instant) throws(PostgresError) -> PostgresError? {
        var failure: PostgresError?
        while true {
            guard let rows = try nextResult("pipeline", until: deadline) else {
                // The end of an error that came in place of the Sync's answer.
                if failure != nil { continue }
                throw abandon(.protocolViolation, "pipeline", "the server did not answer the Sync")
            }
            switch rows.status {
            case PGRES_PIPELINE_SYNC: return failure
            case PGRES_FATAL_ERROR where failure == nil: failure = rows.error(isLost: false)
            default: throw abandon(.protocolViolation, "pipeline", "the server answered the Sync with status \(rows.status.rawValue)")
            }
        }
    }

    private func leavePipelineMode() throws(PostgresError) {
        guard pipelinesInFlight.isEmpty else { return }
        let handle = unsafe try open("pipeline")
        guard unsafe PQexitPipelineMode(handle) == 1 else { throw unsafe sendFailure(handle, "pipeline") }
    }
}
