import Testing

@testable import FIX

/// Whatever a counterparty says, in whatever order: the session neither falls over nor breaks its own rules.
@Suite struct `A session that hears nonsense` {
    private static let types: [MessageType] = ["0", "1", "2", "3", "4", "5", "A", "D", "8", "j", "B", "ZZ", "", "U1"]
    private static let tags: [Int32] = [
        7, 16, 36, 43, 45, 58, 97, 98, 108, 112, 115, 122, 123, 128, 141, 371, 372, 373, 380, 453, 464, 789, 999, 5_000,
    ]
    private static let values = ["", "Y", "N", "0", "1", "2", "5", "30", "-1", "999999999999999999", "99999999999999999999", "x"]

    @Test(arguments: UInt64(1)...12, [SessionSettings.Role.acceptor, .initiator])
    func `keeps its rules`(_ seed: UInt64, _ role: SessionSettings.Role) throws {
        var generator = SeededGenerator(seed: seed)
        var settings = SessionSettings(role: role, senderCompID: "US", targetCompID: "THEM")
        settings.rules = [nil, .lenient, .strict].randomElement(using: &generator) ?? nil
        settings.announcesNextExpected = Bool.random(using: &generator)
        settings.asksToInfinity = Bool.random(using: &generator)
        settings.sendingTimeTolerance = Bool.random(using: &generator) ? 60_000 : nil
        settings.resetOnLogon = Bool.random(using: &generator)
        settings.resetOnLogout = Bool.random(using: &generator)
        settings.resetOnDisconnect = Bool.random(using: &generator)
        settings.supportedTypes = Bool.random(using: &generator) ? ["D"] : nil
        settings.schedule = Bool.random(using: &generator) ? SessionSchedule("14:00-14:20") : nil
        settings.earlyCapacity = 8
        var watched = Watched(SessionState(settings, numbers: SessionNumbers()))
        for _ in 0..<2_000 {
            watched.time.monotonic += 1_000
            watched.time.wall += 100
            switch Int.random(in: 0..<20, using: &generator) {
            case 0: watched.take { $0.tick(at: $1) }
            case 1 where Int.random(in: 0..<10, using: &generator) == 0: watched.take { $0.logout("good night", at: $1) }
            case 2 where Int.random(in: 0..<10, using: &generator) == 0: watched.take { $0.disconnected("the line is lost", at: $1) }
            case 3 where watched.session.isLoggedOn: watched.send()
            default:
                let message = nonsense(watched.session, &generator, watched.time)
                watched.take { $0.received(message, at: $1) }
            }
            watched.reconnect()
        }
        #expect(watched.connections > 1 && watched.answers > 10, "SEED=\(seed): the nonsense is too dull")
    }

    /// A sound frame with whatever in it; most often with the number that is expected, or near it.
    private func nonsense(_ session: SessionState, _ generator: inout SeededGenerator, _ time: SessionTime) -> FIXMessage {
        let isLogon = !session.isLoggedOn && Int.random(in: 0..<3, using: &generator) > 0
        let type = isLogon ? "A" : Self.types.randomElement(using: &generator) ?? "0"
        let number = session.numbers.nextIn + ([0, 0, 0, 0, 1, 2, 5, -1, -session.numbers.nextIn + 1].randomElement(using: &generator) ?? 0)
        var fields = "35=\(type)\u{1}49=\(one(in: 60, &generator) ? "ELSE" : "THEM")\u{1}56=US\u{1}34=\(max(0, number))\u{1}"
        if !one(in: 40, &generator) { fields += "52=\(FIXTime.text(time.wall + (one(in: 20, &generator) ? 90_000 : 0)))\u{1}" }
        if isLogon || one(in: 3, &generator) { fields += "98=0\u{1}108=30\u{1}" }
        for _ in 0..<Int.random(in: 0...4, using: &generator) where !isLogon || one(in: 4, &generator) {
            fields += "\(Self.tags.randomElement(using: &generator) ?? 58)=\(Self.values.randomElement(using: &generator) ?? "")\u{1}"
        }
        let frame = Frame.close(Array(fields.utf8), beginString: one(in: 60, &generator) ? "FIX.4.2" : "FIX.4.4")
        var decoder = FrameDecoder()
        decoder.append(frame)
        guard let message = decoder.next() else { preconditionFailure("A sound frame is read: \(String(decoding: frame, as: UTF8.self))") }
        return message
    }

    private func one(in count: Int, _ generator: inout SeededGenerator) -> Bool { Int.random(in: 0..<count, using: &generator) == 0 }
}

/// A session whose every step is held against what must always hold.
private struct Watched {
    var session: SessionState
    var time = SessionTime(wall: 1_790_000_000_000, monotonic: 0)
    var connections = 0
    var answers = 0

    init(_ session: SessionState) { self.session = session }

    mutating func reconnect() {
        guard !session.isConnected else { return }
        if let step = session.beginAgain() { check(step, after: session.numbers, resets: true) }
        connections += 1
        take { $0.connected(at: $1) }
    }

    mutating func send() {
        var order = FIXMessage(.newOrderSingle)
        order.append(.clOrdID, "x")
        #expect(session.send(order, at: time.wall).number == session.numbers.nextOut - 1)
    }

    mutating func take(_ input: (inout SessionState, SessionTime) -> SessionStep) {
        let before = session.numbers
        let step = input(&session, time)
        check(step, after: before, resets: step.newGeneration != nil)
        for range in step.replays {
            #expect(1 <= range.from && range.from <= range.through && range.through < session.numbers.nextOut)
            check(session.retransmit([], of: range, at: time), after: session.numbers, resets: false)
        }
    }

    private mutating func check(_ step: SessionStep, after before: SessionNumbers, resets: Bool) {
        let start = resets ? SessionNumbers(generation: session.numbers.generation) : before
        #expect(session.numbers.generation >= before.generation && (resets || session.numbers.generation == before.generation))
        #expect(session.numbers.nextIn >= start.nextIn && session.numbers.nextOut >= start.nextOut)
        // Each number of ours once and in order, each of theirs at most once.
        #expect(step.outgoing.map(\.number) == Array(start.nextOut..<(start.nextOut + step.outgoing.count)))
        let taken = step.deliveries.map(\.number)
        #expect(taken == taken.sorted() && Set(taken).count == taken.count)
        #expect(taken.allSatisfy { $0 >= start.nextIn && $0 < session.numbers.nextIn })
        #expect(Set(taken).isDisjoint(with: step.refused.map(\.number)))
        #expect((step.disconnect != nil) == step.events.contains { if case .disconnected = $0 { true } else { false } })
        answers += step.outgoing.count
        // What the session says by itself is sound, whatever it answers.
        for frame in step.frames {
            guard let message = FIXMessage(frame: frame) else {
                Issue.record("not a message: \(String(decoding: frame, as: UTF8.self))")
                continue
            }
            #expect(message.defect == nil && message.defect(under: .strict) == nil, "\(message)")
        }
    }
}
