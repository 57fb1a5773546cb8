/// The rules say no. Cases stand in order of precedence (design section 4.3, rows 4 to 8): the first that applies is the answer.
///
/// A refusal is a value: it is returned, never thrown. Those that are final are stored with the key and answered again for ever.
package enum Refusal: Hashable, Sendable {
    case accountUnknown
    case credentialUnknown
    case credentialInvalidated
    /// The key was used for another request; the first one's order, if it became one.
    case keyReused(firstOrder: OrderID?)
    case keyFenced
    /// The key may have been accepted in what a restore from a backup has lost; the venue is asked about its order.
    case keyRecovering
    /// A replace of this order whose key may have been accepted in what a restore has lost: nobody can tell by its key, and it is not carried out.
    case replaceNotRestored(OrderID)
    /// The key's own time is too old (or too far ahead) for a first use. Milliseconds; positive = old.
    case keyExpired(ageMilliseconds: Int64)
    case clockSkew(milliseconds: Int64)
    case tradingHalted(Halt)
    case venueUnavailable
    case unknownSymbol(Symbol)
    /// nil age: this router has no data for the symbol that counts. `why` in words, the same as the quote and the streams show.
    case marketDataStale(ageMilliseconds: Int64?, why: String)
    case quoteReferenceStale(ageMilliseconds: Int64)
    /// A replace of an order that has ended.
    case orderNotOpen(OrderStatus)
    /// A replace of an order that the venue has to answer for first: UNKNOWN, or with a cancel or replace under way.
    case changePending(ChangePending)
    /// A replace to no more than what is filled.
    case quantityFilled(filled: Int64)
    case quantityLimit(maximum: Int64)
    case notionalLimit(maximum: Amount)
    case priceCollar(bound: Amount, reference: Amount)
    /// The account owes cash or shares from a fill beyond its means; nothing new until that is repaid.
    case accountOwes
    case insufficientFunds(required: Amount, available: Amount)
    case insufficientPosition(required: Int64, available: Int64)

    package enum ChangePending: Hashable, Sendable {
        case unknown
        case cancel
        case replace
    }

    /// True where no later copy of the request can be accepted: it burns the key and is stored.
    package var burnsKey: Bool {
        switch self {
        case .quantityLimit, .notionalLimit, .priceCollar, .accountOwes, .insufficientFunds, .insufficientPosition: true
        default: false
        }
    }
}

/// An operator's stop of new orders; cancels pass it (design section 4.3 row 7).
package struct Halt: Hashable, Sendable {
    package enum Scope: String, Sendable, CaseIterable {
        /// Everything, by `order-router kill-switch` alone.
        case killSwitch = "kill_switch"
        case venue
        case symbol
        case account
    }

    package let scope: Scope
    /// The symbol or the account; empty for the venue and the kill switch.
    package let subject: String
    package let reason: String

    package init(scope: Scope, subject: String, reason: String) {
        self.scope = scope
        self.subject = subject
        self.reason = reason
    }

    /// The reason of an order that was accepted before it and ends under it without a number.
    package var endsAs: String { scope == .killSwitch ? Self.killSwitchReason : "halted" }

    package static let killSwitchReason = "kill_switch"

    package func covers(account: AccountID, symbol: Symbol) -> Bool {
        switch scope {
        case .killSwitch, .venue: true
        case .symbol: subject == symbol.text
        case .account: subject == account.text
        }
    }
}
