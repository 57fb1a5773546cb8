import CLibEvent
import Glibc

/// A client's end of a push stream or WebSocket. May be kept and passed anywhere; to be used on its loop's thread only.
///
/// Nothing here waits, and nothing is queued but what the client's kernel has not taken: a client that falls behind by more than
/// `HTTPConfiguration.streamBufferBytes` is cut. What it is sent when it has taken everything may be of any size.
///
/// @unchecked Sendable: everything here belongs to the loop's thread. Owns the bufferevent, which owns socket and TLS session.
@safe package final class PushConnection: DeferredOutput, @unchecked Sendable {
    enum Phase {
        case open
        /// A close frame was sent and the client's is waited for, so long as the linger time.
        case closing
        /// The last byte is on its way.
        case finishing
        /// The last byte is gone; the client may read it and close.
        case lingering
        case closed
    }

    /// The number of the stream loop that it lives on.
    package var loop: Int { stream.number }
    package let peerAddress: String

    let stream: StreamLoop
    let descriptor: Int32
    let isPlain: Bool
    let kind: Handover.Kind
    /// The place in the stream loop's list.
    var slot = 0
    var phase = Phase.open
    var bufferevent: OpaquePointer?
    var session: WebSocketSession?

    /// Monotonic nanoseconds: when the present phase has lasted too long, and when something last went each way.
    var deadline = UInt64.max
    var lastOutput: UInt64
    var lastInput: UInt64
    var pingedAt: UInt64?
    var uptake = Uptake()
    var isBehind = false

    private let reception: Reception
    private var push: (any PushHandler)?
    /// What the client has sent behind the handshake, before this loop had it.
    private var earlyInput: [UInt8]
    private var isFlushDue = false
    /// Broken or cut: freed at the end of the present callback, because a publisher may be in the middle of its list of clients.
    private var mustClose = false
    private var hasLeft = false
    private var peerHasEnded = false

    /// Takes over descriptor and TLS session; nil when memory is short, and then they are still the handover's.
    init?(_ handover: Handover) {
        var handover = handover
        stream = handover.stream
        descriptor = handover.descriptor
        isPlain = unsafe handover.tlsSession == nil
        kind = handover.kind
        peerAddress = handover.peerAddress
        push = handover.push
        lastOutput = HTTPLoop.now
        lastInput = lastOutput
        handover.takeDecrypted()
        earlyInput = handover.input
        reception = handover.reception
        if case .webSocket = kind { session = WebSocketSession(maximumMessageBytes: stream.configuration.maximumMessageBytes) }
        let base = unsafe stream.loop.base
        let options = Int32(BEV_OPT_CLOSE_ON_FREE.rawValue)
        if let tlsSession = unsafe handover.tlsSession {
            unsafe bufferevent = unsafe bufferevent_openssl_socket_new(base, descriptor, tlsSession, BUFFEREVENT_SSL_OPEN, options)
        } else {
            unsafe bufferevent = unsafe bufferevent_socket_new(base, descriptor, options)
        }
        guard let bufferevent = unsafe bufferevent else { return nil }
        if !isPlain { unsafe bufferevent_openssl_set_allow_dirty_shutdown(bufferevent, 1) }
        ListeningSocket.setOption(descriptor, Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, stream.configuration.pushUnsentBytes)
        unsafe bufferevent_setwatermark(bufferevent, Int16(EV_READ), 0, stream.configuration.maximumReadAheadBytes)
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe bufferevent_setcb(
            bufferevent,
            { _, context in unsafe PushConnection.callback(context) { $0.onReadable() } },
            { _, context in unsafe PushConnection.callback(context) { $0.onWritten() } },
            { _, events, context in unsafe PushConnection.callback(context) { $0.onEvent(Int32(events)) } },
            context
        )
        unsafe bufferevent_enable(bufferevent, Int16(EV_READ | EV_WRITE))
    }

    private static func callback(_ context: UnsafeMutableRawPointer?, _ body: (PushConnection) -> Void) {
        guard let context = unsafe context else { preconditionFailure("A callback has lost its stream.") }
        let connection = unsafe Unmanaged<PushConnection>.fromOpaque(context).takeUnretainedValue()
        body(connection)
        connection.stream.loop.drain()
    }

    // MARK: State

    /// False once nothing can be sent any more: the client has gone or was cut, or one side has said the end.
    package var isOpen: Bool {
        checkThread()
        return phase == .open && !mustClose
    }

    package var isWebSocket: Bool { if case .webSocket = kind { true } else { false } }

    /// Runs `work` on this connection's loop. It may wait; the server's thread goes on until it has ended, but the stop does not wait for it:
    /// whoever starts it cancels it in `closed`.
    @discardableResult
    package func task(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        checkThread()
        stream.taskStarted()
        return Task(executorPreference: stream.loop) { [stream] in
            await work()
            stream.taskEnded()
        }
    }

    func checkThread() {
        precondition(stream.loop.isCurrent, "A stream is used on its loop's thread.")
    }

    // MARK: Receive

    func begin() {
        push?.opened(self)
        defer { earlyInput = [] }
        if !earlyInput.isEmpty, isWebSocket { receive(earlyInput) }
    }

    private func onReadable() {
        guard let bufferevent = unsafe bufferevent, let input = unsafe bufferevent_get_input(bufferevent) else { return }
        lastInput = HTTPLoop.now
        pingedAt = nil
        let bytes = unsafe takeAll(input)
        stream.counters.bytesReceived.add(bytes.count)
        receive(bytes)
    }

    /// What an event stream's client sends, or anyone's who has closed, is dropped.
    private func receive(_ bytes: [UInt8]) {
        guard let session, phase == .open || phase == .closing, !mustClose else { return }
        guard let texts = unsafe bytes.withUnsafeBytes({ unsafe session.take($0) }) else { return breakOff() }
        for text in texts where phase == .open && !mustClose { push?.received(text, on: self) }
        sendControlFrames()
    }

    private func onEvent(_ events: Int32) {
        if events & (BEV_EVENT_ERROR | BEV_EVENT_TIMEOUT) != 0 {
            close(isBroken: true)
        } else if events & BEV_EVENT_EOF != 0 {
            peerHasEnded = true
            if phase != .finishing || outputLength == 0 { close() }
        }
    }

    func onWritten() {
        guard phase != .closed, outputLength == 0 else { return }
        if isBehind {
            isBehind = false
            if isOpen { push?.drained(self) }
        }
        if phase == .finishing { linger() }
    }

    // MARK: End

    /// Ends in order, with one word of why: an event stream by a comment with the reason and its last chunk, a WebSocket by a close frame with code and
    /// reason, whose answer is waited for a little. Nothing can be sent any more; what was sent before is delivered.
    package func end(_ code: WebSocketCloseCode = .normal, reason: String = "") {
        guard isOpen else { return }
        if let session {
            if session.close(code, reason: reason) { sendControlFrames() } else { breakOff() }
        } else {
            if !reason.isEmpty { send(Array(": \(reason)\n\n".utf8)) }
            // The comment may have been too much for a client that is far behind.
            guard isOpen else { return }
            if case .events(isChunked: true) = kind { write(Array("0\r\n\r\n".utf8)) }
            finish()
        }
    }

    /// Ends without a word; what the client has not taken is lost.
    package func cut() {
        checkThread()
        if phase != .closed { breakOff() }
    }

    /// Frees it at the end of the present callback.
    func breakOff() {
        mustClose = true
        flushLater()
    }

    func beginStop() {
        guard isOpen else { return }
        end(.goingAway, reason: "the server stops; come back")
    }

    /// The client's close frame is waited for.
    func awaitClose() {
        if phase != .open { return }
        leaveOpen(.closing)
        deadline = HTTPLoop.now + stream.configuration.lingerTimeout.nanoseconds
    }

    /// Nothing more is sent: what is left goes out, then the connection lingers, then it closes.
    func finish() {
        guard phase == .open || phase == .closing else { return }
        leaveOpen(.finishing)
        deadline = .max
        if outputLength == 0 { linger() }
    }

    private func linger() {
        if peerHasEnded || mustClose { return close() }
        if !isPlain { sayTLSGoodbye() }
        _ = shutdown(descriptor, Int32(SHUT_WR))
        phase = .lingering
        deadline = HTTPLoop.now + stream.configuration.lingerTimeout.nanoseconds
    }

    private func leaveOpen(_ next: Phase) {
        if phase == .open {
            stream.counters.streamsOpen.add(-1)
            flushLater()
        }
        phase = next
    }

    /// Frees socket and TLS session at once. The publisher is told, and the place given back, at the end of the callback.
    func close(isBroken: Bool = false) {
        guard phase != .closed, let bufferevent = unsafe bufferevent else { return }
        leaveOpen(.closed)
        if !isPlain, !isBroken { sayTLSGoodbye() }
        unsafe bufferevent_free(bufferevent)
        unsafe self.bufferevent = nil
        session = nil
        flushLater()
    }

    private func flushLater() {
        if isFlushDue { return }
        isFlushDue = true
        stream.loop.flushLater(self)
    }

    /// The end of a callback in which the connection has ended or broken.
    func flush() {
        isFlushDue = false
        if mustClose { close(isBroken: true) }
        if phase != .open, let push {
            self.push = nil
            push.closed(self)
        }
        guard phase == .closed, !hasLeft else { return }
        hasLeft = true
        stream.remove(self)
        stream.load.add(-1)
        reception.streamLeft(peerAddress)
    }

    /// Looks at the deadlines, and says something where there was silence.
    func sweep(_ now: UInt64) {
        if phase == .closed || mustClose { return }
        let configuration = stream.configuration
        if hasStalled(now) {
            if phase == .open { stream.counters.streamsCut.add() }
            return close(isBroken: true)
        }
        if now >= deadline { return close() }
        guard phase == .open else { return }
        if let session {
            if let pingedAt {
                if now - pingedAt >= configuration.writeTimeout.nanoseconds { close(isBroken: true) }
            } else if now - min(now, lastInput) >= configuration.streamHeartbeat.nanoseconds {
                pingedAt = now
                if session.ping() { sendControlFrames() } else { breakOff() }
            }
        } else if now - min(now, lastOutput) >= configuration.streamHeartbeat.nanoseconds {
            send(Array(":\n\n".utf8))
        }
    }
}
