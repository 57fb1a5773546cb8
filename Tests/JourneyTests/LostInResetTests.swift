import ExchangeSimulator
import FIX
import Foundation
import JourneySupport
import OrderDesk
import Storage
import Testing
import Trading
import Venue

extension Faults {
    /// The numbers begin again while an order is on its way: what the venue does not know then is sent again, marked, and never becomes two.
    @Suite struct `An order lost in a reset of the numbers` {
        /// Asked about soon, and never UNKNOWN by silence alone: only the reset brings it into doubt.
        private static let times: Circle.Times = {
            var times = Circle.Times()
            (times.silence, times.ask, times.sweep) = (60_000, 100, .milliseconds(50))
            return times
        }()

        private static func reset(_ circle: Circle) async throws {
            _ = try await circle.readers.read { try $0.resetSession("ORDERS->EXCH", by: "test", at: Circle.now()) }
        }

        private static func resting(_ symbol: String, _ force: TimeInForce = .day) -> OrderTerms {
            Circle.terms(.buy, 10, symbol, .limit, force, limit: "120.00")
        }

        @Test func `is sent again under its ClOrdID with a new number and PossResend, and fills once`() async throws {
            try await Circle(Self.times).run { circle in
                let account = try await circle.account("acc_lost", cash: 100_000)
                try await circle.ready()
                let id = try await circle.accepted(account, Circle.terms(.buy, 10, "NVDA.LOST"))
                _ = try await circle.number(of: id.text)
                try await Self.reset(circle)
                let events = try await circle.events(of: account, id, until: .filled)
                #expect(events.map(\.type) == [.accepted, .routed, .unknown, .accepted, .routed, .working, .fill])
                #expect(events.map(\.order.reason) == [nil, nil, "sequence_reset", "lost_in_reset", nil, nil, nil])
                let received = circle.venue.receipts.filter { $0.clOrdID == id.text && $0.type == "D" }
                #expect(received.map(\.isPossResend) == [false, true] && received.map(\.isPossDup) == [false, false])
                #expect(try await circle.balance(account).held == .zero)
                try await circle.quiet()
                try await circle.verify()
            }
        }

        @Test func `is not sent again within the same numbers`() async throws {
            try await Circle(.impatient).run { circle in
                let account = try await circle.account("acc_same", cash: 100_000)
                try await circle.ready()
                let id = try await circle.accepted(account, Self.resting("NVDA.LOST"))
                let events = try await circle.events(of: account, id, until: .cancelled)
                #expect(events.map(\.type) == [.accepted, .routed, .unknown, .cancelled] && events.last?.order.reason == "not_routed")
                #expect(circle.venue.ordersSeen(id.text) == 1)
                try await circle.verify()
            }
        }

        @Test func `that the venue has all the same is known there as a duplicate, and stays one`() async throws {
            try await Circle(Self.times).run { circle in
                let account = try await circle.account("acc_has", cash: 100_000)
                try await circle.ready()
                // It rests there, and the venue says nothing of it, not even when asked.
                circle.venue.adjust { $0.answersStatusWhenMute = false }
                let id = try await circle.accepted(account, Self.resting("NVDA.MUTE"))
                _ = try await circle.number(of: id.text)
                try await Self.reset(circle)
                try await circle.events(of: account, id, until: .unknown)
                let question = try await Self.question(about: id, at: circle)
                let order = try await circle.order(id, of: account)
                // A word that is not so. What comes again the venue answers with where the order stands.
                let unheard: [FIXTag: String?] = [.ordStatus: "8", .ordRejReason: "5", .lastQty: nil, .lastPx: nil, .ordStatusReqID: question]
                try circle.inject(circle.report(order, "L1", "I", unheard))
                try await circle.events(of: account, id, until: .working)
                #expect(circle.venue.receipts.filter { $0.clOrdID == id.text && $0.type == "D" }.map(\.isPossResend) == [false, true])
                try await circle.quiet()
                #expect(try await circle.order(id, of: account).status == .working)
                #expect(circle.venue.doubles.isEmpty)
                try await circle.verify()
            }
        }

        /// The name of a question of after the reset.
        private static func question(about id: OrderID, at circle: Circle) async throws -> String {
            let sql = """
                SELECT substring(convert_from(body, 'UTF8') FROM '790=([0-9.]+)') FROM fix_sent
                WHERE msg_type = 'H' AND order_id = '\(id)' AND generation > 1 LIMIT 1
                """
            try await circle.until("a question") { try await !circle.texts(sql).isEmpty }
            return try await circle.texts(sql)[0]
        }

        @Test(arguments: [Halt.Scope.killSwitch, .symbol]) func `is not sent again under a halt`(_ scope: Halt.Scope) async throws {
            try await Circle(Self.times).run { circle in
                let account = try await circle.account("acc_halt", cash: 100_000)
                try await circle.ready()
                let id = try await circle.accepted(account, Self.resting("NVDA.LOST"))
                _ = try await circle.number(of: id.text)
                let halt = Halt(scope: scope, subject: scope == .symbol ? "NVDA.LOST" : "", reason: "test")
                _ = try await circle.readers.read { try $0.halt(halt, by: "test", at: Circle.now()) }
                try await Self.reset(circle)
                let events = try await circle.events(of: account, id, until: .cancelled)
                #expect(events.map(\.type) == [.accepted, .routed, .unknown, .accepted, .cancelled])
                #expect(events.last?.order.reason == halt.endsAs)
                #expect(circle.venue.ordersSeen(id.text) == 1)
                try await circle.verify()
            }
        }

        @Test func `is not sent again past its deadline, nor when its cancel was asked for`() async throws {
            var times = Self.times
            times.immediate = 300
            try await Circle(times).run { circle in
                let account = try await circle.account("acc_late", cash: 100_000)
                try await circle.ready()
                let late = try await circle.accepted(account, Self.resting("NVDA.LOST", .immediateOrCancel))
                _ = try await circle.number(of: late.text)
                let deadline = try await circle.order(late, of: account).routeBy
                try await circle.until("its deadline") { Circle.now() > deadline }
                let unwanted = try await circle.accepted(account, Self.resting("NVDA.LOST"))
                _ = try await circle.number(of: unwanted.text)
                _ = await circle.cancel(unwanted, of: account)
                try await Self.reset(circle)
                for id in [late, unwanted] {
                    try await circle.events(of: account, id, until: .cancelled)
                    #expect(circle.venue.ordersSeen(id.text) == 1)
                }
                #expect(try await circle.balance(account).held == .zero)
                try await circle.verify()
            }
        }

        /// Each connection begins the numbers anew, and the router is killed at a step while it is about to send again.
        @Test func `becomes one order at the venue whatever step the router dies at`() async throws {
            let steps = [
                "\(VenueStep.sendNumbered.rawValue):2", "\(VenueStep.sendNumbered.rawValue):3", "\(VenueStep.sendCommitted.rawValue):3",
                "\(VenueStep.sendWriting.rawValue):4",
                "\(VenueStep.sendWriting.rawValue):5", "\(VenueStep.receiveRead.rawValue):2", "\(VenueStep.receiveCommitted.rawValue):2",
                "\(DeskStep.settleDecided.rawValue):1",
                "\(DeskStep.settleDecided.rawValue):2", "\(DeskStep.settleCommitted.rawValue):1",
            ]
            let town = try await Town(accounts: 1)
            try await town.run { town in
                var outcomes: [Outcome] = []
                for step in steps { outcomes.append(try await Self.die(at: step, town)) }
                #expect(outcomes.count { $0.isSentAgain } > 4 && outcomes.count { $0.isKilled } > 4, "\(outcomes)")
                #expect(try await town.texts("SELECT order_id FROM executions GROUP BY order_id HAVING count(*) > 1").isEmpty)
                try await town.verify()
            }
        }

        private struct Outcome {
            let isKilled: Bool
            let isSentAgain: Bool
        }

        /// One order that the venue swallows, a reset, a router that dies, and another one.
        private static func die(at step: String, _ town: Town) async throws -> Outcome {
            let settings = ["ORDER_ROUTER_VENUE_RESETS": "logon", "ORDER_ROUTER_ASK_INTERVAL": "100ms", "ORDER_ROUTER_SILENCE": "60s"]
            let first = try town.router(settings.merging(["ORDER_ROUTER_CRASH_AT": step]) { $1 })
            let (key, known) = (Circle.newKey(), Set(town.venue.receipts.compactMap(\.clOrdID)))
            let terms = Circle.terms(.buy, 1, "NVDA.LOST")
            if let port = await first.ready() {
                // The same key until the answer is definite, as a client does.
                try await eventually("an answer") {
                    if first.hasEnded { return true }
                    return await (try? town.phones[0].place(terms, key: key, port: port))?.status == 201
                }
                try await eventually("the order at the venue") {
                    first.hasEnded || town.venue.receipts.contains { $0.type == "D" && $0.clOrdID.map { !known.contains($0) } ?? false }
                }
                town.venue.disconnectAll()
                // Dead, or past the step without having met it so often.
                try await eventually("the end of the router or of the order") {
                    if first.hasEnded { return true }
                    return try await town.texts("SELECT order_id FROM orders WHERE status IN (1, 2, 3, 4, 9)").isEmpty
                }
            }
            let isKilled = first.hasEnded
            first.signal(SIGKILL)
            await first.ended()
            let second = try town.router(settings)
            let port = try #require(await second.ready(), "\(second.log)")
            try await eventually("an answer of the second") { try await town.phones[0].place(terms, key: key, port: port).status == 201 }
            // Where the first had not sent it, the second has: its own reset is yet to come.
            let id = try await town.texts("SELECT order_id FROM orders ORDER BY created_at DESC LIMIT 1")[0]
            try await eventually("the order at the venue") { town.venue.receipts.contains { $0.clOrdID == id && $0.type == "D" } }
            if try await !town.texts("SELECT order_id FROM orders WHERE status = 2 AND order_id = '\(id)'").isEmpty { town.venue.disconnectAll() }
            try await town.quiet()
            second.signal(SIGKILL)
            await second.ended()
            let sent = town.venue.receipts.filter { $0.clOrdID == id && $0.type == "D" }
            #expect(sent.filter { !$0.isPossResend && !$0.isPossDup }.count <= 1, "\(step)")
            return Outcome(isKilled: isKilled, isSentAgain: sent.contains(where: \.isPossResend))
        }
    }
}
