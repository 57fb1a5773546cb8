package import FIX
package import Trading

/// The fields of an ExecutionReport (8), by their FIX names.
package struct ExecutionReport: Sendable {
    package var orderID: String
    package var clOrdID: String
    package var origClOrdID: String?
    package var execID: String
    package var execRefID: String?
    package var execType: Character
    package var ordStatus: Character
    package var account: String?
    package var symbol: String
    package var side: Side
    package var orderQty: Int64
    package var ordType: OrderType?
    package var price: Amount?
    package var stopPx: Amount?
    package var timeInForce: TimeInForce?
    package var lastQty: Int64?
    package var lastPx: Amount?
    package var leavesQty: Int64
    package var cumQty: Int64
    package var avgPx: Amount
    /// Milliseconds since the epoch; TradeDate is its UTC date.
    package var transactTime: Int64
    package var ordRejReason: Int?
    package var ordStatusReqID: String?
    package var massStatusReqID: String?
    package var totNumReports: Int?
    package var lastRptRequested: Bool?
    package var text: String?

    /// What an order is now, as a report of this type.
    package init(_ order: ExchangeOrder, execID: String, execType: Character, at time: Int64) {
        orderID = order.orderID
        clOrdID = order.latestClOrdID
        self.execID = execID
        self.execType = execType
        ordStatus = order.status
        account = order.account
        symbol = order.symbol
        side = order.side
        orderQty = order.quantity
        ordType = order.type
        price = order.limitPrice
        stopPx = order.stopPrice
        timeInForce = order.timeInForce
        leavesQty = order.leavesQty
        cumQty = order.cumQty
        avgPx = order.averagePrice
        transactTime = time
    }

    package var message: FIXMessage {
        var message = FIXMessage(.executionReport)
        message.append(.orderID, orderID)
        message.append(.clOrdID, clOrdID)
        if let origClOrdID { message.append(.origClOrdID, origClOrdID) }
        message.append(.execID, execID)
        if let execRefID { message.append(.execRefID, execRefID) }
        message.append(.execType, String(execType))
        message.append(.ordStatus, String(ordStatus))
        if let account { message.append(.account, account) }
        message.append(.symbol, symbol)
        message.append(.side, side.rawValue)
        message.append(.orderQty, orderQty)
        if let ordType { message.append(.ordType, ordType.rawValue) }
        if let price { message.append(.price, price.description) }
        if let stopPx { message.append(.stopPx, stopPx.description) }
        if let timeInForce { message.append(.timeInForce, timeInForce.rawValue) }
        if let lastQty { message.append(.lastQty, lastQty) }
        if let lastPx { message.append(.lastPx, lastPx.description) }
        message.append(.leavesQty, leavesQty)
        message.append(.cumQty, cumQty)
        message.append(.avgPx, avgPx.description)
        message.append(.transactTime, time: transactTime)
        message.append(.tradeDate, FIXTime.dateText(transactTime))
        if let ordRejReason { message.append(.ordRejReason, ordRejReason) }
        if let ordStatusReqID { message.append(.ordStatusReqID, ordStatusReqID) }
        if let massStatusReqID { message.append(.massStatusReqID, massStatusReqID) }
        if let totNumReports { message.append(.totNumReports, totNumReports) }
        if let lastRptRequested { message.append(.lastRptRequested, flag: lastRptRequested) }
        if let text { message.append(.text, text) }
        return message
    }
}
