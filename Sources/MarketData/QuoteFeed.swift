package import FIX
import Quotes
import Trading

/// Where market data comes from: a FIX 4.4 session of its own.
package struct FeedSettings: Sendable {
    package var host: String
    package var port: UInt16
    package var senderCompID: String
    package var targetCompID: String
    package var heartbeatSeconds: Int
    /// What to subscribe to; `*` asks for everything that the feed has.
    package var symbols: [String]
    /// TLS on the line; nil = none.
    package var tls: LineTLS?

    package init(
        host: String,
        port: UInt16,
        senderCompID: String,
        targetCompID: String,
        heartbeatSeconds: Int,
        symbols: [String],
        tls: LineTLS? = nil
    ) {
        self.host = host
        self.port = port
        self.senderCompID = senderCompID
        self.targetCompID = targetCompID
        self.heartbeatSeconds = heartbeatSeconds
        self.symbols = symbols
        self.tls = tls
    }
}

/// feed: exchange to board. Subscribes at each logon and replaces the board's slots with what comes. Nothing is kept: numbers begin again with each logon.
package final class QuoteFeed: Sendable {
    private let initiator: Initiator

    /// - Parameters:
    ///   - random: uniform in 0..<1, for the jitter of reconnecting.
    ///   - trouble: told why a connection ended and what was refused.
    package init(
        settings: FeedSettings,
        board: QuoteBoard,
        clock: SessionClock,
        random: @escaping @Sendable () -> Double,
        trouble: @escaping @Sendable (String) -> Void
    ) {
        var session = SessionSettings(role: .initiator, senderCompID: settings.senderCompID, targetCompID: settings.targetCompID)
        session.heartbeatSeconds = settings.heartbeatSeconds
        session.resetOnLogon = true
        var configuration = Initiator.Configuration(host: settings.host, port: settings.port, session: session)
        configuration.tls = settings.tls
        // A price is stale after 2.5 s: whoever waits longer between attempts waits in vain.
        configuration.backoff = 100...1_000
        initiator = Initiator(
            configuration,
            clock: clock,
            random: random,
            report: trouble,
            openStore: { FeedSession(symbols: settings.symbols, board: board, trouble: trouble) }
        )
    }

    /// Runs until cancelled.
    package func run() async throws { try await initiator.run() }
}

/// The feed's session as its driver sees it. Used on the session's own thread alone.
private final class FeedSession: SessionStore {
    private let symbols: [String]
    private let board: QuoteBoard
    private let trouble: @Sendable (String) -> Void
    private let memory = MemorySessionStore()
    private var isSubscribed = false
    private var subscriptions = 0

    init(symbols: [String], board: QuoteBoard, trouble: @escaping @Sendable (String) -> Void) {
        self.symbols = symbols
        self.board = board
        self.trouble = trouble
    }

    func load() -> SessionNumbers { memory.numbers }

    func commit(_ step: SessionStep, numbers: SessionNumbers) {
        memory.commit(step, numbers: numbers)
        for delivery in step.deliveries { receive(delivery.message) }
    }

    /// A question about prices is worth nothing later: nothing is sent again.
    func stored(from: Int, through: Int) -> [StoredMessage] { [] }

    func pull(_ session: inout SessionState, at wall: Int64) -> [OutgoingMessage] {
        if isSubscribed { return [] }
        isSubscribed = true
        subscriptions += 1
        let outgoing = [session.send(marketDataRequest, at: wall)]
        memory.keep(outgoing)
        return outgoing
    }

    func mayWrite(at monotonic: Int64) -> Bool { true }

    func changed(_ event: SessionEvent) {
        if event == .loggedOn { isSubscribed = false }
    }

    /// MarketDataRequest (35=V): snapshot and updates (263=1) of the top of the book, bid, offer and trade.
    private var marketDataRequest: FIXMessage {
        var message = FIXMessage("V")
        message.append(.mdReqID, "quotes-\(subscriptions)")
        message.append(.subscriptionRequestType, "1")
        message.append(.marketDepth, 1)
        message.append(.mdUpdateType, 0)
        message.append(.noMDEntryTypes, 3)
        for type in ["0", "1", "2"] { message.append(.mdEntryType, type) }
        message.append(.noRelatedSym, symbols.count)
        for symbol in symbols { message.append(.symbol, symbol) }
        return message
    }

    private func receive(_ message: FIXMessage) {
        switch message.type {
        case "W": snapshot(message)
        case "Y": trouble("the feed refuses the subscription: \(message.string(.text) ?? "no reason given")")
        case "3", "j": trouble("the feed rejects a message of ours: \(message.string(.text) ?? "no reason given")")
        default: break
        }
    }

    /// MarketDataSnapshotFullRefresh (35=W): the symbol's prices as they stand now.
    private func snapshot(_ message: FIXMessage) {
        guard let symbol = message.string(.symbol).flatMap({ Symbol($0) }) else { return trouble("a snapshot without a symbol that we can trade") }
        var prices: [String: Amount] = [:]
        for entry in message.group(countedBy: .noMDEntries, first: .mdEntryType) {
            guard let type = entry.string(.mdEntryType), let price = entry.bytes(.mdEntryPx) else { continue }
            prices[type] = Amount(decimal: price)
        }
        guard let bid = prices["0"], let ask = prices["1"] else { return }
        let verdict = board.update { book, now in
            let tick = Tick(
                place: book.place(adding: symbol),
                kind: .snapshot,
                bid: bid.units,
                ask: ask.units,
                last: prices["2"]?.units ?? 0
            )
            return book.apply(tick, at: now)
        }
        if case .refused(let fault) = verdict { trouble("a price of \(symbol) is not taken: \(fault)") }
    }
}
