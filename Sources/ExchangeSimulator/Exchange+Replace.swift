import FIX
import Trading

/// OrderCancelReplaceRequest (G), by the order state change matrices of FIX 4.4 volume 4, appendix D.
///
/// OrderQty is the order's total and what is filled counts. A total at or below what is filled takes the balance away: the order is replaced, its
/// OrderQty becomes CumQty, and it is filled ("filled" takes precedence over "cancelled" and "replaced"). What is no longer open is refused as too late,
/// also when more is asked for. The OrderID stays; from then on the order's reports carry the ClOrdID of the replace.
extension Exchange {
    private struct Terms {
        let quantity: Int64
        let limit: Amount?
        let stop: Amount?
    }

    mutating func replace(_ message: FIXMessage, number: Int, isPossResend: Bool, from party: String, at time: Int64) -> [Report] {
        guard let id = message.string(.clOrdID), let original = message.string(.origClOrdID) else {
            return [businessReject(message, number: number, reason: 5, "ClOrdID or OrigClOrdID is missing", to: party, at: time)]
        }
        let request = Request(id: id, original: original, party: party, isPossResend: isPossResend, time: time, kind: 2)
        var reports: [Report] = []
        guard var order = begin(request, &reports) else { return reports }
        guard let terms = terms(message, of: order) else {
            refuse(request, order, reason: 99, "only quantity, limit and stop price can be replaced, and they are above zero", &reports)
            return reports
        }
        let scenario = scenario(of: order.symbol)
        if scenario == .noReplace {
            refuse(request, order, reason: 2, "replace rejected by scenario", &reports)
            return reports
        }
        if scenario == .late { pending("E", request, order, &reports) }
        order.quantity = max(terms.quantity, order.cumQty)
        order.limitPrice = terms.limit
        order.stopPrice = terms.stop
        let before = order.latestClOrdID
        order.replacedFrom = before
        order.replacedAs = id
        if order.cumQty >= order.quantity { order.status = "2" }
        store(order)
        var done = report(order, "5", at: time)
        done.origClOrdID = before
        emit(done, order, at: time, &reports)
        if order.isOpen { work(&order, at: time, &reports) }
        return reports
    }

    /// What is asked for; nil where it cannot be had.
    private func terms(_ message: FIXMessage, of order: ExchangeOrder) -> Terms? {
        guard message.string(.symbol) == order.symbol, message.enumeration(.side, Side.self) == order.side,
            message.enumeration(.ordType, OrderType.self) == order.type, let quantity = message.shares(.orderQty), quantity > 0
        else { return nil }
        let limit = message.amount(.price)
        let stop = message.amount(.stopPx)
        guard !order.type.hasLimitPrice || limit.isPositive, !order.type.hasStopPrice || stop.isPositive else { return nil }
        return Terms(quantity: quantity, limit: order.type.hasLimitPrice ? limit : nil, stop: order.type.hasStopPrice ? stop : nil)
    }
}
