import ExchangeSimulator
import FIX
import Foundation
import JourneySupport
import Storage
import Testing
import Trading

extension Faults {
    /// What operators do to orders from the command line, beside live routers.
    @Suite struct `An operator` {
        private static func place(_ town: Town, _ symbol: String, limit: String, port: UInt16, until status: OrderStatus) async throws -> String {
            let terms = Circle.terms(.buy, 10, symbol, .limit, limit: limit)
            let answer = try await town.phones[0].place(terms, key: Circle.newKey(), port: port)
            let id = try #require(answer.member("order_id"), "\(answer.text)")
            try await reached(town, id, status)
            return id
        }

        private static func reached(_ town: Town, _ id: String, _ status: OrderStatus) async throws {
            try await eventually("\(id) \(status.text)") {
                try await town.texts("SELECT status::text FROM orders WHERE order_id = '\(id)'") == [String(status.rawValue)]
            }
        }

        @Test func `turns the kill switch on under load through two routers, and nothing is accepted, numbered or open any more`() async throws {
            let town = try await Town(accounts: 3)
            try await town.run { town in
                let load = Load()
                let (one, other) = (try town.router(), try town.secondRouter())
                let ports = [try #require(await one.ready(), "\(one.log)"), try #require(await other.ready(), "\(other.log)")]
                load.serve(at: ports)
                let counts = "SELECT (SELECT count(*) FROM orders) || ' ' || (SELECT count(*) FROM fix_sent WHERE msg_type = 'D')"
                try await load.during(town, threads: 3, seed: 11) {
                    for round in 0..<3 {
                        try await load.progress(40)
                        let on = try await town.operate("kill-switch", "on", "--reason", "drill \(round)", "--by", "ann")
                        let atAnswer = try await town.texts(counts)
                        #expect(on.status == 0 && on.text.contains("No order is open."), "\(on.text)")
                        #expect(try await town.texts("SELECT order_id FROM orders WHERE status IN (1, 2, 3, 4, 9)") == [])
                        #expect(town.venue.orders.filter(\.isOpen).isEmpty)
                        for phone in town.phones {
                            for port in ports {
                                let answer = try await phone.place(Circle.terms(.buy, 1), key: Circle.newKey(), port: port)
                                #expect(answer.status == 503 && answer.member("code") == "trading_halted", "\(answer.text)")
                                #expect(answer.text.contains(#""scope":"kill_switch""#) && answer.text.contains("drill \(round)"))
                            }
                        }
                        #expect(try await town.texts(counts) == atAnswer)
                        #expect(town.venue.orders.filter(\.isOpen).isEmpty)
                        if round == 0 { try await Self.checkVisible(town, ports) }
                        let off = try await town.operate("kill-switch", "off", "--by", "ann")
                        #expect(off.status == 0, "\(off.text)")
                    }
                    #expect(try await town.operate("kill-switch", "off").status == 1)
                    try await load.progress(20)
                }
                try await load.verify(town)
                #expect(try await town.texts("SELECT detail FROM operator_audit WHERE action = 'halted' AND by_whom = 'ann'").count == 4)
            }
        }

        private static func checkVisible(_ town: Town, _ ports: [UInt16]) async throws {
            for port in ports {
                // Cancels go through the same balancer: the router stays ready.
                let ready = try await Phone.exchange("GET", "/readyz", port: port)
                #expect(ready.status == 200 && ready.member("kill_switch") == "true", "\(ready.text)")
                let metrics = try await Phone.exchange("GET", "/metrics", port: port)
                #expect(metrics.text.contains(#"order_router_halts{scope="kill_switch"} 1"#))
            }
            let status = try await town.operate("kill-switch", "status")
            #expect(status.text.contains("is on since") && status.text.contains("by ann: \"drill 0\"") && status.text.contains("No order is open."))
            let again = try await town.operate("kill-switch", "on", "--reason", "drill 0", "--by", "ann")
            #expect(again.status == 0 && again.text.contains("No order is open."), "\(again.text)")
        }

        @Test func `turns the kill switch on, and all is cancelled though the router that cancels dies over the first`() async throws {
            let town = try await Town(accounts: 1)
            let line = try FIXLine(to: town.venuePort)
            defer { line.end() }
            try await town.run { town in
                let settings = ["ORDER_ROUTER_VENUE": "127.0.0.1:\(line.port)", "ORDER_ROUTER_MARKET_DATA": "127.0.0.1:\(town.venuePort)"]
                // Logged on when it is ready: it speaks for the venue's session.
                let one = try town.router(settings)
                let port = try #require(await one.ready(), "\(one.log)")
                let other = try town.secondRouter(settings)
                let left = try #require(await other.ready(), "\(other.log)")
                for price in ["120.00", "121.00", "122.00"] { _ = try await Self.place(town, "NVDA", limit: price, port: port, until: .working) }
                line.judge { direction, message in
                    guard direction == .toVenue, message.type == .orderCancelRequest, !one.hasEnded else { return .pass }
                    one.signal(SIGKILL)
                    return .swallow
                }
                let on = try await town.operate("kill-switch", "on", "--reason", "drill", "--by", "ann")
                #expect(on.status == 0 && on.text.contains("No order is open."), "\(on.text)")
                #expect(one.hasEnded && town.venue.orders.filter(\.isOpen).isEmpty)
                let answer = try await town.phones[0].place(Circle.terms(.buy, 1), key: Circle.newKey(), port: left)
                #expect(answer.status == 503 && answer.member("code") == "trading_halted", "\(answer.text)")
                #expect(try await town.texts("SELECT status::text FROM orders") == ["6", "6", "6"])
                #expect(try await town.texts("SELECT count(*)::text FROM fix_sent WHERE msg_type = 'D'") == ["3"])
                try await town.verify()
            }
        }

        @Test func `is told by the kill switch which orders the venue does not cancel, and it ends them when asked again`() async throws {
            let town = try await Town(accounts: 1)
            try await town.run { town in
                let router = try town.router()
                let port = try #require(await router.ready(), "\(router.log)")
                let stubborn = try await Self.place(town, "NVDA.NOCXL", limit: "120.00", port: port, until: .working)
                let resting = try await Self.place(town, "NVDA", limit: "120.00", port: port, until: .working)
                let on = try await town.operate("kill-switch", "on", "--reason", "drill", "--within", "4s")
                #expect(on.status == 1 && on.text.contains("1 orders are still open") && on.text.contains(stubborn), "\(on.text)")
                try await Self.reached(town, resting, .cancelled)
                // Asked again, and not only once.
                #expect(Int(try await town.texts("SELECT cancels::text FROM orders WHERE order_id = '\(stubborn)'")[0])! >= 2)
                town.venue.setScenario(.late, for: "NVDA.NOCXL")
                let again = try await town.operate("kill-switch", "on", "--reason", "drill")
                #expect(again.status == 0 && again.text.contains("Ended: 1 CANCELLED"), "\(again.text)")
                try await town.verify()
            }
        }

        @Test func `cancels on behalf of a client, and reads all that is kept of an order`() async throws {
            let town = try await Town(accounts: 1)
            try await town.run { town in
                let router = try town.router()
                let port = try #require(await router.ready(), "\(router.log)")
                let filled = try await Self.place(town, "NVDA", limit: "126.00", port: port, until: .filled)
                let resting = try await Self.place(town, "NVDA", limit: "120.00", port: port, until: .working)
                let wrong = try await town.operate("orders", "cancel", filled, "--by", "ann", "--reason", "asked by phone")
                #expect(wrong.status == 1 && wrong.text.contains("not open") && wrong.text.contains("FILLED"), "\(wrong.text)")
                let right = try await town.operate("orders", "cancel", resting, "--by", "ann", "--reason", "asked by phone")
                #expect(right.status == 0 && right.text.contains("requested") && right.text.contains("\(resting)-c1"), "\(right.text)")
                try await Self.reached(town, resting, .cancelled)
                let others = [
                    try await Self.place(town, "NVDA", limit: "120.00", port: port, until: .working),
                    try await Self.place(town, "NVDA", limit: "121.00", port: port, until: .working),
                ]
                let all = try await town.operate("orders", "cancel", "--account", "acc_0", "--by", "ann", "--reason", "account closed")
                #expect(all.status == 0 && others.allSatisfy(all.text.contains), "\(all.text)")
                for id in others { try await Self.reached(town, id, .cancelled) }
                #expect(try await town.operate("orders", "cancel", "--account", "acc_0", "--by", "a", "--reason", "r").text.contains("No order"))

                let shown = try await town.operate("orders", "show", resting)
                #expect(shown.status == 0, "\(shown.text)")
                for part in [
                    "CANCELLED", "cancel_requested", "35=D|", "|11=\(resting)|", "35=F|", "|150=4|", "order_cancel_requested by ann", "release",
                    "held", "executions: none",
                ] {
                    #expect(shown.text.contains(part), "\(part) in\n\(shown.text)")
                }
                #expect(try await town.operate("orders", "show", filled).text.contains("settlement"))
                #expect(try await town.operate("orders", "show", Self.stranger).status == 1)
                try await town.verify()
            }
        }

        private static let stranger = "ord_20260101_aaaaaaaaaaaaaaaaaaaaaaaaaa"

        @Test func `sees what is UNKNOWN, since when and with which evidence`() async throws {
            let town = try await Town(accounts: 1)
            try await town.run { town in
                town.venue.adjust { $0.answersStatusWhenMute = false }
                let router = try town.router(["ORDER_ROUTER_SILENCE": "1s", "ORDER_ROUTER_ASK_INTERVAL": "1s"])
                let port = try #require(await router.ready(), "\(router.log)")
                #expect(try await town.operate("orders", "unknown").text == "No order is in doubt.\n")
                let silent = try await Self.place(town, "NVDA.MUTE", limit: "126.00", port: port, until: .unknown)
                try await eventually("a question") { try await !town.texts("SELECT order_id FROM orders WHERE asked_at IS NOT NULL").isEmpty }
                let listed = try await town.operate("orders", "unknown")
                for part in [silent, "acc_0", "BUY 10 NVDA.MUTE", "1260.00", "venue_silent", "UNKNOWN", "35=H 1/"] {
                    #expect(listed.text.contains(part), "\(part) in\n\(listed.text)")
                }
                let json = try await town.operate("orders", "unknown", "--json")
                #expect(json.text.contains(#"{"order_id":"\#(silent)","account_id":"acc_0","symbol":"NVDA.MUTE","side":"BUY","status":"UNKNOWN""#))
                let metrics = try await Phone.exchange("GET", "/metrics", port: port)
                #expect(metrics.text.contains(#"order_router_doubts{kind="unknown"} 1"#), "\(metrics.text)")
                town.venue.adjust { $0.answersStatusWhenMute = true }
                try await Self.reached(town, silent, .working)
                try await town.verify()
            }
        }

        @Test func `ends an order that the venue has forgotten, with the word of its people, and no other`() async throws {
            let town = try await Town(accounts: 1)
            try await town.run { town in
                let router = try town.router(["ORDER_ROUTER_ASK_INTERVAL": "1s"])
                let port = try #require(await router.ready(), "\(router.log)")
                let resting = try await Self.place(town, "NVDA", limit: "120.00", port: port, until: .working)
                let early = try await Self.end("0", resting, town)
                #expect(early.status == 1 && early.text.contains("not unknown") && early.text.contains("WORKING"), "\(early.text)")
                #expect(try await Self.end("0", Self.stranger, town).text.contains("not found"))
                #expect(try await Self.end("many", resting, town).status == 2)
                let filled = try await Self.place(town, "NVDA", limit: "126.00", port: port, until: .filled)
                // The venue's memory of both is gone. Of what has ended nobody asks.
                for id in [resting, filled] { try town.venue.forget(id) }
                let compared = try await town.operate("reconcile")
                #expect(compared.status == 1 && compared.text.contains(resting) && !compared.text.contains(filled), "\(compared.text)")
                try await Self.reached(town, resting, .unknown)
                try await eventually("the alarm") {
                    router.log.contains { $0.contains("event=alarm kind=forgotten_by_venue") && $0.contains(resting) }
                }
                let listed = try await town.operate("orders", "unknown")
                #expect(listed.text.contains("forgotten_by_venue") && listed.text.contains("1200.00"), "\(listed.text)")
                // Its cancel does not end it either: the venue does not know what is to be cancelled.
                #expect(try await town.operate("orders", "cancel", resting, "--by", "ann", "--reason", "drill").status == 0)
                try await eventually("the refusal") { try await town.texts("SELECT order_id FROM log WHERE type = 6") == [resting] }
                #expect(try await Self.end("10", resting, town).text.contains("fills differ"))
                try await eventually("its end") { try await Self.end("0", resting, town).status == 0 }
                try await Self.reached(town, resting, .cancelled)
                #expect(try await town.texts("SELECT kind FROM alarms WHERE order_id = '\(resting)'") == ["forgotten_by_venue"])
                let shown = try await town.operate("orders", "show", resting)
                for part in [
                    "ended_by_operator", "order_ended by ann", "0 filled, 1200.00 released; the venue: bob of the desk: out",
                    "alarm forgotten_by_venue",
                ] {
                    #expect(shown.text.contains(part), "\(part) in\n\(shown.text)")
                }
                #expect(try await Self.end("0", resting, town).text.contains("not open"))
                try await town.verify()
            }
        }

        private static func end(_ filled: String, _ id: String, _ town: Town) async throws -> OperatorCommand {
            try await town.operate("orders", "end", id, "--filled", filled, "--venue-says", "bob of the desk: out", "--by", "ann")
        }
    }
}
