/// What `--help` prints.
enum Help {
    private static let width = 100

    static func overview(_ commands: [Command]) -> String {
        let longest = commands.map(\.name.count).max() ?? 0
        var text = "order-router: an order-routing backend in which one signed key is one order, for ever.\n\n"
        text += "usage: order-router <command> [flags]\n\n"
        for command in commands { text += entry(command.name, command.summary, column: longest + 4) }
        return text + "\norder-router <command> --help says more about each.\n\n" + exitCodes
    }

    /// Commands that share their first word.
    ///
    /// - Throws: where there are none.
    static func group(_ words: [String], _ commands: [Command]) throws(UsageError) -> String {
        let found = commands.filter { $0.words.starts(with: words) }
        guard !words.isEmpty, !found.isEmpty else { throw UsageError("'\(words.joined(separator: " "))' is not a command. See order-router --help.") }
        let longest = found.map(\.name.count).max() ?? 0
        return found.map { entry($0.name, $0.summary, column: longest + 4) }.joined()
    }

    static func text(_ command: Command) -> String {
        var usage = "usage: order-router \(command.name)"
        for operand in command.operands {
            usage += (operand.isRequired ? " <\(operand.placeholder)>" : " [<\(operand.placeholder)>]") + (operand.repeats ? "…" : "")
        }
        for flag in command.flags { usage += " " + form(flag) }
        if !command.settings.isEmpty { usage += " [settings]" }
        var text = wrap(command.summary, indent: 0) + "\n\n" + wrap(usage, indent: 4, first: 0) + "\n"
        if !command.operands.isEmpty || !command.flags.isEmpty { text += "\n" }
        for operand in command.operands { text += entry("<\(operand.placeholder)>", operand.meaning, column: 30) }
        for flag in command.flags {
            text += entry("--\(flag.name)\(flag.placeholder.isEmpty ? "" : " <\(flag.placeholder)>")", flag.meaning, column: 30)
        }
        if !command.settings.isEmpty {
            text += "\nSettings, each a flag or an environment variable; the flag wins:\n"
            for setting in command.settings { text += "\n" + describe(setting) }
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

    private static func describe(_ setting: Setting) -> String {
        var text = "  --\(setting.flag) <\(setting.placeholder)>   \(setting.variable)\n"
        text += wrap(setting.meaning.replacing("`", with: ""), indent: 6) + "\n"
        let fallback =
            switch setting.fallback {
            case .value(let value): "Default \(value)."
            case .absent(let meaning): "Default: \(meaning)."
            case .none: "Must be set."
            }
        text += wrap((fallback + " " + setting.why).replacing("`", with: ""), indent: 6) + "\n"
        return text
    }

    private static var exitCodes: String {
        "Exit codes:\n" + ExitCode.allCases.map { "  \($0.rawValue)  \($0.meaning)\n" }.joined().dropLast()
    }

    private static func entry(_ name: String, _ meaning: String, column: Int) -> String {
        let name = "  " + name
        let padding = String(repeating: " ", count: max(2, column - name.count))
        if name.count + 2 > column { return name + "\n" + wrap(meaning, indent: column) + "\n" }
        return name + padding + wrap(meaning, indent: column, first: 0) + "\n"
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
        return lines.enumerated().map { index, line in String(repeating: " ", count: index == 0 ? first ?? indent : indent) + line }
            .joined(separator: "\n")
    }
}
