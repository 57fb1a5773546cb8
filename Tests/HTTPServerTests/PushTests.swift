import Foundation
import HTTPServer
import Synchronization
import Testing

@Suite struct `A pushed stream` {
    static let hello = Array("data: hello\n\n".utf8)

    @Test func `is written from a loop of its own`() async throws {
        let publisher = Publisher(opened: { $0.send(Self.hello) })
        try await withServer(publisher.routes) { server in
            let (head, chunk) = try await blocking {
                let client = try RawClient(server)
                try client.send(RawClient.eventsRequest)
                return (try client.readHead(), try client.readChunk())
            }
            #expect(head.status == 200)
            #expect(head.header("Content-Type") == "text/event-stream")
            #expect(head.header("Transfer-Encoding") == "chunked")
            #expect(chunk == "data: hello\n\n")
            #expect(publisher.state.withLock { $0.threads } == ["stream-0"])
            try await eventually { publisher.closed == 1 && server.counters.connectionsOpen == 0 }
            #expect(server.counters.streamsOpen == 0)
        }
    }

    @Test func `leaves the loop of requests free while a publisher is busy`() async throws {
        let (publisher, goOn) = (Publisher(), DispatchSemaphore(value: 0))
        try await withServer(publisher.routes) { server in
            let stream = try RawClient(server)
            try stream.send(RawClient.eventsRequest)
            try await eventually { publisher.opened == 1 }
            let isBlocked = Signal()
            server.streams.perform(on: 0) {
                isBlocked.fire()
                goOn.wait()
            }
            await isBlocked.wait()
            defer { goOn.signal() }
            let answer = try await blocking {
                let client = try RawClient(server)
                try client.send("GET /meanwhile HTTP/1.1\r\nHost: a\r\n\r\n")
                return try client.readAnswer()
            }
            #expect(answer.text == "GET /meanwhile [] ")
        }
    }

    @Test func `may send many events at once, and one by one, and ends in order`() async throws {
        let publisher = Publisher(opened: { connection in
            connection.send { buffer in
                for number in 1...3 { buffer += Array("id: \(number)\n\n".utf8) }
            }
            connection.send { _ in }
            for number in 4...5 { connection.send(Array("id: \(number)\n\n".utf8)) }
            connection.end()
            #expect(!connection.isOpen)
            connection.send(Self.hello)
        })
        try await withServer(publisher.routes) { server in
            let (chunks, rest) = try await blocking {
                let client = try RawClient(server)
                try client.send(RawClient.eventsRequest)
                _ = try client.readHead()
                return (try (0..<4).map { _ in try client.readChunk() }, try client.readToEnd())
            }
            #expect(chunks == ["id: 1\n\nid: 2\n\nid: 3\n\n", "id: 4\n\n", "id: 5\n\n", ""])
            #expect(rest.isEmpty)
            try await eventually { server.counters.connectionsOpen == 0 }
            #expect(publisher.closed == 1)
        }
    }

    @Test func `is delimited by the end of the connection in HTTP/1.0, and has only a head for HEAD`() async throws {
        let publisher = Publisher(opened: {
            $0.send(Self.hello)
            $0.end()
        })
        try await withServer(publisher.routes) { server in
            let (old, head) = try await blocking {
                let (old, head) = (try RawClient(server), try RawClient(server))
                try old.send("GET /events HTTP/1.0\r\n\r\n")
                try head.send("HEAD /events HTTP/1.1\r\nHost: a\r\n\r\n")
                return (String(decoding: try old.readToEnd(), as: UTF8.self), String(decoding: try head.readToEnd(), as: UTF8.self))
            }
            #expect(old.hasSuffix("\r\n\r\ndata: hello\n\n") && !old.contains("Transfer-Encoding"))
            #expect(head.hasSuffix("\r\n\r\n") && head.contains("text/event-stream"))
            #expect(publisher.opened == 1)
        }
    }

    @Test func `drops what its client sends, and ends with it`() async throws {
        let publisher = Publisher(opened: { $0.send(Self.hello) })
        try await withServer(publisher.routes) { server in
            let client = try RawClient(server)
            try client.send(RawClient.eventsRequest + RawClient.eventsRequest)
            try await blocking {
                _ = try client.readHead()
                #expect(try client.readChunk() == "data: hello\n\n")
                try client.send([UInt8](repeating: 0x61, count: 1 << 20))
                client.endSending()
                #expect(try client.readToEnd().isEmpty)
            }
            try await eventually { publisher.closed == 1 }
            #expect(server.counters.requests == 1)
            #expect(server.counters.streamsCut == 0)
        }
    }

    @Test func `beats while it has nothing to say`() async throws {
        try await withServer(
            Publisher().routes,
            configure: {
                $0.streamHeartbeat = .milliseconds(10)
                $0.sweepInterval = .milliseconds(5)
            },
            { server in
                try await blocking {
                    let client = try RawClient(server)
                    try client.send(RawClient.eventsRequest)
                    _ = try client.readHead()
                    #expect(try client.readChunk() == ":\n\n")
                    #expect(try client.readChunk() == ":\n\n")
                }
            }
        )
    }

    @Test func `comes from a publisher's timer, which ends with the server`() async throws {
        let publisher = Publisher()
        let ticks = Mutex([Int: Int]())
        try await withServer(
            publisher.routes,
            configure: { $0.streamLoops = 2 },
            { server in
                #expect(server.streams.count == 2)
                server.streams.every(.milliseconds(2)) { loop in
                    ticks.withLock { $0[loop, default: 0] += 1 }
                    for connection in publisher.state.withLock({ Array($0.connections.values) }) where connection.loop == loop {
                        connection.send(Array("data: \(loop)\n\n".utf8))
                    }
                }
                let texts = try await blocking {
                    let clients = try (0..<2).map { _ in
                        let client = try RawClient(server)
                        try client.send(RawClient.eventsRequest)
                        _ = try client.readHead()
                        _ = try client.readChunk()
                        return client
                    }
                    return try clients.map { try $0.readChunk() }
                }
                // The second client went where the first one was not.
                #expect(Set(texts) == ["data: 0\n\n", "data: 1\n\n"])
                await server.stop(within: .seconds(20))
                #expect(!server.streams.perform(on: 0) { Issue.record("The loop has ended.") })
            }
        )
        #expect(ticks.withLock { $0.count } == 2)
    }

    @Test func `may have a task that waits, on its own loop`() async throws {
        let goOn = Signal()
        let names = Mutex<[String]>([])
        let publisher = Publisher(opened: { connection in
            connection.task {
                await goOn.wait()
                names.withLock { $0.append(Publisher.threadName) }
                connection.send(Self.hello)
            }
        })
        try await withServer(publisher.routes) { server in
            let client = try RawClient(server)
            try client.send(RawClient.eventsRequest)
            try await eventually { publisher.opened == 1 }
            goOn.fire()
            try await blocking {
                _ = try client.readHead()
                #expect(try client.readChunk() == "data: hello\n\n")
            }
            #expect(names.withLock { $0 } == ["stream-0"])
        }
    }
}
