import Foundation
import OrderDesk
import Postgres
import Storage
import Trading
import Wire

extension Command {
    private static let limit = 1_000

    static let ordersCancel = Command(
        "orders cancel",
        "Cancels orders in a client's place: by the same rules as his own cancel, and audited.",
        operands: [Operand("order", isRequired: false, repeats: true, "Orders by their ids.")],
        flags: [
            Flag("account", "account", .optional, "Every open order of this account, in place of ids."),
            Flag("reason", "text", .required, "Why, for the audit; the client is told cancelled_by_operator."),
            Flag("by", "name", .required, "Who you are, for the audit."),
        ],
        settings: Setting.named("database-url"),
        details: """
            Says for each order what became of the request. requested: the venue is asked, and its answer is an event.
            cancelled: it had no number for the venue yet and has ended. pending: requested before, not answered.
            not open, not found: nothing was done, and the command ends with 1.
            """
    ) { arguments in
        let reason = try arguments.required("reason", "1 to 200 characters") { (1...200).contains($0.count) ? $0 : nil }
        let whom = try arguments.required("by", "a name") { $0.isEmpty ? nil : $0 }
        let account = try arguments.parsed("account", "1 to 64 of A-Z, a-z, 0-9, _ and -", AccountID.init)
        guard (account == nil) != arguments.operands.isEmpty else { throw UsageError("Give either ids of orders or --account.") }
        let given = try orderIDs(arguments)
        let database = try Database(PostgresOptions(url: arguments.setting("database-url", \.databaseURL)))
        defer { database.drop() }
        if let account, try database.balances(of: account) == nil { throw CommandFailure("there is no account \(account)") }
        let ids = try account.map { account throws(PostgresError) in try database.openOrders(of: account) } ?? given
        if ids.isEmpty {
            say("No order of the account is open.")
            return .ok
        }
        let cancels = CancelOnBehalf(database, by: whom, because: reason, told: "cancelled_by_operator", now: { Date.nowMilliseconds })
        let outcomes = try cancels.cancel(ids)
        var table = TextTable(["order", "request", "status", "cancel id"])
        for outcome in outcomes {
            let order = outcome.order
            table.add([
                outcome.id.text, outcome.word.rawValue, order?.status.text ?? "", order.map { $0.cancelPending ? $0.cancelID : "" } ?? "",
            ])
        }
        say(table.text, terminator: "")
        return outcomes.allSatisfy(\.word.isDone) ? .ok : .failed
    }

    static let ordersUnknown = Command(
        "orders unknown",
        "Lists UNKNOWN orders, and cancels and replaces that the venue has not answered, the longest in doubt first, with the evidence.",
        flags: [
            Flag("json", .mark, "As JSON, for programs."),
            Flag("limit", "n", .optional, "Orders listed at most; \(limit) without it."),
        ],
        settings: Setting.named("database-url"),
        details: """
            Numbers are <generation>/<MsgSeqNum> of the venue's session: of the NewOrderSingle, of the newest message of ours,
            and of the newest report.
            """
    ) { arguments in
        let limit = try arguments.parsed("limit", "a whole number from 1 to 100000", ValueKind<Int>.number(1...100_000).parse) ?? limit
        let database = try Database(PostgresOptions(url: arguments.setting("database-url", \.databaseURL)))
        defer { database.drop() }
        let orders = try database.doubtedOrders(limit: limit)
        let now = Date.nowMilliseconds
        if arguments.has("json") {
            say(String(decoding: DoubtReport.json(orders, at: now), as: UTF8.self))
        } else {
            say(orders.isEmpty ? "No order is in doubt.\n" : DoubtReport.text(orders, at: now), terminator: "")
        }
        return .ok
    }

    static let ordersEnd = Command(
        "orders end",
        "Ends UNKNOWN orders that the venue does not know any more (forgotten_by_venue) or says nothing of, on the word of its people; audited.",
        operands: [Operand("order", repeats: true, "Orders by their ids.")],
        flags: [
            Flag("filled", "n", .required, "Shares filled of each of them in all, as the venue's people say. It must be what is booked."),
            Flag("venue-says", "text", .required, "Their word, for the audit: who said what, and when."),
            Flag("by", "name", .required, "Who you are, for the audit."),
        ],
        settings: Setting.named("database-url"),
        details: """
            Says for each order what became of it. ended: CANCELLED (ended_by_operator), its hold is free. fills differ: other
            than said are booked; the venue has to report what is missing, by its ExecID, then it can be ended. report waits: the
            venue has just reported on it, look again. still asked: the venue has spoken of it since, or was first asked less
            than ten minutes ago. not unknown: it is open as it should be: orders cancel. With any but the first the command
            ends with 1. A fill that is reported later books and alarms.
            """
    ) { arguments in
        let filled = try arguments.required("filled", "a whole number", ValueKind<Int64>.number(0...1_000_000_000).parse)
        let words = try arguments.required("venue-says", "1 to 200 characters") { (1...200).contains($0.count) ? $0 : nil }
        let whom = try arguments.required("by", "a name") { $0.isEmpty ? nil : $0 }
        let ids = try orderIDs(arguments)
        let database = try Database(PostgresOptions(url: arguments.setting("database-url", \.databaseURL)))
        defer { database.drop() }
        let outcomes = try EndUnknown(database, by: whom, venueSays: words, now: { Date.nowMilliseconds }).end(ids, filled: filled)
        var table = TextTable(["order", "end", "status", "filled", "released", "reason"])
        for outcome in outcomes {
            let order = outcome.order
            table.add([
                outcome.id.text, outcome.word.rawValue, order?.status.text ?? "", order.map { String($0.filledQuantity) } ?? "",
                order == nil ? "" : outcome.released.description, order?.reason.map { Log.quoted($0) } ?? "",
            ])
        }
        say(table.text, terminator: "")
        return outcomes.allSatisfy { $0.word == .ended } ? .ok : .failed
    }

    private static func orderIDs(_ arguments: Arguments) throws(UsageError) -> [OrderID] {
        try arguments.operands.map { text throws(UsageError) in
            guard let id = OrderID(text) else { throw UsageError("'\(text)' is not an order's id: ord_<yyyymmdd>_ and 26 characters.") }
            return id
        }
    }

    static let ordersShow = Command(
        "orders show",
        "Shows everything that is kept about an order: state, events, messages, executions, ledger entries, alarms.",
        operands: [Operand("order", "The order by its id.")],
        settings: Setting.named("database-url"),
        details: "FIX messages are shown as they are, with | in place of SOH. Events are kept 7 days, messages 2."
    ) { arguments in
        guard let id = OrderID(arguments.operands[0]) else { throw UsageError("'\(arguments.operands[0])' is not an order's id.") }
        let database = try Database(PostgresOptions(url: arguments.setting("database-url", \.databaseURL)))
        defer { database.drop() }
        let sections = try database.evidence(of: id)
        if sections.isEmpty { throw CommandFailure("there is no order \(id) here; its part may have been detached") }
        say(sections.map { EvidenceReport.text($0) }.joined(separator: "\n"), terminator: "")
        return .ok
    }
}

/// What orders unknown prints.
enum DoubtReport {
    private static let columns = [
        "age", "order", "account", "order terms", "filled", "held", "doubt", "reason", "asked", "new order", "last sent", "last report",
    ]

    static func text(_ orders: [DoubtedOrder], at now: Int64) -> String {
        var table = TextTable(columns)
        for order in orders {
            table.add([
                UTC.age(now - order.since), order.id.text, order.account.text, "\(order.side.text) \(order.quantity) \(order.symbol)",
                String(order.filledQuantity), order.held.description, doubt(order), Log.quoted(order.reason ?? ""),
                order.askedAt.map { UTC.age(now - $0) + " ago" } ?? "never", order.newOrder.map(place) ?? "-",
                order.sent.map { "35=\($0.type) \(place($0.place)) \(UTC.age(now - $0.at)) ago" } ?? "-",
                order.received.map { report($0, now) } ?? "-",
            ])
        }
        return table.text
    }

    private static func doubt(_ order: DoubtedOrder) -> String {
        let doubts = [
            (order.status == .unknown, "UNKNOWN"), (order.cancelPending, "cancel unanswered"), (order.replacePending, "replace unanswered"),
        ]
        return doubts.filter(\.0).map(\.1).joined(separator: ", ")
    }

    private static func place(_ place: DoubtedOrder.Place) -> String { "\(place.generation)/\(place.number)" }

    private static func report(_ report: DoubtedOrder.Received, _ now: Int64) -> String {
        let cumulative = report.cumulativeQuantity.map { String($0) }
        let fields = [("150", report.execType), ("39", report.orderStatus), ("14", cumulative), ("58", report.text)]
        let words = fields.compactMap { tag, value in value.map { "\(tag)=\($0)" } }
        return "\(place(report.place)) \(words.joined(separator: " ")) \(UTC.age(now - report.at)) ago"
    }

    static func json(_ orders: [DoubtedOrder], at now: Int64) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.name("orders")
        json.beginArray()
        for order in orders { write(order, &json, at: now) }
        json.endArray()
        json.endObject()
        return json.bytes
    }

    private static func write(_ order: DoubtedOrder, _ json: inout JSONWriter, at now: Int64) {
        json.beginObject()
        json.member("order_id", order.id.text)
        json.member("account_id", order.account.text)
        json.member("symbol", order.symbol.text)
        json.member("side", order.side.text)
        json.member("status", order.status.text)
        json.member("quantity", order.quantity)
        json.member("filled_quantity", order.filledQuantity)
        json.member("held", order.held, as: .string)
        json.member("cancel_pending", order.cancelPending)
        json.member("replace_pending", order.replacePending)
        json.member("reason", order.reason)
        json.member("since", order.since)
        json.member("age_ms", now - order.since)
        json.member("asked_at", order.askedAt)
        json.member("session", order.sent?.session)
        write("new_order", order.newOrder, &json)
        json.member("last_sent_type", order.sent?.type)
        json.member("last_sent_at", order.sent?.at)
        write("last_sent", order.sent?.place, &json)
        json.member("last_report_at", order.received?.at)
        write("last_report", order.received?.place, &json)
        json.member("last_report_exec_type", order.received?.execType)
        json.member("last_report_ord_status", order.received?.orderStatus)
        json.member("last_report_cum_qty", order.received?.cumulativeQuantity)
        json.member("last_report_text", order.received?.text)
        json.endObject()
    }

    private static func write(_ name: String, _ place: DoubtedOrder.Place?, _ json: inout JSONWriter) {
        json.member(name + "_generation", place?.generation)
        json.member(name + "_number", place?.number)
    }
}

/// What orders show prints.
enum EvidenceReport {
    static func text(_ section: EvidenceSection) -> String {
        if section.title == "order", let row = section.rows.first {
            let width = section.columns.map(\.count).max() ?? 0
            return zip(section.columns, row).map { name, value in
                "\(name)\(String(repeating: " ", count: width - name.count))  \(value ?? "-")\n"
            }.joined()
        }
        if section.rows.isEmpty { return "\(section.title): none\n" }
        var table = TextTable(section.columns)
        for row in section.rows { table.add(row.map { $0 ?? "-" }) }
        return "\(section.title)\n" + table.text
    }
}

/// Times as people read them.
enum UTC {
    static func text(_ milliseconds: Int64) -> String {
        Date(timeIntervalSince1970: Double(milliseconds) / 1_000).formatted(.iso8601.year().month().day().time(includingFractionalSeconds: false))
    }

    /// The largest two units.
    static func age(_ milliseconds: Int64) -> String {
        let seconds = max(0, milliseconds) / 1_000
        return switch seconds {
        case ..<60: "\(seconds)s"
        case ..<3_600: "\(seconds / 60)m\(seconds % 60)s"
        case ..<86_400: "\(seconds / 3_600)h\(seconds % 3_600 / 60)m"
        default: "\(seconds / 86_400)d\(seconds % 86_400 / 3_600)h"
        }
    }
}
