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

        @Test func `knows of its orders in doubt which of them the venue had spoken of`() throws {
            let database = try database(through: 13)
            let connection = try database.connect()
            // Number, reason, shares filled, event that its log has, in doubt before the venue spoke of it.
            let before: [(Int, String, Int, Int?, String)] = [
                // Acknowledged; restored and acknowledged before; restored and filled before; restored on its way; silent from the first.
                (1, "sequence_reset", 0, nil, "NULL"), (2, "restored", 0, 3, "NULL"), (3, "restored", 4, nil, "NULL"), (4, "restored", 0, 2, "NULL"),
                (5, "venue_silent", 0, nil, "1"),
            ]
            for (number, reason, filled, event, sentIn) in before {
                let order = Store.order(number)
                try connection.execute(
                    """
                    INSERT INTO orders (key, created_at, updated_at, quantity, limit_price, hold_price, held, filled_quantity, route_by, client_timestamp,
                        quote_reference, shard, side, order_type, time_in_force, status, in_doubt, account_id, order_id, symbol, credential_id, reason,
                        unanswered_in)
                    VALUES ('\(order.key)', 1, 1, 10, 100000, 100000, 1000000, \(filled), 5000, 1, 1, 2, 1, 2, 0, 9, true, 'acc_1', '\(order.id)',
                        'NVDA', 'c', '\(reason)', \(sentIn))
                    """
                )
                if let event {
                    try connection.execute(
                        """
                        INSERT INTO log (position, event_number, at, filled_quantity, filled_value, held, shard, type, status, account_id, order_id)
                        VALUES (\(number), \(number), 1, 0, 0, 0, 2, \(event), \(event), 'acc_1', '\(order.id)')
                        """
                    )
                }
            }
            try migrate(connection)
            let orders = try Database(database.options).orders(before.map { Store.order($0.0).id })
            #expect(before.map { orders[Store.order($0.0).id]?.unansweredIn } == [0, 0, 0, nil, 1])
            #expect(before.map { orders[Store.order($0.0).id]?.wasHeardOf } == [true, true, true, false, false])
        }

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
