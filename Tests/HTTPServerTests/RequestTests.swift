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

    @Test func `brings its body by length or in chunks`() async throws {
        let fixed = try await Self.ask("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello")
        #expect(fixed.text == "POST /a [] hello")
        let chunked = try await Self.ask(
            "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n02;name=\"v\"\r\nlo\r\n0\r\nTrailer: x\r\n\r\n"
        )
        #expect(chunked.text == "POST /a [] hello")
    }
}
