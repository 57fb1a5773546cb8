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
        #expect(list.1.split(separator: "\n").count == AdminCalls.taking.count)
        let scenarios = await call(venue, .get, "/scenarios").1
        for scenario in Scenario.allCases { #expect(scenarios.contains("\(scenario.rawValue) ") && scenarios.contains(scenario.summary)) }
    }

    @Test func `refuse what they do not know and say what to do`() async throws {
        let venue = try SimulatedVenue(SimulatedVenue.Configuration(), log: { _ in })
        #expect(await call(venue, .get, "/nothing").0 == 404)
        #expect(await call(venue, .get, "/mute", [("on", "yes")]).0 == 405)
        let wrong: [(HTTPMethod, String, [(String, String)], String)] = [
            (.post, "/mute", [], "on is missing: POST /mute on=yes|no"), (.post, "/mute", [("on", "maybe")], "on is yes or no, not maybe"),
            (.post, "/scenario", [("symbol", "F"), ("name", "WILD")], "no scenario is called WILD: GET /scenarios lists them"),
            (.post, "/quote", [("symbol", "F"), ("bid", "2"), ("ask", "1")], "bid must be below ask: 2.00 is not below 1.00"),
            (.post, "/quote", [("symbol", "F"), ("bid", "2"), ("ask", "2")], "bid must be below ask: 2.00 is not below 2.00"),
            (.post, "/bust", [("exec", "E1")], "no trade with the ExecID E1 stands: GET /trades order= lists those of an order"),
            (
                .post, "/correct", [("exec", "E1"), ("quantity", "9"), ("price", "1")],
                "no trade with the ExecID E1 stands: GET /trades order= lists those of an order"
            ), (.get, "/trades", [("order", "ord_x")], "no order has the ClOrdID ord_x: GET /orders lists them"),
            (
                .post, "/repeat", [("party", "NOBODY"), ("count", "1")],
                "no report was ever sent to NOBODY: it names who logs on for orders, such as ORDERS"
            ),
        ]
        for (method, path, values, why) in wrong {
            #expect(await call(venue, method, path, values) == (400, why + "\n"), "\(path)")
        }
        let body = HTTPRequest(method: .post, path: "/mute", body: Array("on=yes".utf8))
        #expect(await SimulatorAdmin(venue).respond(to: body).status == 400)
    }

    @Test(arguments: [
        (HTTPMethod.get, "/orders", [String: String]()), (.post, "/scenario", ["name": "REJ"]), (.post, "/quote", ["bid": "1", "ask": "2"]),
        (.post, "/quotes", ["on": "no"]), (.post, "/halt", ["on": "yes"]), (.post, "/feed-spoil", ["name": "zero"]),
    ])
    func `want a symbol that there is`(_ method: HTTPMethod, _ path: String, _ others: [String: String]) async throws {
        var configuration = SimulatedVenue.Configuration()
        configuration.ticks = TickPublisher.Settings()
        let venue = try SimulatedVenue(configuration, log: { _ in })
        let before = venue.settings.halted
        for symbol in ["NOSUCH", "f", "F ", "NOSUCH.REJ", "F.WILD"] {
            let refusal = await call(venue, method, path, others.map { ($0.key, $0.value) } + [("symbol", symbol)])
            #expect(refusal == (400, "no symbol is called \(symbol): GET /symbols lists them\n"), "\(path)")
        }
        #expect(venue.settings.scenarios.isEmpty && venue.settings.halted == before && venue.ticks?.faults == TickFaults())
        #expect(!venue.isSilent("F") && !venue.isSilent("NOSUCH"))
        #expect(await call(venue, method, path, others.map { ($0.key, $0.value) } + [("symbol", "F")]).0 == 200)
        #expect(await call(venue, .get, "/symbols").1.contains("F 10.60 10.62\n") || path == "/quote")
    }

    @Test(arguments: AdminCalls.taking) func `take each value that they name, once, and no other`(_ call: AdminCalls.Taking) async throws {
        var configuration = SimulatedVenue.Configuration()
        configuration.ticks = TickPublisher.Settings()
        let venue = try SimulatedVenue(configuration, log: { _ in })
        let given = call.names.map { ($0, "1") }
        let strange = await self.call(venue, call.method, call.path, given + [("symbl", "F")])
        #expect(strange.0 == 400 && strange.1.hasPrefix("symbl is no value of this call: \(call.method.rawValue) \(call.path)"), "\(strange.1)")
        for name in call.names {
            let twice = await self.call(venue, call.method, call.path, given + [(name, "1")])
            #expect(twice.0 == 400 && twice.1.hasPrefix("\(name) stands there twice: "), "\(twice.1)")
            let empty = await self.call(venue, call.method, call.path, given.map { $0.0 == name ? (name, "") : $0 })
            #expect(empty.0 == 400 && empty.1.hasPrefix("\(name) is empty: "), "\(empty.1)")
        }
        for name in call.needed {
            let missing = await self.call(venue, call.method, call.path, call.sound.filter { $0.0 != name })
            #expect(missing.0 == 400 && missing.1.hasPrefix("\(name) is missing: "), "\(call.path): \(missing.1)")
        }
    }

    @Test func `bound every number`() async throws {
        var configuration = SimulatedVenue.Configuration()
        configuration.ticks = TickPublisher.Settings()
        let venue = try SimulatedVenue(configuration, log: { _ in })
        let numbers: [(String, [(String, String)], String, ClosedRange<Int64>)] = [
            ("/repeat", [("party", "ORDERS")], "count", 1...1_000_000),
            ("/correct", [("exec", "E1"), ("price", "1")], "quantity", 1...1_000_000_000), ("/feed-rate", [], "rate", 0...1_000_000),
            ("/feed-faults", [], "drop", 0...1_000_000), ("/feed-faults", [], "repeat", 0...1_000_000),
            ("/feed-faults", [], "late", 0...1_000_000), ("/feed-faults", [], "unanswered", 0...1_000_000),
        ]
        for (path, others, name, range) in numbers {
            for text in ["\(range.lowerBound - 1)", "\(range.upperBound + 1)", "1.5", "many", "1e3", "99999999999999999999"] {
                let refusal = await call(venue, .post, path, others + [(name, text)])
                let why = "\(name) is a whole number from \(range.lowerBound) to \(range.upperBound), not \(text)\n"
                #expect(refusal == (400, why), "\(path)")
            }
        }
        for text in ["0", "-1", "100000.0001", "1e5", "922337203685477.5807", "1.00005", "cheap"] {
            for (path, values) in [
                ("/quote", [("symbol", "F"), ("ask", "9"), ("bid", text)]), ("/correct", [("exec", "E"), ("quantity", "1"), ("price", text)]),
            ] {
                let refusal = await call(venue, .post, path, values)
                #expect(refusal.0 == 400 && refusal.1.contains("is a price above 0 and up to 100000.00, such as 125.50, not \(text)"), "\(refusal.1)")
            }
        }
        #expect(await call(venue, .post, "/quote", [("symbol", "F"), ("bid", "99999.99"), ("ask", "100000")]).0 == 200)
    }

    @Test func `do not say that something goes on which stays as it is`() async throws {
        let venue = try SimulatedVenue(SimulatedVenue.Configuration(), log: { _ in })
        #expect(await call(venue, .post, "/quotes", [("on", "no")]).0 == 200)
        #expect(await call(venue, .post, "/quotes", [("on", "yes"), ("symbol", "F")]).1.contains("F stays silent"))
        #expect(await call(venue, .post, "/quotes", [("on", "yes")]).0 == 200)
        #expect(await call(venue, .post, "/quotes", [("on", "yes"), ("symbol", "F")]).0 == 200)
        #expect(await call(venue, .post, "/halt", [("on", "yes"), ("symbol", "NVDA")]).0 == 200)
        #expect(await call(venue, .post, "/halt", [("on", "no"), ("symbol", "NVDA.REJ")]).1 == "NVDA.REJ stays halted with NVDA: resume that\n")
        #expect(await call(venue, .post, "/halt", [("on", "no"), ("symbol", "NVDA")]).0 == 200)
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
            #expect(await call(venue, .post, "/repeat", [("party", "ORDERS"), ("count", "1")]).1 == "1 sent again\n")
            await client.wait { $0.received.count >= 5 }
            #expect(await call(venue, .post, "/forget", [("order", "a")]).1 == "done\n")
            #expect(await !call(venue, .get, "/orders", [("symbol", "F")]).1.contains("a X1") && venue.order("a") == nil)
            #expect(await call(venue, .post, "/forget", [("order", "a")]).1.contains("unknownOrder"))
            for path in ["/release", "/end-day"] { #expect(await call(venue, .post, path).0 == 200) }
            for path in ["/quotes", "/halt"] { #expect(await call(venue, .post, path, [("symbol", "F"), ("on", "no")]).1 == "done\n") }
            #expect(await call(venue, .post, "/refuse", [("on", "no")]).1 == "done\n")
            #expect(await call(venue, .get, "/doubles").1.isEmpty)
        }
    }
}

/// The calls as the list names them, so that none is forgotten.
enum AdminCalls {
    struct Taking: Sendable, CustomTestStringConvertible {
        let method: HTTPMethod
        let path: String
        let names: [String]
        /// Those that may not be left out.
        let needed: [String]
        /// Values that are right by themselves, whether or not there is what they name.
        var sound: [(String, String)] { names.map { ($0, Self.sound[$0] ?? "1") } }
        var testDescription: String { path }

        private static let sound = ["symbol": "F", "on": "yes", "name": "REJ", "party": "ORDERS", "bid": "1", "ask": "2", "order": "a", "exec": "E"]
    }

    static let taking: [Taking] = [
        Taking(method: .get, path: "/", names: [], needed: []), Taking(method: .get, path: "/scenarios", names: [], needed: []),
        Taking(method: .get, path: "/symbols", names: [], needed: []), Taking(method: .get, path: "/orders", names: ["symbol"], needed: []),
        Taking(method: .get, path: "/trades", names: ["order"], needed: ["order"]), Taking(method: .get, path: "/doubles", names: [], needed: []),
        Taking(method: .post, path: "/scenario", names: ["symbol", "name"], needed: ["symbol"]),
        Taking(method: .post, path: "/mute", names: ["on"], needed: ["on"]), Taking(method: .post, path: "/release", names: [], needed: []),
        Taking(method: .post, path: "/disconnect", names: [], needed: []), Taking(method: .post, path: "/refuse", names: ["on"], needed: ["on"]),
        Taking(method: .post, path: "/logout", names: [], needed: []), Taking(method: .post, path: "/forget", names: ["order"], needed: ["order"]),
        Taking(method: .post, path: "/repeat", names: ["party", "count"], needed: ["party", "count"]),
        Taking(method: .post, path: "/quote", names: ["symbol", "bid", "ask"], needed: ["symbol", "bid", "ask"]),
        Taking(method: .post, path: "/quotes", names: ["on", "symbol"], needed: ["on"]),
        Taking(method: .post, path: "/halt", names: ["symbol", "on"], needed: ["symbol", "on"]),
        Taking(method: .post, path: "/end-day", names: [], needed: []),
        Taking(method: .post, path: "/feed-faults", names: ["drop", "repeat", "late", "unanswered"], needed: []),
        Taking(method: .post, path: "/feed-spoil", names: ["symbol", "name"], needed: ["symbol", "name"]),
        Taking(method: .post, path: "/feed-rate", names: ["rate"], needed: ["rate"]),
        Taking(method: .post, path: "/feed-restart", names: [], needed: []), Taking(method: .post, path: "/feed-disconnect", names: [], needed: []),
        Taking(method: .post, path: "/bust", names: ["exec"], needed: ["exec"]),
        Taking(method: .post, path: "/correct", names: ["exec", "quantity", "price"], needed: ["exec", "quantity", "price"]),
    ]
}
