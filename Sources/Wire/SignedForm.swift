package import Trading

/// The texts that a trader's key signs (design section 4.2): UTF-8, lines joined by LF, no LF at the end, absent values empty,
/// money with exactly four decimals, key in lower case.
///
/// Unambiguous because no value can hold an LF: each is a checked identifier, a word or a number.
package enum SignedForm {
    /// What is signed to place an order.
    package static func order(_ request: PlaceOrderRequest) -> [UInt8] { orderWithFingerprintText(request).form }

    /// The signed form without its two timestamp lines: SHA-256 of it is the request's fingerprint.
    package static func fingerprintText(_ request: PlaceOrderRequest) -> [UInt8] {
        fingerprintText(account: request.account, terms: request.terms, estimatedTotal: request.estimatedTotal, key: request.key)
    }

    /// Both at once: the second is the beginning of the first.
    package static func orderWithFingerprintText(_ request: PlaceOrderRequest) -> (form: [UInt8], fingerprintText: ArraySlice<UInt8>) {
        var text = fingerprintText(request)
        let end = text.count
        append(request.clientTimestamp, request.quoteReference, to: &text)
        return (text, text[..<end])
    }

    package static func fingerprintText(account: AccountID, terms: OrderTerms, estimatedTotal: Amount?, key: IdempotencyKey) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(512)
        text.append(literal: "TRADING-ORDER-V1\naccount_id=")
        text.append(text: account.text)
        text.append(literal: "\nsymbol=")
        text.append(text: terms.symbol.text)
        text.append(literal: "\nside=")
        text.append(text: terms.side.text)
        text.append(literal: "\norder_type=")
        text.append(text: terms.type.text)
        text.append(literal: "\nquantity=")
        text.append(decimal: terms.quantity)
        text.append(literal: "\nlimit_price=")
        if let price = terms.limitPrice { text.append(price, minimumDecimals: 4) }
        text.append(literal: "\nstop_price=")
        if let price = terms.stopPrice { text.append(price, minimumDecimals: 4) }
        text.append(literal: "\ntime_in_force=")
        text.append(text: terms.timeInForce.text)
        text.append(literal: "\nestimated_total_usd=")
        if let estimatedTotal { text.append(estimatedTotal, minimumDecimals: 4) }
        text.append(literal: "\nidempotency_key=")
        text.append(key)
        return text
    }

    /// What is signed to replace an order's numbers, and the text whose SHA-256 is the request's fingerprint: the form without its two timestamp lines.
    package static func replaceWithFingerprintText(_ request: ReplaceOrderRequest) -> (form: [UInt8], fingerprintText: ArraySlice<UInt8>) {
        var text: [UInt8] = []
        text.reserveCapacity(384)
        text.append(literal: "TRADING-REPLACE-V1\naccount_id=")
        text.append(text: request.account.text)
        text.append(literal: "\norder_id=")
        text.append(text: request.orderID.text)
        text.append(literal: "\nquantity=")
        text.append(decimal: request.terms.quantity)
        text.append(literal: "\nlimit_price=")
        if let price = request.terms.limitPrice { text.append(price, minimumDecimals: 4) }
        text.append(literal: "\nstop_price=")
        if let price = request.terms.stopPrice { text.append(price, minimumDecimals: 4) }
        text.append(literal: "\nidempotency_key=")
        text.append(request.signed.key)
        let end = text.count
        append(request.signed.clientTimestamp, request.signed.quoteReference, to: &text)
        return (text, text[..<end])
    }

    private static func append(_ clientTimestamp: Int64, _ quoteReference: Int64, to text: inout [UInt8]) {
        text.append(literal: "\nclient_timestamp=")
        text.append(decimal: clientTimestamp)
        text.append(literal: "\nquote_reference_timestamp=")
        text.append(decimal: quoteReference)
    }

    /// What an order's identity is the digest of: `<account_id> LF <key in lower case>` (design section 4.1).
    package static func orderIdentityText(account: AccountID, key: IdempotencyKey) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(account.text.utf8.count + 37)
        text.append(text: account.text)
        text.append(UInt8(ascii: "\n"))
        text.append(key)
        return text
    }

    /// What both keys sign to pair a credential (design section 4.4).
    ///
    /// - Parameter challenge: as the client was given it, base64url.
    package static func credentialPair(account: AccountID, credentialID: String, challenge: String) -> [UInt8] {
        Array("CREDENTIAL-PAIR-V1\naccount_id=\(account.text)\ncredential_id=\(credentialID)\nchallenge=\(challenge)".utf8)
    }
}
