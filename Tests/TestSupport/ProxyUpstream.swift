import Foundation

/// Where the proxy's connections go: a Unix socket or a TCP address of this machine.
struct ProxyUpstream {
    private let host: String
    private let port: String

    /// - Parameter server: as `PostgresConnection.server` describes it, host:port/database.
    init(_ server: String) throws {
        guard let match = server.wholeMatch(of: /(.+):(\d+)\/[^\/]*/) else { throw POSIXError(.EINVAL) }
        (host, port) = (String(match.1), String(match.2))
    }

    func connect() -> Int32? {
        if host.hasPrefix("/") {
            let connection = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            guard unsafe Self.withAddress("\(host)/.s.PGSQL.\(port)", { unsafe Glibc.connect(connection, $0, $1) }) == 0 else {
                close(connection)
                return nil
            }
            return connection
        }
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host, port, &hints, &found) == 0, let first = unsafe found else { return nil }
        defer { unsafe freeaddrinfo(first) }
        let connection = unsafe socket(first.pointee.ai_family, Int32(SOCK_STREAM.rawValue), 0)
        guard unsafe Glibc.connect(connection, first.pointee.ai_addr, first.pointee.ai_addrlen) == 0 else {
            close(connection)
            return nil
        }
        return connection
    }

    static func listen(at path: String) throws -> Int32 {
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        guard unsafe withAddress(path, { unsafe bind(listener, $0, $1) }) == 0, Glibc.listen(listener, 64) == 0 else {
            close(listener)
            throw POSIXError(POSIXError.Code(rawValue: errno) ?? .EINVAL)
        }
        return listener
    }

    private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let room = MemoryLayout.size(ofValue: address.sun_path)
        precondition(path.utf8.count < room, "The path \(path) does not fit a socket's address.")
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
    }
}
