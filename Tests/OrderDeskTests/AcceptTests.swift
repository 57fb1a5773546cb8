import OrderDesk
import Postgres
import Storage
import Synchronization
import TestSupport
import Testing
import Trading

extension `On PostgreSQL, the desk` {
    @Suite struct `accepting orders` {
        @Test func `takes exactly as many orders as there is cash for, through two routers at once`() async throws {
            let room = try Room(cash: "10500")
            let (one, two) = (queue(cap: 7), queue())
            let verdicts = try await room.withLanes(on: one) {
                try await room.withLanes(on: two) {
                    await decide((0..<100).map { ($0 % 2 == 0 ? one : two, .place(submission($0))) })
                }
            }
            #expect(words(verdicts) == ["accepted": 10, "refusedForGood": 90])
            #expect(try room.value("SELECT count(*) FROM orders") == 10)
            #expect(try room.value("SELECT held FROM balances WHERE account_id = 'acc_1' AND asset = '$'") == usd("10000").units)
            #expect(try room.value("SELECT count(*) FROM idempotency_keys") == 100)
            try room.check()
        }

        @Test func `makes one order of fifty copies that arrive at once, and gives them one answer`() async throws {
            let room = try Room()
            let (one, two) = (queue(cap: 3), queue(cap: 5))
            let verdicts = try await room.withLanes(on: one) {
                try await room.withLanes(on: two) {
                    await decide((0..<50).map { ($0 % 2 == 0 ? one : two, .place(submission(1))) })
                }
            }
            #expect(words(verdicts) == ["accepted": 1, "replayed": 49])
            #expect(Set(verdicts.compactMap { $0.record?.answer }).count == 1)
            #expect(try room.value("SELECT count(*) FROM orders") == 1)
            #expect(try room.value("SELECT sum(replays) FROM shards") == 49)
            try room.check()
        }

        @Test func `keeps the keys of accounts apart`() async throws {
            let room = try Room()
            let own = queue()
            let theirs = submission(1, of: neighbour, credentialID: "c1acc_9")
            let verdicts = try await room.withLanes(on: own) { await decide([(own, .place(submission(1))), (own, .place(theirs))]) }
            #expect(words(verdicts) == ["accepted": 2])
            #expect(try room.value("SELECT count(DISTINCT order_id) FROM orders") == 2)
            try room.check()
        }

        @Test func `commits what waits for several shards at once, each shard numbered for itself`() async throws {
            let room = try Room()
            let far = AccountID("acc_2")!
            #expect(far.shard != account.shard)
            try room.open(far)
            let own = OrderQueue(capacity: 100, batchCap: 100, lanes: 1)
            let batches = Mutex<[Int]>([])
            var observer = DeskObserver()
            observer.batch = { _, size, _ in batches.withLock { $0.append(size) } }
            let orders = (1..<4).map { submission($0) } + (4..<6).map { submission($0, of: far, credentialID: "c1acc_2") }
            let work = orders.map { (own, Work.place($0)) }
            async let verdicts = decide(work)
            while own.depth < work.count { await Task.yield() }
            try await room.withLanes(1, on: own, observer: observer) {}
            #expect(words(await verdicts) == ["accepted": 5])
            #expect(batches.withLock { $0 } == [5])
            #expect(try room.value("SELECT next_log FROM shards WHERE shard = \(account.shard)") == 4)
            #expect(try room.value("SELECT next_log FROM shards WHERE shard = \(far.shard)") == 3)
            try room.check()
        }

        @Test func `tells another body under a key in flight of the first order`() async throws {
            let room = try Room()
            let (one, two) = (queue(), queue())
            try await room.withLanes(on: one) {
                try await room.withLanes(on: two) {
                    for number in 0..<20 {
                        let verdicts = await decide([(one, .place(submission(number))), (two, .place(submission(number, fingerprint: 2)))])
                        #expect(words(verdicts) == ["accepted": 1, "keyReused": 1])
                        guard case .refused(.keyReused(let first)) = verdicts.first(where: { $0.word == "keyReused" }) else { continue }
                        #expect(first == identity(account, key(number)))
                    }
                }
            }
            try room.check()
        }

        @Test(arguments: [
            (PostgresProxy.Cut.afterServer, "commit\0", "replayed"), (.beforeServer, "commit\0", "accepted"),
            (.beforeServer, "insert_orders", "accepted"),
            (.afterServer, "lock_shards", "accepted"), (.beforeServer, "lock_shards", "accepted"),
        ])
        func `learns what became of a commit whose answer was lost`(_ cut: PostgresProxy.Cut, _ place: String, _ word: String) async throws {
            let room = try Room()
            let proxy = try PostgresProxy(to: room.url)
            defer { proxy.stop() }
            let own = queue()
            let verdicts = try await room.withLanes(1, on: own, url: proxy.url) {
                proxy.cut(cut, at: place)
                let first = await own.decide(.place(submission(1)))
                return [first, await own.decide(.place(submission(1)))]
            }
            #expect(proxy.cuts == 1)
            #expect(verdicts.map(\.word) == [word, "replayed"])
            #expect(verdicts[0].record?.answer == verdicts[1].record?.answer && verdicts[0].record?.orderID == identity(account, key(1)))
            #expect(try room.value("SELECT count(*) FROM orders") == 1)
            try room.check()
        }

        @Test func `says busy where nothing was sent and unknown where it was, when the database stays away`() async throws {
            let room = try Room()
            let proxy = try PostgresProxy(to: room.url)
            let (one, two) = (queue(), queue())
            // Gone before the lane ever reaches it, and gone just behind a COMMIT.
            let sent = DeskObserver.once { step in if step == .acceptClaimed { proxy.stop() } }
            async let away = room.withLanes(1, on: two, url: "host=/nonexistent user=nobody") { await two.decide(.place(submission(2))) }
            let unknown = try await room.withLanes(1, on: one, url: proxy.url, observer: sent) { await one.decide(.place(submission(1))) }
            #expect(unknown.word == "outcomeUnknown")
            #expect(try await away.word == "busy")
            #expect(try room.value("SELECT count(*) FROM orders") <= 1)
            try room.check()
        }

        @Test func `fails a poisonous order alone`() async throws {
            let room = try Room()
            let own = queue()
            // The second claims the identity of the first under another key: the database refuses it.
            let work: [Work] = [.place(submission(1)), .place(submission(2, orderID: identity(account, key(1)))), .place(submission(3))]
            let verdicts = try await withThrowingTaskGroup(of: (Int, Verdict).self) { group in
                for (place, piece) in work.enumerated() {
                    group.addTask { (place, await own.decide(piece)) }
                    while own.depth <= place { await Task.yield() }
                }
                try await room.withLanes(1, on: own) { while own.depth > 0 { await Task.yield() } }
                return try await group.reduce(into: [Int: String]()) { $0[$1.0] = $1.1.word }
            }
            #expect(verdicts == [0: "accepted", 1: "failed", 2: "accepted"])
            #expect(try room.value("SELECT count(*) FROM idempotency_keys") == 2)
            try room.check()
        }

        @Test func `never both accepts and fences a key`() async throws {
            let room = try Room()
            let (one, two) = (queue(), queue())
            var fenced = 0
            let outcomes = try await room.withLanes(1, on: one) {
                try await room.withLanes(1, on: two) {
                    var outcomes: [[String]] = []
                    for number in 0..<60 {
                        let order: (OrderQueue, Work) = (number % 2 == 0 ? one : two, .place(submission(number)))
                        let fence: (OrderQueue, Work) = (number % 2 == 0 ? two : one, .fence(KeyID(account, key(number))))
                        let verdicts = await decide(number % 3 == 0 ? [order, fence] : [fence, order])
                        outcomes.append(verdicts.map(\.word).sorted())
                    }
                    return outcomes
                }
            }
            for outcome in outcomes {
                #expect(outcome == ["accepted", "key accepted"] || outcome == ["key fenced", "keyFenced"])
                fenced += outcome == ["key fenced", "keyFenced"] ? 1 : 0
            }
            print("fenced first: \(fenced) of \(outcomes.count)")
            #expect(try room.value("SELECT count(*) FROM orders") == Int64(outcomes.count - fenced))
            try room.check()
        }

        @Test func `refuses beyond the queue's capacity and after its close, and answers what it admitted`() async throws {
            let room = try Room()
            let own = queue(2)
            let verdicts = try await withThrowingTaskGroup(of: Verdict.self) { group in
                for number in 0..<2 { group.addTask { await own.decide(.place(submission(number))) } }
                while own.depth < 2 { await Task.yield() }
                #expect(await own.decide(.place(submission(2))).word == "busy")
                // Closed before any lane has come: what waits is decided all the same.
                own.close()
                #expect(await own.decide(.place(submission(3))).word == "busy")
                try await room.withLanes(3, on: own) {}
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(words(verdicts) == ["accepted": 2])
            #expect(try room.value("SELECT count(*) FROM idempotency_keys") == 2)
        }

        @Test func `accepts nothing once a halt has returned`() async throws {
            let room = try Room()
            let queues = [queue(cap: 4), queue(cap: 4)]
            let stop = Count()
            let accepted = Count()
            let halt = Halt(scope: .symbol, subject: "NVDA", reason: "drill")
            try await room.withLanes(on: queues[0]) {
                try await room.withLanes(on: queues[1]) {
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for client in 0..<6 {
                            group.addTask {
                                var number = client * 10_000
                                while stop.value == 0 {
                                    number += 1
                                    let verdict = await queues[client % 2].decide(.place(submission(number, terms(quantity: 1))))
                                    if verdict.word == "accepted" { accepted.add() }
                                    if verdict.word == "tradingHalted" { return }
                                }
                            }
                        }
                        while accepted.value < 20 { await Task.yield() }
                        let thread = DedicatedThread(name: "operator")
                        defer { thread.stop() }
                        try await thread.run { try room.storage().halt(halt, by: "test", at: now) }
                        let orders = try room.value("SELECT count(*) FROM orders")
                        let after = await decide((0..<20).map { (queues[$0 % 2], .place(submission(900_000 + $0))) })
                        #expect(words(after) == ["tradingHalted": 20])
                        stop.add()
                        try await group.waitForAll()
                        #expect(try room.value("SELECT count(*) FROM orders") == orders)
                    }
                }
            }
            try room.check()
        }

        @Test func `accepts every order exactly once while the server restarts under it`() async throws {
            let cluster = try PrivateCluster(at: TestServer.temporaryPath() + "-restarting")
            try cluster.stopWhenThisProcessEnds(removingFolder: true)
            try cluster.start()
            try cluster.ensureDatabase("desk")
            let url = cluster.url(database: "desk")
            _ = try Migrator(directory: TestDatabase.migrations).migrate(PostgresConnection(PostgresOptions(url: url)))
            let room = try Room(url: url)
            let own = queue()
            let done = Count()
            let thread = DedicatedThread(name: "operator")
            defer { thread.stop() }
            try await room.withLanes(on: own) {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for client in 0..<8 {
                        group.addTask {
                            for number in 0..<40 {
                                let order = submission(client * 1_000 + number, terms(quantity: 1))
                                // As a client does: the same request again until it is answered.
                                var verdict = await own.decide(.place(order))
                                while verdict.word == "busy" || verdict.word == "outcomeUnknown" { verdict = await own.decide(.place(order)) }
                                #expect(["accepted", "replayed"].contains(verdict.word))
                                #expect(verdict.record?.orderID == order.orderID)
                                done.add()
                            }
                        }
                    }
                    while done.value < 60 { await Task.yield() }
                    try await thread.run { try cluster.restart() }
                    try await group.waitForAll()
                }
            }
            #expect(try room.value("SELECT count(*) FROM orders") == 320)
            try room.check()
            try await thread.run { try cluster.stop() }
        }
    }
}

extension DeskObserver {
    /// Calls the body at steps.
    static func once(_ body: @escaping @Sendable (DeskStep) -> Void) -> DeskObserver {
        var observer = DeskObserver()
        observer.step = body
        return observer
    }
}

/// A number that tasks count up.
private final class Count: Sendable {
    private let state = Mutex(0)

    var value: Int { state.withLock { $0 } }

    func add() { state.withLock { $0 += 1 } }
}
