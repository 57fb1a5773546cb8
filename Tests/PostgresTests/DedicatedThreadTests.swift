import Foundation
import Glibc
import Postgres
import Testing

@Suite struct `A dedicated thread` {
    private static func currentThread() -> UInt { UInt(pthread_self()) }

    @Test func `runs all work of a task on one and the same thread`() async {
        let thread = DedicatedThread(name: "test")
        defer { thread.stop() }
        let outside = Self.currentThread()
        let first = await thread.run { Self.currentThread() }
        let group = await withTaskGroup(of: [UInt].self) { group in
            for _ in 0..<4 {
                group.addTask(executorPreference: thread) {
                    var seen: [UInt] = []
                    for _ in 0..<50 {
                        seen.append(Self.currentThread())
                        await Task.yield()
                        seen.append(await Self.nested())
                    }
                    return seen
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(first != outside)
        #expect(group.count == 400)
        #expect(Set(group) == [first])
    }

    @concurrent private static func nested() async -> UInt {
        await Task.yield()
        return currentThread()
    }

    @Test func `passes on what its body throws and returns`() async {
        let thread = DedicatedThread(name: "test")
        defer { thread.stop() }
        #expect(await thread.run { 7 } == 7)
        await #expect(throws: PostgresError(code: .timedOut, operation: "x", message: "y")) {
            try await thread.run { () throws(PostgresError) -> Int in throw PostgresError(code: .timedOut, operation: "x", message: "y") }
        }
    }

    @Test func `serves as the executor of an actor`() async {
        let thread = DedicatedThread(name: "test")
        defer { thread.stop() }
        let lane = Lane(thread)
        let expected = await thread.run { Self.currentThread() }
        #expect(await lane.where() == expected)
    }

    private actor Lane {
        let thread: DedicatedThread

        init(_ thread: DedicatedThread) { self.thread = thread }

        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe thread.asUnownedSerialExecutor() }

        func `where`() -> UInt { currentThread() }
    }

    @Test func `finishes what is queued before it stops`() async {
        let thread = DedicatedThread(name: "test")
        let tasks = (0..<100).map { number in Task(executorPreference: thread) { number } }
        var sum = 0
        for task in tasks { sum += await task.value }
        thread.stop()
        thread.stop()
        #expect(sum == 4950)
    }

    @Test func `ends by itself when nobody holds it`() async {
        for _ in 0..<50 {
            let thread = DedicatedThread(name: "short")
            #expect(await thread.run { true })
        }
    }

    @Test func `refuses work after its end`() async {
        let first = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let thread = DedicatedThread(name: "test")
            thread.stop()
            await thread.run {}
        }
        #expect(first.says("Work was sent to the thread test after it was stopped."))
    }

    @Test func `shows its name to the system`() async {
        let thread = DedicatedThread(name: "lane 3 of many lanes")
        defer { thread.stop() }
        let name = await thread.run { try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8) }
        #expect(name == "lane 3 of many \n")
    }
}
