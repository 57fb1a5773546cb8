import Foundation
import Testing

@testable import FIX

/// Both ends of a connection on this machine, secured.
private struct Ends {
    let writing: FIXSocket
    let reading: FIXSocket

    /// An end on its way to the thread of its handshake. Unchecked: it is taken back when that is over.
    private struct Passed: @unchecked Sendable {
        let socket: FIXSocket
    }

    init() throws {
        let listener = try FIXListener(host: "127.0.0.1", port: 0)
        writing = try FIXSocket.connect(host: "127.0.0.1", port: listener.port, timeout: 5_000)
        try #require(Readiness.wait(reading: listener.descriptor, writing: nil, wakeUp: nil, timeout: 5_000).readable)
        reading = try #require(try listener.accept())
        let (acceptance, connecting) = (try TLSFixture.acceptor(), try TLSFixture.initiator())
        let (passed, ended) = (Passed(socket: reading), DispatchSemaphore(value: 0))
        try SessionThread.start {
            // Where it fails so does the other end.
            try? passed.socket.secure(with: acceptance, host: "", timeout: 5_000, clock: .system, isOver: { false })
            ended.signal()
        }
        defer { ended.wait() }
        try writing.secure(with: connecting, host: "127.0.0.1", timeout: 5_000, clock: .system, isOver: { false })
    }

    /// Writes until the socket takes no more; returns how much counts as written.
    func fill(_ bytes: ArraySlice<UInt8>) throws -> Int {
        var rest = bytes
        while !rest.isEmpty {
            let count = try writing.write(rest)
            if count == 0 { break }
            rest = rest.dropFirst(count)
        }
        return bytes.count - rest.count
    }

    /// All that has come so far, with a buffer smaller than a record; and whether that was the end.
    func drain(into bytes: inout [UInt8]) throws -> Bool {
        var buffer = [UInt8](repeating: 0, count: 1_000)
        while true {
            switch try reading.read(into: &buffer) {
            case .bytes(let count): bytes += buffer[..<count]
            case .nothing: return false
            case .closed: return true
            }
        }
    }
}

@Suite(.timeLimit(.minutes(1))) struct `A secured line` {
    /// The body blocks: it gets a thread of its own, so that it takes none from others' tasks.
    private func onThread(_ body: @escaping @Sendable () throws -> Void) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            do {
                try SessionThread.start { continuation.resume(with: Result { try body() }) }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }

    /// More than the buffers of both ends' sockets hold.
    private let large: [UInt8] = (0..<(16 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 11) }

    @Test func `carries what the wire takes in parts, whole and in order`() async throws {
        try await onThread { [large] in
            let ends = try Ends()
            var received: [UInt8] = []
            var (written, pauses) = (0, 0)
            while received.count < large.count {
                written += try ends.fill(large[written...])
                if written < large.count { pauses += 1 }
                _ = ends.reading.wait(writing: false, wakeUp: nil, timeout: 1_000)
                _ = try ends.drain(into: &received)
            }
            #expect(received == large)
            #expect(pauses > 0)
        }
    }

    @Test func `does not complete a record that has left in part when it is closed`() async throws {
        try await onThread { [large] in
            let ends = try Ends()
            let written = try ends.fill(large[...])
            #expect(written < large.count)
            ends.writing.close()
            var received: [UInt8] = []
            while try !ends.drain(into: &received) { _ = ends.reading.wait(writing: false, wakeUp: nil, timeout: 1_000) }
            #expect(received == Array(large[..<written]))
        }
    }

    @Test func `says that nothing follows when it is closed`() async throws {
        try await onThread {
            let ends = try Ends()
            #expect(try ends.fill([1, 2, 3]) == 3)
            ends.writing.close()
            var received: [UInt8] = []
            while try !ends.drain(into: &received) { _ = ends.reading.wait(writing: false, wakeUp: nil, timeout: 1_000) }
            #expect(received == [1, 2, 3])
        }
    }

    @Test func `comes about from single bytes`() throws {
        let acceptor = try TLSConnection(try TLSFixture.acceptor(), host: "")
        let initiator = try TLSConnection(try TLSFixture.initiator(), host: "localhost")
        var done = (false, false)
        /// One byte of what an end has to send.
        func carry(_ from: TLSConnection, _ to: TLSConnection) {
            guard let byte = from.unsent.first else { return }
            from.sent(1)
            to.take([byte])
        }
        while done != (true, true) || !initiator.unsent.isEmpty || !acceptor.unsent.isEmpty {
            if !done.0 { done.0 = try initiator.handshake() }
            if !done.1 { done.1 = try acceptor.handshake() }
            carry(initiator, acceptor)
            carry(acceptor, initiator)
        }
        let text = Array("8=FIX.4.4".utf8)
        try initiator.seal(text[...])
        var buffer = [UInt8](repeating: 0, count: 100)
        var received: [UInt8] = []
        while !initiator.unsent.isEmpty {
            carry(initiator, acceptor)
            if case .bytes(let count) = try acceptor.read(into: &buffer) { received += buffer[..<count] }
        }
        #expect(initiator.takeSealed() == text.count)
        #expect(received == text)
        initiator.close()
        while !initiator.unsent.isEmpty { carry(initiator, acceptor) }
        #expect(try acceptor.read(into: &buffer) == .closed)
    }

    @Test func `ends when what comes was not sealed by the other end`() async throws {
        try await onThread {
            let ends = try Ends()
            var received: [UInt8] = []
            // A record of application data whose tag does not hold, written past the TLS of the other end.
            let forged: [UInt8] = [23, 3, 3, 0, 32] + [UInt8](repeating: 7, count: 32)
            _ = unsafe forged.withUnsafeBytes { unsafe Foundation.send(ends.writing.descriptor, $0.baseAddress, $0.count, 0) }
            let failure = #expect(throws: FIXError.self) {
                while try !ends.drain(into: &received) { _ = ends.reading.wait(writing: false, wakeUp: nil, timeout: 1_000) }
            }
            #expect(failure?.code == .tlsFailed)
            #expect(received.isEmpty)
        }
    }
}
