import Foundation
import Postgres
import Storage

extension Command {
    private static let patience: Int64 = 120_000

    static let reconcile = Command(
        "reconcile",
        "Compares open orders and their fills with the venue's own (OrderMassStatusRequest), and lists what differs.",
        flags: [
            Flag("within", "time", .optional, "How long to wait for the comparison; 2m without it."),
            operatorFlag,
        ],
        settings: Setting.named("database-url", "sender-comp-id", "target-comp-id"),
        details: """
            The router that speaks for the venue's session asks; each router does so after its start, too. Ends with 0 when
            nothing differs, with 1 and the list otherwise, also when the venue does not answer.

            not_ours       the venue has an order that is not here
            not_at_venue   open here, and not in the answer: it is UNKNOWN now and asked about by itself
            cum_qty        the venue has filled more or less of it; the order is UNKNOWN until both agree
            terms          the venue has it with another total, or by a replace that is not in force here; UNKNOWN until it ends
            open_at_venue  ended here, and open at the venue

            Nothing is booked and no order ended by it. A missing execution is booked when the venue reports it, by its ExecID.
            """
    ) { arguments in
        let within = try arguments.parsed("within", "a time such as 10s or 5m", ValueKind.time(.seconds(1)...(.seconds(86_400))).parse) ?? patience
        let session = try venueSession(arguments)
        let database = try Database(PostgresOptions(url: arguments.setting("database-url", \.databaseURL)))
        defer { database.drop() }
        let now = Date.nowMilliseconds
        let whom = operatorName(arguments)
        let id = try database.requestReconciliation(of: session, by: whom, at: now)
        try database.audit("reconciliation_requested", "\(session), reconciliation \(id)", by: whom, at: now)
        if try !database.venueIsUp(session) { say("No router speaks for the venue's session \(session): nobody asks until one does.") }
        guard let ended = try await end(of: id, database, until: .now + .milliseconds(within)) else {
            throw CommandFailure("reconciliation \(id) is not at its end yet; whoever speaks for the session goes on with it")
        }
        say(ReconciliationReport.text(ended, try database.differences(of: id)), terminator: "")
        return ended.outcome == .agrees ? .ok : .failed
    }

    /// Between two looks whether it has ended.
    private static let interval: Duration = .milliseconds(200)

    private static func end(of id: Int64, _ database: Database, until deadline: ContinuousClock.Instant) async throws -> Reconciliation? {
        while true {
            if let found = try database.reconciliation(id), found.outcome != nil { return found }
            if ContinuousClock.now >= deadline { return nil }
            try await Task.sleep(for: interval)
        }
    }
}

/// What reconcile prints.
enum ReconciliationReport {
    static func text(_ reconciliation: Reconciliation, _ differences: [Difference]) -> String {
        let reports = "the venue reported \(reconciliation.reports ?? 0) orders"
        switch reconciliation.outcome {
        case .agrees: return "Nothing differs; \(reports).\n"
        case .refused: return "The venue refuses to answer: \(reconciliation.detail ?? "").\n"
        case .differs: break
        case .unanswered, nil: return "The venue has not answered: \(reconciliation.detail ?? "").\n"
        }
        var table = TextTable(["order", "account", "difference", "detail"])
        for difference in differences { table.add([difference.orderID, difference.account ?? "-", difference.what, difference.detail]) }
        return "\(differences.count) differences; \(reports).\n\n" + table.text
    }
}
