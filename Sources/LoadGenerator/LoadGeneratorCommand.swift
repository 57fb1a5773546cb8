// The program load-generator: sends signed orders to a router over real connections, follows them to the venue and to their fills, and says how
// long everything took and what it cost.
//
// Reading order: this file, LoadSettings (what a run can be told), Traders (who sends), OrderPlan and SignedOrders (what is sent), LoadRun (the
// loop), LoadResult (what it says). Bench and the files beside it run a router, a venue and a PostgreSQL around several such runs.

import Foundation
import Glibc
import Postgres

@main
enum LoadGeneratorCommand {
    static let all: [Command] = [.run, .prepare, .bench, .emptyPost, .fix, .feed, .streams, .broadcast]

    static func main() async {
        // A router that closes a connection is an error of that write, not the end of the program.
        _ = signal(SIGPIPE, SIG_IGN)
        exit(await run(Array(CommandLine.arguments.dropFirst())).rawValue)
    }

    /// Runs what the words ask for and says what went wrong on the standard error.
    static func run(_ words: [String]) async -> ExitCode {
        do {
            guard let first = words.first else { throw UsageError("no command is given. See load-generator --help.") }
            if ["--help", "-h", "help"].contains(first) {
                say(Help.overview(all))
                return .ok
            }
            guard let command = all.first(where: { $0.name == first }) else {
                throw UsageError("'\(first)' is not a command. See load-generator --help.")
            }
            let rest = Array(words.dropFirst())
            if rest.contains(where: { $0 == "--help" || $0 == "-h" }) {
                say(Help.text(command))
                return .ok
            }
            return try await command.run(Arguments(rest, of: command))
        } catch let error as UsageError {
            complain(error.message)
            return .usage
        } catch let error as PostgresError where error.isTransient {
            complain("the database cannot be reached, or cannot serve now: \(error.description)")
            return .databaseUnreachable
        } catch {
            complain("\(error)")
            return .failed
        }
    }

    private static func complain(_ message: String) { note("load-generator: \(message)") }
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
        case .failed: "it failed; for run: an answer contradicted an earlier one, or a request has no answer"
        case .usage: "the command or a flag is wrong; nothing was done"
        case .databaseUnreachable: "the database could not be reached or could not serve; trying again may help"
        }
    }
}

/// The command was called wrongly. Nothing was done.
struct UsageError: Error, Equatable, CustomStringConvertible {
    let message: String

    init(_ message: String) { self.message = message }

    var description: String { message }
}

/// The command was called rightly and could not do what was asked.
struct LoadFailure: Error, Equatable, CustomStringConvertible {
    let message: String

    init(_ message: String) { self.message = message }

    var description: String { message }
}

/// A line on the standard output, at once also where that is a file or a pipe.
func say(_ text: String) { write(text + "\n", to: 1) }

/// A line on the standard error: progress, and what a person should know.
func note(_ text: String) { write(text + "\n", to: 2) }

private func write(_ text: String, to descriptor: Int32) {
    let bytes = Array(text.utf8)
    var start = 0
    while start < bytes.count {
        let count = unsafe bytes[start...].withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
        // Whoever read it has gone: there is nobody left to tell.
        if count < 0 && errno != EINTR { return }
        if count > 0 { start += count }
    }
}
