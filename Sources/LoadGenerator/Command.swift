/// One command: how it is called, and what it does.
struct Command: Sendable {
    struct Flag: Sendable {
        enum Use: Sendable {
            case optional
            case required
            /// May be given several times.
            case repeated
            /// Stands alone.
            case mark
        }

        let name: String
        let placeholder: String
        let use: Use
        let meaning: String

        init(_ name: String, _ meaning: String) { (self.name, placeholder, use, self.meaning) = (name, "", .mark, meaning) }

        init(_ name: String, _ placeholder: String, _ use: Use, _ meaning: String) {
            (self.name, self.placeholder, self.use, self.meaning) = (name, placeholder, use, meaning)
        }
    }

    let name: String
    let summary: String
    let flags: [Flag]
    /// What else there is to know, for help.
    let details: String
    let run: @Sendable (Arguments) async throws -> ExitCode

    init(_ name: String, _ summary: String, flags: [Flag], details: String = "", run: @escaping @Sendable (Arguments) async throws -> ExitCode) {
        (self.name, self.summary, self.flags, self.details, self.run) = (name, summary, flags, details, run)
    }
}

/// What a command was called with, checked against what it takes: `--flag value` or `--flag=value`, in any order.
struct Arguments: Sendable {
    private var values: [String: [String]] = [:]

    /// - Throws: an unknown or repeated flag, a value that is missing or too many, a required one that is absent.
    init(_ words: [String], of command: Command) throws(UsageError) {
        var rest = words[...]
        while let word = rest.popFirst() {
            guard word.hasPrefix("--") else { throw UsageError("'\(word)' has no place here. See load-generator \(command.name) --help.") }
            let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { String($0) }
            guard let flag = command.flags.first(where: { $0.name == parts[0] }) else {
                throw UsageError("load-generator \(command.name) has no flag --\(parts[0]). See load-generator \(command.name) --help.")
            }
            try take(flag, parts.count == 2 ? parts[1] : nil, &rest)
        }
        for flag in command.flags {
            if case .required = flag.use, values[flag.name] == nil {
                throw UsageError("--\(flag.name) is missing. \(flag.meaning) See load-generator \(command.name) --help.")
            }
        }
    }

    private mutating func take(_ flag: Command.Flag, _ attached: String?, _ rest: inout ArraySlice<String>) throws(UsageError) {
        if case .mark = flag.use {
            guard attached == nil else { throw UsageError("--\(flag.name) takes no value.") }
            values[flag.name] = [""]
            return
        }
        if values[flag.name] != nil {
            guard case .repeated = flag.use else { throw UsageError("--\(flag.name) is given twice.") }
        }
        guard let value = attached ?? rest.popFirst(), !value.hasPrefix("--") else { throw UsageError("--\(flag.name) needs a value.") }
        values[flag.name, default: []].append(value)
    }

    func has(_ flag: String) -> Bool { values[flag] != nil }

    func value(_ flag: String) -> String? { values[flag]?.last }

    func all(_ flag: String) -> [String] { values[flag] ?? [] }

    /// A flag's value read as something else; nil where it was not given.
    ///
    /// - Throws: where it is given and wrong.
    func parsed<Value>(_ flag: String, _ expected: String, _ parse: (String) -> Value?) throws(UsageError) -> Value? {
        guard let text = value(flag) else { return nil }
        guard let value = parse(text) else { throw UsageError("--\(flag) is '\(text)': expected is \(expected).") }
        return value
    }

    func number(_ flag: String, _ range: ClosedRange<Int>) throws(UsageError) -> Int? {
        try parsed(flag, "a whole number from \(range.lowerBound) to \(range.upperBound)") { Int($0).flatMap { range.contains($0) ? $0 : nil } }
    }

    /// A part of the whole, 0 to 1.
    func share(_ flag: String) throws(UsageError) -> Double? {
        try parsed(flag, "a share from 0 to 1, such as 0.2") { Double($0).flatMap { (0...1).contains($0) ? $0 : nil } }
    }

    /// Nanoseconds of `250ms`, `3s` or `10m`.
    func time(_ flag: String) throws(UsageError) -> Int64? {
        try parsed(flag, "a time such as 250ms, 3s or 10m") { text in
            for (suffix, factor) in [("ms", 1_000_000), ("s", 1_000_000_000), ("m", 60_000_000_000)] as [(String, Int64)]
            where text.hasSuffix(suffix) {
                guard let amount = Int64(text.dropLast(suffix.count)), (0...1_000_000).contains(amount) else { return nil }
                return amount * factor
            }
            return nil
        }
    }
}

/// What `--help` prints.
enum Help {
    private static let width = 100

    static func overview(_ commands: [Command]) -> String {
        let longest = commands.map(\.name.count).max() ?? 0
        var text = "load-generator: signed orders for an order-router over real connections, followed to the venue and back.\n\n"
        text += "usage: load-generator <command> [flags]\n\n"
        for command in commands { text += entry(command.name, command.summary, column: longest + 4) }
        return text + "\nload-generator <command> --help says more about each.\n\n" + exitCodes
    }

    static func text(_ command: Command) -> String {
        let usage = "usage: load-generator \(command.name)" + command.flags.map { " " + form($0) }.joined()
        var text = wrap(command.summary, indent: 0) + "\n\n" + wrap(usage, indent: 4, first: 0) + "\n\n"
        for flag in command.flags {
            text += entry("--\(flag.name)\(flag.placeholder.isEmpty ? "" : " <\(flag.placeholder)>")", flag.meaning, column: 30)
        }
        if !command.details.isEmpty { text += "\n" + command.details + "\n" }
        return text + "\n" + exitCodes
    }

    private static func form(_ flag: Command.Flag) -> String {
        let value = "--\(flag.name) <\(flag.placeholder)>"
        return switch flag.use {
        case .required: value
        case .optional: "[\(value)]"
        case .repeated: "[\(value)]…"
        case .mark: "[--\(flag.name)]"
        }
    }

    private static var exitCodes: String {
        "Exit codes:\n" + ExitCode.allCases.map { "  \($0.rawValue)  \($0.meaning)" }.joined(separator: "\n")
    }

    private static func entry(_ name: String, _ meaning: String, column: Int) -> String {
        let name = "  " + name
        if name.count + 2 > column { return name + "\n" + wrap(meaning, indent: column) + "\n" }
        return name + String(repeating: " ", count: column - name.count) + wrap(meaning, indent: column, first: 0) + "\n"
    }

    /// Lines of at most `width` columns, indented; the first one by `first`, where its place is taken already.
    private static func wrap(_ text: String, indent: Int, first: Int? = nil) -> String {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, indent + line.count + 1 + word.count > width {
                lines.append(line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        lines.append(line)
        return lines.enumerated().map { String(repeating: " ", count: $0 == 0 ? first ?? indent : indent) + $1 }.joined(separator: "\n")
    }
}
