import Synchronization

/// How many connections each address has, over all loops.
final class Admission: Sendable {
    private let counts = Mutex<[String: Int]>([:])
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    /// Counts one more, unless the address has its share.
    func admit(_ address: String) -> Bool {
        counts.withLock { counts in
            let count = counts[address, default: 0]
            guard count < limit else { return false }
            counts[address] = count + 1
            return true
        }
    }

    func release(_ address: String) {
        counts.withLock { counts in
            guard let count = counts[address] else { preconditionFailure("An address is released as often as it was admitted.") }
            counts[address] = count == 1 ? nil : count - 1
        }
    }
}

/// Opens once it has been counted down; everyone who waits then goes on.
final class Latch: Sendable {
    private struct State {
        var remaining: Int
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    init(count: Int) {
        state = Mutex(State(remaining: count))
    }

    func countDown() {
        let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.remaining -= 1
            guard state.remaining == 0 else { return [] }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if state.remaining <= 0 { return true }
                state.waiters.append(continuation)
                return false
            }
            if isOpen { continuation.resume() }
        }
    }
}
