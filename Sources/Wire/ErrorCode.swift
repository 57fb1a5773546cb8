/// What is known of an idempotency key (design section 4.3).
package enum KeyOutcome: String, Sendable, CaseIterable {
    /// An earlier or delayed attempt may have been, or may still be, accepted.
    case unknown
    /// No order exists under the key.
    case notAccepted = "not_accepted"
    /// An order exists under the key.
    case accepted
    /// The request had nothing to do with an order's key.
    case notApplicable = "not_applicable"
}

/// Every code that a problem can bear: the published list. The order is that of the checks in design section 4.3, then the other endpoints.
package enum ErrorCode: String, Sendable, CaseIterable {
    // Row 1: form.
    case payloadTooLarge = "payload_too_large"
    case unsupportedMediaType = "unsupported_media_type"
    case malformedRequest = "malformed_request"
    case missingHeader = "missing_header"
    case invalidField = "invalid_field"
    // Row 2: token.
    case tokenInvalid = "token_invalid"
    case tokenExpired = "token_expired"
    case accountForbidden = "account_forbidden"
    case scopeMissing = "scope_missing"
    // Row 3: rate.
    case rateLimited = "rate_limited"
    // Row 4: signature.
    case signatureInvalid = "signature_invalid"
    case credentialUnknown = "credential_unknown"
    case credentialInvalidated = "credential_invalidated"
    // Row 5: the key.
    case idempotencyKeyReused = "idempotency_key_reused"
    case keyFenced = "key_fenced"
    /// After a restore from a backup, until the venue has said whether it knows the key's order.
    case recovering
    /// After a restore from a backup: what a replace came to is not kept under its key.
    case replaceNotRestored = "replace_not_restored"
    // Row 6: clocks. A key whose own time lies ahead is `clock_skew`: its time will come.
    case idempotencyKeyExpired = "idempotency_key_expired"
    case clockSkew = "clock_skew"
    // Row 7: venue and market.
    case tradingHalted = "trading_halted"
    case venueUnavailable = "venue_unavailable"
    case unknownSymbol = "unknown_symbol"
    case marketDataStale = "market_data_stale"
    case quoteReferenceStale = "quote_reference_stale"
    // Row 8: risk. Stored under the key and replayed.
    case limitExceeded = "limit_exceeded"
    case priceCollar = "price_collar"
    case insufficientFunds = "insufficient_funds"
    case insufficientPosition = "insufficient_position"
    // Row 9: overload, and a commit whose outcome is not known.
    case busy
    case outcomeUnknown = "outcome_unknown"
    // Orders that exist, and keys that are asked about.
    case keyUnknown = "key_unknown"
    case orderNotOpen = "order_not_open"
    // Replaces of orders.
    case changePending = "change_pending"
    case quantityFilled = "quantity_filled"
    // Credentials.
    case credentialNotPending = "credential_not_pending"
    case challengeExpired = "challenge_expired"
    case pairingInvalid = "pairing_invalid"
    case tooManyCredentials = "too_many_credentials"
    // Everywhere.
    case notFound = "not_found"
    case methodNotAllowed = "method_not_allowed"
    case internalError = "internal_error"

    /// The HTTP status (RFC 9110 section 15).
    package var status: Int {
        switch self {
        case .malformedRequest, .missingHeader, .invalidField, .idempotencyKeyExpired, .clockSkew: 400
        case .tokenInvalid, .tokenExpired: 401
        case .accountForbidden, .scopeMissing, .signatureInvalid, .credentialUnknown, .credentialInvalidated, .pairingInvalid: 403
        case .keyUnknown, .notFound: 404
        case .methodNotAllowed: 405
        case .keyFenced, .replaceNotRestored, .quoteReferenceStale, .orderNotOpen, .changePending, .credentialNotPending, .challengeExpired,
            .tooManyCredentials:
            409
        case .payloadTooLarge: 413
        case .unsupportedMediaType: 415
        case .idempotencyKeyReused, .unknownSymbol, .quantityFilled, .limitExceeded, .priceCollar, .insufficientFunds, .insufficientPosition: 422
        case .rateLimited: 429
        case .internalError: 500
        case .recovering, .tradingHalted, .venueUnavailable, .marketDataStale, .busy, .outcomeUnknown: 503
        }
    }

    /// The problem's type (RFC 9457 section 3.1.1): an identifier to compare, not an address to open.
    package var type: String { "urn:order-router:problem:" + rawValue }

    /// The same short summary for every occurrence (RFC 9457 section 3.1.3).
    package var title: String {
        switch self {
        case .payloadTooLarge: "The request is too large"
        case .unsupportedMediaType: "The body must be application/json"
        case .malformedRequest: "The request cannot be read"
        case .missingHeader: "A required header is missing"
        case .invalidField: "A field is missing or invalid"
        case .tokenInvalid: "The bearer token is not valid"
        case .tokenExpired: "The bearer token has expired"
        case .accountForbidden: "The token does not cover this account"
        case .scopeMissing: "The token lacks a scope"
        case .rateLimited: "Too many requests"
        case .signatureInvalid: "The signature does not verify"
        case .credentialUnknown: "The credential is not known"
        case .credentialInvalidated: "The credential has been invalidated"
        case .idempotencyKeyReused: "The idempotency key was used for another request"
        case .keyFenced: "The idempotency key has been given up"
        case .recovering: "The order is looked for at the venue"
        case .replaceNotRestored: "What became of the replace is not known by its key"
        case .idempotencyKeyExpired: "The idempotency key is too old"
        case .clockSkew: "The client's clock is off"
        case .tradingHalted: "Trading is halted"
        case .venueUnavailable: "The venue cannot be reached"
        case .unknownSymbol: "The symbol is not traded here"
        case .marketDataStale: "Market data is stale"
        case .quoteReferenceStale: "The quote behind the order is too old"
        case .limitExceeded: "A trading limit would be exceeded"
        case .priceCollar: "The price is too far from the market"
        case .insufficientFunds: "Not enough funds"
        case .insufficientPosition: "Not enough shares"
        case .busy: "The router is busy"
        case .outcomeUnknown: "The outcome is not known yet"
        case .keyUnknown: "No order is known under this key"
        case .orderNotOpen: "The order has already ended"
        case .changePending: "An earlier request is under way"
        case .quantityFilled: "So much is filled already"
        case .credentialNotPending: "The credential does not wait for pairing"
        case .challengeExpired: "The challenge has expired or was used"
        case .pairingInvalid: "The pairing does not verify"
        case .tooManyCredentials: "The account has too many active credentials"
        case .notFound: "Not found"
        case .methodNotAllowed: "Method not allowed"
        case .internalError: "Something went wrong on our side"
        }
    }

    /// What the code alone says of the key. `idempotency_key_reused` speaks of the first order: its problem overrides this.
    ///
    /// Before the key is looked up an earlier attempt may have been accepted, hence `unknown` in rows 1 to 4 and 9. Codes that an order
    /// placement never meets are `not_applicable`; `order_not_open` is only told of an order that exists, hence `accepted`. In answer to a request
    /// without a key every code is `not_applicable`: `Problem.withoutKey`.
    package var outcome: KeyOutcome {
        switch self {
        case .payloadTooLarge, .unsupportedMediaType, .malformedRequest, .missingHeader, .invalidField, .tokenInvalid, .tokenExpired,
            .accountForbidden, .scopeMissing, .rateLimited, .signatureInvalid, .credentialUnknown, .credentialInvalidated,
            .idempotencyKeyReused, .recovering, .replaceNotRestored, .busy, .outcomeUnknown, .keyUnknown, .internalError:
            .unknown
        case .keyFenced, .idempotencyKeyExpired, .clockSkew, .tradingHalted, .venueUnavailable, .unknownSymbol, .marketDataStale,
            .quoteReferenceStale, .changePending, .quantityFilled, .limitExceeded, .priceCollar, .insufficientFunds, .insufficientPosition:
            .notAccepted
        case .orderNotOpen: .accepted
        case .credentialNotPending, .challengeExpired, .pairingInvalid, .tooManyCredentials, .notFound, .methodNotAllowed: .notApplicable
        }
    }

    /// True when the outcome can never change: the key is burnt (row 8), fenced or too old, or its order exists.
    package var isFinal: Bool {
        switch self {
        case .keyFenced, .idempotencyKeyExpired, .limitExceeded, .priceCollar, .insufficientFunds, .insufficientPosition, .orderNotOpen: true
        default: false
        }
    }

    /// Answers one question: may exactly this request be sent again without the risk of a second order? Yes for every code.
    ///
    /// The key promises it: a retry is looked up before it is decided. Whether a retry can also *change* anything is what `final` says.
    package var isRetrySafe: Bool { true }
}
