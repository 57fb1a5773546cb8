import Foundation
import Glibc
import HTTPServer
import Testing

@Suite struct `A limit` {
    static let request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

    static func quick(_ configuration: inout HTTPConfiguration) {
        configuration.sweepInterval = .milliseconds(5)
    }

    @Test(arguments: ["G", "GET / HTTP/1.1\r\nHost", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc"])
    func `on time ends a request that does not come to its end`(_ part: String) async throws {
        try await withServer(
            configure: {
                Self.quick(&$0)
                $0.requestTimeout = .milliseconds(30)
            },
            { server in
                let (answer, rest) = try await blocking {
                    let client = try RawClient(server)
                    try client.send(part)
                    return (try client.readAnswer(), try client.readToEnd())
                }
                #expect(answer.status == 408)
                #expect(rest.isEmpty)
                #expect(server.counters.requests == 0)
            }
        )
    }

    @Test func `on time ends a sender that never pauses`() async throws {
        let status = try await withServer(
            configure: {
                Self.quick(&$0)
                $0.requestTimeout = .milliseconds(50)
            },
            { server in
                try await blocking {
                    let client = try RawClient(server)
                    try client.send("GET / HTTP/1.1\r\nX: ")
                    // Byte by byte, until the server says that it is over.
                    while client.hasNothingToRead(milliseconds: 1) { try client.send("x") }
                    return try client.readAnswer().status
                }
            }
        )
        #expect(status == 408)
    }

    @Test func `on time closes a silent connection without a word`() async throws {
        try await withServer(
            configure: {
                Self.quick(&$0)
                $0.requestTimeout = .milliseconds(20)
                $0.idleTimeout = .milliseconds(20)
            },
            { server in
                let (silent, answer, rest) = try await blocking {
                    let silent = try RawClient(server).readToEnd()
                    let client = try RawClient(server)
                    try client.send(Self.request)
                    return (silent, try client.readAnswer(), try client.readToEnd())
                }
                #expect(silent.isEmpty)
                #expect(answer.status == 200)
                #expect(rest.isEmpty)
            }
        )
    }

    @Test func `on time does not end a handler`() async throws {
        let swept = Signal()
        let handler = Answering { request in
            if request.path == "/slow" { await swept.wait() }
            return HTTPResponse(status: 200)
        }
        try await withServer(
            handler,
            configure: {
                Self.quick(&$0)
                $0.requestTimeout = .milliseconds(10)
                $0.idleTimeout = .milliseconds(10)
            },
            { server in
                let slow = try RawClient(server)
                try slow.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
                try await eventually { server.counters.requests == 1 }
                // That another one was closed for its silence shows that deadlines were looked at.
                let silent = try RawClient(server)
                _ = try await blocking { try silent.readToEnd() }
                swept.fire()
                #expect(try await blocking { try slow.readAnswer().status } == 200)
            }
        )
    }

    @Test func `on time ends a client that takes nothing`() async throws {
        let handler = Answering { _ in HTTPResponse(status: 200, body: .bytes([UInt8](repeating: 0x61, count: 16 << 20))) }
        try await withServer(
            handler,
            configure: {
                Self.quick(&$0)
                $0.writeTimeout = .milliseconds(50)
            },
            { server in
                let client = try RawClient(server, receiveBuffer: 4096)
                try client.send(Self.request)
                try await eventually { server.counters.bytesSent > 0 && server.counters.connectionsOpen == 0 }
            }
        )
    }

    @Test func `on the connections of one address turns the next one away`() async throws {
        try await withServer(
            configure: { $0.maximumConnectionsPerAddress = 2 },
            { server in
                let (first, second) = (try RawClient(server), try RawClient(server))
                try await eventually { server.counters.connectionsOpen == 2 }
                let third = try RawClient(server)
                let answer = try await blocking { try third.readAnswer() }
                #expect(answer.status == 503)
                #expect(answer.text.contains("busy"))
                #expect(server.counters.connectionsRefused == 1)
                first.vanish()
                try await eventually { server.counters.connectionsOpen == 1 }
                let fourth = try RawClient(server)
                try fourth.send(Self.request)
                try second.send(Self.request)
                #expect(try await blocking { [try fourth.readAnswer().status, try second.readAnswer().status] } == [200, 200])
            }
        )
    }

    @Test func `on all connections makes the next one wait`() async throws {
        try await withServer(
            configure: { $0.maximumConnections = 2 },
            { server in
                let (first, second) = (try RawClient(server), try RawClient(server))
                try await eventually { server.counters.connectionsOpen == 2 }
                let third = try RawClient(server)
                try third.send(Self.request)
                try first.send(Self.request)
                #expect(try await blocking { try first.readAnswer().status } == 200)
                #expect(third.hasNothingToRead())
                #expect(server.counters.connectionsOpen == 2)
                second.vanish()
                #expect(try await blocking { try third.readAnswer().status } == 200)
            }
        )
    }

    @Test func `that makes no sense is refused at start`() {
        func code(_ change: (inout HTTPConfiguration) -> Void) -> HTTPError.Code? {
            var configuration = HTTPConfiguration()
            change(&configuration)
            do {
                _ = try HTTPListener(configuration, handler: Answering.echo)
                return nil
            } catch { return error.code }
        }
        #expect(code { $0.loops = 0 } == .configuration)
        #expect(code { $0.maximumHeaderBytes = 1 << 20 } == .configuration)
        #expect(code { $0.requestTimeout = .zero } == .configuration)
        #expect(code { $0.host = "not an address" } == .listen)
        #expect(code { $0.host = "192.0.2.1" } == .listen)
    }

    @Test func `on one port is held by the first`() async throws {
        try await withServer { server in
            var configuration = HTTPConfiguration()
            configuration.port = server.port
            let error = #expect(throws: HTTPError.self) { try HTTPListener(configuration, handler: Answering.echo) }
            #expect(error?.code == .listen)
            #expect(error?.operation.contains("port \(server.port)") == true)
        }
    }
}
