import Postgres
import Storage
import TestSupport
import Testing
import Trading

extension `On PostgreSQL, storage` {
    @Suite struct `A leg` {
        @Test func `writes all that it changed and reads it back`() throws {
            let store = try Store()
            let storage = try store.storage()
            try Store.accept(storage, [1, 2])
            let order = Store.order(1)
            #expect(try storage.order(order.id, of: account) == order)
            #expect(try storage.order(order.id, of: AccountID("acc_2")!) == nil)
            let key = try #require(try storage.key(KeyID(account, order.key)))
            #expect(key.outcome == .accepted && key.orderID == order.id && key.httpStatus == 201 && key.statusNow == .accepted)
            #expect(key.answer == Array("answer 1".utf8) && key.fingerprint == [1])
            #expect(try storage.key(KeyID(account, Store.key(3))) == nil)
            let balances = try #require(try storage.balances(of: account))
            #expect(balances.map(\.asset) == [.cash, .shares(symbol)])
            #expect(balances[0].balance == Balance(available: Amount("99800")!, held: Amount("200")!))
            #expect(balances[1].balance == Balance(available: Amount(whole: 50)!, cost: Amount("500")!))
            #expect(try storage.balances(of: AccountID("acc_2")!) == nil)
            #expect(try store.faults() == [])
        }

        @Test func `finds a used key's order beside a key from beyond the year 9999`() throws {
            let store = try Store()
            let storage = try store.storage()
            try Store.accept(storage, [1])
            let absurd = IdempotencyKey(high: 0xFFFF_FFFF_FFFF_7000, low: 1 << 63)!
            let reads = try storage.beginAccept(
                shards: [account.shard],
                venueSession: venueSession,
                accounts: [account],
                balances: [],
                keys: [KeyID(account, Store.key(1)), KeyID(account, absurd)],
                credentials: [],
                orders: []
            )
            storage.rollback()
            #expect(reads.keys[KeyID(account, Store.key(1))]?.statusNow == .accepted)
            #expect(reads.keys.count == 1)
        }

        @Test func `finds open orders of one millisecond in one order, before their cancel is requested and after`() throws {
            let store = try Store()
            let storage = try store.storage()
            // The newest first, so that the order of their writing is not that of their ids.
            try Store.accept(storage, [3, 2, 1])
            let connection = try store.database.connect()
            try connection.execute("UPDATE orders SET created_at = 1001")
            let ids = (1...3).map { Store.order($0).id }.sorted { $0.text < $1.text }
            let reads = try storage.beginAccept(
                shards: [account.shard],
                venueSession: venueSession,
                accounts: [account],
                balances: [],
                keys: [],
                credentials: [],
                orders: [],
                allOf: [account]
            )
            storage.rollback()
            #expect(reads.open == ids)
            try connection.execute("UPDATE orders SET cancel_pending = true, cancels = 1, in_doubt = true")
            #expect(try storage.pendingCancels(of: account).map(\.id) == ids)
        }

        @Test func `commits all or nothing`() throws {
            let store = try Store()
            let storage = try store.storage()
            try Store.accept(storage, [1])
            // Two fresh orders and one whose key is used: the database refuses the whole.
            #expect(sqlState { () throws(PostgresError) in try Store.accept(storage, [2, 1, 3]) } == "23505")
            storage.rollback()
            #expect(try store.value("SELECT count(*) FROM orders") == 1)
            #expect(try store.value("SELECT last_event FROM accounts") == 1)
            #expect(try store.faults() == [])
            try Store.accept(storage, [2, 3])
            #expect(try store.value("SELECT count(*) FROM orders") == 3)
        }

        @Test func `that was decided on an older state than the shard's is refused`() throws {
            let store = try Store()
            let storage = try store.storage()
            let old = try Store.begin(storage, [1])
            storage.rollback()
            try Store.accept(storage, [2])
            _ = try Store.begin(storage, [])
            #expect(sqlState { () throws(PostgresError) in try storage.commit(old) } == "23502")
            storage.rollback()
            #expect(try store.value("SELECT count(*) FROM orders") == 1)
            #expect(try store.faults() == [])
        }

        @Test func `numbers events without gaps when connections share a shard`() async throws {
            let store = try Store()
            let other = AccountID("acc_9")!
            #expect(other.shard == account.shard)
            #expect(try store.storage().createAccount(other, cash: Amount("100000")!, positions: [], by: "test", at: 1))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for lane in 0..<2 {
                    group.addTask {
                        let thread = DedicatedThread(name: "lane-\(lane)")
                        defer { thread.stop() }
                        try await thread.run {
                            let storage = try store.storage()
                            for round in 0..<25 {
                                let first = lane * 1_000 + round * 10
                                try Store.accept(storage, [first, first + 1])
                                try Store.accept(storage, [first + 2], of: other)
                            }
                            storage.drop()
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try store.value("SELECT count(*) FROM log") == 150)
            #expect(try store.faults() == [])
            let storage = try store.storage()
            var known = KnownOrders()
            let events = try storage.events(after: [(account, 0), (other, 40)], limit: 1_000, known: &known)
            #expect(events[0].map(\.number) == Array(1...100))
            #expect(events[1].map(\.number) == Array(41...50))
            let bounds = try #require(try storage.eventBounds(of: account))
            #expect(bounds.oldest == 1 && bounds.latest == 100 && bounds.generation > 0)
            #expect(try storage.logEnds()[account.shard] == 150)
        }

        @Test func `tells of each event's order as it stood then, whether it was known or is read`() throws {
            let store = try Store()
            let storage = try store.storage()
            try Store.accept(storage, Array(1...20))
            let reads = try storage.beginOrders(shards: [account.shard], orders: [Store.order(3).id, Store.order(18).id])
            var changes = reads.changes(at: 3_000)
            for var order in reads.orders.values {
                guard case .changed(let type, _) = order.apply(.cancelled(reason: "x"), balances: &changes.balances, at: 3_000) else { continue }
                changes.update(order)
                changes.tell(type, of: order)
            }
            try storage.commit(changes)
            func words(_ events: [EventRecord]) -> [String] {
                events.map { "\($0.number) \($0.type) \($0.order.id) \($0.order.status) \($0.order.held)" }
            }
            var none = KnownOrders()
            let whole = words(try storage.events(after: [(account, 0)], limit: 99, known: &none)[0])
            #expect(whole.count == 22 && whole[2].contains("accepted") && whole[21].contains("cancelled"))
            // So few are known that they go again and again.
            var few = KnownOrders(capacity: 3)
            var parts: [String] = []
            while true {
                let part = words(try storage.events(after: [(account, Int64(parts.count))], limit: 7, known: &few)[0])
                if part.isEmpty { break }
                parts += part
            }
            #expect(parts == whole)
        }

        @Test func `reads each shard's log on from a position, and of it the events of the accounts that are asked for`() throws {
            let store = try Store()
            let storage = try store.storage()
            let other = AccountID("acc_2")!
            _ = try storage.createAccount(other, cash: Amount("100000")!, positions: [], by: "test", at: 1)
            let begin = try storage.logEnds()
            #expect(begin.count == Int(AccountID.shardCount) && begin.values.allSatisfy { $0 == 0 })
            try Store.accept(storage, [1, 2])
            try Store.accept(storage, [3, 4, 5], of: other)
            try Store.accept(storage, [6])
            let whole = try storage.log(after: begin, limit: 100)
            #expect(whole.newest == [account: 3, other: 3])
            let ends = try storage.logEnds()
            #expect(whole.ends == ends.filter { $0.value > 0 })
            var known = KnownOrders()
            let events = try storage.events(of: [other], in: whole, known: &known)
            #expect(events.keys.sorted { $0.text < $1.text } == [other])
            #expect(events[other]?.map(\.number) == [1, 2, 3])
            // The same events as an account's own look-up brings.
            let own = try storage.events(after: [(other, 0)], limit: 9, known: &known)[0]
            #expect(events[other].map { "\($0)" } == "\(own)")
            // In portions, without a gap, to the end.
            var (positions, read) = (begin, 0)
            while true {
                let portion = try storage.log(after: positions, limit: 1)
                if portion.ends.isEmpty { break }
                for (shard, end) in portion.ends { #expect(end == (positions[shard] ?? 0) + 1) }
                read += portion.ends.count
                positions.merge(portion.ends) { _, new in new }
            }
            #expect(read == 6 && positions == ends)
        }

        @Test func `lists an account's orders, newest first, from a cursor on`() throws {
            let store = try Store()
            let storage = try store.storage()
            try Store.accept(storage, Array(1...5))
            let first = try storage.orders(of: account, OrderFilter(limit: 2))
            #expect(first.map(\.createdAt) == [1_005, 1_004])
            let last = try #require(first.last)
            let next = try storage.orders(of: account, OrderFilter(after: (last.createdAt, last.id.text), limit: 9))
            #expect(next.map(\.createdAt) == [1_003, 1_002, 1_001])
            #expect(try storage.orders(of: account, OrderFilter(status: .filled, limit: 9)).isEmpty)
            #expect(try storage.orders(of: account, OrderFilter(status: .accepted, symbol: Symbol("AAPL")!, limit: 9)).isEmpty)
            #expect(try storage.orders(of: account, OrderFilter(symbol: symbol, limit: 9, offset: 4)).map(\.createdAt) == [1_001])
        }

        @Test func `keeps events until the sender is past them and their time is over`() throws {
            let store = try Store()
            let storage = try store.storage()
            try Store.accept(storage, [1, 2, 3])
            #expect(try storage.deletePast(before: 2_000, eventsBefore: 2_000, limit: 10) == 0)
            try store.database.connect().execute("UPDATE shards SET sent_log = 2 WHERE shard = \(account.shard)")
            #expect(try storage.deletePast(before: 2_000, eventsBefore: 1_000, limit: 10) == 0)
            _ = try storage.deletePast(before: 2_000, eventsBefore: 2_000, limit: 1)
            #expect(try storage.eventBounds(of: account)?.oldest == 2)
            _ = try storage.deletePast(before: 2_000, eventsBefore: 2_000, limit: 10)
            #expect(try storage.eventBounds(of: account)?.oldest == 3)
            var known = KnownOrders()
            #expect(try storage.events(after: [(account, 0)], limit: 9, known: &known)[0].map(\.number) == [3])
            #expect(try store.faults() == [])
        }

        @Test func `is not begun on a server that only reads`() throws {
            let store = try Store()
            try store.database.connect().execute("ALTER DATABASE \(store.database.name) SET default_transaction_read_only = on")
            let error = #expect(throws: PostgresError.self) { try store.storage().connection() }
            #expect(error?.code == .connectionFailed && error?.isTransient == true)
            let lenient = try PostgresOptions.url(store.database.url, replacing: ["target_session_attrs": "any"])
            #expect(try PostgresConnection(PostgresOptions(url: lenient)).isUsable)
        }

        @Test func `goes on with another connection when its own is lost`() throws {
            let store = try Store()
            let storage = try store.storage()
            try Store.accept(storage, [1])
            try store.database.connect().execute("SELECT pg_terminate_backend(\(try storage.connection().serverProcessID))")
            #expect(throws: PostgresError.self) { try Store.accept(storage, [2]) }
            storage.rollback()
            try Store.accept(storage, [2])
            #expect(try store.value("SELECT count(*) FROM orders") == 2)
        }
    }
}

extension `On PostgreSQL, storage` {
    @Suite struct `An operator` {
        @Test func `creates an account once, with deposits from the house`() throws {
            let store = try Store()
            let storage = try store.storage()
            #expect(try !storage.createAccount(account, cash: Amount("7")!, positions: [], by: "test", at: 2))
            #expect(try store.value("SELECT settlement FROM balances WHERE account_id = '~house-\(account.shard)' AND asset = '$'") == -1_000_000_000)
            #expect(try store.value("SELECT count(*) FROM operator_audit") == 1)
            #expect(try storage.createAccount(AccountID("acc_poor")!, cash: .zero, positions: [], by: "test", at: 2))
            #expect(try store.faults() == [])
            #expect(throws: PostgresError.self) {
                try storage.createAccount(AccountID("acc_9")!, cash: Amount(units: .max), positions: [], by: "test", at: 3)
            }
            try Store.accept(storage, [1])
        }

        @Test func `halts only once no accepting transaction is open`() async throws {
            let store = try Store()
            let storage = try store.storage()
            let halt = Halt(scope: .venue, subject: "", reason: "drill")
            try storage.connection().execute("SET idle_in_transaction_session_timeout = 0")
            let open = try Store.begin(storage, [1])
            let thread = DedicatedThread(name: "operator")
            defer { thread.stop() }
            async let halted: Void = thread.run { try store.storage().halt(halt, by: "test", at: 5) }
            try await store.awaitBlockedSession()
            #expect(try store.storage().halts() == [])
            try storage.commit(open)
            try await halted
            let reads = try storage.beginAccept(
                shards: [account.shard],
                venueSession: venueSession,
                accounts: [],
                balances: [],
                keys: [],
                credentials: [],
                orders: []
            )
            storage.rollback()
            #expect(reads.halts == [halt])
            #expect(try storage.resume(.venue, subject: "", by: "test", at: 6))
            #expect(try !storage.resume(.venue, subject: "", by: "test", at: 7))
            #expect(try storage.halts() == [])
        }

        @Test func `keeps a leg that waited for a halt from missing it`() async throws {
            let store = try Store()
            // The halt has all shards and is not committed; the leg waits, and what it reads then holds the halt.
            let operating = try store.database.connect()
            try operating.execute(
                "BEGIN; SELECT FROM shards ORDER BY shard FOR UPDATE; INSERT INTO halts VALUES ('symbol', 'NVDA', 1, 'test', 'drill')"
            )
            let thread = DedicatedThread(name: "lane")
            defer { thread.stop() }
            async let seen = thread.run {
                let storage = try store.storage()
                let reads = try storage.beginAccept(
                    shards: [account.shard],
                    venueSession: venueSession,
                    accounts: [],
                    balances: [],
                    keys: [],
                    credentials: [],
                    orders: []
                )
                storage.rollback()
                return reads.halts
            }
            try await store.awaitBlockedSession()
            try operating.execute("COMMIT")
            #expect(try await seen == [Halt(scope: .symbol, subject: "NVDA", reason: "drill")])
        }

        @Test func `sees what waits for each leg`() throws {
            let store = try Store()
            let storage = try store.storage()
            let empty = try storage.backlog()
            #expect(empty.unsentRows == 0 && empty.unsettledReports == 0 && empty.oldestUnsettledAt == nil && empty.alarms == 0)
            try Store.accept(storage, [1, 2])
            try store.database.connect().execute(
                "INSERT INTO inbox (inbox_id, generation, number, received_at, shard, kind, session_id, message) VALUES (1, 1, 1, 77, 3, 5, 's', '')"
            )
            let waiting = try storage.backlog()
            #expect(waiting.unsentRows == 2 && waiting.unsettledReports == 1 && waiting.oldestUnsettledAt == 77 && waiting.parkedReports == 0)
        }
    }
}

@Suite struct `Shards in turns` {
    @Test func `share a commit up to the cap, in their order`() {
        #expect(turns([], shards: 4, cap: 10).isEmpty)
        #expect(turns([(5, 1), (6, 2), (7, 3), (0, 4), (1, 5)], shards: 4, cap: 99) == [[5, 6, 7, 0], [1]])
        #expect(turns([(0, 4), (1, 6), (2, 1), (3, 10), (4, 11), (5, 1)], shards: 4, cap: 10) == [[0, 1], [2], [3], [4], [5]])
    }
}

extension Store {
    /// Returns once a session of this database waits for a lock; asks without pause, for the server alone knows.
    func awaitBlockedSession() async throws {
        let connection = try database.connect()
        let deadline = ContinuousClock.now + .seconds(60)
        while try connection.query(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        ).int64(0, 0) == 0 {
            try #require(ContinuousClock.now < deadline, "no session waits")
            await Task.yield()
        }
    }
}
