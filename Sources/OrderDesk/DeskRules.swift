package import Quotes
package import Trading

/// The numbers that the desk decides by. All times in milliseconds.
package struct DeskRules: Sendable {
    package var limits: RiskLimits
    package var freshness: Freshness
    package var deadlines: RouteDeadlines
    /// A key's own time may be this old on first use: older ones could have been forgotten by nobody but the client (design section 4.3 row 6).
    package static let keyMaximumAge: Int64 = 24 * 3_600_000
    /// A key's own time may lie this far ahead, and a client's clock may be this far off.
    package static let clockTolerance: Int64 = 30_000
    /// Rows of a shard's log that may wait for the venue's sender before new orders are told to come again: a second of its work, so that an order which
    /// is accepted is also on its way before the five seconds of an immediate one are over.
    package var unsentLimit: Int64 = 4_000
    /// The name under which executions of the venue are unique.
    package var venue: String
    /// Whether an order that the venue has lost in a reset of the sequence numbers is sent again (PossResend).
    package var sendsAgain = true
    /// The FIX session whose being up lets new orders in.
    package var venueSession: String

    package init(limits: RiskLimits, freshness: Freshness, deadlines: RouteDeadlines, venue: String, venueSession: String) {
        self.limits = limits
        self.freshness = freshness
        self.deadlines = deadlines
        self.venue = venue
        self.venueSession = venueSession
    }
}

/// Where a leg stands: named so that tests can stop a router right there.
package enum DeskStep: String, Sendable, CaseIterable {
    /// Everything of the accepting transaction is sent, COMMIT included; no answer was read.
    case acceptClaimed = "accept-claimed"
    /// Committed, and no client has its answer.
    case acceptCommitted = "accept-committed"
    /// Reports are read and decided; nothing of it is sent.
    case settleDecided = "settle-decided"
    case settleCommitted = "settle-committed"
}

/// What the desk tells the program around it. Called on the lane's thread; must not block.
package struct DeskObserver: Sendable {
    package var step: @Sendable (DeskStep) -> Void = { _ in }
    /// Rows of these kinds were committed: the sender and the streams may look.
    package var committed: @Sendable () -> Void = {}
    package var batch: @Sendable (_ leg: String, _ size: Int, _ took: Duration) -> Void = { _, _, _ in }
    package var alarm: @Sendable (_ alarm: Alarm, _ order: String?) -> Void = { _, _ in }
    /// A leg failed and will be tried again, or was given up: a sentence for the log.
    package var trouble: @Sendable (_ leg: String, _ what: String) -> Void = { _, _ in }

    package init() {}
}
