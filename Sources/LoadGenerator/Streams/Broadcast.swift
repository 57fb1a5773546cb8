import Glibc

/// The floor of every price stream: the same bytes to every client, so many times a second, with nothing to decide, serialise or keep.
struct Broadcast {
    let port: UInt16
    let bytes: Int
    let perSecond: Int
    /// Slices of a round: as the router spreads its clients.
    private static let slices = 50

    func run() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        var yes: Int32 = 1
        unsafe _ = setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        unsafe _ = inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
        let bound = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
        guard bound == 0, listen(listener, 1_024) == 0 else { throw LoadFailure("port \(port) cannot be listened at (errno \(errno))") }
        let message = [UInt8](repeating: 0x78, count: bytes)
        var clients: [Int32] = []
        var due = MonotonicClock.now
        var slice = 0
        let pause = 1_000_000_000 / Int64(perSecond * Self.slices)
        while true {
            while case let client = accept(listener, nil, nil), client >= 0 { clients.append(client) }
            for index in stride(from: slice, to: clients.count, by: Self.slices) {
                unsafe _ = send(clients[index], message, message.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
            }
            slice = (slice + 1) % Self.slices
            due += pause
            let rest = due - MonotonicClock.now
            if rest > 0 { usleep(UInt32(rest / 1_000)) }
        }
    }
}
