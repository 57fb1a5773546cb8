import FIX
import Postgres
import Storage
import Trading

/// This router may not, or no longer, speak for the venue's session: the connection is dropped and taken up again under a new lease.
struct LeaseLost: Error, CustomStringConvertible {
    let why: String

    var description: String { "the venue session's lease: \(why)" }
}

/// The venue's Logon says 464=Y and this router is live.
struct TestVenue: Error, CustomStringConvertible {
    let description = "the venue's Logon says that it is a test system (TestMessageIndicator 464=Y) and this router is live: it gets no order"
}

/// The venue's Logon does not say 464=Y, and this router's prices are recorded ones.
struct VenueForRecordedPrices: Error, CustomStringConvertible {
    let description = "the venue's Logon does not say that it is a test system (464=Y) and prices are recorded ones: it gets no order"
}

/// The venue has lost its sequence numbers. It is not tried again: each attempt takes it a few numbers on, until it would be past those that we expect, and
/// what it had still to send would be skipped without a word.
struct NumbersLost: Error, CustomStringConvertible {
    let description = "the venue has lost its sequence numbers (MsgSeqNum too low in its Logon): order-router reset-session, once it agrees"
}

/// The venue's FIX session as its driver sees it: numbers, messages and reports in PostgreSQL, under a lease.
///
/// Send.swift and Receive.swift are its two legs. Everything here runs on the session's own thread.
final class VenueSession: SessionStore {
    let settings: VenueSettings
    let database: Database
    let options: PostgresOptions
    let observer: VenueObserver
    private let clock: SessionClock
    /// Epoch and generation under which we may speak; nil before the lease is ours.
    private(set) var record: SessionRecord?
    /// By the monotonic clock, which also counts while the machine sleeps.
    private var leaseDeadline: Int64 = 0
    private var leaseDue: Int64 = 0
    var askDue: Int64 = 0
    /// Whether this router has asked for a comparison with the venue since its start, and whether that is yet to be sent.
    private var (hasAskedForAll, sendsThatFirst) = (false, false)
    private var toldWhetherTest = false
    /// The shard that was sent for last.
    var lastShard: Int16 = -1

    init(settings: VenueSettings, database: PostgresOptions, clock: SessionClock, observer: VenueObserver) {
        self.settings = settings
        self.database = Database(database)
        options = database
        self.clock = clock
        self.observer = observer
    }

    var now: Int64 { clock.wall() }

    /// The record, while the lease is ours.
    func held() throws(LeaseLost) -> SessionRecord {
        guard let record else { throw LeaseLost(why: "it was not taken") }
        return record
    }

    // MARK: Lease

    func load() throws -> SessionNumbers {
        record = nil
        let record = try takeLease(epoch: 0)
        self.record = record
        if let lostAt = record.lostAt, !beginsAgain(since: lostAt) { throw NumbersLost() }
        return SessionNumbers(generation: record.generation, nextOut: Int(record.nextOut), nextIn: Int(record.nextIn))
    }

    /// Whether the next logon begins the numbers again, by what was agreed upon with the venue: at every logon, or in this period of its hours.
    private func beginsAgain(since lostAt: Int64) -> Bool {
        settings.session.resetOnLogon || opening(at: now).map { lostAt < $0 } ?? false
    }

    func began() throws -> Int64? {
        try database.sessionBegan(settings.sessionID, generation: try held().generation)
    }

    private func takeLease(epoch: Int64) throws -> SessionRecord {
        // The deadline counts from before the question: the database's lease can only end later than we think.
        let asked = clock.monotonic()
        guard
            let taken = try database.takeLease(
                session: settings.sessionID,
                holder: settings.holder,
                epoch: epoch,
                milliseconds: settings.leaseDuration
            )
        else { throw LeaseLost(why: try whyNotOurs()) }
        leaseDeadline = asked + settings.leaseDuration
        leaseDue = asked + settings.leaseRenewal
        return taken
    }

    private func whyNotOurs() throws(PostgresError) -> String {
        if let inForce = try database.sessionInForce()?.id, inForce != settings.sessionID {
            return "orders go by the session \(inForce) now, not by \(settings.sessionID): this router has to be started with that one"
        }
        return "another router holds session \(settings.sessionID)"
    }

    /// Renews the lease when it is due. A new epoch means that it had run out in between: whatever is in memory is not to be trusted.
    func renewIfDue() throws {
        guard clock.monotonic() >= leaseDue else { return }
        let record = try held()
        let renewed = try takeLease(epoch: record.epoch)
        guard renewed.epoch == record.epoch else { throw LeaseLost(why: "it ran out and was taken anew") }
    }

    func mayWrite(at monotonic: Int64) -> Bool {
        guard record != nil, monotonic < leaseDeadline - settings.leaseMargin else { return false }
        observer.step(.sendWriting)
        return true
    }

    // MARK: Driver's calls

    func commit(_ step: SessionStep, numbers: SessionNumbers) throws {
        // Before the numbers: a crash in between leaves orders in doubt that need not be, and never one unasked that should be.
        if let loss = step.lossOfReports { try doubtAll(reason: loss) }
        try receive(step, numbers: numbers)
        try committed(numbers)
        try renewIfDue()
    }

    /// The session's row is at these numbers.
    func committed(_ numbers: SessionNumbers) throws(LeaseLost) {
        record = SessionRecord(
            epoch: try held().epoch,
            generation: numbers.generation,
            nextOut: Int64(numbers.nextOut),
            nextIn: Int64(numbers.nextIn)
        )
    }

    /// Messages to be sent again. A NewOrderSingle past its deadline is not: its order is UNKNOWN until the venue has said that it never heard of it.
    /// Nor is one that the venue has acknowledged or ended before, or may have in a time that a restore has lost: a venue that asks for it has lost its memory
    /// and would execute it anew. Nor any while the kill switch is on.
    func stored(from: Int, through: Int, atMost most: Int) throws -> [StoredMessage] {
        let record = try held()
        let sent = try database.sentMessages(
            session: settings.sessionID,
            generation: record.generation,
            from: Int64(from),
            through: Int64(through),
            atMost: most
        )
        let now = now
        let orders = sent.filter { $0.type == "D" }
        let isKilled = try !orders.isEmpty && database.halts().contains { $0.scope == .killSwitch }
        for (shard, messages) in Dictionary(grouping: orders.filter { isKilled || $0.resendBy < now }, by: \.shard) {
            let reason = isKilled ? "not_resent_under_the_kill_switch" : "not_resent_past_its_deadline"
            try doubt(messages.compactMap { OrderID($0.orderID) }, shard: shard, in: [.routed], reason: reason)
        }
        let answered = Set(try database.orders(orders.compactMap { OrderID($0.orderID) }).values.filter { !$0.awaitsTheVenue }.map(\.id.text))
        return sent.map {
            StoredMessage(
                number: Int($0.number),
                type: MessageType(rawValue: $0.type),
                sendingTime: $0.sentAt,
                body: $0.body,
                isExpired: $0.resendBy < now || ($0.type == "D" && (isKilled || answered.contains($0.orderID)))
            )
        }
    }

    func pull(_ session: inout SessionState, at wall: Int64) throws -> [OutgoingMessage] {
        try renewIfDue()
        try checkTest(session)
        if sendsThatFirst {
            sendsThatFirst = false
            let asked = try reconcile(&session, at: wall)
            if !asked.isEmpty { return asked }
        }
        let sent = try send(&session, at: wall)
        return sent.isEmpty ? try ask(&session, at: wall) : sent
    }

    /// Before anything is sent or sent again: the driver pulls first.
    private func checkTest(_ session: SessionState) throws {
        if !toldWhetherTest { observer.venueIsTest(session.counterpartyIsTest) }
        toldWhetherTest = true
        if settings.isLive, session.counterpartyIsTest { throw TestVenue() }
        if settings.pricesAreRecorded, !session.counterpartyIsTest { throw VenueForRecordedPrices() }
    }

    func changed(_ event: SessionEvent) {
        do {
            switch event {
            case .loggedOn: try setLoggedOn(true)
            case .loggedOut(let text):
                observer.trouble("logged out: \(text)")
                try setLoggedOn(false)
            case .disconnected(let reason):
                observer.trouble("disconnected: \(reason)")
                try setLoggedOn(false)
            case .generationBegan(let generation):
                observer.trouble("sequence numbers began again, generation \(generation): every order at the venue is asked about")
            case .inboundSkipped(let from, let through):
                observer.trouble("the venue skipped its messages \(from) to \(through): they will never come")
            case .numbersLost(let expected, let received):
                observer.trouble("the venue's Logon has MsgSeqNum \(received), \(expected) was due: it has lost its sequence numbers")
                try database.noteNumbersLost(by: settings.sessionID, epoch: try held().epoch, at: now)
            case .askedBeyondSent(let from, let next): observer.trouble("the venue asks for message \(from), our next is \(next)")
            }
        } catch {
            // The lease runs out by itself and with it `venue is up`; the next connection begins with what is committed.
            observer.trouble("noting \(event): \(error)")
            database.drop()
        }
    }

    private func setLoggedOn(_ loggedOn: Bool) throws {
        observer.loggedOn(loggedOn)
        toldWhetherTest = false
        guard let record else { return }
        if loggedOn, !hasAskedForAll {
            // Before anybody knows that the venue is up: asked for before anything that is accepted from then on.
            _ = try database.requestReconciliation(of: settings.sessionID, by: "router", at: now)
            (hasAskedForAll, sendsThatFirst) = (true, true)
        }
        try database.setLoggedOn(loggedOn, session: settings.sessionID, epoch: record.epoch)
        askDue = 0
    }

    func close() {
        do {
            if let record { try database.releaseLease(session: settings.sessionID, epoch: record.epoch) }
        } catch {
            observer.trouble("releasing the lease: \(error)")
        }
        database.drop()
    }
}

extension OrderState {
    /// The venue has said nothing of it yet, as far as anybody here can know.
    fileprivate var awaitsTheVenue: Bool { (status == .routed || status == .unknown) && !mayHaveBeenHeardOf }
}
