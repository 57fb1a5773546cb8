/// What a session is agreed to be, and the limits of its patience.
package struct SessionSettings: Sendable {
    package enum Role: Sendable {
        case initiator
        case acceptor
    }

    package var role: Role
    /// Ours (tag 49 of what we send).
    package var senderCompID: String
    /// The counterparty's (tag 56 of what we send).
    package var targetCompID: String
    /// HeartBtInt: asked for by the initiator; an acceptor takes what its counterparty asks for. 0 = no heartbeats.
    package var heartbeatSeconds = 30
    /// Begin again at 1 with every logon (ResetSeqNumFlag): for sessions whose past is worth nothing, such as market data.
    package var resetOnLogon = false
    /// Our Logon says that this is no live system (TestMessageIndicator 464=Y).
    package var isTest = false
    /// A peer that connects and says nothing holds a descriptor: 10 s is far beyond any round trip.
    package var logonTimeout: Int64 = 10_000
    /// How long our Logout waits for its answer; the counterparty may be serving a resend meanwhile.
    package var logoutTimeout: Int64 = 2_000
    /// How long a gap may stay without progress before it is asked for again.
    package var resendTimeout: Int64 = 10_000
    /// How often it is asked for before the session is ended: a counterparty that cannot fill a gap needs a person.
    package var resendAttempts = 3
    /// How many messages beyond a gap are kept; more are dropped and asked for when their turn comes.
    package var earlyCapacity = 4_096
    /// And how many bytes of them.
    package var earlyCapacityBytes = 8 << 20
    /// How far SendingTime may be from our clock, in milliseconds; nil = not checked. A counterparty's bad clock must not cost us its
    /// executions unless that is agreed.
    package var sendingTimeTolerance: Int64?

    /// A HeartBtInt beyond an hour is a mistake: silence would go unnoticed.
    package static let longestHeartbeatSeconds: Int64 = 3_600

    package init(role: Role, senderCompID: String, targetCompID: String) {
        self.role = role
        self.senderCompID = senderCompID
        self.targetCompID = targetCompID
    }
}
