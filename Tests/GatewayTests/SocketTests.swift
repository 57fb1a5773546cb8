import ExchangeSimulator
import Identity
import JourneySupport
import Testing
import Trading

/// One WebSocket for everything, spoken by a client of another make.
@Suite(.serialized, .enabled(if: SocketReader.isWanted, "Python's websockets is missing: scripts/install-packages tests")) struct `A WebSocket` {
    @Test func `shows prices, order events and portfolios, each as it was asked for`() async throws {
        try await Served.run { served in
            let client = try await served.client()
            let socket = try SocketReader(client)
            try socket.send(#"{"action":"subscribe","channel":"stock-prices","symbols":["NVDA","AAPL"],"id":"1"}"#)
            try socket.send(#"{"action":"subscribe","channel":"order-updates","id":"2"}"#)
            try socket.send(#"{"action":"subscribe","channel":"portfolio-updates","id":"3"}"#)
            let opened = try await socket.state(when: "subscriptions") { $0.messages("subscribed").count == 3 && !$0.messages("portfolio").isEmpty }
            #expect(opened.messages("subscribed").map { $0["id"] } == ["1", "2", "3"])
            #expect(opened.messages("portfolio")[0]["data.cash.available"] == "1000000.00")
            let first = try await socket.state(when: "vouching") { !$0.messages("asof").isEmpty }
            #expect(first.messages("snapshot").count == 2)
            #expect(first.messages("snapshot").allSatisfy { $0["channel"] == "stock-prices" && $0["data.state"] == "LIVE" })
            try served.town.venue.setQuote("NVDA", bid: Amount("126.00")!, ask: Amount("126.02")!)
            _ = try await socket.state(when: "the tick") { $0.messages("tick").contains { $0["data.bid"] == "126" } }

            let order = try await client.place(client.draft { ($0.type, $0.limit, $0.quantity) = ("MARKET", nil, "10") })
            let id = try #require(order["order_id"], "\(order.text)")
            let filled = try await socket.state(when: "the fill") { $0.messages("order").contains { $0["data.type"] == "fill" } }
            #expect(filled.messages("order").map { $0["data.type"] } == ["accepted", "routed", "working", "fill"])
            #expect(filled.messages("order").allSatisfy { $0["data.order.order_id"] == id && $0["account_id"] == client.account })
            let held = try await socket.state(when: "the position") { $0.messages("portfolio").last?["data.cash.available"] == "998739.80" }
            let portfolio = try #require(held.messages("portfolio").last)
            #expect(portfolio["data.positions.0.symbol"] == "NVDA" && portfolio["data.positions.0.quantity"] == "1010")

            // What was missed comes at the next connection, from the id behind which it was.
            let lastID = try #require(filled.messages("order").first?["id"])
            let again = try SocketReader(client, isBrowser: true)
            try again.send(#"{"action":"subscribe","channel":"order-updates","last_event_id":"\#(lastID)"}"#)
            let missed = try await again.state(when: "the missed events") { $0.messages("order").count == 3 }
            #expect(missed.lines.first == "open order-router.v1")
            #expect(missed.messages("order").map { $0["data.type"] } == ["routed", "working", "fill"])
            socket.stop()
            again.stop()
        }
    }

    @Test func `answers what it cannot do, and stays`() async throws {
        try await Served.run { served in
            let client = try await served.client()
            let socket = try SocketReader(client)
            for message in [
                "nonsense", #"{"action":"dance","id":"a"}"#, #"{"action":"subscribe","channel":"weather"}"#,
                #"{"action":"subscribe","channel":"order-updates","account_id":"acc_other","id":"b"}"#,
            ] { try socket.send(message) }
            let refused = try await socket.state(when: "errors") { $0.messages("error").count == 4 }
            #expect(
                refused.messages("error").map { $0["code"] } == ["malformed_request", "invalid_field", "invalid_field", "account_forbidden"]
            )
            #expect(refused.messages("error").map { $0["id"] } == [nil, "a", nil, "b"])
            try await served.eventually("the whole list") { try await client.get("/v1/quotes?symbols=NOSUCH").status == 422 }
            try socket.send(#"{"action":"subscribe","channel":"stock-prices","symbols":["NVDA","NOSUCH"],"id":"c"}"#)
            let unknown = try await socket.state(when: "the unknown symbol") { $0.messages("error").count == 5 }
            #expect(unknown.messages("error").last?["code"] == "unknown_symbol")
            try socket.send(#"{"action":"ping","id":"p"}"#)
            #expect(try await socket.first("pong")["id"] == "p")
            // Nothing was subscribed by halves.
            #expect(socket.watched.now.messages("snapshot").isEmpty)
            socket.stop()
        }
    }

    @Test func `shows in a portfolio no newer price than the token may see`() async throws {
        try await Served.run { served in
            let client = try await served.client()
            for (scopes, price) in [([.ordersRead, .marketRead], "set"), ([.ordersRead, .marketDelayed], "null"), ([.ordersRead], "null")]
                as [(Set<Scope>, String)]
            {
                let account = try #require(AccountID(client.account))
                let token = try served.town.issuer.issue(subject: "s", accounts: [account], scopes: scopes, lifetime: .seconds(60), now: Town.now())
                let socket = try SocketReader(client.with(token: token))
                try socket.send(#"{"action":"subscribe","channel":"portfolio-updates"}"#)
                let position = try await socket.first("portfolio")
                let quotes = try await client.with(token: token).get("/v1/quotes?symbols=NVDA")
                let entitlement = scopes.contains(.marketRead) ? "REALTIME" : scopes.contains(.marketDelayed) ? "DELAYED" : nil
                #expect(quotes["quotes.0.entitlement"] == entitlement)
                #expect(position["data.positions.0.symbol"] == "NVDA", "\(position.text)")
                #expect(position.text.contains(#""price":null"#) == (price == "null"), "\(position.text)")
                socket.stop()
            }
        }
    }

    @Test func `is closed when it asks without end, and when its token ends`() async throws {
        try await Served.run { served in
            let client = try await served.client()
            let wild = try SocketReader(client)
            for _ in 0..<400 { try? wild.send(#"{"action":"ping"}"#) }
            let ended = try await wild.state(when: "the end") { $0.lines.contains { $0.hasPrefix("closed") } }
            #expect(ended.lines.contains { $0.hasPrefix("closed 1008 Too many requests") })
            #expect(ended.messages("error").contains { $0["code"] == "rate_limited" })

            // Orders go on beside it.
            #expect(try await client.place(client.draft()).status == 201)

            // The leeway of 30 s counts for streams as for requests. What is left is for the other client to start in.
            let issued = try served.town.issuer.issue(
                subject: "s",
                accounts: [],
                scopes: [.marketRead],
                lifetime: .seconds(5),
                now: Town.now() - 29_000
            )
            let short = try SocketReader(client.with(token: issued))
            try short.send(#"{"action":"subscribe","channel":"stock-prices","symbols":["NVDA"]}"#)
            _ = try await short.first("snapshot")
            _ = try await short.state(when: "the token's end") { $0.lines.contains { $0.hasPrefix("closed 1008 The token has expired") } }
        }
    }

    @Test func `is for tokens that may read something, and speaks one version`() async throws {
        try await Served.run { served in
            let client = try await served.client()
            let blind = try served.town.issuer.issue(subject: "s", accounts: [], scopes: [.ordersWrite], lifetime: .seconds(60), now: Town.now())
            let refused = try SocketReader(client.with(token: blind))
            _ = try await refused.state(when: "the refusal") { $0.lines == ["refused 403"] }
            let wrong = try SocketReader(client.with(token: "nonsense"))
            _ = try await wrong.state(when: "the refusal") { $0.lines == ["refused 401"] }
            #expect(try await client.place(client.draft()).status == 201)
            let plain = try await client.get("/v1/ws")
            #expect(plain.status == 426 && plain.header("Upgrade") == "websocket" && plain.header("Sec-WebSocket-Version") == "13")
            #expect(plain["outcome"] == "not_applicable")
        }
    }
}
