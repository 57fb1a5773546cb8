/// An order as the desk keeps it: its terms and where it stands.
package struct OrderState: Sendable, Hashable {
    package let id: OrderID
    package let account: AccountID
    package let key: IdempotencyKey
    /// As the venue has them, or is to get them.
    package var terms: OrderTerms
    /// Cash held for each share of a BUY; zero for a SELL.
    package var holdPrice: Amount
    package let createdAt: Int64
    /// Not numbered for the venue by then: cancelled by our own commit.
    package let routeBy: Int64

    package var status: OrderStatus
    /// What it still holds: cash for a BUY, shares (in 1/10,000) for a SELL.
    package var held: Amount
    package var filledQuantity: Int64
    /// Sum of quantity times price over its fills.
    package var filledValue: Amount
    /// Cancel requests made so far.
    package var cancels: Int16
    package var cancelPending: Bool
    package var replaces: Replaces
    /// Times that it was to be sent again after a reset of the sequence numbers (PossResend).
    package var resends: Int16
    /// Of an order that came into doubt before the venue had said anything of it: the generation of the session's numbers in which it was numbered last, or a
    /// later one. 0 once the venue has spoken of it; `lostInRestore` where nobody knows whether it has. Nil on an order's normal way.
    package var unansweredIn: Int64?
    package var reason: String?
    package var updatedAt: Int64

    package init(
        id: OrderID,
        account: AccountID,
        key: IdempotencyKey,
        terms: OrderTerms,
        holdPrice: Amount,
        createdAt: Int64,
        routeBy: Int64,
        status: OrderStatus = .accepted,
        held: Amount,
        filledQuantity: Int64 = 0,
        filledValue: Amount = .zero,
        cancels: Int16 = 0,
        cancelPending: Bool = false,
        replaces: Replaces = Replaces(),
        resends: Int16 = 0,
        unansweredIn: Int64? = nil,
        reason: String? = nil,
        updatedAt: Int64
    ) {
        self.id = id
        self.account = account
        self.key = key
        self.terms = terms
        self.holdPrice = holdPrice
        self.createdAt = createdAt
        self.routeBy = routeBy
        self.status = status
        self.held = held
        self.filledQuantity = filledQuantity
        self.filledValue = filledValue
        self.cancels = cancels
        self.cancelPending = cancelPending
        self.replaces = replaces
        self.resends = resends
        self.unansweredIn = unansweredIn
        self.reason = reason
        self.updatedAt = updatedAt
    }

    /// Not numbered for the venue by its deadline: whoever comes to it first, sender or sweep, cancels it (`notRouted`).
    package func isOverdue(at now: Int64) -> Bool { status == .accepted && routeBy < now }

    /// The asset that its hold is in.
    package var heldAsset: Asset { terms.side == .buy ? .cash : .shares(terms.symbol) }

    /// Rounded half to even at the fourth decimal; nil before the first fill.
    package var averagePrice: Amount? { filledQuantity > 0 ? Amount.average(of: filledValue, over: filledQuantity) : nil }

    /// `<order_id>-c<n>`, the ClOrdID of the newest cancel request.
    package var cancelID: String { id.cancelID(cancels) }

    /// `<order_id>-r<n>`, the ClOrdID of the replace request that is under way, else of the newest.
    package var replaceID: String { "\(id.text)-r\(replaces.pending?.number ?? replaces.requests)" }

    /// The ClOrdID under which the venue has the order: its own, or that of the replace that was taken last.
    package var clOrdID: String { replaces.taken == 0 ? id.text : "\(id.text)-r\(replaces.taken)" }

    /// What the next request names as OrigClOrdID (FIX tag 41: of the previous non-rejected order): one that is still unanswered counts, for the venue takes
    /// requests in their order.
    package var previousClOrdID: String { replaces.pending == nil ? clOrdID : replaceID }

    /// What may be filled at most: a pending replace may already be in force at the venue.
    package var largestQuantity: Int64 { max(terms.quantity, replaces.pending?.terms.quantity ?? 0) }

    /// What it has to hold, while open, once `filled` shares are filled: enough for what it is and for what it may become.
    func neededHold(filled: Int64) -> Amount {
        func needed(_ quantity: Int64, _ price: Amount) -> Amount {
            let left = max(0, quantity - filled)
            // Fits: it did with the whole quantity, when it was accepted.
            return (terms.side == .buy ? price.times(left) : Amount(whole: left)) ?? Amount(units: .max)
        }
        let now = needed(terms.quantity, holdPrice)
        return max(now, replaces.pending.map { needed($0.terms.quantity, $0.holdPrice) } ?? .zero)
    }

    /// What of its hold belongs to a fill of `quantity` shares: what is not needed any more afterwards, which is all once the order is filled.
    package func heldFor(fillOf quantity: Int64) -> Amount {
        let (filled, overflow) = filledQuantity.addingReportingOverflow(quantity)
        return overflow ? held : held.subtracting(min(held, neededHold(filled: filled))) ?? .zero
    }
}
