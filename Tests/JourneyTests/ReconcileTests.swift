import ExchangeSimulator
import FIX
import Foundation
import JourneySupport
import OrderDesk
import Storage
import Testing
import Trading

extension Faults {
    /// The venue's own list of orders is compared with ours; nothing is booked from it, and what it leaves open stays open.
    @Suite struct `A comparison with the venue` {
        /// Asks as an operator does, and waits for the end.
        private static func compare(_ circle: Circle) async throws -> (Reconciliation, [Difference]) {
            let id = try await circle.readers.read { try $0.requestReconciliation(of: "ORDERS->EXCH", by: "ann", at: Circle.now()) }
            try await circle.until("the end of reconciliation \(id)") { try await circle.readers.read { try $0.reconciliation(id)?.outcome } != nil }
            return try await circle.readers.read { (try #require(try $0.reconciliation(id)), try $0.differences(of: id)) }
        }

        @Test func `is made after a router's start, and agrees with what rests and what has ended`() async throws {
            try await Circle(.impatient).run { circle in
                let account = try await circle.account("acc_agrees", cash: 100_000)
                try await circle.ready()
                let ofStart = "SELECT requested_by || ' ' || outcome || ' ' || reports FROM reconciliations WHERE ended_at IS NOT NULL"
                // A venue without orders says so with one report of none.
                try await circle.until("the first comparison") { try await circle.texts(ofStart) == ["router agrees 1"] }
                let resting = try await circle.accepted(account, Circle.terms(.buy, 10, "NVDA", .limit, limit: "120.00"))
                let filled = try await circle.accepted(account, Circle.terms(.buy, 10, "NVDA", .limit, limit: "126.00"))
                try await circle.events(of: account, resting, until: .working)
                try await circle.events(of: account, filled, until: .filled)
                let (ended, differences) = try await Self.compare(circle)
                #expect(ended.outcome == .agrees && ended.reports == 2 && differences.isEmpty, "\(ended) \(differences)")
                #expect(try await circle.order(resting, of: account).status == .working)
                #expect(try await circle.texts("SELECT kind FROM alarms") == [])
                #expect(try await circle.texts("SELECT why FROM parked_reports") == [])
                try await circle.verify()
            }
        }

        @Test func `that finds a fill which is missing here holds the order in doubt until the venue reports it, and books that`() async throws {
            var times = Circle.Times()
            times.ask = 200
            try await Circle(times).run { circle in
                let account = try await circle.account("acc_missing", cash: 100_000)
                try await circle.ready()
                // Filled at once, and reported seconds later.
                let order = try await circle.accepted(account, Circle.terms(.buy, 10, "NVDA.LATE", .limit, limit: "126.00"))
                _ = try await circle.number(of: order.text)
                let (ended, differences) = try await Self.compare(circle)
                #expect(ended.outcome == .differs && differences.map(\.what) == ["cum_qty"] && differences.map(\.orderID) == [order.text])
                let doubted = try await circle.order(order, of: account)
                #expect((doubted.status, doubted.filledQuantity, doubted.held) == (.unknown, 0, Amount(whole: 1_260)!))
                try await circle.alarmed("cum_qty_differs", order)
                try await circle.alarmed("reconciliation", nil)
                try await circle.events(of: account, order, until: .filled)
                let executions = "SELECT count(*)::text FROM executions WHERE order_id = '\(order)'"
                #expect(try await circle.texts(executions) == ["1"])
                let (again, none) = try await Self.compare(circle)
                #expect(again.outcome == .agrees, "\(none)")
                try await circle.verify()
            }
        }

        @Test func `that does not find an open order has it asked about by itself, and only that answer counts`() async throws {
            try await Circle(.impatient).run { circle in
                let account = try await circle.account("acc_left_out", cash: 100_000)
                try await circle.ready()
                circle.venue.adjust { $0.answersStatusWhenMute = false }
                let order = try await circle.accepted(account, Circle.terms(.buy, 10, "NVDA.MUTE", .limit, limit: "120.00"))
                _ = try await circle.number(of: order.text)
                try circle.inject(circle.report(try await circle.order(order, of: account), "A1", "0", [.lastQty: nil, .lastPx: nil]))
                try await circle.events(of: account, order, until: .working)
                let (ended, differences) = try await Self.compare(circle)
                #expect(ended.outcome == .differs && differences.map(\.what) == ["not_at_venue"], "\(differences)")
                let doubted = try await circle.order(order, of: account)
                #expect((doubted.status, doubted.reason, doubted.held) == (.unknown, "not_in_mass_status", Amount(whole: 1_200)!))
                circle.venue.adjust { $0.answersStatusWhenMute = true }
                try await circle.until("the venue's word") { try await circle.order(order, of: account).status == .working }
                try await circle.verify()
            }
        }

        @Test func `ends unbooked where the fill is known here alone`() async throws {
            try await Circle(.impatient).run { circle in
                let account = try await circle.account("acc_more", cash: 100_000)
                try await circle.ready()
                let order = try await circle.accepted(account, Circle.terms(.buy, 10, "NVDA", .limit, limit: "120.00"))
                try await circle.events(of: account, order, until: .working)
                try circle.inject(circle.report(try await circle.order(order, of: account), "H1", "F", [.lastQty: "4", .cumQty: "4"]))
                try await circle.events(of: account, order, until: .partiallyFilled)
                let (ended, differences) = try await Self.compare(circle)
                #expect(ended.outcome == .differs && differences.map(\.what) == ["cum_qty"], "\(differences)")
                let doubted = try await circle.order(order, of: account)
                #expect((doubted.status, doubted.filledQuantity, doubted.held) == (.unknown, 4, Amount(whole: 720)!))
                try await circle.verify()
            }
        }
    }
}
