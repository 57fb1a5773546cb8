import OrderDesk
import Postgres
import Storage
import TestSupport
import Testing
import Trading

extension `On PostgreSQL, the desk` {
    @Suite struct `on an operator's word` {
        let room: Room

        init() throws { room = try Room() }

        private func accept(_ numbers: [Int]) async throws -> [OrderID] {
            let own = queue()
            let verdicts = try await room.withLanes(1, on: own) { await decide(numbers.map { (own, .place(submission($0))) }) }
            #expect(verdicts.allSatisfy { $0.word == "accepted" }, "\(words(verdicts))")
            return numbers.map { identity(account, key($0)) }
        }

        private var held: Int64 { get throws { try room.value("SELECT held FROM balances WHERE account_id = 'acc_1' AND asset = '$'") } }

        @Test func `cancels by a client's rules, says of each order what became of it, and is audited`() async throws {
            let routed = try await accept([1, 2])
            try room.route()
            let waiting = try await accept([3])
            let (storage, missing) = (room.storage(), identity(account, key(9)))
            defer { storage.drop() }
            let cancels = CancelOnBehalf(storage, by: "ann", because: "fat finger", told: "cancelled_by_operator", now: { now })
            let asked = routed + waiting + [missing]
            let outcomes = try cancels.cancel(asked)
            #expect(outcomes.map(\.id) == asked)
            #expect(outcomes.map(\.word) == [.requested, .requested, .cancelled, .notFound])
            #expect(outcomes.map(\.word.isDone) == [true, true, true, false])
            #expect(outcomes[0].order?.cancelID == routed[0].text + "-c1")
            // Two shares of hold stay until the venue has answered; the third is free.
            #expect(try held == usd("2000").units)
            #expect(try room.status(waiting[0]) == .cancelled)
            #expect(try room.text("SELECT reason FROM orders WHERE order_id = '\(waiting[0])'") == "cancelled_by_operator")
            #expect(try room.value("SELECT count(*) FROM log WHERE type = 5 AND reason = 'cancelled_by_operator'") == 3)
            // A request changes nothing of what is known of an order.
            #expect(try room.value("SELECT count(*) FROM orders WHERE reason IS NOT NULL") == 1)
            #expect(try cancels.cancel(routed + waiting).map(\.word) == [.pending, .pending, .notOpen])
            let audit = "SELECT string_agg(by_whom || ' ' || detail, ',' ORDER BY detail) FROM operator_audit WHERE action = 'order_cancel_requested'"
            #expect(try room.text(audit) == (routed + waiting).map { "ann \($0): fat finger" }.sorted().joined(separator: ","))
            try room.check()
        }

        @Test func `by the kill switch refuses what is new, ends what has no number, and asks for the rest`() async throws {
            let routed = try await accept([1])
            try room.route()
            let waiting = try await accept([2, 3])
            let killSwitch = KillSwitch(PostgresOptions(url: room.url), by: "ann", now: { now })
            defer { killSwitch.close() }
            #expect(try killSwitch.state() == nil)
            for reason in ["first", "second"] { try killSwitch.turnOn(because: reason) }
            let state = try #require(try killSwitch.state())
            #expect((state.halt.reason, state.by, state.at) == ("second", "ann", now))
            let own = queue()
            let refused = try await room.withLanes(1, on: own) { await own.decide(.place(submission(4))) }
            #expect(refused.word == "tradingHalted")
            let outcomes = try killSwitch.cancelEverything(because: "second")
            #expect(Set(outcomes.map { "\($0.id) \($0.word)" }) == Set(["\(routed[0]) requested"] + waiting.map { "\($0) cancelled" }))
            #expect(try room.text("SELECT string_agg(DISTINCT reason, ' ') FROM orders WHERE status = 6") == "kill_switch")
            #expect(try held == usd("1000").units)
            #expect(try killSwitch.openOrders() == [.routed: 1])
            // Again: nothing new, nothing twice.
            #expect(try killSwitch.cancelEverything(because: "again").map(\.word) == [.pending])
            #expect(try room.value("SELECT count(*) FROM log WHERE type = 5 AND order_id = '\(routed[0])'") == 1)
            #expect(try killSwitch.turnOff())
            #expect(try !killSwitch.turnOff())
            _ = try await accept([4])
            try room.check()
        }

        @Test func `leaves other halts as they were when the kill switch goes off`() throws {
            let storage = room.storage()
            defer { storage.drop() }
            try storage.halt(Halt(scope: .venue, subject: "", reason: "outage"), by: "bob", at: now)
            let killSwitch = KillSwitch(PostgresOptions(url: room.url), by: "ann", now: { now })
            defer { killSwitch.close() }
            try killSwitch.turnOn(because: "fire")
            #expect(try !storage.resume(.symbol, subject: "NVDA", by: "bob", at: now))
            #expect(try storage.resume(.venue, subject: "", by: "bob", at: now))
            try storage.halt(Halt(scope: .venue, subject: "", reason: "outage"), by: "bob", at: now)
            #expect(try killSwitch.turnOff())
            #expect(try storage.halts() == [Halt(scope: .venue, subject: "", reason: "outage")])
        }
    }
}
