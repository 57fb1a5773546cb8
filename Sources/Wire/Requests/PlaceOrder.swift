// What client and server must agree on, as values: no clock, no I/O, no cryptography.
//
// Read first this file (an order as it arrives), then SignedForm (what its signature covers), ErrorCode and Problem (how it is refused) and
// Answers/OrderAnswers (how it is answered). Requests are read strictly, because what we ignored a trader would believe in; answers are
// read leniently, because a newer router may say more.

package import Trading

/// The headers of an order as they arrived, nil where absent (design section 4.1).
package struct PlaceOrderHeaders: Hashable, Sendable {
    package var idempotencyKey: String?
    package var signature: String?
    package var credential: String?
    package var clientTimestamp: String?
    package var quoteReferenceTimestamp: String?

    package init(
        idempotencyKey: String?,
        signature: String?,
        credential: String?,
        clientTimestamp: String?,
        quoteReferenceTimestamp: String?
    ) {
        self.idempotencyKey = idempotencyKey
        self.signature = signature
        self.credential = credential
        self.clientTimestamp = clientTimestamp
        self.quoteReferenceTimestamp = quoteReferenceTimestamp
    }

    /// Names of the headers, as the contract spells them.
    package enum Name {
        package static let idempotencyKey = "Idempotency-Key"
        package static let signature = "X-Biometric-Signature"
        package static let credential = "X-Biometric-Credential"
        package static let clientTimestamp = "X-Client-Timestamp"
        package static let quoteReferenceTimestamp = "X-Quote-Reference-Timestamp"
    }
}

/// A request to place an order whose form is right. A value that exists needs no further check of its form.
package struct PlaceOrderRequest: Hashable, Sendable {
    package let account: AccountID
    package let terms: OrderTerms
    /// For LIMIT equal to quantity × limit price.
    package let estimatedTotal: Amount?
    package let key: IdempotencyKey
    /// DER or raw r‖s, still to be verified.
    package let signature: [UInt8]
    /// The credential that the client names; nil = the account's active ones are tried.
    package let credentialID: String?
    /// Milliseconds since the epoch, the client's clock.
    package let clientTimestamp: Int64
    /// Milliseconds since the epoch, the router's time of the quote that the trader saw.
    package let quoteReference: Int64

    package init(
        account: AccountID,
        terms: OrderTerms,
        estimatedTotal: Amount?,
        key: IdempotencyKey,
        signature: [UInt8],
        credentialID: String?,
        clientTimestamp: Int64,
        quoteReference: Int64
    ) {
        self.account = account
        self.terms = terms
        self.estimatedTotal = estimatedTotal
        self.key = key
        self.signature = signature
        self.credentialID = credentialID
        self.clientTimestamp = clientTimestamp
        self.quoteReference = quoteReference
    }

    /// The fields of the body, in the order in which they are checked.
    package static let fieldNames = [
        "account_id", "symbol", "side", "order_type", "limit_price", "stop_price", "quantity", "time_in_force", "estimated_total_usd",
    ]

    /// Reads body and headers. When several things are wrong the answer names one, always the same:
    ///
    /// 1. `malformed_request`: the body is not a JSON object, or not strict JSON.
    /// 2. `invalid_field`: the first unknown field, in the order of the body.
    /// 3. `invalid_field`: the first missing or invalid field, in the order of ``fieldNames``; then a total that does not fit the range,
    ///    then one that differs from quantity × limit price.
    /// 4. `missing_header`: the first missing or empty one of Idempotency-Key, X-Biometric-Signature, X-Client-Timestamp,
    ///    X-Quote-Reference-Timestamp.
    /// 5. `invalid_field`: the first invalid header, in that order, X-Biometric-Credential last.
    package static func read(body: [UInt8], headers: PlaceOrderHeaders) throws(Problem) -> PlaceOrderRequest {
        let fields = try RequestFields(body, expecting: fieldNames)
        let account = try fields.parsed("account_id", "1 to 64 characters of A-Z, a-z, 0-9, '_' and '-'", AccountID.init)
        let terms = try readTerms(fields)
        let estimatedTotal = try fields.money("estimated_total_usd")
        try check(estimatedTotal, against: terms)

        let signed = try SignedHeaders.read(headers, form: "the order")
        return PlaceOrderRequest(
            account: account,
            terms: terms,
            estimatedTotal: estimatedTotal,
            key: signed.key,
            signature: signed.signature,
            credentialID: signed.credentialID,
            clientTimestamp: signed.clientTimestamp,
            quoteReference: signed.quoteReference
        )
    }

    private static func readTerms(_ fields: RequestFields) throws(Problem) -> OrderTerms {
        let symbol = try fields.parsed("symbol", "1 to 16 characters of A-Z, 0-9 and '.'", Symbol.init)
        let side = try fields.parsed("side", "BUY or SELL", Side.init(text:))
        let type = try fields.parsed("order_type", "MARKET, LIMIT, STOP or STOP_LIMIT", OrderType.init(text:))
        let limitPrice = try readPrice(fields, "limit_price", present: type.hasLimitPrice, type)
        let stopPrice = try readPrice(fields, "stop_price", present: type.hasStopPrice, type)
        let quantity = try fields.wholeNumber("quantity", in: OrderTerms.quantityRange)
        let timeInForce = try fields.parsed("time_in_force", "DAY, GTC, IOC or FOK", TimeInForce.init(text:))
        return OrderTerms(
            symbol: symbol,
            side: side,
            type: type,
            timeInForce: timeInForce,
            quantity: quantity,
            limitPrice: limitPrice,
            stopPrice: stopPrice
        )
    }

    static func readPrice(_ fields: RequestFields, _ name: String, present: Bool, _ type: OrderType) throws(Problem) -> Amount? {
        guard let price = try fields.money(name) else {
            if present { throw .invalid(name, "The field '\(name)' is missing. A \(type.text) order has one; send it.") }
            return nil
        }
        guard present else { throw .invalid(name, "A \(type.text) order has no '\(name)'. Leave it out.") }
        guard price > .zero else { throw .invalid(name, "'\(name)' is zero. Send a price greater than zero.") }
        return price
    }

    /// Quantity times each price must fit the range, so that whoever comes later may multiply; the trader's own total must be the product.
    private static func check(_ estimatedTotal: Amount?, against terms: OrderTerms) throws(Problem) {
        for price in [terms.limitPrice, terms.stopPrice] {
            if let price, price.times(terms.quantity) == nil {
                throw .invalid("quantity", "Quantity times price is beyond \(Amount(units: .max)). Send a smaller order.")
            }
        }
        guard terms.type == .limit, let estimatedTotal, let total = terms.limitPrice?.times(terms.quantity), estimatedTotal != total else { return }
        throw .invalid(
            "estimated_total_usd",
            "'estimated_total_usd' is \(estimatedTotal), but quantity times limit_price is \(total). Send that, or leave the field out."
        )
    }
}

extension PlaceOrderRequest {
    /// The body that a client sends: reading it gives this request back.
    package var body: [UInt8] {
        var json = JSONWriter(reservingBytes: 320)
        json.beginObject()
        json.member("account_id", account.text)
        json.member("symbol", terms.symbol.text)
        json.member("side", terms.side.text)
        json.member("order_type", terms.type.text)
        if let price = terms.limitPrice { json.member("limit_price", price, as: .number) }
        if let price = terms.stopPrice { json.member("stop_price", price, as: .number) }
        json.member("quantity", terms.quantity)
        json.member("time_in_force", terms.timeInForce.text)
        if let estimatedTotal { json.member("estimated_total_usd", estimatedTotal, as: .number) }
        json.endObject()
        return json.bytes
    }

    /// The headers that a client sends beside Authorization and Content-Type.
    package var headers: PlaceOrderHeaders {
        SignedHeaders(
            key: key,
            signature: signature,
            credentialID: credentialID,
            clientTimestamp: clientTimestamp,
            quoteReference: quoteReference
        ).fields
    }
}
