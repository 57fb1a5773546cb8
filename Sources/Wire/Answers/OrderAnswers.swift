package import Trading

/// Addresses of the order API that answers refer to.
package enum OrderPath {
    /// Where orders are placed, changed and asked for.
    package static let trading = "/v1/trading"
    package static let orders = trading + "/orders"
    package static let keys = orders + "/by-key"

    /// The Location of an accepted order.
    package static func order(_ order: OrderID) -> String { "\(orders)/\(order.text)" }

    /// Where to ask what became of a key.
    package static func byKey(_ key: IdempotencyKey) -> String { "\(keys)/\(key)" }
}

/// Headers of answers, beside those of HTTP.
package enum AnswerHeader {
    /// `true` on an answer that was given before.
    package static let replayed = "Idempotency-Replayed"
    /// On a replayed answer: the order's status now.
    package static let orderStatus = "X-Order-Status"
}

/// The body of the 201 that an accepted order gets, now and at every retry: the same bytes, because they come from stored values alone.
package struct AcceptedAnswer: Hashable, Sendable {
    package static let status = 201
    package static let contentType = "application/json"

    package let orderID: OrderID
    package let symbol: Symbol
    package let side: Side
    package let quantity: Int64
    /// Nil for MARKET and STOP.
    package let limitPrice: Amount?
    /// Zero for SELL.
    package let reservedFunds: Amount
    /// Milliseconds since the epoch, the router's clock.
    package let createdAt: Int64

    package init(orderID: OrderID, symbol: Symbol, side: Side, quantity: Int64, limitPrice: Amount?, reservedFunds: Amount, createdAt: Int64) {
        self.orderID = orderID
        self.symbol = symbol
        self.side = side
        self.quantity = quantity
        self.limitPrice = limitPrice
        self.reservedFunds = reservedFunds
        self.createdAt = createdAt
    }

    package init(orderID: OrderID, terms: OrderTerms, reservedFunds: Amount, createdAt: Int64) {
        self.init(
            orderID: orderID,
            symbol: terms.symbol,
            side: terms.side,
            quantity: terms.quantity,
            limitPrice: terms.limitPrice,
            reservedFunds: reservedFunds,
            createdAt: createdAt
        )
    }

    package var location: String { OrderPath.order(orderID) }

    package var body: [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("order_id", orderID.text)
        json.member("status", OrderStatus.accepted.text)
        json.member("symbol", symbol.text)
        json.member("side", side.text)
        json.member("quantity", quantity)
        json.member("limit_price", limitPrice, as: .number)
        json.member("reserved_funds_usd", reservedFunds, as: .number)
        json.member("created_at", createdAt)
        json.endObject()
        return json.bytes
    }
}

/// What became of a key: the answer of `GET …/by-key/<key>` and of `POST …/by-key/<key>/fence`, both with status 200.
///
/// `{"key","outcome","final","fenced","status","answer","order"}`: `status` and `answer` are those of the first answer, the order is how it
/// stands now. A key never used and fenced has no first answer: `status`, `answer` and `order` are null.
package enum KeyAnswer: Hashable, Sendable {
    /// An order exists. `firstBody` is the body of the first answer, byte for byte; the order is nil where it ended so long ago that it is kept elsewhere.
    /// `firstStatus` is 201 for an order, 202 for a replace of one.
    case accepted(key: IdempotencyKey, firstStatus: Int, firstBody: [UInt8], order: OrderView?)
    /// A stored refusal: no order exists and none ever will.
    case refused(key: IdempotencyKey, firstStatus: Int, firstBody: [UInt8])
    /// Fenced before it was used: no order exists and none ever will.
    case fenced(key: IdempotencyKey)

    package var body: [UInt8] {
        var json = JSONWriter(reservingBytes: 1_200)
        json.beginObject()
        switch self {
        case .accepted(let key, let firstStatus, let firstBody, let order):
            Self.begin(&json, key, .accepted, fenced: false)
            json.member("status", Int64(firstStatus))
            json.name("answer")
            json.verbatim(firstBody)
            json.name("order")
            if let order { order.write(to: &json) } else { json.null() }
        case .refused(let key, let firstStatus, let firstBody):
            Self.begin(&json, key, .notAccepted, fenced: false)
            json.member("status", Int64(firstStatus))
            json.name("answer")
            json.verbatim(firstBody)
            json.name("order")
            json.null()
        case .fenced(let key):
            Self.begin(&json, key, .notAccepted, fenced: true)
            for name in ["status", "answer", "order"] {
                json.name(name)
                json.null()
            }
        }
        json.endObject()
        return json.bytes
    }

    private static func begin(_ json: inout JSONWriter, _ key: IdempotencyKey, _ outcome: KeyOutcome, fenced: Bool) {
        json.name("key")
        json.string(key)
        json.member("outcome", outcome.rawValue)
        json.member("final", true)
        json.member("fenced", fenced)
    }
}

/// The body of the 202 that a cancel request gets: a request whose outcome is an event; the same while it is pending.
package struct CancelAnswer: Hashable, Sendable {
    package static let status = 202

    package let orderID: OrderID
    /// `<order_id>-c<n>`, also the FIX ClOrdID of the cancel request.
    package let cancelID: String

    package init(orderID: OrderID, cancelID: String) {
        self.orderID = orderID
        self.cancelID = cancelID
    }

    package var body: [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("order_id", orderID.text)
        json.member("cancel_id", cancelID)
        json.member("status", "CANCEL_REQUESTED")
        json.endObject()
        return json.bytes
    }
}

/// The body of the 202 that a request to cancel all of an account's orders gets: `{"account_id","orders":[{"order_id","cancel_id"},…]}`. Each
/// outcome is an event. Orders that have their cancel under way already are not named again.
package struct CancelAllAnswer: Hashable, Sendable {
    package let account: AccountID
    package let cancels: [CancelAnswer]

    package init(account: AccountID, cancels: [CancelAnswer]) {
        self.account = account
        self.cancels = cancels
    }

    package var body: [UInt8] {
        var json = JSONWriter(reservingBytes: 64 + cancels.count * 128)
        json.beginObject()
        json.member("account_id", account.text)
        json.name("orders")
        json.beginArray()
        for cancel in cancels {
            json.beginObject()
            json.member("order_id", cancel.orderID.text)
            json.member("cancel_id", cancel.cancelID)
            json.endObject()
        }
        json.endArray()
        json.endObject()
        return json.bytes
    }
}

/// One page of a list of orders, newest first.
package struct OrderPage: Hashable, Sendable {
    package let orders: [OrderView]
    /// Where the next page begins; nil when this is the last one.
    package let next: OrderCursor?

    package init(orders: [OrderView], next: OrderCursor?) {
        self.orders = orders
        self.next = next
    }

    package var body: [UInt8] {
        var json = JSONWriter(reservingBytes: 64 + orders.count * 640)
        json.beginObject()
        json.name("orders")
        json.beginArray()
        for order in orders { order.write(to: &json) }
        json.endArray()
        json.member("next", next?.text)
        json.endObject()
        return json.bytes
    }
}
