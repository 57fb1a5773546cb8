import FIX
import Trading

/// OrderStatusRequest (H) and OrderMassStatusRequest (AF): ExecutionReports with ExecType I, which change nothing.
extension Exchange {
    mutating func status(_ message: FIXMessage, number: Int, from party: String, at time: Int64) -> [Report] {
        guard let id = message.string(.clOrdID) else {
            return [businessReject(message, number: number, reason: 5, "ClOrdID is missing", to: party, at: time)]
        }
        if let order = self.order(named: id) {
            guard answersStatus(of: order) else { return [] }
            var answer = status(of: order, at: time)
            answer.ordStatusReqID = message.string(.ordStatusReqID)
            let due = scenario(of: order.symbol) == .silent ? time + settings.lateness : time
            return [Report(party: party, message: answer.message, due: due)]
        }
        var answer = nothingKnown(id, at: time)
        if let symbol = message.string(.symbol) { answer.append(.symbol, symbol) }
        if let side = message.string(.side) { answer.append(.side, side) }
        if let request = message.string(.ordStatusReqID) { answer.append(.ordStatusReqID, request) }
        answer.append(.text, "unknown order")
        return [Report(party: party, message: answer, due: time)]
    }

    /// One report for each order of the party, of a symbol (MassStatusReqType 1) or of all (7), the open and the ended ones of every day that the venue
    /// remembers, in the order of their OrderIDs. TotNumReports (911) counts them, LastRptRequested (912) marks the last. Where there is none: one
    /// report of no order, with TotNumReports 0.
    mutating func massStatus(_ message: FIXMessage, number: Int, from party: String, at time: Int64) -> [Report] {
        guard let id = message.string(.massStatusReqID), let kind = message.int(.massStatusReqType) else {
            return [businessReject(message, number: number, reason: 5, "MassStatusReqID or MassStatusReqType is missing", to: party, at: time)]
        }
        guard kind == 7 || kind == 1 && message.has(.symbol) else {
            return [businessReject(message, number: number, reason: 0, "MassStatusReqType is 7, or 1 with a Symbol", to: party, at: time)]
        }
        let (symbol, account, side) = (message.string(.symbol), message.string(.account), message.enumeration(.side, Side.self))
        let asked = orders.values.filter { order in
            order.party == party && (symbol == nil || order.symbol == symbol) && (account == nil || order.account == account)
                && (side == nil || order.side == side) && answersStatus(of: order)
        }.sorted { ($0.orderID.count, $0.orderID) < ($1.orderID.count, $1.orderID) }
        if asked.isEmpty {
            var answer = nothingKnown("NONE", at: time)
            answer.append(.massStatusReqID, id)
            answer.append(.totNumReports, 0)
            answer.append(.lastRptRequested, flag: true)
            answer.append(.text, "no orders")
            return [Report(party: party, message: answer, due: time)]
        }
        return asked.enumerated().map { index, order in
            var answer = status(of: order, at: time)
            answer.massStatusReqID = id
            answer.totNumReports = asked.count
            answer.lastRptRequested = index == asked.count - 1
            return Report(party: party, message: answer.message, due: time)
        }
    }

    private func answersStatus(of order: ExchangeOrder) -> Bool { scenario(of: order.symbol) != .mute || settings.answersStatusWhenMute }

    private mutating func status(of order: ExchangeOrder, at time: Int64) -> ExecutionReport {
        var answer = report(order, "I", at: time)
        answer.origClOrdID = order.replacedFrom
        return answer
    }

    /// OrdStatus 8 with OrdRejReason 5: the venue knows of no such order.
    private mutating func nothingKnown(_ id: String, at time: Int64) -> FIXMessage {
        var answer = FIXMessage(.executionReport)
        answer.append(.orderID, "NONE")
        answer.append(.clOrdID, id)
        answer.append(.execID, nextExecID(at: time))
        answer.append(.execType, "I")
        answer.append(.ordStatus, "8")
        answer.append(.ordRejReason, 5)
        answer.append(.leavesQty, 0)
        answer.append(.cumQty, 0)
        answer.append(.avgPx, "0.00")
        answer.append(.transactTime, time: time)
        answer.append(.tradeDate, FIXTime.dateText(time))
        return answer
    }
}
