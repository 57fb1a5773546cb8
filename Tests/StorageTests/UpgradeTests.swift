import Foundation
import Postgres
import Storage
import TestSupport
import Testing
import Trading

extension `On PostgreSQL, storage` {
    /// What migrations make of rows that were there before.
    @Suite final class `A database of before` {
        let folder = URL(filePath: TestServer.temporaryPath())

        deinit { try? FileManager.default.removeItem(at: folder) }

        /// At the migrations up to this number, without rows.
        private func database(through last: Int) throws -> TestDatabase {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            let names = try FileManager.default.contentsOfDirectory(atPath: TestDatabase.migrations)
            for name in names.filter({ Int($0.prefix(4)).map { $0 <= last } ?? false }) {
                let source = URL(filePath: TestDatabase.migrations).appending(path: name)
                try FileManager.default.copyItem(at: source, to: folder.appending(path: name))
            }
            return try TestDatabase(migrations: folder.path)
        }

        private func migrate(_ connection: PostgresConnection) throws { _ = try Migrator(directory: TestDatabase.migrations).migrate(connection) }

        @Test func `keeps the session that was used last in force, with a count behind all reports`() throws {
            let database = try database(through: 14)
            let connection = try database.connect()
            try connection.execute(
                """
                INSERT INTO fix_sessions (session_id, lease_until, next_inbox) VALUES ('A->OLD', 5000, 70), ('A->NEW', 0, 3), ('A->NEVER', 0, 1);
                INSERT INTO fix_sent (generation, number, sent_at, resend_by, shard, session_id, msg_type, order_id, body)
                VALUES (1, 1, 9000, 1, 0, 'A->NEW', 'D', 'x', '')
                """
            )
            try migrate(connection)
            let storage = Database(try database.options)
            #expect(try storage.sessionInForce()?.id == "A->NEW")
            #expect(try connection.query("SELECT next_inbox FROM fix_sessions WHERE session_id = 'A->NEW'").int64(0, 0) == 70)
            #expect(try connection.query("SELECT count(*) FROM fix_sessions WHERE ended_at > 0").int64(0, 0) == 2)
        }

        @Test func `keeps its one session as it is`() throws {
            let database = try database(through: 14)
            let connection = try database.connect()
            try connection.execute("INSERT INTO fix_sessions (session_id, next_inbox) VALUES ('A->B', 70)")
            try migrate(connection)
            #expect(try Database(database.options).sessionInForce()?.id == "A->B")
            #expect(try connection.query("SELECT next_inbox FROM fix_sessions").int64(0, 0) == 70)
        }
    }
}
