import Foundation
import OrderDesk
import Postgres
import Storage

extension Command {
    static let recover = Command(
        "recover",
        "Makes a database that was restored from a backup fit to accept again. Before any router starts on it.",
        flags: [
            Flag("next-out", "n", .optional, "MsgSeqNum of our next message, where the venue has told; else a million above the last one known."),
            operatorFlag,
        ],
        settings: Setting.named("database-url", "sender-comp-id", "target-comp-id"),
        details: """
            The venue knows orders that the backup does not. So every open order becomes UNKNOWN and is asked about, our
            numbers go on above the venue's, event ids get a new generation, and the reports that were lost are asked for
            by the session itself. A key of before that is unseen here is never accepted as new: the venue is asked about
            its order, which is adopted without sending where the venue knows it, and fenced where not. May be repeated.
            No router may run on this database, nor on the one that was lost.
            """
    ) { arguments in
        let session = try venueSession(arguments)
        let nextOut = try arguments.parsed("next-out", "a whole number from 1 to 2000000000", ValueKind<Int64>.number(1...2_000_000_000).parse)
        let options = PostgresOptions(url: try arguments.setting("database-url", \.databaseURL))
        let recover = Recover(options, session: session, by: operatorName(arguments), now: { Date.nowMilliseconds })
        let (recovered, doubted): (Recovered, Int)
        do {
            (recovered, doubted) = try recover.run(nextOut: nextOut)
        } catch let obstacle as Recover.Obstacle {
            throw CommandFailure("not recovered, and nothing changed: " + obstacle.text(session))
        }
        say(
            """
            Recovered. \(doubted) open orders are UNKNOWN until the venue has said where they stand.
            Our next message has number \(recovered.nextOut); the venue is asked for its own from \(recovered.nextIn) on.
            Event ids are of generation \(recovered.generation). Start the routers, then compare: order-router reconcile.
            """
        )
        return .ok
    }
}

extension Recover.Obstacle {
    fileprivate func text(_ session: String) -> String {
        switch self {
        case .noSession: "no router has ever run on this database, so it has no session with a venue"
        case .ordersGoBy(let other):
            "orders of this database go by the session \(other), not by \(session): name it with --sender-comp-id and --target-comp-id"
        case .routerSpeaks: "a router speaks for the session \(session): end every router of this database, and of the one that was lost, first"
        case .numberLiesBack(let nextOut):
            "--next-out is below \(nextOut), the next number that is known here, and the venue has seen all before it: name a higher one, or none"
        }
    }
}
