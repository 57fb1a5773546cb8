import Testing
import Trading

@Suite struct `The limits` {
    let limits = RiskLimits(maximumQuantity: 1_000, maximumNotional: usd("50000"), collarBasisPoints: 500)
    let bid = usd("99")
    let ask = usd("100")

    private func refusal(_ terms: OrderTerms) -> Refusal? { limits.refusal(of: terms, bid: bid, ask: ask) }

    @Test func `look at quantity, then notional, then collar`() {
        #expect(refusal(terms(quantity: 1_001, limit: "200")) == .quantityLimit(maximum: 1_000))
        #expect(refusal(terms(quantity: 1_000, limit: "200")) == .notionalLimit(maximum: usd("50000")))
        #expect(refusal(terms(quantity: 1, limit: "200")) == .priceCollar(bound: usd("105"), reference: ask))
        #expect(refusal(terms(quantity: 500, limit: "100")) == nil)
        #expect(refusal(terms(quantity: 500, limit: "100.0001")) == .notionalLimit(maximum: usd("50000")))
        #expect(refusal(terms(quantity: 1_000, limit: "922337203685477")) == .notionalLimit(maximum: usd("50000")))
    }

    @Test(
        arguments: [
            (terms(.buy, limit: "105"), nil), (terms(.buy, limit: "105.0001"), .priceCollar(bound: usd("105"), reference: usd("100"))),
            (terms(.buy, limit: "1"), nil), (terms(.sell, limit: "94.05"), nil),
            (terms(.sell, limit: "94.0499"), .priceCollar(bound: usd("94.05"), reference: usd("99"))),
            (terms(.sell, quantity: 1, limit: "4000"), nil),
            (terms(.buy, .market), nil), (terms(.sell, .market), nil), (terms(.buy, .stop, limit: nil, stop: "300"), nil),
            (terms(.buy, .stopLimit, limit: "126", stop: "120"), nil),
            (terms(.buy, .stopLimit, limit: "126.01", stop: "120"), .priceCollar(bound: usd("126"), reference: usd("120"))),
            (terms(.buy, .stopLimit, limit: "104", stop: "50"), nil),
            (terms(.sell, .stopLimit, limit: "76", stop: "80"), nil),
            (terms(.sell, .stopLimit, limit: "75.99", stop: "80"), .priceCollar(bound: usd("76"), reference: usd("80"))),
            (terms(.sell, .stopLimit, limit: "95", stop: "200"), nil),
        ] as [(OrderTerms, Refusal?)]
    )
    func `collar the aggressive side alone`(_ terms: OrderTerms, _ expected: Refusal?) {
        #expect(refusal(terms) == expected)
    }

    /// A BUY STOP below the market triggers at once and pays the ask: it is a market order, whatever its stop says.
    @Test(arguments: [
        (terms(.buy, limit: "12.34"), "12.34"), (terms(.buy, .market), "105"), (terms(.buy, .stop, stop: "120"), "126"),
        (terms(.buy, .stop, stop: "0.01"), "105"), (terms(.buy, .stopLimit, limit: "125", stop: "120"), "125"), (terms(.sell), "0"),
        (terms(.sell, .market), "0"), (terms(.sell, .stop), "0"),
    ])
    func `size the hold by the worst price that the order can pay`(_ terms: OrderTerms, _ price: String) {
        #expect(limits.holdPrice(of: terms, ask: ask) == usd(price))
    }

    @Test func `round a hold up and say when it leaves the range`() {
        #expect(limits.holdPrice(of: terms(.buy, .market), ask: usd("0.0001")) == usd("0.0002"))
        #expect(limits.holdPrice(of: terms(.buy, .market), ask: Amount(units: .max)) == nil)
    }

    @Test func `measure a BUY STOP's worth by the ask where that is higher`() {
        #expect(refusal(terms(.buy, .stop, quantity: 501, stop: "0.01")) == .notionalLimit(maximum: usd("50000")))
        #expect(refusal(terms(.buy, .market, quantity: 501)) == .notionalLimit(maximum: usd("50000")))
        #expect(refusal(terms(.sell, .market, quantity: 505)) == nil)
    }

    @Test(arguments: TimeInForce.allCases, OrderType.allCases)
    func `give immediate orders a short time to be routed`(_ force: TimeInForce, _ type: OrderType) {
        let deadlines = RouteDeadlines(immediateMilliseconds: 5_000, sessionMilliseconds: 60_000)
        let isImmediate = type == .market || force == .immediateOrCancel || force == .fillOrKill
        #expect(deadlines.deadline(of: terms(.buy, type, force), acceptedAt: 7) == (isImmediate ? 5_007 : 60_007))
    }

    @Test func `are refusals in order of precedence, of which those of risk burn the key`() {
        let halt = Halt(scope: .venue, subject: "", reason: "test")
        let kept: [Refusal] = [
            .accountUnknown, .credentialUnknown, .credentialInvalidated, .keyReused(firstOrder: nil), .keyFenced, .keyRecovering,
            .replaceNotRestored(orderID),
            .keyExpired(ageMilliseconds: 1),
            .clockSkew(milliseconds: 1), .tradingHalted(halt), .venueUnavailable, .unknownSymbol(symbol),
            .marketDataStale(ageMilliseconds: nil, why: ""),
            .quoteReferenceStale(ageMilliseconds: 1),
        ]
        let burning: [Refusal] = [
            .quantityLimit(maximum: 1), .notionalLimit(maximum: .zero), .priceCollar(bound: .zero, reference: .zero), .accountOwes,
            .insufficientFunds(required: .zero, available: .zero), .insufficientPosition(required: 1, available: 0),
        ]
        #expect(kept.allSatisfy { !$0.burnsKey })
        #expect(burning.allSatisfy { $0.burnsKey })
    }

    @Test func `halt a venue, a symbol or an account`() {
        let (other, elsewhere) = (AccountID("acc_2")!, Symbol("AAPL")!)
        #expect(Halt(scope: .venue, subject: "", reason: "").covers(account: other, symbol: elsewhere))
        let ofSymbol = Halt(scope: .symbol, subject: "NVDA", reason: "")
        #expect(ofSymbol.covers(account: other, symbol: symbol) && !ofSymbol.covers(account: account, symbol: elsewhere))
        let ofAccount = Halt(scope: .account, subject: "acc_1", reason: "")
        #expect(ofAccount.covers(account: account, symbol: elsewhere) && !ofAccount.covers(account: other, symbol: symbol))
    }
}
