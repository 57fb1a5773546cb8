import Glibc
import Synchronization

/// A pipe with which any thread wakes a thread that waits in poll. Owns both its ends.
final class WakeUp: Sendable {
    /// The end to wait on.
    let descriptor: Int32
    private let writing: Int32

    init() {
        var ends: [Int32] = [-1, -1]
        let result = unsafe ends.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return Int32(-1) }
            return unsafe pipe(base)
        }
        precondition(result == 0, "The system has two descriptors left for a wake-up.")
        descriptor = ends[0]
        writing = ends[1]
        for end in ends {
            let flags = fcntl(end, F_GETFL)
            precondition(fcntl(end, F_SETFL, flags | O_NONBLOCK) == 0 && fcntl(end, F_SETFD, FD_CLOEXEC) == 0, "A pipe takes its flags.")
        }
    }

    deinit {
        close(descriptor)
        close(writing)
    }

    /// A full pipe means that a wake-up is already pending: nothing is lost.
    func signal() {
        let byte: [UInt8] = [1]
        _ = unsafe byte.withUnsafeBytes { unsafe write(writing, $0.baseAddress, 1) }
    }

    func drain() {
        var bytes = [UInt8](repeating: 0, count: 256)
        while unsafe bytes.withUnsafeMutableBytes({ unsafe read(descriptor, $0.baseAddress, $0.count) }) == bytes.count {}
    }
}

/// Waits for descriptors.
enum Readiness {
    struct Result {
        var readable = false
        var writable = false
        var woken = false
    }

    /// - Parameter timeout: milliseconds; 0 = look and return.
    static func wait(reading: Int32?, writing: Int32?, wakeUp: WakeUp?, timeout: Int32) -> Result {
        var set: [pollfd] = []
        if reading != nil || writing != nil {
            let events = (reading != nil ? POLLIN : 0) | (writing != nil ? POLLOUT : 0)
            set.append(pollfd(fd: reading ?? writing ?? -1, events: Int16(events), revents: 0))
        }
        if let wakeUp { set.append(pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0)) }
        let count = unsafe set.withUnsafeMutableBufferPointer { unsafe poll($0.baseAddress, nfds_t($0.count), timeout) }
        var result = Result()
        guard count > 0 else { return result }
        for entry in set where entry.revents != 0 {
            if let wakeUp, entry.fd == wakeUp.descriptor {
                wakeUp.drain()
                result.woken = true
            } else {
                // An error or hang-up is found by the read or write that follows.
                let failed = Int32(entry.revents) & (POLLERR | POLLHUP | POLLNVAL) != 0
                result.readable = reading != nil && (failed || Int32(entry.revents) & POLLIN != 0)
                result.writable = writing != nil && (failed || Int32(entry.revents) & POLLOUT != 0)
            }
        }
        return result
    }
}

/// What other threads may ask of a running session.
package final class SessionControl: Sendable {
    private struct Asked {
        var stop: String?
        var drop: String?
    }

    let wakeUp = WakeUp()
    private let asked = Mutex(Asked())

    package init() {}

    /// There may be something to pull.
    package func wake() { wakeUp.signal() }

    /// Log out with the handshake, then end.
    package func stop(_ text: String) {
        asked.withLock { $0.stop = $0.stop ?? text }
        wakeUp.signal()
    }

    /// Close the connection at once, as a broken line would.
    package func drop(_ reason: String) {
        asked.withLock { $0.drop = reason }
        wakeUp.signal()
    }

    var stopText: String? { asked.withLock { $0.stop } }

    /// The request to drop is good for one connection.
    func takeDrop() -> String? {
        asked.withLock {
            let reason = $0.drop
            $0.drop = nil
            return reason
        }
    }
}

/// Runs a body on a thread of its own, for work that blocks.
enum SessionThread {
    private final class Start {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// The body owns itself: the thread is detached, who needs its end lets the body say so.
    static func start(_ body: @escaping @Sendable () -> Void) throws(FIXError) {
        let start = unsafe Unmanaged.passRetained(Start(body))
        var thread = pthread_t()
        let result = unsafe pthread_create(
            &thread,
            nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                unsafe Unmanaged<Start>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            },
            start.toOpaque()
        )
        guard result == 0 else {
            unsafe start.release()
            throw FIXError(.systemCallFailed, operation: "start a thread", message: FIXError.text(of: result))
        }
        pthread_detach(thread)
    }
}
