import FIX
import Trading

/// The market data of one connection: what it subscribed to and what it was last told.
struct Feed {
    private struct Published {
        var quote: Quote
        var volume: Int64
        var at: Int64
        /// RptSeq of the last update.
        var number: Int64
    }

    /// What was subscribed to with one MarketDataRequest.
    private struct Subscription {
        let id: String
        /// MDUpdateType 1: changes come as X with numbers, W vouches. Otherwise all is W.
        let isIncremental: Bool
        let hasVolume: Bool
    }

    /// By symbol.
    private var subscriptions: [String: Subscription] = [:]
    private var updates = 0
    private var published: [String: Published] = [:]
    private var halted: Set<String> = []
    /// Answers to requests, waiting to be sent.
    private var answers: [FIXMessage] = []

    /// A symbol is vouched for again after this long without a change, in milliseconds: below the second that was promised by more than the
    /// longest pause between two looks.
    static let refreshInterval: Int64 = 800
    /// Messages at once: the socket is looked at between.
    static let batchCapacity = 100

    /// Messages that are for the feed and not for the exchange.
    static func isAsked(_ message: FIXMessage) -> Bool { message.type == .marketDataRequest || message.type == .securityStatusRequest }

    /// MarketDataRequest (V): subscribe, snapshot alone, or unsubscribe.
    mutating func received(_ request: FIXMessage, number: Int, _ state: VenueState, at now: Int64) {
        if request.type == .securityStatusRequest { return receivedStatusRequest(request, state) }
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
        case "0":
            answers += symbols.compactMap { symbol in
                // What its number speaks of: a change that is yet to be told has the next one.
                let told = subscriptions[symbol]?.isIncremental == true ? published[symbol] : nil
                guard let quote = told?.quote ?? state.exchange.quote(of: symbol) else { return nil }
                let volume = told?.volume ?? state.exchange.volume(of: symbol)
                return snapshot(id, symbol, Published(quote: quote, volume: volume, at: now, number: told?.number ?? 0), subscriptions[symbol])
            }
        case "1":
            guard !subscriptions.values.contains(where: { $0.id == id }) else { return refuse(id, reason: "1", "duplicate MDReqID") }
            let types = request.group(countedBy: .noMDEntryTypes, first: .mdEntryType).compactMap { $0.string(.mdEntryType) }
            let isIncremental = request.character(.mdUpdateType) == "1"
            for symbol in symbols {
                subscriptions[symbol] = Subscription(id: id, isIncremental: isIncremental, hasVolume: types.contains("B"))
                published[symbol] = nil
            }
        case "2":
            for symbol in symbols where subscriptions[symbol]?.id == id { subscriptions[symbol] = nil }
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
        for (symbol, subscription) in subscriptions where messages.count < Self.batchCapacity && !state.isStopped(symbol) {
            guard let quote = state.exchange.quote(of: symbol) else { continue }
            let last = published[symbol]
            let volume = state.exchange.volume(of: symbol)
            let isSame = last?.quote == quote && (!subscription.isIncremental || !subscription.hasVolume || last?.volume == volume)
            if let last, isSame, now - last.at < Self.refreshInterval { continue }
            var next = Published(quote: quote, volume: volume, at: now, number: last?.number ?? 1)
            guard let last, !isSame, subscription.isIncremental else {
                published[symbol] = next
                messages.append(snapshot(subscription.id, symbol, next, subscription))
                continue
            }
            next.number += 1
            published[symbol] = next
            updates += 1
            let every = state.exchange.settings.dropUpdatesEvery
            if every == 0 || updates % every != 0 { messages.append(update(symbol, next, subscription, after: last)) }
        }
        return messages
    }

    /// SecurityStatusRequest (e): answered with how things stand.
    private mutating func receivedStatusRequest(_ request: FIXMessage, _ state: VenueState) {
        guard let symbol = request.string(.symbol) else { return }
        var answer = FIXMessage(.securityStatus)
        if let id = request.string(.securityStatusReqID) { answer.append(.securityStatusReqID, id) }
        answer.append(.symbol, symbol)
        answer.append(.securityTradingStatus, state.exchange.settings.halted.contains(symbol) ? 2 : 3)
        answers.append(answer)
    }

    private mutating func refuse(_ id: String, reason: String, _ text: String) {
        var reject = FIXMessage(.marketDataRequestReject)
        reject.append(.mdReqID, id)
        reject.append(.mdReqRejReason, reason)
        reject.append(.text, text)
        answers.append(reject)
    }

    /// MarketDataSnapshotFullRefresh (W) with bid, offer and trade, and volume where that was asked for. The last trade is taken to have been at the bid; the
    /// venue's liquidity has no end, so the sizes are for show.
    private func snapshot(_ id: String, _ symbol: String, _ told: Published, _ subscription: Subscription?) -> FIXMessage {
        var message = FIXMessage(.marketDataSnapshotFullRefresh)
        message.append(.mdReqID, id)
        message.append(.symbol, symbol)
        message.append(.noMDEntries, subscription?.hasVolume == true ? 4 : 3)
        for (type, price) in [("0", told.quote.bid), ("1", told.quote.ask), ("2", told.quote.bid)] {
            Self.append(type, price, to: &message)
            if subscription?.isIncremental == true { message.append(.rptSeq, told.number) }
        }
        if subscription?.hasVolume == true { Self.append(told.volume, to: &message) }
        return message
    }

    /// MarketDataIncrementalRefresh (X): what has changed of the symbol, under one number (RptSeq).
    private func update(_ symbol: String, _ told: Published, _ subscription: Subscription, after last: Published) -> FIXMessage {
        var entries: [(type: String, price: Amount)] = []
        if told.quote.bid != last.quote.bid { entries += [("0", told.quote.bid), ("2", told.quote.bid)] }
        if told.quote.ask != last.quote.ask { entries.append(("1", told.quote.ask)) }
        let hasVolume = subscription.hasVolume && told.volume != last.volume
        var message = FIXMessage(.marketDataIncrementalRefresh)
        message.append(.mdReqID, subscription.id)
        message.append(.noMDEntries, entries.count + (hasVolume ? 1 : 0))
        for entry in entries {
            // MDUpdateAction 1 = Change.
            message.append(.mdUpdateAction, 1)
            Self.append(entry.type, entry.price, to: &message, of: symbol)
            message.append(.rptSeq, told.number)
        }
        if hasVolume {
            message.append(.mdUpdateAction, 1)
            Self.append(told.volume, to: &message, of: symbol)
            message.append(.rptSeq, told.number)
        }
        return message
    }

    private static func append(_ type: String, _ price: Amount, to message: inout FIXMessage, of symbol: String? = nil) {
        message.append(.mdEntryType, type)
        if let symbol { message.append(.symbol, symbol) }
        message.append(.mdEntryPx, price.description)
        message.append(.mdEntrySize, 1_000)
    }

    /// MDEntryType B: shares traded today.
    private static func append(_ volume: Int64, to message: inout FIXMessage, of symbol: String? = nil) {
        message.append(.mdEntryType, "B")
        if let symbol { message.append(.symbol, symbol) }
        message.append(.mdEntrySize, volume)
    }

    /// SecurityStatus (f): SecurityTradingStatus 2 = trading halt, 3 = resume.
    private static func status(_ symbol: String, isHalted: Bool) -> FIXMessage {
        var message = FIXMessage(.securityStatus)
        message.append(.symbol, symbol)
        message.append(.securityTradingStatus, isHalted ? 2 : 3)
        return message
    }
}
