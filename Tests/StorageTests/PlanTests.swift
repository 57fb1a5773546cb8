import Foundation
import Postgres
import Storage
import TestSupport
import Testing
import Trading

extension `On PostgreSQL, storage` {
    /// What a statement of a leg reads, on tables with rows in several parts.
    @Suite struct `The plan of every hot statement` {
        static let day = "to_char((now() AT TIME ZONE 'UTC')::date"

        /// Parameters of the statements that name rows: an order of today, its key, its execution.
        static let orders = "ARRAY[\(day), '\"ord_\"YYYYMMDD\"_aaaa\"')]"
        static let bounds = "\(day), '\"ord_\"YYYYMMDD\"_aaaa\"'), \(day), '\"ord_\"YYYYMMDD\"_aaaa\"')"

        /// By leg: the statement, its parameters, and of how many parts of orders or executions it reads or writes (nil: not looked at). What is updated is
        /// bounded below alone: the part of this week, the four ahead and the open one.
        static let hot: [(leg: String, name: String, values: String, parts: Int?)] = [
            ("accept", "lock_shards", "ARRAY[1]::smallint[]", nil), ("accept", "read_accounts", "ARRAY['a']", nil),
            ("accept", "read_balances", "ARRAY['a'], ARRAY['$']", nil),
            (
                "accept", "read_keys",
                "ARRAY['a'], ARRAY['018e3d2a-7f12-7000-8000-123456789abc']::uuid[], \(day), '\"ord_\"YYYYMMDD'), \(day), '\"ord_\"YYYYMMDD\"~\"')", 1
            ),
            ("accept", "read_credential_states", "ARRAY['a'], ARRAY['c']", nil), ("accept", "read_orders_by_id", "\(orders), \(bounds)", 1),
            ("accept", "change_balances", "ARRAY['a'], ARRAY['$'], ARRAY[1], ARRAY[1], ARRAY[1], ARRAY[1], ARRAY[1]", nil),
            ("accept", "advance_events", "ARRAY['a'], ARRAY[1], ARRAY[2]", nil),
            ("send", "read_outbox", "256", nil),
            (
                "send", "update_orders",
                "\(orders), ARRAY[2]::smallint[], ARRAY[1], ARRAY[0], ARRAY[0], ARRAY[0]::smallint[], ARRAY[false], ARRAY['']::text[], ARRAY[1], \(day), '\"ord_\"YYYYMMDD\"_aaaa\"'), "
                    + "ARRAY[1]::smallint[], ARRAY[1]",
                6
            ),
            ("send", "read_sent", "'s', 1, 1, 9, 5", nil), ("send", "note_asked", "\(orders), \(bounds), 1", 1),
            (
                "receive", "insert_inbox",
                "'s', 1, 1, 1, ARRAY[1], ARRAY[1]::smallint[], \(orders), ARRAY['']::text[], ARRAY['e'], ARRAY['20260101'], ARRAY['F'], ARRAY['2'], ARRAY[1], "
                    + "ARRAY[1], ARRAY[1], ARRAY[1], ARRAY[1], ARRAY['NVDA'], ARRAY['1'], ARRAY['']::text[], ARRAY[1], ARRAY['']::bytea[], \(bounds), ARRAY['']::text[], ARRAY['']::text[], "
                    + "ARRAY[false]",
                1
            ),
            ("settle", "read_inbox", "256, 's'", nil),
            (
                "settle", "read_executions",
                "'EXCH', ARRAY[\(day), 'YYYYMMDD')], ARRAY['e'], \(day), 'YYYYMMDD'), \(day), 'YYYYMMDD')", 1
            ),
            ("publish", "read_events", "ARRAY['a'], ARRAY[0], 100", nil), ("publish", "read_log", "ARRAY[1, 2]::smallint[], ARRAY[0, 0], 100", nil),
            ("publish", "read_event_bounds", "'a'", nil),
            ("publish", "read_log_ends", "", nil), ("client", "order_by_id", "'a', \(day), '\"ord_\"YYYYMMDD\"_aaaa\"')", 1),
            ("client", "list_orders", "'a', NULL, NULL, NULL, NULL, 50, 0", nil), ("client", "read_all_balances", "'a'", nil),
            ("client", "read_key", "'a', '018e3d2a-7f12-7000-8000-123456789abc'", nil),
            ("sweep", "read_silent_orders", "1, 100", nil), ("sweep", "read_unknown_orders", "1, 100", nil),
        ]

        static let small = ["shards", "fix_sessions", "event_generation", "halts"]

        /// Rows from eight weeks back until now, in parts that were made for them.
        private func grown() throws -> TestDatabase {
            let database = try TestDatabase()
            let connection = try database.connect()
            let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../scripts/fill-orders.sql")
            try connection.execute("SET session_replication_role = replica")
            try database.haveHadParts(weeks: 10)
            try connection.execute(String(contentsOf: script, encoding: .utf8))
            try connection.execute("SELECT pg_temp.fill_accounts(100)")
            try connection.execute("SELECT pg_temp.fill_orders(0, 19999, 20000, 56)", within: .seconds(120))
            try connection.execute("SELECT pg_temp.fill_balances()")
            return database
        }

        @Test(arguments: [false, true])
        func `reads by index, and opens no part that its rows cannot be in`(_ isAnalysed: Bool) throws {
            let database = try grown()
            let connection = try Database(database.options).connection()
            #expect(try connection.query("SELECT count(DISTINCT tableoid) FROM orders").int64(0, 0) >= 8)
            if isAnalysed { try connection.execute("ANALYZE", within: .seconds(60)) }
            for statement in Self.hot {
                let call = statement.values.isEmpty ? statement.name : "\(statement.name)(\(statement.values))"
                let rows = try connection.execute("EXPLAIN EXECUTE \(call)")[0]
                let plan = (0..<rows.count).map { rows.text($0, 0) }
                let text = Comment(rawValue: "\(statement.leg): \(statement.name):\n\(plan.joined(separator: "\n"))")
                for scan in plan.filter({ $0.contains("Seq Scan on ") }) {
                    #expect(Self.small.contains { scan.contains("Seq Scan on \($0) ") }, text)
                }
                // Two lists that are compared each with each: the cost of a batch would grow with its square.
                #expect(!plan.contains { $0.contains("Join Filter") }, text)
                guard let most = statement.parts else { continue }
                // What is written is named in front; scans are what executes.
                let scans = plan.filter { $0.contains(/(Index|Heap|Index Only) Scan .*on (orders|executions)_/) }
                #expect(scans.count <= 2 * most && plan.contains { $0.contains("Subplans Removed") }, text)
                let opened = Set(scans.compactMap { $0.firstMatch(of: /on ((?:orders|executions)_\w+)/)?.1 })
                #expect(opened.count == most, text)
            }
        }

        @Test func `holds in a database whose ledger is proved`() throws {
            let database = try grown()
            #expect(try Database(database.options).verifyLedger(limit: 3).filter { !$0.holds }.map(\.name) == [])
            #expect(try Invariants.faults(database.connect()) == [])
        }
    }
}
