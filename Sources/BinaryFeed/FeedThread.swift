import Glibc
import Synchronization

/// A thread of its own for a loop that waits for sockets, and the word that ends it.
package final class FeedThread: Sendable {
    /// What of a descriptor is waited for, and what was found.
    package struct Interest {
        let descriptor: Int32
        var isWriting: Bool
        package fileprivate(set) var isReady = false
        package fileprivate(set) var isWritable = false

        package init(_ descriptor: Int32, writing isWriting: Bool = false) {
            self.descriptor = descriptor
            self.isWriting = isWriting
        }
    }

    private let reading: Int32
    private let writing: Int32
    private let ended = Atomic(false)

    private init() throws(FeedError) {
        var ends: [Int32] = [-1, -1]
        guard unsafe ends.withUnsafeMutableBufferPointer({ unsafe $0.baseAddress.map { unsafe pipe($0) } ?? -1 }) == 0 else {
            throw FeedError.ofSystem("pipe")
        }
        (reading, writing) = (ends[0], ends[1])
        for end in ends {
            let flags = fcntl(end, F_GETFL)
            precondition(fcntl(end, F_SETFL, flags | O_NONBLOCK) == 0 && fcntl(end, F_SETFD, FD_CLOEXEC) == 0, "A pipe takes its flags.")
        }
    }

    deinit {
        close(reading)
        close(writing)
    }

    package var isEnded: Bool { ended.load(ordering: .acquiring) }

    /// Ends the next wait. From any thread; a full pipe means that a wake-up is pending already.
    private func wake() {
        let byte: [UInt8] = [1]
        _ = unsafe byte.withUnsafeBytes { unsafe write(writing, $0.baseAddress, 1) }
    }

    private func end() {
        ended.store(true, ordering: .releasing)
        wake()
    }

    /// Waits until one of them can be read (or written), at most so many milliseconds.
    package func wait(_ interests: inout [Interest], atMost timeout: Int64) {
        var set = [pollfd(fd: reading, events: Int16(POLLIN), revents: 0)]
        for interest in interests {
            set.append(pollfd(fd: interest.descriptor, events: Int16(POLLIN | (interest.isWriting ? POLLOUT : 0)), revents: 0))
        }
        let count = unsafe set.withUnsafeMutableBufferPointer { unsafe poll($0.baseAddress, nfds_t($0.count), Int32(clamping: max(0, timeout))) }
        guard count > 0 else { return }
        if set[0].revents != 0 { drain() }
        for index in interests.indices {
            let found = Int32(set[index + 1].revents)
            // An error or hang-up is found by the read or write that follows.
            let hasFailed = found & (POLLERR | POLLHUP | POLLNVAL) != 0
            interests[index].isReady = hasFailed || found & POLLIN != 0
            interests[index].isWritable = interests[index].isWriting && (hasFailed || found & POLLOUT != 0)
        }
    }

    private func drain() {
        var bytes = [UInt8](repeating: 0, count: 256)
        while unsafe bytes.withUnsafeMutableBytes({ unsafe read(reading, $0.baseAddress, $0.count) }) == bytes.count {}
    }

    /// Runs the body on a new thread until it returns; a cancelled task tells it to end (`isEnded`).
    package static func run(_ body: @escaping @Sendable (FeedThread) throws -> Void) async throws {
        let thread = try FeedThread()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let start = Start {
                    do {
                        try body(thread)
                        continuation.resume()
                    } catch {
                        continuation.resume(throwing: error)
                    }
                }
                let result = start.begin()
                if result != 0 { continuation.resume(throwing: FeedError.of(result, "start a thread", .systemCallFailed)) }
            }
        } onCancel: {
            thread.end()
        }
    }

    private final class Start {
        private let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }

        /// The body owns itself: the thread is detached.
        func begin() -> Int32 {
            var thread = pthread_t()
            let owned = unsafe Unmanaged.passRetained(self)
            let result = unsafe pthread_create(
                &thread,
                nil,
                { argument in
                    guard let argument = unsafe argument else { return nil }
                    unsafe Unmanaged<Start>.fromOpaque(argument).takeRetainedValue().body()
                    return nil
                },
                owned.toOpaque()
            )
            if result == 0 { pthread_detach(thread) } else { unsafe owned.release() }
            return result
        }
    }
}
