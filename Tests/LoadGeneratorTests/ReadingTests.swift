import Cryptography
import Testing
import Trading
import Wire

@testable import LoadGenerator

@Suite struct `The reader of answers` {
    private func read(_ text: String) -> ResponseReader.Outcome {
        let bytes = Array(text.utf8)
        return ResponseReader.head(bytes, 0, bytes.count)
    }

    @Test func `finds status, length, repetition and the end of the connection`() {
        let head =
            "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\ncontent-LENGTH: 17\r\nIdempotency-Replayed: true\r\nConnection: close\r\n\r\n"
        let expected = ResponseReader.Head(status: 201, bodyStart: head.utf8.count, bodyCount: 17, isReplayed: true, closes: true)
        #expect(read(head + "{}") == .head(expected))
    }

    @Test func `waits for a head that has not all come, wherever it is cut`() {
        let head = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n"
        let bytes = Array(head.utf8)
        for count in bytes.indices { #expect(ResponseReader.head(bytes, 0, count) == .incomplete) }
        #expect(read(head) == .head(ResponseReader.Head(status: 503, bodyStart: head.utf8.count, bodyCount: 0)))
    }

    @Test func `does not take something else for an answer`() {
        #expect(read("SSH-2.0-OpenSSH_9.2p1 Debian") == .malformed)
        #expect(read("HTTP/1.1 2x1 Created\r\n\r\n") == .malformed)
    }

    @Test func `reads an order's digest back from its id`() throws {
        let account = try #require(AccountID("acc_1"))
        let key = try #require(IdempotencyKey("018e3d2a-7f12-7000-8000-123456789abc"))
        let digest = sha256(SignedForm.orderIdentityText(account: account, key: key))
        let text = Array(OrderID(key: key, digest: digest).text.utf8)
        #expect(OrderDigest.read(text, 0, text.count) == OrderDigest.of(digest))
        #expect(OrderDigest.read(text, 0, text.count - 1) == nil)
    }

    @Test func `tells bodies apart that differ in one byte`() {
        let body = Array(#"{"order_id":"ord_20260916_abc","status":"ACCEPTED"}"#.utf8)
        let fingerprint = ByteSearch.fingerprint(body, 0, body.count)
        #expect(fingerprint == ByteSearch.fingerprint([0] + body, 1, body.count + 1))
        for place in body.indices {
            var other = body
            other[place] ^= 1
            #expect(ByteSearch.fingerprint(other, 0, other.count) != fingerprint)
        }
        #expect(ByteSearch.fingerprint(body, 0, body.count - 1) != fingerprint)
    }
}

@Suite struct `The index of orders` {
    @Test func `finds what was put in, also after it has grown, and nothing else`() {
        var index = OrderIndex(capacity: 4)
        for number in 0..<5_000 { index.insert(UInt64(number) &* 0x9E37_79B9_7F4A_7C15, number) }
        for number in 0..<5_000 { #expect(index[UInt64(number) &* 0x9E37_79B9_7F4A_7C15] == number) }
        #expect(index[1] == nil)
    }
}

@Suite struct `The scanner of event streams` {
    private static let text = [
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
        "1f\r\n: stream of acc_1\nretry: 1000\n\n\r\n",
        "2a0\r\nid: 7-1\ndata: {\"type\":\"accepted\",\"at\":1,\"order\":{\"order_id\":\"\(id("a"))\",\"status\":\"ACCEPTED\"}}\n\n",
        "id: 7-2\ndata: {\"type\":\"fill\",\"at\":1,\"last_quantity\":5,\"last_price\":1.00,\"order\":{\"order_id\":\"\(id("b"))\"}}\n\n\r\n",
        "1a\r\nid: 7-3\ndata: {\"type\":\"fill\",\"at\":1,\"last_quantity\":5,\"last_price\":1.00,\"order\":{\"order_id\":\"\(id("c"))\"}}\n\n\r\n",
    ].joined()

    private static func id(_ letter: String) -> String { "ord_20260916_" + String(repeating: letter, count: 26) }

    private static func digest(_ letter: String) -> UInt64? {
        let text = Array(id(letter).utf8)
        return OrderDigest.read(text, 0, text.count)
    }

    @Test(arguments: [1, 2, 7, 64, 100_000])
    func `finds each fill once, however the bytes are cut`(_ portion: Int) {
        var scanner = EventScanner()
        var fills: [UInt64?] = []
        let bytes = Array(Self.text.utf8)
        for start in stride(from: 0, to: bytes.count, by: portion) {
            let part = Array(bytes[start..<min(bytes.count, start + portion)])
            scanner.take(part, part.count) { fills.append($0) }
        }
        #expect(fills == [Self.digest("b"), Self.digest("c")])
        #expect(scanner.isOpen)
        #expect(String(decoding: scanner.lastID, as: UTF8.self) == "7-3")
    }

    @Test func `tells of a stream that is refused`() {
        var scanner = EventScanner()
        let bytes = Array("HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\n{}".utf8)
        scanner.take(bytes, bytes.count) { _ in Issue.record("nothing was filled") }
        #expect(scanner.refusal == 401)
        #expect(!scanner.isOpen)
    }
}
