package import Trading

/// An order as the venue holds it.
package struct ExchangeOrder: Hashable, Sendable {
    /// SenderCompID of who sent it.
    package let party: String
    /// With which the order came: it names the order here for ever, whatever replaces it.
    package let clOrdID: String
    /// The venue's own (tag 37).
    package let orderID: String
    package let account: String?
    package let symbol: String
    package let side: Side
    package let type: OrderType
    package let timeInForce: TimeInForce
    /// The order's total; what is filled counts.
    package var quantity: Int64
    package var limitPrice: Amount?
    package var stopPrice: Amount?
    /// Milliseconds since the epoch.
    package let receivedAt: Int64

    /// OrdStatus (tag 39).
    package var status: Character = "0"
    package var cumQty: Int64 = 0
    /// The sum of price times quantity over all fills.
    package var turnover = Amount.zero
    package var isTriggered = false
    /// Of the last replace that was accepted, and the one before it; nil = none was.
    package var replacedAs: String?
    package var replacedFrom: String?

    /// What the venue calls the order now (tag 11).
    package var latestClOrdID: String { replacedAs ?? clOrdID }
    package var isOpen: Bool { status == "0" || status == "1" }
    package var leavesQty: Int64 { isOpen ? max(0, quantity - cumQty) : 0 }
    package var averagePrice: Amount { cumQty == 0 ? .zero : .average(of: turnover, over: cumQty) }
}
