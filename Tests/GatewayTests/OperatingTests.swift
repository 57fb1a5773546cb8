import Foundation
import Identity
import JourneySupport
import Testing

extension `The HTTP contract` {
    @Suite struct `Operating` {
        let served: Served

        init() throws { served = try Served.router() }

        @Test func `needs no token for health, readiness and metrics`() async throws {
            let health = try await Phone.exchange("GET", "/healthz", port: served.port)
            #expect(health.status == 200)
            let ready = try await Phone.exchange("GET", "/readyz", port: served.port)
            #expect(ready.status == 200)
            #expect(
                ready.text
                    == #"{"ready":true,"database":true,"migrations":true,"venue":true,"market_data":true,"kill_switch":false,"venue_is_test":true}"#
            )
            for path in ["/healthz", "/readyz", "/metrics"] {
                let head = try await Program.run(["curl", "-sS", "-I", "--max-time", "20", "http://127.0.0.1:\(served.port)\(path)"])
                #expect(head.status == 0 && head.text.contains("200 OK"))
            }
        }

        @Test func `tells metrics that Prometheus can read`() async throws {
            let client = try await served.client(cash: 1_000)
            let id = try #require(try await client.place(client.draft { ($0.quantity, $0.type, $0.limit) = ("1", "MARKET", nil) })["order_id"])
            try await served.reached("FILLED", client, id)
            _ = try await client.place(client.draft { $0.quantity = "100" })
            let answer = try await Phone.exchange("GET", "/metrics", port: served.port)
            #expect(answer.header("Content-Type")?.hasPrefix("text/plain; version=0.0.4") == true)
            var types: [String: String] = [:]
            var seen: Set<String> = []
            for line in answer.text.split(separator: "\n") {
                if let type = line.wholeMatch(of: /# TYPE ([a-z_:]+) (counter|gauge|histogram)/) {
                    #expect(types[String(type.1)] == nil, "\(line)")
                    types[String(type.1)] = String(type.2)
                    continue
                }
                let sample = try #require(line.wholeMatch(of: /([a-z_]+)(\{[a-z_]+="[^"]*"(?:,[a-z_]+="[^"]*")*\})? (-?[0-9.e+-]+)/), "\(line)")
                #expect(seen.insert("\(sample.1)\(sample.2 ?? "")").inserted, "\(line) stands there twice")
                let name = String(sample.1)
                let family = types[name] == nil ? name.replacing(/_(bucket|sum|count)$/, with: "") : name
                #expect(types[family] != nil, "\(line)")
            }
            for name in [
                "order_router_requests_total", "order_router_orders_total", "order_router_problems_total", "order_router_leg_seconds",
                "order_router_batch_size", "order_router_backlog", "order_router_backlog_age_seconds", "order_router_venue_session_up",
                "order_router_data_age_seconds", "order_router_queue_depth", "order_router_database_up", "order_router_request_seconds",
            ] {
                #expect(types[name] != nil, "\(name)")
            }
            #expect(answer.text.contains(#"order_router_orders_total{outcome="accepted",code=""} "#))
            #expect(answer.text.contains(#"order_router_orders_total{outcome="refused",code="insufficient_funds"} "#))
            for leg in ["accept", "send", "settle"] { #expect(answer.text.contains("order_router_leg_seconds_bucket{leg=\"\(leg)\""), "\(leg)") }
        }

        @Test func `shows quotes with strings, age and state`() async throws {
            let client = try await served.client()
            let answer = try await client.get("/v1/quotes?symbols=NVDA,MSFT")
            #expect(answer.status == 200, "\(answer.text)")
            #expect(answer.count("quotes") == 2)
            #expect(
                answer.names("quotes.0") == [
                    "age_ms", "as_of", "ask", "bid", "entitlement", "marketState", "price", "reason", "seq", "serverTime", "state", "symbol",
                    "volume",
                ]
            )
            #expect(answer.text.contains(#""symbol":"NVDA","price":"125.50","bid":"125.50","ask":"125.52","volume":"#))
            let asOf = try #require(answer["quotes.0.as_of"].flatMap { Int64($0) })
            let age = try #require(answer["quotes.0.age_ms"].flatMap { Int64($0) })
            #expect(asOf + age == answer["server_time"].flatMap { Int64($0) })
            // What the quote says of its time is what an order refers to.
            #expect(try await client.place(client.draft { $0.quoteTime = asOf }).status == 201)
            expect(try await client.get("/v1/quotes?symbols=NOSUCH"), isProblem: "unknown_symbol", 422, outcome: "not_applicable")
            for query in ["", "?symbols=", "?symbols=NVDA,,MSFT", "?symbols=nvda", "?symbol=NVDA"] {
                expect(try await client.get("/v1/quotes\(query)"), isProblem: "invalid_field", 400, outcome: "not_applicable")
            }
        }

        @Test func `halts a symbol and an account, and lets cancels and replays pass`() async throws {
            let (client, other) = (try await served.client(), try await served.client())
            let draft = client.draft { ($0.symbol, $0.limit) = ("KO", "60.00") }
            let first = try await client.place(draft)
            let id = try #require(first["order_id"], "\(first.text)")
            try await served.reached("WORKING", client, id)
            let halts = "/v1/operator/halts"
            let halted = try await client.post(halts, #"{"scope":"symbol","subject":"KO","reason":"news pending"}"#)
            #expect(halted.status == 200, "\(halted.text)")
            #expect(halted.text.contains(#"{"scope":"symbol","subject":"KO","reason":"news pending"}"#))
            let refused = try await other.place(other.draft { ($0.symbol, $0.limit) = ("KO", "60.00") })
            expect(refused, isProblem: "trading_halted", 503, outcome: "not_accepted")
            #expect(refused["halt.scope"] == "symbol" && refused["halt.reason"] == "news pending")
            #expect(refused.header("Retry-After") != nil)
            #expect(try await other.place(other.draft()).status == 201)
            #expect(try await client.get("/v1/quotes?symbols=KO")["quotes.0.state"] == "HALTED")
            #expect(try await client.post(halts, #"{"scope":"account","subject":"\#(client.account)","reason":"review"}"#).status == 200)
            expect(try await client.place(client.draft()), isProblem: "trading_halted", 503, outcome: "not_accepted")
            #expect(try await client.place(draft.again).body == first.body)
            #expect(try await client.delete("/v1/trading/orders/\(id)").status == 202)
            try await served.reached("CANCELLED", client, id)
            #expect(try await client.delete("\(halts)?scope=account&subject=\(client.account)").status == 200)
            #expect(try await client.delete("\(halts)?scope=symbol&subject=KO").status == 200)
            expect(try await client.delete("\(halts)?scope=symbol&subject=KO"), isProblem: "not_found", 404, outcome: "not_applicable")
            #expect(try await client.place(client.draft { ($0.symbol, $0.limit) = ("KO", "60.00") }).status == 201)
            let audit = try await served.texts("SELECT action FROM operator_audit WHERE detail LIKE 'symbol KO%' ORDER BY audit_id")
            #expect(audit.prefix(2) == ["halted", "resumed"])
        }

        @Test func `shows the market in a state that there is, and how far the feed's clock may be ahead`() async throws {
            let client = try await served.client()
            let all = try await client.get("/v1/operator/market")
            #expect(all.status == 200 && all["feed_lead_ms"] == "1000" && all["symbols.0.state"] == "LIVE", "\(all.text.prefix(300))")
            #expect(all.text.contains(#""refused_lead_ms":null"#))
            #expect(try await client.get("/v1/operator/market?state=HALTED").count("symbols") == 0)
            #expect(try await client.get("/v1/operator/market?state=LIVE").count("symbols") > 40)
            for state in ["live", "stale", "OPEN", "LIVE,STALE"] {
                let answer = try await client.get("/v1/operator/market?state=\(state)")
                expect(answer, isProblem: "invalid_field", 400, outcome: "not_applicable")
                #expect(answer["detail"] == "The parameter 'state' is not valid. Send one of LIVE, STALE, CLOSED, HALTED, or leave it out.")
            }
        }

        @Test func `halts for operators alone, and only what there is`() async throws {
            let client = try await served.client()
            let token = try served.town.issuer.issue(
                subject: "trader",
                accounts: [client.phone.account],
                scopes: [.ordersRead, .ordersWrite, .credentialsWrite, .marketRead],
                lifetime: .seconds(600),
                now: Town.now()
            )
            let trader = client.with(token: token)
            let halts = "/v1/operator/halts"
            let body = #"{"scope":"venue","reason":"mischief"}"#
            expect(try await trader.post(halts, body), isProblem: "scope_missing", 403, outcome: "not_applicable")
            expect(try await trader.get(halts), isProblem: "scope_missing", 403, outcome: "not_applicable")
            expect(try await trader.delete("\(halts)?scope=venue"), isProblem: "scope_missing", 403, outcome: "not_applicable")
            let bodies = [
                (#"{"scope":"venue"}"#, "reason"), (#"{"scope":"planet","reason":"x"}"#, "scope"), (#"{"scope":"symbol","reason":"x"}"#, "subject"),
                (#"{"scope":"account","subject":"a b","reason":"x"}"#, "subject"), (#"{"scope":"venue","reason":"x","until":"1"}"#, "until"),
                (#"{"scope":"venue","subject":"NVDA","reason":"x"}"#, "subject"),
            ]
            for (body, field) in bodies {
                let answer = try await client.post(halts, body)
                expect(answer, isProblem: "invalid_field", 400, outcome: "not_applicable")
                #expect(answer["field"] == field, "\(answer.text)")
            }
            #expect(try await client.place(client.draft()).status == 201)
        }
    }
}
