import CLibEvent
import COpenSSL
import Glibc

/// A connection on its way from the loop that read its request to the loop that writes its stream. Nothing of ours is unsent.
///
/// Owns the descriptor and the TLS session until a `PushConnection` takes them, or `abandon()` is called.
///
/// @unchecked Sendable: one loop at a time has it; the loops' inboxes order them.
@safe struct Handover: @unchecked Sendable {
    enum Kind {
        /// Server-sent events, in chunks or (HTTP/1.0) as they are.
        case events(isChunked: Bool)
        case webSocket
    }

    let descriptor: Int32
    let tlsSession: OpaquePointer?
    let kind: Kind
    let push: any PushHandler
    let peerAddress: String
    /// Where the connection was accepted, and is counted.
    let reception: Reception
    let stream: StreamLoop
    /// What the client has sent behind the handshake already.
    var input: [UInt8]

    /// For when nobody can take the connection: the server has stopped, or memory is short.
    func abandon() {
        if let tlsSession = unsafe tlsSession { unsafe SSL_free(tlsSession) }
        close(descriptor)
        leave()
    }

    /// The connection is no more.
    func leave() {
        stream.load.add(-1)
        reception.streamLeft(peerAddress)
    }

    /// Reads what OpenSSL has decrypted but nobody fetched: the socket would not tell of it again.
    mutating func takeDecrypted() {
        guard let tlsSession = unsafe tlsSession else { return }
        while case let count = unsafe SSL_pending(tlsSession), count > 0 {
            var bytes = [UInt8](repeating: 0, count: Int(count))
            let read = unsafe SSL_read(tlsSession, &bytes, count)
            guard read > 0 else { return }
            input.append(contentsOf: bytes.prefix(Int(read)))
        }
    }
}

/// The connection's side: the head is sent, then socket and TLS session are taken out of this loop.
extension Connection {
    struct Departure {
        let kind: Handover.Kind
        let push: any PushHandler
    }

    /// Answers with a stream's head, and has the connection leave once the client's kernel has it.
    func beginPush(_ response: HTTPResponse, _ push: any PushHandler) {
        if reception.isStopping { return answerBytes(reception.problem(503, "The server stops.")) }
        appendStreamHead(response, isVersion10: exchange.isVersion10)
        depart(Departure(kind: .events(isChunked: isChunked), push: push))
    }

    func beginWebSocket(_ response: HTTPResponse, _ push: any PushHandler, _ handshake: WebSocketHandshake) {
        if reception.isStopping { return answerBytes(reception.problem(503, "The server stops.")) }
        switch handshake {
        case .refused(let status, let detail):
            var refusal = reception.problem(status, detail)
            // RFC 9110 section 15.5.22 and RFC 6455 section 4.4: what is spoken here.
            refusal.headers += [("Sec-WebSocket-Version", "13")]
            if status == 426 { refusal.headers += [("Upgrade", "websocket")] }
            answerBytes(refusal)
        case .proper(let accept):
            var response = response
            response.headers += [("Upgrade", "websocket"), ("Sec-WebSocket-Accept", accept)]
            reception.responses.writeHead(response, framing: .upgrade, closes: false, isVersion10: false, at: time(nil), to: &pending)
            ListeningSocket.setOption(descriptor, SOL_SOCKET, SO_SNDBUF, reception.configuration.streamSocketBytes)
            depart(Departure(kind: .webSocket, push: push))
        }
    }

    private func depart(_ departure: Departure) {
        task = nil
        if exchange.isHead || peerHasEnded { return finish() }
        self.departure = departure
        phase = .departing
        flush()
    }

    /// The head is sent. What follows must not happen inside one of the bufferevent's own callbacks.
    func onHeadSent() {
        guard let bufferevent = unsafe bufferevent else { return }
        unsafe bufferevent_disable(bufferevent, Int16(EV_READ | EV_WRITE))
        reception.loop.perform { [self] in detach() }
    }

    private func detach() {
        guard phase == .departing, let departure, let bufferevent = unsafe bufferevent else { return }
        var input: [UInt8] = []
        if case .webSocket = departure.kind { input = takeInput() } else { discardInput() }
        let session = isPlain ? nil : unsafe bufferevent_openssl_get_ssl(bufferevent)
        // Without a descriptor the bufferevent closes none; its memory, and its hold on the session, end before this loop waits again.
        if let session = unsafe session {
            unsafe SSL_up_ref(session)
            // Not bufferevent_setfd, which begins a new TLS session. The new bufferevent gives the session the descriptor again.
            guard unsafe SSL_set_fd(session, -1) == 1 else {
                unsafe SSL_free(session)
                return close(isBroken: true)
            }
        } else {
            unsafe bufferevent_setfd(bufferevent, -1)
        }
        unsafe bufferevent_free(bufferevent)
        unsafe self.bufferevent = nil
        self.departure = nil
        phase = .closed
        let stream = reception.streams.leastLoaded()
        stream.load.add(1)
        let handover = unsafe Handover(
            descriptor: descriptor,
            tlsSession: session,
            kind: departure.kind,
            push: departure.push,
            peerAddress: peerAddress,
            reception: reception,
            stream: stream,
            input: input
        )
        reception.depart(self)
        reception.loop.perform {
            if !stream.loop.perform({ stream.adopt(handover) }) { handover.abandon() }
        }
    }

    private func takeInput() -> [UInt8] {
        guard let bufferevent = unsafe bufferevent, let buffer = unsafe bufferevent_get_input(bufferevent) else { return [] }
        let input = unsafe takeAll(buffer)
        reception.counters.bytesReceived.add(input.count)
        return input
    }
}

/// Moves everything out of a buffer.
func takeAll(_ buffer: OpaquePointer) -> [UInt8] {
    let length = unsafe evbuffer_get_length(buffer)
    if length == 0 { return [] }
    return unsafe [UInt8](unsafeUninitializedCapacity: length) { bytes, count in
        count = max(0, Int(unsafe evbuffer_remove(buffer, bytes.baseAddress, length)))
    }
}
