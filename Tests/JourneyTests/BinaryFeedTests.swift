import BinaryFeed
import ExchangeSimulator
import FIX
import Foundation
import JourneySupport
import Testing
import Trading

extension Faults {
    /// A router that takes its prices from the binary feed, and one that plays them again.
    @Suite struct `A router on the binary feed` {
        private static func key() -> IdempotencyKey {
            let now = UInt64(Town.now())
            return IdempotencyKey(high: now << 16 | 0x7000 | UInt64.random(in: 0..<0x1000), low: 1 << 63 | UInt64.random(in: 0..<(1 << 62)))!
        }

        private static func code(_ phone: Phone, _ port: UInt16) async throws -> String {
            let answer = try await phone.place(Circle.terms(.buy, 1, "NVDA", .limit, limit: "126.00"), key: key(), port: port)
            return answer.status == 201 ? "201" : answer.member("code") ?? "\(answer.status)"
        }

        private static func metric(_ name: String, _ port: UInt16) async throws -> Double? {
            let text = try await Phone.exchange("GET", "/metrics", port: port).text
            return text.split(separator: "\n").first { $0.hasPrefix(name + " ") }.flatMap { Double($0.dropFirst(name.count + 1)) }
        }

        @Test func `trades on it, makes up for its losses, and refuses what it falls silent about`() async throws {
            // 239.255.0.0/16 is for use within one site (RFC 2365); the port is one that is free now.
            let group = "239.255.41.9"
            let port = try DatagramReceiver(group: group, port: 0, interface: "127.0.0.1").port
            var ticks = TickPublisher.Settings()
            ticks.group = (group, port, "127.0.0.1")
            ticks.rate = 2_000
            ticks.faults.dropEvery = 20
            let town = try await Town(accounts: 1, ticks: ticks)
            try await town.run { town in
                let line = try #require(town.venue.ticks).port
                let feed = ["ORDER_ROUTER_FEED": "udp://\(group):\(port)?recovery=127.0.0.1:\(line)&interface=127.0.0.1"]
                let router = try town.router(feed)
                let client = try #require(await router.ready(), "\(router.log)")
                let phone = town.phones[0]
                #expect(try await Self.code(phone, client) == "201")
                try await eventually("gaps that were made up for") {
                    let gaps = try await Self.metric(#"order_router_feed_ticks{verdict="gap"}"#, client) ?? 0
                    return gaps > 20
                }
                town.venue.ticks?.adjust { $0 = TickFaults() }
                try await eventually("no symbol that waits") { try await Self.metric("order_router_feed_waiting_symbols", client) == 0 }
                town.venue.ticks?.adjust { $0.spoiled["F"] = .crossed }
                try await eventually("the operator's word of the price that was refused") {
                    let market = try await phone.send("GET", "/v1/operator/market", port: client).text
                    return market.contains(#""refused_bid":"10."#) && market.contains(#""refused_ask":"10."#)
                }
                town.venue.setHalted("NVDA", true)
                try await eventually("the halt") { try await Self.code(phone, client) == "trading_halted" }
                town.venue.setHalted("NVDA", false)
                try await eventually("trading again") { try await Self.code(phone, client) == "201" }
                town.venue.stopQuotes("NVDA")
                try await eventually("stale prices") { try await Self.code(phone, client) == "market_data_stale" }
                town.venue.resumeQuotes("NVDA")
                try await eventually("fresh prices") { try await Self.code(phone, client) == "201" }
                try await town.quiet()
                try await town.verify()
            }
        }

        @Test func `plays a recorded feed again and says that it does`() async throws {
            var ticks = TickPublisher.Settings()
            ticks.rate = 200
            let town = try await Town(accounts: 1, ticks: ticks)
            try await town.run { town in
                let line = try #require(town.venue.ticks).port
                let file = town.folder + "/recorded"
                let recording = try await town.operate("record", "--feed", "tcp://127.0.0.1:\(line)", "--to", file, "--for", "2s")
                #expect(recording.status == 0, "\(recording)")
                let router = try town.router(["ORDER_ROUTER_FEED": "file:" + file, "ORDER_ROUTER_FEED_REPEAT": "yes"])
                let client = try #require(await router.ready(), "\(router.log)")
                let readiness = try await Phone.exchange("GET", "/readyz", port: client)
                #expect(readiness.status == 200 && readiness.text.contains(#""market_data_is_replay":true"#), "\(readiness.text)")
                #expect(router.log.contains { $0.contains("event=market_data_is_replay") })
                try await eventually("a price to trade on") { try await Self.code(town.phones[0], client) == "201" }
            }
        }

        @Test func `that is a recorded one prices nothing for a venue that does not say it is a test system`() async throws {
            var ticks = TickPublisher.Settings()
            ticks.rate = 200
            let town = try await Town(accounts: 1, ticks: ticks)
            var configuration = SimulatedVenue.Configuration()
            configuration.agree = { $0.isTest = false }
            let real = try SimulatedVenue(configuration, log: { _ in })
            let venue = "127.0.0.1:\(try real.start())"
            try await town.run { town in
                let line = try #require(town.venue.ticks).port
                let file = town.folder + "/recorded"
                let recording = try await town.operate("record", "--feed", "tcp://127.0.0.1:\(line)", "--to", file, "--for", "1s")
                #expect(recording.status == 0, "\(recording)")
                try await withThrowingTaskGroup { group in
                    group.addTask { try await real.run() }
                    let feed = ["ORDER_ROUTER_FEED": "file:" + file, "ORDER_ROUTER_FEED_REPEAT": "yes", "ORDER_ROUTER_VENUE": venue]
                    let router = try town.router(feed)
                    // It was never ready, and ends by itself.
                    #expect(await router.ready() == nil)
                    await router.ended()
                    #expect(router.log.contains { $0.contains("nobody trades for real on prices of another day") }, "\(router.log)")
                    #expect(real.receivedCount == 0)
                    group.cancelAll()
                    try await group.waitForAll()
                }
            }
        }
    }
}
