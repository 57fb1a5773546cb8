import Foundation
import JourneySupport
import Synchronization

/// A state that other threads change and a test waits on.
final class Watched<State: Sendable>: Sendable {
    private struct Inside {
        var state: State
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        var next = 0
    }

    /// Only ends what would hang, on a machine that runs many tests at once.
    static var patience: Duration { .seconds(60) }

    private let inside: Mutex<Inside>

    init(_ state: State) {
        inside = Mutex(Inside(state: state))
    }

    var now: State { inside.withLock(\.state) }

    func change(_ body: (inout State) -> Void) {
        let waiters = inside.withLock { inside in
            body(&inside.state)
            defer { inside.waiters = [:] }
            return Array(inside.waiters.values)
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Waits until the state is as asked, and gives it.
    func wait(for what: String, _ isReached: @Sendable (State) -> Bool) async throws -> State {
        let deadline = ContinuousClock.now + Self.patience
        while true {
            let state = now
            if isReached(state) { return state }
            guard ContinuousClock.now < deadline else { throw TimedOut(what: "\(what); now: \(state)") }
            await nextChange(isReached, until: deadline)
        }
    }

    private func nextChange(_ isReached: @Sendable (State) -> Bool, until deadline: ContinuousClock.Instant) async {
        let id = inside.withLock { inside in
            inside.next += 1
            return inside.next
        }
        let guardian = Task {
            try await Task.sleep(until: deadline, clock: .continuous)
            wake(id)
        }
        await withCheckedContinuation { continuation in
            let goesOn = inside.withLock { inside in
                if isReached(inside.state) || ContinuousClock.now >= deadline { return true }
                inside.waiters[id] = continuation
                return false
            }
            if goesOn { continuation.resume() }
        }
        guardian.cancel()
    }

    private func wake(_ id: Int) {
        inside.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
    }
}

/// Lets only so many through at a time.
final class Turns: Sendable {
    private let free: Watched<Int>

    init(_ count: Int) {
        free = Watched(count)
    }

    func take<Value>(_ body: () async throws -> Value) async throws -> Value {
        var hasTurn = false
        while !hasTurn {
            _ = try await free.wait(for: "a turn") { $0 > 0 }
            free.change { free in
                hasTurn = free > 0
                if hasTurn { free -= 1 }
            }
        }
        defer { free.change { $0 += 1 } }
        return try await body()
    }
}
