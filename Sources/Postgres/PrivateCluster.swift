import Foundation

/// A PostgreSQL server of our own in a folder of its own, for the demo and for tests: reached through a Unix socket in that folder and
/// not by TCP, closed to other users, with fsync on.
///
/// It outlives us unless it is stopped, and `start()` takes up what it finds: a server still running, one that was killed, an
/// initialisation that was interrupted.
package struct PrivateCluster: Sendable {
    /// Where it lives: `data`, the socket and `postgres.log`. Not always where it was wanted: see `init`.
    package let directory: String
    /// The folder of the PostgreSQL programs.
    package let programs: String
    /// Put before each command, where it must run as another user.
    let asOwner: [String]
    private let settings: [String]

    /// Starting takes a second; recovery after a kill reads at most `max_wal_size` of log. This is for slow disks.
    private static let startDeadline: Duration = .seconds(120)

    /// The processes of a server that was killed hold its shared memory for a moment, and a new one refuses to start meanwhile.
    private static let launchPatience: Duration = .seconds(5)

    private var data: String { directory + "/data" }
    private var log: String { directory + "/postgres.log" }

    /// Finds PostgreSQL and chooses the folder; starts nothing.
    ///
    /// As root the server runs as the user `postgres`. Where the wanted folder is not reachable for it, or its path does not fit a
    /// socket's address or a configuration file, `/var/tmp/order-router-<uid>-<hash of the path>` serves instead.
    /// Throws `clusterFailed` where PostgreSQL is not installed or the folder is used for something else.
    ///
    /// - Parameter settings: further lines of the server's configuration; the last one of a name wins.
    package init(at path: String, settings: [String] = []) throws(PostgresError) {
        self.settings = settings
        let home = try ClusterHome(wanted: path)
        directory = home.directory
        asOwner = home.asOwner
        programs = try Self.findPrograms(for: home.directory + "/data")
    }

    /// The URL of a database of this cluster.
    package func url(database: String) -> String {
        "host='\(directory)' port='5432' user='postgres' dbname='\(database)'"
    }

    package var isRunning: Bool { runningProcess != nil }

    /// Makes the cluster if there is none, starts it if it does not run, and returns once it takes connections.
    package func start() throws(PostgresError) {
        try ClusterHome.make(directory, asOwner: asOwner)
        try ClusterLock.hold(in: directory) { () throws(PostgresError) in
            if !FileManager.default.fileExists(atPath: data + "/PG_VERSION") { try initialize() }
            try writeSettings()
            try launchAndAwait()
        }
    }

    private func launchAndAwait() throws(PostgresError) {
        // A server that runs may be on its way down: then it is started again when it is gone.
        let begin = ContinuousClock.now
        while true {
            do throws(PostgresError) {
                if runningProcess == nil { try launch() }
                try connect().close()
                return
            } catch {
                let limit = error.code == .clusterFailed ? Self.launchPatience : Self.startDeadline
                guard ContinuousClock.now < begin + limit else { throw error }
                // Nothing but asking tells when a server from before is ready or gone.
                Thread.sleep(forTimeInterval: 0.05)
            }
        }
    }

    /// Stops the server (fast: sessions end, everything is written). Does nothing where none runs.
    package func stop() throws(PostgresError) {
        guard runningProcess != nil else { return }
        try perform(control("stop") + ["-m", "fast", "-w", "-t", "60"], "stop")
    }

    /// Stops the server and gives its folder another name, so that the next `start` makes a new cluster. Returns the name; nil where there is none.
    package func setAside() throws(PostgresError) -> String? {
        guard FileManager.default.fileExists(atPath: data) else { return nil }
        try stop()
        var number = 1
        while FileManager.default.fileExists(atPath: "\(directory)-\(number)") { number += 1 }
        let aside = "\(directory)-\(number)"
        try perform(["mv", directory, aside], "set aside")
        return aside
    }

    package func restart() throws(PostgresError) {
        try stop()
        try start()
    }

    /// Makes a database if it is not there.
    package func ensureDatabase(_ name: String) throws(PostgresError) {
        precondition(name.wholeMatch(of: /[a-z_][a-z0-9_]*/) != nil, "\(name) is not the plain name of a database.")
        let connection = try connect()
        var parameters = Parameters()
        parameters.append(name)
        guard try connection.query("SELECT FROM pg_database WHERE datname = $1", parameters).count == 0 else { return }
        try connection.execute("CREATE DATABASE \(name) TEMPLATE template0", within: .seconds(60))
    }

    /// Has the server stopped, and the folder removed if wanted, when this process ends, however it ends: a small shell waits for the
    /// end of a pipe that only this process holds open.
    package func stopWhenThisProcessEnds(removingFolder: Bool) throws(PostgresError) {
        let stop = (control("stop") + ["-m", removingFolder ? "immediate" : "fast", "-w"]).map { "'\($0)'" }.joined(separator: " ")
        let remove = removingFolder ? "; rm -rf '\(directory)'" : ""
        // The descriptor stays open for the rest of this process's life: that is the signal.
        _ = try Program.startBound(["sh", "-c", "trap '' INT HUP TERM; read -r _; \(stop)\(remove)"])
    }

    // MARK: How.

    private func connect() throws(PostgresError) -> PostgresConnection {
        var options = PostgresOptions(url: url(database: "postgres"))
        options.connectTimeout = Self.startDeadline
        return try PostgresConnection(options)
    }

    private func initialize() throws(PostgresError) {
        // Made aside and renamed when whole, so that an interrupted initialisation is never taken for a cluster.
        let new = data + ".new"
        try perform(["rm", "-rf", new], "initdb")
        let locale = Self.hasLocale("C.UTF-8") ? "C.UTF-8" : "C"
        try perform(
            asOwner + [
                programs + "/initdb", "-D", new, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=\(locale)", "--data-checksums",
            ],
            "initdb"
        )
        try perform(asOwner + ["sh", "-c", "echo \"include 'private.conf'\" >> \"$0/postgresql.conf\" && : > \"$0/private.conf\"", new], "initdb")
        try perform(asOwner + ["mv", new, data], "initdb")
    }

    /// Written at each start, because the folder may have been moved.
    private func writeSettings() throws(PostgresError) {
        let lines = """
            # Written at each start.
            listen_addresses = ''
            port = 5432
            unix_socket_directories = '\(directory)'
            # The folder keeps other users away; a role needs no password.
            unix_socket_permissions = 0700
            max_connections = 200
            shared_buffers = 256MB
            fsync = on
            synchronous_commit = on
            full_page_writes = on
            # A new segment of the log costs a commit 100 ms and more, a used one nothing: keep them.
            min_wal_size = 512MB
            max_wal_size = 4GB
            logging_collector = off
            log_destination = 'stderr'
            cluster_name = 'order-router'

            """ + settings.joined(separator: "\n")
        try perform(asOwner + ["sh", "-c", "printf '%s\\n' \"$1\" > \"$0\"", data + "/private.conf", lines], "start")
    }

    private func launch() throws(PostgresError) {
        // PostgreSQL copes with what a killed server has left, unless its process number now belongs to somebody else.
        if let number = recordedProcess, kill(number, 0) == 0 { try perform(asOwner + ["rm", "-f", data + "/postmaster.pid"], "start") }
        do throws(PostgresError) {
            try perform(control("start") + ["-l", log, "-w", "-t", "\(Self.startDeadline.components.seconds)"], "start")
        } catch {
            let lines = (try? Program.run(asOwner + ["tail", "-n", "5", log]).output) ?? ""
            throw PostgresError(code: .clusterFailed, operation: "start", message: "\(error.message) \(log) ends with: \(lines)")
        }
    }

    private func control(_ command: String) -> [String] {
        asOwner + [programs + "/pg_ctl", command, "-D", data, "-s"]
    }

    /// The process that serves this folder. The number in postmaster.pid alone proves nothing: after a kill it may belong to anybody.
    private var runningProcess: Int32? {
        guard let number = recordedProcess,
            let folder = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(number)/cwd"),
            folder == URL(filePath: data).resolvingSymlinksInPath().path
        else { return nil }
        return number
    }

    private var recordedProcess: Int32? {
        let text = try? String(contentsOfFile: data + "/postmaster.pid", encoding: .utf8)
        return text?.split(separator: "\n").first.flatMap { Int32($0) }
    }

    private func perform(_ arguments: [String], _ operation: String) throws(PostgresError) {
        let outcome = try Program.run(arguments)
        guard outcome.status == 0 else {
            throw PostgresError(
                code: .clusterFailed,
                operation: operation,
                message: "\(arguments.joined(separator: " ")) ended with status \(outcome.status): \(outcome.output)"
            )
        }
    }

    private static func hasLocale(_ name: String) -> Bool {
        guard let locale = unsafe newlocale(1 << LC_CTYPE, name, nil) else { return false }
        unsafe freelocale(locale)
        return true
    }

    /// The programs that made the data, else the newest.
    private static func findPrograms(for data: String) throws(PostgresError) -> String {
        let installed = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
        var folders = installed.compactMap { Int($0) }.sorted(by: >).map { "/usr/lib/postgresql/\($0)/bin" }
        folders += (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        if let made = try? String(contentsOfFile: data + "/PG_VERSION", encoding: .utf8) {
            let version = made.trimmingCharacters(in: .whitespacesAndNewlines)
            folders.insert("/usr/lib/postgresql/\(version)/bin", at: 0)
        }
        let found = folders.first { folder in
            ["initdb", "pg_ctl", "postgres"].allSatisfy { FileManager.default.isExecutableFile(atPath: "\(folder)/\($0)") }
        }
        guard let found else {
            throw PostgresError(
                code: .clusterFailed,
                operation: "find PostgreSQL",
                message: "PostgreSQL is not installed: neither /usr/lib/postgresql/*/bin nor PATH holds initdb, pg_ctl and postgres "
                    + "(on Debian and Ubuntu: apt-get install postgresql)"
            )
        }
        return found
    }
}
