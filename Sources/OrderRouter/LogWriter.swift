import Dispatch
import Glibc
import Postgres
import Synchronization

/// Writes lines from a thread of its own, so that nobody who logs waits for the reader of the log: not for its disk, nor for ever when it has stopped
/// to read. Lines stay whole and in the order in which they came; those that came together leave in one call.
final class LogWriter: Sendable {
    /// Bytes that may wait: what a busy router logs in some five seconds. What comes while a reader has stopped for longer is dropped, counted, and
    /// the count is the next line.
    static let capacityBytes = 4 << 20

    /// How long lines gather before they are written: short to whoever watches, and long enough for many of a busy router's.
    static let gathering: DispatchTimeInterval = .milliseconds(5)

    /// How long the end of the program waits for a reader that has stopped.
    private static let patience: DispatchTimeInterval = .seconds(2)

    private struct State {
        var waiting: [UInt8] = []
        var dropped = 0
        var isClosed = false
    }

    private let state = Mutex(State())
    private let descriptor: Int32
    private let capacityBytes: Int
    private let gathering: DispatchTimeInterval
    private let dropped: @Sendable (_ lines: Int) -> [UInt8]
    /// Raised when lines wait, or the writer is closed.
    private let hasWork = DispatchSemaphore(value: 0)
    private let isClosing = DispatchSemaphore(value: 0)
    private let hasEnded = DispatchSemaphore(value: 0)

    /// Starts the thread, which lives until `close()`.
    ///
    /// - Parameters:
    ///   - descriptor: stays its owner's.
    ///   - dropped: the line that says how many were dropped.
    init(
        descriptor: Int32 = 2,
        capacityBytes: Int = LogWriter.capacityBytes,
        gathering: DispatchTimeInterval = LogWriter.gathering,
        dropped: @escaping @Sendable (_ lines: Int) -> [UInt8]
    ) {
        self.descriptor = descriptor
        self.capacityBytes = capacityBytes
        self.gathering = gathering
        self.dropped = dropped
        Task(executorPreference: DedicatedThread(name: "log")) { self.run() }
    }

    /// Takes one line, its LF included. Never waits.
    func write(_ line: [UInt8]) {
        let isFirst = state.withLock { state in
            guard !state.isClosed, state.waiting.count + line.count <= capacityBytes else {
                state.dropped += 1
                return false
            }
            state.waiting.append(contentsOf: line)
            return state.waiting.count == line.count
        }
        if isFirst { hasWork.signal() }
    }

    /// Has everything written that came before, as far as the reader takes it in time; what comes later is dropped.
    func close() {
        state.withLock { $0.isClosed = true }
        isClosing.signal()
        hasWork.signal()
        _ = hasEnded.wait(timeout: .now() + Self.patience)
    }

    // MARK: The thread

    private func run() {
        var isOver = false
        while !isOver {
            hasWork.wait()
            isOver = state.withLock { $0.isClosed }
            if !isOver { _ = isClosing.wait(timeout: .now() + gathering) }
            let (lines, lost) = state.withLock { state in
                defer { (state.waiting, state.dropped) = ([], 0) }
                return (state.waiting, state.dropped)
            }
            Log.write(lost == 0 ? lines : lines + dropped(lost), to: descriptor)
        }
        hasEnded.signal()
    }

    // MARK: A crash

    private static let faults = [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT]
    private static let ofProcess = Mutex<LogWriter?>(nil)
    private static let handlersBefore = Mutex<[Int32: sigaction]>([:])

    /// Writes what waits when this process crashes, before whoever handled the crash until now does. For the log of the whole process.
    func spillOnCrash() {
        Self.ofProcess.withLock { $0 = self }
        for fault in Self.faults where Self.handlersBefore.withLock({ $0[fault] == nil }) {
            var action = sigaction()
            unsafe action.__sigaction_handler.sa_handler = { LogWriter.onCrash($0) }
            action.sa_flags = SA_ONSTACK
            var before = sigaction()
            guard unsafe sigaction(fault, &action, &before) == 0 else { continue }
            let handler = before
            Self.handlersBefore.withLock { $0[fault] = handler }
        }
    }

    /// On the thread that has crashed: waits for no lock, for it could be the thread's own, and makes nothing new.
    private static func onCrash(_ fault: Int32) {
        _ = ofProcess.withLockIfAvailable { writer in
            writer?.spill()
            writer = nil
        }
        // The faulty instruction runs once more, and meets the handler before us, or its end.
        _ = handlersBefore.withLockIfAvailable { handlers in
            if var before = handlers[fault] { unsafe _ = sigaction(fault, &before, nil) }
        }
    }

    /// Writes what waits from this thread, unless another one is just adding to it.
    func spill() {
        state.withLockIfAvailable { state in
            unsafe state.waiting.withUnsafeBytes { bytes in
                unsafe _ = Glibc.write(descriptor, bytes.baseAddress, bytes.count)
            }
            state.waiting = []
        }
    }
}
