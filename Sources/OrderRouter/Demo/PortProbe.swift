import Glibc

/// Whether a port can be had, asked before anything is started.
enum PortProbe {
    /// - Parameter host: an IPv4 address.
    /// - Throws: with what to do about it.
    static func check(_ host: String, _ port: UInt16) throws(CommandFailure) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw CommandFailure("no socket can be made (errno \(errno))") }
        defer { close(descriptor) }
        // As the server does: connections of the run before, which linger, are no hindrance.
        var yes: Int32 = 1
        unsafe _ = setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        guard unsafe inet_pton(AF_INET, host, &address.sin_addr) == 1 else { throw CommandFailure("\(host) is not an IPv4 address") }
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0, listen(descriptor, 1) == 0 else {
            let reason = errno == EADDRINUSE ? "is in use: set PORT to another one" : "cannot be used (errno \(errno))"
            throw CommandFailure("port \(port) of \(host) \(reason)")
        }
    }
}
