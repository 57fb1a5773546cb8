import Foundation
import HTTPServer
import Testing

@Suite struct `A WebSocket` {
    typealias Frame = RawClient.Frame

    @Test func `opens as RFC 6455 shows, and carries text both ways`() async throws {
        let publisher = Publisher()
        try await withServer(publisher.routes) { server in
            try await blocking {
                let client = try RawClient(server)
                try client.send(RawClient.handshake)
                let head = try client.readHead()
                #expect(head.status == 101)
                #expect(head.header("Upgrade") == "websocket")
                #expect(head.header("Connection") == "Upgrade")
                #expect(head.header("Sec-WebSocket-Accept") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
                #expect(head.header("Sec-WebSocket-Protocol") == nil)
                #expect(head.header("Sec-WebSocket-Extensions") == nil)
                #expect(head.header("Content-Length") == nil)
                for length in [1, 125, 126, 65_535, 65_536] {
                    let text = String(repeating: "x", count: length)
                    try client.send(RawClient.frame(1, Array(text.utf8)))
                    let isSame = try client.readFrame() == .text(text)
                    #expect(isSame, "\(length) bytes")
                }
                try client.send(RawClient.closeFrame(1000))
                #expect(try client.readFrame().code == 1000)
                #expect(try client.readToEnd().isEmpty)
            }
            try await eventually { publisher.closed == 1 && server.counters.connectionsOpen == 0 }
            #expect(server.counters.streamsCut == 0)
        }
    }

    @Test func `loses nothing that came right behind its handshake`() async throws {
        try await withServer(Publisher().routes) { server in
            try await blocking {
                let client = try RawClient(server)
                let texts = (0..<500).map { "message \($0)" }
                try client.send(Array(RawClient.handshake.utf8) + texts.flatMap { RawClient.frame(1, Array($0.utf8)) })
                #expect(try client.readHead().status == 101)
                for text in texts { #expect(try client.readFrame() == .text(text)) }
            }
        }
    }

    @Test func `over TLS loses nothing either, also what was decrypted and not fetched yet`() async throws {
        try await withCertificate { files in
            try await withServer(
                Publisher().routes,
                configure: {
                    $0.tls = files
                    $0.maximumReadAheadBytes = 512
                },
                { server in
                    let texts = (0..<500).map { "message \($0)" }
                    let frames = texts.flatMap { RawClient.frame(1, Array($0.utf8)) } + RawClient.closeFrame(1000)
                    let (_, output) = try await execute(
                        "/usr/bin/openssl",
                        ["s_client", "-quiet", "-ign_eof", "-connect", "127.0.0.1:\(server.port)"],
                        bytes: Array(RawClient.handshake.utf8) + frames
                    )
                    let expected: [UInt8] = texts.flatMap { WebSocketFrame.text(Array($0.utf8)) } + [0x88, 2, 3, 0xE8]
                    #expect(output.firstRange(of: expected) != nil, "\(String(decoding: output.suffix(200), as: UTF8.self))")
                }
            )
        }
    }

    @Test func `takes messages in pieces, with control frames between them`() async throws {
        try await withServer(Publisher().routes) { server in
            try await blocking {
                let client = try RawClient(server)
                try client.send(RawClient.handshake)
                _ = try client.readHead()
                try client.send(RawClient.frame(1, Array("Gr".utf8), isFinal: false))
                try client.send(RawClient.frame(9, Array("are you there".utf8)))
                #expect(try client.readFrame() == Frame(opcode: 10, payload: Array("are you there".utf8)))
                // A letter of two bytes in two frames, and the frame in two segments.
                let umlaut = Array("ü".utf8)
                try client.send(RawClient.frame(0, [umlaut[0]], isFinal: false))
                for _ in 0..<20_000 { try client.send(RawClient.frame(0, [], isFinal: false)) }
                let last = RawClient.frame(0, [umlaut[1]] + Array("ße".utf8))
                try client.send(Array(last[..<5]))
                try client.send(Array(last[5...]))
                #expect(try client.readFrame() == .text("Grüße"))
            }
        }
    }

    @Test func `asks a silent client whether it is there, and drops it when no answer comes`() async throws {
        let publisher = Publisher()
        try await withServer(
            publisher.routes,
            configure: {
                $0.streamHeartbeat = .milliseconds(20)
                $0.writeTimeout = .seconds(2)
                $0.sweepInterval = .milliseconds(5)
            },
            { server in
                try await blocking {
                    let client = try RawClient(server)
                    try client.send(RawClient.handshake)
                    _ = try client.readHead()
                    for _ in 0..<5 {
                        #expect(try client.readFrame() == Frame(opcode: 9, payload: []))
                        try client.send(RawClient.frame(10))
                    }
                    #expect(server.counters.streamsOpen == 1)
                    _ = try? client.readToEnd()
                }
                try await eventually { publisher.closed == 1 && server.counters.connectionsOpen == 0 }
            }
        )
    }

    @Test func `is ended by the server with a code and a reason, and its client's answer is waited for`() async throws {
        let publisher = Publisher(opened: { connection in
            connection.send(frames: WebSocketFrame.text(Array("last".utf8)))
            connection.end(.policyViolation, reason: String(repeating: "ü", count: 100))
            connection.send(Array("too late".utf8))
        })
        try await withServer(
            publisher.routes,
            configure: { $0.lingerTimeout = .seconds(60) },
            { server in
                let client = try RawClient(server)
                try client.send(RawClient.handshake)
                try await blocking {
                    _ = try client.readHead()
                    #expect(try client.readFrame() == .text("last"))
                    let close = try client.readFrame()
                    #expect(close.code == 1008)
                    #expect(String(validating: close.payload[2...], as: UTF8.self) == String(repeating: "ü", count: 61))
                }
                try await eventually { publisher.closed == 1 }
                #expect(server.counters.connectionsOpen == 1)
                // What comes before the answer is for nobody any more; behind the answer nothing is read.
                try client.send(RawClient.frame(1, Array("a".utf8)) + RawClient.closeFrame(1008) + RawClient.frame(2))
                #expect(try await blocking { try client.readToEnd().isEmpty })
                client.vanish()
                try await eventually { server.counters.connectionsOpen == 0 }
            }
        )
    }

    @Test func `does not wait for ever for its client to close`() async throws {
        try await withServer(
            Publisher(opened: { $0.end() }).routes,
            configure: {
                $0.lingerTimeout = .milliseconds(20)
                $0.sweepInterval = .milliseconds(5)
            },
            { server in
                let client = try RawClient(server)
                try client.send(RawClient.handshake)
                try await blocking {
                    _ = try client.readHead()
                    #expect(try client.readFrame().code == 1000)
                }
                try await eventually { server.counters.connectionsAccepted == 1 && server.counters.connectionsOpen == 0 }
            }
        )
    }

    @Test func `cuts a client that asks without end and reads no answer`() async throws {
        let publisher = Publisher()
        try await withServer(publisher.routes) { server in
            let client = try RawClient(server, receiveBuffer: 4096)
            try client.send(RawClient.handshake)
            let pings = (0..<500).flatMap { _ in RawClient.frame(9, [UInt8](repeating: 0x61, count: 125)) }
            try await blocking {
                while publisher.closed == 0 {
                    do { try client.send(pings) } catch { break }
                }
            }
            try await eventually { server.counters.streamsCut == 1 && server.counters.connectionsOpen == 0 }
        }
    }
}
