import FIX
import Trading

/// The messages that we send (FIX 4.4 volume 4). Prices are exact decimals; quantities whole shares.
extension OrderState {
    /// NewOrderSingle (35=D).
    func newOrderSingle(at now: Int64) -> FIXMessage {
        var message = FIXMessage("D")
        message.append(.clOrdID, id.text)
        message.append(.account, account.text)
        // HandlInst 1: automated execution, no intervention.
        message.append(.handlInst, "1")
        message.append(.symbol, terms.symbol.text)
        message.append(.side, terms.side.rawValue)
        message.append(.transactTime, time: now)
        message.append(.orderQty, terms.quantity)
        message.append(.ordType, terms.type.rawValue)
        if let limit = terms.limitPrice { message.append(.price, limit.description) }
        if let stop = terms.stopPrice { message.append(.stopPx, stop.description) }
        message.append(.timeInForce, terms.timeInForce.rawValue)
        return message
    }

    /// OrderCancelRequest (35=F) for the newest cancel request.
    func orderCancelRequest(at now: Int64) -> FIXMessage {
        var message = FIXMessage("F")
        message.append(.origClOrdID, previousClOrdID)
        message.append(.clOrdID, cancelID)
        message.append(.account, account.text)
        message.append(.symbol, terms.symbol.text)
        message.append(.side, terms.side.rawValue)
        message.append(.transactTime, time: now)
        message.append(.orderQty, terms.quantity)
        return message
    }

    /// OrderCancelReplaceRequest (35=G) for the replace that is under way; nil when there is none any more.
    func orderCancelReplaceRequest(at now: Int64) -> FIXMessage? {
        guard let wanted = replaces.pending?.terms else { return nil }
        var message = FIXMessage("G")
        message.append(.origClOrdID, clOrdID)
        message.append(.clOrdID, replaceID)
        message.append(.account, account.text)
        message.append(.handlInst, "1")
        message.append(.symbol, terms.symbol.text)
        message.append(.side, terms.side.rawValue)
        message.append(.transactTime, time: now)
        message.append(.orderQty, wanted.quantity)
        message.append(.ordType, terms.type.rawValue)
        if let limit = wanted.limitPrice { message.append(.price, limit.description) }
        if let stop = wanted.stopPrice { message.append(.stopPx, stop.description) }
        message.append(.timeInForce, terms.timeInForce.rawValue)
        return message
    }

    /// OrderStatusRequest (35=H): answered by an ExecutionReport with ExecType I, which books nothing. Asked under the newest id that the venue may know: a
    /// replace that it never had is one that it refuses.
    func orderStatusRequest() -> FIXMessage {
        var message = FIXMessage("H")
        message.append(.clOrdID, previousClOrdID)
        message.append(.account, account.text)
        message.append(.symbol, terms.symbol.text)
        message.append(.side, terms.side.rawValue)
        return message
    }
}
