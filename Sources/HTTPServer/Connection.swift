import CLibEvent
import Cryptography
import Glibc

/// One client connection: reads requests, has them handled one after another, and writes the answers in that order.
///
/// @unchecked Sendable: everything here belongs to the loop's thread. Tasks and writers hold the connection from elsewhere, and touch it
/// only on that thread. Owns the bufferevent, which owns socket and TLS session; `close()` frees it.
@safe final class Connection: DeferredOutput, @unchecked Sendable {
    enum Phase {
        /// Waits for a request, or is in the middle of one.
        case receiving
        /// The handler is at work. What the client sends meanwhile stays in the buffer.
        case handling
        /// The head of a pushed stream is on its way; once it is sent, the connection leaves for a stream loop.
        case departing
        /// An event stream is being written. What the client sends is dropped.
        case streaming
        /// The last answer is written or on its way. What the client sends is dropped, so that it can read the answer.
        case lingering
        case closed
    }

    /// What the answer must know of the request.
    struct Exchange {
        var isHead = false
        var isVersion10 = false
        var keepsAlive = false
    }

    let reception: Reception
    let peerAddress: String
    let descriptor: Int32
    let isPlain: Bool
    /// The place in the reception's list.
    var slot = 0

    var phase = Phase.receiving
    var bufferevent: OpaquePointer?
    /// Monotonic nanoseconds at which the present phase has lasted too long.
    var deadline: UInt64

    // Output: see Connection+Output.swift.
    var pending: [UInt8] = []
    var isFlushDue = false
    var closesWhenDrained = false
    var uptake = Uptake()
    var lastStreamOutput: UInt64 = 0
    var writer: EventStreamWriter?
    var isChunked = false
    /// Where the connection goes when its head is sent.
    var departure: Departure?

    private let parser: RequestParser
    private(set) var exchange = Exchange()
    var task: Task<Void, Never>?
    private var isReceiving = false
    /// The client sends no more; it may still read.
    private(set) var peerHasEnded = false

    /// Takes over the descriptor; nil when memory is short (the descriptor is closed then).
    init?(reception: Reception, descriptor: Int32, peerAddress: String) {
        self.reception = reception
        self.descriptor = descriptor
        self.peerAddress = peerAddress
        isPlain = reception.tls == nil
        let configuration = reception.configuration
        parser = RequestParser(limits: reception.parserLimits)
        deadline = HTTPLoop.now + configuration.requestTimeout.nanoseconds
        let base = unsafe reception.loop.base
        let options = Int32(BEV_OPT_CLOSE_ON_FREE.rawValue)
        if let tls = reception.tls {
            if let session = unsafe tls.makeSession() {
                unsafe bufferevent = unsafe bufferevent_openssl_socket_new(base, descriptor, session, BUFFEREVENT_SSL_ACCEPTING, options)
            }
        } else {
            unsafe bufferevent = unsafe bufferevent_socket_new(base, descriptor, options)
        }
        guard let bufferevent = unsafe bufferevent else {
            Glibc.close(descriptor)
            return nil
        }
        if !isPlain { unsafe bufferevent_openssl_set_allow_dirty_shutdown(bufferevent, 1) }
        ListeningSocket.setOption(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        unsafe bufferevent_setwatermark(bufferevent, Int16(EV_READ), 0, configuration.maximumReadAheadBytes)
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe bufferevent_setcb(
            bufferevent,
            { _, context in unsafe Connection.callback(context) { $0.onReadable() } },
            { _, context in unsafe Connection.callback(context) { $0.onWritten() } },
            { _, events, context in unsafe Connection.callback(context) { $0.onEvent(Int32(events)) } },
            context
        )
        unsafe bufferevent_enable(bufferevent, Int16(EV_READ | EV_WRITE))
    }

    /// All callbacks from libevent go through here: hand over, then run what that made ready.
    private static func callback(_ context: UnsafeMutableRawPointer?, _ body: (Connection) -> Void) {
        guard let context = unsafe context else { preconditionFailure("A callback has lost its connection.") }
        let connection = unsafe Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue()
        body(connection)
        connection.reception.loop.drain()
    }

    // MARK: Receive

    private func onReadable() {
        switch phase {
        case .receiving: receive()
        case .handling, .departing, .closed: break
        case .streaming, .lingering: discardInput()
        }
    }

    private func receive() {
        if isReceiving { return }
        isReceiving = true
        defer { isReceiving = false }
        while phase == .receiving, let bufferevent = unsafe bufferevent, let input = unsafe bufferevent_get_input(bufferevent) {
            let length = unsafe evbuffer_get_contiguous_space(input)
            guard length > 0, let start = unsafe evbuffer_pullup(input, length) else { break }
            let wasIdle = parser.isIdle
            let (taken, progress) = unsafe parser.take(UnsafeRawBufferPointer(start: start, count: length))
            unsafe evbuffer_drain(input, taken)
            reception.counters.bytesReceived.add(taken)
            switch progress {
            case .incomplete:
                if wasIdle, !parser.isIdle { deadline = HTTPLoop.now + reception.configuration.requestTimeout.nanoseconds }
            case .expectsContinue:
                if wasIdle { deadline = HTTPLoop.now + reception.configuration.requestTimeout.nanoseconds }
                pending.append(text: "HTTP/1.1 100 Continue\r\n\r\n")
                flush()
            case .complete(let message): handle(message)
            case .refused(let fault): refuse(fault)
            }
        }
        if phase == .receiving, peerHasEnded { endOfInput() }
    }

    private func handle(_ message: RequestParser.Message) {
        phase = .handling
        deadline = .max
        exchange = Exchange(isHead: message.method == .head, isVersion10: message.isVersion10, keepsAlive: message.keepsAlive)
        let request = HTTPRequest(
            id: reception.nextRequestID(),
            method: message.method,
            path: message.target.path,
            query: message.target.query,
            headers: message.headers,
            body: message.body,
            peerAddress: peerAddress,
            isVersion10: message.isVersion10
        )
        reception.counters.requests.add()
        reception.taskStarted()
        let handler = reception.handler
        task = Task(executorPreference: reception.loop) { [self] in
            let response = await handler.respond(to: request)
            if let (write, writer) = answer(response, to: request) {
                await write(writer)
                endStream()
            }
            reception.taskEnded()
        }
    }

    /// The client sends no more. What is due is still answered.
    private func endOfInput() {
        if parser.isIdle { finish() } else { refuse(.malformed("The request ended before it was whole.")) }
    }

    private func onEvent(_ events: Int32) {
        if events & (BEV_EVENT_ERROR | BEV_EVENT_TIMEOUT) != 0 {
            close(isBroken: true)
        } else if events & BEV_EVENT_EOF != 0 {
            peerHasEnded = true
            switch phase {
            case .receiving: receive()
            case .handling, .closed: break
            case .streaming, .departing: close()
            case .lingering: if outputLength == 0 { close() }
            }
        }
    }

    // MARK: Answer

    /// Sends what the handler said. For an event stream returns what is to write it; nil also when the client has gone.
    private func answer(_ given: HTTPResponse, to request: HTTPRequest) -> (@Sendable (EventStreamWriter) async -> Void, EventStreamWriter)? {
        precondition(reception.loop.isCurrent, "A handler's answer comes back to its loop.")
        if phase == .closed { return nil }
        let response = given.isSound ? given : reception.problem(500, "The answer could not be sent.")
        switch response.body {
        case .bytes: answerBytes(response)
        case .pushed(let push): beginPush(response, push)
        case .webSocket(let push): beginWebSocket(response, push, request.webSocketHandshake)
        case .eventStream(let write):
            appendStreamHead(response, isVersion10: exchange.isVersion10)
            if exchange.isHead || peerHasEnded {
                task = nil
                finish()
                return nil
            }
            let writer = EventStreamWriter(connection: self, loop: reception.loop, bound: reception.configuration.streamBufferBytes)
            self.writer = writer
            phase = .streaming
            lastStreamOutput = HTTPLoop.now
            reception.counters.streamsOpen.add()
            discardInput()
            flush()
            if reception.isStopping { task?.cancel() }
            return (write, writer)
        }
        return nil
    }

    func answerBytes(_ response: HTTPResponse) {
        guard case .bytes(let body) = response.body else { preconditionFailure("These are the bytes of an answer.") }
        let isLast = peerHasEnded && inputLength == 0
        let closes = !exchange.keepsAlive || reception.isStopping || isLast || response.asksToClose
        append(response, body: body, closes: closes, isHead: exchange.isHead, isVersion10: exchange.isVersion10)
        task = nil
        if closes { finish() } else { next() }
    }

    /// Goes on with the next request. While more have come already, the answers leave together.
    private func next() {
        phase = .receiving
        deadline = HTTPLoop.now + reception.configuration.idleTimeout.nanoseconds
        if inputLength > 0 { flushLater() } else { flush() }
        if inputLength > 0 || peerHasEnded { receive() }
    }

    /// Answers in the handler's place and ends the connection: after a fault nobody knows where the next request begins.
    func refuse(_ fault: RequestFault) {
        reception.counters.requestsRefused.add()
        let response = reception.problem(fault.status, fault.detail)
        guard case .bytes(let body) = response.body else { preconditionFailure("A problem is not a stream.") }
        append(response, body: body, closes: true, isHead: parser.method == .head, isVersion10: false)
        finish()
    }

    private func endStream() {
        guard phase == .streaming, let writer else { return }
        if writer.isCut {
            cut()
            return
        }
        appendStreamEnd(writer)
        self.writer = nil
        task = nil
        reception.counters.streamsOpen.add(-1)
        finish()
    }

    // MARK: End

    /// Sends what is left, then lingers, then closes.
    func finish() {
        phase = .lingering
        deadline = .max
        closesWhenDrained = true
        discardInput()
        flush()
    }

    /// The server stops: idle connections end now, streams are asked to, requests under way are answered first.
    func beginStop() {
        switch phase {
        case .receiving: if parser.isIdle, inputLength == 0 { if outputLength == 0, pending.isEmpty { close() } else { finish() } }
        case .streaming: task?.cancel()
        case .handling, .departing, .lingering, .closed: break
        }
    }

    /// A slow reader of an event stream is cut.
    func cut() {
        guard phase == .streaming else { return }
        reception.counters.streamsCut.add()
        writer?.close(isCut: true)
        close(isBroken: true)
    }

    /// Frees everything at once. A handler that is still at work runs on; its answer is dropped. An event stream's task is cancelled.
    func close(isBroken: Bool = false) {
        guard phase != .closed, let bufferevent = unsafe bufferevent else { return }
        if phase == .streaming {
            reception.counters.streamsOpen.add(-1)
            task?.cancel()
        }
        phase = .closed
        if !isPlain, !isBroken { sayTLSGoodbye() }
        unsafe bufferevent_free(bufferevent)
        unsafe self.bufferevent = nil
        pending = []
        writer?.close()
        writer = nil
        task = nil
        reception.remove(self)
    }

    /// Looks at the deadlines.
    func sweep(_ now: UInt64) {
        if hasStalled(now) {
            if phase == .streaming { cut() } else { close(isBroken: true) }
            return
        }
        if phase == .streaming, now - lastStreamOutput >= reception.configuration.streamHeartbeat.nanoseconds { sendHeartbeat(now) }
        guard now >= deadline else { return }
        if phase == .receiving, !parser.isIdle {
            refuse(RequestFault(status: 408, detail: "The request did not come in time."))
        } else {
            close()
        }
    }
}
