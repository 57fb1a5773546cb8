import Foundation
import HTTPServer
import Testing

@Suite struct `A request` {
    static func ask(_ text: String, configure: (inout HTTPConfiguration) -> Void = { _ in }) async throws -> Answer {
        try await withServer(configure: configure) { server in
            try await blocking {
                let client = try RawClient(server)
                try client.send(text)
                return try client.readAnswer()
            }
        }
    }

    @Test func `is answered with length, date and body`() async throws {
        let answer = try await Self.ask("GET /v1/trading/orders?status=OPEN&limit=5 HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(answer.status == 200)
        #expect(answer.text == "GET /v1/trading/orders [status=OPEN,limit=5] ")
        #expect(answer.header("Content-Length") == String(answer.body.count))
        #expect(answer.header("Content-Type") == "text/plain")
        #expect(answer.header("Connection") == nil)
        let date = try #require(answer.header("Date"))
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(identifier: "GMT")
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        let parsed = try #require(format.date(from: date))
        #expect(abs(parsed.timeIntervalSinceNow) < 60)
        #expect(format.string(from: parsed) == date)
    }

    @Test(arguments: [
        ("/a/b%20c?x=1&y=%26+z&flag", "GET /a/b c [x=1,y=& z,flag=] "),
        ("/%E2%82%AC", "GET /€ [] "),
        ("/?", "GET / [] "),
        ("/?a=b=c&&d", "GET / [a=b=c,d=] "),
        ("/a?b=%2F?/", "GET /a [b=/?/] "),
        ("//a/../b", "GET //a/../b [] "),
        ("http://host:80/a?b", "GET /a [b=] "),
        ("HTTPS://host", "GET / [] "),
        ("http://host?b=1", "GET / [b=1] "),
    ])
    func `has its target taken apart and decoded`(_ target: String, _ text: String) async throws {
        let answer = try await Self.ask("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(answer.status == 200)
        #expect(answer.text == text)
    }

    @Test(arguments: ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
    func `of a known method reaches the handler`(_ method: String) async throws {
        let answer = try await Self.ask("\(method) /a HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(answer.text == "\(method) /a [] ")
    }

    @Test func `may ask for the options of the whole server`() async throws {
        #expect(try await Self.ask("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n").text == "OPTIONS * [] ")
    }

    @Test func `that would upgrade is answered in HTTP/1.1`() async throws {
        let texts = try await withServer { server in
            try await blocking {
                let client = try RawClient(server)
                let upgrade = "Host: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nContent-Length: 2\r\n\r\nhi"
                try client.send("POST /1 HTTP/1.1\r\n\(upgrade)POST /2 HTTP/1.1\r\n\(upgrade)")
                return [try client.readAnswer().text, try client.readAnswer().text]
            }
        }
        #expect(texts == ["POST /1 [] hi", "POST /2 [] hi"])
    }

    @Test func `may follow an empty line`() async throws {
        #expect(try await Self.ask("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n").status == 200)
    }

    @Test func `brings its body by length or in chunks`() async throws {
        let fixed = try await Self.ask("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello")
        #expect(fixed.text == "POST /a [] hello")
        let chunked = try await Self.ask(
            "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n3\r\nhel\r\n02;name=\"v\"\r\nlo\r\n0\r\nTrailer: x\r\n\r\n"
        )
        #expect(chunked.text == "POST /a [] hello")
        let empty = try await Self.ask("POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
        #expect(empty.text == "POST /a [] ")
    }

    @Test func `may be exactly as large as the limits allow`() async throws {
        let body = String(repeating: "b", count: 65_536)
        let answer = try await Self.ask("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 65536\r\n\r\n\(body)")
        #expect(answer.body.count == "POST / [] ".utf8.count + 65_536)
        let chunked = try await Self.ask("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n10000\r\n\(body)\r\n0\r\n\r\n")
        #expect(chunked.body == answer.body)
        let target = "/" + String(repeating: "a", count: 8191)
        #expect(try await Self.ask("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n").text == "GET \(target) [] ")
        let lines = (1...99).map { "N\($0): a" }.joined(separator: "\r\n")
        #expect(try await Self.ask("GET / HTTP/1.1\r\nHost: a\r\n\(lines)\r\n\r\n").status == 200)
        #expect(try await Self.ask("GET / HTTP/1.1\r\nHost: a\r\nN: \(String(repeating: "v", count: 16_000))\r\n\r\n").status == 200)
    }

    @Test func `shows its headers in any case, trimmed, each line apart`() async throws {
        let handler = Answering { request in
            let parts = [
                request.headers.first("x-one") ?? "-", request.headers.first("X-ONE") ?? "-", request.headers.first("x-none") ?? "-",
                request.headers.all("X-Many").joined(separator: "|"), request.headers.first("x-empty") ?? "-", "\(request.headers.count)",
            ]
            return HTTPResponse(status: 200, body: .bytes(Array(parts.joined(separator: ";").utf8)))
        }
        let text = try await withServer(handler) { server in
            try await blocking {
                let client = try RawClient(server)
                try client.send("GET / HTTP/1.1\r\nHost: a\r\nX-One: \t v w \t\r\nX-MANY: 1\r\nx-many:2\r\nX-Empty:  \r\n\r\n")
                return try client.readAnswer().text
            }
        }
        #expect(text == "v w;v w;-;1|2;;5")
    }

    @Test func `knows its peer and its own number`() async throws {
        let handler = Answering { HTTPResponse(status: 200, body: .bytes(Array("\($0.peerAddress) \($0.id)".utf8))) }
        let texts = try await withServer(handler) { server in
            try await blocking {
                let client = try RawClient(server)
                return try (1...2).map { _ in
                    try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                    return try client.readAnswer().text
                }
            }
        }
        #expect(texts == ["127.0.0.1 1", "127.0.0.1 2"])
    }

    static let splittable =
        "POST /a?b=c%20d HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nX: y\r\n\r\nhello"
        + "PUT /e HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nT: u\r\n\r\n"

    @Test func `is the same wherever it is split`() async throws {
        try await withServer { server in
            let answers = try await blocking {
                let bytes = Array(Self.splittable.utf8)
                return try (1..<bytes.count).map { split in
                    let client = try RawClient(server)
                    try client.send(Array(bytes[..<split]))
                    try client.send(Array(bytes[split...]))
                    return try client.readAnswer().text + "&" + client.readAnswer().text
                }
            }
            #expect(Set(answers) == ["POST /a [b=c d] hello&PUT /e [] abcde"])
            #expect(answers.count == Self.splittable.utf8.count - 1)
        }
    }

    @Test func `is the same when it comes byte by byte`() async throws {
        let texts = try await withServer { server in
            try await blocking {
                let client = try RawClient(server)
                for byte in Self.splittable.utf8 { try client.send([byte]) }
                return [try client.readAnswer().text, try client.readAnswer().text]
            }
        }
        #expect(texts == ["POST /a [b=c d] hello", "PUT /e [] abcde"])
    }

    @Test func `that expects 100 gets it before its body`() async throws {
        try await withServer { server in
            let (head, answer) = try await blocking {
                let client = try RawClient(server)
                try client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 5\r\n\r\n")
                let head = try client.readHead()
                try client.send("hello")
                return (head, try client.readAnswer())
            }
            #expect(head.status == 100)
            #expect(answer.text == "POST / [] hello")
        }
    }

    @Test func `that expects 100 and is too large gets its refusal instead`() async throws {
        let answer = try await Self.ask("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 99999\r\n\r\n")
        #expect(answer.status == 413)
    }

    @Test func `that expects 100 and brings its body is answered without`() async throws {
        let answer = try await Self.ask("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nhi")
        #expect(answer.text == "POST / [] hi")
    }
}
