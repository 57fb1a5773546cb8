import Foundation
import HTTPServer
import Testing

@Suite struct `A WebSocket's client` {
    struct Breach: CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]
        /// 0: a close frame without a code.
        let code: Int

        init(_ what: String, _ bytes: [UInt8], _ code: Int) {
            testDescription = what
            self.bytes = bytes
            self.code = code
        }
    }

    static let breaches: [Breach] = {
        typealias Client = RawClient
        let half = [UInt8](repeating: 0x61, count: 40_000)
        return [
            Breach("a frame without a mask", Client.frame(1, [0x61], isMasked: false), 1002),
            Breach("the first reserved bit", Client.frame(1, [0x61], reserved: 0x40), 1002),
            Breach("the second reserved bit", Client.frame(1, [0x61], reserved: 0x20), 1002),
            Breach("the third reserved bit", Client.frame(1, [0x61], reserved: 0x10), 1002),
            Breach("an unknown opcode", Client.frame(3, [0x61]), 1002),
            Breach("an unknown control opcode", Client.frame(11), 1002),
            Breach("a binary message", Client.frame(2, [0x61]), 1003),
            Breach("a binary message in pieces", Client.frame(2, [0x61], isFinal: false), 1003),
            Breach("text that is no UTF-8", Client.frame(1, [0x61, 0xFF]), 1007),
            Breach("text with half a letter", Client.frame(1, [0xC3]), 1007),
            Breach("a surrogate", Client.frame(1, [0xED, 0xA0, 0x80]), 1007),
            Breach("a long message, by its header alone", Array(Client.frame(1, [UInt8](repeating: 0x61, count: 65_537))[..<15]), 1009),
            Breach("a length without end", [0x81, 0xFF, 0x7F] + [UInt8](repeating: 0xFF, count: 7) + [1, 2, 3, 4, 5], 1009),
            Breach("a long message in pieces", Client.frame(1, half, isFinal: false) + Client.frame(0, half), 1009),
            Breach("a ping in pieces", Client.frame(9, [], isFinal: false), 1002),
            Breach("a long ping", Client.frame(9, [UInt8](repeating: 0x61, count: 126)), 1002),
            Breach("a piece of nothing", Client.frame(0, [0x61]), 1002),
            Breach("a message within a message", Client.frame(1, [0x61], isFinal: false) + Client.frame(1, [0x61]), 1002),
            Breach("a close frame of one byte", Client.frame(8, [3]), 1002),
            Breach("a reason that is no UTF-8", Client.frame(8, [3, 0xE8, 0xFF]), 1007),
        ] + [0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000, 65_535].map { Breach("close code \($0)", Client.closeFrame($0), 1002) }
    }()

    @Test(arguments: breaches) func `that breaks a rule is told which, and is not heard again`(_ breach: Breach) async throws {
        let publisher = Publisher(received: { text, _ in
            #expect(text == Array("before".utf8))
        })
        try await withServer(publisher.routes) { server in
            let close = try await blocking {
                let client = try RawClient(server)
                try client.send(RawClient.handshake)
                _ = try client.readHead()
                try client.send(RawClient.frame(1, Array("before".utf8)) + breach.bytes + RawClient.frame(1, Array("after".utf8)))
                let close = try client.readFrame()
                #expect(try client.readToEnd().isEmpty)
                return close
            }
            #expect(close.opcode == 8 && close.code == breach.code, "\(close)")
            try await eventually { publisher.closed == 1 && server.counters.connectionsOpen == 0 }
        }
    }

    @Test(arguments: [1000, 1001, 1011, 3000, 4999]) func `that closes gets its code back`(_ code: Int) async throws {
        let publisher = Publisher()
        try await withServer(publisher.routes) { server in
            try await blocking {
                let client = try RawClient(server)
                try client.send(RawClient.handshake)
                _ = try client.readHead()
                try client.send(RawClient.closeFrame(code, "bye"))
                #expect(try client.readFrame().code == code)
                #expect(try client.readToEnd().isEmpty)
                let other = try RawClient(server)
                try other.send(RawClient.handshake)
                _ = try other.readHead()
                try other.send(RawClient.frame(8))
                #expect(try other.readFrame() == RawClient.Frame(opcode: 8, payload: []))
                #expect(try other.readToEnd().isEmpty)
            }
            try await eventually { publisher.closed == 2 && server.counters.connectionsOpen == 0 }
        }
    }

    static let handshakes: [(status: Int, bent: String)] = [
        (426, handshake("Upgrade: websocket\r\n", "")),
        (426, handshake("Upgrade: websocket\r\n", "Upgrade: h2c\r\n")),
        (426, handshake("HTTP/1.1", "HTTP/1.0")),
        (426, handshake("Version: 13", "Version: 8")),
        (426, handshake("Version: 13", "Version: 13, 8")),
        (426, handshake("Sec-WebSocket-Version: 13\r\n", "")),
        (400, handshake("Connection: Upgrade\r\n", "")),
        (400, handshake("Connection: Upgrade", "Connection: keep-alive")),
        (400, handshake("GET", "POST")),
        (400, handshake("Host: a\r\n", "Host: a\r\nContent-Length: 1\r\n") + "x"),
        (400, handshake("dGhlIHNhbXBsZSBub25jZQ==", "")),
        (400, handshake("dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25jZQ")),
        (400, handshake("dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25jZ*==")),
        (400, handshake("Sec-WebSocket-Key", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Key")),
    ]

    static func handshake(_ part: String, _ other: String) -> String { RawClient.handshake.replacingOccurrences(of: part, with: other) }

    /// What stands behind the request is then the next request, and nothing of a WebSocket.
    @Test(arguments: handshakes) func `whose handshake is wrong is told what is spoken`(_ status: Int, _ bent: String) async throws {
        let publisher = Publisher()
        try await withServer(publisher.routes) { server in
            let (answer, next) = try await blocking {
                let client = try RawClient(server)
                try client.send(bent)
                let answer = try client.readAnswer()
                if bent.contains("HTTP/1.0") { return (answer, "GET /next [] ") }
                try client.send("GET /next HTTP/1.1\r\nHost: a\r\n\r\n")
                return (answer, try client.readAnswer().text)
            }
            #expect(answer.status == status)
            #expect(answer.header("Sec-WebSocket-Version") == "13")
            #expect(status != 426 || answer.header("Upgrade") == "websocket" && answer.header("Connection") == "Upgrade")
            #expect(next == "GET /next [] ")
            #expect(publisher.opened == 0)
        }
    }

    @Test func `may write its handshake in any case and in lists, and is given a subprotocol that it offered`() async throws {
        let publisher = Publisher()
        try await withServer(publisher.routes) { server in
            let heads = try await blocking {
                try ["chat, quotes", "chat"].map { offer in
                    let client = try RawClient(server)
                    try client.send(
                        Self.handshake("Upgrade: websocket", "upgrade: foo,\tWebSocket")
                            .replacingOccurrences(
                                of: "Connection: Upgrade",
                                with: "CONNECTION: keep-alive,  uPGRADE\r\nSec-WebSocket-Protocol: \(offer)"
                            )
                    )
                    return try client.readHead()
                }
            }
            #expect(heads.map(\.status) == [101, 101])
            #expect(heads.map { $0.header("Sec-WebSocket-Protocol") } == ["quotes", nil])
        }
    }

    @Test func `does not open anything on another route`() async throws {
        let texts = try await withServer(Publisher().routes) { server in
            try await blocking {
                let client = try RawClient(server)
                try client.send(Self.handshake("/socket", "/1") + Self.handshake("/socket", "/2"))
                return [try client.readAnswer().text, try client.readAnswer().text]
            }
        }
        #expect(texts == ["GET /1 [] ", "GET /2 [] "])
    }
}
