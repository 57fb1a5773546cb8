import OrderDesk
import Postgres
import Storage
import TestSupport
import Testing
import Trading

extension `On PostgreSQL, the desk` {
    @Suite struct `after accepting` {
        let room: Room
        let id = identity(account, key(1))

        init() async throws {
            room = try Room()
            let own = queue()
            let verdict = try await room.withLanes(1, on: own) { await own.decide(.place(submission(1, terms(quantity: 100)))) }
            #expect(verdict.word == "accepted")
        }

        private func fill(_ execID: String, _ quantity: Int64 = 10, order: OrderID? = nil) -> VenueReport {
            var report = VenueReport(kind: .execution)
            report.orderID = (order ?? id).text
            report.execType = "F"
            report.execID = execID
            report.tradeDate = "20260316"
            report.lastQuantity = quantity
            report.lastPrice = usd("99")
            return report
        }

        private func cancel() async throws -> Verdict {
            let own = queue()
            return try await room.withLanes(1, on: own) { await own.decide(.cancel(id, of: account)) }
        }

        @Test func `a cancel of an order that is not routed is ours, and frees what it held`() async throws {
            #expect(try await cancel().word == "cancelRequested")
            #expect(try room.status(id) == .cancelled)
            #expect(try room.value("SELECT available FROM balances WHERE account_id = 'acc_1' AND asset = '$'") == usd("1000000").units)
            #expect(try room.text("SELECT string_agg(type::text, ' ' ORDER BY event_number) FROM log") == "1 5 7")
            #expect(try await cancel().word == "orderNotOpen")
            try room.check()
        }

        @Test func `a cancel of a routed order is a request, asked once`() async throws {
            try room.route()
            let first = try await cancel()
            #expect(first.word == "cancelRequested" && first.order?.cancelID == id.text + "-c1")
            #expect(try await cancel().order?.cancelID == id.text + "-c1")
            #expect(try room.text("SELECT string_agg(type::text, ' ' ORDER BY event_number) FROM log") == "1 2 5")
            #expect(try room.value("SELECT held FROM orders") == usd("10000").units)
            try room.check()
        }

        @Test func `an order past its route deadline is cancelled, not before`() throws {
            try room.sweep(at: now + 60_000)
            #expect(try room.status(id) == .accepted)
            try room.sweep(at: now + 60_001)
            #expect(try room.status(id) == .cancelled)
            #expect(try room.text("SELECT reason FROM orders") == "not_routed")
            try room.check()
        }

        @Test func `a routed order that the venue does not answer is UNKNOWN and keeps its hold`() throws {
            try room.route()
            try room.sweep(at: now + 10_000)
            #expect(try room.status(id) == .routed)
            try room.sweep(at: now + 10_001)
            #expect(try room.status(id) == .unknown)
            #expect(try room.text("SELECT reason FROM orders") == "venue_silent")
            #expect(try room.value("SELECT held FROM orders") == usd("10000").units)
            try room.sweep(at: now + 999_999)
            #expect(try room.text("SELECT string_agg(type::text, ' ' ORDER BY event_number) FROM log") == "1 2 10")
            #expect(try room.storage().unknownOrders(askedBefore: 1, limit: 9).map(\.id) == [id])
            try room.check()
        }

        @Test func `a report that comes twice is booked once`() throws {
            try room.route()
            try room.receive([fill("e1"), fill("e2"), fill("e1")])
            try room.settle()
            try room.receive([fill("e2")], from: 4)
            try room.settle()
            try room.settle()
            #expect(try room.value("SELECT filled_quantity FROM orders") == 20)
            #expect(try room.value("SELECT count(*) FROM executions") == 2)
            #expect(try room.value("SELECT settled_inbox FROM shards WHERE shard = \(account.shard)") == 4)
            #expect(try room.storage().unsettledReports(limit: 9, by: session).isEmpty)
            try room.check()
        }

        @Test func `reports are booked once by two routers that settle at the same time`() async throws {
            try room.route()
            let room = room
            let threads = (0..<2).map { DedicatedThread(name: "settler-\($0)") }
            defer { for thread in threads { thread.stop() } }
            for round in 0..<5 {
                try room.receive((0..<20).map { fill("e\(round)-\($0)", 1) }, from: Int64(round * 20 + 1))
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for thread in threads { group.addTask { try await thread.run { try room.settle() } } }
                    try await group.waitForAll()
                }
            }
            #expect(try room.status(id) == .filled)
            #expect(try room.value("SELECT count(*) FROM executions") == 100)
            #expect(try room.value("SELECT count(*) FROM parked_reports") == 0)
            try room.check()
        }

        @Test func `an order's fills to the end leave nothing held`() throws {
            try room.route()
            try room.receive([fill("e1", 60), fill("e2", 40)])
            try room.settle()
            #expect(try room.status(id) == .filled)
            let balances = try #require(try room.storage().balances(of: account))
            #expect(balances[0].balance == Balance(available: usd("990100")))
            #expect(balances[1].balance == Balance(available: whole(200), cost: usd("10400")))
            try room.check()
        }

        @Test func `a poisonous report is parked with its order UNKNOWN, and those behind it settle`() throws {
            try room.route()
            // Longer than an index can hold, and not to be compressed.
            var random = SystemRandomNumberGenerator()
            let poison = String((0..<20_000).map { _ in "abcdefghijklmnopqrstuvwxyz0123456789".randomElement(using: &random)! })
            try room.receive([fill("e1"), fill(poison), fill("e3"), fill("e4", order: identity(account, key(77)))])
            try room.settle()
            #expect(try room.value("SELECT filled_quantity FROM orders") == 20)
            #expect(try room.text("SELECT string_agg(inbox_id::text, ' ' ORDER BY inbox_id) FROM parked_reports") == "2 4")
            #expect(try room.text("SELECT string_agg(kind, ' ') FROM alarms") == "parked parked")
            #expect(try room.text("SELECT string_agg(type::text, ' ' ORDER BY event_number) FROM log") == "1 2 4 10 4")
            #expect(try room.storage().unsettledReports(limit: 9, by: session).isEmpty)
            try room.check()
        }

        @Test func `a failure that is no report's fault parks nothing`() throws {
            try room.route()
            try room.receive([fill("e1"), fill("e2")])
            let connection = try room.connect()
            try connection.execute("ALTER TABLE executions RENAME TO executions_away")
            #expect(throws: PostgresError.self) { try room.settle() }
            try connection.execute("ALTER TABLE executions_away RENAME TO executions")
            #expect(try room.value("SELECT count(*) FROM parked_reports") == 0)
            try room.settle()
            #expect(try room.value("SELECT filled_quantity FROM orders") == 20)
            try room.check()
        }

        @Test func `fills beyond hold and cash are owed, alarmed, and block new orders`() async throws {
            try room.route()
            try room.receive([fill("e1", 11_000)])
            try room.settle()
            #expect(try room.text("SELECT string_agg(kind, ' ' ORDER BY alarm_id) FROM alarms") == "overfill owes")
            #expect(try room.value("SELECT owed FROM balances WHERE account_id = 'acc_1' AND asset = '$'") == usd("89000").units)
            let own = queue()
            let verdict = try await room.withLanes(1, on: own) { await own.decide(.place(submission(2, terms(.sell)))) }
            #expect(verdict.word == "refusedForGood")
            try room.check()
        }
    }
}
