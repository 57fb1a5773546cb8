import Testing
import Trading

/// What a pair of the table says in one word.
private enum Outcome: Hashable {
    case to(OrderStatus, OrderEventType)
    case known
    case contradiction
}

/// State × event: each line a state, each column an event. `.` known, `!` contradiction, else the state that it moves to; told is the event's own type.
private let table = """
                   routed  acknowledged  part     rest     cancel_requested  cancel_rejected  cancelled  expired  rejected  doubted  lost_in_reset
    ACCEPTED         R       W             P        F        A                 .                C          E        J         U        .
    ROUTED           .       W             P        F        R                 .                C          E        J         U        .
    WORKING          .       .             P        F        W                 .                C          E        J         U        .
    PARTIALLY_FILLED .       .             P        F        P                 .                C          E        J         U        .
    FILLED           .       .             F        F        !                 .                .          .        !         .        .
    CANCELLED        .       .             C        F        !                 .                .          .        !         .        .
    EXPIRED          .       .             E        F        !                 .                .          .        !         .        .
    REJECTED         .       .             J        F        !                 .                !          !        .         .        .
    UNKNOWN          .       W             P        F        U                 .                C          E        J         .        A
    """

private let letters: [String: OrderStatus] = [
    "A": .accepted, "R": .routed, "W": .working, "P": .partiallyFilled, "F": .filled, "C": .cancelled, "E": .expired, "J": .rejected, "U": .unknown,
]

/// The columns of the table, for an order of which `filled` shares are filled already.
private func events(filled: Int64) -> [(name: String, event: OrderEvent, told: OrderEventType)] {
    [
        ("routed", .routed, .routed),
        ("acknowledged", .acknowledged, .working),
        ("part", .filled(quantity: 10, price: usd("9")), .fill),
        ("rest", .filled(quantity: max(100 - filled, 1), price: usd("9")), .fill),
        ("cancel_requested", .cancelRequested, .cancelRequested),
        ("cancel_rejected", .cancelRejected(reason: "too late"), .cancelRejected),
        ("cancelled", .cancelled(reason: "why"), .cancelled),
        ("expired", .expired(reason: "why"), .expired),
        ("rejected", .rejected(reason: "why"), .rejected),
        ("doubted", .doubted(reason: "why"), .unknown), ("lost_in_reset", .lostInReset, .accepted),
    ]
}

private let pairs: [(OrderStatus, String, Outcome)] = {
    let lines = table.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    var found: [(OrderStatus, String, Outcome)] = []
    for line in lines.dropFirst() {
        let status = OrderStatus(text: line[0])!
        let told = Dictionary(uniqueKeysWithValues: events(filled: 0).map { ($0.name, $0.told) })
        for (name, cell) in zip(lines[0], line.dropFirst()) {
            let outcome: Outcome = cell == "." ? .known : cell == "!" ? .contradiction : .to(letters[cell]!, told[name]!)
            found.append((status, name, outcome))
        }
    }
    return found
}()

@Suite struct `An order's life` {
    private func event(_ name: String, _ order: OrderState) -> OrderEvent {
        events(filled: order.filledQuantity).first { $0.name == name }!.event
    }

    @Test func `has a line for every state and a column for every event`() {
        #expect(pairs.count == OrderStatus.allCases.count * events(filled: 0).count)
        #expect(Set(pairs.map(\.0)) == Set(OrderStatus.allCases))
    }

    @Test(arguments: pairs)
    fileprivate func `moves as the table says`(_ status: OrderStatus, _ name: String, _ outcome: Outcome) {
        var desk = Desk.standing(status)
        let before = desk.order
        let held = desk.balance(cash)
        let event = event(name, before)
        switch outcome {
        case .to(let next, let told):
            #expect(before.transition(on: event) == .move(to: next, tell: told))
            guard case .changed(let type, _) = desk.apply(event, at: 77) else {
                Issue.record("nothing changed")
                return
            }
            #expect(type == told)
            #expect(desk.order.status == next)
            #expect(desk.order.updatedAt == 77)
        case .known:
            #expect(before.transition(on: event) == .known)
            let applied = desk.apply(event, at: 77)
            #expect(applied == .nothing)
            #expect(desk.order == before && desk.balance(cash) == held)
        case .contradiction:
            #expect(before.transition(on: event) == .contradiction)
            guard case .contradiction(let why) = desk.apply(event, at: 77) else {
                Issue.record("no contradiction")
                return
            }
            #expect(why.contains(status.text))
            #expect(desk.order == before && desk.balance(cash) == held)
        }
        // In every state: the order's hold is what the account has held, and an ended order holds nothing.
        #expect(desk.balance(cash).held == desk.order.held)
        #expect(desk.order.status.isOpen || desk.order.held == .zero)
        #expect(desk.order.status.isOpen || !desk.order.cancelPending)
    }

    @Test(arguments: [OrderStatus.accepted, .routed, .working, .partiallyFilled, .unknown])
    func `takes a cancel's refusal only while a cancel is pending`(_ status: OrderStatus) {
        var desk = Desk.standing(status)
        desk.apply(.cancelRequested)
        #expect(desk.order.cancelPending && desk.order.cancels == 1 && desk.order.cancelID == orderID.text + "-c1")
        #expect(desk.order.transition(on: .cancelRejected(reason: nil)) == .move(to: status, tell: .cancelRejected))
        desk.apply(.cancelRejected(reason: "too late"))
        // Why an order is UNKNOWN is evidence, and stays.
        #expect(!desk.order.cancelPending && desk.order.status == status && desk.order.reason == (status == .unknown ? "by the test" : "too late"))
        let again = desk.apply(.cancelRejected(reason: "too late"))
        #expect(again == .nothing)
        desk.apply(.cancelRequested)
        #expect(desk.order.cancelID == orderID.text + "-c2")
    }

    @Test func `runs out of numbers for cancels, not into a fault`() {
        var desk = Desk.standing(.working)
        desk.order.cancels = .max
        desk.apply(.cancelRequested)
        #expect(desk.order.cancelPending && desk.order.cancels == .max)
    }

    @Test func `ends with its own reason, not with an older one`() {
        var silent = Desk.standing(.unknown)
        silent.apply(.cancelled(reason: nil))
        #expect(silent.order.reason == nil)
        var refused = Desk.standing(.working)
        refused.apply(.cancelRequested)
        refused.apply(.cancelRejected(reason: "not now"))
        refused.apply(.cancelled(reason: nil))
        #expect(refused.order.reason == nil)
        var rejected = Desk.standing(.routed)
        rejected.apply(.rejected(reason: "no such symbol"))
        #expect(rejected.order.reason == "no such symbol")
    }

    @Test func `leaves why a request was refused behind with the next one, and with a replace that is in force`() {
        var refused = Desk.standing(.working)
        refused.apply(.cancelRequested)
        refused.apply(.cancelRejected(reason: "not now"))
        #expect(refused.order.reason == "not now")
        refused.apply(.cancelRequested)
        #expect(refused.order.reason == nil)
        var doubted = Desk.standing(.unknown)
        doubted.apply(.cancelRequested)
        #expect(doubted.order.reason == "by the test")
    }

    @Test func `leaves its doubt behind when the venue answers`() {
        var acknowledged = Desk.standing(.unknown)
        acknowledged.apply(.acknowledged)
        #expect(acknowledged.order.reason == nil && acknowledged.order.status == .working)
        var filled = Desk.standing(.unknown)
        filled.apply(.filled(quantity: 1, price: usd("9")))
        #expect(filled.order.reason == nil && filled.order.status == .partiallyFilled)
        filled.apply(.doubted(reason: "again"))
        filled.apply(.acknowledged)
        #expect(filled.order.status == .partiallyFilled)
    }

    @Test func `counts fills, value and average exactly`() {
        var desk = Desk.standing(.working)
        desk.apply(.filled(quantity: 33, price: usd("9.99")))
        desk.apply(.filled(quantity: 34, price: usd("9.9975")))
        #expect(desk.order.filledQuantity == 67)
        #expect(desk.order.filledValue == usd("669.585"))
        #expect(desk.order.averagePrice == usd("9.9938"))
        #expect(desk.order.held == usd("330"))
        #expect(Desk.standing(.working).order.averagePrice == nil)
    }

    @Test func `books a fill beyond its quantity and says so`() {
        var desk = Desk.standing(.partiallyFilled)
        guard case .changed(.fill, let alarms) = desk.apply(.filled(quantity: 90, price: usd("10"))) else {
            Issue.record("not booked")
            return
        }
        #expect(alarms.map(\.kind) == [.overfill])
        #expect(desk.order.status == .filled && desk.order.filledQuantity == 130 && desk.order.held == .zero)
        // 40 × 9.50 + 90 × 10.00 of 2,000.00.
        #expect(desk.balance(cash) == Balance(available: usd("720")))
        #expect(desk.balance(shares).available == whole(380))
    }

    @Test func `books a fill after its end from available and then as owed`() {
        var desk = Desk.standing(.cancelled)
        guard case .changed(.fill, let first) = desk.apply(.filled(quantity: 60, price: usd("30"))) else {
            Issue.record("not booked")
            return
        }
        #expect(first.map(\.kind) == [.fillAfterEnd])
        #expect(desk.order.status == .cancelled && desk.balance(cash) == Balance(available: usd("200")))
        guard case .changed(.fill, let second) = desk.apply(.filled(quantity: 40, price: usd("30"))) else {
            Issue.record("not booked")
            return
        }
        #expect(second.map(\.kind) == [.fillAfterEnd, .owes])
        #expect(desk.order.status == .filled && desk.balance(cash) == Balance(owed: usd("1000")))
    }

    @Test(arguments: [
        OrderEvent.filled(quantity: .max, price: usd("9")), .filled(quantity: 10, price: Amount(units: .max)),
        .filled(quantity: Int64.max / 10_000 + 1, price: Amount(units: 1)), .filled(quantity: 1, price: Amount(units: .max)),
    ])
    func `refuses a fill that leaves the range, whole`(_ event: OrderEvent) {
        var desk = Desk.standing(.partiallyFilled)
        let (order, now, journals) = (desk.order, desk.balances.now, desk.balances.journals.count)
        guard case .contradiction = desk.apply(event) else {
            Issue.record("\(event) was booked")
            return
        }
        #expect(desk.order == order && desk.balances.now == now && desk.balances.journals.count == journals)
    }
}
