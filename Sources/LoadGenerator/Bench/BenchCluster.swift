import Foundation
import Postgres
import Storage

/// The PostgreSQL that a bench runs on: durable, and set as an operator of a small machine should set it.
struct BenchCluster: Sendable {
    struct Setting: Sendable {
        let name: String
        let value: String
        let why: String
    }

    /// What differs from PostgreSQL's own defaults, and why.
    static let settings: [Setting] = [
        Setting(name: "fsync", value: "on", why: "An answer promises that the order survives a power failure."),
        Setting(name: "synchronous_commit", value: "on", why: "So a commit waits for the disk."),
        Setting(name: "full_page_writes", value: "on", why: "A torn page after a crash would be a lost ledger."),
        Setting(name: "shared_buffers", value: "1GB", why: "The hot ends of tables and indexes stay in memory; a quarter of a small server."),
        Setting(name: "wal_buffers", value: "64MB", why: "A batch of 256 orders writes a megabyte of log: it must not wait for the writer."),
        Setting(name: "wal_compression", value: "lz4", why: "Page images after a checkpoint are most of the log; lz4 costs less than writing them."),
        Setting(name: "min_wal_size", value: "2GB", why: "A new segment of the log costs a commit 100 ms, a used one nothing."),
        Setting(name: "max_wal_size", value: "8GB", why: "Checkpoints come by the clock, not in the middle of a burst."),
        Setting(name: "checkpoint_timeout", value: "15min", why: "Fewer page images; recovery still takes a minute or two."),
        Setting(name: "checkpoint_completion_target", value: "0.9", why: "A checkpoint writes evenly, not at once."),
        Setting(name: "autovacuum_naptime", value: "10s", why: "The shards' rows and the balances change with each batch: their dead rows go soon."),
        Setting(name: "jit", value: "off", why: "No statement here is long enough to be worth compiling."),
        Setting(name: "track_io_timing", value: "off", why: "A clock call for each block, for nobody."),
        Setting(name: "max_connections", value: "200", why: "Ten a router, and pgbench."),
    ]

    private let cluster: PrivateCluster
    let migrations: String

    /// Makes the cluster and starts it; it ends with this process.
    ///
    /// - Parameter folder: a new one: figures are only comparable on an empty cluster.
    init(in folder: String, migrations: String) throws {
        cluster = try PrivateCluster(at: folder + "/postgres", settings: Self.settings.map { "\($0.name) = \($0.value)" })
        self.migrations = migrations
        try cluster.start()
        try cluster.stopWhenThisProcessEnds(removingFolder: true)
    }

    func url(_ database: String) -> String { cluster.url(database: database) }

    /// The folder of PostgreSQL's programs.
    var programs: String { cluster.programs }

    /// A database at this program's migrations.
    func database(_ name: String) throws -> String {
        try cluster.ensureDatabase(name)
        let connection = try PostgresConnection(PostgresOptions(url: url(name)))
        defer { connection.close() }
        _ = try Migrator(directory: migrations).migrate(connection)
        return url(name)
    }

    /// The postmaster and all its children, for their processor time.
    var process: WatchedProcess {
        get throws {
            let pidFile = "\(cluster.directory)/data/postmaster.pid"
            guard let text = try? String(contentsOfFile: pidFile, encoding: .utf8), let id = text.split(separator: "\n").first.flatMap({ Int32($0) })
            else { throw LoadFailure("\(pidFile) cannot be read") }
            return WatchedProcess("postgres", id)
        }
    }

    func stop() throws { try cluster.stop() }
}
