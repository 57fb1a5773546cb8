package import FIX
import Trading

/// What the venue says to one party, and when.
package struct Report: Sendable {
    package let party: String
    package let message: FIXMessage
    /// Not before this time, in milliseconds since the epoch; `never` = withheld until it is released.
    package let due: Int64
    package let fault: LineFault?

    package static let never = Int64.max

    package init(party: String, message: FIXMessage, due: Int64, fault: LineFault? = nil) {
        self.party = party
        self.message = message
        self.due = due
        self.fault = fault
    }
}

/// How the venue behaves; every part may change while it runs.
package struct ExchangeSettings: Sendable {
    /// How late the reports of the late scenario are, in milliseconds.
    package var lateness: Int64 = 3_000
    /// How much worse than the quote the price-gap scenario fills.
    package var gapPercent: Int64 = 20
    /// False = not even status requests are answered for symbols of the mute scenario.
    package var answersStatusWhenMute = true
    /// Scenarios for symbols that have none by their suffix, or another one.
    package var scenarios: [String: Scenario] = [:]
    package var halted: Set<String> = []
    /// Of the FIX feed's incremental updates every so many-eth is lost, its number with it; 0 = none.
    package var dropUpdatesEvery = 0

    package init() {}
}

/// The orders of a venue and their matching against its quotes: messages in, reports out. No clock, no input or output.
package struct Exchange: Sendable {
    package var settings = ExchangeSettings() {
        didSet { unmatched.formUnion(quotes.keys) }
    }
    /// By ClOrdID.
    package internal(set) var orders: [String: ExchangeOrder] = [:]
    /// By base symbol.
    package private(set) var quotes: [String: Quote] = Listing.start
    /// Everything that a subscription to `*` brings, in the order in which it was listed.
    package private(set) var symbols = Listing.all
    /// Shares traded today, made up: a lot with each quote. By base symbol.
    private var volumes: [String: Int64] = [:]
    /// Base symbols whose quotes were set since it was last asked, for whoever publishes them.
    private var moved: Set<String> = []
    /// How many NewOrderSingles have come for each ClOrdID; what the session itself repeated (PossDup) is not among them.
    package internal(set) var seen: [String: Int] = [:]
    /// ClOrdIDs that came again as a new order: each is an order that somebody would have doubled.
    package internal(set) var doubles: [String] = []
    /// The order that each cancel or replace request is for: request and order by the ClOrdIDs that they came with.
    var requests: [String: String] = [:]
    /// Numbers OrderIDs and ExecIDs.
    var counter: Int64 = 0
    /// What has to be written down since it was last asked for.
    var changes = Changes()
    /// ClOrdIDs of open orders in the order of arrival, by symbol; those that have ended leave when their symbol is next matched.
    var open: [String: [String]] = [:]
    /// Symbols whose resting orders have not met the quote yet.
    private var unmatched: Set<String> = []

    struct Changes: Sendable {
        var orders: Set<String> = []
        var seen: [String] = []
        var doubles: [String] = []
        var requests: [String] = []
        var forgotten: [String] = []
    }

    package init() {}

    // MARK: Questions

    package func scenario(of symbol: String) -> Scenario? { settings.scenarios[symbol] ?? Scenario.split(symbol).scenario }

    /// Itself or with its base symbol.
    func isHalted(_ symbol: String) -> Bool { settings.halted.contains(symbol) || settings.halted.contains(Scenario.split(symbol).base) }

    package func quote(of symbol: String) -> Quote? { quotes[symbol] ?? quotes[Scenario.split(symbol).base] }

    // MARK: Inputs

    /// An application message of a party.
    package mutating func received(_ message: FIXMessage, number: Int, isPossResend: Bool, from party: String, at time: Int64) -> [Report] {
        switch message.type {
        case .newOrderSingle: newOrder(message, number: number, isPossResend: isPossResend, from: party, at: time)
        case .orderCancelRequest: cancel(message, number: number, isPossResend: isPossResend, from: party, at: time)
        case .orderCancelReplaceRequest: replace(message, number: number, isPossResend: isPossResend, from: party, at: time)
        case .orderStatusRequest: status(message, number: number, from: party, at: time)
        case .orderMassStatusRequest: massStatus(message, number: number, from: party, at: time)
        case .reject, .businessMessageReject: []
        default: [businessReject(message, number: number, reason: 3, "unsupported message type", to: party, at: time)]
        }
    }

    /// The quote of a base symbol, without matching: `match` follows once all have moved.
    package mutating func setQuote(_ symbol: String, _ quote: Quote) {
        quotes[symbol] = quote
        volumes[symbol, default: 0] += Self.lot
        unmatched.insert(symbol)
        moved.insert(symbol)
    }

    /// Shares of a made-up trade.
    private static let lot: Int64 = 100

    package func volume(of symbol: String) -> Int64 { volumes[symbol] ?? volumes[Scenario.split(symbol).base] ?? 0 }

    /// The symbols whose quotes were set since the last call.
    mutating func takeMoved() -> Set<String> {
        defer { moved.removeAll(keepingCapacity: true) }
        return moved
    }

    /// Lists so many symbols more, S00001 and on, at prices of their own.
    mutating func addSymbols(_ count: Int) {
        for number in 0..<count {
            let name = Listing.madeUp(number + 1)
            symbols.append(name)
            setQuote(name, Listing.madeUpQuote(number))
        }
    }

    /// Lets resting orders meet the quotes, and partial fills go on.
    package mutating func match(at time: Int64) -> [Report] {
        var reports: [Report] = []
        defer { unmatched = [] }
        for symbol in open.keys.sorted() {
            let moved = unmatched.contains(symbol) || unmatched.contains(Scenario.split(symbol).base)
            guard moved || scenario(of: symbol) == .partialFills, let waiting = open[symbol] else { continue }
            for id in waiting {
                guard var order = orders[id], order.isOpen else { continue }
                work(&order, at: time, &reports)
            }
            let left = waiting.filter { orders[$0]?.isOpen == true }
            open[symbol] = left.isEmpty ? nil : left
        }
        return reports
    }

    /// The trading day is over: DAY orders expire.
    package mutating func endDay(at time: Int64) -> [Report] {
        var reports: [Report] = []
        for id in orders.keys.sorted() {
            guard var order = orders[id], order.isOpen, order.timeInForce == .day else { continue }
            order.status = "C"
            store(order)
            emit(report(order, "C", at: time), order, at: time, &reports)
        }
        return reports
    }

    // MARK: Orders

    private mutating func newOrder(
        _ message: FIXMessage,
        number: Int,
        isPossResend: Bool,
        from party: String,
        at time: Int64
    ) -> [Report] {
        guard let id = message.string(.clOrdID) else {
            return [businessReject(message, number: number, reason: 5, "ClOrdID is missing", to: party, at: time)]
        }
        seen[id, default: 0] += 1
        changes.seen.append(id)
        if scenario(of: message.string(.symbol) ?? "") == .lost, seen[id] == 1 { return [] }
        if let first = orders[id] { return again(first, message, isPossResend: isPossResend, from: party, at: time) }
        guard var order = read(message, id, from: party, at: time) else {
            return [businessReject(message, number: number, reason: 5, "not a readable order", to: party, at: time)]
        }
        var reports: [Report] = []
        if let (reason, text) = refusal(order) {
            order.status = "8"
            store(order)
            var refused = report(order, "8", at: time)
            refused.ordRejReason = reason
            refused.text = text
            emit(refused, order, at: time, &reports)
            return reports
        }
        store(order)
        emit(report(order, "0", at: time), order, at: time, isFirst: true, &reports)
        work(&order, at: time, &reports)
        let ends = order.timeInForce == .immediateOrCancel || order.timeInForce == .fillOrKill
        if order.isOpen, ends, scenario(of: order.symbol) != .mute {
            order.status = "4"
            store(order)
            var cancelled = report(order, "4", at: time)
            cancelled.text = "not filled at once"
            emit(cancelled, order, at: time, &reports)
        }
        if order.isOpen { open[order.symbol, default: []].append(id) }
        return reports
    }

    /// A ClOrdID that is already here is never executed again.
    private mutating func again(
        _ first: ExchangeOrder,
        _ message: FIXMessage,
        isPossResend: Bool,
        from party: String,
        at time: Int64
    ) -> [Report] {
        var answer = report(first, isPossResend ? "I" : "8", at: time)
        if !isPossResend {
            doubles.append(first.clOrdID)
            changes.doubles.append(first.clOrdID)
            answer.ordStatus = "8"
            answer.leavesQty = 0
            answer.cumQty = 0
            answer.avgPx = .zero
            answer.ordRejReason = 6
            answer.text = "duplicate order"
        }
        return [Report(party: party, message: answer.message, due: time)]
    }

    private func refusal(_ order: ExchangeOrder) -> (reason: Int, text: String)? {
        guard quote(of: order.symbol) != nil else { return (1, "unknown symbol") }
        if isHalted(order.symbol) { return (2, "trading in the symbol is halted") }
        if scenario(of: order.symbol) == .reject { return (0, "rejected by scenario") }
        return nil
    }

    private mutating func read(_ message: FIXMessage, _ id: String, from party: String, at time: Int64) -> ExchangeOrder? {
        guard let symbol = message.string(.symbol), let side = message.enumeration(.side, Side.self),
            let type = message.enumeration(.ordType, OrderType.self), let quantity = message.shares(.orderQty), quantity > 0
        else { return nil }
        // TimeInForce is optional; absent = DAY (FIX 4.4 volume 3, tag 59).
        let timeInForce = message.has(.timeInForce) ? message.enumeration(.timeInForce, TimeInForce.self) : .day
        let limit = message.amount(.price)
        let stop = message.amount(.stopPx)
        guard let timeInForce, !type.hasLimitPrice || limit.isPositive, !type.hasStopPrice || stop.isPositive else { return nil }
        counter += 1
        return ExchangeOrder(
            party: party,
            clOrdID: id,
            orderID: "X\(counter)",
            account: message.string(.account),
            symbol: symbol,
            side: side,
            type: type,
            timeInForce: timeInForce,
            quantity: quantity,
            limitPrice: type.hasLimitPrice ? limit : nil,
            stopPrice: type.hasStopPrice ? stop : nil,
            receivedAt: time
        )
    }

    mutating func store(_ order: ExchangeOrder) {
        orders[order.clOrdID] = order
        changes.orders.insert(order.clOrdID)
    }

    /// Puts back an order that was written down.
    mutating func restore(_ order: ExchangeOrder) {
        let isNew = orders[order.clOrdID] == nil
        orders[order.clOrdID] = order
        if isNew, order.isOpen { open[order.symbol, default: []].append(order.clOrdID) }
    }

    /// The order is known no more, as if it had never come; what was reported of it stays said.
    mutating func forget(_ clOrdID: String) {
        guard let order = orders.removeValue(forKey: clOrdID) else { return }
        open[order.symbol]?.removeAll { $0 == clOrdID }
        changes.orders.remove(clOrdID)
        changes.forgotten.append(clOrdID)
    }

    // MARK: Matching

    /// Fills what the quote and the scenario allow now.
    mutating func work(_ order: inout ExchangeOrder, at time: Int64, _ reports: inout [Report]) {
        let scenario = scenario(of: order.symbol)
        guard scenario?.keepsResting != true, let quote = quote(of: order.symbol), !isHalted(order.symbol) else { return }
        let quoted = order.side == .buy ? quote.ask : quote.bid
        if let stop = order.stopPrice, !order.isTriggered {
            guard order.side == .buy ? quoted >= stop : quoted <= stop else { return }
            order.isTriggered = true
            store(order)
        }
        var price = quoted
        if let limit = order.limitPrice {
            // Filled at the quote, not at the limit: the improvement is the trader's.
            guard order.side == .buy ? quoted <= limit : quoted >= limit else { return }
        } else if scenario == .priceGap {
            let gap = quoted.units * settings.gapPercent / 100
            price = Amount(units: order.side == .buy ? quoted.units + gap : max(1, quoted.units - gap))
        }
        switch scenario {
        case .partialFills where order.timeInForce == .fillOrKill:
            while order.isOpen, fill(&order, quarter(of: order), price, at: time, &reports) {}
        case .partialFills: fill(&order, quarter(of: order), price, at: time, &reports)
        case .overfill: fill(&order, order.leavesQty + max(1, order.quantity / 10), price, at: time, &reports)
        default: fill(&order, order.leavesQty, price, at: time, &reports)
        }
    }

    private func quarter(of order: ExchangeOrder) -> Int64 { min(order.leavesQty, max(1, (order.quantity + 3) / 4)) }

    /// False where the order's turnover would leave its range: nothing is traded then.
    @discardableResult
    mutating func fill(_ order: inout ExchangeOrder, _ quantity: Int64, _ price: Amount, at time: Int64, _ reports: inout [Report]) -> Bool {
        guard let value = price.times(quantity), let turnover = order.turnover.adding(value) else { return false }
        order.turnover = turnover
        order.cumQty += quantity
        if order.isOpen { order.status = order.cumQty >= order.quantity ? "2" : "1" }
        store(order)
        var trade = report(order, "F", at: time)
        trade.lastQty = quantity
        trade.lastPx = price
        emit(trade, order, at: time, &reports)
        rueTrade(&order, Trade(clOrdID: order.clOrdID, execID: trade.execID, quantity: quantity, price: price), at: time, &reports)
        return true
    }

    // MARK: Reporting

    mutating func nextExecID(at time: Int64) -> String {
        counter += 1
        return "E\(FIXTime.dateText(time))-\(counter)"
    }

    mutating func report(_ order: ExchangeOrder, _ execType: Character, at time: Int64) -> ExecutionReport {
        ExecutionReport(order, execID: nextExecID(at: time), execType: execType, at: time)
    }

    /// Sends a report as the symbol's scenario has it: late, twice, withheld, or after the connection broke.
    func emit(_ report: ExecutionReport, _ order: ExchangeOrder, at time: Int64, isFirst: Bool = false, _ reports: inout [Report]) {
        emit(report.message, order, at: time, isFirst: isFirst, &reports)
    }

    func emit(_ message: FIXMessage, _ order: ExchangeOrder, at time: Int64, isFirst: Bool = false, _ reports: inout [Report]) {
        let scenario = scenario(of: order.symbol)
        let due =
            switch scenario {
            case .late, .silent: time + settings.lateness
            case .reordered where isFirst: time + settings.lateness
            case .mute: Report.never
            default: time
            }
        let made = Report(party: order.party, message: message, due: due, fault: scenario?.fault(isFirst: isFirst))
        reports.append(made)
        if scenario == .duplicateReports { reports.append(made) }
    }
}
