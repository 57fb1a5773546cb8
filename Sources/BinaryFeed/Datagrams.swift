import CDatagrams
import Glibc

/// A UDP socket that receives a feed's datagrams, many with one system call, into memory of its own. Owns its descriptor; used by one thread.
@safe
package final class DatagramReceiver {
    /// Datagrams of one system call: 16 full ones are 576 ticks, some 50 µs of the book's lock.
    package static let batch = 16
    /// Room of each: one byte more than a datagram may have, so that a longer one is seen to be.
    private static let room = BinaryFrame.size * BinaryFrame.perDatagram + 1
    /// The kernel's buffer: at a million ticks a second 40 MB/s come, so this is 100 ms. It may grant less (net.core.rmem_max).
    private static let kernelBuffer: Int32 = 4 << 20

    package let descriptor: Int32
    package let port: UInt16
    private let memory: UnsafeMutableRawPointer
    private let parts: UnsafeMutablePointer<datagram_room>
    private let headers: UnsafeMutablePointer<datagram>
    /// Datagrams that the last call brought.
    package private(set) var count = 0

    /// Binds; joins the group where the address is one.
    ///
    /// - Parameter interface: IPv4 address of the interface on which the group is joined.
    package init(group host: String, port: UInt16, interface: String) throws(FeedError) {
        let address = try FeedAddress(ipv4: host, port: port)
        descriptor = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw FeedError.ofSystem("socket") }
        unsafe memory = UnsafeMutableRawPointer.allocate(byteCount: Self.batch * Self.room, alignment: 64)
        unsafe parts = UnsafeMutablePointer<datagram_room>.allocate(capacity: Self.batch)
        unsafe headers = UnsafeMutablePointer<datagram>.allocate(capacity: Self.batch)
        for index in 0..<Self.batch {
            unsafe parts[index] = unsafe datagram_room(base: memory + index * Self.room, size: Self.room)
            unsafe headers[index] = unsafe datagram()
            unsafe headers[index].header.rooms = unsafe parts + index
            unsafe headers[index].header.room_count = 1
        }
        do throws(FeedError) {
            try Self.set(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
            // Less than asked for is no failure: losses are seen and made up for.
            try Self.set(descriptor, SOL_SOCKET, SO_RCVBUF, Self.kernelBuffer)
            guard address.bind(descriptor) == 0 else {
                throw FeedError.ofSystem("bind \(host):\(port)", .listenFailed)
            }
            if address.isMulticast { try Self.join(descriptor, address, interface) }
            self.port = try FeedAddress.ofSocket(descriptor).port
        } catch {
            unsafe Self.free(descriptor, memory, parts, headers)
            throw error
        }
    }

    deinit { unsafe Self.free(descriptor, memory, parts, headers) }

    private static func free(
        _ descriptor: Int32,
        _ memory: UnsafeMutableRawPointer,
        _ parts: UnsafeMutablePointer<datagram_room>,
        _ headers: UnsafeMutablePointer<datagram>
    ) {
        close(descriptor)
        unsafe headers.deallocate()
        unsafe parts.deallocate()
        unsafe memory.deallocate()
    }

    static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) throws(FeedError) {
        var value = value
        guard unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size)) == 0 else {
            throw FeedError.ofSystem("setsockopt \(option)")
        }
    }

    private static func join(_ descriptor: Int32, _ group: FeedAddress, _ interface: String) throws(FeedError) {
        var membership = ip_mreq()
        membership.imr_interface = try FeedAddress.ipv4(interface)
        unsafe withUnsafeMutableBytes(of: &membership.imr_multiaddr) { unsafe $0.copyBytes(from: group.bytes[4..<8]) }
        guard unsafe setsockopt(descriptor, Int32(IPPROTO_IP), IP_ADD_MEMBERSHIP, &membership, socklen_t(MemoryLayout<ip_mreq>.size)) == 0 else {
            throw FeedError.ofSystem("join the group on \(interface)")
        }
    }

    /// Takes what is there, at most `batch` datagrams; `count` says how many, 0 = nothing now.
    package func receive() throws(FeedError) {
        let received = unsafe recvmmsg(descriptor, headers, UInt32(Self.batch), Int32(MSG_DONTWAIT), nil)
        count = max(0, Int(received))
        if received < 0, errno != EAGAIN, errno != EINTR { throw FeedError.ofSystem("receive datagrams") }
    }

    /// Calls the body with the bytes of each datagram that the last call brought.
    package func withEach(_ body: (RawSpan) -> Void) {
        for index in 0..<count {
            let length = unsafe min(Int(headers[index].received), Self.room)
            let bytes = unsafe UnsafeRawBufferPointer(start: memory + index * Self.room, count: length)
            unsafe body(bytes.bytes)
        }
    }
}

/// A UDP socket that sends datagrams of whole frames to one group or address. Owns its descriptor; used by one thread.
package final class DatagramSender {
    private let descriptor: Int32
    private let address: FeedAddress
    /// Datagrams that the kernel did not take: lost, as any datagram may be.
    package private(set) var refused = 0

    /// - Parameter interface: IPv4 address of the interface on which a group's datagrams leave; they also come back to this machine.
    package init(to host: String, port: UInt16, interface: String) throws(FeedError) {
        address = try FeedAddress(ipv4: host, port: port)
        descriptor = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw FeedError.ofSystem("socket") }
        guard address.isMulticast else { return }
        do throws(FeedError) {
            var from = try FeedAddress.ipv4(interface)
            guard unsafe setsockopt(descriptor, Int32(IPPROTO_IP), IP_MULTICAST_IF, &from, socklen_t(MemoryLayout<in_addr>.size)) == 0 else {
                throw FeedError.ofSystem("send on \(interface)")
            }
            try DatagramReceiver.set(descriptor, Int32(IPPROTO_IP), IP_MULTICAST_LOOP, 1)
        } catch {
            close(descriptor)
            throw error
        }
    }

    deinit { close(descriptor) }

    /// Sends the frames in datagrams of at most `BinaryFrame.perDatagram`.
    package func send(_ bytes: [UInt8]) {
        let size = BinaryFrame.size * BinaryFrame.perDatagram
        for start in stride(from: 0, to: bytes.count, by: size) {
            let sent = unsafe bytes[start..<min(start + size, bytes.count)].withUnsafeBytes { raw in
                unsafe address.send(raw, from: descriptor)
            }
            if sent < 0 { refused += 1 }
        }
    }
}
