import Foundation
import Glibc
import Synchronization

/// One line an event: `time=… level=… event=…` and then what belongs to it, as key=value. Never a token, a key or a signature.
///
/// A line is written whole, with one call, so that lines of several threads never mix.
struct Log: Sendable {
    enum Level: String, Sendable, CaseIterable, Comparable {
        case debug
        case info
        case warning
        case error

        static func < (left: Level, right: Level) -> Bool { left.rank < right.rank }

        private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    private let least: Level
    private let now: @Sendable () -> Date
    private let write: @Sendable (String) -> Void

    /// - Parameter write: takes one line, its LF included; it may block as long as the reader of the log does.
    init(
        least: Level,
        now: @escaping @Sendable () -> Date = { Date() },
        write: @escaping @Sendable (String) -> Void = Log.writeToStandardError
    ) {
        self.least = least
        self.now = now
        self.write = write
    }

    /// - Parameters:
    ///   - event: what happened, in snake_case.
    ///   - fields: nil values are left out.
    func callAsFunction(_ level: Level, _ event: String, _ fields: KeyValuePairs<String, String?> = [:]) {
        guard level >= least else { return }
        var line = "time=\(now().formatted(Self.timeStyle)) level=\(level.rawValue) event=\(Self.quoted(event))"
        for (name, value) in fields {
            if let value { line += " \(name)=\(Self.quoted(value))" }
        }
        write(line + "\n")
    }

    private static let timeStyle = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    /// As it is, or between quotes with what would break the line escaped: a value from outside cannot forge another line or field.
    static func quoted(_ value: String) -> String {
        let isPlain =
            !value.isEmpty && value.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value < 0x7F && $0 != "\"" && $0 != "=" && $0 != "\\" }
        if isPlain { return value }
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

    static func writeToStandardError(_ line: String) { write(line, to: 2) }

    fileprivate static func write(_ text: String, to descriptor: Int32) {
        let bytes = Array(text.utf8)
        var start = 0
        while start < bytes.count {
            let count = unsafe bytes[start...].withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            // Whoever read it has gone: there is nobody left to tell.
            if count < 0 && errno != EINTR { return }
            if count > 0 { start += count }
        }
    }
}

/// Writes a command's answer to the standard output, at once also where that is a file or a pipe: whoever waits for the line must see it.
func say(_ text: String, terminator: String = "\n") { Log.write(text + terminator, to: 1) }
