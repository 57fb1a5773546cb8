import HTTPServer
import Testing

/// What must not reach a handler, in the client's own bytes, and the status of the answer.
struct Refused: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let bytes: String
    let status: Int

    init(_ name: String, _ status: Int, _ bytes: String) {
        testDescription = name
        self.bytes = bytes
        self.status = status
    }

    /// A POST whose header lines are these, with nothing after the head.
    static func post(_ name: String, _ status: Int, _ lines: String, body: String = "") -> Refused {
        Refused(name, status, "POST / HTTP/1.1\r\nHost: a\r\n\(lines)\r\n\r\n\(body)")
    }

    static func chunks(_ name: String, _ status: Int, _ body: String) -> Refused {
        post(name, status, "Transfer-Encoding: chunked", body: body)
    }

    static let framing: [Refused] = [
        .post("both length and coding", 400, "Content-Length: 3\r\nTransfer-Encoding: chunked", body: "0\r\n\r\n"),
        .post("both coding and length", 400, "Transfer-Encoding: chunked\r\nContent-Length: 3", body: "0\r\n\r\n"),
        .post("two lengths", 400, "Content-Length: 3\r\nContent-Length: 4", body: "abcd"),
        .post("the same length twice", 400, "Content-Length: 3\r\nContent-Length: 3", body: "abc"),
        .post("a list of lengths", 400, "Content-Length: 3, 3", body: "abc"),
        .post("a signed length", 400, "Content-Length: +5", body: "hello"),
        .post("a negative length", 400, "Content-Length: -5", body: "hello"),
        .post("a hexadecimal length", 400, "Content-Length: 0x5", body: "hello"),
        .post("a length with a space inside", 400, "Content-Length: 1 0", body: "hello"),
        .post("an empty length", 400, "Content-Length:", body: "hello"),
        .post("a length beyond 64 bits", 400, "Content-Length: 99999999999999999999999"),
        .post("an unknown coding", 501, "Transfer-Encoding: gzip"),
        .post("chunked that is not last", 501, "Transfer-Encoding: chunked, gzip"),
        .post("two codings", 501, "Transfer-Encoding: gzip, chunked", body: "0\r\n\r\n"),
        .post("a coding that only ends in chunked", 501, "Transfer-Encoding: xchunked", body: "0\r\n\r\n"),
        .post("identity", 501, "Transfer-Encoding: identity"),
        .post("coding twice", 501, "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", body: "0\r\n\r\n"),
        .post("coding with a vertical tab", 400, "Transfer-Encoding: \u{b}chunked", body: "0\r\n\r\n"),
        Refused("a coding in HTTP/1.0", 400, "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    ]

    static let chunked: [Refused] = [
        .chunks("a chunk size that is no number", 400, "g\r\n"),
        .chunks("a chunk size with a sign", 400, "+3\r\nabc\r\n0\r\n\r\n"),
        .chunks("a chunk size with 0x", 400, "0x3\r\nabc\r\n0\r\n\r\n"),
        .chunks("a chunk size with a space before it", 400, " 3\r\nabc\r\n0\r\n\r\n"),
        .chunks("a chunk size with a space after it", 400, "3 \r\nabc\r\n0\r\n\r\n"),
        .chunks("an empty chunk size", 400, "\r\n"),
        .chunks("a chunk size beyond 32 bits", 400, "100000003\r\nabc\r\n0\r\n\r\n"),
        .chunks("a chunk longer than its size", 400, "3\r\nabcd\r\n0\r\n\r\n"),
        .chunks("a chunk size line that ends in LF", 400, "3\nabc\r\n0\r\n\r\n"),
        .chunks("a chunk extension that ends in LF", 400, "3;a\nabc\r\n0\r\n\r\n"),
        .chunks("a chunk that ends in LF", 400, "3\r\nabc\n0\r\n\r\n"),
        .chunks("a bare CR in a chunk extension", 400, "3;a\rb\r\nabc\r\n0\r\n\r\n"),
        .chunks("endless chunk extensions", 431, "3;\(String(repeating: "a", count: 5000))"),
        .chunks("a trailer without a colon", 400, "0\r\nTrailer\r\n\r\n"),
        .chunks("a folded trailer", 400, "0\r\nTrailer: a\r\n b\r\n\r\n"),
        .chunks("endless trailers", 431, "0\r\n\(String(repeating: "Trailer: a\r\n", count: 500))"),
        .chunks("chunks beyond the limit", 413, "10001\r\n"),
    ]

    static let lines: [Refused] = [
        .post("a space before the colon", 400, "Content-Length : 3", body: "abc"),
        .post("a tab before the colon", 400, "X\t: 3"),
        .post("an empty header name", 400, ": value"),
        .post("a header line without a colon", 400, "Header"),
        .post("a space in a header name", 400, "Bad Name: value"),
        .post("a parenthesis in a header name", 400, "Bad(Name): value"),
        .post("a byte beyond ASCII in a header name", 400, "N\u{e4}me: value"),
        .post("a NUL in a header value", 400, "Name: a\0b"),
        .post("a NUL in a header name", 400, "Na\0me: b"),
        .post("a bare CR in a header value", 400, "Name: a\rb"),
        .post("a bare CR that hides a header", 400, "Name: a\rContent-Length: 3", body: "abc"),
        .post("a control character in a header value", 400, "Name: a\u{1}b"),
        .post("a DEL in a header value", 400, "Name: a\u{7f}b"),
        .post("a folded header line", 400, "Name: a\r\n b"),
        .post("a header line folded by a tab", 400, "Name: a\r\n\tb"),
        Refused("a first header line that is folded", 400, "GET / HTTP/1.1\r\n Host: a\r\n\r\n"),
        .post("a header line that ends in LF", 400, "Name: a\nOther: b"),
        Refused("lines that end in LF", 400, "GET / HTTP/1.1\nHost: a\n\n"),
        Refused("a head that ends in LF", 400, "GET / HTTP/1.1\r\nHost: a\r\n\n"),
        .post("another expectation", 417, "Expect: 200-ok"),
        .post("two expectations", 417, "Expect: 100-continue\r\nExpect: 100-continue"),
    ]

    static let requestLine: [Refused] = [
        Refused("no Host", 400, "GET / HTTP/1.1\r\n\r\n"),
        Refused("two Hosts", 400, "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"),
        Refused("two Hosts in HTTP/1.0", 400, "GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n"),
        Refused("an empty Host", 400, "GET / HTTP/1.1\r\nHost:\r\n\r\n"),
        Refused("a Host with a path", 400, "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"),
        Refused("a list of Hosts", 400, "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n"),
        Refused("the HTTP/2 preface", 505, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        Refused("HTTP/2.0", 505, "GET / HTTP/2.0\r\nHost: a\r\n\r\n"),
        Refused("HTTP/0.9 with a version", 505, "GET / HTTP/0.9\r\n\r\n"),
        Refused("HTTP/0.9", 505, "GET /\r\n"),
        Refused("a version that is no number", 505, "GET / HTTP/x.1\r\nHost: a\r\n\r\n"),
        Refused("another protocol", 400, "GET / HTTQ/1.1\r\nHost: a\r\n\r\n"),
        Refused("a lower-case method", 501, "get / HTTP/1.1\r\nHost: a\r\n\r\n"),
        Refused("a method that http-parser knows and we do not", 501, "PURGE / HTTP/1.1\r\nHost: a\r\n\r\n"),
        Refused("CONNECT", 501, "CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n"),
        Refused("TRACE", 501, "TRACE / HTTP/1.1\r\nHost: a\r\n\r\n"),
        Refused("an unknown method", 501, "FROB / HTTP/1.1\r\nHost: a\r\n\r\n"),
        Refused("an endless method", 501, String(repeating: "A", count: 64)),
        Refused("no method", 400, " / HTTP/1.1\r\nHost: a\r\n\r\n"),
        Refused("a TLS greeting", 400, "\u{16}\u{3}\u{1}\u{0}\u{5}"),
        Refused("many empty lines", 400, "\r\n\r\n\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"),
        Refused("a target that is no path", 400, "GET orders HTTP/1.1\r\nHost: a\r\n\r\n"),
        Refused("a URL without an authority", 400, "GET http:/// HTTP/1.1\r\nHost: a\r\n\r\n"),
        Refused("a star without OPTIONS", 400, "GET * HTTP/1.1\r\nHost: a\r\n\r\n"),
        Refused("a fragment", 400, "GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n"),
        Refused("a target with a byte beyond ASCII", 400, "GET /\u{e4} HTTP/1.1\r\nHost: a\r\n\r\n"),
        Refused("a target with a control character", 400, "GET /\u{1} HTTP/1.1\r\nHost: a\r\n\r\n"),
        Refused("HTTP/12.1", 505, "GET / HTTP/12.1\r\nHost: a\r\n\r\n"),
        Refused("a version with more behind it", 505, "GET / HTTP/1.1x\r\nHost: a\r\n\r\n"),
        Refused("a lower-case version", 400, "GET / http/1.1\r\nHost: a\r\n\r\n"),
        Refused("two spaces before the target", 400, "GET  / HTTP/1.1\r\nHost: a\r\n\r\n"),
        Refused("two spaces before the version", 400, "GET /  HTTP/1.1\r\nHost: a\r\n\r\n"),
        Refused("a space after the version", 505, "GET / HTTP/1.1 \r\nHost: a\r\n\r\n"),
        Refused("a tab for a space", 400, "GET /\tHTTP/1.1\r\nHost: a\r\n\r\n"),
        Refused("a space in the target", 400, "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n"),
        Refused("a broken escape", 400, "GET /a%4 HTTP/1.1\r\nHost: a\r\n\r\n"),
        Refused("an escape that is no number", 400, "GET /a%zz HTTP/1.1\r\nHost: a\r\n\r\n"),
        Refused("an encoded NUL", 400, "GET /a%00 HTTP/1.1\r\nHost: a\r\n\r\n"),
        Refused("an encoded slash", 400, "GET /a%2Fb HTTP/1.1\r\nHost: a\r\n\r\n"),
        Refused("an escape that is no UTF-8", 400, "GET /%ff HTTP/1.1\r\nHost: a\r\n\r\n"),
        Refused("a broken escape in the query", 400, "GET /?a=%4 HTTP/1.1\r\nHost: a\r\n\r\n"),
        Refused("a huge target", 414, "GET /\(String(repeating: "a", count: 9000)) HTTP/1.1\r\nHost: a\r\n\r\n"),
        Refused("an endless target", 414, "GET /\(String(repeating: "a", count: 9000))"),
        .post("a huge header", 431, "Name: \(String(repeating: "a", count: 17_000))"),
        .post("a huge header name", 431, "\(String(repeating: "a", count: 17_000)): a"),
        .post("an endless header", 431, "Name: \(String(repeating: "a", count: 300_000))"),
        .post("too many headers", 431, (1...100).map { "N\($0): a" }.joined(separator: "\r\n")),
        .post("a body beyond the limit", 413, "Content-Length: 65537"),
    ]

    static let all = framing + chunked + lines + requestLine
}

@Suite struct `A request that is refused` {
    @Test(arguments: Refused.all)
    func `gets the right status, is closed, and reaches no handler`(_ row: Refused) async throws {
        try await withServer { server in
            let (answer, rest) = try await blocking {
                let client = try RawClient(server)
                try client.send(row.bytes)
                return (try client.readAnswer(), try client.readToEnd())
            }
            #expect(answer.status == row.status, "\(answer.text)")
            #expect(answer.header("Connection") == "close")
            #expect(answer.header("Content-Type") == "application/problem+json")
            #expect(answer.text.contains("\"status\":\(row.status),"))
            #expect(answer.text.contains(#""code":"malformed_request""#))
            #expect(rest.isEmpty)
            #expect(server.counters.requests == 0)
            #expect(server.counters.requestsRefused == 1)
        }
    }

    @Test(arguments: Refused.all)
    func `is refused alike when it comes byte by byte`(_ row: Refused) async throws {
        if row.bytes.utf8.count > 4000 { return }
        try await withServer { server in
            let status = try await blocking {
                let client = try RawClient(server)
                for byte in row.bytes.utf8 {
                    // The refusal may come before the last byte; what is sent after it is dropped.
                    do { try client.send([byte]) } catch is ClientFailure { break }
                }
                return try client.readAnswer().status
            }
            #expect(status == row.status)
            #expect(server.counters.requests == 0)
        }
    }

    @Test func `can be answered in the program's own words`() async throws {
        let answer = try await withServer(
            configure: { configuration in
                configuration.problem = { status, detail in
                    HTTPResponse(status: status, headers: [("X-Own", "yes")], body: .bytes(Array(detail.utf8)))
                }
            },
            { server in
                try await blocking {
                    let client = try RawClient(server)
                    try client.send("GET / HTTP/1.1\r\n\r\n")
                    return try client.readAnswer()
                }
            }
        )
        #expect(answer.status == 400)
        #expect(answer.header("X-Own") == "yes")
        #expect(answer.text == "Host is missing.")
    }

    @Test func `is answered in plain words when the program's own are unsound`() async throws {
        let answer = try await withServer(
            configure: { $0.problem = { status, _ in HTTPResponse(status: status, headers: [("X-Own", "a\r\nb: c")]) } },
            { server in
                try await blocking {
                    let client = try RawClient(server)
                    try client.send("GET / HTTP/1.1\r\n\r\n")
                    return try client.readAnswer()
                }
            }
        )
        #expect(answer.status == 400)
        #expect(answer.text.contains("malformed_request"))
    }

    @Test func `with a big body can be read by a client that goes on sending`() async throws {
        let (answer, served) = try await withServer { server in
            let answer = try await blocking {
                let client = try RawClient(server)
                let size = 4 << 20
                try client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(size)\r\n\r\n")
                try client.send([UInt8](repeating: 0x61, count: size))
                return try client.readAnswer()
            }
            return (answer, server.counters.requests)
        }
        #expect(answer.status == 413)
        #expect(served == 0)
    }

    @Test func `is not followed by what was pipelined behind it`() async throws {
        try await withServer { server in
            let (first, second, rest) = try await blocking {
                let client = try RawClient(server)
                try client.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\n\r\nGET /3 HTTP/1.1\r\nHost: a\r\n\r\n")
                return (try client.readAnswer(), try client.readAnswer(), try client.readToEnd())
            }
            #expect(first.text == "GET /1 [] ")
            #expect(second.status == 400)
            #expect(rest.isEmpty)
            #expect(server.counters.requests == 1)
        }
    }
}
