import ExchangeSimulator
import Foundation
import JourneySupport
import Testing
import Trading

extension Faults {
    /// A message that has its number and never left: the session's own resend brings it, marked as a possible duplicate, while it is still wanted.
    @Suite struct `A message that was numbered and not written` {
        /// Places an order at a router that dies before the socket sees it; gives the order's id.
        private static func strand(_ terms: OrderTerms, _ town: Town, _ settings: [String: String]) async throws -> String {
            let router = try town.router(settings.merging(["ORDER_ROUTER_CRASH_AT": "send-committed:1"]) { _, new in new })
            let port = try #require(await router.ready(), "\(router.log)")
            // Its answer may be lost with the router.
            _ = try? await town.phones[0].place(terms, key: Circle.newKey(), port: port)
            await router.ended()
            return try #require(try await town.texts("SELECT order_id FROM orders WHERE status = 2").first)
        }

        @Test func `goes out once, as a possible duplicate, after a crash`() async throws {
            let town = try await Town(accounts: 1)
            try await town.run { town in
                let order = try await Self.strand(Circle.terms(.buy, 5, "NVDA", .limit, limit: "126.00"), town, [:])
                #expect(town.venue.ordersSeen(order) == 0)
                let router = try town.router()
                _ = try #require(await router.ready(), "\(router.log)")
                try await town.filled(order)
                let received = town.venue.receipts.filter { $0.clOrdID == order && $0.type == "D" }
                #expect(received.map(\.isPossDup) == [true])
                #expect(received.map(\.isPossResend) == [false])
                try await town.quiet()
                try await town.verify()
            }
        }

        @Test func `is left out once its order is past its deadline, and the order ends by the venue's word alone`() async throws {
            let town = try await Town(accounts: 1)
            try await town.run { town in
                let settings = ["ORDER_ROUTER_IMMEDIATE_DEADLINE": "300ms", "ORDER_ROUTER_ASK_INTERVAL": "100ms"]
                let order = try await Self.strand(Circle.terms(.buy, 5, "NVDA", .limit, .immediateOrCancel, limit: "126.00"), town, settings)
                try await eventually("the deadline") {
                    try await town.texts(
                        "SELECT order_id FROM orders WHERE route_by < (extract(epoch FROM clock_timestamp()) * 1000)::bigint"
                    ) == [order]
                }
                let router = try town.router(settings)
                let port = try #require(await router.ready(), "\(router.log)")
                try await town.quiet()
                let told = try await town.texts("SELECT type::text FROM log WHERE order_id = '\(order)' ORDER BY event_number")
                #expect(told == [OrderEventType.accepted, .routed, .unknown, .cancelled].map { String($0.rawValue) })
                #expect(try await town.texts("SELECT reason FROM orders") == ["not_routed"])
                #expect(try await town.texts("SELECT held::text FROM balances WHERE asset = '$' AND account_id = 'acc_0'") == ["0"])
                #expect(town.venue.ordersSeen(order) == 0)
                // What was left out does not hold up what follows.
                let next = try await town.phones[0].place(Circle.terms(.buy, 5, "NVDA", .limit, limit: "126.00"), key: Circle.newKey(), port: port)
                try await town.filled(try #require(next.member("order_id"), "\(next.text)"))
                try await town.verify()
            }
        }
    }
}

extension Town {
    fileprivate func filled(_ order: String) async throws {
        try await eventually("the fill of \(order)") {
            try await self.texts("SELECT status::text FROM orders WHERE order_id = '\(order)'") == [String(OrderStatus.filled.rawValue)]
        }
    }
}
