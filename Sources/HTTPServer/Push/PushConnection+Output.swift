import CLibEvent
import Cryptography
import Glibc

/// The write path: one `send` where nothing is in the way, else through the bufferevent.
extension PushConnection {
    /// Bytes that the client's kernel has not taken, beyond what ours holds (`HTTPConfiguration.streamSocketBytes`).
    package var outstanding: Int {
        checkThread()
        return outputLength
    }

    var outputLength: Int {
        guard let bufferevent = unsafe bufferevent, let output = unsafe bufferevent_get_output(bufferevent) else { return 0 }
        return unsafe evbuffer_get_length(output)
    }

    /// Room before a message for its framing: a chunk's size line with eight digits, or a frame's header.
    private static let headroom = WebSocketFrame.maximumHeaderBytes

    // MARK: Messages

    /// Sends whole events (each ends with an empty line), or one text message of UTF-8.
    ///
    /// Nothing happens when there is nothing to send, or the connection is not open any more. A client that has now fallen too far behind is cut.
    package func send(_ message: [UInt8]) {
        send { $0.append(contentsOf: message) }
    }

    /// The same for a message that `assemble` appends to a buffer of the loop: nothing is allocated for it. What the buffer holds already
    /// is to be left alone; nothing can be sent from inside.
    package func send(_ assemble: (inout [UInt8]) -> Void) {
        guard isOpen else { return }
        var buffer: [UInt8] = []
        swap(&buffer, &stream.scratch)
        buffer.append(contentsOf: repeatElement(0, count: Self.headroom))
        assemble(&buffer)
        precondition(buffer.count >= Self.headroom, "A message is appended; what is there stays.")
        if buffer.count > Self.headroom { unsafe frame(&buffer).withUnsafeBytes { unsafe write($0) } }
        buffer.removeAll(keepingCapacity: true)
        swap(&buffer, &stream.scratch)
    }

    /// Puts the framing of what lies behind the headroom right before it, and returns what is to be sent.
    private func frame(_ buffer: inout [UInt8]) -> ArraySlice<UInt8> {
        let length = buffer.count - Self.headroom
        var header: [UInt8] = []
        switch kind {
        case .webSocket: WebSocketFrame.appendHeader(length: length, to: &header)
        case .events(isChunked: true):
            header.append(contentsOf: String(length, radix: 16).utf8)
            header.append(text: "\r\n")
            buffer.append(text: "\r\n")
        case .events(isChunked: false): break
        }
        precondition(header.count <= Self.headroom, "A message is shorter than 4 GB.")
        let start = Self.headroom - header.count
        for (index, byte) in header.enumerated() { buffer[start + index] = byte }
        return buffer[start...]
    }

    /// Sends whole frames that `WebSocketFrame` has made, to a WebSocket: one or several, shared by as many clients as like.
    package func send(frames: [UInt8]) {
        precondition(isWebSocket, "Frames are a WebSocket's.")
        if isOpen { write(frames) }
    }

    /// What wslay has to say, and what follows from it for the connection.
    func sendControlFrames() {
        guard let session, phase == .open || phase == .closing else { return }
        guard let frames = session.takeOutput() else { return breakOff() }
        if !frames.isEmpty { write(frames) }
        if session.isOver { finish() } else if session.isEnding { awaitClose() }
    }

    // MARK: Bytes

    func write(_ bytes: [UInt8]) {
        unsafe bytes.withUnsafeBytes { unsafe write($0) }
    }

    private func write(_ bytes: UnsafeRawBufferPointer) {
        guard let bufferevent = unsafe bufferevent, let start = bytes.baseAddress else { return }
        let before = outputLength
        stream.counters.bytesSent.add(bytes.count)
        uptake.handOver(bytes.count, behind: before)
        lastOutput = HTTPLoop.now
        var sent = 0
        if isPlain, before == 0 {
            sent = unsafe Glibc.send(descriptor, start, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
            if sent < 0, errno != EAGAIN, errno != EINTR { return breakOff() }
            sent = max(0, sent)
        }
        if sent == bytes.count { return }
        if before == 0 { uptake.beginWaiting(at: lastOutput) }
        isBehind = true
        guard unsafe bufferevent_write(bufferevent, start + sent, bytes.count - sent) == 0 else { return breakOff() }
        if uptake.isTooFarBehind(left: outputLength, bound: stream.configuration.streamBufferBytes) {
            if phase == .open { stream.counters.streamsCut.add() }
            breakOff()
        }
    }

    func sayTLSGoodbye() {
        guard let bufferevent = unsafe bufferevent, let session = unsafe bufferevent_openssl_get_ssl(bufferevent) else { return }
        unsafe TLSContext.sayGoodbye(session)
    }

    /// True when output has waited for the client longer than allowed without any progress.
    func hasStalled(_ now: UInt64) -> Bool {
        uptake.hasStalled(left: outputLength, at: now, limit: stream.configuration.writeTimeout)
    }
}
