import Gateway
import HTTPServer
import OrderDesk
import Trading
import Venue

/// How a setting's text is read.
struct ValueKind<Value: Sendable>: Sendable {
    let placeholder: String
    let expected: String
    /// Nil where the text is no such value.
    let parse: @Sendable (String) -> Value?
}

extension ValueKind where Value == String {
    static func text(_ placeholder: String, _ expected: String) -> Self {
        ValueKind(placeholder: placeholder, expected: expected) { $0.isEmpty ? nil : $0 }
    }

    static let compID = ValueKind(placeholder: "id", expected: "a CompID: 1 to 32 printable ASCII characters without spaces or '='") { text in
        let isPlain = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "=") }
        return isPlain && (1...32).contains(text.utf8.count) ? text : nil
    }
}

extension ValueKind where Value: FixedWidthInteger {
    static func number(_ range: ClosedRange<Value>) -> Self {
        ValueKind(placeholder: "n", expected: "a whole number from \(range.lowerBound) to \(range.upperBound)") { text in
            guard !text.isEmpty, text.utf8.allSatisfy(\.isDigit), let number = Value(text), range.contains(number) else { return nil }
            return number
        }
    }
}

extension ValueKind where Value == Int64 {
    /// In milliseconds.
    static func time(_ range: ClosedRange<Duration>) -> Self {
        let expected = "a time from \(range.lowerBound.settingText) to \(range.upperBound.settingText), such as 500ms, 10s, 5m, 8h or 7d"
        return ValueKind(placeholder: "time", expected: expected) { text in
            guard let time = Duration(setting: text), range.contains(time) else { return nil }
            return time.milliseconds
        }
    }
}

extension ValueKind where Value == Duration {
    static func duration(_ range: ClosedRange<Duration>) -> Self {
        let kind = ValueKind<Int64>.time(range)
        return ValueKind(placeholder: kind.placeholder, expected: kind.expected) { text in kind.parse(text).map { .milliseconds($0) } }
    }
}

extension ValueKind where Value == Amount {
    static let money = ValueKind(placeholder: "usd", expected: "an amount above zero with at most 4 decimals, such as 100000000.00") { text in
        Amount(text).flatMap { $0 > .zero ? $0 : nil }
    }
}

extension ValueKind where Value == Endpoint {
    static let endpoint = ValueKind(placeholder: "host:port", expected: "host:port, such as 10.0.0.5:9880 or [::1]:9880") { Endpoint($0) }
}

extension ValueKind where Value == RateLimit {
    static let rate = ValueKind(placeholder: "n[/burst]", expected: "so many a second and so many at once, such as 200/500, each from 1 to 1000000") {
        text in
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        let number = ValueKind<Int>.number(1...1_000_000)
        guard (1...2).contains(parts.count), let perSecond = number.parse(String(parts[0])) else { return nil }
        guard parts.count == 2 else { return RateLimit(perSecond: perSecond, burst: perSecond) }
        return number.parse(String(parts[1])).map { RateLimit(perSecond: perSecond, burst: $0) }
    }
}

extension ValueKind where Value == [String] {
    static let symbols = ValueKind(placeholder: "list", expected: "'*', or symbols separated by commas, such as NVDA,AAPL") { text in
        if text == "*" { return [text] }
        let symbols = text.split(separator: ",", omittingEmptySubsequences: false).map { String($0) }
        return symbols.allSatisfy { Symbol($0) != nil } && Set(symbols).count == symbols.count ? symbols : nil
    }
}

extension ValueKind where Value == Bool {
    static let yesOrNo = ValueKind(placeholder: "yes|no", expected: "yes or no") { ["yes": true, "no": false][$0] }
}

extension ValueKind where Value == Log.Level {
    static let level = ValueKind(placeholder: "level", expected: Log.Level.allCases.map(\.rawValue).joined(separator: ", ")) {
        Log.Level(rawValue: $0)
    }
}

extension ValueKind where Value == Configuration.CrashPoint {
    static let crashPoint = ValueKind(
        placeholder: "step[:n]",
        expected: "one of \(steps.joined(separator: ", ")), and after a colon the how-many-eth time"
    ) { text in
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { String($0) }
        guard (1...2).contains(parts.count), steps.contains(parts[0]) else { return nil }
        guard parts.count == 2 else { return Configuration.CrashPoint(step: parts[0], occurrence: 1) }
        return ValueKind<Int>.number(1...1_000_000_000).parse(parts[1]).map { Configuration.CrashPoint(step: parts[0], occurrence: $0) }
    }

    private static var steps: [String] { DeskStep.allCases.map(\.rawValue) + VenueStep.allCases.map(\.rawValue) }
}

/// Where something listens.
struct Endpoint: Sendable, Hashable, CustomStringConvertible {
    let host: String
    let port: UInt16

    init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// `host:port`; an IPv6 address stands in brackets.
    init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        let digits = text[text.index(after: colon)...]
        guard !digits.isEmpty, digits.utf8.allSatisfy(\.isDigit), let port = UInt16(digits) else { return nil }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
            guard host.contains(":") else { return nil }
        } else if host.contains(where: { ":[]".contains($0) }) {
            return nil
        }
        guard !host.isEmpty, host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "@") }) else {
            return nil
        }
        self.init(host: String(host), port: port)
    }

    var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

extension Duration {
    /// A whole number and one of `ms`, `s`, `m`, `h`, `d`.
    init?(setting text: String) {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let units: [String: Int64] = ["ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000]
        guard let number = Int64(digits), let unit = units[String(text.dropFirst(digits.count))] else { return nil }
        let (milliseconds, overflow) = number.multipliedReportingOverflow(by: unit)
        guard !overflow else { return nil }
        self = .milliseconds(milliseconds)
    }

    /// Whole milliseconds.
    var milliseconds: Int64 { components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000 }

    /// As `init(setting:)` reads it, in the largest unit that is exact.
    var settingText: String {
        for (name, unit) in [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000)] as [(String, Int64)] {
            if milliseconds > 0, milliseconds % unit == 0 { return "\(milliseconds / unit)\(name)" }
        }
        return "\(milliseconds)ms"
    }
}
