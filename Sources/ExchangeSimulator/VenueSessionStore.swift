import FIX
import Glibc
import Synchronization

/// The venue's state behind its lock: sessions on their threads, the ticker and the fault switches take turns.
final class Books: Sendable {
    private let state: Mutex<VenueState>

    init(_ state: sending VenueState) { self.state = Mutex(state) }

    func with<Result: Sendable>(_ body: (inout VenueState) throws -> Result) rethrows -> Result {
        try state.withLock { try body(&$0) }
    }
}

/// One connection of one party: orders go to the exchange, market data comes from its quotes.
final class VenueSessionStore: SessionStore {
    private let books: Books
    private let party: String
    private let clock: SessionClock
    private let receipts: ReceiptFile?
    private let log: @Sendable (String) -> Void
    /// Subscriptions end with the connection.
    private var feed = Feed()

    init(_ books: Books, party: String, clock: SessionClock, receipts: ReceiptFile?, log: @escaping @Sendable (String) -> Void) {
        self.books = books
        self.party = party
        self.clock = clock
        self.receipts = receipts
        self.log = log
    }

    func load() -> SessionNumbers { books.with { $0.parties[party]?.numbers ?? SessionNumbers() } }

    func commit(_ step: SessionStep, numbers: SessionNumbers) throws {
        // Before anything is done with the batch: the moment at which it was decoded.
        try receipts?.note(step, at: Self.microseconds)
        let (wall, monotonic) = (clock.wall(), clock.monotonic())
        var current = feed
        defer { feed = current }
        let doubles = try books.with { state in
            let known = state.exchange.doubles.count
            try state.commit(step, numbers: numbers, party: party, at: wall)
            for delivery in step.deliveries where delivery.message.type == .marketDataRequest {
                current.received(delivery.message, number: delivery.number, state, at: monotonic)
            }
            return Array(state.exchange.doubles[known...])
        }
        for id in doubles { log("event=double_order party=\(party) cl_ord_id=\(id)") }
    }

    /// Since the epoch.
    private static var microseconds: Int64 {
        var time = timespec()
        let result = unsafe clock_gettime(CLOCK_REALTIME, &time)
        precondition(result == 0, "The system has this clock.")
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }

    func stored(from: Int, through: Int) -> [StoredMessage] {
        books.with { state in
            guard let sent = state.parties[party]?.sent else { return [] }
            return (from...through).compactMap { sent[$0] }
        }
    }

    func pull(_ session: inout SessionState, at wall: Int64) throws -> [OutgoingMessage] {
        let monotonic = clock.monotonic()
        var current = (session: session, feed: feed)
        defer { (session, feed) = current }
        return try books.with { state in
            let reports = try state.pull(&current.session, party: party, at: wall)
            if !reports.isEmpty { return reports }
            let messages = current.feed.due(state, at: monotonic)
            if messages.isEmpty { return [] }
            let outgoing = messages.map { current.session.send($0, at: wall) }
            try state.keep(current.session.numbers, party: party)
            return outgoing
        }
    }

    /// The venue holds its sessions alone.
    func mayWrite(at monotonic: Int64) -> Bool { true }

    func changed(_ event: SessionEvent) {
        switch event {
        case .loggedOn: log("event=logged_on party=\(party)")
        case .askedBeyondSent(let from, let nextOut): log("event=asked_beyond_sent party=\(party) from=\(from) next_out=\(nextOut)")
        case .inboundSkipped(let from, let through): log("event=inbound_skipped party=\(party) from=\(from) through=\(through)")
        case .generationBegan(let generation): log("event=generation_began party=\(party) generation=\(generation)")
        case .loggedOut, .disconnected: break
        }
    }
}
