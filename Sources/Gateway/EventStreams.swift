package import Postgres
package import Storage
import Synchronization
package import Trading

/// publish: log to clients. One look a round at where the shards' logs end; when something is new, one query brings every waiting stream its next events.
///
/// Events of an account are numbered in the commit that writes them, so a stream that reads from its cursor on misses nothing and repeats nothing.
/// A stream that is busy writing asks for no more meanwhile: what waits for a slow reader is one portion, never a queue.
package final class EventStreams: Sendable {
    /// Events given to a stream at once: about 50 KB, under the bound at which a slow reader is cut.
    static let portion: Int64 = 64
    /// Streams that may wait at once: as many as connections.
    static let capacity = 16_000
    /// How often to look when no signal comes: other routers' commits are found by looking.
    static let pollInterval: Duration = .milliseconds(20)
    static let idlePollInterval: Duration = .milliseconds(200)
    /// Between two looks in any case: what busy shards commit meanwhile comes with one query, and nobody sees ten milliseconds.
    static let leastInterval: Duration = .milliseconds(10)

    private struct Waiter {
        let account: AccountID
        let after: Int64
        let continuation: CheckedContinuation<[EventRecord], Never>
        /// Has not been looked for yet: its events may lie in the log already.
        var isNew = true
    }

    /// Where a reader stands in its account's events.
    private struct Place: Hashable {
        let account: AccountID
        let after: Int64
    }

    private struct State {
        var waiters: [Int: Waiter] = [:]
        var nextWaiter = 0
        var isStopped = false
    }

    private let options: PostgresOptions
    private let signal: CommitSignal
    private let trouble: @Sendable (String) -> Void
    private let delivered: @Sendable (_ oldestAt: Int64, _ count: Int) -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - signal: raised when something was committed to the log.
    ///   - delivered: told of each portion that a stream got: when its first event was committed, and how many it holds.
    package init(
        database: PostgresOptions,
        signal: CommitSignal,
        trouble: @escaping @Sendable (String) -> Void,
        delivered: @escaping @Sendable (_ oldestAt: Int64, _ count: Int) -> Void = { _, _ in }
    ) {
        options = database
        self.signal = signal
        self.trouble = trouble
        self.delivered = delivered
    }

    /// The account's next events after a number, at least one; empty when the stream is cancelled or the router ends.
    package func next(_ account: AccountID, after number: Int64) async -> [EventRecord] {
        let id = state.withLock { state in
            defer { state.nextWaiter += 1 }
            return state.nextWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.isStopped || Task.isCancelled || state.waiters.count >= Self.capacity { return true }
                    state.waiters[id] = Waiter(account: account, after: number, continuation: continuation)
                    return false
                }
                if isOver { continuation.resume(returning: []) } else { signal.raise() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.continuation.resume(returning: [])
        }
    }

    /// Runs on a thread of its own until cancelled; then every stream ends.
    package func run() async throws {
        let database = Database(options)
        var ends: [Int16: Int64] = [:]
        var known = KnownOrders()
        while !Task.isCancelled {
            var found = false
            do {
                if state.withLock({ !$0.waiters.isEmpty }) {
                    let now = try database.logEnds()
                    found = try deliver(database, grown: Set(now.keys.filter { ends[$0] != now[$0] }), &known)
                    ends = now
                }
            } catch {
                trouble(error.description)
                database.drop()
                // Whoever was looked for in vain is looked for again.
                ends = [:]
            }
            let isIdle = state.withLock { $0.waiters.isEmpty }
            if found {
                try? await Task.sleep(for: Self.leastInterval)
            } else {
                await signal.wait(upTo: isIdle ? Self.idlePollInterval : Self.pollInterval)
            }
        }
        database.drop()
        stop()
    }

    /// Brings waiting streams their events: those whose account's shard has grown, and those that have just come. True when there were any.
    private func deliver(_ database: Database, grown: Set<Int16>, _ known: inout KnownOrders) throws(PostgresError) -> Bool {
        let waiting = state.withLock { state in
            let waiting = state.waiters.filter { $0.value.isNew || grown.contains($0.value.account.shard) }
            for id in waiting.keys { state.waiters[id]?.isNew = false }
            return waiting
        }
        if waiting.isEmpty { return false }
        // Readers of one account mostly stand at the same event: they share one answer.
        let places = Dictionary(grouping: waiting) { Place(account: $0.value.account, after: $0.value.after) }.map { ($0, $1.map(\.key)) }
        let portions = try database.events(after: places.map { ($0.0.account, $0.0.after) }, limit: Int(Self.portion), known: &known)
        var found = false
        for ((_, readers), events) in zip(places, portions) where !events.isEmpty {
            found = true
            if let first = events.first { delivered(first.at, events.count) }
            for reader in readers {
                state.withLock { $0.waiters.removeValue(forKey: reader) }?.continuation.resume(returning: events)
            }
        }
        return found
    }

    /// Ends every stream: each says goodbye and its client connects again, here or elsewhere.
    package func stop() {
        let waiters = state.withLock { state in
            state.isStopped = true
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.continuation.resume(returning: []) }
    }
}
