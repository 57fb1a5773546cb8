import Foundation
import Postgres
import Storage
import TestSupport
import Testing
import Trading

extension `On PostgreSQL, storage` {
    /// Orders, executions and ledger entries lie in parts of a week (migration 0006).
    @Suite struct `The parts of a table` {
        let store: Store
        let storage: Database
        /// The last day on which nothing is missing.
        let now: Int64
        private let week: Int64 = 7 * 86_400_000

        init() throws {
            store = try Store()
            storage = try store.storage()
            let open = try store.value("SELECT extract(epoch FROM begins) * 1000 FROM parts WHERE part = 'orders_later'")
            now = open - Int64(Database.partDaysAhead) * 86_400_000
        }

        @Test func `follow one another from the beginning to the end of time, and are made weeks ahead`() throws {
            #expect(try storage.makeParts(at: now) == 0)
            let made = try storage.makeParts(at: now + 2 * week)
            #expect(made == 6)
            #expect(try storage.makeParts(at: now + 2 * week) == 0)
            let parts = Dictionary(grouping: try storage.parts(), by: \.table)
            #expect(Set(parts.keys) == ["orders", "executions", "ledger_entries"])
            for (table, parts) in parts {
                #expect(parts.first?.begins == nil && parts.last?.ends == nil && parts.last?.name == "\(table)_later")
                #expect(zip(parts, parts.dropFirst()).allSatisfy { $0.ends != nil && $0.ends == $1.begins })
                #expect(parts.dropFirst().dropLast().allSatisfy { $0.name == "\(table)_\($0.begins!.replacing("-", with: ""))" })
            }
            #expect(try storage.backlog().partDaysAhead >= 28)
        }

        @Test func `are made once by two that do it at the same time`() async throws {
            let threads = (0..<2).map { DedicatedThread(name: "maker-\($0)") }
            defer { for thread in threads { thread.stop() } }
            let (store, later) = (store, now + 3 * week)
            let made = try await withThrowingTaskGroup(of: Int64.self) { group in
                for thread in threads { group.addTask { try await thread.run { try store.storage().makeParts(at: later) } } }
                return try await group.reduce(0, +)
            }
            #expect(made == 9)
        }

        @Test func `give way to legs that are at work, and are made later`() throws {
            try storage.connection().execute("SET idle_in_transaction_session_timeout = 0")
            let open = try Store.begin(storage, [1])
            let reading = try store.database.connect()
            try reading.execute("BEGIN; SELECT FROM orders")
            let other = try store.storage()
            #expect(sqlState { () throws(PostgresError) in _ = try other.makeParts(at: now + 2 * week) } == "55P03")
            try reading.execute("COMMIT")
            try storage.commit(open)
            #expect(try other.makeParts(at: now + 2 * week) == 6)
            #expect(try store.value("SELECT count(*) FROM orders") == 1)
        }

        @Test func `take every row: what comes before its part waits in the open one`() throws {
            let connection = try store.database.connect()
            try connection.execute(
                """
                INSERT INTO executions (at, quantity, price, inbox_id, shard, side, venue, trade_date, exec_id, account_id, order_id, symbol)
                VALUES (1, 1, 1, 1, 0, 1, 'V', '29991231', 'e1', 'acc_1', 'x', 'NVDA'), (1, 1, 1, 1, 0, 1, 'V', '00000000', 'e2', 'acc_1', 'x', 'NVDA')
                """
            )
            let parts = "SELECT string_agg(tableoid::regclass::text, ' ' ORDER BY exec_id) FROM executions"
            #expect(try store.text(parts) == "executions_later executions_first")
            // Far ahead of what is made, it is in nobody's way.
            #expect(try storage.makeParts(at: now + 2 * week) == 6)
            #expect(try store.value("SELECT count(*) FROM executions_later") == 1)
        }

        /// Orders of March 2026, in the parts that are the oldest.
        private func detach() throws -> [String] {
            try storage.parts().filter { $0.begins == nil }.map { part in
                "\(part.table): " + (try storage.detach(part, by: "test", at: now) ?? "detached")
            }
        }

        @Test func `are detached once nothing can ask for what is in them, and the ledger is proved by what is left`() throws {
            let record = try #require(try storage.takeLease(session: venueSession, holder: "h", epoch: 0, milliseconds: 600_000))
            try Store.accept(storage, [1, 2])
            try Store.route(storage, [1, 2], record, from: 1)
            try Store.change(storage, [1], .filled(quantity: 10, price: Amount("9")!), execID: "a")
            let entries = "ledger_entries: 2 orders of its rows are attached"
            #expect(try detach() == ["orders: 1 of its orders are open", "executions: 1 orders of its rows are attached", entries])
            try Store.change(storage, [2], .cancelled(reason: nil))
            #expect(try detach().first == "orders: 2 of its orders have events that are kept")
            _ = try storage.deletePast(before: 0, eventsBefore: 9_000, limit: 100)
            #expect(try detach().first == "orders: 2 messages of its orders are kept")
            try storage.advanceWatch(storage.silentOrders(sentBefore: 9_000, limit: 9).lastWatched)
            _ = try storage.deletePast(before: 9_000, eventsBefore: 9_000, limit: 100)
            try store.database.connect().execute(
                """
                INSERT INTO inbox (inbox_id, generation, number, received_at, shard, kind, session_id, message, order_id)
                VALUES (1, 1, 1, 77, \(account.shard), 1, 's', '', '\(Store.order(1).id)')
                """
            )
            #expect(try detach() == ["orders: 1 reports of its orders are not settled", "executions: 1 orders of its rows are attached", entries])
            try store.database.connect().execute("UPDATE shards SET settled_inbox = 1")
            #expect(try detach() == ["orders: detached", "executions: detached", "ledger_entries: detached"])

            for table in ["orders", "executions", "ledger_entries"] { #expect(try store.value("SELECT count(*) FROM \(table)") == 0) }
            #expect(try store.value("SELECT count(*) FROM orders_first") == 2)
            #expect(try storage.verifyLedger(limit: 9).filter { !$0.holds }.map(\.name) == [])
            // The proof has not become blind: of what is left it still sees every cent.
            try store.database.connect().execute("UPDATE balances SET available = available + 1 WHERE account_id = 'acc_1' AND asset = '$'")
            #expect(try storage.verifyLedger(limit: 9).filter { !$0.holds }.map(\.name) == ["balances"])
            // The key gets its first answer for ever, and its order is found nowhere.
            let key = try #require(try storage.key(KeyID(account, Store.key(1))))
            #expect(key.outcome == .accepted && key.answer == Array("answer 1".utf8) && key.statusNow == nil)
            #expect(try storage.order(Store.order(1).id, of: account) == nil)
            #expect(try store.value("SELECT count(*) FROM operator_audit WHERE action = 'part_detached'") == 3)
        }

        @Test func `leave only oldest first, and an interrupted leave is finished`() throws {
            let second = try #require(try storage.parts().first { $0.table == "orders" && $0.begins != nil })
            #expect(try storage.detach(second, by: "test", at: now) == "an older part is attached")
            // A reader keeps the detaching waiting until it is given up.
            let reading = try store.database.connect()
            try reading.execute("BEGIN; SELECT FROM orders")
            let impatient = try store.database.connect()
            try impatient.execute("SET lock_timeout = '50ms'")
            #expect(throws: PostgresError.self) { try impatient.execute("ALTER TABLE orders DETACH PARTITION orders_first CONCURRENTLY") }
            try reading.execute("COMMIT")
            let first = try #require(try storage.parts().first { $0.name == "orders_first" })
            #expect(first.isLeaving)
            #expect(try storage.detach(first, by: "test", at: now) == nil)
            #expect(try storage.parts().allSatisfy { $0.name != "orders_first" })
        }
    }
}
