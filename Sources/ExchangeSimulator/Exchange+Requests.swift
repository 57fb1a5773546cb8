import FIX
import Trading

/// Cancel and status requests.
extension Exchange {
    mutating func cancel(_ message: FIXMessage, number: Int, isPossResend: Bool, from party: String, at time: Int64) -> [Report] {
        guard let id = message.string(.clOrdID), let original = message.string(.origClOrdID) else {
            return [businessReject(message, number: number, reason: 5, "ClOrdID or OrigClOrdID is missing", to: party, at: time)]
        }
        guard var order = orders[original] else {
            // Unknown order (CxlRejReason 1): OrderID NONE and OrdStatus rejected (FIX 4.4 volume 4, "Order Cancel Reject").
            let refusal = cancelReject(id, original, orderID: "NONE", status: "8", reason: 1, "unknown order", at: time)
            return [Report(party: party, message: refusal, due: time, dropsConnection: false)]
        }
        if cancels[id] != nil || orders[id] != nil {
            if isPossResend {
                let answer = report(order, "I", at: time).message
                return [Report(party: party, message: answer, due: time, dropsConnection: false)]
            }
            return refuse(order, id, reason: 6, "duplicate ClOrdID", at: time)
        }
        cancels[id] = original
        changes.cancels.append(id)
        guard order.isOpen else { return refuse(order, id, reason: 0, "too late to cancel", at: time) }
        let scenario = scenario(of: order.symbol)
        if scenario == .noCancel { return refuse(order, id, reason: 2, "cancel rejected by scenario", at: time) }
        var reports: [Report] = []
        if scenario == .late {
            var pending = report(order, "6", at: time)
            pending.ordStatus = "6"
            pending.clOrdID = id
            pending.origClOrdID = original
            reports.append(Report(party: order.party, message: pending.message, due: time, dropsConnection: false))
        }
        order.status = "4"
        store(order)
        var done = report(order, "4", at: time)
        done.clOrdID = id
        done.origClOrdID = original
        emit(done, order, at: time, &reports)
        if scenario == .fillAfterCancel, let quote = quote(of: order.symbol) {
            let price = order.limitPrice ?? (order.side == .buy ? quote.ask : quote.bid)
            fill(&order, max(1, (order.quantity - order.cumQty) / 2), price, at: time, &reports)
        }
        return reports
    }

    mutating func status(_ message: FIXMessage, number: Int, from party: String, at time: Int64) -> [Report] {
        guard let id = message.string(.clOrdID) else {
            return [businessReject(message, number: number, reason: 5, "ClOrdID is missing", to: party, at: time)]
        }
        if let order = orders[id] {
            if scenario(of: order.symbol) == .mute, !settings.answersStatusWhenMute { return [] }
            var answer = report(order, "I", at: time)
            answer.ordStatusReqID = message.string(.ordStatusReqID)
            return [Report(party: party, message: answer.message, due: time, dropsConnection: false)]
        }
        var answer = FIXMessage(.executionReport)
        answer.append(.orderID, "NONE")
        answer.append(.clOrdID, id)
        answer.append(.execID, nextExecID(at: time))
        answer.append(.execType, "I")
        answer.append(.ordStatus, "8")
        answer.append(.ordRejReason, 5)
        if let symbol = message.string(.symbol) { answer.append(.symbol, symbol) }
        if let side = message.string(.side) { answer.append(.side, side) }
        answer.append(.leavesQty, 0)
        answer.append(.cumQty, 0)
        answer.append(.avgPx, "0.00")
        answer.append(.transactTime, time: time)
        answer.append(.tradeDate, FIXTime.dateText(time))
        if let request = message.string(.ordStatusReqID) { answer.append(.ordStatusReqID, request) }
        answer.append(.text, "unknown order")
        return [Report(party: party, message: answer, due: time, dropsConnection: false)]
    }

    private func refuse(_ order: ExchangeOrder, _ id: String, reason: Int, _ text: String, at time: Int64) -> [Report] {
        var reports: [Report] = []
        let refusal = cancelReject(id, order.clOrdID, orderID: order.orderID, status: order.status, reason: reason, text, at: time)
        emit(refusal, order, at: time, &reports)
        return reports
    }

    private func cancelReject(
        _ id: String,
        _ original: String,
        orderID: String,
        status: Character,
        reason: Int,
        _ text: String,
        at time: Int64
    ) -> FIXMessage {
        var reject = FIXMessage(.orderCancelReject)
        reject.append(.orderID, orderID)
        reject.append(.clOrdID, id)
        reject.append(.origClOrdID, original)
        reject.append(.ordStatus, String(status))
        reject.append(.cxlRejResponseTo, 1)
        reject.append(.cxlRejReason, reason)
        reject.append(.transactTime, time: time)
        reject.append(.text, text)
        return reject
    }

    func businessReject(_ message: FIXMessage, number: Int, reason: Int, _ text: String, to party: String, at time: Int64) -> Report {
        var reject = FIXMessage(.businessMessageReject)
        reject.append(.refSeqNum, number)
        reject.append(.refMsgType, message.type.rawValue)
        if let id = message.string(.clOrdID) { reject.append(.businessRejectRefID, id) }
        reject.append(.businessRejectReason, reason)
        reject.append(.text, text)
        return Report(party: party, message: reject, due: time, dropsConnection: false)
    }
}

extension FIXMessage {
    /// Qty is a decimal in FIX; shares are whole.
    func shares(_ tag: FIXTag) -> Int64? {
        guard let amount = amount(tag), amount.units % Amount.unitsPerOne == 0 else { return nil }
        return amount.units / Amount.unitsPerOne
    }

    func amount(_ tag: FIXTag) -> Amount? { bytes(tag).flatMap { Amount(decimal: $0) } }

    func enumeration<Value: RawRepresentable<Int16>>(_ tag: FIXTag, _ type: Value.Type) -> Value? {
        int(tag).flatMap { Int16(exactly: $0) }.flatMap { Value(rawValue: $0) }
    }
}

extension Amount? {
    var isPositive: Bool { (self?.units ?? 0) > 0 }
}
