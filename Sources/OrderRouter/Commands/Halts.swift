import Foundation
import Postgres
import Storage
import Trading

extension Command {
    private static let scopeOperand = Operand("scope", "What is halted: venue, symbol or account.")
    private static let subjectOperand = Operand("subject", isRequired: false, "The symbol or the account; nothing for the venue.")

    static let halt = Command(
        "halt",
        "Stops new orders, on every router. When the command has answered, nothing more is accepted or sent under the halt. Cancels go on.",
        operands: [scopeOperand, subjectOperand],
        flags: [Flag("reason", "text", .required, "Why: traders are told."), operatorFlag],
        settings: Setting.named("database-url"),
        details: "For example: order-router halt symbol NVDA --reason 'news pending'"
    ) { arguments in
        let (scope, subject) = try target(arguments)
        let reason = try arguments.required("reason", "1 to 200 characters") { (1...200).contains($0.count) ? $0 : nil }
        let database = try Database(PostgresOptions(url: arguments.setting("database-url", \.databaseURL)))
        if scope == .account, let id = AccountID(subject), try database.balances(of: id) == nil { throw CommandFailure("there is no account \(id)") }
        try database.halt(Halt(scope: scope, subject: subject, reason: reason), by: operatorName(arguments), at: Date.nowMilliseconds)
        say("\(name(scope, subject)) is halted.")
        return .ok
    }

    static let resume = Command(
        "resume",
        "Ends a halt: new orders are accepted again.",
        operands: [scopeOperand, subjectOperand],
        flags: [operatorFlag],
        settings: Setting.named("database-url")
    ) { arguments in
        let (scope, subject) = try target(arguments)
        let database = try Database(PostgresOptions(url: arguments.setting("database-url", \.databaseURL)))
        guard try database.resume(scope, subject: subject, by: operatorName(arguments), at: Date.nowMilliseconds) else {
            throw CommandFailure("\(name(scope, subject)) was not halted")
        }
        say("\(name(scope, subject)) is resumed.")
        return .ok
    }

    static let halts = Command("halts", "Lists what is halted.", settings: Setting.named("database-url")) { arguments in
        let database = try Database(PostgresOptions(url: arguments.setting("database-url", \.databaseURL)))
        let halts = try database.halts()
        if halts.isEmpty {
            say("Nothing is halted.")
            return .ok
        }
        var table = TextTable(["scope", "subject", "reason"])
        for halt in halts { table.add([halt.scope.rawValue, halt.subject, Log.quoted(halt.reason)]) }
        say(table.text, terminator: "")
        return .ok
    }

    private static func target(_ arguments: Arguments) throws(UsageError) -> (Halt.Scope, String) {
        guard let scope = Halt.Scope(rawValue: arguments.operands[0]), scope != .killSwitch else {
            throw UsageError("'\(arguments.operands[0])' cannot be halted: expected is venue, symbol or account.")
        }
        let subject = arguments.operands.count > 1 ? arguments.operands[1] : ""
        let isRight =
            switch scope {
            case .killSwitch, .venue: subject.isEmpty
            case .symbol: Symbol(subject) != nil
            case .account: AccountID(subject) != nil
            }
        guard isRight else {
            let expected = scope == .venue ? "nothing after venue" : "\(scope == .symbol ? "a symbol" : "an account") after \(scope.rawValue)"
            throw UsageError((subject.isEmpty ? "The subject is missing" : "The subject is '\(subject)'") + ": expected is \(expected).")
        }
        return (scope, subject)
    }

    private static func name(_ scope: Halt.Scope, _ subject: String) -> String {
        scope == .venue ? "The venue" : "The \(scope.rawValue) \(subject)"
    }
}
