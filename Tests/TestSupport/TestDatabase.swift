import Foundation
package import Postgres
import Synchronization

/// A fresh database for one test, with all migrations applied, dropped when the test lets go of it.
package final class TestDatabase: Sendable {
    package let name: String
    package let url: String
    private let isShared: Bool

    /// The folder `migrations` of this package.
    package static let migrations = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "migrations").path

    /// The template of each folder of migrations that this process has used; nil: the folder does not exist.
    private static let templates = Mutex<[String: String]>([:])

    /// Copying a template takes some 50 ms; on a loaded machine much longer.
    private static let deadline: Duration = .seconds(60)

    /// - Parameter migrations: without such a folder the database is empty.
    package init(migrations: String = TestDatabase.migrations) throws {
        let template = try Self.template(for: migrations)
        name = Self.newName("test")
        isShared = true
        url = try PostgresOptions.url(TestServer.url, replacing: ["dbname": name])
        try TestServer.connect().execute("CREATE DATABASE \(name) TEMPLATE \(template)", within: Self.deadline)
    }

    /// A copy of another one as it is at this moment: what a backup would restore. Whoever is connected to that one is cut off.
    package init(copying other: TestDatabase) throws {
        name = Self.newName("copy")
        isShared = true
        url = try PostgresOptions.url(TestServer.url, replacing: ["dbname": name])
        let server = try TestServer.connect()
        // Nobody may be connected to a template.
        try server.execute("ALTER DATABASE \(other.name) ALLOW_CONNECTIONS false")
        try server.execute("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '\(other.name)'")
        try server.execute("CREATE DATABASE \(name) TEMPLATE \(other.name)", within: Self.deadline)
        try server.execute("ALTER DATABASE \(other.name) ALLOW_CONNECTIONS true")
    }

    /// A database of a server of the test's own, which it may stop, and with which the database goes.
    package init(on cluster: PrivateCluster) throws {
        name = "town"
        url = cluster.url(database: name)
        isShared = false
        try cluster.ensureDatabase(name)
        _ = try Migrator(directory: Self.migrations).migrate(PostgresConnection(TestServer.options(url: url)))
    }

    deinit {
        guard isShared else { return }
        do {
            try drop()
        } catch {
            print("The database \(name) could not be dropped: \(error)")
        }
    }

    package var options: PostgresOptions {
        get throws { TestServer.options(url: url) }
    }

    package func connect() throws -> PostgresConnection {
        try PostgresConnection(options)
    }

    /// Makes it as if the tables, empty still, had been in parts for so many weeks.
    package func haveHadParts(weeks: Int) throws {
        try connect().execute(
            """
            DO $$
            DECLARE
                first record;
            BEGIN
                FOR first IN SELECT * FROM parts WHERE bound_from IS NULL LOOP
                    EXECUTE format('ALTER TABLE %I DETACH PARTITION %I', first.parent, first.part);
                    FOR week IN 1..\(weeks) LOOP
                        PERFORM make_part(first.parent, format('%s_before_%s', first.parent, week), first.ends - 7 * week, first.ends - 7 * week + 7);
                    END LOOP;
                    PERFORM attach_part(first.parent, first.part, NULL, first.ends - 7 * \(weeks));
                END LOOP;
            END $$
            """
        )
    }

    /// Ends its sessions and drops it; does nothing the second time.
    package func drop() throws {
        try TestServer.connect().execute("DROP DATABASE IF EXISTS \(name) WITH (FORCE)", within: Self.deadline)
    }

    private static func template(for migrations: String) throws -> String {
        guard FileManager.default.fileExists(atPath: migrations) else { return "template0" }
        return try templates.withLock { templates in
            if let made = templates[migrations] { return made }
            let name = newName("template")
            let server = try TestServer.connect()
            try server.execute("CREATE DATABASE \(name) TEMPLATE template0", within: deadline)
            let connection = try PostgresConnection(TestServer.options(database: name))
            _ = try Migrator(directory: migrations).migrate(connection)
            connection.close()
            dropAtExit(name)
            templates[migrations] = name
            return name
        }
    }

    private static func newName(_ kind: String) -> String {
        "order_router_\(kind)_\(String(UInt64.random(in: 0...UInt64.max), radix: 36))"
    }

    private static let leftovers = Mutex<[String]>([])

    private static func dropAtExit(_ name: String) {
        let isFirst = leftovers.withLock { leftovers in
            leftovers.append(name)
            return leftovers.count == 1
        }
        guard isFirst else { return }
        atexit {
            // At the end of the process there is nobody to tell; a server of our own ends with us anyway.
            for name in TestDatabase.leftovers.withLock({ $0 }) {
                _ = try? TestServer.connect().execute("DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
            }
        }
    }
}
