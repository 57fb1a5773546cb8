import Testing
import Trading
import Wire

@Suite struct `The signed form` {
    private let example = """
        TRADING-ORDER-V1
        account_id=acc_998124a87
        symbol=NVDA
        side=BUY
        order_type=LIMIT
        quantity=100
        limit_price=125.5000
        stop_price=
        time_in_force=DAY
        estimated_total_usd=12550.0000
        idempotency_key=018e3d2a-7f12-7000-8000-123456789abc
        client_timestamp=1773648000120
        quote_reference_timestamp=1773647999800
        """

    @Test func `of the example is the text of the contract, byte for byte`() throws {
        let request = try PlaceOrderRequest.read(body: Array(Example.body.utf8), headers: Example.headers)
        #expect(text(SignedForm.order(request)) == example)
    }

    @Test func `without its two timestamp lines is what the fingerprint is made of`() throws {
        let request = try Example.read()
        let lines = example.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(text(SignedForm.fingerprintText(request)) == lines.dropLast(2).joined(separator: "\n"))
    }

    @Test func `leaves absent values empty`() throws {
        let request = try Example.read([
            "order_type": "\"STOP\"", "limit_price": nil, "stop_price": "0.01", "estimated_total_usd": nil, "side": "\"SELL\"",
            "time_in_force": "\"GTC\"",
        ])
        #expect(
            text(SignedForm.fingerprintText(request)) == """
                TRADING-ORDER-V1
                account_id=acc_998124a87
                symbol=NVDA
                side=SELL
                order_type=STOP
                quantity=100
                limit_price=
                stop_price=0.0100
                time_in_force=GTC
                estimated_total_usd=
                idempotency_key=018e3d2a-7f12-7000-8000-123456789abc
                """
        )
    }

    @Test func `does not change with spelling, order or fresh timestamps`() throws {
        let first = try Example.read()
        var headers = Example.headers
        headers.idempotencyKey = "\"\(Example.keyText.uppercased())\""
        headers.clientTimestamp = "1773648009999"
        headers.quoteReferenceTimestamp = "1773648009000"
        headers.signature = "AAAA"
        let body =
            #"{ "estimated_total_usd":"12550", "time_in_force":"DAY", "quantity":100, "stop_price":null, "limit_price":"125.5","#
            + #""order_type":"LIMIT","side":"\u0042UY","symbol":"NVDA","account_id":"acc_998124a87" }"#
        let second = try PlaceOrderRequest.read(body: Array(body.utf8), headers: headers)
        #expect(SignedForm.fingerprintText(first) == SignedForm.fingerprintText(second))
        #expect(SignedForm.order(first) != SignedForm.order(second))
    }

    @Test(
        arguments: [
            ["account_id": "\"acc_2\""],
            ["symbol": "\"AAPL\""],
            ["side": "\"SELL\""],
            ["quantity": "101", "estimated_total_usd": nil],
            ["limit_price": "125.51", "estimated_total_usd": nil],
            ["time_in_force": "\"GTC\""],
            ["estimated_total_usd": nil],
            ["order_type": "\"STOP_LIMIT\"", "stop_price": "1"],
            ["order_type": "\"MARKET\"", "limit_price": nil],
        ] as [KeyValuePairs<String, String?>]
    )
    func `changes with everything that changes the effect`(_ changes: KeyValuePairs<String, String?>) throws {
        #expect(SignedForm.fingerprintText(try Example.read(changes)) != SignedForm.fingerprintText(try Example.read()))
    }

    @Test func `is another text for each other order`() throws {
        var texts: Set<[UInt8]> = []
        var orders = 0
        for type in OrderType.allCases {
            for side in Side.allCases {
                for timeInForce in TimeInForce.allCases {
                    for quantity: Int64 in [1, 11, 111] {
                        for (price, total) in [("1", nil), ("11", "1"), ("0.1", "11"), ("0.01", "0.1")] as [(String, String?)] {
                            let terms = OrderTerms(
                                symbol: Example.terms.symbol,
                                side: side,
                                type: type,
                                timeInForce: timeInForce,
                                quantity: quantity,
                                limitPrice: type.hasLimitPrice ? Amount(price) : nil,
                                stopPrice: type.hasStopPrice ? Amount(price) : nil
                            )
                            texts.insert(
                                SignedForm.fingerprintText(
                                    account: Example.account,
                                    terms: terms,
                                    estimatedTotal: total.flatMap { Amount($0) },
                                    key: Example.key
                                )
                            )
                            orders += 1
                        }
                    }
                }
            }
        }
        #expect(orders == 384)
        #expect(texts.count == orders)
    }

    @Test func `has thirteen lines, each a name and a value`() throws {
        let lines = text(SignedForm.order(try Example.read())).split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 13)
        #expect(lines.dropFirst().allSatisfy { $0.count { $0 == "=" } == 1 })
    }

    @Test func `of a key writes it as Trading does`() {
        for bits: UInt64 in [0, 1, 0x0123_4567_89AB_CDEF, 0x0FED_CBA9_8765_4321, .max >> 2] {
            let key = IdempotencyKey(high: bits << 16 | 0x7000 | bits & 0xFFF, low: 1 << 63 | bits & (.max >> 2))!
            #expect(text(SignedForm.orderIdentityText(account: Example.account, key: key)) == "acc_998124a87\n\(key)")
        }
    }

    @Test func `of a pairing holds account, credential and challenge`() {
        let form = SignedForm.credentialPair(account: Example.account, credentialID: "cred_7", challenge: "abc-_")
        #expect(text(form) == "CREDENTIAL-PAIR-V1\naccount_id=acc_998124a87\ncredential_id=cred_7\nchallenge=abc-_")
    }
}
