package import Trading

/// A request to replace an order's numbers whose form is right: `PATCH /v1/trading/orders/<id> {"quantity","limit_price","stop_price"}`.
///
/// What is signed is what the order becomes: its total quantity, and each price that its type has, changed or not.
package struct ReplaceOrderRequest: Hashable, Sendable {
    package let account: AccountID
    package let orderID: OrderID
    package let terms: Replacement
    package let signed: SignedHeaders

    package init(account: AccountID, orderID: OrderID, terms: Replacement, signed: SignedHeaders) {
        self.account = account
        self.orderID = orderID
        self.terms = terms
        self.signed = signed
    }

    package static let fieldNames = ["quantity", "limit_price", "stop_price"]

    /// The fields of a body, before it is known which prices its order has.
    package struct Body: Sendable {
        fileprivate let fields: RequestFields

        /// - Throws: `malformed_request`, or `invalid_field` for an unknown one.
        package init(_ body: [UInt8]) throws(Problem) { fields = try RequestFields(body, expecting: fieldNames) }

        /// - Parameter now: the order as it stands, for its type.
        /// - Throws: `invalid_field`: a missing or invalid one, a price that the order's type has not, or a product beyond the range.
        package func replacement(of now: OrderTerms) throws(Problem) -> Replacement {
            let quantity = try fields.wholeNumber("quantity", in: OrderTerms.quantityRange)
            let limitPrice = try PlaceOrderRequest.readPrice(fields, "limit_price", present: now.type.hasLimitPrice, now.type)
            let stopPrice = try PlaceOrderRequest.readPrice(fields, "stop_price", present: now.type.hasStopPrice, now.type)
            for price in [limitPrice, stopPrice] {
                if let price, price.times(quantity) == nil {
                    throw .invalid("quantity", "Quantity times price is beyond \(Amount(units: .max)). Send a smaller quantity.")
                }
            }
            return Replacement(quantity: quantity, limitPrice: limitPrice, stopPrice: stopPrice)
        }
    }
}

/// The body of the 202 that a replace request gets, now and at every retry: a request whose outcome is an event.
package struct ReplaceAnswer: Hashable, Sendable {
    package static let status = 202

    package let orderID: OrderID
    /// `<order_id>-r<n>`, also the FIX ClOrdID of the request.
    package let replaceID: String
    package let terms: Replacement
    /// What the order holds until the venue has answered; zero for SELL.
    package let reservedFunds: Amount

    package init(orderID: OrderID, replaceID: String, terms: Replacement, reservedFunds: Amount) {
        self.orderID = orderID
        self.replaceID = replaceID
        self.terms = terms
        self.reservedFunds = reservedFunds
    }

    package var body: [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("order_id", orderID.text)
        json.member("replace_id", replaceID)
        json.member("status", "REPLACE_REQUESTED")
        json.member("quantity", terms.quantity)
        json.member("limit_price", terms.limitPrice, as: .number)
        json.member("stop_price", terms.stopPrice, as: .number)
        json.member("reserved_funds_usd", reservedFunds, as: .number)
        json.endObject()
        return json.bytes
    }
}

extension Replacement {
    /// The body that a client sends.
    package var body: [UInt8] {
        var json = JSONWriter(reservingBytes: 96)
        json.beginObject()
        json.member("quantity", quantity)
        if let limitPrice { json.member("limit_price", limitPrice, as: .number) }
        if let stopPrice { json.member("stop_price", stopPrice, as: .number) }
        json.endObject()
        return json.bytes
    }
}
