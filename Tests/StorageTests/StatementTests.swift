import Foundation
import Postgres
import Storage
import TestSupport
import Testing

extension `On PostgreSQL, storage` {
    @Suite struct `The statements` {
        @Test func `all prepare against the migrated schema`() throws {
            let database = try TestDatabase()
            let connection = try database.connect()
            try connection.prepare(SQL.all)
            let files = try FileManager.default.contentsOfDirectory(
                atPath: URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources/Storage/SQL").path
            )
            #expect(Set(SQL.all.map { $0.name + ".sql" }) == Set(files))
        }

        /// A table that was empty when it was analysed looks free to read whole; a plan made then must not stay when it has grown.
        @Test func `use indexes also where the tables were empty when they were analysed`() throws {
            let database = try TestDatabase()
            try database.connect().execute("VACUUM ANALYZE")
            let connection = try Database(database.options).connection()
            let large = [
                "idempotency_keys", "orders", "balances", "log", "inbox", "ledger_entries", "executions", "fix_sent", "accounts", "credentials",
                "parked_reports", "candles_1m", "candles_1d",
            ]
            let hot = [
                "advance_events", "change_balances", "lock_shards", "read_accounts", "read_balances", "read_keys", "read_key",
                "read_credential_states",
                "read_orders_by_id", "order_by_id", "list_orders", "update_orders", "read_outbox", "read_inbox", "read_executions", "read_events",
                "read_log",
                "read_event_bounds", "read_all_balances", "read_overdue_orders", "delete_old_sent",
                "read_silent_orders",
                "read_unknown_orders", "read_sent", "insert_inbox", "note_asked", "park_reports", "delete_old_events", "delete_old_inbox",
                "read_minutes",
                "read_days", "read_day_ranges", "roll_up_days", "merge_minutes", "delete_old_minutes",
            ]
            for name in hot {
                #expect(SQL.all.contains { $0.name == name })
                let count = try connection.query("SELECT cardinality(parameter_types)::bigint FROM pg_prepared_statements WHERE name = '\(name)'")
                    .int64(
                        0,
                        0
                    )
                let nulls = Array(repeating: "NULL", count: Int(count)).joined(separator: ", ")
                let rows = try connection.execute("EXPLAIN EXECUTE \(name)\(count > 0 ? "(\(nulls))" : "")")[0]
                let plan = (0..<rows.count).map { rows.text($0, 0) }
                for table in large {
                    #expect(!plan.contains { $0.contains("Seq Scan on \(table) ") }, "\(name):\n\(plan.joined(separator: "\n"))")
                }
            }
        }
    }
}

extension `On PostgreSQL, storage` {
    @Suite struct `The schema` {
        static let entry = "INSERT INTO ledger_entries (shard, journal, line, at, cause, direction, bucket, account_id, asset, amount)"

        static let refused: [(sql: String, constraint: String)] = [
            ("\(entry) VALUES (0, 900, 0, 1, 1, 1, 1, 'a', '$', 5), (0, 900, 1, 1, 1, 2, 1, 'b', '$', 4)", "journal_debits_equal_credits"),
            ("\(entry) VALUES (0, 900, 0, 1, 1, 1, 1, 'a', '$', 5), (0, 900, 1, 1, 1, 2, 1, 'b', 'NVDA', 5)", "journal_debits_equal_credits"),
            ("\(entry) VALUES (0, 900, 0, 1, 1, 1, 1, 'a', '$', 5), (0, 901, 0, 1, 1, 2, 1, 'b', '$', 5)", "journal_debits_equal_credits"),
            ("\(entry) VALUES (0, 900, 0, 1, 1, 1, 1, 'a', '$', 0)", "entry_amounts_are_positive"),
            ("\(entry) VALUES (0, 900, 0, 1, 9, 1, 1, 'a', '$', 1), (0, 900, 1, 1, 9, 2, 1, 'a', '$', 1)", "entries_name_a_cause"),
            ("UPDATE ledger_entries SET amount = amount + 1", "history_is_append_only"), ("DELETE FROM ledger_entries", "history_is_append_only"),
            ("TRUNCATE ledger_entries", "history_is_append_only"), ("UPDATE executions SET quantity = 1", "history_is_append_only"),
            // Nor past the table, through one of its parts.
            ("UPDATE ledger_entries_first SET amount = amount + 1", "history_is_append_only"),
            ("TRUNCATE executions_later", "history_is_append_only"),
            (
                "\(entry.replacing("ledger_entries", with: "ledger_entries_first")) VALUES (0, 900, 0, 1, 1, 1, 1, 'a', '$', 5)",
                "journal_debits_equal_credits"
            ),
            ("DELETE FROM executions", "history_is_append_only"), ("DELETE FROM operator_audit", "history_is_append_only"),
            ("DELETE FROM credential_audit", "history_is_append_only"),
            ("INSERT INTO idempotency_keys SELECT * FROM idempotency_keys", "one_key_one_order"),
            (
                "INSERT INTO idempotency_keys (key, created_at, outcome, account_id) VALUES ('018e3d2a-7f12-7000-8000-000000000000', 1, 2, 'acc_1')",
                "answered_keys_have_an_answer"
            ),
            (
                "INSERT INTO idempotency_keys (key, created_at, outcome, account_id, fingerprint, answer) VALUES ('018e3d2a-7f12-7000-8000-000000000000', 1, 1, 'acc_1', '', '')",
                "accepted_keys_have_an_order"
            ),
            ("INSERT INTO executions SELECT * FROM executions", "executions_first_books_once"),
            ("UPDATE balances SET available = available - 1000000000000 WHERE account_id = 'acc_1'", "customer_balances_are_never_negative"),
            ("UPDATE balances SET held = -1 WHERE account_id = 'acc_1'", "customer_balances_are_never_negative"),
            ("UPDATE balances SET owed = -1 WHERE account_id = 'acc_1'", "customer_balances_are_never_negative"),
            ("UPDATE balances SET settlement = 1 WHERE account_id = 'acc_1'", "only_the_house_settles"),
            ("UPDATE orders SET status = 6", "ended_orders_hold_nothing"), ("UPDATE orders SET held = -1", "holds_are_never_negative"),
            ("UPDATE orders SET order_type = 1", "limit_prices_follow_the_type"), ("UPDATE orders SET limit_price = 0", "prices_are_positive"),
            ("UPDATE orders SET order_type = 4", "stop_prices_follow_the_type"), ("UPDATE orders SET status = 10, held = 0", "statuses_are_known"),
            ("UPDATE orders SET quantity = 0", "quantities_are_whole_and_bounded"),
            ("INSERT INTO shards (shard) VALUES (8)", "there_are_eight_shards"),
            ("INSERT INTO accounts (account_id, shard, created_at) VALUES ('~house-0', 0, 1)", "account_ids_are_plain"),
            ("INSERT INTO halts (scope, subject, at, by_whom, reason) VALUES ('venue', 'X', 1, '', '')", "venue_halts_name_no_subject"),
            ("INSERT INTO fix_sessions (session_id) VALUES ('A->B'), ('A->C')", "one_session_is_in_force"),
            ("INSERT INTO halts (scope, subject, at, by_whom, reason) VALUES ('planet', 'X', 1, '', '')", "halt_scopes_are_known"),
        ]

        @Test func `refuses by constraints that read as sentences`() throws {
            let store = try Store()
            try Store.accept(store.storage(), [1])
            let connection = try store.database.connect()
            try connection.execute(
                """
                INSERT INTO executions (at, quantity, price, inbox_id, shard, side, venue, trade_date, exec_id, account_id, order_id, symbol)
                VALUES (1, 1, 1, 1, 0, 1, 'V', '20260916', 'e1', 'acc_1', 'x', 'NVDA')
                """
            )
            for (sql, constraint) in Self.refused {
                let error = #expect(throws: PostgresError.self, "\(sql)") { try connection.execute(sql) }
                #expect(error?.constraint == constraint, "\(sql): \(error?.description ?? "")")
            }
            #expect(try store.value("SELECT count(*) FROM orders WHERE status = 1 AND held > 0") == 1)
        }
    }
}
