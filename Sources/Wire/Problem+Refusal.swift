package import Trading

/// The one table that maps a refusal to its problem (design section 4.3).
extension Problem {
    /// - Parameter key: the key that the request bore.
    package init(_ refusal: Refusal, key: IdempotencyKey) {
        switch refusal {
        case .accountUnknown: self.init(.accountForbidden, "No account of this id exists here. Ask the operator to create it.")
        case .credentialUnknown:
            self.init(.credentialUnknown, "The account has no credential of this id that may sign orders. Enrol the device's key first.")
        case .credentialInvalidated:
            self.init(.credentialInvalidated, "This credential was invalidated and signs no new orders. Pair the device again.")
        case .keyReused(let firstOrder): self = .idempotencyKeyReused(key, firstOrder: firstOrder)
        case .keyFenced:
            self.init(
                .keyFenced,
                "This key was given up: nothing is ever done under it. Send what is still wanted under a new key.",
                extras: [.key(key)]
            )
        case .keyRecovering:
            self.init(
                .recovering,
                "The service was restored from a backup, and this key may have been used before: the venue is asked. Send exactly the same request again.",
                extras: [.key(key)],
                retryAfterSeconds: 2
            )
        case .replaceNotRestored(let order): self = .replaceNotRestored(order, key: key)
        case .keyExpired(let age):
            self.init(
                .idempotencyKeyExpired,
                "The key's own time is \(age) ms ago; a first use must come within 24 hours. Send the request under a new key.",
                extras: [.key(key)]
            )
        case .clockSkew(let milliseconds):
            self.init(
                .clockSkew,
                "The client's clock, or the time in the key, is off by \(milliseconds) ms; at most 30 s are taken. Set the clock by server_time."
            )
        case .tradingHalted, .venueUnavailable, .unknownSymbol, .marketDataStale, .quoteReferenceStale: self = Self.ofMarket(refusal)
        case .orderNotOpen, .changePending, .quantityFilled: self = Self.ofOrder(refusal)
        case .quantityLimit, .notionalLimit, .priceCollar, .accountOwes, .insufficientFunds, .insufficientPosition: self = Self.ofRisk(refusal)
        }
    }

    /// Row 7: nothing is stored, a later try may be accepted.
    private static func ofMarket(_ refusal: Refusal) -> Problem {
        switch refusal {
        case .tradingHalted(let halt):
            Problem(
                .tradingHalted,
                "New orders are halted (\(halt.scope.rawValue)): \(halt.reason). Cancels go on; try again later.",
                extras: [.halt(scope: halt.scope, reason: halt.reason)],
                retryAfterSeconds: 5
            )
        case .venueUnavailable:
            Problem(.venueUnavailable, "The venue's session is down. Nothing was accepted; try again shortly.", retryAfterSeconds: 2)
        case .unknownSymbol(let symbol): Problem(.unknownSymbol, "\(symbol) is not traded here. Check the symbol.")
        case .marketDataStale(let age, let why):
            Problem(
                .marketDataStale,
                "The price of this symbol is not alive: \(why). Try again when it is LIVE again.",
                extras: age.map { [.dataAge(milliseconds: $0)] } ?? [.noDataAge],
                retryAfterSeconds: 1
            )
        case .quoteReferenceStale(let age):
            Problem(
                .quoteReferenceStale,
                age < 0
                    ? "The quote that the order refers to is of \(-age) ms from now by the router's clock. Send the as_of of a quote of ours."
                    : "The quote that the order refers to is \(age) ms old by the router's clock. Look at the price again, then send."
            )
        default: preconditionFailure("Not a refusal of the market.")
        }
    }

    /// Of a replace: the order as it stands does not take it. Its key has become nothing.
    private static func ofOrder(_ refusal: Refusal) -> Problem {
        switch refusal {
        case .orderNotOpen(let status):
            Problem(.orderNotOpen, "The order is \(status.text) already; there is nothing to replace.", outcome: .notAccepted, isFinal: false)
        case .changePending(.unknown):
            Problem(.changePending, "The order is UNKNOWN. Wait for the venue's word on it, an event, or cancel it.")
        case .changePending(.cancel): Problem(.changePending, "The order's cancel is under way. Wait for its outcome, an event.")
        case .changePending(.replace):
            Problem(.changePending, "An earlier replace of the order is under way. Wait for its outcome, an event, then send this one again.")
        case .quantityFilled(let filled):
            Problem(.quantityFilled, "\(filled) shares are filled already. Send a larger total, or cancel the rest of the order.")
        default: preconditionFailure("Not a refusal of an order's state.")
        }
    }

    /// Row 8: stored under the key and answered again for ever.
    private static func ofRisk(_ refusal: Refusal) -> Problem {
        switch refusal {
        case .quantityLimit(let maximum):
            Problem(.limitExceeded, "An order may have at most \(maximum) shares. Send a smaller one.", extras: [.limit(count: maximum)])
        case .notionalLimit(let maximum):
            Problem(.limitExceeded, "An order may be worth at most \(maximum) USD. Send a smaller one.", extras: [.limit(maximum)])
        case .priceCollar(let bound, let reference):
            Problem(
                .priceCollar,
                "The limit is beyond \(bound), too far from the market at \(reference). Check the price.",
                extras: [.limit(bound)]
            )
        case .accountOwes:
            Problem(
                .insufficientFunds,
                "The account owes cash or shares from a fill beyond its means; no new orders until that is repaid.",
                extras: [.available(.zero)]
            )
        case .insufficientFunds(let required, let available):
            Problem(
                .insufficientFunds,
                "The order needs \(required) USD, available are \(available) USD.",
                extras: [.required(required), .available(available)]
            )
        case .insufficientPosition(let required, let available):
            Problem(
                .insufficientPosition,
                "The order needs \(required) shares, available are \(available).",
                extras: [.required(shares: required), .available(shares: available)]
            )
        default: preconditionFailure("Not a refusal of risk.")
        }
    }
}
