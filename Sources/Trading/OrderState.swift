/// An order as the desk keeps it: its terms and where it stands.
package struct OrderState: Sendable, Hashable {
    package let id: OrderID
    package let account: AccountID
    package let key: IdempotencyKey
    package let terms: OrderTerms
    /// Cash held for each share of a BUY; zero for a SELL.
    package let holdPrice: Amount
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
    package var cancelID: String { "\(id.text)-c\(cancels)" }

    /// What of its hold belongs to a fill of `quantity` shares: their share of it, and all that is left once the order is filled.
    package func heldFor(fillOf quantity: Int64) -> Amount {
        if filledQuantity + quantity >= terms.quantity { return held }
        let share = terms.side == .buy ? holdPrice.times(quantity) : Amount(whole: quantity)
        return min(share ?? held, held)
    }
}
