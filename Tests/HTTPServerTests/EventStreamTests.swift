import Foundation
import HTTPServer
import Synchronization
import Testing

@Suite struct `An event stream` {
    static let request = "GET /events HTTP/1.1\r\nHost: a\r\n\r\n"

    /// Keeps what a stream's closure was given, and how it went.
    final class Probe: Sendable {
        let begun = Signal()
        let ended = Signal()
        let writer = Mutex<EventStreamWriter?>(nil)
        let wasCancelled = Mutex(false)

        /// Waits, as a stream does that has nothing to say, until it is cancelled.
        func handler(farewell: String? = nil) -> Answering {
            Answering { _ in
                .eventStream { writer in
                    self.writer.withLock { $0 = writer }
                    self.begun.fire()
                    await Signal().wait()
                    self.wasCancelled.withLock { $0 = Task.isCancelled }
                    if let farewell { try? writer.send(Array(farewell.utf8)) }
                    self.ended.fire()
                }
            }
        }

        func send(_ text: String) throws {
            guard let writer = writer.withLock({ $0 }) else { throw ClientFailure(description: "the stream has not begun") }
            try writer.send(Array(text.utf8))
        }

        var isOpen: Bool { writer.withLock { $0?.isOpen } ?? false }
    }

    @Test func `has the head that proxies and browsers need, and ends cleanly`() async throws {
        let handler = Answering { _ in
            .eventStream { writer in
                for number in 1...3 { try? writer.send(Array("id: \(number)\ndata: x\n\n".utf8)) }
            }
        }
        try await withServer(handler) { server in
            let (head, text, rest) = try await blocking {
                let client = try RawClient(server)
                try client.send(Self.request)
                let head = try client.readHead()
                var text = ""
                while case let chunk = try client.readChunk(), !chunk.isEmpty { text += chunk }
                return (head, text, try client.readToEnd())
            }
            #expect(head.status == 200)
            #expect(head.header("Content-Type") == "text/event-stream")
            #expect(head.header("Cache-Control") == "no-store")
            #expect(head.header("X-Accel-Buffering") == "no")
            #expect(head.header("Transfer-Encoding") == "chunked")
            #expect(head.header("Connection") == "close")
            #expect(head.header("Content-Length") == nil)
            #expect(text == "id: 1\ndata: x\n\nid: 2\ndata: x\n\nid: 3\ndata: x\n\n")
            #expect(rest.isEmpty)
            #expect(server.counters.streamsOpen == 0)
        }
    }

    @Test func `is delimited by the end of the connection in HTTP/1.0`() async throws {
        let handler = Answering { _ in .eventStream { try? $0.send(Array("data: x\n\n".utf8)) } }
        let text = try await withServer(handler) { server in
            try await blocking {
                let client = try RawClient(server)
                try client.send("GET / HTTP/1.0\r\n\r\n")
                return String(decoding: try client.readToEnd(), as: UTF8.self)
            }
        }
        #expect(!text.contains("Transfer-Encoding"))
        #expect(text.hasSuffix("\r\n\r\ndata: x\n\n"))
    }

    @Test func `sends only its head for HEAD`() async throws {
        let text = try await withServer(Answering { _ in .eventStream { _ in Issue.record("The stream was written.") } }) { server in
            try await blocking {
                let client = try RawClient(server)
                try client.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n")
                return String(decoding: try client.readToEnd(), as: UTF8.self)
            }
        }
        #expect(text.contains("text/event-stream"))
        #expect(text.hasSuffix("\r\n\r\n"))
    }

    @Test func `sends its head before its first event`() async throws {
        let probe = Probe()
        try await withServer(probe.handler()) { server in
            let client = try RawClient(server)
            try client.send(Self.request)
            #expect(try await blocking { try client.readHead().status } == 200)
            await probe.begun.wait()
            #expect(server.counters.streamsOpen == 1)
        }
    }

    @Test func `takes events from any thread, in order`() async throws {
        let probe = Probe()
        try await withServer(probe.handler()) { server in
            let client = try RawClient(server)
            try client.send(Self.request)
            await probe.begun.wait()
            let text = try await blocking {
                for number in 0..<1000 { try probe.send("data: \(number)\n\n") }
                _ = try client.readHead()
                var text = ""
                while !text.hasSuffix("data: 999\n\n") { text += try client.readChunk() }
                return text
            }
            #expect(text == (0..<1000).map { "data: \($0)\n\n" }.joined())
        }
    }

    @Test func `drops what its client sends meanwhile`() async throws {
        let probe = Probe()
        try await withServer(probe.handler()) { server in
            let client = try RawClient(server)
            try client.send(Self.request + Self.request)
            await probe.begun.wait()
            try await blocking {
                try client.send([UInt8](repeating: 0x61, count: 1 << 20))
                try probe.send("data: x\n\n")
                _ = try client.readHead()
                #expect(try client.readChunk() == "data: x\n\n")
            }
            #expect(server.counters.requests == 1)
        }
    }

    @Test func `cuts a client that reads too slowly`() async throws {
        let overflowed = Signal()
        let handler = Answering { _ in
            .eventStream { writer in
                let event = Array("data: \(String(repeating: "x", count: 1000))\n\n".utf8)
                do {
                    while true {
                        try writer.send(event)
                        await Task.yield()
                    }
                } catch {
                    #expect((error as? HTTPError)?.code == .streamOverflow)
                    #expect(!writer.isOpen)
                    overflowed.fire()
                }
            }
        }
        try await withServer(handler) { server in
            let client = try RawClient(server, receiveBuffer: 4096)
            try client.send(Self.request)
            await overflowed.wait()
            try await eventually { server.counters.connectionsOpen == 0 }
            #expect(server.counters.streamsCut == 1)
            #expect(server.counters.streamsOpen == 0)
        }
    }

    @Test func `cuts a client when one burst exceeds the bound`() async throws {
        let probe = Probe()
        try await withServer(
            probe.handler(),
            configure: { $0.streamBufferBytes = 100 },
            { server in
                let client = try RawClient(server)
                try client.send(Self.request)
                await probe.begun.wait()
                let error = #expect(throws: HTTPError.self) { try probe.send(String(repeating: "x", count: 101)) }
                #expect(error?.code == .streamOverflow)
                await probe.ended.wait()
                #expect(probe.wasCancelled.withLock { $0 })
                #expect(server.counters.streamsCut == 1)
            }
        )
    }

    @Test func `lets a sender wait until all has been taken`() async throws {
        let handler = Answering { _ in
            .eventStream { writer in
                let event = Array("data: \(String(repeating: "x", count: 10_000))\n\n".utf8)
                do {
                    for _ in 0..<300 {
                        try writer.send(event)
                        try await writer.drained()
                    }
                } catch {
                    Issue.record(error)
                }
            }
        }
        let count = try await withServer(handler) { server in
            try await blocking {
                let client = try RawClient(server, receiveBuffer: 4096)
                try client.send(Self.request)
                _ = try client.readHead()
                var count = 0
                while case let chunk = try client.readChunk(), !chunk.isEmpty { count += chunk.utf8.count }
                return count
            }
        }
        #expect(count == 300 * 10_008)
    }

    @Test func `is cancelled when its client goes`() async throws {
        let probe = Probe()
        try await withServer(probe.handler()) { server in
            let client = try RawClient(server)
            try client.send(Self.request)
            await probe.begun.wait()
            client.endSending()
            await probe.ended.wait()
            #expect(probe.wasCancelled.withLock { $0 })
            #expect(!probe.isOpen)
            let error = #expect(throws: HTTPError.self) { try probe.send("data: x\n\n") }
            #expect(error?.code == .streamClosed)
            #expect(server.counters.streamsOpen == 0)
            #expect(server.counters.streamsCut == 0)
        }
    }

    @Test func `wakes a waiting sender when its client goes`() async throws {
        let (waiting, ended) = (Signal(), Signal())
        let handler = Answering { _ in
            .eventStream { writer in
                do {
                    try writer.send([UInt8](repeating: 0x78, count: 60_000))
                    while true {
                        try await writer.drained()
                        waiting.fire()
                        try writer.send([UInt8](repeating: 0x78, count: 60_000))
                    }
                } catch {
                    ended.fire()
                }
            }
        }
        try await withServer(handler) { server in
            let client = try RawClient(server, receiveBuffer: 4096)
            try client.send(Self.request)
            await waiting.wait()
            client.vanish()
            await ended.wait()
            try await eventually { server.counters.connectionsOpen == 0 }
        }
    }

    @Test func `beats while it has nothing to say`() async throws {
        let probe = Probe()
        try await withServer(
            probe.handler(),
            configure: {
                $0.streamHeartbeat = .milliseconds(10)
                $0.sweepInterval = .milliseconds(5)
            },
            { server in
                let client = try RawClient(server)
                try client.send(Self.request)
                try await blocking {
                    _ = try client.readHead()
                    #expect(try client.readChunk() == ":\n\n")
                    #expect(try client.readChunk() == ":\n\n")
                }
            }
        )
    }

    @Test func `says goodbye when the server stops`() async throws {
        let probe = Probe()
        try await withServer(probe.handler(farewell: "data: farewell\n\n")) { server in
            let client = try RawClient(server)
            try client.send(Self.request)
            await probe.begun.wait()
            let stopped = Task { await server.stop(within: .seconds(20)) }
            let (text, rest) = try await blocking {
                _ = try client.readHead()
                var text = ""
                while case let chunk = try client.readChunk(), !chunk.isEmpty { text += chunk }
                return (text, try client.readToEnd())
            }
            #expect(text == "data: farewell\n\n: the server stops; come back\n\n")
            #expect(rest.isEmpty)
            client.vanish()
            await stopped.value
        }
    }
}
