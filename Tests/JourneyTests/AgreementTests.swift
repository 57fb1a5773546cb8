import ExchangeSimulator
import FIX
import JourneySupport
import OrderDesk
import Storage
import Synchronization
import TestSupport
import Testing
import Trading

extension Faults {
    /// What the two ends of the venue's session have agreed upon must cost no order its truth: a refused report, numbers that begin again.
    @Suite struct `An agreement with the venue` {
        private static func resting(_ circle: Circle, _ account: AccountID, _ symbol: String = "NVDA") async throws -> OrderState {
            let id = try await circle.accepted(account, Circle.terms(.buy, 10, symbol, .limit, .goodTillCancel, limit: "100.00"))
            try await circle.events(of: account, id, until: .working)
            return try await circle.order(id, of: account)
        }

        private static func agreeing(_ agree: @escaping @Sendable (inout SessionSettings) -> Void) -> Circle.Times {
            var times = Circle.Times.impatient
            times.agree = agree
            return times
        }

        @Test func `to refuse what can be read in two ways parks such a report and asks about its order`() async throws {
            try await Circle(.impatient).run { circle in
                let account = try await circle.account("acc_twofold", cash: 100_000)
                try await circle.ready()
                let order = try await Self.resting(circle, account)
                // Were three or four shares filled?
                var twofold = circle.report(order, "T1", "F", [.lastQty: "3", .cumQty: "3"])
                twofold.append(.lastQty, 4)
                try circle.inject(twofold)
                let events = try await circle.events(of: account, order.id, until: .unknown)
                #expect(events.last?.order.held == Amount(whole: 1_000))
                #expect(events.last?.order.filledQuantity == 0)
                try await circle.alarmed("parked", order.id)
                #expect(try await circle.texts("SELECT order_id FROM parked_reports") == [order.id.text])
                // The venue says how it stands, and a sound report books.
                try await circle.until("the venue's word") { try await circle.order(order.id, of: account).status == .working }
                try circle.inject(circle.report(order, "T2", "F", [.lastQty: "10", .cumQty: "10"]))
                try await circle.events(of: account, order.id, until: .filled)
                #expect(try await circle.texts("SELECT exec_id FROM executions") == ["T2"])
                #expect(circle.troubles.withLock { $0.contains { $0.contains("is refused") } })
                try await circle.verify()
            }
        }

        @Test func `to be strict refuses a fill without AvgPx, which lenient rules book`() async throws {
            try await Circle(Self.agreeing { $0.rules = .strict }).run { circle in
                let account = try await circle.account("acc_strict", cash: 100_000)
                try await circle.ready()
                let order = try await Self.resting(circle, account)
                try circle.inject(circle.report(order, "S1", "F", [.lastQty: "10", .cumQty: "10", .avgPx: nil]))
                try await circle.events(of: account, order.id, until: .unknown)
                try await circle.alarmed("parked", order.id)
                try await circle.verify()
            }
            try await Circle(.impatient).run { circle in
                let account = try await circle.account("acc_lenient", cash: 100_000)
                try await circle.ready()
                let order = try await Self.resting(circle, account)
                try circle.inject(circle.report(order, "S1", "F", [.lastQty: "10", .cumQty: "10", .avgPx: nil]))
                try await circle.events(of: account, order.id, until: .filled)
                try await circle.verify()
            }
        }

        @Test(arguments: ["logon", "disconnect"]) func `to begin the numbers again asks about every open order`(_ when: String) async throws {
            let agree: @Sendable (inout SessionSettings) -> Void = {
                $0.resetOnLogon = when == "logon"
                $0.resetOnDisconnect = when == "disconnect"
            }
            try await Circle(Self.agreeing(agree)).run { circle in
                let account = try await circle.account("acc_again_\(when)", cash: 100_000)
                try await circle.ready()
                let open = try await Self.resting(circle, account)
                let filled = try await circle.accepted(account, Circle.terms(.buy, 10, "NVDA", .limit, limit: "126.00"))
                try await circle.events(of: account, filled, until: .filled)
                circle.venue.disconnectAll()
                let events = try await circle.events(of: account) { $0.order.id == open.id && $0.type == .unknown }
                #expect(events.last?.order.reason == "sequence_reset")
                try await circle.until("the venue's word") { try await circle.order(open.id, of: account).status == .working }
                #expect(try await circle.order(filled, of: account).status == .filled)
                try await circle.ready()
                let next = try await circle.accepted(account, Circle.terms(.buy, 1))
                try await circle.events(of: account, next, until: .filled)
                #expect(circle.venue.receivedCount == 3)
                try await circle.verify()
            }
        }

        @Test func `upon hours begins the numbers again once in each period`() async throws {
            // A period that began a minute ago, and one that begins in an hour.
            let now = Circle.now()
            let ofDay = now % 86_400_000
            let hours = SessionSchedule(opens: (ofDay + 86_340_000) % 86_400_000, closes: (ofDay + 3_600_000) % 86_400_000)
            let closed = SessionSchedule(opens: (ofDay + 3_600_000) % 86_400_000, closes: (ofDay + 7_200_000) % 86_400_000)
            let database = try TestDatabase()
            try await Circle(Self.agreeing { $0.schedule = hours }, database: database).run { circle in
                let account = try await circle.account("acc_hours", cash: 100_000)
                try await circle.ready()
                let order = try await Self.resting(circle, account)
                let generation = try await circle.texts("SELECT generation::text FROM fix_sessions")
                let numbers = try await circle.texts("SELECT next_out::text FROM fix_sessions")
                circle.venue.disconnectAll()
                try await circle.until("another logon") { try await circle.texts("SELECT next_out::text FROM fix_sessions") != numbers }
                try await circle.ready()
                // Begun within this period: the numbers go on.
                #expect(try await circle.texts("SELECT generation::text FROM fix_sessions") == generation)
                #expect(try await circle.order(order.id, of: account).status == .working)
                // As if all of it had been yesterday.
                _ = try await circle.texts("UPDATE fix_sessions SET began_at = began_at - 86400000 RETURNING 'x'")
                circle.venue.disconnectAll()
                let events = try await circle.events(of: account) { $0.order.id == order.id && $0.type == .unknown }
                #expect(events.last?.order.reason == "sequence_reset")
                try await circle.until("the venue's word") { try await circle.order(order.id, of: account).status == .working }
                try await circle.verify()
            }
            try await Circle(Self.agreeing { $0.schedule = closed }).run { circle in
                try await circle.until("the pause") { circle.troubles.withLock { $0.contains { $0.contains("closed at this time") } } }
                #expect(try await circle.readers.read { try !$0.venueIsUp("ORDERS->EXCH") })
            }
        }
    }
}
