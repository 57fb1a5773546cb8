import FIX
import Testing

/// Two sessions over a wire that loses, doubles, swaps, spoils and tears, with processes that die before and after their commits and half-way
/// through a write.
@Suite struct `Two sessions` {
    /// What two sides may have agreed upon; each seed plays under one of them.
    private static let agreements: [@Sendable (inout SessionSettings) -> Void] = [
        { _ in }, { $0.rules = .strict }, { $0.announcesNextExpected = true }, { $0.asksToInfinity = true }, { $0.resendPortion = 3 },
        { $0.earlyCapacity = 2 },
    ]

    @Test(arguments: UInt64(1)...60)
    func `deliver each message once and in order through any loss and crash`(_ seed: UInt64) throws {
        var world = World(seed: seed, agree: Self.agreements[Int(seed) % Self.agreements.count])
        for _ in 0..<1_500 { world.turn() }
        world.calm()
        for side in 0..<2 {
            #expect(world.sides[side].disk.received == (1...world.sides[1 - side].sentCount).map { "\($0)" }, "SEED=\(seed), side \(side)")
        }
        #expect(world.crashes > 10, "SEED=\(seed): the test itself is too quiet")
        #expect(world.lost > 0 && world.doubled > 0 && world.swapped > 0, "SEED=\(seed): the wire is too good")
    }
}

private struct World {
    struct Disk {
        var numbers = SessionNumbers()
        var sent: [Int: StoredMessage] = [:]
        var received: [String] = []
    }

    struct Side {
        let settings: SessionSettings
        var disk = Disk()
        var session: SessionState?
        var decoder = FrameDecoder()
        /// Bytes on their way to this side.
        var wire: [UInt8] = []
        /// A frame that the next one will overtake.
        var held: [UInt8] = []
        var sentCount = 0
    }

    var sides: [Side]
    var generator: SeededGenerator
    var time = SessionTime(wall: 1_790_000_000_000, monotonic: 0)
    var crashes = 0
    var lost = 0
    var doubled = 0
    var swapped = 0
    var isCalm = false

    init(seed: UInt64, agree: (inout SessionSettings) -> Void) {
        generator = SeededGenerator(seed: seed)
        var initiator = SessionSettings(role: .initiator, senderCompID: "A", targetCompID: "B")
        var acceptor = SessionSettings(role: .acceptor, senderCompID: "B", targetCompID: "A")
        agree(&initiator)
        agree(&acceptor)
        sides = [Side(settings: initiator), Side(settings: acceptor)]
    }

    /// Puts frames on the wire; one may get lost, come twice, or be overtaken by the next.
    mutating func write(_ frames: [[UInt8]], to side: Int) {
        for frame in frames {
            if chance(2) {
                lost += 1
                continue
            }
            if sides[side].held.isEmpty, chance(2) {
                sides[side].held = frame
                continue
            }
            sides[side].wire += frame
            if !sides[side].held.isEmpty { swapped += 1 }
            sides[side].wire += sides[side].held
            sides[side].held = []
            guard chance(1) else { continue }
            sides[side].wire += frame
            doubled += 1
        }
    }

    mutating func chance(_ percent: Int) -> Bool { !isCalm && Int.random(in: 0..<100, using: &generator) < percent }

    mutating func turn() {
        let side = Int.random(in: 0..<2, using: &generator)
        if sides[0].session == nil, sides[1].session == nil { connect() }
        switch Int.random(in: 0..<10, using: &generator) {
        case 0...3: for _ in 0..<Int.random(in: 1...4, using: &generator) { send(side) }
        case 4...8: receive(side)
        default: tick(side)
        }
        if chance(1) { crash(side) }
        if chance(1), let step = sides[side].session?.logout("good night", at: time) { perform(step, side) }
    }

    /// No more faults: both come back and talk until nothing is missing.
    mutating func calm() {
        isCalm = true
        for _ in 0..<200 {
            if sides[0].session == nil || sides[1].session == nil {
                lose(0)
                lose(1)
                connect()
            }
            for side in 0..<2 { tick(side) }
            for _ in 0..<20 { for side in 0..<2 { receive(side) } }
        }
    }

    mutating func connect() {
        for side in 0..<2 {
            sides[side].wire = []
            sides[side].held = []
            sides[side].decoder = FrameDecoder()
        }
        for side in [1, 0] {
            var session = SessionState(sides[side].settings, numbers: sides[side].disk.numbers)
            let step = session.connected(at: time)
            sides[side].session = session
            perform(step, side)
        }
    }

    mutating func send(_ side: Int) {
        guard var session = sides[side].session, session.isLoggedOn, !isCalm else { return }
        var order = FIXMessage(.newOrderSingle)
        order.append(.clOrdID, sides[side].sentCount + 1)
        order.append(.symbol, "NVDA")
        order.append(.side, 1)
        order.append(.transactTime, time: time.wall)
        order.append(.ordType, 1)
        let message = session.send(order, at: time.wall)
        sides[side].session = session
        if chance(2) { return crash(side) }
        sides[side].sentCount += 1
        sides[side].disk.numbers = session.numbers
        sides[side].disk.sent[message.number] = StoredMessage(message)
        if chance(2) { return crash(side) }
        write([message.frame], to: 1 - side)
    }

    mutating func receive(_ side: Int) {
        guard sides[side].session != nil, !sides[side].wire.isEmpty else { return }
        let count = isCalm ? sides[side].wire.count : Int.random(in: 1...min(400, sides[side].wire.count), using: &generator)
        if chance(1), sides[side].wire.count > 3 { sides[side].wire[Int.random(in: 0..<count, using: &generator)] ^= 1 }
        sides[side].decoder.append(sides[side].wire.prefix(count))
        sides[side].wire.removeFirst(count)
        var batch = SessionStep()
        while let message = sides[side].decoder.next(), let step = sides[side].session?.received(message, at: time) { batch.append(step) }
        perform(batch, side)
    }

    mutating func tick(_ side: Int) {
        time.wall += 3_000
        time.monotonic += 3_000
        if let step = sides[side].session?.tick(at: time) { perform(step, side) }
    }

    mutating func perform(_ step: SessionStep, _ side: Int) {
        if chance(1) { return crash(side) }
        guard let session = sides[side].session else { return }
        sides[side].disk.numbers = session.numbers
        for delivery in step.deliveries where delivery.message.type == .newOrderSingle {
            sides[side].disk.received.append(delivery.message.string(.clOrdID) ?? "?")
        }
        if chance(1) { return crash(side) }
        write(step.frames, to: 1 - side)
        for range in step.replays {
            let stored = (range.from...range.through).compactMap { sides[side].disk.sent[$0] }
            if let again = sides[side].session?.retransmit(stored, of: range, at: time) { perform(again, side) }
        }
        if step.disconnect != nil { hangUp(side) }
    }

    /// The process dies: its memory is gone, and a part of what it wrote last with it.
    mutating func crash(_ side: Int) {
        crashes += 1
        let kept = Int.random(in: 0...sides[1 - side].wire.count, using: &generator)
        sides[1 - side].wire = Array(sides[1 - side].wire.prefix(kept))
        hangUp(side)
    }

    /// One side leaves; the other reads what is still on the wire, then notices.
    mutating func hangUp(_ side: Int) {
        lose(side)
        let other = 1 - side
        guard sides[other].session != nil else { return }
        sides[other].decoder.append(sides[other].wire)
        sides[other].wire = []
        var batch = SessionStep()
        while let message = sides[other].decoder.next(), let step = sides[other].session?.received(message, at: time) { batch.append(step) }
        guard let session = sides[other].session else { return }
        sides[other].disk.numbers = session.numbers
        for delivery in batch.deliveries where delivery.message.type == .newOrderSingle {
            sides[other].disk.received.append(delivery.message.string(.clOrdID) ?? "?")
        }
        lose(other)
    }

    mutating func lose(_ side: Int) { sides[side].session = nil }
}
