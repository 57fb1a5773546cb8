import Glibc

/// Where a session's numbers and messages are kept, and where its application messages come from and go to.
///
/// Called on the session's own thread, one call at a time; synchronous; may block. Every error disconnects: the in-memory session is thrown
/// away and loaded again before the next connection.
package protocol SessionStore: AnyObject {
    /// Generation and next numbers. Called before each connection.
    func load() throws -> SessionNumbers

    /// When this generation's numbers were first used, as far as it is known; milliseconds since the epoch. Asked only for a session with a
    /// schedule, whose numbers begin again in each period.
    func began() throws -> Int64?

    /// Deliveries, inbound number, outgoing messages and outbound number in one commit: all or nothing, and durable before it returns. With
    /// `step.newGeneration` set, everything in the step belongs to that generation.
    func commit(_ step: SessionStep, numbers: SessionNumbers) throws

    /// The application messages of the current generation with these numbers, ascending. Session messages may be left out. A message that
    /// must not be sent again is marked expired: a gap fill takes its place.
    ///
    /// - Parameter most: how many of them are enough, the first ones; that there are fewer says that there are no others.
    func stored(from: Int, through: Int, atMost most: Int) throws -> [StoredMessage]

    /// Application messages to send now, numbered with `session.send` and already committed by the callee. Empty = nothing now; called again
    /// while it returns something. Called only while logged on: when woken, when the poll interval has passed and after each batch.
    ///
    /// - Parameter wall: milliseconds since the epoch.
    func pull(_ session: inout SessionState, at wall: Int64) throws -> [OutgoingMessage]

    /// Asked before every socket write: false = the right to speak is lost, nothing is written, the connection is dropped at once.
    ///
    /// - Parameter monotonic: the clock's monotonic milliseconds.
    func mayWrite(at monotonic: Int64) -> Bool

    /// For state that is shown elsewhere. Called after the commit of the step that it belongs to.
    func changed(_ event: SessionEvent)
}

extension [Int: StoredMessage] {
    /// What a store that keeps its messages by number, and all of them, has with these: ascending, the first ones.
    package func first(_ most: Int, from: Int, through: Int) -> [StoredMessage] {
        from > through ? [] : Array((from...through).lazy.compactMap { self[$0] }.prefix(most))
    }
}

extension SessionStore {
    /// A store that does not know: with a schedule, numbers begin again with each logon.
    package func began() throws -> Int64? { nil }
}

/// The clocks of a driver. The monotonic one also counts while the machine sleeps (CLOCK_BOOTTIME): a lease does.
package struct SessionClock: Sendable {
    package let wall: @Sendable () -> Int64
    package let monotonic: @Sendable () -> Int64

    package init(wall: @escaping @Sendable () -> Int64, monotonic: @escaping @Sendable () -> Int64) {
        self.wall = wall
        self.monotonic = monotonic
    }

    package var now: SessionTime { SessionTime(wall: wall(), monotonic: monotonic()) }

    package static let system = SessionClock(wall: { read(CLOCK_REALTIME) }, monotonic: { read(CLOCK_BOOTTIME) })

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        let result = unsafe clock_gettime(clock, &time)
        precondition(result == 0, "The system has this clock.")
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}
