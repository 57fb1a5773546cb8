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
        let publisher = Publisher()
        try await withServer(publisher.routes) { server in
            try await blocking {
                let client = try RawClient(server)
                let texts = (0..<500).map { "message \($0)" }
                try client.send(Array(RawClient.handshake.utf8) + texts.flatMap { RawClient.frame(1, Array($0.utf8)) })
                #expect(try client.readHead().status == 101)
                for text in texts { #expect(try client.readFrame() == .text(text)) }
            }
        }
    }
}
