import ExchangeSimulator
import FIX
import JourneySupport
import OrderDesk
import Storage
import Testing
import Trading

/// Journeys through faults. One after the other: each has a machine's worth of threads and processes of its own.
@Suite(.serialized) enum Faults {}

extension Faults {
    /// What a venue may do with an order, round the whole circle.
    @Suite struct `A venue` {
        @Test func `fills in parts, rejects, repeats and is late, and each fill books once`() async throws {
            var configuration = Circle.frozenVenue
            configuration.exchange.lateness = 200
            try await Circle(venue: configuration).run { circle in
                let account = try await circle.account("acc_scenarios", cash: 1_000_000)
                try await circle.ready()
                let part = try await circle.accepted(account, Circle.terms(.buy, 8, "NVDA.PART", .limit, limit: "126.00"))
                let rejected = try await circle.accepted(account, Circle.terms(.buy, 8, "NVDA.REJ", .limit, limit: "126.00"))
                let doubled = try await circle.accepted(account, Circle.terms(.buy, 8, "NVDA.DUP", .limit, limit: "126.00"))
                let late = try await circle.accepted(account, Circle.terms(.buy, 8, "NVDA.LATE"))
                let parts = try await circle.events(of: account, part, until: .filled)
                #expect(parts.map(\.type) == [.accepted, .routed, .working, .fill, .fill, .fill, .fill])
                #expect(parts.compactMap(\.lastQuantity) == [2, 2, 2, 2])
                let refusal = try await circle.events(of: account, rejected, until: .rejected)
                #expect(refusal.last?.order.held == .zero)
                #expect(refusal.last?.order.reason == "rejected by scenario")
                try await circle.events(of: account, doubled, until: .filled)
                try await circle.events(of: account, late, until: .filled)

                // Twice everything that was ever reported, as new messages with their old content.
                let told = try await circle.texts("SELECT sum(last_event)::text FROM accounts")
                let before = circle.venue.sentReports(to: "ORDERS").count
                for round in 1...2 {
                    try circle.venue.replayReports(to: "ORDERS")
                    try await circle.until("the replayed reports") {
                        try await circle.texts("SELECT count(*)::text FROM inbox")[0] == String(before << round)
                    }
                }
                try await circle.quiet()
                #expect(try await circle.texts("SELECT count(*)::text FROM executions") == ["6"])
                #expect(try await circle.texts("SELECT sum(last_event)::text FROM accounts") == told)
                #expect(try await circle.texts("SELECT kind FROM alarms").isEmpty)
                try await circle.verify()
            }
        }

        @Test func `fills more than was ordered, above the hold and after the cancel, and all is booked and alarmed`() async throws {
            try await Circle().run { circle in
                let (rich, poor) = (try await circle.account("acc_rich", cash: 1_000_000), try await circle.account("acc_poor", cash: 17_259))
                try await circle.ready()
                let over = try await circle.accepted(rich, Circle.terms(.buy, 10, "NVDA.OVER", .limit, limit: "126.00"))
                try await circle.events(of: rich, over, until: .filled)
                #expect(try await circle.order(over, of: rich).filledQuantity == 11)
                try await circle.alarmed("overfill", over)

                let late = try await circle.accepted(rich, Circle.terms(.buy, 10, "NVDA.LATEFILL", .limit, limit: "126.00"))
                try await circle.events(of: rich, late, until: .working)
                _ = await circle.cancel(late, of: rich)
                let events = try await circle.events(of: rich, late) { $0.filledQuantity == 5 }
                #expect(events.map(\.type) == [.accepted, .routed, .working, .cancelRequested, .cancelled, .fill])
                #expect(events.last?.order.status == .cancelled)
                #expect(try await circle.balance(rich, .shares(Symbol("NVDA.LATEFILL")!)).available == Amount(whole: 5))
                try await circle.alarmed("fill_after_end", late)

                // 125 × 125.52 × 1.1 is all that the account has; the fill at 150.624 takes 1569 more.
                let gap = try await circle.accepted(poor, Circle.terms(.buy, 125, "NVDA.GAP"))
                try await circle.events(of: poor, gap, until: .filled)
                let cash = try await circle.balance(poor)
                #expect((cash.available, cash.held, cash.owed) == (.zero, .zero, Amount(whole: 1_569)!))
                try await circle.alarmed("owes", gap)
                guard case .refusedForGood(let refused) = await circle.place(poor, Circle.terms(.sell, 1, "NVDA.GAP")) else {
                    Issue.record("an account that owes may not trade")
                    return
                }
                #expect(String(decoding: refused.answer ?? [], as: UTF8.self).contains("owes"))

                // The house had none of these shares: its account goes below zero with its first entry, and the books are whole.
                #expect(
                    try await circle.texts("SELECT settlement::text FROM balances WHERE account_id LIKE '~house%' AND asset = 'NVDA.OVER'") == [
                        "-110000"
                    ]
                )
                let after = try await circle.accepted(rich, Circle.terms(.buy, 1))
                try await circle.events(of: rich, after, until: .filled)
                try await circle.verify()
            }
        }

        @Test func `treats every type and every time in force as it is meant`() async throws {
            try await Circle().run { circle in
                let account = try await circle.account("acc_types", cash: 1_000_000, positions: [("NVDA", 1_000), ("AAPL", 1_000)])
                try await circle.ready("AAPL")
                let buy = try await circle.accepted(account, Circle.terms(.buy, 10))
                let sell = try await circle.accepted(account, Circle.terms(.sell, 10))
                for id in [buy, sell] { try await circle.events(of: account, id, until: .filled) }
                let unfilled = try await circle.accepted(account, Circle.terms(.buy, 10, "NVDA", .limit, .immediateOrCancel, limit: "120.00"))
                #expect(try await circle.events(of: account, unfilled, until: .cancelled).last?.order.reason == "not filled at once")
                let first = try await circle.accepted(account, Circle.terms(.buy, 8, "NVDA.PART", .limit, .immediateOrCancel, limit: "126.00"))
                #expect(try await circle.events(of: account, first, until: .cancelled).last?.order.filledQuantity == 2)
                let all = try await circle.accepted(account, Circle.terms(.buy, 8, "NVDA.PART", .market, .fillOrKill))
                #expect(try await circle.events(of: account, all, until: .filled).count == 7)

                let stop = try await circle.accepted(account, Circle.terms(.sell, 5, "AAPL", .stop, stop: "220.00"))
                let stopLimit = try await circle.accepted(account, Circle.terms(.buy, 5, "AAPL", .stopLimit, limit: "240.00", stop: "235.00"))
                let day = try await circle.accepted(account, Circle.terms(.buy, 5, "AAPL", .limit, .day, limit: "200.00"))
                let good = try await circle.accepted(account, Circle.terms(.sell, 5, "AAPL", .limit, .goodTillCancel, limit: "300.00"))
                for id in [stop, stopLimit, day, good] { try await circle.events(of: account, id, until: .working) }
                try circle.venue.setQuote("AAPL", bid: Amount("219.00")!, ask: Amount("219.10")!)
                try await circle.events(of: account, stop, until: .filled)
                try circle.venue.setQuote("AAPL", bid: Amount("235.90")!, ask: Amount("236.00")!)
                try await circle.events(of: account, stopLimit, until: .filled)
                try circle.venue.endDay()
                let expired = try await circle.events(of: account, day, until: .expired)
                #expect(expired.last?.order.held == .zero)
                #expect(try await circle.order(good, of: account).status == .working)
                #expect(try await circle.balance(account, .shares(Symbol("AAPL")!)).held == Amount(whole: 5))
                try await circle.verify()
            }
        }

        @Test func `refuses a cancel, takes its time over one, and races one with a fill`() async throws {
            var configuration = Circle.frozenVenue
            configuration.exchange.lateness = 200
            try await Circle(venue: configuration).run { circle in
                let account = try await circle.account("acc_cancels", cash: 1_000_000)
                try await circle.ready()
                let stubborn = try await circle.accepted(account, Circle.terms(.buy, 1, "NVDA.NOCXL", .limit, limit: "120.00"))
                try await circle.events(of: account, stubborn, until: .working)
                guard case .cancelRequested(let first) = await circle.cancel(stubborn, of: account) else {
                    Issue.record("the cancel is taken")
                    return
                }
                #expect(first.cancelID == "\(stubborn)-c1")
                let refused = try await circle.events(of: account) { $0.type == .cancelRejected }
                #expect(refused.last?.order.status == .working)
                #expect(refused.last?.order.reason == "cancel rejected by scenario")
                let slow = try await circle.accepted(account, Circle.terms(.buy, 1, "NVDA.LATE", .limit, limit: "120.00"))
                _ = await circle.cancel(slow, of: account)
                try await circle.events(of: account, slow, until: .cancelled)

                for _ in 0..<8 {
                    try circle.venue.setQuote("NVDA", bid: Amount("125.50")!, ask: Amount("125.52")!)
                    let id = try await circle.accepted(account, Circle.terms(.buy, 4, "NVDA", .limit, limit: "125.40"))
                    try await circle.events(of: account, id, until: .working)
                    async let cancel = circle.cancel(id, of: account)
                    try circle.venue.setQuote("NVDA", bid: Amount("125.30")!, ask: Amount("125.35")!)
                    _ = await cancel
                    try await circle.events(of: account, id) { !$0.status.isOpen }
                    let order = try await circle.order(id, of: account)
                    #expect((order.status == .filled) == (order.filledQuantity == 4) && order.held == .zero && !order.cancelPending)
                    #expect(circle.venue.order(id.text)?.cumQty == order.filledQuantity)
                }
                try await circle.quiet()
                try await circle.verify()
            }
        }

        @Test func `gets an account's orders in the order they were accepted, and its fills settle in the order they were reported`() async throws {
            try await Circle().run { circle in
                let accounts = try await [circle.account("acc_1", cash: 1_000_000), circle.account("acc_2", cash: 1_000_000)]
                try await circle.ready()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for account in accounts {
                        for _ in 0..<100 { group.addTask { _ = try await circle.accepted(account, Circle.terms(.buy, 1)) } }
                    }
                    try await group.waitForAll()
                }
                try await circle.quiet()
                try await circle.until("all fills") { try await circle.texts("SELECT order_id FROM executions").count == 200 }
                let received = circle.venue.receipts.filter { $0.type == "D" }.compactMap(\.clOrdID)
                let filled = circle.venue.sentReports(to: "ORDERS").filter { $0.string(.execType) == "F" }.compactMap { $0.string(.clOrdID) }
                for account in accounts {
                    func log(_ type: OrderEventType) async throws -> [String] {
                        try await circle.texts(
                            "SELECT order_id FROM log WHERE account_id = '\(account)' AND type = \(type.rawValue) ORDER BY event_number"
                        )
                    }
                    let accepted = try await log(.accepted)
                    #expect(accepted.count == 100)
                    #expect(received.filter(Set(accepted).contains) == accepted)
                    #expect(try await log(.fill) == filled.filter(Set(accepted).contains))
                }
                try await circle.verify()
            }
        }
    }
}
