import OrderDesk
import Postgres
import Storage
import Synchronization
import TestSupport
import Testing
import Trading

/// One test at a time: each has a database, several threads and waits for what they do.
@Suite(.serialized) struct `On PostgreSQL, the desk` {}

/// A database with two accounts of one shard, their credential, and the venue's session logged on.
final class Room: Sendable {
    let url: String
    private let database: TestDatabase?

    convenience init(cash: String = "1000000") throws {
        let database = try TestDatabase()
        try self.init(url: database.url, database, cash: cash)
    }

    /// - Parameter url: a migrated database without accounts.
    init(url: String, _ database: TestDatabase? = nil, cash: String = "1000000") throws {
        self.url = url
        self.database = database
        let storage = Database(PostgresOptions(url: url))
        for owner in [account, neighbour] {
            #expect(try storage.createAccount(owner, cash: usd(cash), positions: [(symbol, whole(100), usd("500"))], by: "test", at: 1))
        }
        let connection = try PostgresConnection(PostgresOptions(url: url))
        try connection.execute(
            """
            INSERT INTO credentials (created_at, activated_at, state, account_id, credential_id, key_alias, public_key_spki)
            SELECT 1, 1, 2, account_id, 'c1' || CASE account_id WHEN 'acc_1' THEN '' ELSE account_id END, '', '' FROM accounts
            """
        )
        _ = try storage.takeLease(session: session, holder: "test", epoch: 0, milliseconds: 3_600_000)
        try storage.setLoggedOn(true, session: session, epoch: 1)
        storage.drop()
    }

    /// Another account, with cash and the credential 'c1<account>'.
    func open(_ owner: AccountID) throws {
        #expect(try storage().createAccount(owner, cash: usd("1000000"), positions: [], by: "test", at: 1))
        try connect().execute(
            """
            INSERT INTO credentials (created_at, activated_at, state, account_id, credential_id, key_alias, public_key_spki)
            VALUES (1, 1, 2, '\(owner)', 'c1\(owner)', '', '')
            """
        )
    }

    func connect() throws -> PostgresConnection { try PostgresConnection(PostgresOptions(url: url)) }

    func storage() -> Database { Database(PostgresOptions(url: url)) }

    func value(_ sql: String) throws -> Int64 { try connect().query("SELECT (\(sql))::bigint").int64(0, 0) }

    func text(_ sql: String) throws -> String { try connect().query("SELECT (\(sql))::text").text(0, 0) }

    /// Fails the test with whatever breaks an invariant, by the proof of the ledger and by the second pair of eyes.
    func check(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let storage = storage()
        defer { storage.drop() }
        let broken = try storage.verifyLedger(limit: 3).filter { !$0.holds }.map { "\($0.proves) \($0.offending)" }
        let faults = try Invariants.faults(connect()) + broken
        #expect(faults == [], sourceLocation: sourceLocation)
    }

    /// Runs lanes of one router on this queue while the body runs, then closes the queue and waits for their end.
    func withLanes<Value: Sendable>(
        _ count: Int = 2,
        on queue: OrderQueue,
        url other: String? = nil,
        rules: DeskRules = rules,
        observer: DeskObserver = DeskObserver(),
        _ body: () async throws -> Value
    ) async throws -> Value {
        let threads = (0..<count).map { DedicatedThread(name: "lane-\($0)") }
        defer { for thread in threads { thread.stop() } }
        let options = PostgresOptions(url: other ?? url)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            for thread in threads {
                group.addTask(executorPreference: thread) {
                    await Accept(queue: queue, database: options, market: StillMarket(), rules: rules, observer: observer, now: { now }).run()
                }
            }
            let result: Result<Value, any Error>
            do { result = .success(try await body()) } catch { result = .failure(error) }
            queue.close()
            try await group.waitForAll()
            return try result.get()
        }
    }

    /// Numbers what waits in the log for the venue, as send does: NewOrderSingles alone.
    func route(at time: Int64 = now) throws {
        let storage = storage()
        defer { storage.drop() }
        guard let reads = try storage.beginSend(try storage.outbox(limit: 100).filter { $0.shard == account.shard }, at: time) else { return }
        var changes = reads.orders.changes(at: time)
        var messages: [SentMessage] = []
        for row in reads.rows {
            changes.sent(through: row.position, of: row.shard)
            guard row.type == .accepted, var order = reads.orders.orders[row.orderID] else { continue }
            guard case .changed(let type, _) = order.apply(.routed, balances: &changes.balances, at: time) else { continue }
            changes.update(order)
            changes.tell(type, of: order)
            messages.append(
                SentMessage(
                    number: Int64(messages.count + 1),
                    type: "D",
                    sentAt: time,
                    resendBy: time,
                    orderID: order.id.text,
                    shard: account.shard,
                    body: Array("11=\(order.id)\u{1}".utf8)
                )
            )
        }
        let (record, next) = (SessionRecord(epoch: 1, generation: 1, nextOut: 1, nextIn: 1), Int64(messages.count + 1))
        try storage.commitSend(changes, session: session, record: record, nextOut: next, nextIn: 1, messages: messages)
    }

    /// Commits reports to the inbox as receive does.
    func receive(_ reports: [VenueReport], from number: Int64 = 1, at time: Int64 = now) throws {
        let next = try value("SELECT next_out FROM fix_sessions")
        try storage().commitReceived(
            session: session,
            record: SessionRecord(epoch: 1, generation: 1, nextOut: next, nextIn: number),
            nextOut: next,
            nextIn: number + Int64(reports.count),
            generation: 1,
            reports: reports.enumerated().map { ReceivedReport(number: number + Int64($0), report: $1, refusedNumber: nil, message: []) },
            at: time
        )
    }

    /// Asks the venue about an order, as send does.
    func ask(about order: OrderID, at time: Int64) throws {
        let next = try value("SELECT next_out FROM fix_sessions")
        try storage().commitAsked(
            [SentMessage(number: next, type: "H", sentAt: time, resendBy: time, orderID: order.text, shard: account.shard, body: [])],
            session: session,
            record: SessionRecord(epoch: 1, generation: 1, nextOut: next, nextIn: 1),
            nextOut: next + 1,
            nextIn: try value("SELECT next_in FROM fix_sessions"),
            at: time
        )
    }

    func settle(by other: DeskRules = rules) throws {
        let settle = Settle(
            database: PostgresOptions(url: url),
            rules: other,
            observer: DeskObserver(),
            signal: CommitSignal(),
            now: { now }
        )
        while try settle.settle() {}
    }

    func sweep(at time: Int64) throws {
        try Sweep(database: PostgresOptions(url: url), times: Sweep.Times(), observer: DeskObserver(), now: { time }).sweep()
    }

    func status(_ order: OrderID) throws -> OrderStatus? { try storage().order(order, of: account)?.status }
}

func queue(_ capacity: Int = 10_000, cap: Int = 256) -> OrderQueue { OrderQueue(capacity: capacity, batchCap: cap, lanes: 2) }

/// Submits all at once and returns the verdicts in the order of the work.
func decide(_ work: [(OrderQueue, Work)]) async -> [Verdict] {
    await withTaskGroup(of: (Int, Verdict).self) { group in
        for (place, (queue, piece)) in work.enumerated() { group.addTask { (place, await queue.decide(piece)) } }
        var verdicts: [(Int, Verdict)] = []
        for await verdict in group { verdicts.append(verdict) }
        return verdicts.sorted { $0.0 < $1.0 }.map(\.1)
    }
}

func words(_ verdicts: [Verdict]) -> [String: Int] { Dictionary(grouping: verdicts, by: \.word).mapValues(\.count) }
