import FIX
import Trading

/// The market data of one connection: what it subscribed to and what it was last told.
struct Feed {
    private struct Published {
        var quote: Quote
        var at: Int64
    }

    /// MDReqID by symbol.
    private var subscriptions: [String: String] = [:]
    private var published: [String: Published] = [:]
    private var halted: Set<String> = []
    /// Answers to requests, waiting to be sent.
    private var answers: [FIXMessage] = []

    /// A symbol is vouched for again after this long without a change, in milliseconds: below the second that was promised by more than the
    /// longest pause between two looks.
    static let refreshInterval: Int64 = 800
    /// Messages at once: the socket is looked at between.
    static let batchCapacity = 100

    /// MarketDataRequest (V): subscribe, snapshot alone, or unsubscribe.
    mutating func received(_ request: FIXMessage, number: Int, _ state: VenueState, at now: Int64) {
        let named = request.group(countedBy: .noRelatedSym, first: .symbol).compactMap { $0.string(.symbol) }
        guard let id = request.string(.mdReqID), let kind = request.character(.subscriptionRequestType), !named.isEmpty else {
            answers.append(state.exchange.businessReject(request, number: number, reason: 5, "not a readable request", to: "", at: 0).message)
            return
        }
        let symbols = named.flatMap { $0 == "*" ? state.exchange.symbols : [$0] }
        if let unknown = symbols.first(where: { state.exchange.quote(of: $0) == nil }) {
            return refuse(id, reason: "0", "unknown symbol \(unknown)")
        }
        switch kind {
        case "0": answers += symbols.compactMap { snapshot(id, $0, state, at: now) }
        case "1":
            guard !subscriptions.values.contains(id) else { return refuse(id, reason: "1", "duplicate MDReqID") }
            for symbol in symbols {
                subscriptions[symbol] = id
                published[symbol] = nil
            }
        case "2":
            for symbol in symbols where subscriptions[symbol] == id { subscriptions[symbol] = nil }
        default: refuse(id, reason: "4", "unsupported SubscriptionRequestType")
        }
    }

    /// What has to be told now. Empty when there is nothing.
    ///
    /// - Parameter now: the monotonic clock, in milliseconds.
    mutating func due(_ state: VenueState, at now: Int64) -> [FIXMessage] {
        var messages = Array(answers.prefix(Self.batchCapacity))
        answers.removeFirst(messages.count)
        for symbol in state.exchange.settings.halted.symmetricDifference(halted).sorted() where subscriptions[symbol] != nil {
            let isHalted = state.exchange.settings.halted.contains(symbol)
            if isHalted { halted.insert(symbol) } else { halted.remove(symbol) }
            messages.append(Self.status(symbol, isHalted: isHalted))
        }
        for (symbol, id) in subscriptions where messages.count < Self.batchCapacity && !state.isStopped(symbol) {
            guard let quote = state.exchange.quote(of: symbol) else { continue }
            if let last = published[symbol], last.quote == quote, now - last.at < Self.refreshInterval { continue }
            published[symbol] = Published(quote: quote, at: now)
            messages.append(Self.snapshot(id, symbol, quote))
        }
        return messages
    }

    private func snapshot(_ id: String, _ symbol: String, _ state: VenueState, at now: Int64) -> FIXMessage? {
        state.exchange.quote(of: symbol).map { Self.snapshot(id, symbol, $0) }
    }

    private mutating func refuse(_ id: String, reason: String, _ text: String) {
        var reject = FIXMessage(.marketDataRequestReject)
        reject.append(.mdReqID, id)
        reject.append(.mdReqRejReason, reason)
        reject.append(.text, text)
        answers.append(reject)
    }

    /// MarketDataSnapshotFullRefresh (W) with bid, offer and trade. The last trade is taken to have been at the bid; the venue's liquidity has
    /// no end, so the sizes are for show.
    private static func snapshot(_ id: String, _ symbol: String, _ quote: Quote) -> FIXMessage {
        var message = FIXMessage(.marketDataSnapshotFullRefresh)
        message.append(.mdReqID, id)
        message.append(.symbol, symbol)
        message.append(.noMDEntries, 3)
        for (type, price) in [("0", quote.bid), ("1", quote.ask), ("2", quote.bid)] {
            message.append(.mdEntryType, type)
            message.append(.mdEntryPx, price.description)
            message.append(.mdEntrySize, 1_000)
        }
        return message
    }

    /// SecurityStatus (f): SecurityTradingStatus 2 = trading halt, 3 = resume.
    private static func status(_ symbol: String, isHalted: Bool) -> FIXMessage {
        var message = FIXMessage(.securityStatus)
        message.append(.symbol, symbol)
        message.append(.securityTradingStatus, isHalted ? 2 : 3)
        return message
    }
}
