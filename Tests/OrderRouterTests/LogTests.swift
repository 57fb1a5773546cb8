import Foundation
import Synchronization
import Testing

@testable import OrderRouter

@Suite struct `A line of the log` {
    func lines(_ least: Log.Level, _ body: (Log) -> Void) -> [String] {
        let lines = Mutex<[String]>([])
        body(Log(least: least, now: { 1_773_648_000_250 }, write: { line in lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) } }))
        return lines.withLock { $0 }
    }

    @Test func `is one line of keys and values, absent ones left out`() {
        let lines = lines(.info) { $0(.warning, "order_refused", ["request": "r-1", "order": nil, "code": "busy"]) }
        #expect(lines == ["time=2026-03-16T08:00:00.250Z level=warning event=order_refused request=r-1 code=busy\n"])
    }

    @Test func `is left out below the least level`() {
        let lines = lines(.warning) { log in
            for level in Log.Level.allCases { log(level, "e") }
        }
        #expect(lines.count == 2)
    }

    @Test func `has the time as ISO 8601 writes it`() {
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        var random = SystemRandomNumberGenerator()
        let edges: [Int64] = [0, 1, 999, 1_000, 86_399_999, 86_400_000, 951_782_399_999, 951_782_400_000, 4_102_444_799_999, 253_402_300_799_999]
        for milliseconds in edges + (0..<2_000).map({ _ in Int64.random(in: 0...253_402_300_799_999, using: &random) }) {
            var written: [UInt8] = []
            Log.appendTime(milliseconds, to: &written)
            // Half a millisecond more, because the style cuts off and the date is a binary fraction.
            let date = Date(timeIntervalSince1970: (Double(milliseconds) + 0.5) / 1_000)
            #expect(String(decoding: written, as: UTF8.self) == date.formatted(style))
        }
    }

    @Test(arguments: [
        ("plain-value:1/2", "plain-value:1/2"), ("", "\"\""), ("two words", "\"two words\""), ("a=b", "\"a=b\""), ("say \"x\"", "\"say \\\"x\\\"\""),
        ("a\\b", "\"a\\\\b\""), ("x\nlevel=error", "\"x\\nlevel=error\""), ("\r\t", "\"\\r\\t\""), ("\u{1B}[2J", "\"\\u{1b}[2J\""),
        ("\u{2028}\u{202E}", "\"\\u{2028}\\u{202e}\""), ("é", "\"é\""), ("\u{85}", "\"\\u{85}\""),
    ])
    func `cannot be broken or forged by a value`(_ value: String, _ written: String) {
        #expect(Log.quoted(value) == written)
        let line = lines(.info) { $0(.info, "e", ["v": value]) }
        #expect(line.count == 1 && line[0].split(whereSeparator: \.isNewline).count == 1)
    }
}
