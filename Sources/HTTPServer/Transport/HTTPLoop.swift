import CLibEvent
import Glibc
import Synchronization

/// One thread that waits for sockets and timers in libevent and runs handlers in between.
///
/// It is an executor, because a hop to Swift's own pool and back costs more than reading the request: handlers run here, and a handler
/// that was resumed elsewhere comes back here. Everything that belongs to a connection lives on this thread.
///
/// @unchecked Sendable: `base`, `local`, `deferred` and the flags beside them belong to the loop's thread (before `start`, to its
/// creator); what other threads hand over is in `inbox`, under its lock.
@safe final class HTTPLoop: TaskExecutor, SerialExecutor, @unchecked Sendable {
    private struct Inbox {
        var jobs: [UnownedJob] = []
        var work: [@Sendable () -> Void] = []
        var isSignalled = false
        /// Takes no more work; tasks may still end.
        var isStopped = false
        var isClosed = false
    }

    /// Jobs run in a row before sockets are looked at again: a task that only yields must not starve them.
    private static let maximumRounds = 64

    let base: OpaquePointer
    private let wakeDescriptor: Int32
    private var wakeEvent: OpaquePointer?
    private let thread = Atomic<UInt>(0)
    private let inbox = Mutex(Inbox())

    private var local: [UnownedJob] = []
    private var running: [UnownedJob] = []
    private var deferred: [any DeferredOutput] = []
    private var isDraining = false

    init() throws(HTTPError) {
        guard let configuration = unsafe event_config_new() else { throw Self.failure("event_config_new") }
        defer { unsafe event_config_free(configuration) }
        unsafe event_config_set_flag(configuration, Int32(EVENT_BASE_FLAG_NOLOCK.rawValue))
        guard let base = unsafe event_base_new_with_config(configuration) else { throw Self.failure("event_base_new") }
        unsafe self.base = unsafe base
        wakeDescriptor = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
        guard wakeDescriptor >= 0 else { throw Self.failure("eventfd") }
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        let flags = Int16(EV_READ | EV_PERSIST)
        unsafe wakeEvent = unsafe event_new(base, wakeDescriptor, flags, { _, _, context in unsafe HTTPLoop.of(context).onWake() }, context)
        guard let wakeEvent = unsafe wakeEvent, unsafe event_add(wakeEvent, nil) == 0 else { throw Self.failure("event_new") }
    }

    deinit {
        if let wakeEvent = unsafe wakeEvent { unsafe event_free(wakeEvent) }
        if wakeDescriptor >= 0 { close(wakeDescriptor) }
        unsafe event_base_free(base)
    }

    private static func failure(_ operation: String) -> HTTPError {
        unsafe HTTPError(code: .system, operation: operation, message: String(cString: strerror(errno)))
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> HTTPLoop {
        guard let context = unsafe context else { preconditionFailure("A callback has lost its loop.") }
        return unsafe Unmanaged<HTTPLoop>.fromOpaque(context).takeUnretainedValue()
    }

    // MARK: The thread

    /// Starts the thread, which keeps the loop alive; `ended` is called on it when it is over.
    func start(name: String, ended: @escaping @Sendable () -> Void) throws(HTTPError) {
        final class Start {
            let loop: HTTPLoop
            let name: String
            let ended: @Sendable () -> Void
            init(loop: HTTPLoop, name: String, ended: @escaping @Sendable () -> Void) {
                self.loop = loop
                self.name = name
                self.ended = ended
            }
        }
        let start = unsafe Unmanaged.passRetained(Start(loop: self, name: name, ended: ended))
        var thread = pthread_t()
        let code = unsafe pthread_create(
            &thread,
            nil,
            { context in
                guard let context = unsafe context else { preconditionFailure("A thread has lost its loop.") }
                let start = unsafe Unmanaged<Start>.fromOpaque(context).takeRetainedValue()
                unsafe pthread_setname_np(pthread_self(), start.name)
                start.loop.run()
                start.ended()
                return nil
            },
            start.toOpaque()
        )
        guard code == 0 else {
            unsafe start.release()
            throw unsafe HTTPError(code: .system, operation: "pthread_create", message: String(cString: strerror(code)))
        }
        pthread_detach(thread)
    }

    private func run() {
        // A write to a closed socket must fail, not kill the process; and signals are for the main thread to handle.
        var signals = sigset_t()
        unsafe sigfillset(&signals)
        for fault in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT] { unsafe sigdelset(&signals, fault) }
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
        thread.store(UInt(pthread_self()), ordering: .releasing)
        unsafe event_base_loop(base, EVLOOP_NO_EXIT_ON_EMPTY)
        unsafe event_base_loop(base, EVLOOP_NONBLOCK)  // Freed sockets are closed by one more pass.
        // What was accepted until now is still done: a connection that was handed over meanwhile has to be freed.
        let rest = inbox.withLock { inbox in
            inbox.isClosed = true
            return inbox.work
        }
        for item in rest { item() }
        drain()
    }

    /// Ends the thread once the present callback is over, and takes no more work from here on. No task may be left that wants to run here.
    func stop() {
        precondition(isCurrent, "A loop is stopped on its own thread.")
        inbox.withLock { $0.isStopped = true }
        unsafe event_base_loopbreak(base)
    }

    var isCurrent: Bool { thread.load(ordering: .acquiring) == UInt(pthread_self()) }

    /// Monotonic nanoseconds: what deadlines are measured in.
    static var now: UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    // MARK: Work from anywhere

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if isCurrent {
            local.append(job)
            return
        }
        let mustSignal = inbox.withLock { inbox in
            precondition(!inbox.isClosed, "A task outlived the loop that it runs on.")
            inbox.jobs.append(job)
            defer { inbox.isSignalled = true }
            return !inbox.isSignalled
        }
        if mustSignal { signal() }
    }

    /// Runs `work` on the loop's thread; false when the loop ends or has ended.
    @discardableResult
    func perform(_ work: @escaping @Sendable () -> Void) -> Bool {
        let (mustSignal, isOpen) = inbox.withLock { inbox in
            guard !inbox.isStopped, !inbox.isClosed else { return (false, false) }
            inbox.work.append(work)
            defer { inbox.isSignalled = true }
            return (!inbox.isSignalled, true)
        }
        if mustSignal { signal() }
        return isOpen
    }

    private func signal() {
        let result = eventfd_write(wakeDescriptor, 1)
        precondition(result == 0 || errno == EAGAIN, "An eventfd takes a wake-up or is already full of them.")
    }

    private func onWake() {
        var count: eventfd_t = 0
        unsafe _ = eventfd_read(wakeDescriptor, &count)
        let (jobs, work) = inbox.withLock { inbox in
            defer { (inbox.jobs, inbox.work, inbox.isSignalled) = ([], [], false) }
            return (inbox.jobs, inbox.work)
        }
        local.append(contentsOf: jobs)
        for item in work { item() }
        drain()
    }

    // MARK: The end of each callback

    /// Asks for `flush()` on `output` when the jobs at hand have run: many small answers leave in one system call.
    func flushLater(_ output: any DeferredOutput) {
        deferred.append(output)
    }

    /// Runs what the callback has made ready. Every callback from libevent ends with this.
    func drain() {
        if isDraining { return }
        isDraining = true
        var rounds = 0
        while !(local.isEmpty && deferred.isEmpty) {
            swap(&local, &running)
            for job in running {
                unsafe job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
            }
            running.removeAll(keepingCapacity: true)
            if local.isEmpty, !deferred.isEmpty {
                let outputs = deferred
                deferred.removeAll(keepingCapacity: true)
                for output in outputs { output.flush() }
            }
            rounds += 1
            if rounds == Self.maximumRounds, !local.isEmpty {
                signal()
                break
            }
        }
        isDraining = false
    }
}

/// Output that waits for the end of a callback. Called on the loop's thread.
protocol DeferredOutput: AnyObject {
    func flush()
}
