import Glibc

/// One TCP connection, nonblocking, with TCP_NODELAY: a message waits for no other. Owns its descriptor; used by one thread at a time.
final class FIXSocket {
    private(set) var descriptor: Int32

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
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
        if count > 0 { return .bytes(count) }
        if count == 0 { return .closed }
        if errno == EAGAIN || errno == EINTR { return .nothing }
        throw FIXError.ofSystem("read", .connectionClosed)
    }

    /// Writes as much as the socket takes now; returns how much that was.
    func write(_ bytes: ArraySlice<UInt8>) throws(FIXError) -> Int {
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

/// A listening TCP socket. Owns its descriptor; used by one thread at a time.
final class FIXListener {
    let descriptor: Int32
    /// The port that was bound, also when any was asked for with 0.
    let port: UInt16

    /// Connections that wait to be accepted: a venue has a handful of counterparties.
    private static let backlog: Int32 = 64

    init(host: String, port: UInt16) throws(FIXError) {
        guard let address = try FIXSocket.addresses(host: host, port: port, passive: true).first else {
            throw FIXError(.addressNotFound, operation: "listen", message: "\(host) has no address")
        }
        descriptor = socket(address.family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { throw FIXError.ofSystem("socket") }
        do throws(FIXError) {
            self.port = try Self.listen(descriptor, address)
        } catch {
            close(descriptor)
            throw error
        }
    }

    deinit { close(descriptor) }

    private static func listen(_ descriptor: Int32, _ address: FIXSocket.SocketAddress) throws(FIXError) -> UInt16 {
        var yes: Int32 = 1
        guard unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size)) == 0 else {
            throw FIXError.ofSystem("listen", .listenFailed)
        }
        let bound = unsafe address.bytes.withUnsafeBytes { raw in
            unsafe bind(descriptor, raw.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(raw.count))
        }
        guard bound == 0, Glibc.listen(descriptor, backlog) == 0 else { throw FIXError.ofSystem("listen", .listenFailed) }
        var storage = [UInt8](repeating: 0, count: MemoryLayout<sockaddr_storage>.size)
        var size = socklen_t(storage.count)
        let named = unsafe storage.withUnsafeMutableBytes { raw in
            unsafe getsockname(descriptor, raw.baseAddress?.assumingMemoryBound(to: sockaddr.self), &size)
        }
        guard named == 0 else { throw FIXError.ofSystem("listen", .listenFailed) }
        // The port stands at the same place, in network order, in IPv4 and IPv6 addresses.
        return UInt16(storage[2]) << 8 | UInt16(storage[3])
    }

    /// A connection that waits, or nil.
    func accept() throws(FIXError) -> FIXSocket? {
        let accepted = Glibc.accept(descriptor, nil, nil)
        if accepted >= 0 { return try FIXSocket(descriptor: accepted) }
        switch errno {
        case EAGAIN, EINTR, ECONNABORTED: return nil
        default: throw FIXError.ofSystem("accept")
        }
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
