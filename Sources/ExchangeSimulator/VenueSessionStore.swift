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
    /// What is left of a spoiled frame, and whether the line breaks after it.
    private var pieces: [OutgoingMessage] = []
    private var breaks = false
    private let control: SessionControl

    /// - Parameter control: of the session that this is the store of.
    init(
        _ books: Books,
        party: String,
        clock: SessionClock,
        receipts: ReceiptFile?,
        control: SessionControl,
        log: @escaping @Sendable (String) -> Void
    ) {
        self.books = books
        self.party = party
        self.clock = clock
        self.receipts = receipts
        self.control = control
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
            if state.breaksOver(step) { throw Self.broken("before the order is booked") }
            let known = state.exchange.doubles.count
            try state.commit(step, numbers: numbers, party: party, at: wall)
            for delivery in step.deliveries where Feed.isAsked(delivery.message) {
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

    func stored(from: Int, through: Int, atMost most: Int) -> [StoredMessage] {
        books.with { state in state.parties[party]?.sent.first(most, from: from, through: through) ?? [] }
    }

    func pull(_ session: inout SessionState, at wall: Int64) throws -> [OutgoingMessage] {
        if !pieces.isEmpty { return [pieces.removeFirst()] }
        if breaks { throw Self.broken("as its scenario has it") }
        let monotonic = clock.monotonic()
        var current = (session: session, feed: feed)
        defer { (session, feed) = current }
        let (fault, outgoing) = try books.with { state -> (LineFault?, [OutgoingMessage]) in
            let fault = state.takeFault(party: party, at: wall)
            if fault == .breaksBefore { throw Self.broken("before the report is sent") }
            // It goes once the counterparty has logged on again.
            if fault == .logsOutBefore { return (fault, []) }
            let capacity = fault == nil ? VenueState.pullCapacity : 1
            let reports = try state.pull(&current.session, party: party, atMost: capacity, at: wall)
            if fault == .asksAgainAfter { return (fault, try reports + [askAgain(state: &state, &current.session, at: wall)]) }
            if !reports.isEmpty { return (fault, reports) }
            let messages = current.feed.due(state, at: monotonic)
            if messages.isEmpty { return (nil, []) }
            let outgoing = messages.map { current.session.send($0, at: wall) }
            try state.keep(current.session.numbers, party: party)
            return (nil, outgoing)
        }
        if fault == .logsOutBefore { control.stop("the simulator logs out") }
        return fault.map { spoil(outgoing, $0) } ?? outgoing
    }

    /// ResendRequest for the message that was received last. Nobody asks for it again: a gap fill would take its place.
    private func askAgain(state: inout VenueState, _ session: inout SessionState, at wall: Int64) throws -> OutgoingMessage {
        let last = session.numbers.nextIn - 1
        var request = FIXMessage(.resendRequest)
        request.append(.beginSeqNo, last)
        request.append(.endSeqNo, last)
        let outgoing = session.send(request, at: wall)
        try state.keep(session.numbers, party: party)
        return outgoing
    }

    /// The report as the line carries it. The rest of its pieces come with the next pulls, which follow at once.
    private func spoil(_ outgoing: [OutgoingMessage], _ fault: LineFault) -> [OutgoingMessage] {
        guard var report = outgoing.first else { return outgoing }
        switch fault {
        case .breaksInside:
            report.frame = Array(report.frame.prefix(report.frame.count / 2))
            breaks = true
        case .breaksAfter: breaks = true
        case .badCheckSum: report.frame = SpoiledFrame.badCheckSum(report.frame)
        case .isLost: report.frame = []
        case .isRepeated: report.frame += SpoiledFrame.repeated(report.frame)
        case .isSplit:
            pieces = report.frame.dropFirst().map { byte in
                var piece = report
                piece.frame = [byte]
                return piece
            }
            report.frame = Array(report.frame.prefix(1))
        case .breaksBefore, .logsOutBefore, .asksAgainAfter: return outgoing
        }
        return [report] + outgoing.dropFirst()
    }

    private static func broken(_ when: String) -> SimulatorError {
        SimulatorError(code: .droppedByScenario, operation: "serve", message: "the connection breaks \(when)")
    }

    /// The venue holds its sessions alone.
    func mayWrite(at monotonic: Int64) -> Bool { true }

    func changed(_ event: SessionEvent) {
        switch event {
        case .loggedOn: log("event=logged_on party=\(party)")
        case .askedBeyondSent(let from, let nextOut): log("event=asked_beyond_sent party=\(party) from=\(from) next_out=\(nextOut)")
        case .inboundSkipped(let from, let through): log("event=inbound_skipped party=\(party) from=\(from) through=\(through)")
        case .generationBegan(let generation): log("event=generation_began party=\(party) generation=\(generation)")
        case .loggedOut, .disconnected, .numbersLost: break
        }
    }
}
