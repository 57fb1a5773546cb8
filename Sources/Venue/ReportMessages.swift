import FIX
import Storage
import Trading

/// What we receive, decoded and not yet believed. A number that is not exact stays absent, which makes its report unbookable.
extension ReceivedReport {
    /// nil for messages that speak of no order of ours (ExecutionReport 8, OrderCancelReject 9, Reject 3 and BusinessMessageReject j do).
    init?(_ delivery: Delivery, receivedAt now: Int64) {
        let message = delivery.message
        var report: VenueReport
        var refused: Int64?
        switch message.type {
        case "8": report = VenueReport(execution: message, receivedAt: now)
        case "9": report = VenueReport(cancelReject: message)
        case "3", "j":
            var reject = VenueReport(kind: .other)
            reject.rejectReason = message.int(message.type == "3" ? .sessionRejectReason : .businessRejectReason)
            reject.text = message.string(.text)
            report = reject
            refused = message.int(.refSeqNum)
        default: return nil
        }
        report.isRepeated = delivery.isPossDup
        self.init(number: Int64(delivery.number), report: report, refusedNumber: refused, message: message.bytes)
    }

    /// A report that the session has refused (Reject, 35=3): nothing of it is believed but whose order it speaks of, which makes it unbookable. It is
    /// parked, its order UNKNOWN, until the venue says what it meant.
    init?(refused delivery: Delivery) {
        let message = delivery.message
        guard message.type == .executionReport || message.type == .orderCancelReject else { return nil }
        var report = VenueReport(kind: .other)
        report.nameOrder(of: message)
        // An answer to a status request is asked for again anyway.
        if message.string(.execType) == "I" { report.execType = "I" }
        report.text = message.string(.text)
        self.init(number: Int64(delivery.number), report: report, refusedNumber: nil, message: message.bytes)
    }
}

extension VenueReport {
    fileprivate init(execution message: FIXMessage, receivedAt now: Int64) {
        self.init(kind: .execution)
        nameOrder(of: message)
        execID = message.string(.execID)
        execRefID = message.string(.execRefID)
        // A date that is none makes the report unbookable, as a number that is not exact does.
        tradeDate =
            message.has(.tradeDate)
            ? message.string(.tradeDate).flatMap { Self.isTradeDate($0, at: now) ? $0 : nil }
            : Self.date(message.time(.transactTime) ?? message.time(.sendingTime) ?? now)
        execType = message.string(.execType)
        orderStatus = message.string(.ordStatus)
        lastQuantity = message.wholeShares(.lastQty)
        lastPrice = message.price(.lastPx)
        cumulativeQuantity = message.wholeShares(.cumQty)
        orderQuantity = message.wholeShares(.orderQty)
        rejectReason = message.int(.ordRejReason)
        symbol = message.string(.symbol)
        side = message.string(.side)
        text = message.string(.text)
        statusQuestion = message.string(.ordStatusReqID)
    }

    fileprivate init(cancelReject message: FIXMessage) {
        self.init(kind: .cancelReject)
        nameOrder(of: message)
        orderStatus = message.string(.ordStatus)
        rejectReason = message.int(.cxlRejReason)
        text = message.string(.text)
    }

    /// Tag 11 names the order, or one of its requests (`<order_id>-c<n>`, `-r<n>`): under a replace that it has taken, the venue knows the order by that.
    fileprivate mutating func nameOrder(of message: FIXMessage) {
        guard let name = message.string(.clOrdID) ?? message.string(.origClOrdID) else { return }
        guard let dash = name.lastIndex(of: "-"), OrderID(String(name[..<dash])) != nil, ["c", "r"].contains(name[dash...].dropFirst().first) else {
            orderID = name
            return
        }
        requestID = name
        orderID = String(name[..<dash])
    }

    /// How far from today a trade may be dated: a correction of last year's, and the next session behind the longest holidays. Executions are kept by this
    /// date: one far ahead would lie where no part is yet.
    private static let tradeDates: (back: Int64, ahead: Int64) = (366 * 86_400_000, 8 * 86_400_000)

    private static func isTradeDate(_ text: String, at now: Int64) -> Bool {
        CivilDate(compact: text) != nil && (date(now - tradeDates.back)...date(now + tradeDates.ahead)).contains(text)
    }

    private static func date(_ milliseconds: Int64) -> String { CivilDate(millisecondsSinceEpoch: milliseconds).compact }
}

extension FIXMessage {
    /// A Price (FIX 4.4 volume 1, "float"): exact to 1/10,000, trailing zeros beyond that taken, anything finer is not a price of ours.
    fileprivate func price(_ tag: FIXTag) -> Amount? {
        guard var digits = bytes(tag) else { return nil }
        if let point = digits.firstIndex(of: UInt8(ascii: ".")) {
            while digits.last == UInt8(ascii: "0"), digits.endIndex - 1 > point { digits.removeLast() }
            if digits.endIndex - 1 == point { digits.removeLast() }
        }
        return Amount(decimal: digits)
    }

    /// A Qty that is a whole number of shares.
    fileprivate func wholeShares(_ tag: FIXTag) -> Int64? {
        guard let amount = price(tag), amount.units % Amount.unitsPerOne == 0 else { return nil }
        return amount.units / Amount.unitsPerOne
    }
}
