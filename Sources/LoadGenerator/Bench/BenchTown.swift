import Foundation
import Glibc
import Postgres
import Storage

/// A database, a venue and a router around the runs of a bench, each in a process of its own, and accounts to trade with.
struct BenchTown: Sendable {
    let databaseURL: String
    let traders: [Trader]
    let port: UInt16
    let receipts: String
    private let venue: Child
    private let router: Child

    /// What differs from a router's defaults, and why.
    static let routerSettings: [(flag: String, value: String, why: String)] = [
        ("account-rate", "1000000/1000000", "One account of a bench sends what a thousand people do."),
        ("address-rate", "1000000/1000000", "All of it comes from one address."),
        ("stale-after", "60s", "Orders are signed before the run, so that signing is not measured."),
    ]

    /// Both need a moment; a first connection to the database prepares eighty statements.
    private static let patience: Duration = .seconds(30)

    /// - Parameter folder: for this town alone.
    init(_ name: String, _ cluster: BenchCluster, folder: String, accounts: Int) async throws {
        databaseURL = try cluster.database(name)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let preparation = Preparation(databaseURL: databaseURL, folder: folder, accounts: accounts)
        traders = try await preparation.run()
        receipts = folder + "/receipts"
        port = try Self.freePort()
        let venuePort = try Self.freePort()
        let program = try Self.program()
        // Frozen prices: orders that were signed before the run fill at its end as at its beginning.
        venue = try Child(
            program,
            ["simulate", "--listen", "127.0.0.1:\(venuePort)", "--frozen", "--receipts", receipts],
            log: folder + "/venue.log"
        )
        var arguments = [
            "serve", "--database-url", databaseURL, "--migrations", cluster.migrations, "--listen", "127.0.0.1:\(port)",
            "--jwks", preparation.issuerFolder + "/jwks.json", "--issuer", preparation.issuer, "--audience", preparation.audience,
            "--venue", "127.0.0.1:\(venuePort)", "--target-comp-id", "EXCH-SIM",
        ]
        for (flag, value, _) in Self.routerSettings { arguments += ["--\(flag)", value] }
        router = try Child(program, arguments, log: folder + "/router.log")
        try await untilReady()
    }

    var watched: [WatchedProcess] { [WatchedProcess("router", router.id), WatchedProcess("venue", venue.id)] }

    /// Waits until the router takes orders: venue logged on, prices there.
    private func untilReady() async throws {
        let client = RouterClient(host: "127.0.0.1", port: port)
        let giveUpAt = ContinuousClock.now + Self.patience
        while true {
            let answer = Result { () throws(LoadFailure) in try client.get("/readyz", token: nil) }
            if case .success = answer { return }
            guard ContinuousClock.now < giveUpAt, router.isRunning, venue.isRunning else {
                await stop()
                throw LoadFailure("the router does not become ready: \(answer). Its log is \(router.log), the venue's \(venue.log)")
            }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// Rows that wait for a leg, and alarms.
    func backlog() throws -> Backlog {
        let database = Database(PostgresOptions(url: databaseURL))
        defer { database.drop() }
        return try database.backlog()
    }

    /// Every invariant of the ledger.
    func verify() throws -> [CheckResult] {
        let database = Database(PostgresOptions(url: databaseURL))
        defer { database.drop() }
        return try database.verifyLedger(limit: 5)
    }

    func stop() async {
        await router.stop()
        await venue.stop()
    }

    /// Beside this program.
    private static func program() throws -> String {
        let own = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        let path = own.deletingLastPathComponent().appending(path: "order-router").path
        guard FileManager.default.isExecutableFile(atPath: path) else { throw LoadFailure("\(path) is not there: build order-router first") }
        return path
    }

    /// One that nobody uses now: the system gives others before it gives this one again.
    static func freePort() throws -> UInt16 {
        let descriptor = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw LoadFailure("no socket can be made (errno \(errno))") }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(descriptor, address, size) == 0 ? unsafe getsockname(descriptor, address, &size) : -1
            }
        }
        guard result == 0 else { throw LoadFailure("no port is free (errno \(errno))") }
        return UInt16(bigEndian: address.sin_port)
    }
}
