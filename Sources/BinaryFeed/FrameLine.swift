import Glibc

/// One TCP connection that carries frames, nonblocking. Owns its descriptor; used by one thread.
package final class FrameLine {
    /// Read at once, and so applied under one lock of a book: 640 frames.
    private static let room = 25_600
    /// Bytes that wait for a reader who does not read; beyond it the line is given up. A full answer of 100,000 symbols fits.
    private static let capacity = 16 << 20

    package let descriptor: Int32
    /// False while it is being connected.
    package private(set) var isConnected: Bool
    private var received = [UInt8](repeating: 0, count: room)
    /// Of `received`, from its front.
    private var filled = 0
    private var waiting: [UInt8] = []
    private var sent = 0

    /// Begins to connect: `finishConnecting` once it is writable.
    package init(to address: FeedAddress) throws(FeedError) {
        descriptor = Glibc.socket(address.family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw FeedError.ofSystem("socket") }
        isConnected = address.connect(descriptor) == 0
        guard isConnected || errno == EINPROGRESS else {
            let error = FeedError.ofSystem("connect", .connectFailed)
            close(descriptor)
            throw error
        }
        hurry()
    }

    init(accepted descriptor: Int32) {
        self.descriptor = descriptor
        isConnected = true
        hurry()
    }

    deinit { close(descriptor) }

    /// A frame waits for no other. A system that does not grant it is slower, no more.
    private func hurry() {
        var yes: Int32 = 1
        _ = unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
    }

    /// There is something to write, or a connection to be made.
    package var wantsToWrite: Bool { !isConnected || sent < waiting.count }

    package func finishConnecting() throws(FeedError) {
        var status: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &status, &size) == 0 else { throw FeedError.ofSystem("connect") }
        guard status == 0 else { throw FeedError.of(status, "connect", .connectFailed) }
        isConnected = true
    }

    /// Puts frames into the line; what the kernel does not take now goes with `flush`.
    package func send(_ bytes: [UInt8]) throws(FeedError) {
        guard waiting.count - sent + bytes.count <= Self.capacity else {
            throw FeedError(.tooSlow, operation: "send", message: "the other side does not read: \(waiting.count - sent) bytes wait")
        }
        if sent == waiting.count {
            waiting.removeAll(keepingCapacity: true)
            sent = 0
        }
        waiting += bytes
        if isConnected { try flush() }
    }

    package func flush() throws(FeedError) {
        while sent < waiting.count {
            let count = unsafe waiting[sent...].withUnsafeBytes { unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN { return }
            guard count > 0 else { throw FeedError.ofSystem("send", .connectionClosed) }
            sent += count
        }
    }

    /// Reads what is there, at most some hundred frames, and calls `body` with all that are whole. Returns false when there was nothing.
    package func receive(_ body: (RawSpan) -> Void) throws(FeedError) -> Bool {
        let count = unsafe received.withUnsafeMutableBytes { raw in
            unsafe recv(descriptor, raw.baseAddress?.advanced(by: filled), raw.count - filled, 0)
        }
        if count == 0 { throw FeedError(.connectionClosed, operation: "receive", message: "the other side has closed the line") }
        if count < 0 {
            if errno == EAGAIN || errno == EINTR { return false }
            throw FeedError.ofSystem("receive", .connectionClosed)
        }
        filled += count
        let whole = filled / BinaryFrame.size * BinaryFrame.size
        if whole > 0 {
            unsafe body(received.span.bytes.extracting(first: whole))
            // Less than a frame is moved to the front.
            for index in whole..<filled { received[index - whole] = received[index] }
            filled -= whole
        }
        return true
    }
}

/// A listening TCP socket. Owns its descriptor; used by one thread.
package final class FrameListener {
    package let descriptor: Int32
    /// The port that was bound, also when any was asked for with 0.
    package let port: UInt16

    /// Connections that wait to be accepted: a feed has a handful of readers.
    private static let backlog: Int32 = 64

    package init(host: String, port: UInt16) throws(FeedError) {
        guard let address = try FeedAddress.resolve(host: host, port: port).first else {
            throw FeedError(.addressNotFound, operation: "listen", message: "\(host) has no address")
        }
        descriptor = Glibc.socket(address.family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw FeedError.ofSystem("socket") }
        do throws(FeedError) {
            try DatagramReceiver.set(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
            guard address.bind(descriptor) == 0, Glibc.listen(descriptor, Self.backlog) == 0 else {
                throw FeedError.ofSystem("listen on \(host):\(port)", .listenFailed)
            }
            self.port = try FeedAddress.ofSocket(descriptor).port
        } catch {
            close(descriptor)
            throw error
        }
    }

    deinit { close(descriptor) }

    /// A connection that waits, or nil.
    package func accept() throws(FeedError) -> FrameLine? {
        let accepted = Glibc.accept(descriptor, nil, nil)
        if accepted >= 0 {
            let flags = fcntl(accepted, F_GETFL)
            guard fcntl(accepted, F_SETFL, flags | O_NONBLOCK) == 0, fcntl(accepted, F_SETFD, FD_CLOEXEC) == 0 else {
                let error = FeedError.ofSystem("accept")
                close(accepted)
                throw error
            }
            return FrameLine(accepted: accepted)
        }
        switch errno {
        case EAGAIN, EINTR, ECONNABORTED: return nil
        default: throw FeedError.ofSystem("accept")
        }
    }
}
