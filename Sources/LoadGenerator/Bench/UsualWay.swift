import Foundation

/// The comparison: a transaction of six statements for each order, over the same tables, run by pgbench.
struct UsualWay: Sendable {
    /// As many as an application's pool has.
    private static let connections = 16
    /// Beside the programs' sources: an operator can run it by hand.
    static let script = "scripts/one-order-a-transaction.sql"

    struct Result: Codable, Sendable {
        let ordersPerSecond: Double
        let latencyMilliseconds: Double
    }

    let cluster: BenchCluster
    let folder: String
    let accounts: Int

    func run(seconds: Int) async throws -> Result {
        let url = try cluster.database("usual_way")
        var preparation = Preparation(databaseURL: url, folder: folder + "/usual-way", accounts: accounts)
        preparation.prefix = "usual_"
        _ = try await preparation.run()
        let output = try Self.drive(cluster.programs, url, accounts: accounts, prefix: preparation.prefix, amount: ["-T", String(seconds)])
        guard let rate = output.firstMatch(of: /tps = ([0-9.]+)/).flatMap({ Double($0.1) }),
            let latency = output.firstMatch(of: /latency average = ([0-9.]+) ms/).flatMap({ Double($0.1) }),
            let failed = output.firstMatch(of: /number of failed transactions: ([0-9]+)/).flatMap({ Int($0.1) }), failed == 0
        else { throw LoadFailure("pgbench did not say how fast it was, or failed: \(output)") }
        return Result(ordersPerSecond: rate.rounded(), latencyMilliseconds: latency)
    }

    /// - Parameters:
    ///   - programs: the folder of PostgreSQL's programs.
    ///   - amount: pgbench's flags for how long, or how often.
    /// - Returns: what pgbench says.
    static func drive(_ programs: String, _ url: String, accounts: Int, prefix: String, amount: [String], script: String = script) throws -> String {
        // Numbers past those of the deposits; see the script.
        let sequences = ["usual_journals", "usual_positions"].flatMap { ["-c", "CREATE SEQUENCE \($0) START 1000000 CACHE 32"] }
        _ = try Child.output(programs + "/psql", ["-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", url] + sequences)
        return try Child.output(
            programs + "/pgbench",
            ["-n", "-M", "prepared", "-c", String(connections), "-j", "2", "-D", "prefix=\(prefix)", "-D", "accounts=\(accounts)", "-f", script]
                + amount + [url]
        )
    }
}
