import Glibc

/// One thread that tasks can run on and block.
///
/// A station that talks to the database runs with this as its executor preference: its calls may then wait inside libpq without
/// taking a thread from Swift's pool, and between two statements it never changes threads.
package final class DedicatedThread: TaskExecutor, SerialExecutor {
    package let name: String
    private let mailbox: Mailbox

    /// - Parameter name: shown by `ps -L` and debuggers, which cut it at 15 bytes.
    package init(name: String) {
        self.name = name
        mailbox = Mailbox(name: name)
        mailbox.start()
    }

    deinit {
        mailbox.close()
    }

    /// Runs a body that may block on this thread and returns what it returns.
    package func run<Value: Sendable, Failure: Error>(_ body: @Sendable () throws(Failure) -> Value) async throws(Failure) -> Value {
        try await withTaskExecutorPreference(self) { () async throws(Failure) -> Value in try body() }
    }

    /// Runs what is queued, ends the thread and waits for its end (not when called on the thread itself). No work may be sent to it
    /// afterwards: end its tasks first.
    package func stop() {
        mailbox.close()
        if !mailbox.isCurrent { mailbox.awaitEnd() }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        mailbox.put(UnownedJob(job), for: self)
    }

    package func asUnownedSerialExecutor() -> UnownedSerialExecutor { unsafe UnownedSerialExecutor(ordinary: self) }

    package func asUnownedTaskExecutor() -> UnownedTaskExecutor { unsafe UnownedTaskExecutor(ordinary: self) }

    package func isIsolatingCurrentContext() -> Bool? { mailbox.isCurrent }

    package func checkIsolated() {
        precondition(mailbox.isCurrent, "Code that belongs on the thread \(name) ran on another one.")
    }
}

/// What a `DedicatedThread` and its pthread share. The thread holds it until it ends, so that the executor itself may go away on
/// its own thread.
///
/// Unchecked: every field is read and written under `lock`; `lock` and `changed` themselves are made in init and freed in deinit.
@safe
private final class Mailbox: @unchecked Sendable {
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    /// The executor is held with each job: while work is queued it must not go away.
    private var jobs: [(UnownedJob, DedicatedThread)] = []
    private var isClosed = false
    private var hasEnded = false
    private var thread: pthread_t?
    private let name: String

    init(name: String) {
        self.name = name
        unsafe pthread_mutex_init(lock, nil)
        unsafe pthread_cond_init(changed, nil)
    }

    deinit {
        unsafe pthread_cond_destroy(changed)
        unsafe pthread_mutex_destroy(lock)
        unsafe changed.deallocate()
        unsafe lock.deallocate()
    }

    var isCurrent: Bool {
        unsafe pthread_mutex_lock(lock)
        defer { unsafe pthread_mutex_unlock(lock) }
        return thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false
    }

    func start() {
        var created = pthread_t()
        let argument = unsafe Unmanaged.passRetained(self).toOpaque()
        let code = unsafe pthread_create(
            &created,
            nil,
            { argument in
                unsafe Unmanaged<Mailbox>.fromOpaque(argument!).takeRetainedValue().runJobs()
                return nil
            },
            argument
        )
        precondition(code == 0, "The system gives no thread for \(name): error \(code).")
        pthread_detach(created)
    }

    func put(_ job: UnownedJob, for executor: DedicatedThread) {
        unsafe pthread_mutex_lock(lock)
        precondition(!hasEnded, "Work was sent to the thread \(executor.name) after it was stopped.")
        jobs.append((job, executor))
        unsafe pthread_cond_broadcast(changed)
        unsafe pthread_mutex_unlock(lock)
    }

    func close() {
        unsafe pthread_mutex_lock(lock)
        isClosed = true
        unsafe pthread_cond_broadcast(changed)
        unsafe pthread_mutex_unlock(lock)
    }

    func awaitEnd() {
        unsafe pthread_mutex_lock(lock)
        while !hasEnded { unsafe pthread_cond_wait(changed, lock) }
        unsafe pthread_mutex_unlock(lock)
    }

    /// For `ps -L` and debuggers; without /proc the thread goes nameless.
    private func showName() {
        let file = unsafe open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        _ = unsafe write(file, name, name.utf8.count)
        _ = Glibc.close(file)
    }

    private func runJobs() {
        showName()
        unsafe pthread_mutex_lock(lock)
        thread = pthread_self()
        while true {
            while jobs.isEmpty && !isClosed { unsafe pthread_cond_wait(changed, lock) }
            if jobs.isEmpty { break }
            var taken: [(UnownedJob, DedicatedThread)] = []
            swap(&taken, &jobs)
            unsafe pthread_mutex_unlock(lock)
            for (job, executor) in taken {
                unsafe job.runSynchronously(isolatedTo: executor.asUnownedSerialExecutor(), taskExecutor: executor.asUnownedTaskExecutor())
            }
            taken = []
            unsafe pthread_mutex_lock(lock)
        }
        hasEnded = true
        thread = nil
        unsafe pthread_cond_broadcast(changed)
        unsafe pthread_mutex_unlock(lock)
    }
}
