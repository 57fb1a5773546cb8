import ExchangeSimulator
import Foundation
import Identity
import JourneySupport
import Testing
import Trading

extension `The HTTP contract` {
    /// Table 4.3 from above to below; what several rows refuse is answered by the first.
    @Suite struct `A refused order` {
        let served: Served

        init() throws { served = try Served.router() }

        private func token(
            _ client: Client,
            scopes: Set<Scope> = Set(Scope.allCases),
            accounts: [AccountID]? = nil,
            lifetime: Duration = .seconds(600),
            issuer: DevelopmentIssuer? = nil
        ) throws -> String {
            try (issuer ?? served.town.issuer)
                .issue(
                    subject: "person",
                    accounts: accounts ?? [client.phone.account],
                    scopes: scopes,
                    lifetime: lifetime,
                    now: Town.now()
                )
        }

        /// Every header and field wrong that a later row would look at.
        private func wrongLater(_ client: Client) -> Draft {
            client.draft {
                $0.symbol = "NOSUCH"
                $0.key = Draft.newKey(at: Town.now() - 3 * 86_400_000)
                $0.clientTime -= 3_600_000
                $0.quoteTime -= 3_600_000
                $0.quantity = "1000000000"
            }
        }

        @Test func `is refused for its form first`() async throws {
            let client = try await served.client()
            let wrong = wrongLater(client)
            let stranger = ["Authorization": "Bearer nonsense"]
            var answer = try await client.place(wrong, headers: stranger.merging(["Content-Type": "text/plain"]) { $1 }, body: "{")
            expect(answer, isProblem: "unsupported_media_type", 415, outcome: "unknown")
            answer = try await client.place(wrong, headers: stranger, body: "{")
            expect(answer, isProblem: "malformed_request", 400, outcome: "unknown")
            var draft = wrong
            draft.side = "HOLD"
            answer = try await client.place(draft, headers: stranger.merging(["Idempotency-Key": ""]) { $1 })
            expect(answer, isProblem: "invalid_field", 400, outcome: "unknown")
            #expect(answer["field"] == "side")
            for name in ["Idempotency-Key", "X-Biometric-Signature", "X-Client-Timestamp", "X-Quote-Reference-Timestamp"] {
                answer = try await client.place(wrong, headers: stranger.merging([name: ""]) { $1 })
                expect(answer, isProblem: "missing_header", 400, outcome: "unknown")
                #expect(answer["field"] == name)
                answer = try await client.place(wrong, headers: stranger.merging([name: "*"]) { $1 })
                expect(answer, isProblem: "invalid_field", 400, outcome: "unknown")
                #expect(answer["field"] == name)
            }
            #expect(try await served.written(client) == 0)
        }

        @Test func `is refused for its token second`() async throws {
            let client = try await served.client()
            let other = try await served.client()
            let wrong = wrongLater(client)
            let badSignature = ["X-Biometric-Signature": "AAAA"]
            let elsewhere = try DevelopmentIssuer(directory: served.town.folder, issuer: Town.issuerName, audience: "elsewhere")
            let stranger = try DevelopmentIssuer(directory: served.town.folder, issuer: "stranger", audience: Town.audience)
            let folder = try ScratchFolder()
            let forger = try DevelopmentIssuer(directory: folder.url.path + "/issuer", issuer: Town.issuerName, audience: Town.audience)
            let good = client.phone.token.split(separator: ".")
            func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString().replacing("=", with: "") }
            let invalid = [
                "", "Basic YTpi", "Bearer", "Bearer nonsense", "Bearer \(good[0]).\(good[1]).", "Bearer \(base64(#"{"alg":"none"}"#)).\(good[1]).",
                "Bearer \(base64(#"{"alg":"HS256","kid":"\#(served.town.issuer.keyID)"}"#)).\(good[1]).\(good[2])",
                "Bearer \(try token(client, issuer: elsewhere))", "Bearer \(try token(client, issuer: stranger))",
                "Bearer \(try token(client, issuer: forger))",
            ]
            for header in invalid {
                let answer = try await client.place(wrong, headers: badSignature.merging(["Authorization": header]) { $1 })
                expect(answer, isProblem: "token_invalid", 401, outcome: "unknown")
                #expect(answer.header("WWW-Authenticate")?.hasPrefix("Bearer") == true)
            }
            var answer = try await client.with(token: token(client, lifetime: .seconds(-600))).place(wrong, headers: badSignature)
            expect(answer, isProblem: "token_expired", 401, outcome: "unknown")
            // Scope before account; 30 s of leeway.
            answer = try await client.with(token: token(client, scopes: [.ordersRead], accounts: [])).place(wrong, headers: badSignature)
            expect(answer, isProblem: "scope_missing", 403, outcome: "unknown")
            answer = try await client.with(token: other.phone.token).place(wrong, headers: badSignature)
            expect(answer, isProblem: "account_forbidden", 403, outcome: "unknown")
            answer = try await client.with(token: token(client, lifetime: .seconds(-10))).place(client.draft())
            #expect(answer.status == 201, "\(answer.text)")
            #expect(try await served.written(other) == 0)
        }

        @Test func `is refused for its signature fourth`() async throws {
            let client = try await served.client()
            let other = try await served.client()
            let wrong = wrongLater(client)
            // Wrong in everything later as well: a signature that is good gets as far as the key's age.
            expect(try await client.place(wrong), isProblem: "idempotency_key_expired", 400, outcome: "not_accepted", final: true)
            let signatures = [
                "AAAA", Data(repeating: 0, count: 64).base64EncodedString(), "MAYCAQACAQA=", "MAYCAQECAQA=",
                try other.headers(wrong)["X-Biometric-Signature"]!, try client.headers(client.draft())["X-Biometric-Signature"]!,
            ]
            for signature in signatures {
                for who in [client, client.anonymous] {
                    let answer = try await who.place(wrong, headers: ["X-Biometric-Signature": signature])
                    expect(answer, isProblem: "signature_invalid", 403, outcome: "unknown")
                }
            }
            var answer = try await client.place(wrong, headers: ["X-Biometric-Credential": "cred_nosuch"])
            expect(answer, isProblem: "credential_unknown", 403, outcome: "unknown")
            answer = try await client.place(wrong, headers: ["X-Biometric-Credential": try #require(other.phone.credentialID)])
            expect(answer, isProblem: "credential_unknown", 403, outcome: "unknown")
            _ = try await client.delete("/v1/credentials/\(try #require(client.phone.credentialID))")
            expect(try await client.place(wrong), isProblem: "credential_invalidated", 403, outcome: "unknown")
            #expect(try await served.written(client) == 0)
        }

        @Test(arguments: ["symbol", "side", "order_type", "quantity", "limit_price", "time_in_force", "estimated_total_usd"])
        func `is refused when a field is not the one that was signed`(_ field: String) async throws {
            let client = try await served.client()
            let draft = client.draft {
                $0.quantity = "10"
                $0.total = "1000.00"
            }
            var sent = draft
            switch field {
            case "symbol": sent.symbol = "AAPL"
            case "side": sent.side = "SELL"
            case "order_type": (sent.type, sent.stop) = ("STOP_LIMIT", "101")
            case "quantity": (sent.quantity, sent.total) = ("11", "1100.00")
            case "limit_price": (sent.limit, sent.total) = ("101.00", "1010.00")
            case "time_in_force": sent.timeInForce = "GTC"
            default: sent.total = nil
            }
            expect(try await client.place(draft, body: sent.body), isProblem: "signature_invalid", 403, outcome: "unknown")
            let signed = client.draft()
            for name in ["X-Client-Timestamp", "X-Quote-Reference-Timestamp"] {
                let answer = try await client.place(signed, headers: [name: String(signed.clientTime + 1)])
                expect(answer, isProblem: "signature_invalid", 403, outcome: "unknown")
            }
            let answer = try await client.place(signed, headers: ["Idempotency-Key": Draft.newKey()])
            expect(answer, isProblem: "signature_invalid", 403, outcome: "unknown")
            #expect(try await served.written(client) == 0)
        }

        @Test func `is refused for its key fifth, naming the first order`() async throws {
            let client = try await served.client(cash: 2_000)
            let first = client.draft()
            let accepted = try await client.place(first)
            var other = first.again
            other.quantity = "11"
            // What is refused of clocks, market and funds comes later.
            (other.clientTime, other.quoteTime, other.symbol) = (Town.now() - 3_600_000, 1, "NOSUCH")
            let written = try await served.written(client)
            let answer = try await client.place(other)
            expect(answer, isProblem: "idempotency_key_reused", 422, outcome: "accepted", final: true)
            #expect(answer["order_id"] == accepted["order_id"])
            #expect(answer["key"] == first.key)
            // The first was refused: there is no order to name.
            let poor = client.draft { $0.quantity = "1000" }
            expect(try await client.place(poor), isProblem: "insufficient_funds", 422, outcome: "not_accepted", final: true)
            var richer = poor.again
            richer.quantity = "1"
            let reused = try await client.place(richer)
            expect(reused, isProblem: "idempotency_key_reused", 422, outcome: "not_accepted", final: true)
            #expect(reused["order_id"] == nil)
            #expect(try await served.written(client) == written + 1)
        }

        @Test func `is refused for clocks sixth`() async throws {
            let client = try await served.client()
            let old = client.draft {
                $0.key = Draft.newKey(at: Town.now() - 86_400_000 - 60_000)
                $0.symbol = "NOSUCH"
            }
            expect(try await client.place(old), isProblem: "idempotency_key_expired", 400, outcome: "not_accepted", final: true)
            let ahead = client.draft {
                $0.key = Draft.newKey(at: Town.now() + 120_000)
                $0.symbol = "NOSUCH"
            }
            expect(try await client.place(ahead), isProblem: "clock_skew", 400, outcome: "not_accepted")
            for skew: Int64 in [-90_000, 90_000] {
                let off = client.draft {
                    $0.clientTime += skew
                    $0.symbol = "NOSUCH"
                }
                expect(try await client.place(off), isProblem: "clock_skew", 400, outcome: "not_accepted")
            }
            #expect(try await served.written(client) == 0)
            // Not burnt: with the clock set right the same key is taken, a day old or a little ahead.
            var right = client.draft { $0.key = Draft.newKey(at: Town.now() - 86_400_000 + 120_000) }
            #expect(try await client.place(right).status == 201)
            right = client.draft {
                $0.key = Draft.newKey(at: Town.now() + 5_000)
                $0.clientTime -= 20_000
            }
            #expect(try await client.place(right).status == 201)
        }

        @Test func `is refused for the market seventh, without burning its key`() async throws {
            let client = try await served.client(cash: 1_000)
            let unknown = client.draft {
                $0.symbol = "NOSUCH"
                $0.quoteTime = 1
                $0.quantity = "1000000000"
                $0.limit = "1.00"
            }
            expect(try await client.place(unknown), isProblem: "unknown_symbol", 422, outcome: "not_accepted")
            for reference in [Town.now() - 10_000, Town.now() + 60_000, 0] {
                let draft = client.draft {
                    $0.quoteTime = reference
                    $0.quantity = "100000"
                }
                expect(try await client.place(draft), isProblem: "quote_reference_stale", 409, outcome: "not_accepted")
                #expect(try await served.written(client) == 0)
            }
            var draft = client.draft { $0.quoteTime -= 10_000 }
            expect(try await client.place(draft), isProblem: "quote_reference_stale", 409, outcome: "not_accepted")
            draft.quoteTime = Town.now()
            #expect(try await client.place(draft).status == 201)
        }

        @Test func `is refused while its symbol is stale; replays, cancels and other symbols go on`() async throws {
            let client = try await served.client()
            let symbol = "ORCL"
            let draft = client.draft { ($0.symbol, $0.limit) = (symbol, "150.00") }
            let first = try await client.place(draft)
            let id = try #require(first["order_id"], "\(first.text)")
            try await served.reached("WORKING", client, id)
            served.town.venue.stopQuotes(symbol)
            try await served.eventually("\(symbol) is stale") { try await client.get("/v1/quotes?symbols=\(symbol)")["quotes.0.state"] == "STALE" }
            let refused = client.draft { ($0.symbol, $0.limit) = (symbol, "150.00") }
            // Staleness comes before the quote reference.
            var unreferenced = refused
            unreferenced.quoteTime = 1
            for draft in [refused, unreferenced] {
                let answer = try await client.place(draft)
                expect(answer, isProblem: "market_data_stale", 503, outcome: "not_accepted")
                #expect(answer["data_age_ms"].flatMap { Int($0) } ?? 0 > 2_500)
                #expect(answer.header("Retry-After") != nil)
            }
            #expect(try await client.place(draft.again).body == first.body)
            #expect(try await client.place(client.draft()).status == 201)
            #expect(try await client.delete("/v1/trading/orders/\(id)").status == 202)
            try await served.reached("CANCELLED", client, id)
            served.town.venue.resumeQuotes(symbol)
            try await served.priced(symbol)
            let again = try await client.place(refused.again)
            #expect(again.status == 201, "\(again.text)")
            #expect(again.header("Idempotency-Replayed") == nil)
        }

        @Test func `is refused by a limit, the collar, funds or position last, and the answer is kept for ever`() async throws {
            let client = try await served.client(cash: 10_000, shares: 5)
            let cases: [(String, [String], Draft)] = [
                ("limit_exceeded", ["limit"], client.draft { $0.quantity = "1000001" }),
                ("limit_exceeded", ["limit"], client.draft { ($0.quantity, $0.limit) = ("1000000", "100.0001") }),
                ("price_collar", ["limit"], client.draft { ($0.quantity, $0.limit) = ("1000", "138.08") }),
                ("price_collar", ["limit"], client.draft { ($0.side, $0.quantity, $0.limit) = ("SELL", "1000", "112.94") }),
                ("insufficient_funds", ["required", "available"], client.draft { $0.quantity = "101" }),
                ("insufficient_position", ["required", "available"], client.draft { ($0.side, $0.quantity, $0.limit) = ("SELL", "6", "130.00") }),
            ]
            for (index, (code, extras, draft)) in cases.enumerated() {
                let first = try await client.place(draft.again)
                expect(first, isProblem: code, 422, outcome: "not_accepted", final: true)
                for extra in extras { #expect(first[extra] != nil, "\(first.text)") }
                #expect(first.header("Idempotency-Replayed") == nil)
                let again = try await client.place(draft.again)
                #expect(again.status == first.status)
                #expect(again.body == first.body)
                #expect(again.header("Content-Type") == "application/problem+json")
                #expect(again.header("Idempotency-Replayed") == "true")
                #expect(again.header("X-Order-Status") == nil)
                #expect(again.header("Location") == nil)
                #expect(try await served.written(client) == Int64(index + 1))
            }
            // On the passive side no price is too far.
            #expect(try await client.place(client.draft { ($0.quantity, $0.limit) = ("1", "0.01") }).status == 201)
            #expect(try await client.place(client.draft { ($0.side, $0.quantity, $0.limit) = ("SELL", "1", "9999.00") }).status == 201)
        }

        @Test func `names what is available in exact numbers`() async throws {
            let client = try await served.client(cash: 100, shares: 2)
            let funds = try await client.place(client.draft { ($0.quantity, $0.limit) = ("1", "100.0001") })
            #expect(funds.text.contains(#""required":100.0001"#) && funds.text.contains(#""available":100.00"#), "\(funds.text)")
            let shares = try await client.place(client.draft { ($0.side, $0.quantity, $0.limit) = ("SELL", "3", "130") })
            #expect(shares.text.contains(#""required":3"#) && shares.text.contains(#""available":2"#), "\(shares.text)")
        }
    }
}
