import ExchangeSimulator
import FIX
import Foundation
import JourneySupport
import OrderDesk
import Postgres
import Storage
import Synchronization
import Testing
import Trading

extension Faults {
    /// No answer is no answer: holds stay, the venue is asked, and only its word moves an order on.
    @Suite struct `A silent venue` {
        /// How often the venue was asked about an order.
        private static func questions(_ circle: Circle, _ order: OrderID) async throws -> Int {
            Int(try await circle.texts("SELECT count(*)::text FROM fix_sent WHERE msg_type = 'H' AND order_id = '\(order)'")[0]) ?? 0
        }

        @Test func `for a minute leaves orders UNKNOWN with their holds until it talks again`() async throws {
            try await Circle(.impatient).run { circle in
                let account = try await circle.account("acc_mute", cash: 100_000)
                try await circle.ready()
                circle.venue.setMute(true)
                let order = try await circle.accepted(account, Circle.terms(.buy, 10, "NVDA", .limit, limit: "126.00"))
                try await circle.events(of: account, order, until: .unknown)
                // A session's time-outs and many askings pass; nothing closes the order.
                try await circle.until("ten questions") { try await Self.questions(circle, order) >= 10 }
                let now = try await circle.order(order, of: account)
                #expect((now.status, now.held, now.reason) == (.unknown, Amount(whole: 1_260)!, "venue_silent"))
                #expect(try await circle.balance(account).held == Amount(whole: 1_260)!)
                circle.venue.setMute(false)
                try await circle.events(of: account, order, until: .filled)
                try await circle.quiet()
                #expect(try await circle.order(order, of: account).reason == nil)
                #expect(circle.venue.ordersSeen(order.text) == 1)
                try await circle.verify()
            }
        }

        @Test func `that answers status requests alone tells where an order stands, and where its cancel went`() async throws {
            try await Circle(.impatient).run { circle in
                let account = try await circle.account("acc_asked", cash: 100_000)
                try await circle.ready()
                let order = try await circle.accepted(account, Circle.terms(.buy, 10, "NVDA.MUTE", .limit, limit: "126.00"))
                let events = try await circle.events(of: account, order, until: .working)
                #expect(events.map(\.type) == [.accepted, .routed, .unknown, .working])
                _ = await circle.cancel(order, of: account)
                // The answer to the cancel is withheld for ever; the order is asked about and its end is the venue's word.
                try await circle.events(of: account, order, until: .cancelled)
                #expect(try await circle.balance(account).held == .zero)
                try circle.venue.releaseWithheld()
                try await circle.until("the late reports") { try await circle.texts("SELECT exec_id FROM inbox WHERE exec_type = '4'").count == 1 }
                try await circle.quiet()
                #expect(try await circle.order(order, of: account).status == .cancelled)
                try await circle.verify()
            }
        }

        @Test func `that never heard of an order ends it, and its hold is free`() async throws {
            try await Circle(.impatient).run { circle in
                let account = try await circle.account("acc_unheard", cash: 100_000)
                try await circle.ready()
                circle.venue.adjust { $0.answersStatusWhenMute = false }
                let id = try await circle.accepted(account, Circle.terms(.buy, 10, "NVDA.MUTE", .limit, limit: "126.00"))
                try await circle.events(of: account, id, until: .unknown)
                let order = try await circle.order(id, of: account)
                let unheard: [FIXTag: String?] = [.ordStatus: "8", .ordRejReason: "5", .lastQty: nil, .lastPx: nil]
                try circle.inject(circle.report(order, "N1", "I", unheard))
                let end = try await circle.events(of: account, id, until: .cancelled)
                #expect(end.last?.order.reason == "not_routed")
                #expect(try await circle.balance(account) == Balance(available: Amount(whole: 100_000)!))
                // Of an order that it has filled it cannot say so: UNKNOWN, alarmed once, for a person.
                let filled = try await circle.accepted(account, Circle.terms(.buy, 10, "NVDA.MUTE", .limit, limit: "126.00"))
                let state = try await circle.order(filled, of: account)
                try circle.inject(circle.report(state, "N2", "F", [.lastQty: "4", .cumQty: "4"]))
                try await circle.events(of: account, filled, until: .partiallyFilled)
                for number in 3...5 { try circle.inject(circle.report(state, "N\(number)", "I", unheard)) }
                try await circle.events(of: account, filled, until: .unknown)
                try circle.inject(circle.report(state, "N6", "F", [.lastQty: "6", .cumQty: "10"]))
                try await circle.events(of: account, filled, until: .filled)
                #expect(try await circle.texts("SELECT kind FROM alarms WHERE order_id = '\(filled)'") == ["forgotten_by_venue"])
                try await circle.verify()
            }
        }

        @Test func `that breaks the line before its word gives it after the next logon`() async throws {
            var times = Circle.Times()
            times.lease = 30_000
            try await Circle(times).run { circle in
                let account = try await circle.account("acc_drop", cash: 100_000)
                try await circle.ready()
                for _ in 0..<3 {
                    try await circle.ready()
                    let order = try await circle.accepted(account, Circle.terms(.buy, 10, "NVDA.DROP"))
                    let begun = ContinuousClock.now
                    try await circle.events(of: account, order, until: .filled)
                    // The lease is the router's own: it need not wait for it to run out.
                    #expect(ContinuousClock.now - begun < .seconds(15))
                    #expect(circle.venue.ordersSeen(order.text) == 1)
                }
                try await circle.verify()
            }
        }

        @Test func `that cannot be reached gets no MARKET, IOC or FOK order late, not even when it is back`() async throws {
            try await Circle(.impatient).run { circle in
                let account = try await circle.account("acc_late", cash: 100_000)
                try await circle.ready()
                try await Self.withSessionTakenAway(from: circle) {
                    let market = try await circle.accepted(account, Circle.terms(.buy, 1))
                    let immediate = try await circle.accepted(account, Circle.terms(.buy, 1, "NVDA", .limit, .immediateOrCancel, limit: "126.00"))
                    let whole = try await circle.accepted(account, Circle.terms(.buy, 1, "NVDA", .limit, .fillOrKill, limit: "126.00"))
                    let patient = try await circle.accepted(account, Circle.terms(.buy, 1, "NVDA", .limit, limit: "126.00"))
                    for id in [market, immediate, whole] {
                        let events = try await circle.events(of: account, id, until: .cancelled)
                        #expect(events.map(\.type) == [.accepted, .cancelled])
                        #expect(events.last?.order.reason == "not_routed")
                    }
                    #expect(try await circle.balance(account).held == Amount(whole: 126)!)
                    return (lost: [market, immediate, whole], kept: patient)
                } then: { orders in
                    try await circle.events(of: account, orders.kept, until: .filled)
                    #expect(orders.lost.map { circle.venue.ordersSeen($0.text) } == [0, 0, 0])
                }
                try await circle.verify()
            }
        }

        @Test func `gets no order late from a router that comes to it first, and the order is cancelled by the same commit`() async throws {
            var times = Circle.Times.impatient
            times.sweep = .seconds(3_600)
            try await Circle(times).run { circle in
                let account = try await circle.account("acc_first", cash: 100_000)
                try await circle.ready()
                try await Self.withSessionTakenAway(from: circle) {
                    let order = try await circle.accepted(account, Circle.terms(.buy, 1))
                    let deadline = try await circle.order(order, of: account).routeBy
                    try await circle.until("the deadline") { Circle.now() > deadline }
                    return order
                } then: { order in
                    let events = try await circle.events(of: account, order, until: .cancelled)
                    #expect(events.map(\.type) == [.accepted, .cancelled] && events.last?.order.reason == "not_routed")
                    #expect(try await circle.balance(account).held == .zero)
                    #expect(circle.venue.ordersSeen(order.text) == 0)
                }
                try await circle.verify()
            }
        }

        @Test func `gets nothing that a halt has covered before it was numbered`() async throws {
            try await Circle().run { circle in
                let (one, other) = (try await circle.account("acc_halted", cash: 100_000), try await circle.account("acc_free", cash: 100_000))
                try await circle.ready()
                try await Self.withSessionTakenAway(from: circle) {
                    let covered = try await circle.accepted(one, Circle.terms(.buy, 1, "NVDA", .limit, limit: "126.00"))
                    let free = try await circle.accepted(other, Circle.terms(.buy, 1, "NVDA", .limit, limit: "126.00"))
                    try await circle.readers.read {
                        try $0.halt(Halt(scope: .account, subject: one.text, reason: "asked for"), by: "test", at: Circle.now())
                    }
                    return (covered: covered, free: free)
                } then: { orders in
                    try await circle.events(of: other, orders.free, until: .filled)
                    let events = try await circle.events(of: one, orders.covered, until: .cancelled)
                    #expect(events.last?.order.reason == "halted")
                    #expect(try await circle.balance(one).held == .zero)
                    #expect(circle.venue.ordersSeen(orders.covered.text) == 0)
                }
                try await circle.verify()
            }
        }

        @Test func `gets nothing that the kill switch has covered before it was numbered`() async throws {
            try await Circle(.impatient).run { circle in
                let account = try await circle.account("acc_killed", cash: 100_000)
                try await circle.ready()
                try await Self.withSessionTakenAway(from: circle) {
                    let covered = try await circle.accepted(account, Circle.terms(.buy, 1, "NVDA", .limit, limit: "126.00"))
                    try await circle.readers.read {
                        try $0.halt(Halt(scope: .killSwitch, subject: "", reason: "drill"), by: "test", at: Circle.now())
                    }
                    return covered
                } then: { covered in
                    let events = try await circle.events(of: account, covered, until: .cancelled)
                    #expect(events.last?.order.reason == "kill_switch")
                    #expect(try await circle.balance(account).held == .zero)
                    #expect(circle.venue.ordersSeen(covered.text) == 0)
                }
                try await circle.verify()
            }
        }

        /// Another router holds the session, logged on, and does not send.
        private static func withSessionTakenAway<Orders>(
            from circle: Circle,
            _ body: () async throws -> Orders,
            then after: (Orders) async throws -> Void
        ) async throws {
            let isOurs = "SELECT session_id FROM fix_sessions WHERE lease_holder = 'ghost'"
            _ = try await circle.texts(
                """
                UPDATE fix_sessions SET lease_holder = 'ghost', lease_epoch = lease_epoch + 1, logged_on = true,
                    lease_until = (extract(epoch FROM clock_timestamp()) * 1000)::bigint + 600000 RETURNING session_id
                """
            )
            // The router finds out with its next renewal, and drops its connection.
            try await circle.until("the session's loss") { circle.troubles.withLock { $0.contains { $0.contains("another router holds") } } }
            #expect(try await circle.texts(isOurs).count == 1)
            let orders = try await body()
            _ = try await circle.texts("UPDATE fix_sessions SET lease_until = 0 RETURNING session_id")
            try await after(orders)
        }
    }
}
