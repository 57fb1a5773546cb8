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
    /// In how many milliseconds each symbol is compared with the feed's own picture once; nil = never.
    package var driftInterval: Int64?
    /// TLS on the line; nil = none.
    package var tls: LineTLS?

    package init(
        host: String,
        port: UInt16,
        senderCompID: String,
        targetCompID: String,
        heartbeatSeconds: Int,
        symbols: [String],
        driftInterval: Int64? = nil,
        tls: LineTLS? = nil
    ) {
        self.host = host
        self.port = port
        self.senderCompID = senderCompID
        self.targetCompID = targetCompID
        self.heartbeatSeconds = heartbeatSeconds
        self.symbols = symbols
        self.driftInterval = driftInterval
        self.tls = tls
    }
}

/// feed: exchange to board, as FIX 4.4 market data. Subscribes at each logon. Nothing is kept: numbers begin again with each logon.
package final class QuoteFeed: MarketFeed {
    private let initiator: Initiator
    package let status: FeedStatus

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
        let status = FeedStatus()
        self.status = status
        // A price is stale after 2.5 s: whoever waits longer between attempts waits in vain.
        configuration.backoff = 100...1_000
        initiator = Initiator(
            configuration,
            clock: clock,
            random: random,
            report: trouble,
            openStore: { FeedSession(settings, board: board, status: status, clock: clock, trouble: trouble) }
        )
    }

    /// Runs until cancelled.
    package func run() async throws { try await initiator.run() }
}

/// The feed's session as its driver sees it. Used on the session's own thread alone.
private final class FeedSession: SessionStore {
    /// Symbols of one request at most: beyond it venues refuse, and one unknown symbol refuses them all.
    private static let perRequest = 50
    /// A symbol that was refused is asked for again after this long: it may have been listed meanwhile.
    private static let retryInterval: Int64 = 30_000

    private let symbols: [String]
    private let board: QuoteBoard
    private let status: FeedStatus
    private let clock: SessionClock
    private let trouble: @Sendable (String) -> Void
    private let memory = MemorySessionStore()
    private var intake = MessageIntake()
    private var rounds: DriftRounds
    private var isSubscribed = false
    private var requests = 0
    /// What each open subscription asked for, by MDReqID.
    private var asked: [String: [String]] = [:]
    /// Subscriptions to be made, and symbols that were refused with the time to ask again.
    private var outbox: [FIXMessage] = []
    private var refused: [String: Int64] = [:]
    private var lookedAt: Int64 = 0

    init(
        _ settings: FeedSettings,
        board: QuoteBoard,
        status: FeedStatus,
        clock: SessionClock,
        trouble: @escaping @Sendable (String) -> Void
    ) {
        symbols = settings.symbols
        self.board = board
        self.status = status
        self.clock = clock
        self.trouble = trouble
        rounds = DriftRounds(interval: settings.driftInterval)
    }

    func load() -> SessionNumbers { memory.numbers }

    func commit(_ step: SessionStep, numbers: SessionNumbers) {
        memory.commit(step, numbers: numbers)
        if step.deliveries.isEmpty { return }
        let prices = step.deliveries.filter { ["W", "X", "f"].contains($0.message.type) }
        if !prices.isEmpty {
            board.update { book, now in
                for delivery in prices { intake.take(delivery.message, into: &book, at: now) }
            }
        }
        for delivery in step.deliveries { answered(delivery.message) }
        for note in intake.takeNotes() { trouble(note) }
        let counts = intake.counts
        let (asked, refused) = (requests, self.refused.count)
        status.heard(at: clock.monotonic(), counts)
        status.change { ($0.asked, $0.refusedSymbols) = (asked, refused) }
    }

    /// A question about prices is worth nothing later: nothing is sent again.
    func stored(from: Int, through: Int, atMost most: Int) -> [StoredMessage] { [] }

    func pull(_ session: inout SessionState, at wall: Int64) -> [OutgoingMessage] {
        if !isSubscribed { subscribe() }
        ask(at: clock.monotonic())
        if outbox.isEmpty { return [] }
        let outgoing = outbox.map { session.send($0, at: wall) }
        outbox = []
        memory.keep(outgoing)
        return outgoing
    }

    func mayWrite(at monotonic: Int64) -> Bool { true }

    func changed(_ event: SessionEvent) {
        switch event {
        case .loggedOn:
            isSubscribed = false
            status.setUp(true)
        case .loggedOut, .disconnected: status.setUp(false)
        default: break
        }
    }

    // MARK: Questions

    private func subscribe() {
        isSubscribed = true
        (asked, refused, outbox) = ([:], [:], [])
        intake.begin()
        rounds.begin(at: clock.monotonic())
        request(symbols)
        // A halt that was lifted while nobody listened is not told by itself.
        for symbol in board.read({ book in book.slots.indices.filter { book.slots[$0].isHalted }.map { book.symbols[$0] } }) {
            outbox.append(statusRequest(symbol.text))
        }
    }

    /// What the intake lacks at once; once a second whatever still waits, the slice whose turn it is to be compared, and what was refused long ago.
    private func ask(at monotonic: Int64) {
        var places = intake.takeLacking()
        if monotonic - lookedAt >= Questions.interval {
            lookedAt = monotonic
            places += intake.waiting + board.read { $0.waitingPlaces } + rounds.take(of: board.read { $0.slots.count }, at: monotonic)
            for (symbol, at) in refused where monotonic >= at {
                refused[symbol] = nil
                request([symbol])
            }
        }
        let names = board.read { book in Set(places).sorted().map { book.symbols[$0].text } }
        for start in stride(from: 0, to: names.count, by: Self.perRequest) {
            snapshots(Array(names[start..<min(start + Self.perRequest, names.count)]))
        }
    }

    private func request(_ symbols: [String]) {
        let id = nextID("quotes")
        asked[id] = symbols
        outbox.append(marketDataRequest(id, kind: "1", symbols))
    }

    private func snapshots(_ symbols: [String]) {
        let id = nextID("snapshot")
        outbox.append(marketDataRequest(id, kind: "0", symbols))
    }

    private func nextID(_ what: String) -> String {
        requests += 1
        return "\(what)-\(requests)"
    }

    /// MarketDataRequest (35=V): snapshot and updates (263=1), or the snapshot alone (263=0), of the top of the book: bid, offer, trade and volume.
    private func marketDataRequest(_ id: String, kind: String, _ symbols: [String]) -> FIXMessage {
        var message = FIXMessage("V")
        message.append(.mdReqID, id)
        message.append(.subscriptionRequestType, kind)
        message.append(.marketDepth, 1)
        // MDUpdateType 1 = incremental refresh.
        if kind == "1" { message.append(.mdUpdateType, 1) }
        message.append(.noMDEntryTypes, 4)
        for type in ["0", "1", "2", "B"] { message.append(.mdEntryType, type) }
        message.append(.noRelatedSym, symbols.count)
        for symbol in symbols { message.append(.symbol, symbol) }
        return message
    }

    /// SecurityStatusRequest (35=e): how things stand now (263=0).
    private func statusRequest(_ symbol: String) -> FIXMessage {
        var message = FIXMessage("e")
        message.append(.securityStatusReqID, nextID("status"))
        message.append(.symbol, symbol)
        message.append(.subscriptionRequestType, "0")
        return message
    }

    // MARK: Refusals

    private func answered(_ message: FIXMessage) {
        switch message.type {
        case "Y": refused(message)
        case "3", "j": trouble("the feed rejects a message of ours: \(message.string(.text) ?? "no reason given")")
        default: break
        }
    }

    /// MarketDataRequestReject (35=Y): one symbol of many may be why, so each is asked for by itself; a symbol that is refused alone is told of.
    private func refused(_ message: FIXMessage) {
        let reason = message.string(.text) ?? message.string(.mdReqRejReason).map { "reason \($0)" } ?? "no reason given"
        guard let symbols = message.string(.mdReqID).flatMap({ asked.removeValue(forKey: $0) }) else {
            return trouble("the feed refuses a snapshot: \(reason)")
        }
        for symbol in symbols {
            if symbols.count > 1 {
                request([symbol])
                continue
            }
            trouble("the feed refuses the subscription to \(symbol): \(reason)")
            refused[symbol] = clock.monotonic() + Self.retryInterval
        }
    }
}
