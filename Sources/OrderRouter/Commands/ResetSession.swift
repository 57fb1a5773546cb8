import Foundation
import Postgres
import Storage

extension Command {
    static let resetSession = Command(
        "reset-session",
        "Begins the venue session's sequence numbers again, on both sides, after the venue has lost its own.",
        flags: [operatorFlag],
        settings: Setting.named("database-url", "sender-comp-id", "target-comp-id"),
        details: """
            To be used when the log says 'MsgSeqNum too low' and the venue agrees. The next logon asks for the reset
            (ResetSeqNumFlag). Every order that the venue has or may have becomes UNKNOWN and is asked about; nothing
            is sent as new again.
            """
    ) { arguments in
        let session = try venueSession(arguments)
        let database = try Database(PostgresOptions(url: arguments.setting("database-url", \.databaseURL)))
        guard let generation = try database.resetSession(session, by: operatorName(arguments), at: Date.nowMilliseconds) else {
            throw CommandFailure("orders do not go by a session \(session)")
        }
        print("The session \(session) begins again with its next logon (generation \(generation)).")
        return .ok
    }
}
