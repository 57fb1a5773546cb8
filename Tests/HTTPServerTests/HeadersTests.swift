import Testing

@testable import HTTPServer

@Suite struct `Headers` {
    let headers = HTTPHeaders([("Content-Type", "application/json"), ("X-Many", "1"), ("x-many", "2"), ("X-Empty", "")])

    @Test func `are found in any case`() {
        #expect(headers.first("content-type") == "application/json")
        #expect(headers.first("CONTENT-TYPE") == "application/json")
        #expect(headers.first("content-typ") == nil)
        #expect(headers.first("content-type2") == nil)
        #expect(headers.first("x-empty")?.isEmpty == true)
    }

    @Test func `keep each line apart and in order`() {
        #expect(headers.all("X-MANY") == ["1", "2"])
        #expect(headers.all("none").isEmpty)
        #expect(headers.count == 4)
        #expect(headers.list.map(\.name) == ["content-type", "x-many", "x-many", "x-empty"])
    }

    @Test(arguments: [("CONTENT-type", 1, "application/json"), ("x-MANY", 2, "1"), ("X-Empty", 1, ""), ("none", 0, "")])
    func `are counted, with the first one's bytes`(_ name: String, _ count: Int, _ value: String) {
        let found = headers.single(name)
        #expect(found.count == count && Array(found.value) == Array(value.utf8))
    }
}

@Suite struct `The lines of a head` {
    /// RFC 9112 sections 2.2 and 5.2, written down plainly: a line ends in CR LF, neither comes alone, and no line begins with white space.
    private static func areSound(_ text: [UInt8]) -> Bool {
        zip(text.dropFirst(), text).allSatisfy { byte, last in
            (byte == 0x0A) == (last == 0x0D) && !(last == 0x0A && (byte == 0x20 || byte == 0x09))
        }
    }

    @Test func `are taken as the rule says, in whatever pieces they come`() {
        var random = SystemRandomNumberGenerator()
        let words: [[UInt8]] = [[0x0D, 0x0A], [0x0D, 0x0A], [0x0D], [0x0A], [0x20], [0x09], Array("a: bc".utf8), Array("x".utf8)]
        var sound = 0
        for _ in 0..<5_000 {
            let text = Array("/ HTTP/1.1\r\n".utf8) + (0..<6).flatMap { _ in words.randomElement(using: &random) ?? [] }
            var lines = HeadLines()
            var isTaken = true
            var start = 0
            do {
                while start < text.count {
                    let end = Int.random(in: (start + 1)...text.count, using: &random)
                    try unsafe Array(text[start..<end]).withUnsafeBytes { unsafe try lines.check($0) }
                    start = end
                }
            } catch {
                isTaken = false
            }
            #expect(isTaken == Self.areSound(text), "\(text)")
            sound += isTaken ? 1 : 0
        }
        #expect((100..<4_900).contains(sound))
    }
}
