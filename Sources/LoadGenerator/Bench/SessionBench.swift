import FIX

extension Command {
    static let fix = Command(
        "fix",
        "Measures the FIX codec and session: nanoseconds a message, beside a plain scan of the same bytes.",
        flags: [Flag("seconds", "n", .optional, "Seconds for each figure, 1 to 60; 2 without it.")],
        details: "One thread but for the last figure, which is two sessions with their stores in memory over a real line."
    ) { arguments in
        let seconds = try arguments.number("seconds", 1...60) ?? 2
        try await SessionBench(seconds: seconds).run()
        return .ok
    }
}

/// What a FIX message costs at each step of its way.
struct SessionBench {
    /// For each figure.
    let nanoseconds: Int64
    private let text = (1...1_000).map { "ord_20260916_\($0)aaaaaaaaaaaaaaaaaaaaaa" }
    private static let wall: Int64 = 1_790_000_000_000

    init(seconds: Int) { nanoseconds = Int64(seconds) * 1_000_000_000 }

    func run() async throws {
        for (name, make) in [("NewOrderSingle", order), ("ExecutionReport", report)] as [(String, (Int) -> FIXMessage)] {
            try measure(name, make)
        }
        say(format(try await line(), "/s", "NewOrderSingles over a real line, one direction, both sessions with stores in memory"))
    }

    private func measure(_ name: String, _ make: (Int) -> FIXMessage) throws {
        var sessions = try SessionPair()
        let frames = (0..<1_000).map { sessions.ours.send(make($0), at: Self.wall).frame }
        let bytes = Array(frames.joined())
        say("\(name), \(bytes.count / frames.count) bytes:")
        // The floor: each byte is looked at once. Each scan begins with the sum of the last, so that none can be left out.
        var sum: UInt8 = 0
        let floor = each(frames.count) {
            for byte in bytes { sum = sum &+ byte }
            return Int(sum)
        }
        let encode = each(frames.count) {
            for number in 0..<frames.count { _ = sessions.ours.send(make(number), at: Self.wall) }
            return sessions.ours.numbers.nextOut
        }
        var messages: [FIXMessage] = []
        let decode = each(frames.count) {
            messages = []
            var decoder = FrameDecoder()
            // As a socket gives them.
            for start in stride(from: 0, to: bytes.count, by: 65_536) {
                decoder.append(bytes[start..<min(start + 65_536, bytes.count)])
                while let message = decoder.next() { messages.append(message) }
            }
            return messages.count
        }
        let lenient = each(frames.count) { messages.count { $0.defect(under: .lenient) == nil } }
        let strict = each(frames.count) { messages.count { $0.defect(under: .strict) == nil } }
        let through = try session(make)
        let figures = [
            (floor, "scan of the bytes"), (encode, "make and encode"), (decode, "decode"), (lenient, "check, lenient"), (strict, "check, strict"),
            (through, "sent, kept, framed, decoded, checked strictly, received, committed: one session to another, stores in memory"),
        ]
        for (figure, what) in figures {
            say(format(figure, " ns", "\(what)\(figure == floor ? "" : ", \(Int((figure / floor).rounded())) x the scan")"))
        }
    }

    private func format(_ figure: Double, _ unit: String, _ what: String) -> String {
        let number = String(Int(figure.rounded()))
        return String(repeating: " ", count: max(0, 10 - number.count)) + number + unit + "  " + what
    }

    /// Nanoseconds for each of so many, the best of the runs that the time allows: what others on the machine take is not the code's.
    private func each(_ count: Int, _ body: () -> Int) -> Double {
        Double(bestRun(within: nanoseconds, body)) / Double(count)
    }

    /// Both ends of a session in one thread: batches of 100, each committed at both ends.
    private func session(_ make: (Int) -> FIXMessage) throws -> Double {
        var sessions = try SessionPair()
        let ours = MemorySessionStore(capacity: 10_000)
        let theirs = MemorySessionStore(capacity: 10_000)
        var decoder = FrameDecoder()
        var received = 0
        return each(1_000) {
            for batch in 0..<10 {
                let outgoing = (0..<100).map { sessions.ours.send(make(batch * 100 + $0), at: Self.wall) }
                ours.keep(outgoing)
                for message in outgoing { decoder.append(message.frame) }
                var step = SessionStep()
                while let message = decoder.next() { step.append(sessions.theirs.received(message, at: SessionPair.time)) }
                theirs.commit(step, numbers: sessions.theirs.numbers)
                received += step.deliveries.count
            }
            return received
        }
    }

    /// Messages a second from one process's thread to another's, over TCP.
    private func line() async throws -> Double {
        let sink = LineStore(outbox: [])
        let acceptor = Acceptor(
            Acceptor.Configuration(),
            report: { _ in },
            open: { _ in
                var settings = SessionSettings(role: .acceptor, senderCompID: "B", targetCompID: "A")
                settings.rules = .strict
                return Acceptor.Session(settings: settings, store: sink)
            }
        )
        let port = try acceptor.start()
        let count = 100_000
        let messages = (0..<count).map { order($0 % 1_000) }
        let settings = SessionSettings(role: .initiator, senderCompID: "A", targetCompID: "B")
        let configuration = Initiator.Configuration(host: "127.0.0.1", port: port, session: settings)
        let source = LineStore(outbox: messages)
        let initiator = Initiator(configuration, random: { 0.5 }, report: { note("the line: \($0)") }, openStore: { source })
        let begun = MonotonicClock.now
        return try await withThrowingTaskGroup { group in
            group.addTask { try await acceptor.run() }
            group.addTask { try await initiator.run() }
            for await received in sink.progress where received >= count { break }
            let took = MonotonicClock.now - begun
            group.cancelAll()
            try await group.waitForAll()
            return Double(count) / Double(took) * 1e9
        }
    }

    // MARK: Messages as the router and the venue send them

    private func order(_ number: Int) -> FIXMessage {
        var message = FIXMessage(.newOrderSingle)
        message.append(.clOrdID, text[number])
        message.append(.account, "acc_998124a87")
        message.append(.handlInst, "1")
        message.append(.symbol, "NVDA")
        message.append(.side, 1)
        message.append(.transactTime, time: Self.wall)
        message.append(.orderQty, 100)
        message.append(.ordType, 2)
        message.append(.price, "125.50")
        message.append(.timeInForce, 0)
        return message
    }

    private func report(_ number: Int) -> FIXMessage {
        var message = FIXMessage(.executionReport)
        message.append(.orderID, "X\(number)")
        message.append(.clOrdID, text[number])
        message.append(.execID, "E20260916-\(number)")
        message.append(.execType, "F")
        message.append(.ordStatus, "2")
        message.append(.account, "acc_998124a87")
        message.append(.symbol, "NVDA")
        message.append(.side, 1)
        message.append(.orderQty, 100)
        message.append(.ordType, 2)
        message.append(.price, "125.50")
        message.append(.timeInForce, 0)
        message.append(.lastQty, 100)
        message.append(.lastPx, "125.48")
        message.append(.leavesQty, 0)
        message.append(.cumQty, 100)
        message.append(.avgPx, "125.48")
        message.append(.transactTime, time: Self.wall)
        message.append(.tradeDate, "20260916")
        return message
    }
}

/// Two sessions that are logged on with one another.
private struct SessionPair {
    static let time = SessionTime(wall: 1_790_000_000_000, monotonic: 0)
    var ours = SessionState(SessionSettings(role: .initiator, senderCompID: "A", targetCompID: "B"), numbers: SessionNumbers())
    var theirs: SessionState

    init() throws {
        var settings = SessionSettings(role: .acceptor, senderCompID: "B", targetCompID: "A")
        settings.rules = .strict
        theirs = SessionState(settings, numbers: SessionNumbers())
        _ = theirs.connected(at: Self.time)
        var decoder = FrameDecoder()
        for frame in ours.connected(at: Self.time).frames { decoder.append(frame) }
        guard let logon = decoder.next() else { throw LoadFailure("the initiator sends no Logon") }
        for frame in theirs.received(logon, at: Self.time).frames { decoder.append(frame) }
        guard let answer = decoder.next() else { throw LoadFailure("the acceptor does not answer the Logon") }
        _ = ours.received(answer, at: Self.time)
        guard ours.isLoggedOn, theirs.isLoggedOn else { throw LoadFailure("the two sessions do not log on") }
    }
}

/// A session's store in memory: what is to be sent, and how much was received. The stores' owners use each on one thread at a time.
private final class LineStore: SessionStore, @unchecked Sendable {
    private let memory = MemorySessionStore(capacity: 100_000)
    private var outbox: ArraySlice<FIXMessage>
    private var received = 0
    let progress: AsyncStream<Int>
    private let continuation: AsyncStream<Int>.Continuation

    init(outbox: [FIXMessage]) {
        self.outbox = outbox[...]
        (progress, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func load() -> SessionNumbers { memory.numbers }

    func commit(_ step: SessionStep, numbers: SessionNumbers) {
        memory.commit(step, numbers: numbers)
        received += step.deliveries.count
        if !step.deliveries.isEmpty { continuation.yield(received) }
    }

    func stored(from: Int, through: Int, atMost most: Int) -> [StoredMessage] {
        memory.stored(from: from, through: through, atMost: most)
    }

    func pull(_ session: inout SessionState, at wall: Int64) -> [OutgoingMessage] {
        let batch = outbox.prefix(256)
        var current = session
        let outgoing = batch.map { current.send($0, at: wall) }
        session = current
        outbox = outbox.dropFirst(batch.count)
        memory.keep(outgoing)
        return outgoing
    }

    func mayWrite(at monotonic: Int64) -> Bool { true }

    func changed(_ event: SessionEvent) {}
}
