import Testing
import Trading
import Wire

@Suite struct `An answer` {
    @Test func `to an accepted order is the one of the contract`() {
        let answer = AcceptedAnswer(
            orderID: Example.orderID,
            terms: Example.terms,
            reservedFunds: Amount("12550")!,
            createdAt: 1_773_648_000_180
        )
        #expect(
            text(answer.body) == #"{"order_id":"ord_20240314_77777777777777777777777774","status":"ACCEPTED","symbol":"NVDA","side":"BUY","#
                + #""quantity":100,"limit_price":125.50,"reserved_funds_usd":12550.00,"created_at":1773648000180}"#
        )
        #expect(answer.location == "/v1/trading/orders/ord_20240314_77777777777777777777777774")
        #expect(AcceptedAnswer.status == 201)
        #expect(AcceptedAnswer.contentType == "application/json")
    }

    @Test func `to an accepted order without limit price says null, to a sale 0`() {
        let answer = AcceptedAnswer(
            orderID: Example.orderID,
            symbol: Example.terms.symbol,
            side: .sell,
            quantity: 1,
            limitPrice: nil,
            reservedFunds: .zero,
            createdAt: 1
        )
        #expect(text(answer.body).hasSuffix(#""side":"SELL","quantity":1,"limit_price":null,"reserved_funds_usd":0.00,"created_at":1}"#))
    }

    @Test func `shows an order with every field, absent ones as null`() {
        #expect(text(Example.order.body) == Example.orderJSON)
        let fresh = OrderView(
            orderID: Example.orderID,
            accountID: Example.account,
            key: Example.key,
            terms: OrderTerms(
                symbol: Example.terms.symbol,
                side: .sell,
                type: .stop,
                timeInForce: .goodTillCancel,
                quantity: 1,
                limitPrice: nil,
                stopPrice: Amount("9.9999")
            ),
            filledQuantity: 0,
            averagePrice: nil,
            status: .rejected,
            reason: "not_routed",
            reservedFunds: .zero,
            createdAt: 1,
            updatedAt: 2
        )
        #expect(
            text(fresh.body).hasSuffix(
                #""side":"SELL","order_type":"STOP","limit_price":null,"stop_price":9.9999,"time_in_force":"GTC","quantity":1,"filled_quantity":0,"#
                    + #""average_price":null,"status":"REJECTED","reason":"not_routed","reserved_funds_usd":0.00,"created_at":1,"updated_at":2}"#
            )
        )
    }

    @Test func `to a cancel is a request, not a result`() {
        let answer = CancelAnswer(orderID: Example.orderID, cancelID: "\(Example.orderID)-c1")
        #expect(
            text(answer.body) == #"{"order_id":"ord_20240314_77777777777777777777777774","#
                + #""cancel_id":"ord_20240314_77777777777777777777777774-c1","status":"CANCEL_REQUESTED"}"#
        )
        #expect(CancelAnswer.status == 202)
    }

    @Test func `to a list holds the orders and where to go on`() {
        #expect(text(OrderPage(orders: [], next: nil).body) == #"{"orders":[],"next":null}"#)
        let cursor = OrderCursor(createdAt: 1_773_648_000_180, orderID: Example.orderID)
        let page = OrderPage(orders: [Example.order, Example.order], next: cursor)
        #expect(
            text(page.body)
                == #"{"orders":[\#(Example.orderJSON),\#(Example.orderJSON)],"next":"1773648000180-ord_20240314_77777777777777777777777774"}"#
        )
    }

    // MARK: Keys

    private let keyStart = #"{"key":"018e3d2a-7f12-7000-8000-123456789abc","outcome":"#

    @Test func `about an accepted key holds the first answer verbatim and the order now`() {
        let answer = KeyAnswer.accepted(key: Example.key, firstStatus: 201, firstBody: Array(#"{"limit_price": 125.50}"#.utf8), order: Example.order)
        #expect(
            text(answer.body) == keyStart
                + #""accepted","final":true,"fenced":false,"status":201,"answer":{"limit_price": 125.50},"order":\#(Example.orderJSON)}"#
        )
    }

    @Test func `about a refused key holds the refusal verbatim`() throws {
        let first = Problem(.insufficientFunds, "Not enough.", extras: [.available(.zero)]).body(serverTime: 9)
        let answer = KeyAnswer.refused(key: Example.key, firstStatus: 422, firstBody: first)
        #expect(text(answer.body) == keyStart + #""not_accepted","final":true,"fenced":false,"status":422,"answer":\#(text(first)),"order":null}"#)
        #expect(try JSONReader.read(answer.body)["answer"] == JSONReader.read(first))
    }

    @Test func `about a fenced key says that nothing came of it and never will`() {
        #expect(
            text(KeyAnswer.fenced(key: Example.key).body) == keyStart
                + #""not_accepted","final":true,"fenced":true,"status":null,"answer":null,"order":null}"#
        )
    }
}

@Suite struct `An order event` {
    @Test func `tells of a fill and the order after it, on one line`() {
        let event = StreamedEvent(type: .fill, at: 7, lastQuantity: 40, lastPrice: Amount("125.5025"), order: Example.order)
        #expect(text(event.data) == #"{"type":"fill","at":7,"last_quantity":40,"last_price":125.5025,"order":\#(Example.orderJSON)}"#)
    }

    @Test(arguments: OrderEventType.allCases)
    func `of another type has no last quantity and price`(_ type: OrderEventType) {
        let event = StreamedEvent(type: type, at: 7, lastQuantity: nil, lastPrice: nil, order: Example.order)
        #expect(text(event.data).hasPrefix(#"{"type":"\#(type.text)","at":7,"last_quantity":null,"last_price":null,"order":{"#))
        #expect(!event.data.contains(UInt8(ascii: "\n")))
    }

    @Test(arguments: [(0, 0), (1, 42), (Int64.max, Int64.max)] as [(Int64, Int64)])
    func `has an id that reads back`(_ generation: Int64, _ number: Int64) {
        let id = EventID(generation: generation, number: number)
        #expect(EventID(id.description) == id)
        #expect(id.description == "\(generation)-\(number)")
    }

    @Test(arguments: [
        "", "-", "1", "1-", "-1", "1-2-3", "01-2", "1-02", "1--2", "+1-2", "1-2 ", " 1-2", "a-b", "1-9223372036854775808", "1.0-2", "١-٢",
    ])
    func `has no other id`(_ text: String) {
        #expect(EventID(text) == nil)
    }

    @Test func `resets with the ids that can be resumed`() {
        let reset = EventReset(oldest: EventID(generation: 2, number: 5), latest: EventID(generation: 2, number: 9))
        #expect(text(reset.data) == #"{"oldest":"2-5","latest":"2-9"}"#)
        #expect(text(EventReset(oldest: nil, latest: nil).data) == #"{"oldest":null,"latest":null}"#)
        #expect(EventReset.eventName == "reset")
    }
}
