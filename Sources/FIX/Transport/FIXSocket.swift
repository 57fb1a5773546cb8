import Glibc

/// One TCP connection, nonblocking, with TCP_NODELAY: a message waits for no other. With TLS once it is secured. Owns its descriptor; used by one thread
/// at a time.
final class FIXSocket {
    private(set) var descriptor: Int32
    private var tls: TLSConnection?
    /// Records as they come over the wire.
    private var wire: [UInt8] = []
    private var hasHeard = false

    enum Received: Equatable {
        case bytes(Int)
        case nothing
        case closed
    }

    init(descriptor: Int32) throws(FIXError) {
        self.descriptor = descriptor
        var yes: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        let flags = fcntl(descriptor, F_GETFL)
        guard flags >= 0, fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0, fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0,
            unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, size) == 0
        else {
            let error = FIXError.ofSystem("socket options")
            Glibc.close(descriptor)
            self.descriptor = -1
            throw error
        }
    }

    deinit { close() }

    /// Closes the connection now. Nothing may be read or written afterwards.
    func close() {
        if let tls, descriptor >= 0 {
            tls.close()
            answer(tls)
        }
        tls = nil
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }

    /// Resolves, connects to the first address that answers.
    ///
    /// - Parameter timeout: milliseconds for each address.
    static func connect(host: String, port: UInt16, timeout: Int32) throws(FIXError) -> FIXSocket {
        var failure = FIXError(.addressNotFound, operation: "connect", message: "\(host) has no address")
        for address in try addresses(host: host, port: port, passive: false) {
            do throws(FIXError) {
                return try connect(address, timeout: timeout)
            } catch {
                failure = error
            }
        }
        throw failure
    }

    private static func connect(_ address: SocketAddress, timeout: Int32) throws(FIXError) -> FIXSocket {
        let descriptor = Glibc.socket(address.family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw FIXError.ofSystem("socket") }
        let socket = try FIXSocket(descriptor: descriptor)
        let result = unsafe address.bytes.withUnsafeBytes { raw in
            unsafe Glibc.connect(descriptor, raw.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(raw.count))
        }
        if result == 0 { return socket }
        guard errno == EINPROGRESS else { throw FIXError.ofSystem("connect", .connectFailed) }
        guard Readiness.wait(reading: nil, writing: descriptor, wakeUp: nil, timeout: timeout).writable else {
            throw FIXError(.timedOut, operation: "connect", message: "no answer within \(timeout) ms")
        }
        var status: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &status, &size) == 0 else { throw FIXError.ofSystem("connect") }
        guard status == 0 else { throw FIXError(.connectFailed, operation: "connect", message: FIXError.text(of: status)) }
        return socket
    }

    /// Reads what is there into the front of the buffer.
    func read(into buffer: inout [UInt8]) throws(FIXError) -> Received {
        guard let tls else {
            let received = try receive(into: &buffer)
            if case .bytes(let count) = received, !hasHeard {
                hasHeard = true
                guard !LineTLS.looksLikeTLS(buffer[..<count]) else { throw LineTLS.isTLS }
            }
            return received
        }
        if !tls.mayHoldMore {
            switch try receive(into: &wire) {
            case .nothing: return .nothing
            // Without a close_notify: a FIX session ends with its Logout, what comes before is a lost line either way.
            case .closed: return .closed
            case .bytes(let count): tls.take(wire[..<count])
            }
        }
        defer { answer(tls) }
        return try tls.read(into: &buffer)
    }

    /// Writes as much as the socket takes now; returns how much that was. What it has not taken is to come first in the next call.
    func write(_ bytes: ArraySlice<UInt8>) throws(FIXError) -> Int {
        guard let tls else { return try send(bytes) }
        if tls.sealed == 0 { try tls.seal(bytes) }
        // The socket may have taken a part of the record: its bytes are written when all of it is.
        return try sendUnsent(tls) ? tls.takeSealed() : 0
    }

    /// Waits for the line, or for a wake-up; what TLS holds already is readable at once.
    ///
    /// - Parameter timeout: milliseconds; 0 = look and return.
    func wait(writing: Bool, wakeUp: WakeUp?, timeout: Int32) -> Readiness.Result {
        let holdsMore = tls?.mayHoldMore == true
        var ready = Readiness.wait(
            reading: descriptor,
            writing: writing ? descriptor : nil,
            wakeUp: wakeUp,
            timeout: holdsMore ? 0 : timeout
        )
        if holdsMore { ready.readable = true }
        return ready
    }

    private func receive(into buffer: inout [UInt8]) throws(FIXError) -> Received {
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
        if count > 0 { return .bytes(count) }
        if count == 0 { return .closed }
        if errno == EAGAIN || errno == EINTR { return .nothing }
        throw FIXError.ofSystem("read", .connectionClosed)
    }

    private func send(_ bytes: ArraySlice<UInt8>) throws(FIXError) -> Int {
        let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        if count >= 0 { return count }
        if errno == EAGAIN || errno == EINTR { return 0 }
        throw FIXError.ofSystem("write", .connectionClosed)
    }

    /// One resolved address, as the system writes it.
    struct SocketAddress {
        let family: Int32
        let bytes: [UInt8]
    }

    static func addresses(host: String, port: UInt16, passive: Bool) throws(FIXError) -> [SocketAddress] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        unsafe hints.ai_flags = AI_NUMERICSERV | (passive ? AI_PASSIVE : 0)
        var list: UnsafeMutablePointer<addrinfo>?
        let result = unsafe getaddrinfo(host, String(port), &hints, &list)
        guard result == 0 else {
            throw FIXError(.addressNotFound, operation: "resolve \(host)", message: unsafe String(cString: gai_strerror(result)))
        }
        defer { unsafe freeaddrinfo(list) }
        var found: [SocketAddress] = []
        var next = unsafe list
        while let entry = unsafe next {
            let info = unsafe entry.pointee
            let bytes = unsafe [UInt8](UnsafeRawBufferPointer(start: info.ai_addr, count: Int(info.ai_addrlen)))
            found.append(SocketAddress(family: unsafe info.ai_family, bytes: bytes))
            unsafe next = info.ai_next
        }
        return found
    }
}

// MARK: TLS

extension FIXSocket {
    /// Ciphertext read at once.
    private static let wireSize = 65_536
    /// A look at the request to stop each 100 ms.
    private static let look: Int64 = 100

    /// The TLS handshake. Everything that is read and written afterwards is secured.
    ///
    /// - Parameters:
    ///   - host: where the other end was found.
    ///   - timeout: milliseconds for all of it: whoever connects and says nothing must not be waited for.
    ///   - isOver: there is no need for the connection any more.
    /// - Throws: `tlsFailed` with what to do about it, `timedOut`, or `connectionClosed`.
    func secure(with tls: LineTLS, host: String, timeout: Int64, clock: SessionClock, isOver: () -> Bool) throws(FIXError) {
        let connection = try TLSConnection(tls, host: host)
        wire = [UInt8](repeating: 0, count: Self.wireSize)
        let deadline = clock.monotonic() + timeout
        var isDone = false
        repeat {
            do throws(FIXError) {
                if !isDone { isDone = try connection.handshake() }
            } catch {
                answer(connection)
                throw error
            }
            if try sendUnsent(connection), isDone { break }
            let left = deadline - clock.monotonic()
            guard left > 0 else {
                throw FIXError(
                    .timedOut,
                    operation: "TLS handshake",
                    message: "not done within \(timeout) ms: does the other end speak TLS on this port?"
                )
            }
            guard !isOver() else { throw FIXError(.connectionClosed, operation: "TLS handshake", message: "it is not needed any more") }
            let ready = Readiness.wait(
                reading: isDone ? nil : descriptor,
                writing: connection.unsent.isEmpty ? nil : descriptor,
                wakeUp: nil,
                timeout: Int32(min(left, Self.look))
            )
            if ready.readable { try hear(connection) }
        } while true
        self.tls = connection
    }

    private func hear(_ connection: TLSConnection) throws(FIXError) {
        let received: Received
        do throws(FIXError) { received = try receive(into: &wire) } catch { throw Self.closedInHandshake }
        switch received {
        case .nothing: return
        case .closed: throw Self.closedInHandshake
        case .bytes(let count):
            guard hasHeard || LineTLS.looksLikeTLS(wire[..<count]) else { throw LineTLS.isPlain }
            hasHeard = true
            connection.take(wire[..<count])
        }
    }

    private static let closedInHandshake = FIXError(
        .tlsFailed,
        operation: "TLS handshake",
        message: "the other end closed the connection in its middle: does it speak TLS on this port, and does it want a certificate of this end?"
    )

    /// Writes what waits, as much as the socket takes; true when that was all.
    private func sendUnsent(_ tls: TLSConnection) throws(FIXError) -> Bool {
        while !tls.unsent.isEmpty {
            let count = try send(tls.unsent)
            if count == 0 { return false }
            tls.sent(count)
        }
        return true
    }

    /// What TLS itself has to say (an alert, new keys), if the socket takes it: never anything of the session's, which is written when that may write. Where
    /// the line is gone the next read or write finds it.
    private func answer(_ tls: TLSConnection) {
        guard tls.sealed == 0 else { return }
        _ = try? sendUnsent(tls)
    }
}

extension FIXError {
    /// The last error of the system; to be read at once after the call that failed.
    static func ofSystem(_ operation: String, _ code: Code = .systemCallFailed) -> FIXError {
        FIXError(code, operation: operation, message: text(of: errno))
    }

    static func text(of number: Int32) -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        return unsafe buffer.withUnsafeMutableBufferPointer { space in
            guard let base = space.baseAddress, unsafe strerror_r(number, base, space.count) == 0 else { return "error \(number)" }
            return unsafe String(cString: base)
        }
    }
}
