import ExchangeSimulator
import Foundation
import Identity
import JourneySupport
import Testing
import Trading

/// The stream of prices, read by `curl -N`: a router of its own, whose venue's prices are set by hand.
@Suite(.serialized) struct `The stream of prices` {
    private static let path = "/v1/marketdata/tickers/stream"

    private func reader(_ client: Client, _ symbols: String, lastID: String? = nil, slowly: Int? = nil) throws -> EventReader {
        try EventReader(client, path: Self.path, query: "?symbols=\(symbols)", lastID: lastID, bytesPerSecond: slowly)
    }

    @Test func `begins with a snapshot of each symbol, goes on with what changes, and says each second what is vouched for`() async throws {
        try await Served.run { served in
            let client = try await served.client()
            let stream = try reader(client, "NVDA,AAPL", lastID: "1-17")
            let first = try await stream.frames(until: "asof") { $0.event == "asof" }
            #expect(first.prefix(2).map(\.event) == ["snapshot", "snapshot"])
            #expect(Set(first.prefix(2).compactMap { $0.answer["symbol"] }) == ["NVDA", "AAPL"])
            #expect(first.allSatisfy { $0.id == nil })
            let state = stream.watched.now
            #expect(state.head.contains("content-type: text/event-stream"))
            #expect(state.head.contains("cache-control: no-store"))
            try served.town.venue.setQuote("NVDA", bid: Amount("126.25")!, ask: Amount("126.2725")!)
            let ticks = try await stream.frames(until: "the new price") { $0.event == "tick" && $0.data.contains(#""ask":126.2725"#) }
            let tick = try #require(ticks.last { $0.event == "tick" })
            #expect(tick.answer.names("").sorted() == ["ask", "at", "bid", "price", "seq", "symbol", "volume"])
            #expect(tick.data.contains(#""bid":126.25,"#))
            // What the stream vouches for is what an order may refer to.
            let frames = try await stream.frames(until: "a newer asof") { $0.event == "asof" && $0.data != first.last?.data }
            let asOf = try #require(frames.last { $0.event == "asof" }?.answer["as_of"].flatMap { Int64($0) })
            #expect(try await client.place(client.draft { $0.quoteTime = asOf }).status == 201)
            stream.stop()
        }
    }

    @Test func `says why a symbol may not be traded on in the words of the quote and of the refusal`() async throws {
        try await Served.run { served in
            let client = try await served.client()
            let stream = try reader(client, "NVDA,KO")
            _ = try await stream.frames(until: "snapshots") { $0.event == "asof" }
            served.town.venue.stopQuotes("NVDA")
            let stale = try await stream.frames(until: "stale") { $0.event == "market" && $0.answer["symbol"] == "NVDA" }
            let market = try #require(stale.last { $0.event == "market" && $0.answer["symbol"] == "NVDA" }?.answer)
            #expect(market["state"] == "STALE")
            let refused = try await client.place(client.draft())
            expect(refused, isProblem: "market_data_stale", 503, outcome: "not_accepted")
            let quote = try await client.get("/v1/quotes?symbols=NVDA")
            let words = "the feed has not vouched for it for "
            for told in [market["reason"], refused["detail"], quote["quotes.0.reason"]] { #expect(told?.contains(words) == true, "\(told ?? "nil")") }
            let silent = stream.watched.now.frames.count { $0.event == "asof" }
            served.town.venue.resumeQuotes("NVDA")
            _ = try await stream.frames(until: "alive") { $0.event == "market" && $0.answer["symbol"] == "NVDA" && $0.answer["state"] == "LIVE" }
            _ = try await stream.watched.wait(for: "vouching again") { $0.frames.count { $0.event == "asof" } > silent }
            #expect(try await client.post("/v1/operator/halts", #"{"scope":"symbol","subject":"KO","reason":"news pending"}"#).status == 200)
            let halted = try await stream.frames(until: "halted") { $0.event == "market" && $0.answer["state"] == "HALTED" }
            #expect(halted.last { $0.event == "market" }?.answer["reason"] == "news pending")
            stream.stop()
        }
    }

    @Test func `ends with one word of why, when its token does and when the router stops`() async throws {
        try await Served.run { served in
            let client = try await served.client()
            // The leeway of 30 s counts for streams as for requests: six are left.
            let token = try served.town.issuer.issue(
                subject: "s",
                accounts: [client.phone.account],
                scopes: [.marketRead, .ordersRead],
                lifetime: .seconds(-24),
                now: Town.now()
            )
            let (short, lasting) = (client.with(token: token), try reader(client, "NVDA"))
            let orders = "/v1/trading/orders/events"
            let expiring = [try reader(short, "NVDA"), try EventReader(short, path: orders)]
            let events = try await EventReader(client, path: orders).opened()
            for stream in expiring {
                let comments = try await stream.ended().comments.filter { !$0.isEmpty && !$0.hasPrefix(" stream of ") }
                #expect(comments == [" The token has expired. Connect again with a new one."])
            }
            _ = try await lasting.frames(until: "prices") { $0.event == "asof" }
            served.router.signal(SIGTERM)
            for (stream, name) in [(lasting, "prices"), (events, "orders")] {
                let comments = try await stream.ended().comments.filter { !$0.isEmpty && !$0.hasPrefix(" stream of ") }
                #expect(comments == [" the server stops; come back"], "\(name) \(served.router.log.suffix(8))")
            }
            await served.router.ended()
        }
    }

    @Test func `is for tokens that may see prices, of symbols that there are`() async throws {
        try await Served.run { served in
            let client = try await served.client()
            expect(try await client.get(Self.path), isProblem: "invalid_field", 400, outcome: "not_applicable")
            for (symbols, word) in [("nvda", "'nvda' is not a symbol"), ("NVDA,%20AAPL", "' AAPL' is not a symbol"), ("NVDA,", "'' is not a symbol")]
            {
                let answer = try await client.get("\(Self.path)?symbols=\(symbols)")
                expect(answer, isProblem: "invalid_field", 400, outcome: "not_applicable")
                let detail = try #require(answer["detail"])
                #expect(detail.hasPrefix(word) && detail.hasSuffix("1 to 16 capital letters, digits and points, with commas alone between them."))
            }
            let unknown = "\(Self.path)?symbols=NOSUCH"
            try await served.eventually("the whole list") { try await client.get(unknown)["code"] != "busy" }
            expect(try await client.get(unknown), isProblem: "unknown_symbol", 422, outcome: "not_applicable")
            let many = (0...100).map { "S\($0)" }.joined(separator: ",")
            expect(try await client.get("\(Self.path)?symbols=\(many)"), isProblem: "invalid_field", 400, outcome: "not_applicable")
            func token(_ scopes: Set<Scope>, for seconds: Int) throws -> String {
                try served.town.issuer.issue(subject: "s", accounts: [], scopes: scopes, lifetime: .seconds(seconds), now: Town.now())
            }
            let blind = client.with(token: try token([.ordersRead], for: 60))
            expect(try await blind.get("\(Self.path)?symbols=NVDA"), isProblem: "scope_missing", 403, outcome: "not_applicable")
            let late = client.with(token: try token([.marketDelayed], for: 60))
            let quote = try await late.get("/v1/quotes?symbols=NVDA")
            #expect(quote["quotes.0.entitlement"] == "DELAYED" && quote["quotes.0.price"] == nil)
            let stream = try reader(late, "NVDA")
            #expect(try await stream.frames(until: "a snapshot") { _ in true }.first?.answer["entitlement"] == "DELAYED")
            stream.stop()
        }
    }
}
