// The command order-router: composition of the rooms below, and what operators do by hand.
//
// Reading order: this file (which commands there are), Command and Arguments (how they are called), Settings/Setting+All (what a router can be
// set to), Serve (the circle, wired), Demo (everything on one machine), and the other commands as needed.

import Glibc
import Postgres

@main
enum OrderRouterCommand {
    static let all: [Command] = [
        .serve, .migrate, .demo, .simulate, .record, .verifyLedger, .partitionsDetach, .partitions, .accountCreate, .accountShow, .credentialEnrol,
        .credentialList, .credentialInvalidate, .tokenIssue, .sign, .halt, .resume, .halts, .killSwitchOn, .killSwitchOff, .killSwitchStatus,
        .ordersCancel, .ordersUnknown, .ordersShow, .ordersEnd, .instrumentsLoad, .instrumentsList, .candlesLoad, .reconcile, .recover, .resetSession,
        .changeSession,
    ]

    static func main() async {
        // A reader that goes away is an error of that write, not the end of the program.
        _ = signal(SIGPIPE, SIG_IGN)
        exit(await run(Array(CommandLine.arguments.dropFirst())).rawValue)
    }

    /// Runs what the words ask for and says what went wrong on the standard error.
    static func run(_ words: [String]) async -> ExitCode {
        do {
            return try await perform(words)
        } catch let error as UsageError {
            complain(error.message)
            return .usage
        } catch let error as CommandFailure {
            complain(error.message)
            return error.code
        } catch let error as PostgresError {
            complain(explain(error))
            return error.isTransient ? .databaseUnreachable : .failed
        } catch {
            complain("\(error)")
            return .failed
        }
    }

    private static func perform(_ words: [String]) async throws -> ExitCode {
        if words.isEmpty {
            complain("no command is given. See order-router --help.")
            return .usage
        }
        if ["--help", "-h", "help"].contains(words[0]) {
            let topic = Array(words.dropFirst())
            say(try topic.isEmpty ? Help.overview(all) : find(topic).map { Help.text($0.command) } ?? Help.group(topic, all))
            return .ok
        }
        guard let (command, rest) = try find(words) else {
            // `order-router account`, or `order-router account --help`.
            let wantsHelp = words.contains { $0 == "--help" || $0 == "-h" }
            let help = try Help.group(words.filter { !$0.hasPrefix("-") }, all)
            if wantsHelp { say(help) } else { complain("the command is not complete.\n\n" + help) }
            return wantsHelp ? .ok : .usage
        }
        if rest.prefix(while: { $0 != "--" }).contains(where: { $0 == "--help" || $0 == "-h" }) {
            say(Help.text(command))
            return .ok
        }
        return try await command.run(Arguments(rest, of: command))
    }

    /// The command that the first words name, and what follows; nil where they only begin the name of one.
    private static func find(_ words: [String]) throws(UsageError) -> (command: Command, rest: [String])? {
        for command in all where words.starts(with: command.words) { return (command, Array(words.dropFirst(command.words.count))) }
        let names = words.prefix { !$0.hasPrefix("-") }
        if let first = names.first, names.count == 1, all.contains(where: { $0.words[0] == first }) { return nil }
        let given = names.prefix(2).joined(separator: " ")
        let known = all.map { $0.words.joined(separator: " ") }
        let hint = (nearest(to: given, among: known) ?? names.first.flatMap { nearest(to: $0, among: known) }).map { " Is '\($0)' meant?" } ?? ""
        throw UsageError("'\(given.isEmpty ? words[0] : given)' is not a command.\(hint) See order-router --help.")
    }

    private static func explain(_ error: PostgresError) -> String {
        // 42P01 undefined table, 42703 undefined column: the schema is not ours, or older.
        if ["42P01", "42703"].contains(error.sqlState ?? "") {
            return "the database is not at this program's migrations: run order-router migrate. (\(error.description))"
        }
        return error.isTransient ? "the database cannot be reached, or cannot serve now: \(error.description)" : error.description
    }

    private static func complain(_ message: String) {
        Log.writeToStandardError("order-router: \(message)\n")
    }
}

/// What the program's end says to whoever started it. Help lists them.
enum ExitCode: Int32, Sendable, CaseIterable {
    case ok = 0
    case failed = 1
    case usage = 2
    case databaseUnreachable = 3

    var meaning: String {
        switch self {
        case .ok: "done"
        case .failed: "it failed; for verify-ledger: something does not hold, and is listed"
        case .usage: "the command, a flag or a setting is wrong; nothing was done"
        case .databaseUnreachable: "the database could not be reached or could not serve; trying again may help"
        }
    }
}

/// The command was called wrongly, or a setting is wrong. Nothing was done.
struct UsageError: Error, Equatable, CustomStringConvertible {
    let message: String

    init(_ message: String) { self.message = message }

    var description: String { message }
}

/// The command was called rightly and could not do what was asked.
struct CommandFailure: Error, Equatable, CustomStringConvertible {
    let message: String
    let code: ExitCode

    init(_ message: String, _ code: ExitCode = .failed) {
        self.message = message
        self.code = code
    }

    var description: String { message }
}

/// The candidate that was probably meant: at most a third of the letters differ.
func nearest(to word: String, among candidates: some Sequence<String>) -> String? {
    let ranked = candidates.map { (distance(word, $0), $0) }.min { $0 < $1 }
    guard let (distance, found) = ranked, distance * 3 <= word.count else { return nil }
    return found
}

/// Letters to insert, delete or replace to get from one word to the other (Levenshtein).
private func distance(_ left: String, _ right: String) -> Int {
    let right = Array(right)
    var row = Array(0...right.count)
    for (index, character) in left.enumerated() {
        var diagonal = row[0]
        row[0] = index + 1
        for place in right.indices {
            let replaced = diagonal + (right[place] == character ? 0 : 1)
            diagonal = row[place + 1]
            row[place + 1] = min(replaced, diagonal + 1, row[place] + 1)
        }
    }
    return row[right.count]
}
