import CLibEvent
import Cryptography
import Glibc

/// The write path: answers gather in `pending` and leave with one `send` where nothing is in the way, else through the bufferevent.
extension Connection {
    /// What the bufferevent still holds.
    var outputLength: Int {
        guard let bufferevent = unsafe bufferevent, let output = unsafe bufferevent_get_output(bufferevent) else { return 0 }
        return unsafe evbuffer_get_length(output)
    }

    var inputLength: Int {
        guard let bufferevent = unsafe bufferevent, let input = unsafe bufferevent_get_input(bufferevent) else { return 0 }
        return unsafe evbuffer_get_length(input)
    }

    func discardInput() {
        guard let bufferevent = unsafe bufferevent, let input = unsafe bufferevent_get_input(bufferevent) else { return }
        let length = unsafe evbuffer_get_length(input)
        if length == 0 { return }
        unsafe evbuffer_drain(input, length)
        reception.counters.bytesReceived.add(length)
    }

    // MARK: Answers

    func append(_ response: HTTPResponse, body: [UInt8], closes: Bool, isHead: Bool, isVersion10: Bool) {
        let hasBody = response.status != 204 && response.status != 304
        reception.responses.writeHead(
            response,
            framing: .length(hasBody ? body.count : 0),
            closes: closes,
            isVersion10: isVersion10,
            at: time(nil),
            to: &pending
        )
        if hasBody, !isHead { pending.append(contentsOf: body) }
    }

    func appendStreamHead(_ response: HTTPResponse, isVersion10: Bool) {
        var response = response
        for (name, value) in [("Content-Type", "text/event-stream"), ("Cache-Control", "no-store"), ("X-Accel-Buffering", "no")] {
            let lower = name.lowercased()
            if !response.headers.contains(where: { $0.name.lowercased() == lower }) { response.headers.append((name, value)) }
        }
        isChunked = !isVersion10
        // Whatever a client sends behind a stream's request is dropped, so the connection cannot be used again.
        reception.responses.writeHead(
            response,
            framing: isChunked ? .chunked : .close,
            closes: true,
            isVersion10: isVersion10,
            at: time(nil),
            to: &pending
        )
        ListeningSocket.setOption(descriptor, SOL_SOCKET, SO_SNDBUF, reception.configuration.streamSocketBytes)
    }

    func appendStreamEnd(_ writer: EventStreamWriter) {
        writer.close()
        appendEvents(writer.takeQueued())
        if reception.isStopping { appendEvents(Array(": the server stops; come back\n\n".utf8)) }
        if isChunked { pending.append(text: "0\r\n\r\n") }
    }

    private func appendEvents(_ events: [UInt8]) {
        if events.isEmpty { return }
        if isChunked {
            pending.append(contentsOf: String(events.count, radix: 16).utf8)
            pending.append(text: "\r\n")
        }
        pending.append(contentsOf: events)
        if isChunked { pending.append(text: "\r\n") }
    }

    func sendHeartbeat(_ now: UInt64) {
        lastStreamOutput = now
        appendEvents(Array(":\n\n".utf8))
        flush()
    }

    // MARK: Sending

    func flushLater() {
        if isFlushDue { return }
        isFlushDue = true
        reception.loop.flushLater(self)
    }

    func flush() {
        isFlushDue = false
        guard phase != .closed else { return }
        if let writer {
            let events = writer.takeQueued()
            if !events.isEmpty {
                lastStreamOutput = HTTPLoop.now
                appendEvents(events)
            }
        }
        if !pending.isEmpty, !send() {
            close(isBroken: true)
            return
        }
        let left = outputLength
        if let writer {
            writer.setOutstanding(left)
            if uptake.isTooFarBehind(left: left, bound: reception.configuration.streamBufferBytes) { cut() }
        }
        if left == 0 { onDrained() }
    }

    /// False when the connection is broken.
    private func send() -> Bool {
        guard let bufferevent = unsafe bufferevent else { return false }
        let before = outputLength
        let count = pending.count
        reception.counters.bytesSent.add(count)
        uptake.handOver(count, behind: before)
        var sent = 0
        if isPlain, before == 0 {
            let descriptor = descriptor
            let result = unsafe pending.withUnsafeBytes { bytes in
                unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
            }
            if result < 0, errno != EAGAIN, errno != EINTR { return false }
            sent = max(0, result)
        }
        if sent < count {
            if before == 0 { uptake.beginWaiting(at: HTTPLoop.now) }
            let code = unsafe pending.withUnsafeBytes { bytes in
                unsafe bufferevent_write(bufferevent, bytes.baseAddress! + sent, count - sent)
            }
            if code != 0 { return false }
        }
        // An idle connection keeps a small buffer only: there are thousands of them.
        pending.removeAll(keepingCapacity: pending.capacity <= 1024)
        return true
    }

    /// The bufferevent has nothing left.
    func onWritten() {
        guard phase != .closed, outputLength == 0 else { return }
        writer?.setOutstanding(0)
        onDrained()
    }

    private func onDrained() {
        if phase == .departing { return onHeadSent() }
        guard closesWhenDrained, pending.isEmpty else { return }
        closesWhenDrained = false
        if peerHasEnded {
            close()
            return
        }
        if !isPlain { sayTLSGoodbye() }
        _ = shutdown(descriptor, Int32(SHUT_WR))
        deadline = HTTPLoop.now + reception.configuration.lingerTimeout.nanoseconds
    }

    func sayTLSGoodbye() {
        guard let bufferevent = unsafe bufferevent, let session = unsafe bufferevent_openssl_get_ssl(bufferevent) else { return }
        unsafe TLSContext.sayGoodbye(session)
    }

    /// True when output has waited for the client longer than allowed without any progress.
    func hasStalled(_ now: UInt64) -> Bool {
        uptake.hasStalled(left: outputLength, at: now, limit: reception.configuration.writeTimeout)
    }
}
