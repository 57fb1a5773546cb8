import Testing
import Trading
import Wire

@Suite struct `A client` {
    private static let variants: [OrderView] = OrderType.allCases.flatMap { type in
        OrderStatus.allCases.map { status in
            OrderView(
                orderID: Example.orderID,
                accountID: Example.account,
                key: Example.key,
                terms: OrderTerms(
                    symbol: Example.terms.symbol,
                    side: status.isOpen ? .buy : .sell,
                    type: type,
                    timeInForce: .fillOrKill,
                    quantity: 1_000_000_000,
                    limitPrice: type.hasLimitPrice ? Amount("0.0001") : nil,
                    stopPrice: type.hasStopPrice ? Amount(units: .max) : nil
                ),
                filledQuantity: status.isOpen ? 0 : 7,
                averagePrice: status.isOpen ? nil : Amount("1.5"),
                status: status,
                reason: status == .rejected ? "said \"no\"\n" : nil,
                reservedFunds: .zero,
                createdAt: 0,
                updatedAt: .max
            )
        }
    }

    @Test(arguments: variants)
    func `reads each order back`(_ order: OrderView) throws {
        #expect(try OrderView.read(order.body) == order)
    }

    @Test func `reads each answer back`() throws {
        let accepted = AcceptedAnswer(orderID: Example.orderID, terms: Example.terms, reservedFunds: Amount("12550")!, createdAt: 5)
        #expect(try AcceptedAnswer.read(accepted.body) == accepted)
        let cancel = CancelAnswer(orderID: Example.orderID, cancelID: "\(Example.orderID)-c2")
        #expect(try CancelAnswer.read(cancel.body) == cancel)
        for next in [nil, OrderCursor(createdAt: 3, orderID: Example.orderID)] {
            let page = OrderPage(orders: Self.variants, next: next)
            #expect(try OrderPage.read(page.body) == page)
        }
    }

    @Test func `reads a full page of the longest orders within its limits`() throws {
        let page = OrderPage(orders: Array(repeating: Self.variants[0], count: OrderListQuery.limitRange.upperBound), next: nil)
        #expect(page.body.count < JSONLimits.answer.bytes)
        #expect(try OrderPage.read(page.body) == page)
    }

    @Test func `reads what became of a key`() throws {
        let accepted = AcceptedAnswer(orderID: Example.orderID, terms: Example.terms, reservedFunds: Amount("12550")!, createdAt: 5)
        let refusal = Problem(.insufficientPosition, "Not enough.", extras: [.available(shares: 3), .required(shares: 4)])
        let answers: [KeyAnswer] = [
            .accepted(key: Example.key, firstStatus: 201, firstBody: accepted.body, order: Example.order),
            .accepted(key: Example.key, firstStatus: 201, firstBody: accepted.body, order: nil),
            .refused(key: Example.key, firstStatus: 422, firstBody: refusal.body(serverTime: 9)),
            .fenced(key: Example.key),
        ]
        for answer in answers {
            #expect(try KeyAnswer.read(answer.body) == answer)
        }
    }

    @Test(arguments: OrderEventType.allCases)
    func `reads each event back`(_ type: OrderEventType) throws {
        let isFill = type == .fill
        let event = StreamedEvent(
            type: type,
            at: 7,
            lastQuantity: isFill ? 40 : nil,
            lastPrice: isFill ? Amount("125.5025") : nil,
            order: Example.order
        )
        #expect(try StreamedEvent.read(event.data) == event)
    }

    @Test func `reads a reset back`() throws {
        for latest in [nil, EventID(generation: 1, number: 2)] {
            let reset = EventReset(oldest: nil, latest: latest)
            #expect(try EventReset.read(reset.data) == reset)
        }
    }

    @Test(arguments: ErrorCode.allCases)
    func `reads each problem back`(_ code: ErrorCode) throws {
        let received = try ReceivedProblem.read(Problem(code, "Do this.", extras: [.dataAge(milliseconds: 12)]).body(serverTime: 9))
        #expect(received.code == code)
        #expect(received.codeText == code.rawValue)
        #expect(received.status == code.status)
        #expect(received.detail == "Do this.")
        #expect(received.outcome == code.outcome)
        #expect(received.isFinal == code.isFinal)
        #expect(received.isRetrySafe == code.isRetrySafe)
        #expect(received.serverTime == 9)
        #expect(received.members["data_age_ms"] == .number("12"))
    }

    @Test func `passes over what a newer router says`() throws {
        let problem = Problem(.busy, "d").body(serverTime: 1)
        let newer = text(problem).replacing("\"code\":\"busy\"", with: "\"code\":\"closed_for_lunch\",\"until\":[1]")
        let received = try ReceivedProblem.read(Array(newer.utf8))
        #expect(received.code == nil)
        #expect(received.codeText == "closed_for_lunch")
        let order = Example.orderJSON.dropLast() + #","venue":{"name":"X"}}"#
        #expect(try OrderView.read(Array(order.utf8)) == Example.order)
    }

    // MARK: What it refuses

    private func error<Value>(_ work: () throws(AnswerError) -> Value) -> AnswerError? {
        do throws(AnswerError) {
            let value = try work()
            Issue.record("Was read as \(value)")
            return nil
        } catch {
            return error
        }
    }

    private func order(_ replacements: (String, String)...) -> [UInt8] {
        var json = Example.orderJSON
        for (old, new) in replacements { json = json.replacing(old, with: new) }
        return Array(json.utf8)
    }

    @Test(
        arguments: [
            "order_id", "account_id", "idempotency_key", "symbol", "side", "order_type", "limit_price", "time_in_force", "quantity",
            "filled_quantity",
            "status", "reserved_funds_usd", "created_at", "updated_at",
        ]
    )
    func `refuses an order without one of its members`(_ name: String) {
        let error = error { () throws(AnswerError) in try OrderView.read(order(("\"\(name)\":", "\"x\":"))) }
        #expect(error?.code == (name == "limit_price" ? .invalidMember : .missingMember))
        #expect(error?.operation == "order")
        #expect(error?.message.contains("'\(name)'") == true)
    }

    @Test(
        arguments: [
            (#""quantity":100"#, #""quantity":0"#, "quantity"),
            (#""quantity":100"#, #""quantity":1.0"#, "quantity"),
            (#""quantity":100"#, #""quantity":"100""#, "quantity"),
            (#""stop_price":null"#, #""stop_price":1.00"#, "stop_price"),
            ("125.50,", "1e2,", "limit_price"),
            ("125.50,", "true,", "limit_price"),
            ("PARTIALLY_FILLED", "HALF", "status"),
            ("\"BUY\"", "1", "side"),
            ("\"reason\":null", "\"reason\":7", "reason"),
            ("1773648000180", "-1", "created_at"),
            ("\"NVDA\"", "\"nvda\"", "symbol"),
            ("LIMIT\"", "MAR\u{212A}ET\"", "order_type"),
        ]
    )
    func `refuses an order that cannot be`(_ old: String, _ new: String, _ name: String) {
        let error = error { () throws(AnswerError) in try OrderView.read(order((old, new))) }
        #expect(error?.code == .invalidMember)
        #expect(error?.message.contains("'\(name)'") == true)
    }

    @Test(arguments: ["", "<html>", "{\"status\":", "{\"a\":1,\"a\":2}"])
    func `refuses what is no JSON`(_ body: String) {
        let bytes = Array(body.utf8)
        #expect(error { () throws(AnswerError) in try AcceptedAnswer.read(bytes) }?.code == .notJSON)
        #expect(error { () throws(AnswerError) in try OrderPage.read(bytes) }?.code == .notJSON)
        #expect(error { () throws(AnswerError) in try KeyAnswer.read(bytes) }?.code == .notJSON)
        #expect(error { () throws(AnswerError) in try ReceivedProblem.read(bytes) }?.code == .notJSON)
    }

    @Test func `takes no other answer for an accepted order`() {
        let accepted = AcceptedAnswer(orderID: Example.orderID, terms: Example.terms, reservedFunds: .zero, createdAt: 5).body
        let other = Array(text(accepted).replacing("ACCEPTED", with: "FILLED").utf8)
        #expect(error { () throws(AnswerError) in try AcceptedAnswer.read(other) }?.message == "'status' is not valid")
        #expect(error { () throws(AnswerError) in try AcceptedAnswer.read(Array("[]".utf8)) }?.code == .missingMember)
    }

    @Test(arguments: ["unknown", "not_applicable", "maybe"])
    func `takes no open outcome for an answer about a key`(_ outcome: String) {
        let answer = text(KeyAnswer.refused(key: Example.key, firstStatus: 422, firstBody: Array("{}".utf8)).body)
        let bytes = Array(answer.replacing("\"not_accepted\"", with: "\"\(outcome)\"").utf8)
        #expect(error { () throws(AnswerError) in try KeyAnswer.read(bytes) }?.message == "'outcome' is not valid")
    }

    @Test(arguments: [("\"fenced\":false", "\"fenced\":0"), ("\"status\":422", "\"status\":null"), ("\"answer\":{}", "\"answer\":null")])
    func `takes no half answer about a key`(_ old: String, _ new: String) {
        let answer = text(KeyAnswer.refused(key: Example.key, firstStatus: 422, firstBody: Array("{}".utf8)).body)
        let error = error { () throws(AnswerError) in try KeyAnswer.read(Array(answer.replacing(old, with: new).utf8)) }
        #expect(error?.operation == "key")
    }

    @Test func `takes no list of something else for orders`() {
        let lists = [#"{"orders":{},"next":null}"#, #"{"orders":[1],"next":null}"#, #"{"orders":[],"next":"x"}"#, #"{"next":null}"#]
        for list in lists {
            #expect(error { () throws(AnswerError) in try OrderPage.read(Array(list.utf8)) } != nil)
        }
    }
}
