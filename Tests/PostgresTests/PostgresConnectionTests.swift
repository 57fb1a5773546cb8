import Foundation
import Postgres
import TestSupport
import Testing

@Suite struct `A connection` {
    let connection: PostgresConnection

    init() throws {
        connection = try TestServer.connect()
    }

    @Test func `runs several statements of plain SQL`() throws {
        let results = try connection.execute("CREATE TEMP TABLE t (n int8); INSERT INTO t VALUES (1), (2); SELECT 'x' AS what, NULL")
        #expect(results.map(\.commandTag) == ["CREATE TABLE", "INSERT 0 2", "SELECT 1"])
        #expect(results.map(\.affected) == [0, 2, 1])
        #expect(results[2].text(0, 0) == "x")
        #expect(results[2].columnName(0) == "what")
        #expect(results[2].isNull(0, 1))
    }

    @Test func `says which statement failed, why, and goes on`() throws {
        try connection.execute("CREATE TEMP TABLE t (n int8, CONSTRAINT n_is_positive CHECK (n > 0))")
        let error = #expect(throws: PostgresError.self) { try connection.execute("INSERT INTO t VALUES (-1)") }
        #expect(error?.code == .server)
        #expect(error?.sqlState == "23514")
        #expect(error?.constraint == "n_is_positive")
        #expect(error?.isTransient == false)
        #expect(error?.isOutcomeUnknown == false)
        #expect(connection.isUsable)
        #expect(try connection.query("SELECT 1::int8").int64(0, 0) == 1)
    }

    @Test func `prepares many statements at once and runs them`() throws {
        let add = Statement(name: "add", sql: "SELECT $1::int8 + $2::int8")
        let echo = Statement(name: "echo", sql: "SELECT $1", parameterTypes: [TypeOID.text])
        try connection.prepare([add, echo])
        var parameters = Parameters()
        parameters.append(Int64(40))
        parameters.append(Int64(2))
        #expect(try connection.run(add, parameters).int64(0, 0) == 42)
        parameters.removeAll()
        parameters.append("ß\u{1F600}")
        #expect(try connection.run(echo, parameters).text(0, 0) == "ß\u{1F600}")
    }

    @Test func `names the statement that cannot be prepared`() throws {
        let good = Statement(name: "good", sql: "SELECT 1")
        let bad = Statement(name: "bad_one", sql: "SELECT nothing FROM nowhere")
        let error = #expect(throws: PostgresError.self) { try connection.prepare([good, bad]) }
        #expect(error?.operation == "bad_one")
        #expect(error?.sqlState == "42P01")
        #expect(error?.message.contains("nowhere") == true)
        #expect(connection.isUsable)
        #expect(try connection.execute("SELECT 1").count == 1)
    }

    @Test func `holds a statement that was never prepared, or other types, for a fault`() async {
        let first = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let connection = try TestServer.connect()
            try connection.run(Statement(name: "unheard_of", sql: "SELECT 1"))
        }
        #expect(first.says("unheard_of is used on a connection that has not prepared it."))
        let second = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let connection = try TestServer.connect()
            let statement = Statement(name: "narrow", sql: "SELECT $1::int4")
            try connection.prepare([statement])
            var parameters = Parameters()
            parameters.append(Int64(1))
            try connection.run(statement, parameters)
        }
        #expect(second.says("narrow: $1 is int4 and was given as int8."))
    }

    @Test func `begins, commits and rolls back`() throws {
        try connection.execute("CREATE TEMP TABLE t (n int8)")
        #expect(connection.transactionStatus == .idle)
        try connection.begin()
        #expect(connection.transactionStatus == .inTransaction)
        try connection.execute("INSERT INTO t VALUES (1)")
        try connection.commit()
        try connection.begin()
        try connection.execute("INSERT INTO t VALUES (2)")
        try connection.rollback()
        #expect(connection.transactionStatus == .idle)
        #expect(try connection.query("SELECT count(*) FROM t").int64(0, 0) == 1)
    }

    @Test func `never takes the ROLLBACK of a failed transaction for a COMMIT`() throws {
        try connection.begin()
        #expect(throws: PostgresError.self) { try connection.execute("SELECT 1/0") }
        #expect(connection.transactionStatus == .failed)
        let error = #expect(throws: PostgresError.self) { try connection.commit() }
        #expect(error?.sqlState == "25P02")
        #expect(error?.isOutcomeUnknown == false)
        #expect(connection.transactionStatus == .idle)

        try connection.begin()
        #expect(throws: PostgresError.self) { try connection.execute("SELECT 1/0") }
        #expect(try connection.execute("COMMIT")[0].commandTag == "ROLLBACK")
    }

    @Test func `gives up at its deadline and is closed`() throws {
        let begin = ContinuousClock.now
        let error = #expect(throws: PostgresError.self) { try connection.execute("SELECT pg_sleep(60)", within: .milliseconds(200)) }
        #expect(error?.code == .timedOut)
        #expect(error?.isOutcomeUnknown == true)
        #expect(ContinuousClock.now - begin < .seconds(30))
        #expect(!connection.isUsable)
        #expect(connection.transactionStatus == .unknown)
        #expect(throws: PostgresError(code: .connectionLost, operation: "begin", message: "the connection was closed before")) {
            try connection.begin()
        }
    }

    @Test func `reports that the server ended it`() throws {
        let other = try TestServer.connect()
        try other.execute("SELECT pg_terminate_backend(\(connection.serverProcessID), 10000)")
        let error = #expect(throws: PostgresError.self) { try connection.execute("SELECT 1") }
        #expect(error?.code == .connectionLost)
        #expect(error?.sqlState == "57P01", "\(error!)")
        #expect(error?.isTransient == true)
        #expect(!connection.isUsable)
    }

    @Test func `takes a commit that did not wait for its standby for not durable`() throws {
        let warning = "DO $$ BEGIN RAISE WARNING 'canceling wait for synchronous replication due to user request'; END $$"
        let error = #expect(throws: PostgresError.self) { try connection.execute(warning) }
        #expect(error?.code == .notDurable)
        #expect(error?.isOutcomeUnknown == true)
        try connection.execute("DO $$ BEGIN RAISE WARNING 'something else'; END $$")
        let statement = Statement(name: "warn", sql: "SELECT warn()")
        try connection.execute("CREATE FUNCTION pg_temp.warn() RETURNS int8 LANGUAGE sql AS 'SELECT 1::int8'")
        try connection.execute(
            """
            CREATE OR REPLACE FUNCTION pg_temp.warn() RETURNS int8 LANGUAGE plpgsql AS $$ BEGIN
            RAISE WARNING 'canceling wait for synchronous replication due to user request'; RETURN 1; END $$
            """
        )
        let inPipeline = Statement(name: statement.name, sql: "SELECT pg_temp.warn()")
        try connection.prepare([inPipeline])
        let second = #expect(throws: PostgresError.self) { try connection.pipeline { $0.add(inPipeline) } }
        #expect(second?.code == .notDurable)
        #expect(connection.isUsable)
    }

    @Test func `reports lost durability before an error behind it`() throws {
        let sql = """
            DO $$ BEGIN RAISE WARNING 'canceling wait for synchronous replication due to user request'; END $$;
            SELECT 1/0
            """
        let error = #expect(throws: PostgresError.self) { try connection.execute(sql) }
        #expect(error?.code == .notDurable)
        #expect(try connection.execute("SELECT 1").count == 1)
    }

    @Test func `sets what its options ask for`() throws {
        var options = try TestServer.options()
        options.settings = ["plan_cache_mode": "force_generic_plan", "search_path": "pg_temp, public"]
        options.applicationName = "a test's name"
        let connection = try PostgresConnection(options)
        let shown = try connection.query(
            "SELECT current_setting('plan_cache_mode'), current_setting('search_path'), current_setting('application_name'), current_setting('client_encoding')"
        )
        #expect((0..<4).map { shown.text(0, $0) } == ["force_generic_plan", "pg_temp, public", "a test's name", "UTF8"])
    }

    @Test func `refuses COPY and is closed`() throws {
        let error = #expect(throws: PostgresError.self) { try connection.execute("COPY (SELECT 1) TO STDOUT") }
        #expect(error?.code == .protocolViolation)
        #expect(!connection.isUsable)
    }

    @Test func `closes twice without harm`() {
        connection.close()
        connection.close()
        #expect(!connection.isUsable)
    }
}
