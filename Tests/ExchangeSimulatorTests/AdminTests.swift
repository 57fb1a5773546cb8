import ExchangeSimulator
import FIX
import HTTPServer
import Synchronization
import Testing
import Trading

/// The switches that a person at a shell has.
@Suite(.timeLimit(.minutes(1))) struct `The switches` {
    private func call(_ venue: SimulatedVenue, _ method: HTTPMethod, _ path: String, _ query: [(String, String)] = []) async -> (Int, String) {
        let request = HTTPRequest(method: method, path: path, query: query.map { (name: $0.0, value: $0.1) })
        let response = await SimulatorAdmin(venue).respond(to: request)
        guard case .bytes(let bytes) = response.body else { return (response.status, "") }
        return (response.status, String(decoding: bytes, as: UTF8.self))
    }

    @Test func `list themselves and every scenario`() async throws {
        let venue = try SimulatedVenue(SimulatedVenue.Configuration(), log: { _ in })
        let list = await call(venue, .get, "/")
        #expect(list.0 == 200 && list.1.contains("POST /mute on=yes|no"))
        let scenarios = await call(venue, .get, "/scenarios").1
        for scenario in Scenario.allCases { #expect(scenarios.contains("\(scenario.rawValue) ") && scenarios.contains(scenario.summary)) }
    }

    @Test func `refuse what they do not know and say why`() async throws {
        let venue = try SimulatedVenue(SimulatedVenue.Configuration(), log: { _ in })
        #expect(await call(venue, .get, "/nothing").0 == 404)
        #expect(await call(venue, .get, "/mute", [("on", "yes")]).0 == 405)
        #expect(await call(venue, .post, "/mute").1 == "on is missing\n")
        #expect(await call(venue, .post, "/mute", [("on", "maybe")]).0 == 400)
        #expect(await call(venue, .post, "/scenario", [("symbol", "F"), ("name", "WILD")]).1 == "no scenario is called WILD\n")
        #expect(await call(venue, .post, "/quote", [("symbol", "F"), ("bid", "2"), ("ask", "1")]).0 == 400)
        #expect(await call(venue, .post, "/bust", [("exec", "E1")]).1.contains("unknownTrade"))
        #expect(await call(venue, .post, "/correct", [("exec", "E1"), ("quantity", "0"), ("price", "1")]).0 == 400)
    }

    @Test func `change what the venue does`() async throws {
        let client = Client()
        client.state.withLock { $0.outbox = [order("a", "F")] }
        try await trade(client) { venue, initiator in
            await client.wait { $0.received.count >= 2 }
            #expect(await call(venue, .post, "/scenario", [("symbol", "F"), ("name", "REJ")]).1 == "F=REJ\n")
            #expect(await call(venue, .get, "/scenarios").1.hasSuffix("Switched on: F=REJ\n"))
            client.state.withLock { $0.outbox = [order("b", "F")] }
            initiator.wake()
            await client.wait { $0.received.count >= 3 }
            #expect(client.told.last == "8 b")
            #expect(await call(venue, .post, "/scenario", [("symbol", "F")]).0 == 200)
            #expect(venue.settings.scenarios.isEmpty)
            let trade = try #require(await call(venue, .get, "/trades", [("order", "a")]).1.split(separator: " ").first.map(String.init))
            #expect(await call(venue, .post, "/correct", [("exec", trade), ("quantity", "90"), ("price", "10.00")]).1 == "done\n")
            await client.wait { $0.received.count >= 4 }
            #expect(client.received.last?.string(.execType) == "G" && client.received.last?.string(.cumQty) == "90")
            #expect(await call(venue, .get, "/orders", [("symbol", "F")]).1.contains("a X1 F buy 100 market OrdStatus 1 filled 90"))
            #expect(await call(venue, .post, "/mute", [("on", "yes")]).0 == 200)
            #expect(await call(venue, .post, "/mute", [("on", "no")]).0 == 200)
            #expect(await call(venue, .post, "/disconnect").0 == 200)
            await client.wait { $0.logons == 2 }
            #expect(await call(venue, .post, "/logout").0 == 200)
            await client.wait { $0.logons == 3 }
            #expect(await call(venue, .post, "/quote", [("symbol", "F"), ("bid", "9.98"), ("ask", "10.00")]).1 == "F 9.98 10.00\n")
            #expect(await call(venue, .post, "/repeat", [("party", "ORDERS"), ("count", "1")]).0 == 200)
            await client.wait { $0.received.count >= 5 }
            #expect(await call(venue, .post, "/forget", [("order", "a")]).1 == "done\n")
            #expect(await !call(venue, .get, "/orders", [("symbol", "F")]).1.contains("a X1") && venue.order("a") == nil)
            #expect(await call(venue, .post, "/forget", [("order", "a")]).1.contains("unknownOrder"))
            for path in ["/release", "/end-day"] { #expect(await call(venue, .post, path).0 == 200) }
            for path in ["/refuse", "/quotes", "/halt"] {
                #expect(await call(venue, .post, path, [("symbol", "F"), ("on", "no")]).1 == "done\n")
            }
            #expect(await call(venue, .get, "/doubles").1.isEmpty)
        }
    }
}
