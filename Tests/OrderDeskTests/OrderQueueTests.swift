import Storage
import Testing
import Trading

@testable import OrderDesk

@Suite struct `The queue of the desk` {
    /// Adds work whose verdict the test gives, one after the other.
    private func fill(_ queue: OrderQueue, _ work: [Work], _ group: inout TaskGroup<Verdict>) async {
        let before = queue.depth
        for (place, piece) in work.enumerated() {
            group.addTask { await queue.decide(piece) }
            while queue.depth <= before + place { await Task.yield() }
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
        let queue = OrderQueue(capacity: 10, batchCap: 3, lanes: 8)
        await withTaskGroup(of: Verdict.self) { group in
            await fill(queue, fences(account, 1..<6), &group)
            let first = await queue.take()
            #expect(first?.shards == [account.shard] && numbers(first?.items ?? []) == [1, 2, 3])
            #expect(queue.depth == 2)
            // Another lane gets nothing of this shard before it is given back.
            async let second = queue.take()
            for item in first?.items ?? [] { item.answer.resume(returning: .busy) }
            queue.giveBack([account.shard])
            let rest = await second
            #expect(numbers(rest?.items ?? []) == [4, 5])
            for item in rest?.items ?? [] { item.answer.resume(returning: .busy) }
            queue.giveBack([account.shard])
            queue.close()
            let end = await queue.take()
            #expect(end == nil)
        }
    }

    @Test func `gives two lanes two shards`() async {
        let queue = OrderQueue(capacity: 10, batchCap: 3, lanes: 8)
        let other = AccountID("acc_2")!
        #expect(other.shard != account.shard)
        await withTaskGroup(of: Verdict.self) { group in
            await fill(queue, fences(account, 1..<2) + fences(other, 2..<3), &group)
            let (first, second) = (await queue.take(), await queue.take())
            #expect(Set((first?.shards ?? []) + (second?.shards ?? [])) == [account.shard, other.shard])
            for item in (first?.items ?? []) + (second?.items ?? []) { item.answer.resume(returning: .busy) }
            queue.close()
            // Closed and empty, but a lane still has its shard: the last to give back ends the others.
            let end = await queue.take()
            #expect(end == nil)
        }
    }

    @Test func `gives a lane all that waits for its share of the shards at once, up to the cap`() async {
        let queue = OrderQueue(capacity: 20, batchCap: 9, lanes: 2)
        // One account of each shard.
        let owners = (0..<AccountID.shardCount).map { shard in (1...).lazy.map { AccountID("acc_\($0)")! }.first { $0.shard == shard }! }
        await withTaskGroup(of: Verdict.self) { group in
            for (place, owner) in owners.enumerated() { await fill(queue, fences(owner, 2 * place..<2 * place + 2), &group) }
            let (first, second) = (await queue.take(), await queue.take())
            #expect(first?.shards == [0, 1, 2, 3] && numbers(first?.items ?? []) == Array(0..<8))
            #expect(second?.shards == [4, 5, 6, 7] && numbers(second?.items ?? []) == Array(8..<16))
            for item in (first?.items ?? []) + (second?.items ?? []) { item.answer.resume(returning: .busy) }
            await fill(queue, fences(owners[0], 20..<28) + fences(owners[1], 28..<32), &group)
            queue.giveBack(first?.shards ?? [])
            queue.giveBack(second?.shards ?? [])
            // The cap cuts the second shard's; the rest stays in its place.
            let third = await queue.take()
            #expect(third?.shards == [0, 1] && numbers(third?.items ?? []) == Array(20..<29))
            queue.giveBack([0, 1])
            let rest = await queue.take()
            #expect(rest?.shards == [1] && numbers(rest?.items ?? []) == [29, 30, 31])
            for item in (third?.items ?? []) + (rest?.items ?? []) { item.answer.resume(returning: .busy) }
            queue.giveBack([1])
        }
    }
}
