import Dispatch
import Glibc
import Synchronization

/// SIGTERM, SIGINT or SIGHUP: the wish that this process should end, to be waited for by any number of tasks.
final class EndingSignal: Sendable {
    private struct State {
        var hasCome = false
        var nextWaiter = 0
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Mutex(State())

    var hasCome: Bool { state.withLock(\.hasCome) }

    /// Returns when the signal has come, or the task is cancelled.
    func wait() async {
        let number = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.hasCome || Task.isCancelled { return true }
                    state.waiters[number] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: number) }?.resume()
        }
    }

    func come() {
        let waiters = state.withLock { state in
            defer { state.waiters = [:] }
            state.hasCome = true
            return state.waiters.values
        }
        for waiter in waiters { waiter.resume() }
    }
}

/// Runs a body that wants to end on a signal. Further signals change nothing: how long an end may take is bounded, and what it does is needed.
func withEndingSignals(_ body: (EndingSignal) async throws -> Void) async throws {
    let ending = EndingSignal()
    let sources = [SIGTERM, SIGINT, SIGHUP].map { number in
        // The source sees a signal only if its default does not end the process first.
        _ = signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler { ending.come() }
        source.activate()
        return source
    }
    defer {
        for source in sources { source.cancel() }
    }
    try await body(ending)
}
