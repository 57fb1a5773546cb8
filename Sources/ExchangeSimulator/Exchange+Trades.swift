package import Trading

/// Trades taken back (ExecType H) and corrected (ExecType G), by the matrices of FIX 4.4 volume 4, appendix D, "execution correction / cancellation".
///
/// A filled order whose trade is taken back is open again for as much; one that has ended otherwise stays ended. ExecRefID names the report that is taken
/// back or corrected: of a trade that was corrected before, that is the correction.
extension Exchange {
    /// A trade as it was last reported.
    package struct Trade: Sendable, Hashable {
        package let clOrdID: String
        package let execID: String
        package let quantity: Int64
        package let price: Amount
    }

    mutating func bust(_ trade: Trade, at time: Int64) -> [Report] {
        guard var order = self.order(named: trade.clOrdID), rebook(&order, trade, quantity: 0, price: .zero) else { return [] }
        var taken = report(order, "H", at: time)
        taken.execRefID = trade.execID
        taken.lastQty = 0
        taken.lastPx = .zero
        var reports: [Report] = []
        emit(taken, order, at: time, &reports)
        return reports
    }

    mutating func correct(_ trade: Trade, quantity: Int64, price: Amount, at time: Int64) -> [Report] {
        guard var order = self.order(named: trade.clOrdID), rebook(&order, trade, quantity: quantity, price: price) else { return [] }
        var corrected = report(order, "G", at: time)
        corrected.execRefID = trade.execID
        corrected.lastQty = quantity
        corrected.lastPx = price
        var reports: [Report] = []
        emit(corrected, order, at: time, &reports)
        return reports
    }

    /// What the scenario has the venue do with a trade that it has just reported. One that is taken back ends its order: it would trade again at once.
    mutating func rueTrade(_ order: inout ExchangeOrder, _ trade: Trade, at time: Int64, _ reports: inout [Report]) {
        let cent = Amount.unitsPerOne / 100
        switch scenario(of: order.symbol) {
        case .busted:
            reports += bust(trade, at: time)
            order = orders[order.clOrdID] ?? order
            guard order.isOpen else { return }
            order.status = "4"
            store(order)
            var cancelled = report(order, "4", at: time)
            cancelled.text = "its trade was taken back"
            emit(cancelled, order, at: time, &reports)
        case .corrected where trade.price.units > cent:
            reports += correct(trade, quantity: trade.quantity, price: Amount(units: trade.price.units - cent), at: time)
            order = orders[order.clOrdID] ?? order
        default: break
        }
    }

    /// Puts another quantity and price in the place of a trade's. False when the sums would leave their range.
    private mutating func rebook(_ order: inout ExchangeOrder, _ trade: Trade, quantity: Int64, price: Amount) -> Bool {
        guard let was = trade.price.times(trade.quantity), let value = price.times(quantity), let rest = order.turnover.subtracting(was),
            let turnover = rest.adding(value)
        else { return false }
        order.turnover = turnover
        order.cumQty += quantity - trade.quantity
        if order.isOpen || order.status == "2" {
            order.status = order.cumQty >= order.quantity ? "2" : order.cumQty > 0 ? "1" : "0"
            if order.isOpen, open[order.symbol]?.contains(order.clOrdID) != true { open[order.symbol, default: []].append(order.clOrdID) }
        }
        store(order)
        return true
    }
}
