import Synchronization
import Testing

@testable import FIX

/// A client that speaks in bytes.
private struct RawClient {
    let socket: FIXSocket

    init(port: UInt16) throws { socket = try FIXSocket.connect(host: "127.0.0.1", port: port, timeout: 5_000) }

    func write(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty { rest = rest.dropFirst(try socket.write(rest)) }
    }

    /// The messages up to the end of the connection.
    func readToEnd() throws -> [FIXMessage] {
        var decoder = FrameDecoder()
        var messages: [FIXMessage] = []
        while let more = try next(&decoder) { messages.append(more) }
        return messages
    }

    /// Nil when the acceptor has closed the connection.
    func next(_ decoder: inout FrameDecoder) throws -> FIXMessage? {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            if let message = decoder.next() { return message }
            try #require(Readiness.wait(reading: socket.descriptor, writing: nil, wakeUp: nil, timeout: 10_000).readable, "the acceptor is silent")
            switch try socket.read(into: &buffer) {
            case .bytes(let count): decoder.append(buffer[..<count])
            case .closed: return nil
            case .nothing: continue
            }
        }
    }
}

private func frame(_ type: MessageType, _ number: Int, sender: String = "A", target: String = "B", body: String) -> [UInt8] {
    let header = Frame.Header(type: type, senderCompID: sender, targetCompID: target, number: number, sendingTime: SessionClock.system.wall())
    return Frame.encode(header, body: Array(body.utf8))
}

private let logonBody = "98=0\u{1}108=30\u{1}"

/// Sessions that remember their numbers and nothing else.
private final class NumbersStore: SessionStore {
    private let numbers: Mutex<SessionNumbers>

    init(_ numbers: SessionNumbers = SessionNumbers()) { self.numbers = Mutex(numbers) }

    func load() -> SessionNumbers { numbers.withLock { $0 } }
    func commit(_ step: SessionStep, numbers next: SessionNumbers) { numbers.withLock { $0 = next } }
    func stored(from: Int, through: Int, atMost most: Int) -> [StoredMessage] { [] }
    func pull(_ session: inout SessionState, at wall: Int64) -> [OutgoingMessage] { [] }
    func mayWrite(at monotonic: Int64) -> Bool { true }
    func changed(_ event: SessionEvent) {}
}

@Suite(.timeLimit(.minutes(1))) struct `An acceptor` {
    /// The body blocks: it gets a thread of its own, so that the acceptor's task has one as well.
    private func serve(_ body: @escaping @Sendable (UInt16) throws -> Void) async throws {
        let acceptor = Acceptor(
            Acceptor.Configuration(),
            report: { _ in },
            open: { logon in
                guard logon.senderCompID == "A", logon.targetCompID == "B" else { return nil }
                return Acceptor.Session(
                    settings: SessionSettings(role: .acceptor, senderCompID: "B", targetCompID: "A"),
                    store: NumbersStore()
                )
            }
        )
        let port = try acceptor.start()
        try await withThrowingTaskGroup { group in
            group.addTask { try await acceptor.run() }
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                do {
                    try SessionThread.start { continuation.resume(with: Result { try body(port) }) }
                } catch {
                    continuation.resume(throwing: error)
                }
            }
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    @Test func `takes a logon that arrives byte by byte and what came with it`() async throws {
        try await serve { port in
            let client = try RawClient(port: port)
            for byte in frame(.logon, 1, body: logonBody) { try client.write([byte]) }
            try client.write(frame(.testRequest, 2, body: "112=here\u{1}") + frame(.logout, 3, body: ""))
            let messages = try client.readToEnd()
            #expect(messages.map(\.type) == [.logon, .heartbeat, .logout])
            #expect(messages[1].string(.testReqID) == "here")
            #expect(messages.map { $0.int(.msgSeqNum) } == [1, 2, 3])
        }
    }

    @Test func `works on what arrives in one piece with the logon`() async throws {
        try await serve { port in
            let client = try RawClient(port: port)
            let all = frame(.logon, 1, body: logonBody) + frame(.testRequest, 2, body: "112=x\u{1}") + frame(.logout, 3, body: "")
            try client.write(all)
            #expect(try client.readToEnd().map(\.type) == [.logon, .heartbeat, .logout])
        }
    }

    @Test func `closes without a word what does not begin with a logon of its own counterparty`() async throws {
        try await serve { port in
            let openings = [
                frame(.heartbeat, 1, body: ""), frame(.logon, 1, sender: "C", body: logonBody), frame(.logon, 1, target: "C", body: logonBody),
            ]
            for opening in openings {
                let client = try RawClient(port: port)
                try client.write(opening)
                #expect(try client.readToEnd().isEmpty)
            }
        }
    }

    @Test func `does not run before it has started`() async {
        let acceptor = Acceptor(Acceptor.Configuration(), report: { _ in }, open: { _ in nil })
        let failure = await #expect(throws: FIXError.self) { try await acceptor.run() }
        #expect(failure?.code == .listenFailed)
    }

    @Test func `says when its port is taken or its host is nobody`() throws {
        let first = Acceptor(Acceptor.Configuration(), report: { _ in }, open: { _ in nil })
        var configuration = Acceptor.Configuration()
        configuration.port = try first.start()
        let taken = #expect(throws: FIXError.self) { try Acceptor(configuration, report: { _ in }, open: { _ in nil }).start() }
        #expect(taken?.code == .listenFailed)
        configuration.host = "256.256.256.256"
        let nobody = #expect(throws: FIXError.self) { try Acceptor(configuration, report: { _ in }, open: { _ in nil }).start() }
        #expect(nobody?.code == .addressNotFound)
    }

    @Test func `logs everybody out when it stops, and frees its port`() async throws {
        let bound = Mutex<UInt16>(0)
        try await serve { port in
            bound.withLock { $0 = port }
            let client = try RawClient(port: port)
            var decoder = FrameDecoder()
            try client.write(frame(.logon, 1, body: logonBody))
            #expect(try client.next(&decoder)?.type == .logon)
        }
        let port = bound.withLock { $0 }
        #expect(throws: FIXError.self) { _ = try RawClient(port: port) }
        let listener = try FIXListener(host: "127.0.0.1", port: port)
        #expect(listener.port == port)
    }
}

@Suite struct `The memory store` {
    @Test func `keeps the newest messages of the generation`() {
        var session = SessionState(SessionSettings(role: .initiator, senderCompID: "A", targetCompID: "B"), numbers: SessionNumbers())
        let store = MemorySessionStore(capacity: 3)
        let time = SessionTime(wall: 0, monotonic: 0)
        store.commit(session.connected(at: time), numbers: session.numbers)
        session.phase = .loggedOn
        let outgoing = (0..<5).map { _ in session.send(FIXMessage(.newOrderSingle), at: 0) }
        store.keep(outgoing)
        #expect(store.numbers.nextOut == 7)
        #expect(store.stored(from: 1, through: 6, atMost: 9).map(\.number) == [4, 5, 6])
        #expect(store.stored(from: 1, through: 6, atMost: 2).map(\.number) == [4, 5])
        #expect(store.stored(from: 5, through: 5, atMost: 9).map(\.number) == [5])
        #expect(store.stored(from: 1, through: 3, atMost: 9).isEmpty)
        var step = SessionStep()
        step.newGeneration = 2
        store.commit(step, numbers: SessionNumbers(generation: 2))
        #expect(store.stored(from: 1, through: 6, atMost: 9).isEmpty)
        #expect(store.numbers == SessionNumbers(generation: 2))
    }
}
