import Foundation
import OrderDesk
import Postgres
import Trading

extension Command {
    static let changeSession = Command(
        "change-session",
        "Has orders go to the venue by another session from now on: another venue, or another CompID of it or of ours.",
        flags: [operatorFlag],
        settings: Setting.named("database-url", "sender-comp-id", "target-comp-id"),
        details: """
            The settings name the new session. A router whose session is another one does not start. To be used when no router
            runs on this database, no order is open (order-router kill-switch on ends them) and every report is settled: what is
            left at a venue that is not asked any more would be taken for something that it never had. The session of before is
            kept with its numbers and messages, and goes on with them when it is changed back to.
            """
    ) { arguments in
        let session = try venueSession(arguments)
        let options = PostgresOptions(url: try arguments.setting("database-url", \.databaseURL))
        do {
            switch try ChangeSession(options, by: operatorName(arguments), now: { Date.nowMilliseconds }).change(to: session) {
            case .begun: say("Orders go by the session \(session): it is the first one of this database.")
            case .unchanged: say("Orders go by the session \(session) already.")
            case .changed(let old): say("Orders go by the session \(session) from now on, and by \(old) no more. Start the routers with it.")
            }
            return .ok
        } catch let obstacle as ChangeSession.Obstacle {
            throw CommandFailure("not changed: " + obstacle.text)
        }
    }
}

extension ChangeSession.Obstacle {
    fileprivate var text: String {
        switch self {
        case .routerSpeaks(let session): "a router speaks for the session \(session): end every router of this database first"
        case .ordersOpen(let counts, let session):
            "orders are open at the venue of \(session) ("
                + counts.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.value) \($0.key.text)" }.joined(separator: ", ")
                + "): end them by a router of that session, by order-router kill-switch on; for UNKNOWN ones see order-router orders unknown"
        case .reportsWait(let count, let session):
            "\(count) reports of \(session) wait to be settled: start a router of that session once more"
        case .recovered(let until, let session):
            "this database was recovered, and keys of before are looked up by the session \(session) until \(UTC.text(until))"
        }
    }
}
