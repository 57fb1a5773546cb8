import Foundation

/// One command: how it is called, and what it does.
struct Command: Sendable {
    /// A flag of a command. Flags that are settings come from `Setting.all`.
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

        init(_ name: String, _ use: Use, _ meaning: String) { self.init(name, "", use, meaning) }

        init(_ name: String, _ placeholder: String, _ use: Use, _ meaning: String) {
            self.name = name
            self.placeholder = placeholder
            self.use = use
            self.meaning = meaning
        }
    }

    /// A word without dashes, by its place.
    struct Operand: Sendable {
        let placeholder: String
        let isRequired: Bool
        /// The last one alone may.
        let repeats: Bool
        let meaning: String

        init(_ placeholder: String, isRequired: Bool = true, repeats: Bool = false, _ meaning: String) {
            self.placeholder = placeholder
            self.isRequired = isRequired
            self.repeats = repeats
            self.meaning = meaning
        }
    }

    let words: [String]
    let summary: String
    let operands: [Operand]
    let flags: [Flag]
    /// Settings that it takes as flags and from the environment.
    let settings: [Setting]
    /// What else there is to know, for help.
    let details: String
    let run: @Sendable (Arguments) async throws -> ExitCode

    init(
        _ name: String,
        _ summary: String,
        operands: [Operand] = [],
        flags: [Flag] = [],
        settings: [Setting] = [],
        details: String = "",
        run: @escaping @Sendable (Arguments) async throws -> ExitCode
    ) {
        words = name.split(separator: " ").map { String($0) }
        self.summary = summary
        self.operands = operands
        self.flags = flags
        self.settings = settings
        self.details = details
        self.run = run
    }

    var name: String { words.joined(separator: " ") }
}

/// What a command was called with, checked against what it takes.
struct Arguments: Sendable {
    private(set) var operands: [String] = []
    private var values: [String: [String]] = [:]
    private let settings: [Setting]
    let environment: [String: String]

    static var inherited: [String: String] { ProcessInfo.processInfo.environment }

    /// Reads `--flag value` and `--flag=value`, in any order with the operands; after `--` everything is an operand.
    ///
    /// - Throws: an unknown or repeated flag, a value that is missing or too many, a required one that is absent.
    init(_ words: [String], of command: Command, environment: [String: String] = Arguments.inherited) throws(UsageError) {
        self.environment = environment
        settings = command.settings
        var rest = words[...]
        var onlyOperands = false
        while let word = rest.popFirst() {
            if onlyOperands || !word.hasPrefix("-") || word == "-" {
                operands.append(word)
            } else if word == "--" {
                onlyOperands = true
            } else {
                try take(word, &rest, of: command)
            }
        }
        for flag in command.flags where flag.use.isRequired && values[flag.name] == nil {
            throw UsageError("--\(flag.name) is missing. \(flag.meaning) See order-router \(command.name) --help.")
        }
        if operands.count > command.operands.count, command.operands.last?.repeats != true {
            throw UsageError("'\(operands[command.operands.count])' has no place here. See order-router \(command.name) --help.")
        }
        if let missing = command.operands.dropFirst(operands.count).first(where: \.isRequired) {
            throw UsageError("<\(missing.placeholder)> is missing. \(missing.meaning) See order-router \(command.name) --help.")
        }
    }

    /// The same words in another environment.
    init(_ other: Arguments, environment: [String: String]) {
        operands = other.operands
        values = other.values
        settings = other.settings
        self.environment = environment
    }

    private mutating func take(_ word: String, _ rest: inout ArraySlice<String>, of command: Command) throws(UsageError) {
        guard word.hasPrefix("--") else { throw UsageError("'\(word)' is not a flag; flags begin with two dashes.") }
        let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { String($0) }
        let name = parts[0]
        let flag = command.flags.first { $0.name == name }
        guard flag != nil || command.settings.contains(where: { $0.flag == name }) else {
            let hint = nearest(to: name, among: command.flags.map(\.name) + command.settings.map(\.flag)).map { " Is --\($0) meant?" } ?? ""
            throw UsageError("order-router \(command.name) has no flag --\(name).\(hint)")
        }
        let use = flag?.use ?? .optional
        if case .mark = use {
            guard parts.count == 1 else { throw UsageError("--\(name) takes no value.") }
            values[name] = [""]
            return
        }
        if values[name] != nil, !use.isRepeated { throw UsageError("--\(name) is given twice.") }
        if parts.count == 2 {
            values[name, default: []].append(parts[1])
        } else {
            guard let value = rest.first, !value.hasPrefix("--") else { throw UsageError("--\(name) needs a value.") }
            rest.removeFirst()
            values[name, default: []].append(value)
        }
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

    /// The same for a required flag.
    func required<Value>(_ flag: String, _ expected: String, _ parse: (String) -> Value?) throws(UsageError) -> Value {
        guard let value = try parsed(flag, expected, parse) else { throw UsageError("--\(flag) is missing: expected is \(expected).") }
        return value
    }

    /// What a setting of this command is set to.
    ///
    /// - Throws: where the value is wrong, or absent and needed.
    func setting<Value>(_ flag: String, _ path: KeyPath<Configuration, Value>) throws(UsageError) -> Value {
        guard let setting = settings.first(where: { $0.flag == flag }) else { preconditionFailure("The command takes the setting --\(flag).") }
        var configuration = Configuration.blank
        try setting.read(into: &configuration, flag: value(flag), variable: environment[setting.variable])
        return configuration[keyPath: path]
    }

    /// All settings of a router.
    ///
    /// - Parameter fixed: settings that the command decides itself; they win.
    func configuration(fixed: [String: String] = [:]) throws(UsageError) -> Configuration {
        let flags = values.compactMapValues(\.last).filter { name, _ in settings.contains { $0.flag == name } }
        return try Configuration(flags: flags.merging(fixed) { $1 }, environment: environment)
    }
}

extension Command.Flag.Use {
    fileprivate var isRequired: Bool {
        if case .required = self { true } else { false }
    }

    fileprivate var isRepeated: Bool {
        if case .repeated = self { true } else { false }
    }
}
