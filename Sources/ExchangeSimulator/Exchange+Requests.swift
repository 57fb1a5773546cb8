import FIX
import Trading

/// Cancel requests, and what every request about an order has in common.
extension Exchange {
    /// A request about an order: who asks what.
    struct Request {
        let id: String
        let original: String
        let party: String
        let isPossResend: Bool
        let time: Int64
        /// CxlRejResponseTo (tag 434): 1 = cancel, 2 = cancel/replace.
        let kind: Int
    }

    /// The order with this ClOrdID, its first, or that of any request about it.
    package func order(named id: String) -> ExchangeOrder? { orders[id] ?? requests[id].flatMap { orders[$0] } }

    mutating func cancel(_ message: FIXMessage, number: Int, isPossResend: Bool, from party: String, at time: Int64) -> [Report] {
        guard let id = message.string(.clOrdID), let original = message.string(.origClOrdID) else {
            return [businessReject(message, number: number, reason: 5, "ClOrdID or OrigClOrdID is missing", to: party, at: time)]
        }
        let request = Request(id: id, original: original, party: party, isPossResend: isPossResend, time: time, kind: 1)
        var reports: [Report] = []
        guard var order = begin(request, &reports) else { return reports }
        let scenario = scenario(of: order.symbol)
        if scenario == .noCancel {
            refuse(request, order, reason: 2, "cancel rejected by scenario", &reports)
            return reports
        }
        if scenario == .late { pending("6", request, order, &reports) }
        order.status = "4"
        store(order)
        var done = report(order, "4", at: time)
        done.clOrdID = id
        done.origClOrdID = original
        emit(done, order, at: time, &reports)
        if scenario == .fillAfterCancel, let price = crossingPrice(of: order) {
            fill(&order, max(1, (order.quantity - order.cumQty) / 2), price, at: time, &reports)
        }
        return reports
    }

    /// Finds the order of a request and notes the request; what the scenario fills before it looks is filled. Nil = answered already.
    mutating func begin(_ request: Request, _ reports: inout [Report]) -> ExchangeOrder? {
        guard var order = self.order(named: request.original) else {
            // Unknown order (CxlRejReason 1): OrderID NONE and OrdStatus rejected (FIX 4.4 volume 4, "Order Cancel Reject").
            let refusal = cancelReject(request, orderID: "NONE", status: "8", reason: 1, "unknown order")
            reports.append(Report(party: request.party, message: refusal, due: request.time))
            return nil
        }
        if self.order(named: request.id) != nil {
            if request.isPossResend {
                let answer = report(order, "I", at: request.time).message
                reports.append(Report(party: request.party, message: answer, due: request.time))
            } else {
                refuse(request, order, reason: 6, "duplicate ClOrdID", &reports)
            }
            return nil
        }
        requests[request.id] = order.clOrdID
        changes.requests.append(request.id)
        if order.isOpen, let price = crossingPrice(of: order) {
            switch scenario(of: order.symbol) {
            case .crossingFill: fill(&order, max(1, order.leavesQty / 2), price, at: request.time, &reports)
            case .filledFirst: fill(&order, order.leavesQty, price, at: request.time, &reports)
            default: break
            }
        }
        guard order.isOpen else {
            refuse(request, order, reason: 0, "too late", &reports)
            return nil
        }
        return order
    }

    /// Where a fill happens that no quote has asked for: at the limit, else at the quote.
    private func crossingPrice(of order: ExchangeOrder) -> Amount? {
        order.limitPrice ?? quote(of: order.symbol).map { order.side == .buy ? $0.ask : $0.bid }
    }

    /// Pending cancel (6) or pending replace (E): taken, not done yet.
    mutating func pending(_ type: Character, _ request: Request, _ order: ExchangeOrder, _ reports: inout [Report]) {
        var pending = report(order, type, at: request.time)
        pending.ordStatus = type
        pending.clOrdID = request.id
        pending.origClOrdID = request.original
        reports.append(Report(party: order.party, message: pending.message, due: request.time))
    }

    func refuse(_ request: Request, _ order: ExchangeOrder, reason: Int, _ text: String, _ reports: inout [Report]) {
        let refusal = cancelReject(request, orderID: order.orderID, status: order.status, reason: reason, text)
        emit(refusal, order, at: request.time, &reports)
    }

    private func cancelReject(_ request: Request, orderID: String, status: Character, reason: Int, _ text: String) -> FIXMessage {
        var reject = FIXMessage(.orderCancelReject)
        reject.append(.orderID, orderID)
        reject.append(.clOrdID, request.id)
        reject.append(.origClOrdID, request.original)
        reject.append(.ordStatus, String(status))
        reject.append(.cxlRejResponseTo, request.kind)
        reject.append(.cxlRejReason, reason)
        reject.append(.transactTime, time: request.time)
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
        return Report(party: party, message: reject, due: time)
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
