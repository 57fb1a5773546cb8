/// FIX tag 54.
package enum Side: Int16, Sendable, CaseIterable {
    case buy = 1
    case sell = 2

    /// As the API writes it.
    package var text: String { self == .buy ? "BUY" : "SELL" }

    package init?(text: String) {
        switch text {
        case "BUY": self = .buy
        case "SELL": self = .sell
        default: return nil
        }
    }
}

/// FIX tag 40.
package enum OrderType: Int16, Sendable, CaseIterable {
    case market = 1
    case limit = 2
    case stop = 3
    case stopLimit = 4

    package var text: String {
        switch self {
        case .market: "MARKET"
        case .limit: "LIMIT"
        case .stop: "STOP"
        case .stopLimit: "STOP_LIMIT"
        }
    }

    package var hasLimitPrice: Bool { self == .limit || self == .stopLimit }
    package var hasStopPrice: Bool { self == .stop || self == .stopLimit }

    package init?(text: String) {
        switch text {
        case "MARKET": self = .market
        case "LIMIT": self = .limit
        case "STOP": self = .stop
        case "STOP_LIMIT": self = .stopLimit
        default: return nil
        }
    }
}

/// FIX tag 59.
package enum TimeInForce: Int16, Sendable, CaseIterable {
    case day = 0
    case goodTillCancel = 1
    case immediateOrCancel = 3
    case fillOrKill = 4

    package var text: String {
        switch self {
        case .day: "DAY"
        case .goodTillCancel: "GTC"
        case .immediateOrCancel: "IOC"
        case .fillOrKill: "FOK"
        }
    }

    package init?(text: String) {
        switch text {
        case "DAY": self = .day
        case "GTC": self = .goodTillCancel
        case "IOC": self = .immediateOrCancel
        case "FOK": self = .fillOrKill
        default: return nil
        }
    }
}

/// What a trader asks for: everything that changes an order's effect, already checked for form (design section 4.1).
package struct OrderTerms: Hashable, Sendable {
    package let symbol: Symbol
    package let side: Side
    package let type: OrderType
    package let timeInForce: TimeInForce
    /// Whole shares, 1 to 10⁹.
    package let quantity: Int64
    /// Present exactly when the type has one; greater than zero.
    package let limitPrice: Amount?
    /// Present exactly when the type has one; greater than zero.
    package let stopPrice: Amount?

    package static let quantityRange: ClosedRange<Int64> = 1...1_000_000_000

    package init(
        symbol: Symbol,
        side: Side,
        type: OrderType,
        timeInForce: TimeInForce,
        quantity: Int64,
        limitPrice: Amount?,
        stopPrice: Amount?
    ) {
        precondition(Self.quantityRange.contains(quantity), "An order's quantity is 1 to 10⁹.")
        precondition((limitPrice != nil) == type.hasLimitPrice, "A limit price is present exactly when the type has one.")
        precondition((stopPrice != nil) == type.hasStopPrice, "A stop price is present exactly when the type has one.")
        self.symbol = symbol
        self.side = side
        self.type = type
        self.timeInForce = timeInForce
        self.quantity = quantity
        self.limitPrice = limitPrice
        self.stopPrice = stopPrice
    }
}
