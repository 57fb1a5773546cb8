import Cryptography
import Testing
import Trading
import Wire

@Suite struct `A request to place an order` {
    @Test func `is read from the example of the contract`() throws {
        let request = try PlaceOrderRequest.read(body: Array(Example.body.utf8), headers: Example.headers)
        #expect(request.account == Example.account)
        #expect(request.terms == Example.terms)
        #expect(request.estimatedTotal == Amount("12550"))
        #expect(request.key == Example.key)
        #expect(request.signature == Example.signature)
        #expect(request.credentialID == nil)
        #expect(request.clientTimestamp == 1_773_648_000_120)
        #expect(request.quoteReference == 1_773_647_999_800)
    }

    // MARK: Fields

    @Test(arguments: ["account_id", "symbol", "side", "order_type", "limit_price", "quantity", "time_in_force"], ["null", nil])
    func `names a missing field, and null is missing`(_ name: String, _ json: String?) {
        let problem = problem { () throws(Problem) in try Example.read([name: json]) }
        #expect(problem?.code == .invalidField)
        #expect(problem?.extras == field(name))
        #expect(problem?.detail.contains("'\(name)' is missing") == true)
    }

    @Test(
        arguments: [
            ("account_id", #""""#),
            ("account_id", #""a b""#),
            ("account_id", "7"),
            ("account_id", #""é""#),
            ("account_id", #""\u212A""#),
            ("account_id", #"["acc"]"#),
            ("symbol", #""nvda""#),
            ("symbol", #""ABCDEFGHIJKLMNOPQ""#),
            ("symbol", #""NV DA""#),
            ("symbol", "true"),
            ("symbol", #""NVDA\u0000""#),
            ("symbol", #""N\u006eDA""#),
            ("side", #""buy""#),
            ("side", #""SHORT""#),
            ("side", #""""#),
            ("side", "1"),
            ("order_type", #""limit""#),
            ("order_type", #""MAR\u212AET""#),
            ("order_type", "{}"),
            ("time_in_force", #""GTD""#),
            ("time_in_force", #""FO\u212A""#),
            ("time_in_force", "0"),
        ]
    )
    func `refuses a word that the contract does not know`(_ name: String, _ json: String) {
        let problem = problem { () throws(Problem) in try Example.read([name: json]) }
        #expect(problem?.code == .invalidField)
        #expect(problem?.extras == field(name))
        #expect(problem?.detail.contains("Send ") == true)
    }

    @Test(
        arguments: [
            "0", "-1", "1.0", "1e2", "1.5", "1000000001", "9223372036854775808", "1e400", "\"100\"", "true", "[100]", "-0",
            "100000000000000000000000",
        ]
    )
    func `refuses a quantity that is no whole number from 1 to 10⁹`(_ json: String) {
        let problem = problem { () throws(Problem) in try Example.read(["quantity": json, "estimated_total_usd": nil]) }
        #expect(problem?.code == .invalidField)
        #expect(problem?.extras == field("quantity"))
    }

    @Test(arguments: [("1", 1), ("1000000000", 1_000_000_000)] as [(String, Int64)])
    func `takes the smallest and the largest quantity`(_ json: String, _ quantity: Int64) throws {
        #expect(try Example.read(["quantity": json, "estimated_total_usd": nil]).terms.quantity == quantity)
    }

    @Test(
        arguments: [
            "1e400", "1e2", "1E0", "0.00001", "125.50000", "-1", "-0.0", "0", "0.0000", "922337203685477.5808", "99999999999999999999999999",
            "\"NaN\"",
            "\"Infinity\"", "\"\"", "\" 1\"", "\"1 \"", "\"+1\"", "\"1.\"", "\".5\"", "\"1,5\"", "\"01\"", "\"00.5\"", "\"1e2\"", "\"١\"", "\"$1\"",
            "\"0x1\"", "true", "[]", "{}", "\"-1\"", "\"0\"",
        ]
    )
    func `refuses a price that is not plain, exact and above zero`(_ json: String) {
        for name in ["limit_price", "stop_price"] {
            let problem = problem { () throws(Problem) in
                try Example.read(["order_type": "\"STOP_LIMIT\"", "limit_price": "1", "stop_price": "1", name: json, "estimated_total_usd": nil])
            }
            #expect(problem?.code == .invalidField)
            #expect(problem?.extras == field(name))
        }
    }

    @Test(arguments: ["NaN", "Infinity", "-Infinity", "01", "+1", ".5", "1.", "0x1"])
    func `calls what is no JSON number malformed`(_ json: String) {
        #expect(problem { () throws(Problem) in try Example.read(["limit_price": json]) }?.code == .malformedRequest)
    }

    @Test(
        arguments: [("125.5", 1_255_000), ("\"125.50\"", 1_255_000), ("125.5025", 1_255_025), ("\"0.0001\"", 1), ("7", 70_000)] as [(String, Int64)]
    )
    func `takes money as number or string, exactly`(_ json: String, _ units: Int64) throws {
        #expect(try Example.read(["limit_price": json, "estimated_total_usd": nil]).terms.limitPrice?.units == units)
    }

    @Test(
        arguments: [
            ("MARKET", false, false),
            ("LIMIT", true, false),
            ("STOP", false, true),
            ("STOP_LIMIT", true, true),
        ]
    )
    func `has prices exactly when its type has them`(_ type: String, _ hasLimit: Bool, _ hasStop: Bool) throws {
        for (limit, stop) in [(false, false), (false, true), (true, false), (true, true)] {
            for absent in ["null", nil] {
                let changes: KeyValuePairs<String, String?> = [
                    "order_type": "\"\(type)\"", "limit_price": limit ? "10" : absent, "stop_price": stop ? "11" : absent, "estimated_total_usd": nil,
                ]
                if limit == hasLimit, stop == hasStop {
                    let terms = try Example.read(changes).terms
                    #expect(terms.limitPrice == (hasLimit ? Amount("10") : nil))
                    #expect(terms.stopPrice == (hasStop ? Amount("11") : nil))
                } else {
                    let problem = problem { () throws(Problem) in try Example.read(changes) }
                    #expect(problem?.code == .invalidField)
                    #expect(problem?.extras == field(limit == hasLimit ? "stop_price" : "limit_price"))
                }
            }
        }
    }

    @Test(arguments: ["12549.9999", "12550.0001", "0", "125.50"])
    func `refuses a total that is not quantity times limit price`(_ json: String) {
        let problem = problem { () throws(Problem) in try Example.read(["estimated_total_usd": json]) }
        #expect(problem?.code == .invalidField)
        #expect(problem?.extras == field("estimated_total_usd"))
        #expect(problem?.detail.contains("12550.00") == true)
    }

    @Test(arguments: ["\"12550\"", "12550.0000", nil, "null"])
    func `takes the right total in any spelling, or none`(_ json: String?) throws {
        let total = try Example.read(["estimated_total_usd": json]).estimatedTotal
        #expect(total == (json == nil || json == "null" ? nil : Amount("12550")))
    }

    @Test func `compares the total of LIMIT orders only`() throws {
        let market = try Example.read(["order_type": "\"MARKET\"", "limit_price": nil, "estimated_total_usd": "1.23"])
        #expect(market.estimatedTotal == Amount("1.23"))
        let stopLimit = try Example.read(["order_type": "\"STOP_LIMIT\"", "stop_price": "1", "estimated_total_usd": "1.23"])
        #expect(stopLimit.estimatedTotal == Amount("1.23"))
    }

    @Test(arguments: [("LIMIT", "limit_price", "stop_price"), ("STOP", "stop_price", "limit_price")])
    func `refuses a product beyond the range`(_ type: String, _ price: String, _ absent: String) throws {
        let most = "922337.2036"
        let fits = try Example.read([
            "order_type": "\"\(type)\"", absent: nil, price: most, "quantity": "1000000000", "estimated_total_usd": nil,
        ])
        #expect(fits.terms.quantity == 1_000_000_000)
        let problem = problem { () throws(Problem) in
            try Example.read([
                "order_type": "\"\(type)\"", absent: nil, price: "922337.2037", "quantity": "1000000000", "estimated_total_usd": "1",
            ])
        }
        #expect(problem?.code == .invalidField)
        #expect(problem?.extras == field("quantity"))
    }

    @Test(arguments: ["limitPrice", "Symbol", "account_id ", "extended_hours", "", "\u{212A}", "order_typ\u{435}"])
    func `refuses and names an unknown field`(_ name: String) {
        let problem = problem { () throws(Problem) in try Example.read([name: "1"]) }
        #expect(problem?.code == .invalidField)
        #expect(problem?.extras == field(name))
    }

    @Test(
        arguments: [
            "", "[]", "null", "\"order\"", "7", "{", "{}}", #"{"symbol":"NVDA","symbol":"AAPL"}"#, "not json", "symbol=NVDA", #"{"symbol":"\ud800"}"#,
            #"{"account_id":{"a":1,"a":2}}"#,
        ]
    )
    func `calls a body malformed that is no strict JSON object`(_ body: String) {
        let problem = problem { () throws(Problem) in try PlaceOrderRequest.read(body: Array(body.utf8), headers: Example.headers) }
        #expect(problem?.code == .malformedRequest)
        #expect(problem?.status == 400)
        #expect(problem?.outcome == .unknown)
        #expect(problem?.isFinal == false)
    }

    @Test func `calls a body malformed that is bombed or bent`() {
        for body in [
            Array(repeating: UInt8(ascii: "["), count: JSONLimits.request.bytes), Array("{\"symbol\":\"".utf8) + [0xC0, 0xAF] + Array("\"}".utf8),
        ] {
            let problem = problem { () throws(Problem) in try PlaceOrderRequest.read(body: body, headers: Example.headers) }
            #expect(problem?.code == .malformedRequest)
        }
    }

    // MARK: Headers

    private func read(_ change: (inout PlaceOrderHeaders) -> Void) throws(Problem) -> PlaceOrderRequest {
        var headers = Example.headers
        change(&headers)
        return try PlaceOrderRequest.read(body: Array(Example.body.utf8), headers: headers)
    }

    @Test(arguments: ["Idempotency-Key", "X-Biometric-Signature", "X-Client-Timestamp", "X-Quote-Reference-Timestamp"], [nil, ""])
    func `names a missing header`(_ name: String, _ value: String?) {
        let problem = problem { () throws(Problem) in
            try read { headers in
                switch name {
                case PlaceOrderHeaders.Name.idempotencyKey: headers.idempotencyKey = value
                case PlaceOrderHeaders.Name.signature: headers.signature = value
                case PlaceOrderHeaders.Name.clientTimestamp: headers.clientTimestamp = value
                default: headers.quoteReferenceTimestamp = value
                }
            }
        }
        #expect(problem?.code == .missingHeader)
        #expect(problem?.extras == field(name))
        #expect(problem?.detail.contains(name) == true)
    }

    @Test(arguments: ["x", "018e3d2a-7f12-4000-8000-123456789abc", "\"018e3d2a-7f12-7000-8000-123456789abc", " \(Example.keyText)"])
    func `refuses a key that is no UUIDv7`(_ value: String) {
        let problem = problem { () throws(Problem) in try read { $0.idempotencyKey = value } }
        #expect(problem?.code == .invalidField)
        #expect(problem?.extras == field("Idempotency-Key"))
    }

    @Test(arguments: ["\"\(Example.keyText)\"", Example.keyText.uppercased()])
    func `takes the key quoted and in any case`(_ value: String) throws {
        #expect(try read { $0.idempotencyKey = value }.key == Example.key)
    }

    @Test(arguments: ["abc", "????", "AA==AA==", "AB==", "AAAA\n", Base64.standard.encode(Array(repeating: 0, count: 257)), "AAA-"])
    func `refuses a signature that is no strict base64 or too long`(_ value: String) {
        let problem = problem { () throws(Problem) in try read { $0.signature = value } }
        #expect(problem?.code == .invalidField)
        #expect(problem?.extras == field("X-Biometric-Signature"))
        #expect(problem?.detail.contains(value) == false)
    }

    @Test(arguments: ["-1", "+1", "1.0", "1e3", "x", " 1", "01", "9223372036854775808", "253402300800000", "١"])
    func `refuses timestamps that are no whole milliseconds`(_ value: String) {
        let client = problem { () throws(Problem) in try read { $0.clientTimestamp = value } }
        #expect(client?.code == .invalidField)
        #expect(client?.extras == field("X-Client-Timestamp"))
        let quote = problem { () throws(Problem) in try read { $0.quoteReferenceTimestamp = value } }
        #expect(quote?.code == .invalidField)
        #expect(quote?.extras == field("X-Quote-Reference-Timestamp"))
    }

    @Test(arguments: [("0", 0), ("253402300799999", 253_402_300_799_999)] as [(String, Int64)])
    func `takes the first and the last timestamp`(_ value: String, _ milliseconds: Int64) throws {
        #expect(try read { $0.clientTimestamp = value }.clientTimestamp == milliseconds)
        #expect(try read { $0.quoteReferenceTimestamp = value }.quoteReference == milliseconds)
    }

    @Test(arguments: [("cred_1-A", true), ("", false), ("a b", false), (String(repeating: "x", count: 65), false), ("é", false)])
    func `takes a plain credential id`(_ value: String, _ valid: Bool) throws {
        if valid {
            #expect(try read { $0.credential = value }.credentialID == value)
        } else {
            let problem = problem { () throws(Problem) in try read { $0.credential = value } }
            #expect(problem?.code == .invalidField)
            #expect(problem?.extras == field("X-Biometric-Credential"))
        }
    }

    // MARK: Precedence, and the way back

    /// Repairs one fault after the other and expects the next in line.
    @Test func `names one fault in a stable order`() {
        var headers = PlaceOrderHeaders(
            idempotencyKey: nil,
            signature: "?",
            credential: "?",
            clientTimestamp: "?",
            quoteReferenceTimestamp: nil
        )
        func first(_ body: String) -> String {
            let problem = problem { () throws(Problem) in try PlaceOrderRequest.read(body: Array(body.utf8), headers: headers) }
            return problem.map { text($0.body(serverTime: 0)) }?.firstMatch(of: /"code":"(\w+)".*?(?:"field":"([\w-]+)")?}/).map {
                "\($0.1) \($0.2 ?? "-")"
            } ?? "-"
        }
        #expect(first(#"{"zz":1,"symbol":1"#) == "malformed_request -")
        #expect(first(#"{"symbol":1,"zz":1,"yy":1}"#) == "invalid_field zz")
        #expect(first(#"{"quantity":0,"symbol":1,"account_id":2}"#) == "invalid_field account_id")
        #expect(first(#"{"quantity":0,"symbol":1,"account_id":"a"}"#) == "invalid_field symbol")
        let body = Example.body
        #expect(first(body) == "missing_header Idempotency-Key")
        headers.idempotencyKey = "?"
        #expect(first(body) == "missing_header X-Quote-Reference-Timestamp")
        headers.quoteReferenceTimestamp = "?"
        #expect(first(body) == "invalid_field Idempotency-Key")
        headers.idempotencyKey = Example.keyText
        #expect(first(body) == "invalid_field X-Biometric-Signature")
        headers.signature = "AAAA"
        #expect(first(body) == "invalid_field X-Client-Timestamp")
        headers.clientTimestamp = "1"
        #expect(first(body) == "invalid_field X-Quote-Reference-Timestamp")
        headers.quoteReferenceTimestamp = "1"
        #expect(first(body) == "invalid_field X-Biometric-Credential")
    }

    @Test(arguments: OrderType.allCases, Side.allCases)
    func `is the same after the way over the wire`(_ type: OrderType, _ side: Side) throws {
        for timeInForce in TimeInForce.allCases {
            let terms = OrderTerms(
                symbol: Symbol("BRK.B")!,
                side: side,
                type: type,
                timeInForce: timeInForce,
                quantity: 7,
                limitPrice: type.hasLimitPrice ? Amount("0.0003") : nil,
                stopPrice: type.hasStopPrice ? Amount("10.5") : nil
            )
            for (total, credential) in [(nil, "cred_1"), (Amount("0.0021"), nil)] {
                let request = PlaceOrderRequest(
                    account: Example.account,
                    terms: terms,
                    estimatedTotal: total,
                    key: Example.key,
                    signature: [1, 2, 3, 4],
                    credentialID: credential,
                    clientTimestamp: 12,
                    quoteReference: 0
                )
                #expect(try PlaceOrderRequest.read(body: request.body, headers: request.headers) == request)
            }
        }
    }
}
