import Glibc

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
