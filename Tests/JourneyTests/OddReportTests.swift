import ExchangeSimulator
import FIX
import JourneySupport
import OrderDesk
import Storage
import Testing
import Trading

extension Faults {
    /// What a venue should never say, said by hand: it is booked or parked, alarmed, and what comes behind it settles.
    @Suite struct `A report` {
        /// An order that rests at the venue at 100.00.
        private static func resting(_ circle: Circle, _ account: AccountID, symbol: String = "NVDA") async throws -> OrderState {
            let id = try await circle.accepted(account, Circle.terms(.buy, 10, symbol, .limit, limit: "100.00"))
            if !symbol.hasSuffix("MUTE") { try await circle.events(of: account, id, until: .working) }
            return try await circle.order(id, of: account)
        }

        @Test func `with the ExecID of another fill is parked, and the fills behind it book`() async throws {
            try await Circle(.impatient).run { circle in
                let account = try await circle.account("acc_same", cash: 100_000)
                try await circle.ready()
                let order = try await Self.resting(circle, account)
                try circle.inject(circle.report(order, "T1", "F", [.lastQty: "3", .cumQty: "3"]))
                try await circle.events(of: account, order.id, until: .partiallyFilled)
                try circle.inject(circle.report(order, "T1", "F", [.lastQty: "4", .cumQty: "7"]))
                try await circle.events(of: account, order.id, until: .unknown)
                try await circle.alarmed("parked", order.id)
                try circle.inject(circle.report(order, "T2", "F", [.lastQty: "7", .cumQty: "10"]))
                try await circle.events(of: account, order.id, until: .filled)
                // What the venue says of it is alarmed once, not with every answer: it knows of no fill at all.
                try await circle.alarmed("cum_qty_differs", order.id)
                #expect(try await circle.texts("SELECT exec_id FROM executions ORDER BY inbox_id") == ["T1", "T2"])
                #expect(try await circle.texts("SELECT exec_id FROM parked_reports") == ["T1"])
                try await circle.verify()
            }
        }

        @Test func `about an order that nobody placed is parked and alarmed, and those behind it settle`() async throws {
            try await Circle().run { circle in
                // In the shard that takes what has no order, so that they stand in one line.
                let name = try #require((0...).lazy.map { "acc_\($0)" }.first { AccountID($0)?.shard == 0 })
                let account = try await circle.account(name, cash: 100_000)
                try await circle.ready()
                let order = try await Self.resting(circle, account)
                let foreign = try #require(OrderID("ord_20260101_aaaaaaaaaaaaaaaaaaaaaaaaaa"))
                try circle.inject(circle.report(order, "U1", "F", [.clOrdID: foreign.text]))
                try circle.inject(circle.report(order, "U2", "F", [.clOrdID: "whose?"]))
                try circle.inject(circle.report(order, "U3", "F", [.clOrdID: nil]))
                try circle.inject(circle.report(order, "U4", "F", [.lastQty: "10", .cumQty: "10"]))
                try await circle.events(of: account, order.id, until: .filled)
                #expect(try await circle.texts("SELECT exec_id FROM parked_reports ORDER BY inbox_id") == ["U1", "U2", "U3"])
                #expect(
                    try await circle.texts("SELECT kind FROM alarms WHERE order_id IS DISTINCT FROM '\(order.id)'") == ["parked", "parked", "parked"]
                )
                try await circle.verify()
            }
        }

        @Test(
            arguments: [
                ("a fifth decimal", [FIXTag.lastPx: "100.00005"]), ("a fraction of a share", [.lastQty: "2.5"]),
                ("another symbol", [.symbol: "AAPL"]),
                ("the other side", [.side: "2"]), ("no ExecID", [.execID: nil]), ("a price of zero", [.lastPx: "0"]),
                ("a quantity beyond all numbers", [.lastQty: "99999999999999999999"]), ("an unheard-of ExecType", [.execType: "Z"]),
            ] as [(String, [FIXTag: String?])]
        )
        func `that cannot be booked is parked and its order is UNKNOWN`(_ what: String, _ changes: [FIXTag: String?]) async throws {
            try await Circle().run { circle in
                let account = try await circle.account("acc_odd", cash: 100_000)
                try await circle.ready()
                let order = try await Self.resting(circle, account)
                try circle.inject(circle.report(order, "P1", "F", changes))
                let events = try await circle.events(of: account, order.id, until: .unknown)
                #expect(events.last?.order.held == Amount(whole: 1_000))
                try await circle.alarmed("parked", order.id)
                try circle.inject(circle.report(order, "P2", "F", [.lastQty: "10", .cumQty: "10"]))
                try await circle.events(of: account, order.id, until: .filled)
                #expect(try await circle.texts("SELECT order_id FROM parked_reports") == [order.id.text])
                try await circle.verify()
            }
        }

        @Test func `with bytes that no text holds does not stop the session`() async throws {
            try await Circle().run { circle in
                let account = try await circle.account("acc_bytes", cash: 100_000)
                try await circle.ready()
                let order = try await Self.resting(circle, account)
                try circle.inject(circle.report(order, "B0\u{0}", "0", [.text: "a\u{0}b"]))
                var invalid = circle.report(order, "B1", "4")
                invalid.append(.text, bytes: [0xFF, 0xC0, 0x41])
                try circle.inject(invalid)
                let events = try await circle.events(of: account, order.id, until: .cancelled)
                #expect(events.last?.order.reason?.hasSuffix("A") == true)
                try await circle.verify()
            }
        }

        @Test func `of a session or business reject ends what it refuses, found by RefSeqNum`() async throws {
            try await Circle().run { circle in
                let account = try await circle.account("acc_rejects", cash: 1_000_000)
                try await circle.ready()
                for type in ["3", "j"] {
                    func refuse(_ clOrdID: String, _ text: String) async throws {
                        var reject = FIXMessage(MessageType(rawValue: type))
                        reject.append(.refSeqNum, try await circle.number(of: clOrdID))
                        reject.append(type == "3" ? .sessionRejectReason : .businessRejectReason, 5)
                        reject.append(.text, text)
                        try circle.inject(reject)
                    }
                    // Orders that the venue says nothing about by itself.
                    let refused = try await Self.resting(circle, account, symbol: "NVDA.MUTE")
                    try await refuse(refused.id.text, "not here")
                    let end = try await circle.events(of: account, refused.id, until: .rejected)
                    #expect(end.last?.order.reason == "not here")
                    #expect(end.last?.order.held == .zero)

                    let kept = try await Self.resting(circle, account, symbol: "NVDA.MUTE")
                    try await circle.events(of: account, kept.id, until: .routed)
                    _ = await circle.cancel(kept.id, of: account)
                    try await refuse("\(kept.id)-c1", "no cancels now")
                    let rejected = try await circle.events(of: account) { $0.order.id == kept.id && $0.type == .cancelRejected }
                    #expect(rejected.last?.order.status == .routed)
                    #expect(rejected.last?.order.held == Amount(whole: 1_000))
                    #expect(try await circle.order(kept.id, of: account).cancelPending == false)
                }
                // One that refuses nothing of ours is kept for a person.
                var stray = FIXMessage("j")
                stray.append(.refSeqNum, 9_999_999)
                try circle.inject(stray)
                try await circle.alarmed("parked", nil)
                try await circle.verify()
            }
        }

        @Test func `that says duplicate order makes it UNKNOWN, never REJECTED, and the venue's word settles it`() async throws {
            try await Circle(.impatient).run { circle in
                let account = try await circle.account("acc_twin", cash: 100_000)
                try await circle.ready()
                circle.venue.adjust { $0.answersStatusWhenMute = false }
                let order = try await Self.resting(circle, account, symbol: "NVDA.MUTE")
                _ = try await circle.number(of: order.id.text)
                try circle.inject(circle.report(order, "D1", "8", [.ordStatus: "8", .ordRejReason: "6", .lastQty: nil, .lastPx: nil]))
                try await circle.events(of: account, order.id, until: .unknown)
                circle.venue.adjust { $0.answersStatusWhenMute = true }
                let events = try await circle.events(of: account, order.id, until: .working)
                #expect(!events.map(\.type).contains(.rejected))
                #expect(events.last?.order.held == Amount(whole: 1_000))
                try await circle.verify()
            }
        }
    }
}
