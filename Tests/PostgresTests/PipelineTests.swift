import Postgres
import TestSupport
import Testing

@Suite struct `A pipeline` {
    let connection: PostgresConnection
    let insert = Statement(name: "insert", sql: "INSERT INTO t VALUES ($1)", parameterTypes: [TypeOID.int8])
    let double = Statement(name: "double", sql: "SELECT $1::int8 * 2")
    let divide = Statement(name: "divide", sql: "SELECT 1 / $1::int8")
    let repeated = Statement(name: "repeated", sql: "SELECT repeat('x', $1)")
    let count = Statement(name: "count", sql: "SELECT count(*) FROM t")

    init() throws {
        connection = try TestServer.connect()
        try connection.execute("CREATE TEMP TABLE t (n int8 CONSTRAINT n_is_unique UNIQUE DEFERRABLE INITIALLY DEFERRED)")
        try connection.prepare([insert, double, divide, repeated, count])
    }

    private func parameters(_ value: Int64) -> Parameters {
        var parameters = Parameters()
        parameters.append(value)
        return parameters
    }

    @Test func `returns each statement's result in order`() throws {
        let results = try connection.pipeline { pipeline in
            pipeline.add(.begin)
            pipeline.add(insert, parameters(1))
            pipeline.add(double, parameters(21))
            pipeline.add(count)
            pipeline.add(.commit)
        }
        #expect(results.map(\.commandTag) == ["BEGIN", "INSERT 0 1", "SELECT 1", "SELECT 1", "COMMIT"])
        #expect(results[2].int64(0, 0) == 42)
        #expect(results[3].int64(0, 0) == 1)
        #expect(connection.transactionStatus == .idle)
    }

    @Test func `may be empty`() throws {
        #expect(try connection.pipeline { _ in }.isEmpty)
        #expect(try connection.run(count).int64(0, 0) == 0)
    }

    @Test func `throws its first error with its place and leaves the connection usable`() throws {
        let error = #expect(throws: PostgresError.self) {
            try connection.pipeline { pipeline in
                pipeline.add(.begin)
                pipeline.add(insert, parameters(1))
                pipeline.add(divide, parameters(0))
                pipeline.add(divide, parameters(0))
                pipeline.add(.commit)
            }
        }
        #expect(error?.statementIndex == 2)
        #expect(error?.operation == "divide")
        #expect(error?.sqlState == "22012")
        #expect(connection.transactionStatus == .failed)
        try connection.rollback()
        #expect(try connection.run(count).int64(0, 0) == 0)
        #expect(try connection.pipeline { $0.add(double, parameters(2)) }[0].int64(0, 0) == 4)
    }

    @Test func `is one transaction where it has no BEGIN`() throws {
        #expect(throws: PostgresError.self) {
            try connection.pipeline { pipeline in
                pipeline.add(insert, parameters(1))
                pipeline.add(divide, parameters(0))
            }
        }
        #expect(connection.transactionStatus == .idle)
        #expect(try connection.run(count).int64(0, 0) == 0)
    }

    @Test func `throws what fails only at its end`() throws {
        let error = #expect(throws: PostgresError.self) {
            try connection.pipeline { pipeline in
                pipeline.add(insert, parameters(1))
                pipeline.add(insert, parameters(1))
            }
        }
        #expect(error?.constraint == "n_is_unique")
        #expect(error?.statementIndex == nil)
        #expect(try connection.run(count).int64(0, 0) == 0)

        let atCommit = #expect(throws: PostgresError.self) {
            try connection.pipeline { pipeline in
                pipeline.add(.begin)
                pipeline.add(insert, parameters(1))
                pipeline.add(insert, parameters(1))
                pipeline.add(.commit)
            }
        }
        #expect(atCommit?.statementIndex == 3)
        #expect(try connection.run(count).int64(0, 0) == 0)
    }

    @Test func `can follow another that has not been read`() throws {
        try connection.sendPipeline { pipeline in
            pipeline.add(.begin)
            pipeline.add(insert, parameters(1))
            pipeline.add(.commit)
        }
        try connection.sendPipeline { pipeline in
            pipeline.add(.begin)
            pipeline.add(count)
        }
        #expect(connection.transactionStatus == .active)
        #expect(try connection.readPipeline().last?.commandTag == "COMMIT")
        #expect(try connection.readPipeline()[1].int64(0, 0) == 1)
        #expect(connection.transactionStatus == .inTransaction)
        try connection.rollback()
    }

    @Test func `does nothing of its own when the transaction before it failed`() throws {
        try connection.begin()
        try connection.sendPipeline { pipeline in
            pipeline.add(insert, parameters(1))
            pipeline.add(divide, parameters(0))
            pipeline.add(.commit)
        }
        try connection.sendPipeline { pipeline in
            pipeline.add(.begin)
            pipeline.add(insert, parameters(2))
            pipeline.add(.commit)
        }
        let first = #expect(throws: PostgresError.self) { try connection.readPipeline() }
        #expect(first?.sqlState == "22012")
        let second = #expect(throws: PostgresError.self) { try connection.readPipeline() }
        #expect(second?.sqlState == "25P02")
        #expect(second?.statementIndex == 0)
        try connection.rollback()
        #expect(try connection.run(count).int64(0, 0) == 0)
    }

    @Test func `takes a COMMIT that was answered with ROLLBACK for an error`() throws {
        try connection.begin()
        #expect(throws: PostgresError.self) { try connection.run(divide, parameters(0)) }
        let error = #expect(throws: PostgresError.self) { try connection.pipeline { $0.add(.commit) } }
        #expect(error?.sqlState == "25P02")
        #expect(error?.statementIndex == 0)
        #expect(connection.transactionStatus == .idle)
    }

    @Test func `carries 10,000 statements and large results without a deadlock`() throws {
        var parameters = Parameters()
        let results = try connection.pipeline(within: .seconds(60)) { pipeline in
            for number in 0..<10_000 {
                parameters.removeAll()
                parameters.append(Int32(number % 4000))
                pipeline.add(repeated, parameters)
            }
        }
        #expect(results.count == 10_000)
        #expect(results.indices.allSatisfy { results[$0].text(0, 0).utf8.count == $0 % 4000 })
    }

    @Test func `carries statements larger than every buffer while results come back`() throws {
        let echo = Statement(name: "echo", sql: "SELECT $1::bytea")
        try connection.prepare([echo])
        let block = [UInt8](repeating: 7, count: 1_000_000)
        let results = try connection.pipeline(within: .seconds(60)) { pipeline in
            var parameters = Parameters()
            parameters.append(block)
            for _ in 0..<20 { pipeline.add(echo, parameters) }
        }
        #expect(results.allSatisfy { $0.bytes(0, 0) == block })
    }

    @Test func `ends at its deadline`() throws {
        let sleep = Statement(name: "sleep", sql: "SELECT pg_sleep(60)")
        try connection.prepare([sleep])
        let error = #expect(throws: PostgresError.self) { try connection.pipeline(within: .milliseconds(200)) { $0.add(sleep) } }
        #expect(error?.code == .timedOut)
        #expect(error?.operation == "sleep")
        #expect(!connection.isUsable)
    }

    @Test func `reports a connection that was ended in its midst`() throws {
        let suicide = Statement(name: "suicide", sql: "SELECT pg_terminate_backend(pg_backend_pid())")
        try connection.prepare([suicide])
        let error = #expect(throws: PostgresError.self) {
            try connection.pipeline { pipeline in
                pipeline.add(double, parameters(1))
                pipeline.add(suicide)
                pipeline.add(.commit)
            }
        }
        #expect(error?.code == .connectionLost)
        #expect(error?.sqlState == "57P01", "\(error!)")
        #expect(throws: PostgresError.self) { try connection.sendPipeline { $0.add(count) } }
        #expect(throws: PostgresError.self) { try connection.readPipeline() }
    }
}
