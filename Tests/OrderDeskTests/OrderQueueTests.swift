import Storage
import Testing
import Trading

@testable import OrderDesk

@Suite struct `The queue of the desk` {
    /// Adds work whose verdict the test gives, one after the other.
    private func fill(_ queue: OrderQueue, _ work: [Work], _ group: inout TaskGroup<Verdict>) async {
        for (place, piece) in work.enumerated() {
            group.addTask { await queue.decide(piece) }
            while queue.depth <= place { await Task.yield() }
        }
    }

    private func numbers(_ items: [OrderQueue.Item]) -> [UInt64] {
        items.map { item in
            guard case .fence(let id) = item.work else { return 0 }
            return id.key.low & 0xFFFF
        }
    }

    private func fences(_ owner: AccountID, _ range: Range<Int>) -> [Work] { range.map { .fence(.init(owner, key($0))) } }

    @Test func `gives a shard to one lane at a time, in order of arrival, up to the cap`() async {
        let queue = OrderQueue(capacity: 10, batchCap: 3)
        await withTaskGroup(of: Verdict.self) { group in
            await fill(queue, fences(account, 1..<6), &group)
            let first = await queue.take()
            #expect(first?.shard == account.shard && numbers(first?.items ?? []) == [1, 2, 3])
            #expect(queue.depth == 2)
            // Another lane gets nothing of this shard before it is given back.
            async let second = queue.take()
            for item in first?.items ?? [] { item.answer.resume(returning: .busy) }
            queue.giveBack(account.shard)
            let rest = await second
            #expect(numbers(rest?.items ?? []) == [4, 5])
            for item in rest?.items ?? [] { item.answer.resume(returning: .busy) }
            queue.giveBack(account.shard)
            queue.close()
            let end = await queue.take()
            #expect(end == nil)
        }
    }

    @Test func `gives two lanes two shards`() async {
        let queue = OrderQueue(capacity: 10, batchCap: 3)
        let other = AccountID("acc_2")!
        #expect(other.shard != account.shard)
        await withTaskGroup(of: Verdict.self) { group in
            await fill(queue, fences(account, 1..<2) + fences(other, 2..<3), &group)
            let (first, second) = (await queue.take(), await queue.take())
            #expect(Set([first?.shard, second?.shard]) == [account.shard, other.shard])
            for item in (first?.items ?? []) + (second?.items ?? []) { item.answer.resume(returning: .busy) }
            queue.close()
            // Closed and empty, but a lane still has its shard: the last to give back ends the others.
            let end = await queue.take()
            #expect(end == nil)
        }
    }
}
