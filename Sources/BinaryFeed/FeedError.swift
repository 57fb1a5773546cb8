import Glibc

/// The one error of the binary feed's lines.
package struct FeedError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Sendable {
        case addressNotFound
        case connectFailed
        case connectionClosed
        case listenFailed
        case tooSlow
        case systemCallFailed
    }

    package let code: Code
    package let operation: String
    package let message: String

    package init(_ code: Code, operation: String, message: String) {
        self.code = code
        self.operation = operation
        self.message = message
    }

    package var description: String { "\(operation): \(message)" }

    /// The last error of the system; to be read at once after the call that failed.
    static func ofSystem(_ operation: String, _ code: Code = .systemCallFailed) -> FeedError { of(errno, operation, code) }

    static func of(_ number: Int32, _ operation: String, _ code: Code) -> FeedError {
        var buffer = [CChar](repeating: 0, count: 256)
        let text = unsafe buffer.withUnsafeMutableBufferPointer { space in
            guard let base = space.baseAddress, unsafe strerror_r(number, base, space.count) == 0 else { return "error \(number)" }
            return unsafe String(cString: base)
        }
        return FeedError(code, operation: operation, message: text)
    }
}

/// One resolved address, as the system writes it.
package struct FeedAddress: Hashable, Sendable {
    let family: Int32
    let bytes: [UInt8]

    /// Resolves a name; may block for as long as the system's resolver takes.
    package static func resolve(host: String, port: UInt16) throws(FeedError) -> [FeedAddress] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        unsafe hints.ai_flags = AI_NUMERICSERV
        var list: UnsafeMutablePointer<addrinfo>?
        let result = unsafe getaddrinfo(host, String(port), &hints, &list)
        guard result == 0 else {
            throw FeedError(.addressNotFound, operation: "resolve \(host)", message: unsafe String(cString: gai_strerror(result)))
        }
        defer { unsafe freeaddrinfo(list) }
        var found: [FeedAddress] = []
        var next = unsafe list
        while let entry = unsafe next {
            let info = unsafe entry.pointee
            found.append(
                FeedAddress(
                    family: unsafe info.ai_family,
                    bytes: unsafe [UInt8](UnsafeRawBufferPointer(start: info.ai_addr, count: Int(info.ai_addrlen)))
                )
            )
            unsafe next = info.ai_next
        }
        return found
    }

    /// A numeric IPv4 address.
    package init(ipv4 host: String, port: UInt16) throws(FeedError) {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr = try Self.ipv4(host)
        self.init(family: AF_INET, bytes: unsafe withUnsafeBytes(of: &address) { unsafe [UInt8]($0) })
    }

    /// The four numbers, in network order.
    static func ipv4(_ host: String) throws(FeedError) -> in_addr {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        guard parts.count == 4, parts.allSatisfy({ $0 != nil }) else {
            throw FeedError(.addressNotFound, operation: "resolve \(host)", message: "no IPv4 address")
        }
        let number = parts.reduce(UInt32(0)) { $0 << 8 | UInt32($1 ?? 0) }
        return in_addr(s_addr: number.bigEndian)
    }

    init(family: Int32, bytes: [UInt8]) {
        self.family = family
        self.bytes = bytes
    }

    /// The port stands at the same place, in network order, in IPv4 and IPv6 addresses.
    package var port: UInt16 { UInt16(bytes[2]) << 8 | UInt16(bytes[3]) }

    /// Of an IPv4 address: 224.0.0.0 to 239.255.255.255 (RFC 5771).
    package var isMulticast: Bool { family == AF_INET && bytes[4] >> 4 == 14 }

    func connect(_ descriptor: Int32) -> Int32 { unsafe withSystemForm { unsafe Glibc.connect(descriptor, $0, $1) } }

    func bind(_ descriptor: Int32) -> Int32 { unsafe withSystemForm { unsafe Glibc.bind(descriptor, $0, $1) } }

    func send(_ bytes: UnsafeRawBufferPointer, from descriptor: Int32) -> Int {
        unsafe withSystemForm { unsafe sendto(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL), $0, $1) }
    }

    private func withSystemForm<Value>(_ body: (UnsafePointer<sockaddr>?, socklen_t) -> Value) -> Value {
        unsafe bytes.withUnsafeBytes { raw in unsafe body(raw.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(raw.count)) }
    }

    /// Where a bound socket stands.
    static func ofSocket(_ descriptor: Int32) throws(FeedError) -> FeedAddress {
        var storage = [UInt8](repeating: 0, count: MemoryLayout<sockaddr_storage>.size)
        var size = socklen_t(storage.count)
        let named = unsafe storage.withUnsafeMutableBytes { raw in
            unsafe getsockname(descriptor, raw.baseAddress?.assumingMemoryBound(to: sockaddr.self), &size)
        }
        guard named == 0 else { throw FeedError.ofSystem("getsockname") }
        return FeedAddress(family: Int32(storage[0]) | Int32(storage[1]) << 8, bytes: Array(storage.prefix(Int(size))))
    }
}
