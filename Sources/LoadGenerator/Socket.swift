import CEpoll
import Glibc

/// One TCP connection, nonblocking, with TCP_NODELAY. Owns its descriptor; used by one thread.
final class Socket {
    let descriptor: Int32

    private let noSignal = Int32(MSG_NOSIGNAL)

    enum Received {
        case bytes(Int)
        case nothing
        case closed
    }

    /// Begins to connect to an IPv4 address: it is there once the socket is writable.
    init(host: String, port: UInt16) throws(LoadFailure) {
        descriptor = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw LoadFailure("no socket can be made (errno \(errno)): is the limit of descriptors too low?") }
        var yes: Int32 = 1
        unsafe _ = setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        guard unsafe inet_pton(AF_INET, host, &address.sin_addr) == 1 else { throw LoadFailure("\(host) is not an IPv4 address") }
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 || errno == EINPROGRESS else { throw LoadFailure("\(host):\(port) cannot be connected to (errno \(errno))") }
    }

    deinit { close(descriptor) }

    /// Asks for a receive buffer of so few bytes, where the kernel gives one.
    func keepLittle(_ bytes: Int32) {
        var bytes = bytes
        unsafe _ = setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
    }

    /// What a connection that is being made has come to: 0, or the error's number.
    var failure: Int32 {
        var code: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        unsafe _ = getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size)
        return code
    }

    /// Sends what the kernel takes of the bytes from `start` on: how many; nil where the connection is lost.
    func send(_ bytes: [UInt8], from start: Int) -> Int? {
        let count = unsafe bytes.withUnsafeBytes { raw in
            unsafe Glibc.send(descriptor, raw.baseAddress?.advanced(by: start), raw.count - start, noSignal)
        }
        if count >= 0 { return count }
        return errno == EAGAIN || errno == EINTR ? 0 : nil
    }

    /// Receives into the buffer from `start` on.
    func receive(into buffer: inout [UInt8], from start: Int) -> Received {
        let count = unsafe buffer.withUnsafeMutableBytes { raw in
            unsafe recv(descriptor, raw.baseAddress?.advanced(by: start), raw.count - start, 0)
        }
        if count > 0 { return .bytes(count) }
        return count < 0 && (errno == EAGAIN || errno == EINTR) ? .nothing : .closed
    }
}

/// The kernel's list of connections on which something can be done.
@safe struct Readiness: ~Copyable {
    private let descriptor: Int32
    private static let capacity: Int32 = 512
    private var events = unsafe [epoll_event](repeating: epoll_event(), count: Int(capacity))

    struct Ready {
        let tag: Int
        let isWritable: Bool
        let isReadable: Bool
    }

    init() throws(LoadFailure) {
        descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard descriptor >= 0 else { throw LoadFailure("epoll is refused (errno \(errno))") }
    }

    deinit { close(descriptor) }

    /// - Parameter tag: comes back with each event.
    func add(_ socket: Socket, tag: Int, writing: Bool) { control(EPOLL_CTL_ADD, socket, tag, writing) }

    func change(_ socket: Socket, tag: Int, writing: Bool) { control(EPOLL_CTL_MOD, socket, tag, writing) }

    func remove(_ socket: Socket) { control(EPOLL_CTL_DEL, socket, 0, false) }

    private func control(_ operation: Int32, _ socket: Socket, _ tag: Int, _ writing: Bool) {
        var event = unsafe epoll_event()
        unsafe event.events = EPOLLIN.rawValue | (writing ? EPOLLOUT.rawValue : 0)
        unsafe event.data.u64 = UInt64(tag)
        let result = unsafe epoll_ctl(descriptor, operation, socket.descriptor, &event)
        precondition(result == 0, "A socket of ours can be watched.")
    }

    /// Waits for at most so many nanoseconds.
    ///
    /// - Returns: how many events there are; `ready` tells them.
    mutating func wait(nanoseconds: Int64) -> Int {
        var time = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        let count = unsafe epoll_pwait2(descriptor, &events, Self.capacity, &time, nil)
        return max(0, Int(count))
    }

    func ready(_ index: Int) -> Ready {
        let (tag, what) = unsafe (events[index].data.u64, events[index].events)
        return Ready(
            tag: Int(tag),
            isWritable: what & EPOLLOUT.rawValue != 0,
            isReadable: what & (EPOLLIN.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0
        )
    }
}
