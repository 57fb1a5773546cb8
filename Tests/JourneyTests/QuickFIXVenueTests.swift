import FIX
import JourneySupport
import Storage
import Synchronization
import TestSupport
import Testing
import Trading
import Venue

extension Faults {
    /// The router against an engine that shares nothing with it: its resend requests, its numbers, its idea of a session.
    @Suite struct `A venue on QuickFIX` {
        private struct Deal: Sendable {
            let town: Town
            let venue: QuickFIXVenue
            let line: FIXLine

            func router(_ more: [String: String] = [:]) async throws -> (process: RouterProcess, port: UInt16?) {
                let settings = [
                    "ORDER_ROUTER_VENUE": "127.0.0.1:\(line.port)", "ORDER_ROUTER_MARKET_DATA": "127.0.0.1:\(town.venuePort)",
                    "ORDER_ROUTER_TARGET_COMP_ID": QuickFIXVenue.compID, "ORDER_ROUTER_MARKET_DATA_TARGET_COMP_ID": "EXCH",
                    "ORDER_ROUTER_ASK_INTERVAL": "100ms", "ORDER_ROUTER_SILENCE": "60s",
                ]
                let process = try town.router(settings.merging(more) { $1 })
                return (process, await process.ready())
            }

            /// With one key until it is accepted.
            func place(limit: String, port: UInt16) async throws -> OrderID {
                let (key, terms) = (Circle.newKey(), Circle.terms(.buy, 10, "NVDA", .limit, limit: limit))
                let answer = try await definite("an order") { try await town.phones[0].place(terms, key: key, port: port) }
                return try #require(answer.member("order_id").flatMap { OrderID($0) })
            }

            func replace(_ id: OrderID, port: UInt16) async throws {
                let (key, wanted) = (Circle.newKey(), Replacement(quantity: 20, limitPrice: Amount("121.00"), stopPrice: nil))
                _ = try await definite("a replace") { try await town.phones[0].replace(id, by: wanted, key: key, port: port) }
            }

            func cancel(_ id: OrderID, port: UInt16) async throws {
                _ = try await definite("a cancel") { try await town.phones[0].send("DELETE", "/v1/trading/orders/\(id)", port: port) }
            }

            private func definite(_ what: String, _ ask: @Sendable () async throws -> Phone.Answer) async throws -> Phone.Answer {
                let last = Mutex<Phone.Answer?>(nil)
                try await eventually(what) {
                    let answer = try await ask()
                    last.withLock { $0 = answer }
                    return (200..<300).contains(answer.status)
                }
                return try #require(last.withLock { $0 })
            }

            func reached(_ id: OrderID, _ status: OrderStatus, quantity: Int64 = 10) async throws {
                try await eventually("\(id) \(status.text) \(quantity)") {
                    try await town.texts("SELECT status || ' ' || quantity FROM orders WHERE order_id = '\(id)' AND NOT in_doubt") == [
                        "\(status.rawValue) \(quantity)"
                    ]
                }
            }

            /// Every order is here as it is there, and came there once.
            func verify() async throws {
                try await town.quiet()
                let (there, here) = (
                    try await venue.orders(),
                    try await town.texts("SELECT order_id || ' ' || status || ' ' || quantity || ' ' || filled_quantity FROM orders")
                )
                #expect(there.count == here.count)
                for row in here {
                    let words = row.split(separator: " ").map(String.init)
                    let status = Int16(words[1]).flatMap { OrderStatus(rawValue: $0) }
                    let letter: Character = status == .working ? "0" : status == .filled ? "2" : status == .cancelled ? "4" : "?"
                    let ours = QuickFIXVenue.Order(status: letter, quantity: Int64(words[2]) ?? 0, filled: Int64(words[3]) ?? 0)
                    #expect(there[words[0]] == ours, "\(row)")
                }
                #expect(venue.received.filter { $0.hasPrefix("DOUBLE") } == [])
                #expect(try await town.texts("SELECT kind || ' ' || detail FROM alarms") == [])
                try await town.verify()
            }
        }

        private static func with(_ body: (Deal) async throws -> Void) async throws {
            let town = try await Town(accounts: 1)
            let venue = try await QuickFIXVenue()
            defer { venue.remove() }
            try await venue.start()
            let line = try FIXLine(to: venue.port)
            defer { line.end() }
            try await town.run { try await body(Deal(town: $0, venue: venue, line: line)) }
        }

        /// What goes over the line when an order is placed, filled, replaced and cancelled.
        private static let conversation: [(FIXLine.Direction, MessageType, execType: String?)] = [
            (.toVenue, .newOrderSingle, nil), (.toRouter, .executionReport, "0"), (.toRouter, .executionReport, "F"),
            (.toVenue, .orderCancelReplaceRequest, nil), (.toRouter, .executionReport, "5"), (.toVenue, .orderCancelRequest, nil),
            (.toRouter, .executionReport, "4"),
        ]

        @Test(.enabled(if: QuickFIXProgram.isWanted, "QuickFIX is missing: scripts/install-packages tests"))
        func `fills, replaces and cancels each order once, whichever message the line breaks at, before or behind it`() async throws {
            try await Self.with { deal in
                let (_, ready) = try await deal.router()
                let port = try #require(ready)
                for verdict in [FIXLine.Verdict.cut, .cutBehind] {
                    let left = Mutex(Self.conversation)
                    deal.line.judge { direction, message in
                        left.withLock { left in
                            let place = left.firstIndex {
                                $0.0 == direction && $0.1 == message.type && ($0.execType == nil || $0.execType == message.string(.execType))
                            }
                            guard let place else { return .pass }
                            left.remove(at: place)
                            return verdict
                        }
                    }
                    let filled = try await deal.place(limit: "126.00", port: port)
                    try await deal.reached(filled, .filled)
                    let resting = try await deal.place(limit: "120.00", port: port)
                    try await deal.reached(resting, .working)
                    try await deal.replace(resting, port: port)
                    try await deal.reached(resting, .working, quantity: 20)
                    try await deal.cancel(resting, port: port)
                    try await deal.reached(resting, .cancelled, quantity: 20)
                    #expect(left.withLock { $0.isEmpty })
                }
                try await deal.verify()
            }
        }

        @Test(.enabled(if: QuickFIXProgram.isWanted, "QuickFIX is missing: scripts/install-packages tests"))
        func `asks a router that was killed for what it had numbered, and is not believed when it has lost its numbers`() async throws {
            try await Self.with { deal in
                var keys: [IdempotencyKey] = []
                let terms = Circle.terms(.buy, 10, "NVDA", .limit, limit: "126.00")
                for step in ["\(VenueStep.sendNumbered.rawValue):1", "\(VenueStep.sendCommitted.rawValue):1", "\(VenueStep.receiveRead.rawValue):2"] {
                    let (router, ready) = try await deal.router(["ORDER_ROUTER_CRASH_AT": step])
                    let key = Circle.newKey()
                    keys.append(key)
                    // It may die before it serves, over what the one before it has left.
                    try await eventually("the end of the router at \(step)") {
                        if !router.hasEnded, let ready { _ = try? await deal.town.phones[0].place(terms, key: key, port: ready) }
                        return router.hasEnded
                    }
                }
                let (router, ready) = try await deal.router()
                let port = try #require(ready, "\(router.log)")
                for key in keys {
                    try await eventually("the order of \(key)") { try await deal.town.phones[0].place(terms, key: key, port: port).status == 201 }
                }
                #expect(try await deal.town.texts("SELECT count(*)::text FROM orders") == ["3"])
                try await deal.verify()
                #expect(deal.venue.received.contains { $0.hasPrefix("D ") && $0.hasSuffix(" PossDup") })

                let resting = try await deal.place(limit: "120.00", port: port)
                try await deal.reached(resting, .working)
                deal.venue.kill()
                try deal.venue.loseNumbers()
                try await deal.venue.start()
                let known = deal.venue.received.count
                try await eventually("the end of attempts") { router.log.contains { $0.contains("order-router reset-session") } }
                #expect(deal.venue.received.count == known)
                let reset = try await deal.town.operate("reset-session", "--target-comp-id", QuickFIXVenue.compID)
                #expect(reset.status == 0, "\(reset.text)")
                try await deal.reached(resting, .working)
                try await eventually("a question") { deal.venue.received.contains("H \(resting)") }
                try await deal.verify()
            }
        }
    }
}
