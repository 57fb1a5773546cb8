import Synchronization

/// "Something was committed: look." A wake-up within one process for whoever polls committed rows; polling is what guarantees.
///
/// For one waiter at a time. Signals do not add up: one that arrives while nobody waits makes the next wait return at once.
package final class CommitSignal: Sendable {
    private struct State {
        var isRaised = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    package init() {}

    package func raise() {
        let waiter = state.withLock { state in
            defer { state.waiter = nil }
            if state.waiter == nil { state.isRaised = true }
            return state.waiter
        }
        waiter?.resume()
    }

    /// Returns when the signal is raised, when `time` has passed or when the task is cancelled.
    package func wait(upTo time: Duration) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.raised() }
            // A cancelled sleep ends early: the wait is over then anyway.
            group.addTask { try? await Task.sleep(for: time) }
            await group.next()
            group.cancelAll()
        }
    }

    private func raised() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.isRaised || Task.isCancelled {
                        state.isRaised = false
                        return true
                    }
                    state.waiter = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                defer { state.waiter = nil }
                return state.waiter
            }
            waiter?.resume()
        }
    }
}
