import Testing
import Trading
import Wire

@Suite struct `An error code` {
    /// Design section 4.3, row by row: code, status, outcome, final.
    static let table: [(String, Int, String, Bool)] = [
        ("payload_too_large", 413, "unknown", false),
        ("unsupported_media_type", 415, "unknown", false),
        ("malformed_request", 400, "unknown", false),
        ("missing_header", 400, "unknown", false),
        ("invalid_field", 400, "unknown", false),
        ("token_invalid", 401, "unknown", false),
        ("token_expired", 401, "unknown", false),
        ("account_forbidden", 403, "unknown", false),
        ("scope_missing", 403, "unknown", false),
        ("rate_limited", 429, "unknown", false),
        ("signature_invalid", 403, "unknown", false),
        ("credential_unknown", 403, "unknown", false),
        ("credential_invalidated", 403, "unknown", false),
        ("idempotency_key_reused", 422, "unknown", false),
        ("key_fenced", 409, "not_accepted", true),
        ("recovering", 503, "unknown", false),
        ("replace_not_restored", 409, "unknown", false),
        ("idempotency_key_expired", 400, "not_accepted", true),
        ("clock_skew", 400, "not_accepted", false),
        ("trading_halted", 503, "not_accepted", false),
        ("venue_unavailable", 503, "not_accepted", false),
        ("unknown_symbol", 422, "not_accepted", false),
        ("market_data_stale", 503, "not_accepted", false),
        ("quote_reference_stale", 409, "not_accepted", false),
        ("limit_exceeded", 422, "not_accepted", true),
        ("price_collar", 422, "not_accepted", true),
        ("insufficient_funds", 422, "not_accepted", true),
        ("insufficient_position", 422, "not_accepted", true),
        ("busy", 503, "unknown", false),
        ("outcome_unknown", 503, "unknown", false),
        ("key_unknown", 404, "unknown", false),
        ("order_not_open", 409, "accepted", true),
        ("change_pending", 409, "not_accepted", false),
        ("quantity_filled", 422, "not_accepted", false),
        ("credential_not_pending", 409, "not_applicable", false),
        ("challenge_expired", 409, "not_applicable", false),
        ("pairing_invalid", 403, "not_applicable", false),
        ("too_many_credentials", 409, "not_applicable", false),
        ("not_found", 404, "not_applicable", false),
        ("method_not_allowed", 405, "not_applicable", false),
        ("internal_error", 500, "unknown", false),
    ]

    @Test(arguments: table)
    func `answers as the contract says`(_ code: String, _ status: Int, _ outcome: String, _ isFinal: Bool) throws {
        let code = try #require(ErrorCode(rawValue: code))
        #expect(code.status == status)
        #expect(code.outcome.rawValue == outcome)
        #expect(code.isFinal == isFinal)
        #expect(code.isRetrySafe)
    }

    @Test func `stands in the table, each once and in its order`() {
        #expect(ErrorCode.allCases.map(\.rawValue) == Self.table.map(\.0))
    }

    @Test func `has a title and a type of its own`() {
        #expect(Set(ErrorCode.allCases.map(\.title)).count == ErrorCode.allCases.count)
        #expect(ErrorCode.priceCollar.type == "urn:order-router:problem:price_collar")
    }

    @Test func `is never final while the outcome is open`() {
        for code in ErrorCode.allCases where code.isFinal {
            #expect(code.outcome == .accepted || code.outcome == .notAccepted)
        }
    }
}

@Suite struct `A problem` {
    @Test func `carries everything that the contract promises, in a fixed order`() {
        let problem = Problem(.marketDataStale, "NVDA's data is 3,100 ms old. \"Wait\" for fresh data.", extras: [.dataAge(milliseconds: 3_100)])
        #expect(
            text(problem.body(serverTime: 1_773_648_000_180))
                == #"{"type":"urn:order-router:problem:market_data_stale","title":"Market data is stale","status":503,"#
                + #""detail":"NVDA's data is 3,100 ms old. \"Wait\" for fresh data.","code":"market_data_stale","outcome":"not_accepted","#
                + #""final":false,"retry_safe":true,"server_time":1773648000180,"data_age_ms":3100}"#
        )
        #expect(problem.status == 503)
        #expect(problem.headers == [HeaderField("Content-Type", "application/problem+json")])
    }

    @Test(arguments: ErrorCode.allCases)
    func `is strict JSON that says what its code says`(_ code: ErrorCode) throws {
        let value = try JSONReader.read(Problem(code, "d\u{1}\u{2028}").body(serverTime: 5))
        #expect(value["type"] == .string(code.type))
        #expect(value["title"] == .string(code.title))
        #expect(value["status"] == .number(String(code.status)))
        #expect(value["detail"] == .string("d\u{1}\u{2028}"))
        #expect(value["code"] == .string(code.rawValue))
        #expect(value["outcome"] == .string(code.outcome.rawValue))
        #expect(value["final"] == .bool(code.isFinal))
        #expect(value["retry_safe"] == .bool(true))
        #expect(value["server_time"] == .number("5"))
    }

    @Test(
        arguments: [
            (.field("quantity"), #""field":"quantity""#),
            (.orderID(Example.orderID), #""order_id":"ord_20240314_77777777777777777777777774""#),
            (.order(Example.order), #""order":"# + Example.orderJSON),
            (.key(Example.key), #""key":"018e3d2a-7f12-7000-8000-123456789abc""#),
            (.limit(Amount("1000.5")!), #""limit":1000.50"#),
            (.limit(count: 5), #""limit":5"#),
            (.available(Amount("0.0001")!), #""available":0.0001"#),
            (.available(shares: 3), #""available":3"#),
            (.required(Amount("12550")!), #""required":12550.00"#),
            (.required(shares: 100), #""required":100"#),
            (.halt(scope: .venue, reason: "drill \"A\""), #""halt":{"scope":"venue","reason":"drill \"A\""}"#),
        ] as [(Problem.Extra, String)]
    )
    func `says what the person needs next`(_ extra: Problem.Extra, _ json: String) throws {
        let body = Problem(.invalidField, "d", extras: [extra]).body(serverTime: 0)
        #expect(text(body).hasSuffix(#""server_time":0,"# + json + "}"))
        #expect(try JSONReader.read(body)[extra.name] != nil)
    }

    @Test func `keeps its extras in order`() {
        let body = Problem(.insufficientFunds, "d", extras: [.available(Amount("1")!), .required(Amount("2")!)]).body(serverTime: 0)
        #expect(text(body).hasSuffix(#","available":1.00,"required":2.00}"#))
    }

    @Test func `tells when to come back, and how to authenticate`() {
        let limited = Problem(.rateLimited, "d", retryAfterSeconds: 3, headers: [HeaderField("RateLimit", "x")])
        #expect(limited.headers.dropFirst() == [HeaderField("Retry-After", "3"), HeaderField("RateLimit", "x")])
        #expect(Problem(.tokenExpired, "d").headers.last == HeaderField("WWW-Authenticate", "Bearer error=\"invalid_token\""))
        #expect(Problem(.tokenInvalid, "d").headers.last == HeaderField("WWW-Authenticate", "Bearer error=\"invalid_token\""))
        #expect(Problem(.scopeMissing, "d").headers.last == HeaderField("WWW-Authenticate", "Bearer error=\"insufficient_scope\""))
    }

    @Test func `of a reused key speaks of the first order`() throws {
        let accepted = Problem.idempotencyKeyReused(Example.key, firstOrder: Example.orderID)
        #expect(accepted.outcome == .accepted)
        #expect(accepted.isFinal)
        let body = try JSONReader.read(accepted.body(serverTime: 0))
        #expect(body["order_id"] == .string(Example.orderID.text))
        #expect(body["outcome"] == .string("accepted"))
        #expect(body["final"] == .bool(true))
        let refused = Problem.idempotencyKeyReused(Example.key, firstOrder: nil)
        #expect(refused.outcome == .notAccepted)
        #expect(refused.isFinal)
        #expect(try JSONReader.read(refused.body(serverTime: 0))["order_id"] == nil)
    }

    @Test func `of an unknown outcome says where the answer will be`() {
        let problem = Problem.outcomeUnknown(key: Example.key)
        #expect(problem.status == 503)
        #expect(problem.outcome == .unknown)
        #expect(problem.headers.last == HeaderField("Location", "/v1/trading/orders/by-key/\(Example.keyText)"))
    }
}
