import Synchronization
import Trading

/// Where work waits for a lane: one queue a shard, in arrival order, bounded. A lane takes all that waits for its share of the shards, up to a cap; a
/// shard is with one lane of this router at a time, so that its lanes do not wait for one another in the database.
package final class OrderQueue: Sendable {
    /// A piece of work and who waits for its verdict.
    struct Item: Sendable {
        let work: Work
        let arrivedAt: ContinuousClock.Instant
        let answer: CheckedContinuation<Verdict, Never>
    }

    private struct State {
        var waiting: [[Item]] = Array(repeating: [], count: Int(AccountID.shardCount))
        /// Shards with work that no lane has, oldest first.
        var ready: [Int16] = []
        var taken: Set<Int16> = []
        var count = 0
        var isClosed = false
        var idleLanes: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())
    private let capacity: Int
    private let batchCap: Int
    private let shardsAtOnce: Int

    /// - Parameters:
    ///   - capacity: pieces of work that may wait in all; beyond it the verdict is `busy`: a full queue refuses, it does not grow.
    ///   - batchCap: pieces of work that a lane takes at most.
    ///   - lanes: how many lanes take from it. Each takes at most its share of the shards at once: a commit costs the same for one shard as for several,
    ///     and the other lanes find work too.
    package init(capacity: Int, batchCap: Int, lanes: Int) {
        self.capacity = capacity
        self.batchCap = batchCap
        shardsAtOnce = max(1, Int(AccountID.shardCount) / lanes)
    }

    /// Waits for a lane's verdict. Never throws: a client that goes away does not take its order back.
    package func decide(_ work: Work) async -> Verdict {
        await withCheckedContinuation { answer in
            let (isAdmitted, lane) = state.withLock { state -> (Bool, CheckedContinuation<Void, Never>?) in
                if state.isClosed || state.count >= capacity { return (false, nil) }
                let shard = work.account.shard
                state.waiting[Int(shard)].append(Item(work: work, arrivedAt: .now, answer: answer))
                state.count += 1
                guard !state.taken.contains(shard), !state.ready.contains(shard) else { return (true, nil) }
                state.ready.append(shard)
                return (true, state.idleLanes.popLast())
            }
            if !isAdmitted { answer.resume(returning: .busy) }
            lane?.resume()
        }
    }

    /// The next shards with work and all that waits for them, up to the cap; nil once the queue is closed and empty.
    func take() async -> (shards: [Int16], items: [Item])? {
        while true {
            var found: ([Int16], [Item])?
            var isOver = false
            state.withLock { state in
                if state.ready.isEmpty {
                    isOver = state.isClosed && state.count == 0
                    return
                }
                found = takeReady(&state)
            }
            if found != nil || isOver { return found }
            await waitForWork()
        }
    }

    private func takeReady(_ state: inout State) -> (shards: [Int16], items: [Item]) {
        var shards: [Int16] = []
        var items: [Item] = []
        while shards.count < shardsAtOnce, items.count < batchCap, let shard = state.ready.first {
            state.ready.removeFirst()
            state.taken.insert(shard)
            shards.append(shard)
            let part = state.waiting[Int(shard)].prefix(batchCap - items.count)
            items += part
            state.waiting[Int(shard)].removeFirst(part.count)
        }
        state.count -= items.count
        return (shards, items)
    }

    private func waitForWork() async {
        await withCheckedContinuation { lane in
            let goesOn = state.withLock { state in
                if !state.ready.isEmpty || (state.isClosed && state.count == 0) { return true }
                state.idleLanes.append(lane)
                return false
            }
            if goesOn { lane.resume() }
        }
    }

    /// Gives shards back after their batch was answered.
    func giveBack(_ shards: [Int16]) {
        let lanes = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.taken.subtract(shards)
            let waiting = shards.filter { !state.waiting[Int($0)].isEmpty }
            state.ready += waiting
            if !waiting.isEmpty { return state.idleLanes.popLast().map { [$0] } ?? [] }
            guard state.isClosed && state.count == 0 else { return [] }
            defer { state.idleLanes = [] }
            return state.idleLanes
        }
        for lane in lanes { lane.resume() }
    }

    /// Admits nothing more; the lanes finish what waits and end.
    package func close() {
        let lanes = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.isClosed = true
            defer { state.idleLanes = [] }
            return state.idleLanes
        }
        for lane in lanes { lane.resume() }
    }

    /// Pieces of work waiting now.
    package var depth: Int { state.withLock { $0.count } }
}
