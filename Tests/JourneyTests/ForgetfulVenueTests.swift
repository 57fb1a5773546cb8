import ExchangeSimulator
import FIX
import JourneySupport
import OrderDesk
import Postgres
import Storage
import Synchronization
import Testing
import Trading

extension Faults {
    /// Sequence numbers are the memory of a session. A side that has lost them must not cost anybody an order, nor double one.
    @Suite struct `A venue that has lost its memory` {
        /// An order that rests and one that has filled.
        private static func past(_ circle: Circle, _ account: AccountID) async throws -> (resting: OrderID, filled: OrderID) {
            let resting = try await circle.accepted(account, Circle.terms(.buy, 10, "NVDA", .limit, .goodTillCancel, limit: "120.00"))
            let filled = try await circle.accepted(account, Circle.terms(.buy, 10, "NVDA", .limit, limit: "126.00"))
            try await circle.events(of: account, resting, until: .working)
            try await circle.events(of: account, filled, until: .filled)
            return (resting, filled)
        }

        @Test func `is not logged on to until an operator resets the session; then every open order is asked about`() async throws {
            try await Circle(.impatient).run { circle in
                let account = try await circle.account("acc_forgotten", cash: 100_000)
                try await circle.ready()
                let past = try await Self.past(circle, account)
                try circle.replaceVenue()
                try await circle.until("the complaint") { circle.troubles.withLock { $0.contains { $0.contains("MsgSeqNum too low, expecting") } } }
                // Each attempt would take it three numbers on, until it were past those that are expected here.
                try await circle.until("the end of attempts") {
                    circle.troubles.withLock { $0.contains { $0.contains("order-router reset-session") } }
                }
                #expect(circle.venue.receivedCount == 0)
                #expect(try await circle.order(past.resting, of: account).status == .working)
                guard case .refused(.venueUnavailable) = await circle.place(account, Circle.terms(.buy, 1)) else {
                    Issue.record("without a session nothing new is taken")
                    return
                }
                let generation = try await circle.readers.read { try $0.resetSession("ORDERS->EXCH", by: "test", at: Circle.now()) }
                #expect(generation == 2)
                // It had the order, and nobody knows what it did with it: the hold stays, and a person is told.
                try await circle.alarmed("forgotten_by_venue", past.resting)
                let forgotten = try await circle.order(past.resting, of: account)
                #expect((forgotten.status, forgotten.reason, forgotten.held) == (.unknown, "forgotten_by_venue", Amount(whole: 1_200)!))
                #expect(try await circle.balance(account).held == Amount(whole: 1_200)!)
                try await circle.ready()
                // The new venue counts its ExecIDs from one: past those that the old one gave to fills.
                for _ in 0..<4 {
                    let rests = try await circle.accepted(account, Circle.terms(.buy, 1, "NVDA", .limit, limit: "120.00"))
                    try await circle.events(of: account, rests, until: .working)
                }
                let next = try await circle.accepted(account, Circle.terms(.buy, 1))
                try await circle.events(of: account, next, until: .filled)
                #expect(circle.venue.receivedCount == 5)
                #expect(try await circle.order(past.filled, of: account).filledQuantity == 10)
                #expect(try await circle.texts("SELECT action FROM operator_audit WHERE action = 'session_reset'").count == 1)
                try await Self.end(past.resting, of: account, circle)
                try await circle.verify()
            }
        }

        /// Asked about again and again, it stays as it is, alarmed once, until an operator has the word of the venue's people.
        private static func end(_ id: OrderID, of account: AccountID, _ circle: Circle) async throws {
            let asked = "SELECT count(*)::text FROM inbox WHERE order_id = '\(id)' AND reject_reason = 5"
            let already = Int(try await circle.texts(asked)[0]) ?? 0
            try await circle.until("three answers more") { Int(try await circle.texts(asked)[0]) ?? 0 >= already + 3 }
            #expect(try await circle.order(id, of: account).status == .unknown)
            #expect(try await circle.texts("SELECT kind FROM alarms WHERE order_id = '\(id)'") == ["forgotten_by_venue"])
            let outcomes = try await circle.readers.read { database in
                try EndUnknown(database, by: "ann", venueSays: "not on our book, nothing filled", now: Circle.now).end([id], filled: 0)
            }
            // An answer may just have come: then it says so, and changes nothing.
            if outcomes.map(\.word) == [.reportWaits] { return try await end(id, of: account, circle) }
            #expect(outcomes.map(\.word) == [.ended])
            let events = try await circle.events(of: account, id, until: .cancelled)
            #expect(events.map(\.type).suffix(2) == [.unknown, .cancelled] && events.last?.order.reason == "ended_by_operator")
            // What rests at the venue of now.
            #expect(try await circle.balance(account).held == Amount(whole: 480)!)
        }

        @Test func `of the numbers alone says where the orders stand after the reset`() async throws {
            try await Circle(.impatient).run { circle in
                let account = try await circle.account("acc_numbers", cash: 100_000)
                try await circle.ready()
                let past = try await Self.past(circle, account)
                let half = try await circle.accepted(account, Circle.terms(.buy, 10, "NVDA", .limit, limit: "120.00"))
                try await circle.events(of: account, half, until: .working)
                let state = try await circle.order(half, of: account)
                // A fill that only we know of: after the reset the venue's word differs from our books.
                try circle.inject(circle.report(state, "H1", "F", [.lastQty: "4", .cumQty: "4"]))
                try await circle.events(of: account, half, until: .partiallyFilled)
                _ = try await circle.readers.read { try $0.resetSession("ORDERS->EXCH", by: "test", at: Circle.now()) }
                let events = try await circle.events(of: account) { [past] in $0.order.id == past.resting && $0.type == .unknown }
                #expect(events.first { $0.type == .unknown }?.order.reason == "sequence_reset")
                try await circle.until("the venue's word") { try await circle.order(past.resting, of: account).status == .working }
                try await circle.alarmed("cum_qty_differs", half)
                #expect(try await circle.order(half, of: account).status == .unknown)
                #expect(try await circle.balance(account).held == Amount(whole: 1_200 + 720)!)
                let next = try await circle.accepted(account, Circle.terms(.buy, 1))
                try await circle.events(of: account, next, until: .filled)
                try await circle.verify()
            }
        }

        @Test(arguments: [false, true]) func `and asks for everything again gets no order that it had answered`(_ isInDoubt: Bool) async throws {
            let circle = try Circle(.impatient)
            let venue = ForgetfulAcceptor()
            try await circle.run { circle in
                let account = try await circle.account("acc_again", cash: 100_000)
                try await circle.ready()
                let past = try await Self.past(circle, account)
                if isInDoubt {
                    // UNKNOWN does not say any more that the venue had it.
                    circle.venue.adjust { $0.answersStatusWhenMute = false }
                    circle.venue.setScenario(.mute, for: "NVDA")
                    let order = try await circle.order(past.resting, of: account)
                    try circle.inject(circle.report(order, "Z1", "F", [.lastPx: "0"]))
                    try await circle.events(of: account, past.resting, until: .unknown)
                }
                // The last one it never answers: that one may not have arrived.
                circle.venue.setMute(true)
                let open = try await circle.accepted(account, Circle.terms(.buy, 10, "NVDA", .limit, limit: "120.00"))
                _ = try await circle.number(of: open.text)
                circle.venue.stop()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    let port = circle.venuePort
                    group.addTask { try await venue.run(port: port) }
                    try await circle.until("the resend") {
                        venue.received.contains { $0.string(.clOrdID) == open.text && $0.type == .newOrderSingle }
                    }
                    // Asked about after the resend: by then all that is resent has come.
                    try await circle.until("a question") { venue.received.contains { $0.type == .orderStatusRequest } }
                    let orders = venue.received.filter { $0.type == .newOrderSingle }
                    #expect(orders.map { $0.string(.clOrdID) } == [open.text])
                    #expect(orders[0].flag(.possDupFlag) == true && orders[0].has(.origSendingTime))
                    #expect(![past.filled.text, past.resting.text].contains(orders[0].string(.clOrdID) ?? ""))
                    group.cancelAll()
                }
                try await circle.verify()
            }
        }
    }
}

/// A venue whose own numbers are far ahead and which has forgotten all that it received.
private final class ForgetfulAcceptor: Sendable {
    private let messages = Mutex<[FIXMessage]>([])
    var received: [FIXMessage] { messages.withLock { $0 } }

    func run(port: UInt16) async throws {
        var configuration = Acceptor.Configuration()
        configuration.port = port
        let open: @Sendable (Acceptor.Logon) -> Acceptor.Session? = { [self] logon in
            guard logon.senderCompID == "ORDERS" else { return nil }
            let settings = SessionSettings(role: .acceptor, senderCompID: "EXCH", targetCompID: "ORDERS")
            return Acceptor.Session(settings: settings, store: Store(self))
        }
        let acceptor = Acceptor(configuration, clock: .system, report: { _ in }, open: open)
        // The address is free once the other venue has ended.
        try await eventually("the venue's address") { (try? acceptor.start()) != nil }
        try await acceptor.run()
    }

    private final class Store: SessionStore {
        private let owner: ForgetfulAcceptor

        init(_ owner: ForgetfulAcceptor) { self.owner = owner }

        func load() -> SessionNumbers { SessionNumbers(generation: 1, nextOut: 50_000, nextIn: 1) }

        func commit(_ step: SessionStep, numbers: SessionNumbers) { owner.messages.withLock { $0 += step.deliveries.map(\.message) } }

        func stored(from: Int, through: Int, atMost most: Int) -> [StoredMessage] { [] }

        func pull(_ session: inout SessionState, at wall: Int64) -> [OutgoingMessage] { [] }

        func mayWrite(at monotonic: Int64) -> Bool { true }

        func changed(_ event: SessionEvent) {}
    }
}
