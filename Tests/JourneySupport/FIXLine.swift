package import FIX
import Foundation
import Synchronization

/// A line between a router and a venue that a test can break at any message, and on which it sees each.
package final class FIXLine: Sendable {
    package enum Direction: Sendable {
        case toVenue
        case toRouter
    }

    package enum Verdict: Sendable {
        case pass
        /// It never arrives; the line goes on.
        case swallow
        /// The line breaks before it arrives.
        case cut
        /// The line breaks once it has been handed on; the other end may read it all the same.
        case cutBehind
    }

    package typealias Judge = @Sendable (Direction, FIXMessage) -> Verdict

    private struct State {
        var judge: Judge = { _, _ in .pass }
        var isClosed = false
        var isOver = false
        var links: [(Int32, Int32)] = []
    }

    package let port: UInt16
    private let venuePort: UInt16
    private let listener: Int32
    private let state = Mutex(State())

    /// - Parameter venuePort: where the venue listens, now and whenever it is started again.
    package init(to venuePort: UInt16) throws {
        self.venuePort = venuePort
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        self.listener = listener
        var address = Self.address(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(listener, address, length) == 0 && listen(listener, 16) == 0 && getsockname(listener, address, &length) == 0
            }
        }
        guard isBound else { throw POSIXError(POSIXError.Code(rawValue: errno) ?? .EINVAL) }
        port = UInt16(bigEndian: address.sin_port)
        let thread = Thread { [self] in accept() }
        thread.start()
    }

    /// Decides over each message from now on, one after another.
    package func judge(_ judge: @escaping Judge) { state.withLock { $0.judge = judge } }

    /// Breaks the line and takes no other until it is opened.
    package func close() {
        state.withLock { $0.isClosed = true }
        cut()
    }

    package func open() { state.withLock { $0.isClosed = false } }

    /// Breaks the line; the next one is taken.
    package func cut() {
        state.withLock { state in
            for (router, venue) in state.links {
                shutdown(router, Int32(SHUT_RDWR))
                shutdown(venue, Int32(SHUT_RDWR))
            }
        }
    }

    /// Each line must be ended.
    package func end() {
        state.withLock { $0.isOver = true }
        shutdown(listener, Int32(SHUT_RDWR))
        cut()
    }

    private static func address(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return address
    }

    private func accept() {
        while true {
            let router = Glibc.accept(listener, nil, nil)
            if router < 0 && errno == EINTR { continue }
            if router < 0 || state.withLock({ $0.isOver }) { break }
            guard !state.withLock({ $0.isClosed }), let venue = connect() else {
                Glibc.close(router)
                continue
            }
            state.withLock { $0.links.append((router, venue)) }
            Thread.detachNewThread { [self] in
                serve(router, venue)
                state.withLock { $0.links.removeAll { $0 == (router, venue) } }
                Glibc.close(router)
                Glibc.close(venue)
            }
        }
        Glibc.close(listener)
    }

    private func connect() -> Int32? {
        let venue = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = Self.address(port: venuePort)
        let isConnected = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe Glibc.connect(venue, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        if !isConnected { Glibc.close(venue) }
        return isConnected ? venue : nil
    }

    private func serve(_ router: Int32, _ venue: Int32) {
        var (fromRouter, fromVenue) = (FrameDecoder(), FrameDecoder())
        while true {
            var entries = [pollfd(fd: router, events: Int16(POLLIN), revents: 0), pollfd(fd: venue, events: Int16(POLLIN), revents: 0)]
            guard unsafe poll(&entries, 2, -1) > 0 || errno == EINTR else { return }
            if entries[0].revents != 0, !pass(.toVenue, from: router, to: venue, &fromRouter) { return }
            if entries[1].revents != 0, !pass(.toRouter, from: venue, to: router, &fromVenue) { return }
        }
    }

    /// False where the line ends.
    private func pass(_ direction: Direction, from source: Int32, to end: Int32, _ decoder: inout FrameDecoder) -> Bool {
        var block = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe read(source, &block, block.count)
        guard count > 0 else { return false }
        decoder.append(block[..<count])
        while let message = decoder.next() {
            // One message at a time, whichever way it goes: a test that breaks the line at the third sees no fourth.
            switch state.withLock({ $0.judge(direction, message) }) {
            case .pass: guard send(message.bytes, to: end) else { return false }
            case .swallow: continue
            case .cut: return false
            case .cutBehind:
                _ = send(message.bytes, to: end)
                return false
            }
        }
        return true
    }

    private func send(_ bytes: [UInt8], to end: Int32) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes[sent...].withUnsafeBytes { unsafe Glibc.send(end, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }
}
