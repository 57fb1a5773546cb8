package import Postgres
package import Storage
import Synchronization
package import Trading

/// publish: log to clients. A round reads what the logs have grown by, once, and brings it to the streams of the accounts that it speaks of: its cost goes with
/// the events, not with the streams that wait. A stream that is not there yet, new or behind, is brought up by a look-up of its own.
///
/// Events of an account are numbered in the commit that writes them, so a stream that reads from its cursor on misses nothing and repeats nothing.
/// A stream that is busy writing asks for no more meanwhile: what waits for a slow reader is one portion, never a queue.
package final class EventStreams: Sendable {
    /// Events given to a stream at once: about 50 KB, under the bound at which a slow reader is cut.
    static let portion = 64
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
    }

    /// Where a reader stands in its account's events.
    private struct Place: Hashable {
        let account: AccountID
        let after: Int64
    }

    private struct State {
        var waiters: [Int: Waiter] = [:]
        var ofAccount: [AccountID: Set<Int>] = [:]
        /// Have not been looked for yet: their events may lie in the log already.
        var newcomers: Set<Int> = []
        var nextWaiter = 0
        var isStopped = false

        mutating func add(_ id: Int, _ waiter: Waiter) {
            waiters[id] = waiter
            ofAccount[waiter.account, default: []].insert(id)
            newcomers.insert(id)
        }

        mutating func remove(_ id: Int) -> Waiter? {
            guard let waiter = waiters.removeValue(forKey: id) else { return nil }
            ofAccount[waiter.account]?.remove(id)
            if ofAccount[waiter.account]?.isEmpty == true { ofAccount[waiter.account] = nil }
            return waiter
        }
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
                    state.add(id, Waiter(account: account, after: number, continuation: continuation))
                    return false
                }
                if isOver { continuation.resume(returning: []) } else { signal.raise() }
            }
        } onCancel: {
            state.withLock { $0.remove(id) }?.continuation.resume(returning: [])
        }
    }

    /// Runs on a thread of its own until cancelled; then every stream ends.
    package func run() async throws {
        let database = Database(options)
        var tail = LogTail()
        while !Task.isCancelled {
            var found = false
            let isIdle = state.withLock { $0.waiters.isEmpty }
            do {
                if isIdle { tail.forget() } else { found = try deliver(database, &tail) }
            } catch {
                trouble(error.description)
                database.drop()
                tail.forget()
                // Whoever was looked for in vain is looked for again.
                state.withLock { $0.newcomers = Set($0.waiters.keys) }
            }
            if found {
                try? await Task.sleep(for: Self.leastInterval)
            } else {
                await signal.wait(upTo: isIdle ? Self.idlePollInterval : Self.pollInterval)
            }
        }
        database.drop()
        stop()
    }

    /// Brings waiting streams their events. True when there were any.
    private func deliver(_ database: Database, _ tail: inout LogTail) throws(PostgresError) -> Bool {
        let portion = try tail.next(database)
        var news: [AccountID: [EventRecord]] = [:]
        if let portion {
            let listening = state.withLock { state in Set(portion.newest.keys.filter { state.ofAccount[$0] != nil }) }
            news = try database.events(of: listening, in: portion, known: &tail.known)
        }
        // Whoever comes from here on is looked for in the next round.
        let concerned = state.withLock { state in
            defer { state.newcomers = [] }
            let ids = state.newcomers.union(news.keys.flatMap { state.ofAccount[$0] ?? [] })
            return ids.compactMap { id in state.waiters[id].map { (id, $0, state.newcomers.contains(id)) } }
        }
        var behind: [Place: [Int]] = [:]
        var found = false
        for (id, waiter, isNew) in concerned {
            let next = (news[waiter.account] ?? []).drop { $0.number <= waiter.after }.prefix(Self.portion)
            if next.first?.number == waiter.after + 1 {
                found = true
                give(Array(next), to: [id])
            } else if !next.isEmpty || (isNew && !tail.hasReached(waiter.after, of: waiter.account)) {
                behind[Place(account: waiter.account, after: waiter.after), default: []].append(id)
            }
        }
        return try lookUp(behind, database, &tail.known) || found
    }

    /// Brings streams that the tail has left behind, or has never met, what their accounts have: readers of one account mostly stand at the same event, and
    /// share one answer.
    private func lookUp(_ behind: [Place: [Int]], _ database: Database, _ known: inout KnownOrders) throws(PostgresError) -> Bool {
        if behind.isEmpty { return false }
        let places = Array(behind)
        let portions = try database.events(after: places.map { ($0.key.account, $0.key.after) }, limit: Self.portion, known: &known)
        for (place, events) in zip(places, portions) where !events.isEmpty { give(events, to: place.value) }
        return portions.contains { !$0.isEmpty }
    }

    private func give(_ events: [EventRecord], to readers: [Int]) {
        if let first = events.first { delivered(first.at, events.count) }
        for reader in readers { state.withLock { $0.remove(reader) }?.continuation.resume(returning: events) }
    }

    /// Ends every stream that the server's stop has not ended yet.
    private func stop() {
        let waiters = state.withLock { state in
            state.isStopped = true
            defer { (state.waiters, state.ofAccount, state.newcomers) = ([:], [:], []) }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.continuation.resume(returning: []) }
    }
}
