import Postgres
import Storage

extension Command {
    static let verifyLedger = Command(
        "verify-ledger",
        "Proves what the ledger promises, on what is committed at one moment; runs beside live routers. Exits with 1 and the offending rows if anything does not hold.",
        flags: [Command.Flag("limit", "n", .optional, "Offending rows shown for each check at most; 20 without it.")],
        settings: Setting.named("database-url")
    ) { arguments in
        let limit = try arguments.parsed("limit", "a whole number from 1 to 100000", ValueKind<Int>.number(1...100_000).parse) ?? 20
        let database = try Database(PostgresOptions(url: arguments.setting("database-url", \.databaseURL)))
        let results = try database.verifyLedger(limit: limit)
        say(LedgerReport.text(results, limit: limit), terminator: "")
        return results.allSatisfy(\.holds) ? .ok : .failed
    }
}

/// What verify-ledger prints.
enum LedgerReport {
    static func text(_ results: [CheckResult], limit: Int) -> String {
        var table = TextTable(["check", "result", "what it proves"])
        for result in results { table.add([result.name, verdict(result, limit), result.proves]) }
        var text = table.text
        for result in results where !result.holds {
            var rows = TextTable(result.columns)
            for row in result.offending { rows.add(row) }
            text += "\n\(result.name): these rows do not hold\(result.hasMore ? ", among others" : "")\n" + rows.text
        }
        let failed = results.count { !$0.holds }
        return text + "\n" + (failed == 0 ? "All \(results.count) checks hold.\n" : "\(failed) of \(results.count) checks do not hold.\n")
    }

    private static func verdict(_ result: CheckResult, _ limit: Int) -> String {
        if result.holds { return "ok" }
        return result.hasMore ? "FAILED, more than \(limit)" : "FAILED, \(result.offending.count)"
    }
}
