import FIX
import Storage
import Trading

/// The messages that we send (FIX 4.4 volume 4). Prices are exact decimals; quantities whole shares.
extension OrderState {
    /// NewOrderSingle (35=D); one that is sent again says so (PossResend), at the front, from where it comes into the header.
    func newOrderSingle(at now: Int64) -> FIXMessage {
        var message = FIXMessage("D")
        if resends > 0 { message.append(.possResend, flag: true) }
        message.append(.clOrdID, id.text)
        describe(Replacement(of: terms), in: &message, at: now)
        return message
    }

    /// The order with these numbers, as NewOrderSingle and OrderCancelReplaceRequest name it.
    private func describe(_ numbers: Replacement, in message: inout FIXMessage, at now: Int64) {
        message.append(.account, account.text)
        // HandlInst 1: automated execution, no intervention.
        message.append(.handlInst, "1")
        message.append(.symbol, terms.symbol.text)
        message.append(.side, terms.side.rawValue)
        message.append(.transactTime, time: now)
        message.append(.orderQty, numbers.quantity)
        message.append(.ordType, terms.type.rawValue)
        if let limit = numbers.limitPrice { message.append(.price, limit.description) }
        if let stop = numbers.stopPrice { message.append(.stopPx, stop.description) }
        message.append(.timeInForce, terms.timeInForce.rawValue)
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
        describe(wanted, in: &message, at: now)
        return message
    }

    /// OrderStatusRequest (35=H): answered by an ExecutionReport with ExecType I, which books nothing. Asked under the newest id that the venue may know: a
    /// replace that it never had is one that it refuses.
    ///
    /// - Parameter generation: of the session's numbers, in which it is asked.
    func orderStatusRequest(in generation: Int64) -> FIXMessage {
        var message = FIXMessage("H")
        message.append(.ordStatusReqID, StatusQuestion(generation: generation, resends: resends).text)
        message.append(.clOrdID, previousClOrdID)
        message.append(.account, account.text)
        message.append(.symbol, terms.symbol.text)
        message.append(.side, terms.side.rawValue)
        return message
    }
}

extension Reconciliation {
    /// OrderMassStatusRequest (35=AF) for all orders (MassStatusReqType 7): answered by an ExecutionReport with ExecType I for each.
    var massStatusRequest: FIXMessage {
        var message = FIXMessage(.orderMassStatusRequest)
        message.append(.massStatusReqID, requestID)
        message.append(.massStatusReqType, 7)
        return message
    }
}

extension KeyQuestion {
    /// OrderStatusRequest (35=H) for the order that the key gives, whether it exists or not.
    var orderStatusRequest: FIXMessage {
        var message = FIXMessage("H")
        message.append(.clOrdID, orderID.text)
        message.append(.account, id.account.text)
        message.append(.symbol, symbol.text)
        message.append(.side, side.rawValue)
        return message
    }
}
