import Foundation
import HTTPServer
import Testing

@Suite struct `A stop` {
    static let request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

    @Test func `lets a pending request be answered and then closes`() async throws {
        let (begun, goOn) = (Signal(), Signal())
        let handler = Answering { request in
            begun.fire()
            await goOn.wait()
            return await Answering.echo.respond(to: request)
        }
        let server = try HTTPListener(HTTPConfiguration(), handler: handler)
        let running = Task { try await server.run() }
        let pending = try RawClient(server)
        let idle = try RawClient(server)
        try pending.send("GET /last HTTP/1.1\r\nHost: a\r\n\r\n")
        await begun.wait()
        try await eventually { server.counters.connectionsOpen == 2 }
        let stopping = Task { await server.stop(within: .seconds(20)) }
        // The idle connection ends at once, and so the stop has begun.
        #expect(try await blocking { try idle.readToEnd() }.isEmpty)
        #expect(throws: ClientFailure.self) { try RawClient(server) }
        goOn.fire()
        let (answer, rest) = try await blocking { (try pending.readAnswer(), try pending.readToEnd()) }
        #expect(answer.text == "GET /last [] ")
        #expect(answer.header("Connection") == "close")
        #expect(rest.isEmpty)
        pending.vanish()
        await stopping.value
        try await running.value
        #expect(server.counters.connectionsOpen == 0)
    }

    @Test func `lets a half-received request come to its end`() async throws {
        try await withServer { server in
            let client = try RawClient(server)
            try client.send("GET /ha")
            try await eventually { server.counters.bytesReceived == 7 }
            let idle = try RawClient(server)
            try await eventually { server.counters.connectionsOpen == 2 }
            let stopping = Task { await server.stop(within: .seconds(20)) }
            _ = try await blocking { try idle.readToEnd() }
            try client.send("lf HTTP/1.1\r\nHost: a\r\n\r\n")
            let answer = try await blocking { try client.readAnswer() }
            #expect(answer.text == "GET /half [] ")
            #expect(answer.header("Connection") == "close")
            client.vanish()
            await stopping.value
        }
    }

    @Test func `does not wait longer than it may, and does not end a handler`() async throws {
        let (begun, goOn, ended) = (Signal(), Signal(), Signal())
        let handler = Answering { _ in
            begun.fire()
            await goOn.wait()
            #expect(!Task.isCancelled)
            ended.fire()
            return HTTPResponse(status: 200)
        }
        let server = try HTTPListener(HTTPConfiguration(), handler: handler)
        let running = Task { try await server.run() }
        let client = try RawClient(server)
        try client.send(Self.request)
        await begun.wait()
        await server.stop(within: .milliseconds(10))
        try await running.value
        #expect(server.counters.connectionsOpen == 0)
        goOn.fire()
        await ended.wait()
    }

    @Test func `comes from cancelling the run`() async throws {
        let server = try HTTPListener(HTTPConfiguration(), handler: Answering.echo)
        let running = Task { try await server.run() }
        let client = try RawClient(server)
        try client.send(Self.request)
        #expect(try await blocking { try client.readAnswer().status } == 200)
        running.cancel()
        try await running.value
        #expect(server.counters.connectionsOpen == 0)
        #expect(throws: ClientFailure.self) { try RawClient(server) }
    }

    @Test func `before the run makes the run end at once`() async throws {
        let server = try HTTPListener(HTTPConfiguration(), handler: Answering.echo)
        await server.stop(within: .seconds(20))
        try await server.run()
        await server.stop(within: .seconds(20))
    }

    @Test func `may be asked for twice`() async throws {
        try await withServer { server in
            await server.stop(within: .seconds(20))
            await server.stop(within: .seconds(20))
        }
    }
}
