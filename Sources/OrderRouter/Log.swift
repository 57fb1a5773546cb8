import FIX
import Glibc
import Trading

/// One line an event: `time=… level=… event=…` and then what belongs to it, as key=value. Never a token, a key or a signature.
///
/// A line is handed on whole, with one call, so that lines of several threads never mix.
struct Log: Sendable {
    enum Level: String, Sendable, CaseIterable, Comparable {
        case debug
        case info
        case warning
        case error

        static func < (left: Level, right: Level) -> Bool { left.rank < right.rank }

        private var rank: Int {
            switch self {
            case .debug: 0
            case .info: 1
            case .warning: 2
            case .error: 3
            }
        }
    }

    private let least: Level
    private let now: @Sendable () -> Int64
    private let write: @Sendable ([UInt8]) -> Void

    /// - Parameters:
    ///   - now: milliseconds since the epoch.
    ///   - write: takes one line in UTF-8, its LF included.
    init(
        least: Level,
        now: @escaping @Sendable () -> Int64 = SessionClock.system.wall,
        write: @escaping @Sendable ([UInt8]) -> Void = { Log.write($0, to: 2) }
    ) {
        self.least = least
        self.now = now
        self.write = write
    }

    /// - Parameters:
    ///   - event: what happened, in snake_case.
    ///   - fields: nil values are left out. Not looked at where the level is too low.
    func callAsFunction(_ level: Level, _ event: String, _ fields: @autoclosure () -> KeyValuePairs<String, String?> = [:]) {
        guard level >= least else { return }
        write(Self.line(level, event, fields(), at: now()))
    }

    /// - Parameter now: milliseconds since the epoch.
    static func line(_ level: Level, _ event: String, _ fields: KeyValuePairs<String, String?>, at now: Int64) -> [UInt8] {
        var line: [UInt8] = []
        line.reserveCapacity(384)
        line.append(contentsOf: "time=".utf8)
        appendTime(now, to: &line)
        line.append(contentsOf: " level=".utf8)
        line.append(contentsOf: level.rawValue.utf8)
        line.append(contentsOf: " event=".utf8)
        appendQuoted(event, to: &line)
        for (name, value) in fields {
            guard let value else { continue }
            line.append(UInt8(ascii: " "))
            line.append(contentsOf: name.utf8)
            line.append(UInt8(ascii: "="))
            appendQuoted(value, to: &line)
        }
        line.append(UInt8(ascii: "\n"))
        return line
    }

    /// ISO 8601 in UTC with milliseconds: `2026-03-16T08:00:00.250Z`. Whole numbers alone, because every request has a line.
    static func appendTime(_ milliseconds: Int64, to line: inout [UInt8]) {
        let date = CivilDate(millisecondsSinceEpoch: milliseconds)
        let ofDay = Int(((milliseconds % 86_400_000) + 86_400_000) % 86_400_000)
        func append(_ number: Int, _ width: Int, _ end: Unicode.Scalar) {
            var power = 1
            for _ in 1..<width { power *= 10 }
            while power > 0 {
                line.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / power % 10))
                power /= 10
            }
            line.append(UInt8(ascii: end))
        }
        append(date.year, 4, "-")
        append(date.month, 2, "-")
        append(date.day, 2, "T")
        append(ofDay / 3_600_000, 2, ":")
        append(ofDay / 60_000 % 60, 2, ":")
        append(ofDay / 1_000 % 60, 2, ".")
        append(ofDay % 1_000, 3, "Z")
    }

    private static func appendQuoted(_ value: String, to line: inout [UInt8]) {
        var value = value
        let isWritten = value.withUTF8 { bytes in
            guard unsafe !bytes.isEmpty && bytes.allSatisfy(isPlain) else { return false }
            unsafe line.append(contentsOf: bytes)
            return true
        }
        if !isWritten { line.append(contentsOf: quoted(value).utf8) }
    }

    /// What needs no quotes around it.
    private static func isPlain(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "=") && byte != UInt8(ascii: "\\")
    }

    /// As it is, or between quotes with what would break the line escaped: a value from outside cannot forge another line or field.
    static func quoted(_ value: String) -> String {
        if !value.isEmpty && value.utf8.allSatisfy(isPlain) { return value }
        var text = "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case _
            where scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format
                || scalar.properties.generalCategory == .lineSeparator || scalar.properties.generalCategory == .paragraphSeparator:
                text += "\\u{" + String(scalar.value, radix: 16) + "}"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text + "\""
    }

    static func writeToStandardError(_ text: String) { write(Array(text.utf8), to: 2) }

    /// All of it, unless whoever reads it has gone: then there is nobody left to tell.
    static func write(_ bytes: [UInt8], to descriptor: Int32) {
        var start = 0
        while start < bytes.count {
            let count = unsafe bytes[start...].withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 { start += count }
            if count >= 0 || errno == EINTR { continue }
            guard errno == EAGAIN else { return }
            // Somebody made the descriptor non-blocking for all who share it.
            var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            unsafe poll(&room, 1, -1)
        }
    }
}

/// Writes a command's answer to the standard output, at once also where that is a file or a pipe: whoever waits for the line must see it.
func say(_ text: String, terminator: String = "\n") { Log.write(Array((text + terminator).utf8), to: 1) }
