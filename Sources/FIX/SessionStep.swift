/// Where a session's sequence numbers stand. Numbers mean something only within their generation: a reset begins the next one.
package struct SessionNumbers: Hashable, Sendable {
    package var generation: Int64
    /// The number that our next message gets; 1 or more.
    package var nextOut: Int
    /// The number that we expect from the counterparty next; 1 or more.
    package var nextIn: Int

    /// A larger number is a mistake: a million messages a second for eleven days.
    static let largest = 1_000_000_000_000

    package init(generation: Int64 = 1, nextOut: Int = 1, nextIn: Int = 1) {
        self.generation = generation
        self.nextOut = nextOut
        self.nextIn = nextIn
    }
}

/// One moment on both clocks, in milliseconds: the wall clock for what is written into messages, the monotonic one for time-outs.
package struct SessionTime: Hashable, Sendable {
    /// Since the epoch.
    package var wall: Int64
    /// Since an arbitrary moment; never goes back.
    package var monotonic: Int64

    package init(wall: Int64, monotonic: Int64) {
        self.wall = wall
        self.monotonic = monotonic
    }
}

/// A message with its number assigned. It must be committed before a byte of it reaches the socket.
package struct OutgoingMessage: Hashable, Sendable {
    package let number: Int
    package let type: MessageType
    /// Written by the session layer itself: needs no keeping beyond its number, a gap fill stands in for it.
    package let isAdmin: Bool
    /// Milliseconds since the epoch; the OrigSendingTime of a later resend.
    package let sendingTime: Int64
    /// The fields between header and trailer: what has to be kept for a resend.
    package let body: [UInt8]
    /// What goes to the socket. Only a simulator may spoil it.
    package var frame: [UInt8]
}

/// A message that was sent once, as the store gives it back for a resend.
package struct StoredMessage: Hashable, Sendable {
    package let number: Int
    package let type: MessageType
    package let sendingTime: Int64
    package let body: [UInt8]
    /// Too old to be sent again (an order past its deadline): a gap fill takes its place.
    package let isExpired: Bool

    package init(number: Int, type: MessageType, sendingTime: Int64, body: [UInt8], isExpired: Bool = false) {
        self.number = number
        self.type = type
        self.sendingTime = sendingTime
        self.body = body
        self.isExpired = isExpired
    }

    package init(_ message: OutgoingMessage) {
        self.init(number: message.number, type: message.type, sendingTime: message.sendingTime, body: message.body)
    }
}

/// A message for the application: each number once, in order. Session Rejects (3) are among them, for the application knows what they refuse.
package struct Delivery: Sendable {
    package let number: Int
    package let message: FIXMessage
    /// PossDupFlag: the counterparty may have sent this number before. It was not received here before.
    package let isPossDup: Bool
    /// PossResend: the content may have been sent before under another number.
    package let isPossResend: Bool

    init(_ number: Int, _ message: FIXMessage) {
        self.number = number
        self.message = message
        isPossDup = message.flag(.possDupFlag) == true
        isPossResend = message.flag(.possResend) == true
    }
}

/// Sent messages that the counterparty asked for again; both ends included, `through` is never beyond the last number sent.
package struct ReplayRange: Hashable, Sendable {
    package let from: Int
    package let through: Int

    package init(from: Int, through: Int) {
        self.from = from
        self.through = through
    }
}

/// What happened to a session, for state that is shown elsewhere.
package enum SessionEvent: Hashable, Sendable {
    case loggedOn
    /// With the counterparty's or our own Text (tag 58).
    case loggedOut(String)
    case disconnected(String)
    /// Both sequence numbers began again at 1.
    case generationBegan(Int64)
    /// The counterparty skipped these numbers with SequenceReset-Reset: what they held will never come.
    case inboundSkipped(from: Int, through: Int)
    /// The counterparty's Logon has a number that it had used before: it has lost its numbers, and will soon be beyond ours all the same, with whatever it had
    /// still to send forgotten.
    case numbersLost(expected: Int, received: Int)
    /// The counterparty asked for numbers that we never sent: one of the two has lost its memory.
    case askedBeyondSent(from: Int, nextOut: Int)
}

/// What has to be done after an input. `deliveries`, `outgoing` and the session's numbers go into one commit; only then are `frames` written.
package struct SessionStep: Sendable {
    /// Set when the numbers began again: everything else in this step belongs to this new generation.
    package var newGeneration: Int64?
    /// Messages for the application, in order.
    package var deliveries: [Delivery] = []
    /// Application messages that were answered with a session Reject, in order: not to be acted upon, but what they speak of is in doubt.
    package var refused: [Delivery] = []
    /// New messages with new numbers, in order.
    package var outgoing: [OutgoingMessage] = []
    /// What to write, in order: the frames of `outgoing` and those that carry no new number (resends and gap fills).
    package var frames: [[UInt8]] = []
    /// Stored messages to load and hand to `SessionState.retransmit`, in order.
    package var replays: [ReplayRange] = []
    package var events: [SessionEvent] = []
    /// Set when the connection has to be closed once the frames are written.
    package var disconnect: String?

    package init() {}

    package mutating func append(_ next: SessionStep) {
        precondition(next.newGeneration == nil, "A new generation begins a commit of its own.")
        deliveries += next.deliveries
        refused += next.refused
        outgoing += next.outgoing
        frames += next.frames
        replays += next.replays
        events += next.events
        disconnect = disconnect ?? next.disconnect
    }
}
