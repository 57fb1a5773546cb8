import FIX

/// A report on its way to a party: committed, not numbered yet.
struct OutboxEntry: Equatable, Sendable {
    let id: Int64
    let party: String
    let message: FIXMessage
    var due: Int64
    var fault: LineFault?
}

/// One counterparty: its session's numbers, what it was sent, and what it is yet to be sent.
struct Party {
    var numbers = SessionNumbers()
    /// Sent reports of the current generation by number; market data is worth no resend.
    var sent: [Int: StoredMessage] = [:]
    /// Every report that was sent, in order, across generations: for sending them again as new.
    var history: [FIXMessage] = []
    /// In the order in which they go out. A slice: taking from its front moves nothing, however long the backlog is.
    var ready: ArraySlice<OutboxEntry> = []
    /// Not due yet, or withheld.
    var delayed: [OutboxEntry] = []

    mutating func queue(_ entry: OutboxEntry, at time: Int64) {
        if entry.due <= time { ready.append(entry) } else { delayed.append(entry) }
    }

    /// What the line does when the first report is sent; it does so once.
    mutating func takeFault() -> LineFault? {
        guard !ready.isEmpty else { return nil }
        defer { ready[ready.startIndex].fault = nil }
        return ready[ready.startIndex].fault
    }

    mutating func numbered(_ batch: ArraySlice<OutboxEntry>, as outgoing: [OutgoingMessage], _ next: SessionNumbers) {
        for message in outgoing { sent[message.number] = StoredMessage(message) }
        history += batch.map(\.message)
        ready.removeFirst(batch.count)
        numbers = next
    }

    /// What was withheld is due from the beginning of time.
    mutating func release() {
        for index in delayed.indices where delayed[index].due == Report.never { delayed[index].due = 0 }
    }

    /// Puts back that a report was sent.
    mutating func restoreSent(_ id: Int64, number: Int, sendingTime: Int64) {
        guard let index = delayed.firstIndex(where: { $0.id == id }) else { return }
        let message = delayed.remove(at: index).message
        history.append(message)
        sent[number] = StoredMessage(number: number, type: message.type, sendingTime: sendingTime, body: message.bytes)
    }

    mutating func promote(at time: Int64) {
        guard delayed.contains(where: { $0.due <= time }) else { return }
        // Equal times keep the order in which they were made: the numbers of entries grow.
        ready += delayed.filter { $0.due <= time }.sorted { ($0.due, $0.id) < ($1.due, $1.id) }
        delayed.removeAll { $0.due <= time }
    }
}

/// A message as it arrived: what the venue can testify to.
package struct Receipt: Hashable, Sendable {
    /// Milliseconds since the epoch.
    package let at: Int64
    package let party: String
    package let number: Int
    package let type: String
    package let clOrdID: String?
    package let isPossDup: Bool
    package let isPossResend: Bool
}

/// Everything that the venue knows; changed by one thread at a time, written down before it is acted on.
struct VenueState {
    var exchange = Exchange()
    var parties: [String: Party] = [:]
    /// What each party's last connection can be asked to do.
    var lines: [String: SessionControl] = [:]
    var receipts: [Receipt] = []
    var receivedCount = 0
    var isMute = false
    var stoppedQuotes: Set<String> = []
    var allQuotesStopped = false
    var walk: QuoteWalk
    private let journal: Journal?
    private let volatileParties: Set<String>
    /// Orders of the scenario that the venue does not hear the first time.
    private var unheard: Set<String> = []
    private var entryCounter: Int64 = 0

    /// Receipts are for tests and for a person: the newest are kept.
    static let receiptCapacity = 100_000
    /// Reports numbered in one record.
    static let pullCapacity = 64

    init(settings: ExchangeSettings, seed: UInt64, stateDirectory: String?, volatileParties: Set<String>) throws(SimulatorError) {
        exchange.settings = settings
        walk = QuoteWalk(seed: seed)
        self.volatileParties = volatileParties
        guard let stateDirectory else {
            journal = nil
            return
        }
        let opened = try Journal.open(directory: stateDirectory)
        journal = opened.journal
        for record in opened.records {
            guard let entries = JournalEntry.decode(record) else {
                throw SimulatorError(code: .journalCorrupt, operation: "read the journal", message: "a record of another version")
            }
            for entry in entries { restore(entry) }
        }
    }

    // MARK: Sessions

    mutating func commit(_ step: SessionStep, numbers: SessionNumbers, party name: String, at time: Int64) throws(SimulatorError) {
        var entries: [JournalEntry] = []
        if step.newGeneration != nil { entries.append(.generation(party: name)) }
        var reports: [Report] = []
        for delivery in step.deliveries where !Feed.isAsked(delivery.message) {
            note(delivery, party: name, at: time)
            reports += exchange.received(
                delivery.message,
                number: delivery.number,
                isPossResend: delivery.isPossResend,
                from: name,
                at: time
            )
        }
        entries.append(.numbers(party: name, numbers))
        try record(reports, entries, at: time)
        if step.newGeneration != nil { parties[name, default: Party()].sent = [:] }
        parties[name, default: Party()].numbers = numbers
    }

    /// What the line does when the party's next report is sent: that one has to be pulled alone. Nil also when the venue is mute.
    mutating func takeFault(party name: String, at time: Int64) -> LineFault? {
        guard !isMute else { return nil }
        // The party is changed where it lies: a copy of what was ever sent to it would cost more with each report.
        parties[name]?.promote(at: time)
        return parties[name]?.takeFault()
    }

    /// Numbers what is due for the party. Empty when nothing is, or when the venue is mute.
    mutating func pull(
        _ session: inout SessionState,
        party name: String,
        atMost capacity: Int = VenueState.pullCapacity,
        at time: Int64
    ) throws(SimulatorError) -> [OutgoingMessage] {
        guard !isMute, parties[name] != nil else { return [] }
        parties[name]?.promote(at: time)
        let batch: ArraySlice<OutboxEntry> = parties[name]?.ready.prefix(capacity).prefix(while: { $0.fault == nil }) ?? []
        if batch.isEmpty { return [] }
        let outgoing = batch.map { session.send($0.message, at: time) }
        var entries = zip(batch, outgoing).map { entry, message in
            JournalEntry.sent(party: name, entry: entry.id, number: message.number, sendingTime: message.sendingTime)
        }
        entries.append(.numbers(party: name, session.numbers))
        try write(entries)
        parties[name]?.numbered(batch, as: outgoing, session.numbers)
        return outgoing
    }

    /// Takes numbers that were given to messages which nobody will ask for again.
    mutating func keep(_ numbers: SessionNumbers, party name: String) throws(SimulatorError) {
        try write([.numbers(party: name, numbers)])
        parties[name, default: Party()].numbers = numbers
    }

    /// True when the line breaks over what has come, before any of it is booked.
    mutating func breaksOver(_ step: SessionStep) -> Bool {
        let orders = step.deliveries.map(\.message).filter { $0.type == .newOrderSingle }
        let doomed = orders.filter { exchange.scenario(of: $0.string(.symbol) ?? "") == .unheard }
        let ids = doomed.compactMap { $0.string(.clOrdID) }.filter { exchange.seen[$0] == nil && !unheard.contains($0) }
        unheard.formUnion(ids)
        return !ids.isEmpty
    }

    private mutating func note(_ delivery: Delivery, party: String, at time: Int64) {
        if delivery.message.type == .newOrderSingle { receivedCount += 1 }
        if receipts.count >= 2 * Self.receiptCapacity { receipts.removeFirst(Self.receiptCapacity) }
        receipts.append(
            Receipt(
                at: time,
                party: party,
                number: delivery.number,
                type: delivery.message.type.rawValue,
                clOrdID: delivery.message.string(.clOrdID),
                isPossDup: delivery.isPossDup,
                isPossResend: delivery.isPossResend
            )
        )
    }

    // MARK: The venue's own doing

    /// Quotes move, resting orders meet them.
    mutating func tick(frozen: Bool, at time: Int64) throws(SimulatorError) {
        if !frozen {
            for (symbol, _) in Listing.startCents where !isStopped(symbol) {
                guard let quote = exchange.quote(of: symbol), let next = walk.next(after: quote) else { continue }
                exchange.setQuote(symbol, next)
            }
        }
        try record(exchange.match(at: time), [], at: time)
    }

    func isStopped(_ symbol: String) -> Bool {
        allQuotesStopped || stoppedQuotes.contains(symbol) || stoppedQuotes.contains(Scenario.split(symbol).base)
    }

    /// Writes down what the exchange did and queues its reports.
    mutating func record(_ reports: [Report], _ first: [JournalEntry], at time: Int64) throws(SimulatorError) {
        var entries = first
        let changes = exchange.changes
        exchange.changes = Exchange.Changes()
        entries += changes.forgotten.map { .forgotten($0) }
        entries += changes.orders.sorted().compactMap { exchange.orders[$0].map { .order($0) } }
        entries += changes.seen.map { .seen($0) }
        entries += changes.doubles.map { .double($0) }
        entries += changes.requests.compactMap { id in exchange.requests[id].map { .request(id: id, original: $0) } }
        let queued = reports.map { report in
            entryCounter += 1
            return OutboxEntry(
                id: entryCounter,
                party: report.party,
                message: report.message,
                due: report.due,
                fault: report.fault
            )
        }
        entries += queued.map { .queued($0) }
        if !reports.isEmpty { entries.append(.counter(exchange.counter)) }
        try write(entries)
        for entry in queued { parties[entry.party, default: Party()].queue(entry, at: time) }
    }

    /// What was withheld is due now.
    mutating func releaseWithheld(at time: Int64) throws(SimulatorError) {
        for name in parties.keys.sorted() {
            try write([.released(party: name)])
            parties[name]?.release()
        }
    }

    // MARK: The journal

    private func write(_ entries: [JournalEntry]) throws(SimulatorError) {
        guard let journal else { return }
        let durable = entries.filter { entry in
            switch entry {
            case .numbers(let party, _), .generation(let party), .sent(let party, _, _, _), .released(let party):
                !volatileParties.contains(party)
            case .queued(let entry): !volatileParties.contains(entry.party)
            default: true
            }
        }
        if !durable.isEmpty { try journal.append(JournalEntry.encode(durable)) }
    }

    /// The venue has ended: its directory is free for the next one.
    func close() throws(SimulatorError) { try journal?.close() }

    private mutating func restore(_ entry: JournalEntry) {
        switch entry {
        case .numbers(let party, let numbers): parties[party, default: Party()].numbers = numbers
        case .generation(let party): parties[party, default: Party()].sent = [:]
        case .order(let order): exchange.restore(order)
        case .forgotten(let id):
            exchange.forget(id)
            exchange.changes = Exchange.Changes()
        case .seen(let id): exchange.seen[id, default: 0] += 1
        case .double(let id): exchange.doubles.append(id)
        case .request(let id, let original): exchange.requests[id] = original
        case .counter(let value): exchange.counter = value
        case .queued(let entry):
            entryCounter = max(entryCounter, entry.id)
            parties[entry.party, default: Party()].delayed.append(entry)
        case .sent(let name, let id, let number, let time): parties[name]?.restoreSent(id, number: number, sendingTime: time)
        case .released(let name): parties[name]?.release()
        }
    }
}
