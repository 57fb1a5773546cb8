import Postgres
import Storage
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct `A pool of connections` {
    /// Of a pool whose line a test fills before it lets it go on, on however busy a machine.
    private static let long: Duration = .seconds(50)

    /// Holds a lock that calls wait for until it is let go: how slow a call is, is the test's to say.
    private struct Gate {
        let database: TestDatabase
        private let lock: PostgresConnection

        init() throws {
            database = try TestDatabase()
            lock = try database.connect()
            try lock.execute("CREATE TABLE gate ()")
            try lock.execute("BEGIN")
            try lock.execute("LOCK TABLE gate")
        }

        func open() throws { try lock.execute("ROLLBACK") }

        static func pass(_ database: Database) throws(PostgresError) -> Int64 {
            try database.connection().query("SELECT count(*) FROM gate").int64(0, 0)
        }

        /// Waits until so many calls stand before it.
        func waits(for count: Int64) async throws {
            let options = try database.options
            try await DedicatedThread(name: "watch").run {
                let connection = try PostgresConnection(options)
                defer { connection.close() }
                let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
                while try connection.query(waiting).int64(0, 0) != count {}
            }
        }
    }

    @Test func `lets nobody wait behind a slow call while another connection is free`() async throws {
        let gate = try Gate()
        let pool = DatabasePool("pool", try gate.database.options, count: 2, waitingLimit: 100)
        try await withThrowingTaskGroup(of: Int64.self) { group in
            group.addTask { try await pool.run(Gate.pass) }
            try await gate.waits(for: 1)
            // One after another and all at once: all of them through the other connection.
            for number in 0..<50 as Range<Int64> {
                let answer = try await pool.read { database in try database.connection().query("SELECT \(number)::bigint").int64(0, 0) }
                #expect(answer == number)
            }
            let together = try await withThrowingTaskGroup(of: Int64.self) { group in
                for number in 0..<50 as Range<Int64> {
                    group.addTask { try await pool.read { database in try database.connection().query("SELECT \(number)::bigint").int64(0, 0) } }
                }
                return try await group.reduce(into: Set<Int64>()) { $0.insert($1) }
            }
            #expect(together == Set(0..<50))
            try gate.open()
            #expect(try await group.next() == 0)
        }
        await pool.stop()
    }

    @Test func `refuses at once what finds its line full, and answers who stands in it`() async throws {
        let gate = try Gate()
        let pool = DatabasePool("pool", try gate.database.options, count: 2, waitingLimit: 3, patience: Self.long)
        try await withThrowingTaskGroup(of: Int64?.self) { group in
            // Two with the database and three in line, whichever they are.
            for _ in 0..<20 {
                group.addTask {
                    do {
                        return try await pool.read(Gate.pass)
                    } catch DatabaseTrouble.busy {
                        return nil
                    }
                }
            }
            var refused = 0
            while refused < 15 {
                let answer = try #require(try await group.next())
                #expect(answer == nil)
                refused += 1
            }
            try gate.open()
            for _ in 0..<5 { #expect(try await group.next() == 0) }
        }
        await pool.stop()
    }

    @Test func `gives up who has waited for long`() async throws {
        let gate = try Gate()
        let patience: Duration = .milliseconds(200)
        let pool = DatabasePool("pool", try gate.database.options, count: 1, waitingLimit: 3, patience: patience)
        try await withThrowingTaskGroup(of: Int64.self) { group in
            group.addTask { try await pool.read(Gate.pass) }
            try await gate.waits(for: 1)
            let begun = ContinuousClock.now
            await #expect(throws: DatabaseTrouble.self) { try await pool.read(Gate.pass) }
            #expect(ContinuousClock.now - begun >= patience)
            try gate.open()
            #expect(try await group.next() == 0)
            #expect(try await pool.read(Gate.pass) == 0)
        }
        await pool.stop()
    }

    @Test func `that is stopped answers who stands in line and who comes later, and whoever has a connection as ever`() async throws {
        let gate = try Gate()
        let pool = DatabasePool("pool", try gate.database.options, count: 2, waitingLimit: 3, patience: Self.long)
        try await withThrowingTaskGroup(of: Result<Int64, DatabaseTrouble>.self) { group in
            // Two with the database and three in line, whichever they are: the others are refused.
            for _ in 0..<20 { group.addTask { await Self.ask(pool, Gate.pass) } }
            for _ in 0..<15 { #expect(try #require(try await group.next()).word == "busy") }
            try await gate.waits(for: 2)
            async let stopped: Void = pool.stop()
            for _ in 0..<3 { #expect(try #require(try await group.next()).word == "stopped") }
            #expect(await Self.ask(pool, Gate.pass).word == "stopped")
            await #expect(throws: DatabaseTrouble.self) { try await pool.read(Gate.pass) }
            try gate.open()
            for _ in 0..<2 { #expect(try #require(try await group.next()).word == "0") }
            await stopped
        }
        await pool.stop()
        #expect(await Self.ask(pool, Gate.pass).word == "stopped")
    }

    @Test func `may be stopped at any moment of the calls that come`() async throws {
        let database = try TestDatabase()
        for _ in 0..<30 {
            let pool = DatabasePool("pool", try database.options, count: 3, waitingLimit: 100)
            let words = await withTaskGroup(of: String.self) { group in
                for number in 0..<40 as Range<Int64> {
                    group.addTask {
                        await Self.ask(pool) { database throws(PostgresError) in
                            try database.connection().query("SELECT \(number)::bigint").int64(0, 0)
                        }.word
                    }
                    if number == 20 {
                        group.addTask {
                            await pool.stop()
                            return "stopped"
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(words.count == 41 && words.filter { $0 != "stopped" && Int64($0) == nil } == [])
            #expect(await Self.ask(pool, Gate.pass).word == "stopped")
        }
    }

    private static func ask(
        _ pool: DatabasePool,
        _ work: @Sendable (Database) throws(PostgresError) -> Int64
    ) async -> Result<Int64, DatabaseTrouble> {
        do throws(DatabaseTrouble) {
            return .success(try await pool.run(work))
        } catch {
            return .failure(error)
        }
    }

    @Test func `tries once more through a new connection, and tells the second try what the first has left`() async throws {
        let database = try TestDatabase()
        let told = Mutex<[String]>([])
        let pool = DatabasePool(
            "pool",
            try database.options,
            count: 1,
            waitingLimit: 3,
            report: { error in told.withLock { $0.append(error.message) } }
        )
        let backend = try await pool.run(remembering: nil as Int64?) { first, database throws(PostgresError) in
            let connection = try database.connection()
            let own = try connection.query("SELECT pg_backend_pid()::bigint").int64(0, 0)
            if let first { return first == own ? 0 : own }
            first = own
            _ = try connection.query("SELECT pg_terminate_backend(pg_backend_pid())")
            return -1
        }
        #expect(backend > 0)
        #expect(told.withLock { $0.count } == 1)
        // What fails for good is not tried again.
        let tries = Atomic(0)
        await #expect(throws: PostgresError.self) {
            try await pool.read { database in
                tries.add(1, ordering: .relaxed)
                _ = try database.connection().query("SELECT 1 / 0")
            }
        }
        #expect(tries.load(ordering: .relaxed) == 1)
        await pool.stop()
    }
}

extension Result<Int64, DatabaseTrouble> {
    fileprivate var word: String {
        switch self {
        case .success(let value): "\(value)"
        case .failure(.failed(let error)): error.description
        case .failure(let trouble): "\(trouble)"
        }
    }
}
