import Foundation
import Postgres
import Storage
import TestSupport
import Testing
import Trading

extension `On PostgreSQL, storage` {
    /// What an order's life costs: rows written beside themselves, no index touched (migration 0005).
    @Suite struct `The life of an order` {
        let store: Store

        init() throws { store = try Store() }

        @Test func `changes no column that an index mentions, but the mark of a doubt`() throws {
            let update = try #require(SQL.all.first { $0.name == "update_orders" }).sql
            let assignments = try #require(update.split(separator: "SET\n").last?.split(separator: "\nFROM").first)
            let written = Set(assignments.matches(of: #/(?:^|,)\s*([a-z_]+) = /#).map { String($0.1) })
            #expect(written.isSuperset(of: ["status", "held", "filled_quantity", "filled_value", "updated_at", "routed_at", "in_doubt"]))
            // Columns of keys, of expressions and of predicates.
            let rows = try store.database.connect().query(
                """
                SELECT DISTINCT a.attname::text FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid
                WHERE i.indrelid = 'orders'::regclass AND (a.attnum = ANY (i.indkey) OR a.attnum IN (
                    SELECT refobjsubid FROM pg_depend WHERE objid = i.indexrelid AND refobjid = i.indrelid))
                """
            )
            let indexed = Set((0..<rows.count).map { rows.text($0, 0) })
            #expect(indexed.isSuperset(of: ["order_id", "account_id", "created_at"]))
            #expect(indexed.intersection(written) == ["in_doubt"])
        }

        @Test func `is updates in place alone, from accepted to filled`() throws {
            let storage = try store.storage()
            // Nobody else may look at the table meanwhile: an older look keeps old rows, and with them their room.
            try store.database.connect().execute("ALTER TABLE orders_first SET (autovacuum_enabled = off)")
            let numbers = Array(1...300)
            try Store.accept(storage, numbers)
            let record = try #require(try storage.takeLease(session: venueSession, holder: "h", epoch: 0, milliseconds: 600_000))
            try Store.route(storage, numbers, record, from: 1)
            try Store.change(storage, numbers, .acknowledged)
            try Store.change(storage, numbers, .filled(quantity: 4, price: Amount("9")!), execID: "a")
            try Store.change(storage, numbers, .filled(quantity: 6, price: Amount("9")!), execID: "b")
            #expect(try store.value("SELECT count(*) FROM orders WHERE status = 5") == 300)
            _ = try storage.connection().query("SELECT pg_stat_force_next_flush()")
            #expect(
                try store.text("SELECT format('%s %s', n_tup_upd, n_tup_hot_upd) FROM pg_stat_user_tables WHERE relname = 'orders_first'")
                    == "1200 1200"
            )
            #expect(try store.faults() == [])
        }

        @Test func `is marked while it is in doubt, and only then`() throws {
            let storage = try store.storage()
            try Store.accept(storage, [1, 2])
            let record = try #require(try storage.takeLease(session: venueSession, holder: "h", epoch: 0, milliseconds: 600_000))
            try Store.route(storage, [1, 2], record, from: 1)
            func marked() throws -> String {
                try store.text("SELECT COALESCE(string_agg(updated_at::text, ' ' ORDER BY order_id), '') FROM orders WHERE in_doubt")
            }
            #expect(try marked() == "")
            try Store.change(storage, [1], .doubted(reason: "venue_silent"), at: 7_000)
            try Store.change(storage, [2], .cancelRequested, at: 8_000)
            #expect(try marked() == "7000 8000")
            // A cancel request is a doubt once it is some seconds old.
            #expect(try storage.unknownOrders(askedBefore: 8_000, limit: 9).map(\.id) == [Store.order(1).id])
            #expect(try storage.unknownOrders(askedBefore: 8_001, limit: 9).count == 2)
            try Store.change(storage, [1], .acknowledged)
            try Store.change(storage, [2], .cancelled(reason: nil))
            #expect(try marked() == "")
            #expect(throws: PostgresError.self) { try store.database.connect().execute("UPDATE orders SET status = 9, held = 1") }
        }
    }

    @Suite struct `Orders in doubt` {
        @Test func `are asked about in turns, so that those which stay in doubt for days keep no other waiting`() throws {
            let store = try Store()
            let storage = try store.storage()
            let numbers = Array(1...6)
            try Store.accept(storage, numbers)
            let record = try #require(try storage.takeLease(session: venueSession, holder: "h", epoch: 0, milliseconds: 600_000))
            try Store.route(storage, numbers, record, from: 1)
            try Store.change(storage, numbers, .doubted(reason: "venue_silent"))
            var asked: [OrderID] = []
            for round in 1...3 as ClosedRange<Int64> {
                let now = round * 10_000
                let next = try storage.unknownOrders(askedBefore: now - 5_000, limit: 2).map(\.id)
                try store.database.connect().execute(
                    "UPDATE orders SET asked_at = \(now) WHERE order_id IN (\(next.map { "'\($0)'" }.joined(separator: ", ")))"
                )
                asked += next
            }
            #expect(Set(asked) == Set(numbers.map { Store.order($0).id }), "\(asked)")
        }
    }

    @Suite struct `Orders that wait for the venue` {
        let store: Store
        let storage: Database
        let record: SessionRecord

        init() throws {
            store = try Store()
            storage = try store.storage()
            record = try #require(try storage.takeLease(session: venueSession, holder: "h", epoch: 0, milliseconds: 600_000))
        }

        private func silent(before: Int64, limit: Int = 9) throws -> (orders: [OrderID], last: SilentOrders.Message?) {
            let found = try storage.silentOrders(sentBefore: before, limit: limit)
            try storage.advanceWatch(found.lastWatched)
            return (found.orders[account.shard] ?? [], found.lastWatched[venueSession])
        }

        @Test func `for their number are overdue past their deadline, and only then`() throws {
            try Store.accept(storage, [1, 2, 3])
            try Store.route(storage, [1], record, from: 1, through: 1)
            #expect(try storage.overdueOrders(now: 5_000, limit: 9).isEmpty)
            #expect(Set(try storage.overdueOrders(now: 5_001, limit: 9)[account.shard] ?? []) == [Store.order(2).id, Store.order(3).id])
            #expect(try storage.overdueOrders(now: 5_001, limit: 1)[account.shard]?.count == 1)
            try Store.change(storage, [2, 3], .notRouted)
            #expect(try storage.overdueOrders(now: 5_001, limit: 9).isEmpty)
        }

        @Test func `for an answer are looked at once, when they have waited long enough`() throws {
            try Store.accept(storage, [1, 2, 3])
            try Store.route(storage, [1, 2, 3], record, from: 1, at: 2_000)
            try Store.change(storage, [2], .acknowledged)
            #expect(try silent(before: 2_000) == ([], nil))
            // A portion at a time, in the order of the numbers.
            #expect(try silent(before: 2_001, limit: 2) == ([Store.order(1).id], .init(generation: 1, number: 2)))
            #expect(try silent(before: 2_001) == ([Store.order(3).id], .init(generation: 1, number: 3)))
            #expect(try silent(before: 9_999) == ([], nil))
            // Another router that had looked before moves nothing back.
            try storage.advanceWatch([venueSession: .init(generation: 1, number: 1)])
            #expect(try silent(before: 9_999) == ([], nil))
        }

        @Test func `for an answer are passed by none where the sender's clock was set back`() throws {
            try Store.accept(storage, [1, 2, 3])
            try Store.route(storage, [1], record, from: 1, through: 1, at: 15_000)
            try Store.route(storage, [2, 3], record, from: 2, at: 11_000)
            // The younger message is looked at later; those behind it are looked at all the same, and again until the watch can pass.
            #expect(try silent(before: 12_000) == ([Store.order(2).id, Store.order(3).id], nil))
            try Store.change(storage, [2, 3], .doubted(reason: "venue_silent"))
            #expect(try silent(before: 12_000) == ([], nil))
            #expect(try silent(before: 15_001) == ([Store.order(1).id], .init(generation: 1, number: 3)))
        }

        @Test func `for an answer are looked at across a reset of the numbers`() throws {
            try Store.accept(storage, [1, 2])
            try Store.route(storage, [1], record, from: 7, through: 1)
            let generation = try #require(try storage.resetSession(venueSession, by: "test", at: 1))
            let again = try #require(try storage.takeLease(session: venueSession, holder: "h", epoch: 0, milliseconds: 600_000))
            #expect(again.generation == generation && again.nextOut == 1)
            try Store.route(storage, [2], again, from: 1, at: 3_000)
            #expect(try silent(before: 2_500) == ([Store.order(1).id], .init(generation: 1, number: 7)))
            #expect(try silent(before: 3_500) == ([Store.order(2).id], .init(generation: 2, number: 1)))
        }

        @Test func `keep their messages until they were looked at`() throws {
            try Store.accept(storage, [1])
            try Store.route(storage, [1], record, from: 1, at: 2_000)
            _ = try storage.deletePast(before: 9_000, eventsBefore: 0, limit: 10)
            #expect(try store.value("SELECT count(*) FROM fix_sent") == 1)
            #expect(try silent(before: 9_000).orders == [Store.order(1).id])
            _ = try storage.deletePast(before: 9_000, eventsBefore: 0, limit: 10)
            #expect(try store.value("SELECT count(*) FROM fix_sent") == 0)
        }

        @Test func `or work there are found in the whole table, however it is cut`() throws {
            let numbers = Array(1...200)
            try Store.accept(storage, numbers)
            try Store.route(storage, Array(numbers.dropFirst()), record, from: 1)
            try Store.change(storage, [2, 3], .acknowledged)
            try Store.change(storage, [4], .doubted(reason: "venue_silent"))
            try Store.change(storage, [5], .cancelled(reason: nil))
            let expected = Set(numbers.filter { ![1, 4, 5].contains($0) }.map { Store.order($0).id })
            for blocks in [1, 3, 1_000] as [Int64] {
                var pauses: Int64 = 0
                let found = try storage.ordersAtVenue(blocks: blocks) { pauses += 1 }
                #expect(found.keys.elementsEqual([account.shard]) && Set(found[account.shard] ?? []) == expected)
                #expect(found[account.shard]?.count == expected.count)
                #expect(pauses == (try store.value("SELECT pg_relation_size('orders_first') / 8192") + blocks - 1) / blocks)
            }
        }
    }

    @Suite struct `A database of the version before` {
        @Test func `has its open orders found as before`() throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: "order-router-migrations-\(UInt32.random(in: 0 ... .max))")
            try FileManager.default.copyItem(atPath: TestDatabase.migrations, toPath: folder.path)
            defer { try? FileManager.default.removeItem(at: folder) }
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where name > "0005" {
                try FileManager.default.removeItem(at: folder.appending(path: name))
            }
            let database = try TestDatabase(migrations: folder.path)
            let connection = try database.connect()
            // Accepted and passed by its sender past its deadline; UNKNOWN; with a cancel request unanswered; working.
            for (number, status) in [1, 9, 3, 3].enumerated() {
                let order = Store.order(number)
                try connection.execute(
                    """
                    INSERT INTO orders (key, created_at, updated_at, quantity, limit_price, hold_price, held, route_by, client_timestamp, quote_reference,
                        shard, side, order_type, time_in_force, status, cancel_pending, account_id, order_id, symbol, credential_id)
                    VALUES ('\(order.key)', 1, 1, 10, 100000, 100000, 1000000, 5000, 1, 1, 2, 1, 2, 0, \(status), \(number == 2), 'acc_1', '\(order.id)',
                        'NVDA', 'c')
                    """
                )
            }
            _ = try Migrator(directory: TestDatabase.migrations).migrate(connection)
            // The old table is the first part of the new one.
            #expect(try connection.query("SELECT count(*) FROM orders_first").int64(0, 0) == 4)
            let storage = Database(try database.options)
            #expect(try storage.overdueOrders(now: 6_000, limit: 9) == [2: [Store.order(0).id]])
            #expect(Set(try storage.unknownOrders(askedBefore: 6_000, limit: 9).map(\.id)) == [Store.order(1).id, Store.order(2).id])
        }
    }
}

extension Store {
    /// Numbers orders as messages of this session from `first` on, as send does, and moves its cursor through the log or, given `rows`, so many rows on.
    static func route(
        _ storage: Database,
        _ numbers: [Int],
        _ record: SessionRecord,
        from first: Int64,
        through rows: Int? = nil,
        at now: Int64 = 2_000
    ) throws {
        let reads = try #require(try storage.beginSend(try storage.outbox(limit: rows ?? 1_000), at: now))
        var changes = reads.orders.changes(at: now)
        for row in reads.rows { changes.sent(through: row.position, of: row.shard) }
        var messages: [SentMessage] = []
        for number in numbers {
            var order = order(number)
            guard case .changed(let type, _) = order.apply(.routed, balances: &changes.balances, at: now) else { continue }
            changes.update(order)
            changes.tell(type, of: order)
            messages.append(
                SentMessage(
                    number: first + Int64(messages.count),
                    type: "D",
                    sentAt: now,
                    resendBy: 5_000,
                    orderID: order.id.text,
                    shard: account.shard,
                    body: Array("11=\(order.id)\u{1}".utf8)
                )
            )
        }
        let next = first + Int64(messages.count)
        try storage.commitSend(changes, session: venueSession, record: record, nextOut: next, nextIn: 1, messages: messages)
    }

    /// Applies an event to orders, as settle does: in one transaction.
    static func change(_ storage: Database, _ numbers: [Int], _ event: OrderEvent, execID: String? = nil, at now: Int64 = 3_000) throws {
        let reads = try storage.beginOrders(shards: [account.shard], orders: numbers.map { order($0).id })
        var changes = reads.changes(at: now)
        for number in numbers {
            var order = try #require(reads.orders[order(number).id])
            guard case .changed(let type, _) = order.apply(event, balances: &changes.balances, at: now) else { continue }
            changes.update(order)
            changes.tell(type, of: order)
            guard case .filled(let quantity, let price) = event, let execID else { continue }
            changes.book(
                .init(
                    venue: "VENUE",
                    key: ExecutionKey(tradeDate: "20260316", execID: "\(execID)\(number)"),
                    content: BookedExecution(orderID: order.id, trade: Trade(quantity: quantity, price: price)),
                    order: order,
                    inboxID: 1
                )
            )
        }
        try storage.commit(changes)
    }
}
