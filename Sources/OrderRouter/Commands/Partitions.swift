import Foundation
import Postgres
import Storage

extension Command {
    /// Seconds that a part's end must lie back.
    private static let detachableAfter: TimeInterval = 8 * 86_400

    static let partitions = Command(
        "partitions",
        "Lists the parts that orders, executions and ledger entries are kept in, with their rows and bytes.",
        settings: Setting.named("database-url"),
        details: """
            A part is a week of UTC, Monday to Monday; rows are as PostgreSQL last counted them. Parts are made four weeks
            ahead by order-router migrate and by every router; what comes later than that is kept in the open part.
            """
    ) { arguments in
        let database = try Database(PostgresOptions(url: arguments.setting("database-url", \.databaseURL)))
        defer { database.drop() }
        say(PartTable.text(try database.parts()), terminator: "")
        return .ok
    }

    static let partitionsDetach = Command(
        "partitions detach",
        "Detaches the parts that end on or before a day, oldest first, beside live routers. Their tables stay, to be kept elsewhere and dropped.",
        flags: [
            Command.Flag("before", "yyyy-mm-dd", .required, "Parts that hold anything of this day or later stay attached."), operatorFlag,
        ],
        settings: Setting.named("database-url"),
        details: """
            A part stays attached, and the command ends with 1, while something may still ask for what is in it: an open
            order, an event or a message that is kept, an execution or an entry of an order that is attached. Keys are
            never detached: a retry of a detached order gets its first answer again. verify-ledger goes on proving
            balances: what detached entries sum to is carried forward. A transaction that has been reading for long is
            waited for.
            """
    ) { arguments in
        let day = try arguments.required("before", "a day as yyyy-mm-dd") { text in
            (try? Date.ISO8601FormatStyle().year().month().day().parse(text)) == nil ? nil : text
        }
        // Nothing of this week or the last is ever detached: a key may be a day old, a trade be booked late, and what comes next needs its part.
        let latest = Date(timeIntervalSinceNow: -Self.detachableAfter).formatted(.iso8601.year().month().day())
        guard day <= latest else {
            throw UsageError("--before is \(day): expected is \(latest) or earlier, for newer parts may still be written to.")
        }
        let whom = operatorName(arguments)
        let database = try Database(PostgresOptions(url: arguments.setting("database-url", \.databaseURL)))
        defer { database.drop() }
        var (detached, kept) = (0, 0)
        for part in try database.parts() {
            guard let ends = part.ends, ends <= day else { continue }
            if let obstacle = try database.detach(part, by: whom, at: Date.nowMilliseconds) {
                say("kept      \(part.name): \(obstacle)")
                kept += 1
            } else {
                say("detached  \(part.name)")
                detached += 1
            }
        }
        if detached + kept == 0 { say("No part ends on or before \(day).") }
        return kept == 0 ? .ok : .failed
    }
}

/// What partitions prints.
enum PartTable {
    static func text(_ parts: [Part]) -> String {
        var table = TextTable(["part", "from", "before", "rows", "row bytes", "index bytes", ""])
        for part in parts {
            table.add([
                part.name, part.begins ?? "-", part.ends ?? "-", String(part.rows), String(part.rowBytes), String(part.indexBytes),
                part.isLeaving ? "leaving: detach again to finish" : "",
            ])
        }
        return table.text
    }
}
