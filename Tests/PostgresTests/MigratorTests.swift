import Foundation
import Postgres
import TestSupport
import Testing

@Suite final class `A migrator` {
    let folder = URL(filePath: TestServer.temporaryPath())
    let database: TestDatabase

    init() throws {
        database = try TestDatabase(migrations: "/nonexistent")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        try write("0001_make_accounts.sql", "CREATE TABLE accounts (id int8 PRIMARY KEY);\nINSERT INTO accounts VALUES (1);")
        try write("0002_add_names.sql", "ALTER TABLE accounts ADD name text;")
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    private func write(_ name: String, _ text: String) throws {
        try Data(text.utf8).write(to: folder.appending(path: name))
    }

    private func remove(_ name: String) throws {
        try FileManager.default.removeItem(at: folder.appending(path: name))
    }

    private func migrate() throws -> [String] {
        try Migrator(directory: folder.path).migrate(database.connect()).map(\.fileName)
    }

    /// The message of the error with which migrating and asking for the status both end.
    private func refusal() throws -> String? {
        let connection = try database.connect()
        let first = #expect(throws: PostgresError.self) { try Migrator(directory: folder.path).migrate(connection) }
        let second = #expect(throws: PostgresError.self) { try Migrator(directory: folder.path).status(connection) }
        #expect(first == second)
        #expect(first?.code == .migrationsInvalid)
        return first?.message
    }

    @Test func `applies what is pending, once`() throws {
        #expect(try migrate() == ["0001_make_accounts.sql", "0002_add_names.sql"])
        #expect(try migrate().isEmpty)
        try write("0003_add_ages.sql", "ALTER TABLE accounts ADD age int4;")
        #expect(try migrate() == ["0003_add_ages.sql"])
        #expect(try database.connect().query("SELECT count(*) FROM accounts WHERE name IS NULL AND age IS NULL").int64(0, 0) == 1)
    }

    @Test func `tells what is applied without changing anything`() throws {
        let connection = try database.connect()
        let migrator = try Migrator(directory: folder.path)
        #expect(try migrator.status(connection).map(\.state) == [.pending, .pending])
        #expect(try connection.query("SELECT to_regclass('schema_migrations')::text").isNull(0, 0))
        let applied = try migrator.migrate(connection)
        #expect(try migrator.status(connection) == applied)
        guard case .applied(let time) = applied[0].state else { throw POSIXError(.EINVAL) }
        #expect(abs(Double(time) / 1000 - Date().timeIntervalSince1970) < 3600)
    }

    @Test func `keeps the checksum of each file`() throws {
        _ = try migrate()
        let rows = try database.connect().query("SELECT checksum FROM schema_migrations ORDER BY version")
        // sha256sum of the two texts.
        #expect(rows.text(1, 0) == "33e8d9d0c6188d0368a7e9c70380ca735e78fdbb14420d508a3fdf70aba0819c")
        #expect(rows.text(0, 0).count == 64)
    }

    @Test func `refuses a file that changed after it was applied`() throws {
        _ = try migrate()
        try write("0001_make_accounts.sql", "CREATE TABLE accounts (id int8 PRIMARY KEY);")
        #expect(try refusal()?.hasPrefix("0001_make_accounts.sql has changed") == true)
    }

    @Test func `refuses a file that was renamed after it was applied`() throws {
        _ = try migrate()
        try remove("0002_add_names.sql")
        try write("0002_add_other_names.sql", "ALTER TABLE accounts ADD name text;")
        #expect(try refusal() == "0002_add_names.sql was applied to this database but the file is now called 0002_add_other_names.sql")
    }

    @Test func `refuses to go on where an applied file is missing`() throws {
        _ = try migrate()
        try remove("0002_add_names.sql")
        #expect(try refusal() == "0002_add_names.sql was applied to this database but its file is missing")
    }

    @Test func `refuses where an earlier file was never applied`() throws {
        _ = try migrate()
        try database.connect().execute("DELETE FROM schema_migrations WHERE version = 1")
        #expect(try refusal() == "0001_make_accounts.sql was not applied although later ones were")
    }

    @Test(arguments: [
        ("0004_too_far.sql", "0004_too_far.sql follows number 2: there is a gap"),
        ("0002_twice.sql", "0002_twice.sql has the same number as 0002_add_names.sql"),
        ("3_short.sql", "3_short.sql is not named like 0001_what_it_does.sql"),
        ("0003_Upper.sql", "0003_Upper.sql is not named like 0001_what_it_does.sql"),
    ])
    func `refuses a folder whose files are not in order`(_ name: String, _ message: String) throws {
        try write(name, "SELECT 1")
        let error = #expect(throws: PostgresError.self) { try Migrator(directory: folder.path) }
        #expect(error?.code == .migrationsInvalid)
        #expect(error?.message == message)
    }

    @Test func `refuses an empty or missing folder and passes over other files`() throws {
        try write("README.md", "text")
        #expect(try migrate().count == 2)
        try remove("0001_make_accounts.sql")
        try remove("0002_add_names.sql")
        #expect(throws: PostgresError.self) { try Migrator(directory: folder.path) }
        #expect(throws: PostgresError.self) { try Migrator(directory: "/nonexistent") }
    }

    @Test func `undoes a file that fails and says where`() throws {
        try write("0003_fails.sql", "CREATE TABLE half (id int8);\n\nSELECT wrong FROM half;\n")
        let error = #expect(throws: PostgresError.self) { try migrate() }
        #expect(error?.operation == "0003_fails.sql")
        #expect(error?.message.hasPrefix("line 3: ") == true)
        #expect(error?.sqlState == "42703")
        let connection = try database.connect()
        #expect(try connection.query("SELECT to_regclass('half')::text").isNull(0, 0))
        #expect(try connection.query("SELECT count(*) FROM schema_migrations").int64(0, 0) == 2)
        try write("0003_fails.sql", "CREATE TABLE half (id int8);")
        #expect(try migrate() == ["0003_fails.sql"])
    }

    @Test(arguments: ["COMMIT;", "COMMIT; BEGIN;", "ROLLBACK; BEGIN"])
    func `refuses a file that ends its own transaction`(_ text: String) throws {
        try write("0003_commits.sql", text)
        let error = #expect(throws: PostgresError.self) { try migrate() }
        #expect(error?.message.hasPrefix("0003_commits.sql ends its transaction itself") == true)
        #expect(try database.connect().query("SELECT count(*) FROM schema_migrations").int64(0, 0) == 2)
    }

    @Test func `takes its turn when several are at work at once`() async throws {
        try write("0003_is_slow.sql", "SELECT pg_sleep(0.2); CREATE TABLE slow (id int8);")
        let (path, url) = (folder.path, database.url)
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<3 {
                let thread = DedicatedThread(name: "migrator \(number)")
                group.addTask(executorPreference: thread) {
                    try Migrator(directory: path).migrate(PostgresConnection(TestServer.options(url: url))).count
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(counts.sorted() == [0, 0, 3])
    }
}

@Suite struct `A test database` {
    @Test func `is fresh, separate, and gone when it is dropped`() throws {
        let first = try TestDatabase(migrations: "/nonexistent")
        let second = try TestDatabase(migrations: "/nonexistent")
        try first.connect().execute("CREATE TABLE t ()")
        #expect(try second.connect().query("SELECT to_regclass('t')::text").isNull(0, 0))
        let open = try first.connect()
        try first.drop()
        try first.drop()
        #expect(throws: PostgresError.self) { try open.execute("SELECT 1") }
        let error = #expect(throws: PostgresError.self) { try first.connect() }
        #expect(error?.sqlState == nil || error?.sqlState == "3D000")
        #expect(error?.message.contains(first.name) == true)
    }

    @Test func `goes when the test lets go of it`() throws {
        var database: TestDatabase? = try TestDatabase(migrations: "/nonexistent")
        let name = try #require(database?.name)
        database = nil
        var parameters = Parameters()
        parameters.append(name)
        #expect(try TestServer.connect().query("SELECT FROM pg_database WHERE datname = $1", parameters).count == 0)
    }

    @Test func `begins with the migrations of its folder`() throws {
        let folder = TestServer.temporaryPath()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Data("CREATE TABLE here (n int8)".utf8).write(to: URL(filePath: folder + "/0001_here.sql"))
        for _ in 0..<2 {
            let database = try TestDatabase(migrations: folder)
            #expect(try database.connect().query("SELECT count(*) FROM here").int64(0, 0) == 0)
        }
    }
}
