import Synchronization

/// The sending end of one event stream. May be used from any thread; the bytes leave on the connection's loop.
///
/// What the client has not taken is bounded by `HTTPConfiguration.streamBufferBytes`: a slow reader is cut, never waited for, unless
/// the sender chooses to wait with `drained()`.
package final class EventStreamWriter: Sendable {
    private struct State {
        var queued: [UInt8] = []
        var isOpen = true
        var isCut = false
        var isScheduled = false
        /// Accepted but not yet taken by the kernel, beyond `queued`.
        var outstanding = 0
        var waiters: [UInt64: CheckedContinuation<Void, any Error>] = [:]
        var nextWaiter: UInt64 = 0
    }

    private let state = Mutex(State())
    private let bound: Int
    private let loop: HTTPLoop
    /// Belongs to the loop's thread; asked there only.
    private let connection: Connection

    init(connection: Connection, loop: HTTPLoop, bound: Int) {
        self.connection = connection
        self.loop = loop
        self.bound = bound
    }

    /// False once the client has gone, has been cut, or the stream has ended.
    package var isOpen: Bool { state.withLock { $0.isOpen } }

    /// Appends whole events (each ends with an empty line) and returns at once.
    ///
    /// Throws `streamClosed` when nobody reads any more, `streamOverflow` when this exceeds the bound, which cuts the client.
    package func send(_ bytes: [UInt8]) throws(HTTPError) {
        enum Outcome {
            case queued
            case schedule
            case closed
            case overflow
        }
        if bytes.isEmpty { return }
        let outcome = state.withLock { state -> Outcome in
            guard state.isOpen else { return state.isCut ? .overflow : .closed }
            if state.queued.count + bytes.count > bound {
                state.isOpen = false
                state.isCut = true
                return .overflow
            }
            state.queued.append(contentsOf: bytes)
            defer { state.isScheduled = true }
            return state.isScheduled ? .queued : .schedule
        }
        switch outcome {
        case .queued: return
        case .schedule:
            if loop.isCurrent { loop.flushLater(connection) } else { loop.perform { [self] in loop.flushLater(connection) } }
        case .closed: throw Self.closed
        case .overflow:
            if loop.isCurrent { connection.cut() } else { loop.perform { [self] in connection.cut() } }
            throw Self.overflow
        }
    }

    /// Waits until the kernel has taken all that was sent: for a sender that has more than fits, such as a replay.
    ///
    /// Throws `streamClosed` or `streamOverflow` as `send` does, and `CancellationError` when its task is cancelled.
    package func drained() async throws {
        let id = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let result = state.withLock { state -> Result<Void, any Error>? in
                    if Task.isCancelled { return .failure(CancellationError()) }
                    guard state.isOpen else { return .failure(state.isCut ? Self.overflow : Self.closed) }
                    if state.queued.isEmpty, state.outstanding == 0 { return .success(()) }
                    state.waiters[id] = continuation
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let waiter = state.withLock { $0.waiters.removeValue(forKey: id) }
            waiter?.resume(throwing: CancellationError())
        }
    }

    private static let closed = HTTPError(code: .streamClosed, operation: "send event", message: "the client has gone or the stream has ended")
    private static let overflow = HTTPError(code: .streamOverflow, operation: "send event", message: "the client reads too slowly and was cut off")

    // MARK: The connection's side, on the loop's thread

    /// True when the client was too slow, also if the connection has not been told yet.
    var isCut: Bool { state.withLock { $0.isCut } }

    /// What is to be sent now.
    func takeQueued() -> [UInt8] {
        state.withLock { state in
            state.isScheduled = false
            defer { state.queued = [] }
            state.outstanding += state.queued.count
            return state.queued
        }
    }

    /// Says how much the connection still holds.
    func setOutstanding(_ bytes: Int) {
        let waiters = state.withLock { state -> [CheckedContinuation<Void, any Error>] in
            state.outstanding = bytes
            guard bytes == 0, state.queued.isEmpty, !state.waiters.isEmpty else { return [] }
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume() }
    }

    func close(isCut: Bool = false) {
        let (waiters, error) = state.withLock { state in
            state.isOpen = false
            if isCut { state.isCut = true }
            defer { state.waiters = [:] }
            return (Array(state.waiters.values), state.isCut ? Self.overflow : Self.closed)
        }
        for waiter in waiters { waiter.resume(throwing: error) }
    }
}
