import Foundation
import HTTPServer
import Synchronization
import Testing

@Suite struct `A connection` {
    @Test func `serves request after request`() async throws {
        try await withServer { server in
            let texts = try await blocking {
                let client = try RawClient(server)
                return try (0..<20).map { number in
                    try client.send("GET /\(number) HTTP/1.1\r\nHost: a\r\n\r\n")
                    return try client.readAnswer().text
                }
            }
            #expect(texts == (0..<20).map { "GET /\($0) [] " })
            #expect(server.counters.connectionsAccepted == 1)
            #expect(server.counters.requests == 20)
        }
    }

    @Test func `answers a hundred pipelined requests in their order`() async throws {
        let texts = try await withServer { server in
            try await blocking {
                let client = try RawClient(server)
                try client.send((0..<100).map { "POST /\($0) HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi" }.joined())
                return try (0..<100).map { _ in try client.readAnswer().text }
            }
        }
        #expect(texts == (0..<100).map { "POST /\($0) [] hi" })
    }

    @Test func `keeps the order when handlers are resumed by other threads`() async throws {
        let handler = Answering { request in
            await withCheckedContinuation { continuation in
                let thread = Thread { continuation.resume() }
                thread.start()
            }
            return await Answering.echo.respond(to: request)
        }
        let texts = try await withServer(handler) { server in
            try await blocking {
                let client = try RawClient(server)
                try client.send((0..<100).map { "GET /\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined())
                return try (0..<100).map { _ in try client.readAnswer().text }
            }
        }
        #expect(texts == (0..<100).map { "GET /\($0) [] " })
    }

    @Test func `handles its requests one after another`() async throws {
        let running = Mutex((now: 0, most: 0))
        let handler = Answering { request in
            running.withLock {
                $0.now += 1
                $0.most = max($0.most, $0.now)
            }
            await Task.yield()
            running.withLock { $0.now -= 1 }
            return await Answering.echo.respond(to: request)
        }
        try await withServer(handler) { server in
            try await blocking {
                let client = try RawClient(server)
                try client.send(String(repeating: "GET / HTTP/1.1\r\nHost: a\r\n\r\n", count: 50))
                for _ in 0..<50 { _ = try client.readAnswer() }
            }
        }
        #expect(running.withLock { $0.most } == 1)
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", nil, true),
        ("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "close", false),
        ("GET / HTTP/1.1\r\nHost: a\r\nConnection: TE, Close\r\n\r\n", "close", false),
        ("GET / HTTP/1.0\r\n\r\n", "close", false),
        ("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "keep-alive", true),
        ("GET / HTTP/1.7\r\nHost: a\r\n\r\n", nil, true),
    ])
    func `stays open as version and client want it`(_ request: String, _ header: String?, _ stays: Bool) async throws {
        try await withServer { server in
            let (first, second) = try await blocking {
                let client = try RawClient(server)
                try client.send(request)
                let first = try client.readAnswer()
                try client.send("GET /second HTTP/1.1\r\nHost: a\r\n\r\n")
                return (first, stays ? try client.readAnswer().text : String(decoding: try client.readToEnd(), as: UTF8.self))
            }
            #expect(first.status == 200)
            #expect(first.header("Connection") == header)
            #expect(second == (stays ? "GET /second [] " : ""))
        }
    }

    @Test func `is closed when the handler wants it`() async throws {
        let handler = Answering { _ in HTTPResponse(status: 200, headers: [("Connection", "close")]) }
        let (answer, rest) = try await withServer(handler) { server in
            try await blocking {
                let client = try RawClient(server)
                try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                return (try client.readAnswer(), try client.readToEnd())
            }
        }
        #expect(answer.headers.filter { $0.name == "Connection" }.map(\.value) == ["close"])
        #expect(rest.isEmpty)
    }

    @Test func `answers HEAD with the length and without the body`() async throws {
        let (head, next) = try await withServer { server in
            try await blocking {
                let client = try RawClient(server)
                try client.send("HEAD /a HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\nHost: a\r\n\r\n")
                return (try client.readHead(), try client.readAnswer())
            }
        }
        #expect(head.header("Content-Length") == String("HEAD /a [] ".utf8.count))
        #expect(next.text == "GET /b [] ")
    }

    @Test(arguments: [204, 304])
    func `sends no body where the status has none`(_ status: Int) async throws {
        let handler = Answering { HTTPResponse(status: $0.path == "/none" ? status : 200, body: .bytes(Array("text".utf8))) }
        let (none, next) = try await withServer(handler) { server in
            try await blocking {
                let client = try RawClient(server)
                try client.send("GET /none HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n")
                return (try client.readHead(), try client.readAnswer())
            }
        }
        #expect(none.status == status)
        #expect(status == 304 || none.header("Content-Length") == nil)
        #expect(next.text == "text")
    }

    @Test(arguments: [
        HTTPResponse(status: 200, headers: [("X", "a\r\nSet-Cookie: b")]),
        HTTPResponse(status: 200, headers: [("X", "a\nb")]),
        HTTPResponse(status: 200, headers: [("X", "a\0b")]),
        HTTPResponse(status: 200, headers: [("X: y\r\nZ", "a")]),
        HTTPResponse(status: 200, headers: [("", "a")]),
        HTTPResponse(status: 99),
        HTTPResponse(status: 600),
        HTTPResponse(status: 101),
    ])
    func `sends a 500 instead of an answer that would break framing`(_ response: HTTPResponse) async throws {
        let (answer, next) = try await withServer(Answering { $0.path == "/bad" ? response : HTTPResponse(status: 200) }) { server in
            try await blocking {
                let client = try RawClient(server)
                try client.send("GET /bad HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n")
                return (try client.readAnswer(), try client.readAnswer())
            }
        }
        #expect(answer.status == 500)
        #expect(answer.text.contains("internal_error"))
        #expect(answer.header("Set-Cookie") == nil)
        #expect(next.status == 200)
    }

    @Test func `does not let a handler set what frames the answer`() async throws {
        let handler = Answering { _ in
            HTTPResponse(
                status: 200,
                headers: [("content-length", "99"), ("Transfer-Encoding", "chunked"), ("Date", "never"), ("X", "y")],
                body: .bytes(Array("text".utf8))
            )
        }
        let answer = try await withServer(handler) { server in
            try await blocking {
                let client = try RawClient(server)
                try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                return try client.readAnswer()
            }
        }
        #expect(answer.text == "text")
        #expect(answer.headers.map(\.name) == ["Date", "X", "Content-Length"])
        #expect(answer.header("Date") != "never")
    }

    @Test func `whose client ends sending is still answered`() async throws {
        let handler = Answering { request in
            await Task.yield()
            return await Answering.echo.respond(to: request)
        }
        let all = try await withServer(handler) { server in
            try await blocking {
                let client = try RawClient(server)
                try client.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n")
                client.endSending()
                return String(decoding: try client.readToEnd(), as: UTF8.self)
            }
        }
        #expect(all.contains("GET /1 [] "))
        #expect(all.hasSuffix("GET /2 [] "))
    }

    @Test func `whose client ends sending while the handler waits is still answered`() async throws {
        let (begun, ended) = (Signal(), Signal())
        let handler = Answering { request in
            begun.fire()
            await ended.wait()
            return await Answering.echo.respond(to: request)
        }
        try await withServer(handler) { server in
            let client = try RawClient(server)
            try client.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n")
            await begun.wait()
            client.endSending()
            ended.fire()
            let all = try await blocking { String(decoding: try client.readToEnd(), as: UTF8.self) }
            #expect(all.hasSuffix("GET /1 [] "))
        }
    }

    @Test func `that ends within a request is told so`() async throws {
        let answer = try await withServer { server in
            try await blocking {
                let client = try RawClient(server)
                try client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf")
                client.endSending()
                return try client.readAnswer()
            }
        }
        #expect(answer.status == 400)
    }

    @Test func `whose client vanishes does not end the handler`() async throws {
        let (begun, goOn, ended) = (Signal(), Signal(), Signal())
        let wasCancelled = Mutex<Bool?>(nil)
        let handler = Answering { _ in
            begun.fire()
            await goOn.wait()
            wasCancelled.withLock { $0 = Task.isCancelled }
            ended.fire()
            return HTTPResponse(status: 200)
        }
        try await withServer(handler) { server in
            let client = try RawClient(server)
            try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            await begun.wait()
            client.vanish()
            try await eventually { server.counters.connectionsOpen == 0 }
            goOn.fire()
            await ended.wait()
            // The dropped answer has hurt nobody.
            let other = try RawClient(server)
            try other.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try await blocking { try other.readAnswer().status } == 200)
        }
        #expect(wasCancelled.withLock { $0 } == false)
    }

    @Test func `carries an answer larger than any buffer to a slow reader`() async throws {
        let body = (0..<8 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let handler = Answering { _ in HTTPResponse(status: 200, body: .bytes(body)) }
        let (first, second) = try await withServer(handler) { server in
            try await blocking {
                let client = try RawClient(server, receiveBuffer: 4096)
                try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                return (try client.readAnswer(), try client.readAnswer())
            }
        }
        #expect(first.body == body)
        #expect(second.body == body)
    }

    @Test(arguments: [1, 2])
    func `is one of two hundred at the same time`(_ loops: Int) async throws {
        let handler = Answering { request in
            try? await Task.sleep(for: .milliseconds(1))
            return await Answering.echo.respond(to: request)
        }
        try await withServer(
            handler,
            configure: { $0.loops = loops },
            { server in
                let clients = try (0..<200).map { _ in try RawClient(server) }
                for (number, client) in clients.enumerated() {
                    try client.send("GET /\(number) HTTP/1.1\r\nHost: a\r\n\r\nPOST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx")
                }
                let texts = try await blocking { try clients.map { try $0.readAnswer().text + $0.readAnswer().text } }
                #expect(texts == (0..<200).map { "GET /\($0) [] POST / [] x" })
                #expect(server.counters.connectionsOpen == 200)
                #expect(server.counters.requests == 400)
            }
        )
    }
}
