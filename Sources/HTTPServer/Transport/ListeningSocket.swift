import CLibEvent
import Glibc

/// A bound, listening TCP socket. Owns its descriptor until `release()`.
final class ListeningSocket {
    private var descriptor: Int32
    /// The port in use, also when any was asked for.
    let port: UInt16

    /// Takes the first address of `host` that can be bound; throws `listen` with the last reason otherwise.
    init(host: String, port: UInt16, backlog: Int32, isShared: Bool) throws(HTTPError) {
        var hints = unsafe addrinfo()
        unsafe hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = unsafe getaddrinfo(host, String(port), &hints, &list)
        guard code == 0 else {
            throw unsafe HTTPError(code: .listen, operation: "resolve \(host)", message: String(cString: gai_strerror(code)))
        }
        defer { unsafe freeaddrinfo(list) }
        var reason = "no address"
        var next = unsafe list
        while let entry = unsafe next {
            let result = unsafe Self.open(entry.pointee, backlog: backlog, isShared: isShared)
            if result >= 0 {
                descriptor = result
                self.port = Self.port(of: result)
                return
            }
            reason = unsafe String(cString: strerror(-result))
            unsafe next = unsafe entry.pointee.ai_next
        }
        throw HTTPError(code: .listen, operation: "listen on \(host) port \(port)", message: reason)
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Hands the descriptor over to a new owner.
    func release() -> Int32 {
        defer { descriptor = -1 }
        return descriptor
    }

    /// A descriptor, or a negative errno.
    private static func open(_ address: addrinfo, backlog: Int32, isShared: Bool) -> Int32 {
        let type = unsafe address.ai_socktype | Int32(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = unsafe socket(address.ai_family, type, address.ai_protocol)
        guard descriptor >= 0 else { return -errno }
        setOption(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
        if isShared { setOption(descriptor, SOL_SOCKET, SO_REUSEPORT, 1) }
        if unsafe bind(descriptor, address.ai_addr, address.ai_addrlen) == 0, listen(descriptor, backlog) == 0 { return descriptor }
        let reason = errno
        close(descriptor)
        return -reason
    }

    private static func port(of descriptor: Int32) -> UInt16 {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(descriptor, $0, &length) }
        }
        precondition(result == 0, "A bound socket knows its name.")
        // The port has the same place in the addresses of both families.
        return unsafe withUnsafePointer(to: &storage) { pointer in
            unsafe UInt16(bigEndian: pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { unsafe $0.pointee.sin_port })
        }
    }

    static func setOption(_ descriptor: Int32, _ level: Int32, _ name: Int32, _ value: Int32) {
        var value = value
        // Refused only for a descriptor that is no socket, or gone already, which the next use tells.
        unsafe _ = setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}

/// The text of a peer's address. An IPv4 address that came through an IPv6 socket is written as IPv4.
func peerText(_ address: UnsafePointer<sockaddr>?) -> String {
    guard let address = unsafe address else { return "unknown" }
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    switch Int32(unsafe address.pointee.sa_family) {
    case AF_INET:
        unsafe address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { pointer in
            var host = unsafe pointer.pointee.sin_addr
            unsafe _ = inet_ntop(AF_INET, &host, &text, socklen_t(INET6_ADDRSTRLEN))
        }
    case AF_INET6:
        unsafe address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { pointer in
            var host = unsafe pointer.pointee.sin6_addr
            unsafe _ = inet_ntop(AF_INET6, &host, &text, socklen_t(INET6_ADDRSTRLEN))
        }
    default: return "unknown"
    }
    let result = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return result.hasPrefix("::ffff:") && result.contains(".") ? String(result.dropFirst(7)) : result
}
