package import FIX

/// How the venue is reached and spoken to.
package struct VenueSettings: Sendable {
    package var host: String
    package var port: UInt16
    /// TLS on the line; nil = none.
    package var tls: LineTLS?
    /// What was agreed upon with the venue.
    package var session: SessionSettings
    /// Names this router's run among the holders of the session's lease; random, so that a restarted router is another holder.
    package var holder: String
    /// How long a holder may speak without renewing, ms. A successor waits that long after a crash, so it is short; a renewal takes milliseconds.
    package var leaseDuration: Int64 = 4_000
    /// Renewed when this much of it has passed, ms.
    package var leaseRenewal: Int64 = 1_000
    /// The holder stops writing this long before the end, ms: for the difference between two clocks' rates and for bytes under way.
    package var leaseMargin: Int64 = 1_000
    /// Between two attempts to take the lease or to reach the venue, at most, ms: a router that stands by notices soon that the lease is free, and
    /// a venue that is back serves soon. One attempt a second burdens nobody.
    package var longestPause: Int64 = 1_000
    /// Between two questions about the same order in doubt, ms; a cancel request unanswered for so long is a doubt too.
    package var askInterval: Int64 = 5_000

    /// Orders are for real money: a venue whose Logon says that it is a test system gets none.
    package var isLive = false
    /// Orders are priced from a recorded feed: only a test system may get them.
    package var pricesAreRecorded = false

    /// The session's name in the database.
    package var sessionID: String { "\(session.senderCompID)->\(session.targetCompID)" }

    package init(host: String, port: UInt16, senderCompID: String, targetCompID: String, heartbeatSeconds: Int, holder: String) {
        self.host = host
        self.port = port
        session = SessionSettings(role: .initiator, senderCompID: senderCompID, targetCompID: targetCompID)
        session.heartbeatSeconds = heartbeatSeconds
        // A fill that says more or less than FIX 4.4 would have it is booked; one that can be read in two ways is not.
        session.rules = .lenient
        session.supportedTypes = [.executionReport, .orderCancelReject]
        self.holder = holder
    }
}

/// Where a leg stands: named so that tests can stop a router right there.
package enum VenueStep: String, Sendable, CaseIterable {
    /// Messages have their numbers, sent to the database with COMMIT; no answer was read.
    case sendNumbered = "send-numbered"
    /// Committed; the socket has not seen a byte.
    case sendCommitted = "send-committed"
    /// About to write to the socket, perhaps the middle of what is to be written.
    case sendWriting = "send-writing"
    /// Reports were read from the socket; nothing is committed.
    case receiveRead = "receive-read"
    case receiveCommitted = "receive-committed"
}

/// What the venue's session tells the program around it. Called on the session's thread; must not block.
package struct VenueObserver: Sendable {
    package var step: @Sendable (VenueStep) -> Void = { _ in }
    /// Orders changed (routed, doubted): the streams may look.
    package var committed: @Sendable () -> Void = {}
    /// Reports were committed to the inbox: settle may look.
    package var received: @Sendable () -> Void = {}
    package var batch: @Sendable (_ leg: String, _ size: Int, _ took: Duration) -> Void = { _, _, _ in }
    package var loggedOn: @Sendable (Bool) -> Void = { _ in }
    /// Told once in each connection: whether the venue's Logon said that it is a test system.
    package var venueIsTest: @Sendable (Bool) -> Void = { _ in }
    package var trouble: @Sendable (_ what: String) -> Void = { _ in }

    package init() {}
}
