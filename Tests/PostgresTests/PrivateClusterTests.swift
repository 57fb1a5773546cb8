import Foundation
import Postgres
import TestSupport
import Testing

@Suite final class `A private cluster` {
    let folder = TestServer.temporaryPath()
    let cluster: PrivateCluster

    init() throws {
        cluster = try PrivateCluster(at: folder)
        try cluster.stopWhenThisProcessEnds(removingFolder: true)
    }

    deinit {
        guard FileManager.default.fileExists(atPath: cluster.directory) else { return }
        do {
            try cluster.stop()
            try FileManager.default.removeItem(atPath: cluster.directory)
        } catch {
            print("The cluster in \(cluster.directory) could not be removed: \(error)")
        }
    }

    private func connect() throws -> PostgresConnection {
        try PostgresConnection(TestServer.options(url: cluster.url(database: "app")))
    }

    private func processNumber() throws -> Int32 {
        let text = try String(contentsOfFile: cluster.directory + "/data/postmaster.pid", encoding: .utf8)
        return try #require(text.split(separator: "\n").first.flatMap { Int32($0) })
    }

    @Test func `takes further settings, which win over its own`() throws {
        let cluster = try PrivateCluster(at: folder, settings: ["shared_buffers = 48MB", "work_mem = 5MB"])
        try cluster.start()
        let connection = try PostgresConnection(TestServer.options(url: cluster.url(database: "postgres")))
        let rows = try connection.query("SELECT current_setting('shared_buffers'), current_setting('work_mem'), current_setting('fsync')")
        #expect((0..<3).map { rows.text(0, $0) } == ["48MB", "5MB", "on"])
    }

    @Test func `lives through stop, kill and a second start`() throws {
        #expect(cluster.directory == folder)
        #expect(!cluster.isRunning)
        // What an interrupted initialisation leaves.
        try FileManager.default.createDirectory(atPath: folder + "/data.new/base", withIntermediateDirectories: true)
        try cluster.start()
        #expect(cluster.isRunning)
        let attributes = try FileManager.default.attributesOfItem(atPath: folder)
        #expect(attributes[.posixPermissions] as? Int == 0o700)

        try cluster.ensureDatabase("app")
        try cluster.ensureDatabase("app")
        try connect().execute("CREATE TABLE kept (n int8); INSERT INTO kept VALUES (7)")
        let shown = try connect().query(
            """
            SELECT current_setting('fsync'), current_setting('synchronous_commit'), current_setting('listen_addresses'),
            current_setting('server_encoding'), current_setting('max_connections')
            """
        )
        #expect((0..<5).map { shown.text(0, $0) } == ["on", "on", "", "UTF8", "200"])

        // Running from before.
        let number = try processNumber()
        try PrivateCluster(at: folder).start()
        #expect(try processNumber() == number)

        // Killed: its file and its socket stay behind.
        #expect(kill(number, SIGKILL) == 0)
        try cluster.start()
        #expect(try processNumber() != number)
        #expect(try connect().query("SELECT n FROM kept").int64(0, 0) == 7)

        // The number in its file now belongs to another process: to us.
        try cluster.stop()
        try cluster.stop()
        #expect(!cluster.isRunning)
        try Data("\(ProcessInfo.processInfo.processIdentifier)\n".utf8).write(to: URL(filePath: folder + "/data/postmaster.pid"))
        try cluster.restart()
        #expect(try connect().query("SELECT n FROM kept").int64(0, 0) == 7)
    }

    @Test func `ends with the process that asked for it, even one that is killed`() async throws {
        let path = TestServer.temporaryPath()
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let cluster = try PrivateCluster(at: path)
            try cluster.stopWhenThisProcessEnds(removingFolder: true)
            try cluster.start()
            kill(getpid(), SIGKILL)
        }
        // Nothing tells us but the folder's end; the time only ends a wait that would be in vain.
        let deadline = ContinuousClock.now + .seconds(60)
        while FileManager.default.fileExists(atPath: path), ContinuousClock.now < deadline { await Task.yield() }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func `whose commit is told not to wait for its standby says that it is not durable`() async throws {
        try cluster.start()
        try cluster.ensureDatabase("app")
        try connect().execute("CREATE TABLE t (n int8)")
        try connect().execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
        try connect().execute("SELECT pg_reload_conf()")
        let watcher = try connect()
        let committer = try connect()
        let number = committer.serverProcessID
        try committer.begin()
        try committer.execute("INSERT INTO t VALUES (1)")
        try committer.sendPipeline { $0.add(.commit) }
        // The wait for a standby shows in the list of sessions; a session that is not there yet is asked about again.
        let deadline = ContinuousClock.now + .seconds(60)
        let waits = "SELECT FROM pg_stat_activity WHERE pid = \(number) AND wait_event = 'SyncRep'"
        while try watcher.query(waits).count == 0, ContinuousClock.now < deadline { await Task.yield() }
        try watcher.execute("SELECT pg_cancel_backend(\(number))")
        let error = #expect(throws: PostgresError.self) { try committer.readPipeline() }
        #expect(error?.code == .notDurable)
        #expect(error?.isOutcomeUnknown == true)
        #expect(try watcher.query("SELECT count(*) FROM t").int64(0, 0) == 1)
    }
}

@Suite struct `The folder of a private cluster` {
    @Test func `is another one where the path is too long or has odd characters`() throws {
        let long = "/var/tmp/" + String(repeating: "long", count: 30)
        let odd = "/var/tmp/it's odd"
        let chosen = [try PrivateCluster(at: long).directory, try PrivateCluster(at: odd).directory]
        #expect(chosen.allSatisfy { $0.hasPrefix("/var/tmp/order-router-\(geteuid())-") && $0.utf8.count < 60 })
        #expect(Set(chosen).count == 2)
        #expect(try PrivateCluster(at: long).directory == chosen[0])
    }

    @Test(.enabled(if: geteuid() == 0, "Only root runs the server as another user."))
    func `is another one where the user postgres cannot reach it`() throws {
        let closed = TestServer.temporaryPath()
        try FileManager.default.createDirectory(atPath: closed, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: closed) }
        #expect(try PrivateCluster(at: closed + "/cluster").directory.hasPrefix("/var/tmp/order-router-0-"))
    }

    @Test func `is refused where it holds something else`() throws {
        let other = TestServer.temporaryPath()
        try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: other) }
        try Data().write(to: URL(filePath: other + "/letter.txt"))
        let error = #expect(throws: PostgresError.self) { try PrivateCluster(at: other) }
        #expect(error?.code == .clusterFailed)
        #expect(error?.message.contains("letter.txt") == true)
    }
}
