package import Trading

/// The texts that a trader's key signs (design section 4.2): UTF-8, lines joined by LF, no LF at the end, absent values empty,
/// money with exactly four decimals, key in lower case.
///
/// Unambiguous because no value can hold an LF: each is a checked identifier, a word or a number.
package enum SignedForm {
    /// What is signed to place an order.
    package static func order(_ request: PlaceOrderRequest) -> [UInt8] {
        var text = fingerprintText(
            account: request.account,
            terms: request.terms,
            estimatedTotal: request.estimatedTotal,
            key: request.key
        )
        text += "\nclient_timestamp=".utf8
        text.append(decimal: request.clientTimestamp)
        text += "\nquote_reference_timestamp=".utf8
        text.append(decimal: request.quoteReference)
        return text
    }

    /// The signed form without its two timestamp lines: SHA-256 of it is the request's fingerprint.
    package static func fingerprintText(_ request: PlaceOrderRequest) -> [UInt8] {
        fingerprintText(account: request.account, terms: request.terms, estimatedTotal: request.estimatedTotal, key: request.key)
    }

    package static func fingerprintText(account: AccountID, terms: OrderTerms, estimatedTotal: Amount?, key: IdempotencyKey) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(512)
        text += "TRADING-ORDER-V1\naccount_id=".utf8
        text += account.text.utf8
        text += "\nsymbol=".utf8
        text += terms.symbol.text.utf8
        text += "\nside=".utf8
        text += terms.side.text.utf8
        text += "\norder_type=".utf8
        text += terms.type.text.utf8
        text += "\nquantity=".utf8
        text.append(decimal: terms.quantity)
        text += "\nlimit_price=".utf8
        if let price = terms.limitPrice { text.append(price, minimumDecimals: 4) }
        text += "\nstop_price=".utf8
        if let price = terms.stopPrice { text.append(price, minimumDecimals: 4) }
        text += "\ntime_in_force=".utf8
        text += terms.timeInForce.text.utf8
        text += "\nestimated_total_usd=".utf8
        if let estimatedTotal { text.append(estimatedTotal, minimumDecimals: 4) }
        text += "\nidempotency_key=".utf8
        text.append(key)
        return text
    }

    /// What an order's identity is the digest of: `<account_id> LF <key in lower case>` (design section 4.1).
    package static func orderIdentityText(account: AccountID, key: IdempotencyKey) -> [UInt8] {
        var text = Array(account.text.utf8)
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
