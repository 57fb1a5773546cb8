package import Trading

/// An order as every order endpoint and event shows it (design section 4.4).
package struct OrderView: Hashable, Sendable {
    package let orderID: OrderID
    package let accountID: AccountID
    package let key: IdempotencyKey
    package let terms: OrderTerms
    package let filledQuantity: Int64
    /// Rounded half to even at the fourth decimal; nil before the first fill.
    package let averagePrice: Amount?
    package let status: OrderStatus
    /// Why it was rejected, cancelled, expired or is unknown.
    package let reason: String?
    /// Zero for SELL.
    package let reservedFunds: Amount
    /// Milliseconds since the epoch, the router's clock.
    package let createdAt: Int64
    package let updatedAt: Int64

    package init(
        orderID: OrderID,
        accountID: AccountID,
        key: IdempotencyKey,
        terms: OrderTerms,
        filledQuantity: Int64,
        averagePrice: Amount?,
        status: OrderStatus,
        reason: String?,
        reservedFunds: Amount,
        createdAt: Int64,
        updatedAt: Int64
    ) {
        self.orderID = orderID
        self.accountID = accountID
        self.key = key
        self.terms = terms
        self.filledQuantity = filledQuantity
        self.averagePrice = averagePrice
        self.status = status
        self.reason = reason
        self.reservedFunds = reservedFunds
        self.createdAt = createdAt
        self.updatedAt = updatedAt
    }

    /// Money as JSON numbers, two to four decimals; absent = null.
    package func write(to json: inout JSONWriter) {
        json.beginObject()
        json.member("order_id", orderID.text)
        json.member("account_id", accountID.text)
        json.name("idempotency_key")
        json.string(key)
        json.member("symbol", terms.symbol.text)
        json.member("side", terms.side.text)
        json.member("order_type", terms.type.text)
        json.member("limit_price", terms.limitPrice, as: .number)
        json.member("stop_price", terms.stopPrice, as: .number)
        json.member("time_in_force", terms.timeInForce.text)
        json.member("quantity", terms.quantity)
        json.member("filled_quantity", filledQuantity)
        json.member("average_price", averagePrice, as: .number)
        json.member("status", status.text)
        json.member("reason", reason)
        json.member("reserved_funds_usd", reservedFunds, as: .number)
        json.member("created_at", createdAt)
        json.member("updated_at", updatedAt)
        json.endObject()
    }

    package var body: [UInt8] {
        var json = JSONWriter(reservingBytes: 640)
        write(to: &json)
        return json.bytes
    }
}
