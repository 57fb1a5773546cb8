import Foundation
import Postgres
import TestSupport
import Testing
import Trading

@testable import Storage

extension `On PostgreSQL, storage` {
    @Suite struct `The proof of the ledger` {
        let store: Store

        /// Four orders: one filled in part, one filled beyond its quantity, one cancelled before it was sent, one accepted; and a second account.
        init() throws {
            store = try Store()
            let storage = try store.storage()
            _ = try storage.createAccount(AccountID("acc_2")!, cash: Amount("7")!, positions: [], by: "test", at: 1)
            try Store.accept(storage, [1, 2, 3, 4])
            try route(storage, [1, 2])
            try change(storage, 3, .cancelled(reason: "not_routed"), execID: nil)
            try change(storage, 1, .filled(quantity: 4, price: Amount("9.5")!), execID: "e1")
            try change(storage, 2, .filled(quantity: 9, price: Amount("10.25")!), execID: "e2")
            try change(storage, 2, .filled(quantity: 3, price: Amount("9")!), execID: "e3")
        }

        /// Numbers the orders, as send does.
        private func route(_ storage: Database, _ numbers: [Int]) throws {
            let record = try #require(try storage.takeLease(session: venueSession, holder: "h", epoch: 0, milliseconds: 600_000))
            let reads = try #require(try storage.beginSend(try storage.outbox(limit: 100), at: 0))
            var changes = reads.orders.changes(at: 2_000)
            for row in reads.rows { changes.sent(through: row.position, of: row.shard) }
            var messages: [SentMessage] = []
            for (place, number) in numbers.enumerated() {
                var order = Store.order(number)
                guard case .changed(let type, _) = order.apply(.routed, balances: &changes.balances, at: 2_000) else { continue }
                changes.update(order)
                changes.tell(type, of: order)
                let body = Array("11=\(order.id)\u{1}1=\(account)\u{1}".utf8)
                messages.append(
                    SentMessage(
                        number: Int64(place + 1),
                        type: "D",
                        sentAt: 2_000,
                        resendBy: 5_000,
                        orderID: order.id.text,
                        shard: account.shard,
                        body: body
                    )
                )
            }
            try storage.commitSend(changes, session: venueSession, record: record, nextOut: Int64(numbers.count + 1), nextIn: 1, messages: messages)
        }

        /// Applies an event, as settle does.
        private func change(_ storage: Database, _ number: Int, _ event: OrderEvent, execID: String?) throws {
            let id = Store.order(number).id
            let reads = try storage.beginOrders(shards: [account.shard], orders: [id])
            var changes = reads.changes(at: 3_000)
            var order = try #require(reads.orders[id])
            guard case .changed(let type, let alarms) = order.apply(event, balances: &changes.balances, at: 3_000) else {
                preconditionFailure("The event fits the order.")
            }
            changes.update(order)
            changes.tell(type, of: order)
            for alarm in alarms { changes.raise(alarm, account: account, orderID: id.text) }
            if case .filled(let quantity, let price) = event, let execID {
                let content = BookedExecution(orderID: id, trade: Trade(quantity: quantity, price: price))
                changes.book(.init(venue: "V", key: ExecutionKey(tradeDate: "20260916", execID: execID), content: content, order: order, inboxID: 1))
            }
            try storage.commit(changes)
        }

        private func failing(limit: Int = 20) throws -> [CheckResult] { try store.storage().verifyLedger(limit: limit).filter { !$0.holds } }

        /// Changes what no program may change: as the superuser, with triggers and foreign keys asleep.
        private func tamper(_ sql: String) throws {
            try store.database.connect().execute("SET session_replication_role = replica; \(sql)")
        }

        @Test func `finds nothing where everything holds`() throws {
            let results = try store.storage().verifyLedger(limit: 20)
            #expect(results.filter { !$0.holds } == [])
            #expect(results.count == 14)
            #expect(Set(results.map(\.name)).count == results.count)
            #expect(try store.value("SELECT count(*) FROM alarms WHERE kind = 'overfill'") == 1)
            #expect(try store.value("SELECT count(*) FROM executions") == 3)
        }

        @Test func `finds nothing in an empty database`() throws {
            let empty = try TestDatabase()
            #expect(try Database(empty.options).verifyLedger(limit: 20).allSatisfy(\.holds))
        }

        private static let first = Store.order(1).id.text
        private static let second = Store.order(2).id.text
        private static let accepted = Store.order(4).id.text

        /// A change, and the checks that must find it.
        static let faults: [(sql: String, checks: Set<String>)] = [
            (
                "UPDATE ledger_entries SET amount = amount + 1 WHERE bucket = 2 AND (shard, journal) = (SELECT shard, journal FROM ledger_entries WHERE order_id = '\(first)' AND cause = 2)",
                ["journals", "balances", "order-entries"]
            ),
            (
                "DELETE FROM ledger_entries WHERE (shard, journal) = (SELECT shard, journal FROM ledger_entries WHERE order_id = '\(first)' AND cause = 2)",
                ["balances", "order-entries"]
            ),
            (
                "INSERT INTO ledger_entries (shard, journal, line, at, cause, direction, bucket, account_id, asset, amount) VALUES (\(account.shard), 1, 90, 1, 1, 1, 4, 'acc_1', '$', 5), (\(account.shard), 1, 91, 1, 1, 2, 4, 'acc_1', '$', 5)",
                ["entries"]
            ),
            (
                "INSERT INTO ledger_entries (shard, journal, line, at, cause, direction, bucket, account_id, asset, amount) VALUES (\((account.shard + 1) % 8), 0, 0, 1, 1, 1, 1, 'acc_1', '$', 5), (\((account.shard + 1) % 8), 0, 1, 1, 1, 2, 1, 'acc_1', '$', 5)",
                ["entries"]
            ),
            (
                "INSERT INTO ledger_entries (shard, journal, line, at, cause, direction, bucket, account_id, asset, amount) VALUES (0, 0, 0, 1, 1, 1, 1, 'nobody', '$', 5), (0, 0, 1, 1, 1, 2, 1, 'nobody', '$', 5)",
                ["entries"]
            ),
            (
                "ALTER TABLE ledger_entries DROP CONSTRAINT entry_amounts_are_positive; INSERT INTO ledger_entries (shard, journal, line, at, cause, direction, bucket, account_id, asset, amount) VALUES (\(account.shard), 1, 90, 1, 1, 1, 1, 'acc_1', '$', 0)",
                ["entries"]
            ),
            ("UPDATE balances SET available = available + 1 WHERE account_id = 'acc_2'", ["balances"]),
            ("UPDATE balances SET owed = 1 WHERE account_id = 'acc_2'", ["balances", "alarms"]),
            ("DELETE FROM balances WHERE account_id = 'acc_2'", ["balances"]),
            ("UPDATE balances SET settlement = settlement - 1 WHERE account_id LIKE '~house-%' AND asset = 'NVDA'", ["balances"]),
            (
                "ALTER TABLE balances DROP CONSTRAINT customer_balances_are_never_negative; UPDATE balances SET available = -1 WHERE account_id = 'acc_2'",
                ["balances", "signs"]
            ),
            ("UPDATE balances SET held = held + 5, available = available - 5 WHERE account_id = 'acc_1' AND asset = '$'", ["balances", "holds"]),
            ("UPDATE orders SET held = held - 1 WHERE order_id = '\(accepted)'", ["holds", "order-holds", "order-entries"]),
            ("UPDATE orders SET held = 0 WHERE order_id = '\(accepted)'", ["holds", "order-holds", "order-entries"]),
            (
                "ALTER TABLE orders DROP CONSTRAINT ended_orders_hold_nothing; UPDATE orders SET status = 6 WHERE order_id = '\(accepted)'",
                ["order-holds"]
            ),
            ("UPDATE orders SET quantity = quantity + 1 WHERE order_id = '\(accepted)'", ["order-holds"]),
            ("UPDATE orders SET status = 4 WHERE order_id = '\(second)'", ["order-holds"]),
            ("UPDATE orders SET filled_value = filled_value + 1 WHERE order_id = '\(first)'", ["fills", "order-entries"]),
            ("DELETE FROM executions WHERE exec_id = 'e1'", ["fills"]),
            ("UPDATE executions SET side = 2 WHERE exec_id = 'e1'", ["fills"]),
            (
                "INSERT INTO executions SELECT at, quantity, price, inbox_id, shard, side, venue, trade_date, 'e9', account_id, 'nothing', symbol FROM executions WHERE exec_id = 'e1'",
                ["fills"]
            ),
            ("DELETE FROM alarms", ["alarms"]),
            ("DELETE FROM idempotency_keys WHERE order_id = '\(accepted)'", ["keys"]),
            ("UPDATE idempotency_keys SET key = '018e3d2a-7f12-7000-8000-000000000000' WHERE order_id = '\(accepted)'", ["keys"]),
            ("UPDATE idempotency_keys SET account_id = 'acc_2' WHERE order_id = '\(accepted)'", ["keys"]),
            ("UPDATE idempotency_keys SET http_status = 422 WHERE order_id = '\(accepted)'", ["keys"]),
            ("DELETE FROM orders WHERE order_id = '\(accepted)'", ["keys", "holds", "order-entries"]),
            (
                "INSERT INTO fix_sent SELECT generation, 3, sent_at, resend_by, shard, session_id, msg_type, order_id, body FROM fix_sent WHERE number = 1; UPDATE fix_sessions SET next_out = 4",
                ["venue-orders"]
            ),
            (Self.sentAgain, ["venue-orders"]),
            ("UPDATE fix_sent SET body = '\\x31313d6f726401' WHERE number = 1", ["venue-orders"]),
            ("UPDATE fix_sent SET order_id = 'nothing' WHERE number = 1", ["venue-orders"]),
            ("UPDATE orders SET routed_at = NULL WHERE order_id = '\(first)'", ["venue-orders"]),
            ("DELETE FROM fix_sent WHERE number = 1", ["venue-orders"]),
            ("DELETE FROM log WHERE event_number = 3", ["events"]),
            ("UPDATE accounts SET last_event = last_event + 1 WHERE account_id = 'acc_2'", ["events"]),
            ("UPDATE log SET account_id = 'acc_2' WHERE event_number = 3", ["events"]),
            (
                "UPDATE log SET event_number = -event_number WHERE account_id = 'acc_1'; UPDATE log SET event_number = 11 + event_number WHERE account_id = 'acc_1'",
                ["log"]
            ),
            ("UPDATE shards SET next_log = 2, sent_log = 0 WHERE shard = \(account.shard)", ["counters"]),
            ("UPDATE shards SET next_journal = 1 WHERE shard = \(account.shard)", ["counters"]),
            ("UPDATE shards SET sent_log = next_log WHERE shard = \(account.shard)", ["counters"]),
            ("UPDATE fix_sessions SET next_out = 2", ["counters"]),
        ]

        /// The first message once more, with PossResend=Y in front.
        private static let sentAgain = """
            INSERT INTO fix_sent SELECT generation, 3, sent_at, resend_by, shard, session_id, msg_type, order_id, '\\x39373d5901'::bytea || body
            FROM fix_sent WHERE number = 1;
            UPDATE fix_sessions SET next_out = 4
            """

        @Test func `lets an order be sent again as often as that was decided`() throws {
            try tamper(Self.sentAgain + "; UPDATE orders SET resends = 1 WHERE order_id = (SELECT order_id FROM fix_sent WHERE number = 1)")
            #expect(try failing().isEmpty)
        }

        @Test(arguments: faults.indices) func `finds what was changed behind its back`(_ index: Int) throws {
            let (sql, checks) = Self.faults[index]
            try tamper(sql)
            let found = try failing()
            #expect(Set(found.map(\.name)) == checks, "\(sql)\n\(found)")
            #expect(
                found.allSatisfy {
                    !$0.offending.isEmpty && $0.offending.allSatisfy { row in row.count == found.first { $0.offending.contains(row) }?.columns.count }
                }
            )
        }

        @Test func `breaks every check in these tests`() throws {
            let names = Set(try store.storage().verifyLedger(limit: 1).map(\.name))
            #expect(Self.faults.reduce(into: Set<String>()) { $0.formUnion($1.checks) } == names)
        }

        @Test func `names the rows and says when there are more`() throws {
            try tamper("UPDATE orders SET quantity = quantity + 1 WHERE status <> 6 AND order_id <> '\(Self.second)'")
            let all = try #require(try failing().first)
            #expect(all.columns == ["account_id", "order_id", "status", "quantity", "filled", "held", "needed"])
            #expect(all.offending.map { $0[1] } == [Self.first, Self.accepted] && !all.hasMore)
            #expect(all.offending[1] == ["acc_1", Self.accepted, "1", "11", "0", "1000000", "1100000"])
            let one = try #require(try failing(limit: 1).first)
            #expect(one.offending.count == 1 && one.hasMore)
        }

        /// What is past its keeping is no gap, also while it is being deleted.
        @Test func `takes deleted events and messages for what they are`() throws {
            let storage = try store.storage()
            try storage.advanceWatch(storage.silentOrders(sentBefore: 9_000, limit: 9).lastWatched)
            _ = try storage.deletePast(before: 2_500, eventsBefore: 2_500, limit: 3)
            #expect(try failing() == [])
            _ = try storage.deletePast(before: 9_000, eventsBefore: 9_000, limit: 2_000)
            #expect(try store.value("SELECT count(*) FROM fix_sent") == 0)
            #expect(try failing() == [])
        }

        @Test func `sees one moment while routers go on`() throws {
            let connection = try store.storage().connection()
            try connection.run(#require(SQL.all.first { $0.name == "begin_verify" }))
            #expect(throws: PostgresError.self) { try connection.execute("UPDATE shards SET replays = 1") }
        }
    }
}
