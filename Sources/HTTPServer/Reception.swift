import CLibEvent
import Cryptography
import Glibc

/// What one loop serves: its listening socket, its connections and their deadlines.
///
/// @unchecked Sendable: everything here belongs to the loop's thread, but for what is constant.
@safe final class Reception: @unchecked Sendable {
    let loop: HTTPLoop
    let configuration: HTTPConfiguration
    let handler: any HTTPHandler
    let tls: TLSContext?
    let counters: LiveCounters
    let parserLimits: RequestParser.Limits
    /// Where pushed streams go.
    let streams: StreamLoops

    var responses = ResponseWriter()
    private(set) var isStopping = false

    private let admission: Admission
    private let maximumConnections: Int
    private let socket: ListeningSocket
    private let drained: @Sendable () -> Void
    private var hasReported = false
    private var listener: OpaquePointer?
    private var isAccepting = false
    private var connections: [Connection] = []
    /// Connections that were accepted here and live on a stream loop now.
    private var streamCount = 0
    private var tasks = 0
    private var requestNumber: UInt64
    private var sweepTimer: LoopTimer?
    private var retryTimer: LoopTimer?
    private var stopTimer: LoopTimer?

    /// `drained` is called once, on the loop's thread, when no connection is left after `stop`.
    init(
        loop: HTTPLoop,
        number: Int,
        socket: ListeningSocket,
        configuration: HTTPConfiguration,
        handler: any HTTPHandler,
        tls: TLSContext?,
        counters: LiveCounters,
        admission: Admission,
        streams: StreamLoops,
        drained: @escaping @Sendable () -> Void
    ) {
        self.loop = loop
        self.socket = socket
        self.configuration = configuration
        self.handler = handler
        self.tls = tls
        self.counters = counters
        self.admission = admission
        self.streams = streams
        self.drained = drained
        maximumConnections = max(1, configuration.maximumConnections / configuration.loops)
        requestNumber = UInt64(number) << 56
        parserLimits = RequestParser.Limits(
            targetBytes: configuration.maximumTargetBytes,
            headerBytes: configuration.maximumHeaderBytes,
            headerCount: configuration.maximumHeaderCount,
            bodyBytes: configuration.maximumBodyBytes
        )
    }

    func nextRequestID() -> UInt64 {
        requestNumber += 1
        return requestNumber
    }

    /// An answer of the server's own. What the program renders is checked as a handler's answer is.
    func problem(_ status: Int, _ detail: String) -> HTTPResponse {
        let response = configuration.problem(status, detail)
        if case .bytes = response.body, response.isSound { return response }
        return HTTPResponse.problem(status: status, detail: detail)
    }

    // MARK: Accept

    /// Begins to accept. On the loop's thread.
    func open() {
        if isStopping { return }
        let timer = LoopTimer(loop: loop, isRepeating: true) { [unowned self] in sweep() }
        sweepTimer = timer
        retryTimer = LoopTimer(loop: loop) { [unowned self] in resumeAccepting() }
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        let flags = LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC
        unsafe listener = unsafe evconnlistener_new(
            loop.base,
            { _, descriptor, address, _, context in
                let reception = unsafe Reception.of(context)
                unsafe reception.accept(descriptor, address)
                reception.loop.drain()
            },
            context,
            UInt32(flags),
            0,
            socket.release()
        )
        guard let listener = unsafe listener, timer.start(after: configuration.sweepInterval) else {
            preconditionFailure("No memory for a listener at start.")
        }
        unsafe evconnlistener_set_error_cb(listener) { _, context in unsafe Reception.of(context).onAcceptError() }
        isAccepting = true
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> Reception {
        guard let context = unsafe context else { preconditionFailure("A callback has lost its reception.") }
        return unsafe Unmanaged<Reception>.fromOpaque(context).takeUnretainedValue()
    }

    private func accept(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>?) {
        let peer = unsafe peerText(address)
        guard admission.admit(peer) else {
            counters.connectionsRefused.add()
            turnAway(descriptor)
            return
        }
        guard let connection = Connection(reception: self, descriptor: descriptor, peerAddress: peer) else {
            admission.release(peer)
            counters.connectionsRefused.add()
            return
        }
        connection.slot = connections.count
        connections.append(connection)
        counters.connectionsOpen.add()
        counters.connectionsAccepted.add()
        if isFull { pauseAccepting() }
    }

    /// Says why, if that is possible at once; nothing is kept for a client that already has its share.
    private func turnAway(_ descriptor: Int32) {
        if tls == nil {
            let response = problem(503, "This address has too many connections.")
            if case .bytes(let body) = response.body {
                var bytes: [UInt8] = []
                responses.writeHead(response, framing: .length(body.count), closes: true, isVersion10: false, at: time(nil), to: &bytes)
                bytes.append(contentsOf: body)
                unsafe _ = bytes.withUnsafeBytes { bytes in
                    unsafe send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
                }
            }
        }
        close(descriptor)
    }

    private var isFull: Bool { connections.count + streamCount >= maximumConnections }

    private func pauseAccepting() {
        guard isAccepting, let listener = unsafe listener else { return }
        unsafe evconnlistener_disable(listener)
        isAccepting = false
    }

    private func resumeAccepting() {
        guard !isAccepting, !isFull, let listener = unsafe listener else { return }
        unsafe evconnlistener_enable(listener)
        isAccepting = true
    }

    /// For want of descriptors or memory the same error would come again at once, for ever: wait for some to be freed.
    private func onAcceptError() {
        counters.acceptFailures.add()
        pauseAccepting()
        retryTimer?.start(after: configuration.acceptBackOff)
    }

    // MARK: Connections

    func remove(_ connection: Connection) {
        forget(connection)
        admission.release(connection.peerAddress)
        counters.connectionsOpen.add(-1)
        if isStopping { endIfDone() } else { resumeAccepting() }
    }

    /// The connection leaves for a stream loop, and is counted on.
    func depart(_ connection: Connection) {
        forget(connection)
        streamCount += 1
    }

    /// A connection that departed is no more. From any thread.
    func streamLeft(_ peerAddress: String) {
        admission.release(peerAddress)
        counters.connectionsOpen.add(-1)
        let isTaken = loop.perform { [self] in
            streamCount -= 1
            if isStopping { endIfDone() } else { resumeAccepting() }
        }
        precondition(isTaken, "A loop waits for the streams that came from it.")
    }

    private func forget(_ connection: Connection) {
        let last = connections.removeLast()
        if last !== connection {
            connections[connection.slot] = last
            last.slot = connection.slot
        }
    }

    private func sweep() {
        let now = HTTPLoop.now
        // A copy: connections leave the list while it is walked.
        for connection in connections { connection.sweep(now) }
    }

    func taskStarted() { tasks += 1 }

    func taskEnded() {
        tasks -= 1
        if isStopping { endIfDone() }
    }

    // MARK: Stop

    /// Stops accepting, lets what is pending end, and closes what is left after `limit`. On the loop's thread.
    func stop(within limit: Duration) {
        guard !isStopping else { return }
        isStopping = true
        // Freed, not disabled: a disabled listener leaves clients waiting in the backlog.
        if let listener = unsafe listener { unsafe evconnlistener_free(listener) }
        unsafe listener = nil
        let timer = LoopTimer(loop: loop) { [unowned self] in closeAll() }
        stopTimer = timer
        for connection in connections { connection.beginStop() }
        if !connections.isEmpty, !timer.start(after: limit) { closeAll() }
        endIfDone()
    }

    private func closeAll() {
        for connection in connections { connection.close() }
    }

    /// The thread goes on until the last handler has ended: an order under way is not abandoned because its client was.
    private func endIfDone() {
        guard connections.isEmpty, streamCount == 0 else { return }
        if !hasReported {
            hasReported = true
            drained()
        }
        guard tasks == 0 else { return }
        sweepTimer = nil
        retryTimer = nil
        loop.stop()
    }
}
