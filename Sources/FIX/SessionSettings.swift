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
    /// What an acceptor takes as HeartBtInt, in seconds. Beyond an hour it is a mistake: silence would go unnoticed. 0 = no heartbeats.
    package var heartbeatBounds: ClosedRange<Int64> = 0...3_600
    /// Begin again at 1 with every logon: an initiator asks for it (ResetSeqNumFlag), an acceptor does it by itself. For sessions whose past is
    /// worth nothing, such as market data.
    package var resetOnLogon = false
    /// Our Logon says that this is no live system (TestMessageIndicator 464=Y).
    package var isTest = false
    /// Begin again at 1 after every Logout that was answered.
    package var resetOnLogout = false
    /// Begin again at 1 after every end of a connection.
    package var resetOnDisconnect = false
    /// When the session may be logged on; each period has numbers of its own. Nil = always, and numbers go on.
    package var schedule: SessionSchedule?
    /// What a message must satisfy beyond what the session itself needs; nil = nothing.
    package var rules: MessageRules?
    /// Application messages of other types are answered with BusinessMessageReject 380=3; nil = the application answers for all of them.
    package var supportedTypes: Set<MessageType>?
    /// Say in the Logon which number we expect next (NextExpectedMsgSeqNum, tag 789), and send again what the counterparty's Logon says it has
    /// missed, without a ResendRequest. Both sides must have agreed upon it.
    package var announcesNextExpected = false
    /// How a gap is asked for: up to its last number, or with EndSeqNo 0, whatever came after it too. Some counterparties take just one of them.
    package var asksToInfinity = false
    /// Numbers in one ResendRequest, at most; the next one follows when those have come. Some counterparties serve no more than a few thousand.
    package var resendPortion = Int.max
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

    package init(role: Role, senderCompID: String, targetCompID: String) {
        self.role = role
        self.senderCompID = senderCompID
        self.targetCompID = targetCompID
    }
}
