import Identity
import JourneySupport
import Testing

extension `The HTTP contract` {
    @Suite struct `The outcome of a refusal` {
        let served: Served

        init() throws { served = try Served.router() }

        private static let withoutKey = [
            "/v1/quotes?symbols=NVDA", "/v1/marketdata/tickers/stream?symbols=NVDA", "/v1/symbols?query=nv", "/v1/stocks/NVDA",
            "/v1/symbols/NVDA/history?range=1D", "/v1/stocks/NVDA/history?interval=1m&period=1d", "/v1/trading/orders", "/v1/trading/orders/events",
            "/v1/trading/orders/ord_20260101_aaaaaaaaaaaaaaaaaaaaaaaaaa", "/v1/credentials", "/v1/operator/market", "/v1/operator/halts",
        ]

        @Test(arguments: Self.withoutKey) func `speaks of no order where none was asked about`(_ path: String) async throws {
            let client = try await served.client()
            let scope: Set<Scope> = path.hasPrefix("/v1/trading") || path.hasPrefix("/v1/operator") ? [.marketRead] : [.ordersWrite]
            let token = try served.town.issuer.issue(
                subject: "stranger",
                accounts: [client.phone.account],
                scopes: scope,
                lifetime: .seconds(60),
                now: Town.now()
            )
            expect(try await client.with(token: "nonsense").get(path), isProblem: "token_invalid", 401, outcome: "not_applicable")
            expect(try await client.with(token: token).get(path), isProblem: "scope_missing", 403, outcome: "not_applicable")
            let odd = path + (path.contains("?") ? "&" : "?") + "colour=red"
            expect(try await client.get(odd), isProblem: "invalid_field", 400, outcome: "not_applicable")
        }

        @Test func `leaves open what became of a key where there may be one`() async throws {
            let client = try await served.client()
            let orders = "/v1/trading/orders"
            let key = client.draft().key
            let bearing = [
                ("POST", orders), ("PATCH", "\(orders)/ord_20260101_aaaaaaaaaaaaaaaaaaaaaaaaaa"), ("GET", "\(orders)/by-key/\(key)"),
                ("POST", "\(orders)/by-key/\(key)/fence"),
            ]
            for (method, path) in bearing {
                let answer = try await client.phone.send(method, path + "?colour=red", port: served.port)
                #expect(answer["outcome"] == "unknown", "\(method) \(path): \(answer.text)")
            }
        }
    }
}
