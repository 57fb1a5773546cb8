package import Trading

/// An order as the venue holds it.
package struct ExchangeOrder: Hashable, Sendable {
    /// SenderCompID of who sent it.
    package let party: String
    package let clOrdID: String
    /// The venue's own (tag 37).
    package let orderID: String
    package let account: String?
    package let symbol: String
    package let side: Side
    package let type: OrderType
    package let timeInForce: TimeInForce
    package let quantity: Int64
    package let limitPrice: Amount?
    package let stopPrice: Amount?
    /// Milliseconds since the epoch.
    package let receivedAt: Int64

    /// OrdStatus (tag 39).
    package var status: Character = "0"
    package var cumQty: Int64 = 0
    /// The sum of price times quantity over all fills.
    package var turnover = Amount.zero
    package var isTriggered = false

    package var isOpen: Bool { status == "0" || status == "1" }
    package var leavesQty: Int64 { isOpen ? max(0, quantity - cumQty) : 0 }
    package var averagePrice: Amount { cumQty == 0 ? .zero : .average(of: turnover, over: cumQty) }
}
