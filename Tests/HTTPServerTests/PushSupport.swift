import Foundation
import Glibc
import HTTPServer
import Synchronization
import Testing

/// Keeps the clients of a push route and what came of them, as a publisher does.
final class Publisher: PushHandler {
    struct State {
        var connections: [ObjectIdentifier: PushConnection] = [:]
        var opened = 0
        var closed = 0
        var drained = 0
        var threads: Set<String> = []
    }

    let state = Mutex(State())
    private let atOpening: @Sendable (PushConnection) -> Void
    private let atText: @Sendable ([UInt8], PushConnection) -> Void
    private let atDraining: @Sendable (PushConnection) -> Void

    init(
        opened: @escaping @Sendable (PushConnection) -> Void = { _ in },
        received: @escaping @Sendable ([UInt8], PushConnection) -> Void = { $1.send($0) },
        drained: @escaping @Sendable (PushConnection) -> Void = { _ in }
    ) {
        atOpening = opened
        atText = received
        atDraining = drained
    }

    func opened(_ connection: PushConnection) {
        state.withLock { state in
            state.opened += 1
            state.connections[ObjectIdentifier(connection)] = connection
            state.threads.insert(Self.threadName)
        }
        atOpening(connection)
    }

    func received(_ text: [UInt8], on connection: PushConnection) { atText(text, connection) }

    func drained(_ connection: PushConnection) {
        state.withLock { $0.drained += 1 }
        atDraining(connection)
    }

    func closed(_ connection: PushConnection) {
        state.withLock { state in
            #expect(state.connections.removeValue(forKey: ObjectIdentifier(connection)) != nil, "It is closed once.")
            state.closed += 1
        }
        #expect(!connection.isOpen)
    }

    var opened: Int { state.withLock { $0.opened } }
    var closed: Int { state.withLock { $0.closed } }

    /// Has `body` run for each client, on its loop's thread, and waits for that.
    func forEach(on server: HTTPListener, _ body: @escaping @Sendable (PushConnection) -> Void) async {
        for loop in 0..<server.streams.count {
            let done = Signal()
            let isTaken = server.streams.perform(on: loop) {
                for connection in self.state.withLock({ Array($0.connections.values) }) where connection.loop == loop { body(connection) }
                done.fire()
            }
            #expect(isTaken)
            await done.wait()
        }
    }

    static var threadName: String {
        let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
        return name?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
    }

    /// Serves `/events`, `/socket` and an echo elsewhere.
    var routes: Answering {
        Answering { request in
            switch request.path {
            case "/events": .pushed(self)
            case "/socket": .webSocket(self, subprotocol: request.headers.tokens("sec-websocket-protocol").first { $0 == "quotes" })
            default: await Answering.echo.respond(to: request)
            }
        }
    }
}

extension RawClient {
    static let eventsRequest = "GET /events HTTP/1.1\r\nHost: a\r\n\r\n"
    /// The example of RFC 6455 section 1.3.
    static let handshake =
        "GET /socket HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"

    /// What a server has sent as one frame.
    struct Frame: Equatable {
        var opcode: UInt8
        var payload: [UInt8]
        var isFinal = true

        static func text(_ text: String) -> Frame { Frame(opcode: 1, payload: Array(text.utf8)) }

        /// The code of a close frame; 0 without one.
        var code: Int { opcode == 8 && payload.count >= 2 ? Int(payload[0]) << 8 | Int(payload[1]) : 0 }
    }

    func readFrame() throws -> Frame {
        let head = try read(count: 2)
        guard head[0] & 0x70 == 0, head[1] & 0x80 == 0 else { throw ClientFailure(description: "reserved bits or a mask: \(head)") }
        var length = Int(head[1])
        if length >= 126 { length = try read(count: length == 126 ? 2 : 8).reduce(0) { $0 << 8 | Int($1) } }
        return Frame(opcode: head[0] & 0x0F, payload: try read(count: length), isFinal: head[0] & 0x80 != 0)
    }

    /// A client's frame, with its mask.
    static func frame(_ opcode: UInt8, _ payload: [UInt8] = [], isFinal: Bool = true, isMasked: Bool = true, reserved: UInt8 = 0) -> [UInt8] {
        var bytes: [UInt8] = [(isFinal ? 0x80 : 0) | reserved | opcode]
        let bit: UInt8 = isMasked ? 0x80 : 0
        switch payload.count {
        case ..<126: bytes.append(bit | UInt8(payload.count))
        case ..<65_536: bytes += [bit | 126, UInt8(payload.count >> 8), UInt8(payload.count & 255)]
        default: bytes += [bit | 127] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: payload.count >> (8 * $0)) }
        }
        if !isMasked { return bytes + payload }
        let mask: [UInt8] = [0x12, 0x34, 0x56, 0x78]
        return bytes + mask + payload.enumerated().map { $1 ^ mask[$0 % 4] }
    }

    static func closeFrame(_ code: Int, _ reason: String = "") -> [UInt8] {
        frame(8, [UInt8(code >> 8), UInt8(code & 255)] + Array(reason.utf8))
    }
}
