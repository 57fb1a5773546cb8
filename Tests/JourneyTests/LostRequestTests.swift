import ExchangeSimulator
import FIX
import JourneySupport
import Storage
import Synchronization
import Testing
import Trading

extension Faults {
    /// What was asked of the venue, or its answer, is lost with the session's numbers: nobody resends it.
    @Suite struct `A request lost in a reset of the numbers` {
        /// What the line loses of an order, by its ClOrdID.
        private final class Losses: Sendable {
            private let lost = Mutex<[String: Set<String>]>([:])
            private let swallowed = Mutex<Set<String>>([])

            /// Messages by MsgType, and an ExecutionReport's ExecType behind it.
            func lose(_ types: Set<String>, of order: String) { lost.withLock { $0[order] = types } }

            /// Loses nothing once the numbers begin again.
            func judge(_ message: FIXMessage) -> FIXLine.Verdict {
                if message.flag(.resetSeqNumFlag) == true { lost.withLock { $0 = [:] } }
                guard let name = message.string(.clOrdID) else { return .pass }
                let (order, type) = (String(name.prefix { $0 != "-" }), message.type.rawValue + (message.string(.execType) ?? ""))
                guard lost.withLock({ $0[order]?.contains(type) }) == true else { return .pass }
                swallowed.withLock { _ = $0.insert(order) }
                return .swallow
            }

            func haveTaken(_ orders: [String]) -> Bool { swallowed.withLock { $0.isSuperset(of: orders) } }
        }

        private struct Orders {
            let cancelled, notCancelled, unasked, replaced, notReplaced: String

            var all: [String] { [cancelled, notCancelled, unasked, replaced, notReplaced] }
        }

        private static func rest(_ symbol: String, _ town: Town, port: UInt16) async throws -> String {
            let terms = Circle.terms(.buy, 10, symbol, .limit, .goodTillCancel, limit: "120.00")
            let id = try #require(try await town.phones[0].place(terms, key: Circle.newKey(), port: port).member("order_id"))
            try await eventually("\(id) at the venue") { try await town.texts("SELECT status::text FROM orders WHERE order_id = '\(id)'") == ["3"] }
            return id
        }

        private static func cancel(_ id: String, _ town: Town, port: UInt16) async throws {
            #expect(try await town.phones[0].send("DELETE", "/v1/trading/orders/\(id)", port: port).status == 202)
        }

        private static func replace(_ id: String, _ town: Town, port: UInt16) async throws {
            let wanted = Replacement(quantity: 20, limitPrice: Amount("121.00"), stopPrice: nil)
            let answer = try await town.phones[0].replace(try #require(OrderID(id)), by: wanted, key: Circle.newKey(), port: port)
            #expect(answer.status == 202, "\(answer.text)")
        }

        /// First those whose answers are lost: behind a request that is lost the venue works on nothing.
        private static func ask(_ orders: Orders, _ losses: Losses, _ town: Town, port: UInt16) async throws {
            losses.lose(["9"], of: orders.notCancelled)
            losses.lose(["85"], of: orders.replaced)
            losses.lose(["9"], of: orders.notReplaced)
            try await cancel(orders.notCancelled, town, port: port)
            for id in [orders.replaced, orders.notReplaced] { try await replace(id, town, port: port) }
            try await eventually("the loss of answers") { losses.haveTaken([orders.notCancelled, orders.replaced, orders.notReplaced]) }
            losses.lose(["F"], of: orders.cancelled)
            losses.lose(["G"], of: orders.unasked)
            try await cancel(orders.cancelled, town, port: port)
            try await replace(orders.unasked, town, port: port)
            try await eventually("the loss of requests") { losses.haveTaken(orders.all) }
        }

        @Test func `is asked for again or known to have failed, and neither the order nor the kill switch waits for ever`() async throws {
            let town = try await Town(accounts: 1)
            let (line, losses) = (try FIXLine(to: town.venuePort), Losses())
            defer { line.end() }
            line.judge { _, message in losses.judge(message) }
            try await town.run { town in
                let settings = [
                    "ORDER_ROUTER_VENUE": "127.0.0.1:\(line.port)", "ORDER_ROUTER_MARKET_DATA": "127.0.0.1:\(town.venuePort)",
                    "ORDER_ROUTER_SILENCE": "60s", "ORDER_ROUTER_ASK_INTERVAL": "100ms",
                ]
                let router = try town.router(settings)
                let port = try #require(await router.ready(), "\(router.log)")
                let orders = Orders(
                    cancelled: try await Self.rest("NVDA", town, port: port),
                    notCancelled: try await Self.rest("NVDA.NOCXL", town, port: port),
                    unasked: try await Self.rest("NVDA", town, port: port),
                    replaced: try await Self.rest("NVDA", town, port: port),
                    notReplaced: try await Self.rest("NVDA.NOREPL", town, port: port)
                )
                try await Self.ask(orders, losses, town, port: port)
                #expect(try await town.operate("reset-session").status == 0)
                try await eventually("the venue's word on each") {
                    try await town.texts("SELECT order_id FROM orders WHERE in_doubt OR status = 2").isEmpty
                }
                try await Self.check(orders, town)
                // One that the venue had refused to cancel, and says so again, it now lets go.
                town.venue.setScenario(.late, for: "NVDA.NOCXL")
                let on = try await town.operate("kill-switch", "on", "--reason", "drill")
                #expect(on.status == 0, "\(on.text)")
                #expect(town.venue.orders.allSatisfy { !$0.isOpen })
                try await town.verify()
            }
        }

        private static func check(_ orders: Orders, _ town: Town) async throws {
            let rows = try await town.texts(
                "SELECT order_id || ' ' || status || ' ' || quantity || ' ' || cancels || ' ' || held / 10000 FROM orders"
            )
            #expect(
                Set(rows) == [
                    "\(orders.cancelled) 6 10 2 0", "\(orders.notCancelled) 3 10 2 1200", "\(orders.unasked) 3 10 0 1200",
                    "\(orders.replaced) 3 20 0 2420", "\(orders.notReplaced) 3 10 0 1200",
                ]
            )
            let told = try await town.texts("SELECT order_id || ' ' || reason FROM log WHERE type IN (6, 13)")
            #expect(
                Set(told) == [
                    "\(orders.notCancelled) cancel rejected by scenario", "\(orders.unasked) not_routed", "\(orders.notReplaced) replace_rejected",
                ]
            )
            for id in orders.all {
                let order = try #require(town.venue.order(id))
                #expect(order.isOpen == (id != orders.cancelled) && order.quantity == (id == orders.replaced ? 20 : 10))
            }
            #expect(
                town.venue.receipts.filter { $0.type == "F" && $0.clOrdID?.hasPrefix(orders.cancelled) == true }.map(\.clOrdID) == [
                    orders.cancelled + "-c2"
                ]
            )
            #expect(try await town.texts("SELECT kind FROM alarms") == [])
        }
    }
}
