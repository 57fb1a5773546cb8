import Foundation
package import Postgres
import Synchronization

/// The PostgreSQL that tests run against: the one that `ORDER_ROUTER_TEST_DATABASE_URL` names, else a private one of this process, which
/// ends with it.
package enum TestServer {
    private static let variable = "ORDER_ROUTER_TEST_DATABASE_URL"
    private static let started = Mutex<String?>(nil)

    package static var url: String {
        get throws {
            try started.withLock { started in
                if let started { return started }
                let url = try ProcessInfo.processInfo.environment[variable] ?? startOwn()
                // For the processes of exit tests: each would start a server of its own.
                unsafe setenv(variable, url, 1)
                started = url
                return url
            }
        }
    }

    /// Options for a database of the server; without a name for its maintenance database.
    package static func options(database: String? = nil) throws -> PostgresOptions {
        try options(url: database.map { try PostgresOptions.url(url, replacing: ["dbname": $0]) } ?? url)
    }

    /// Options for a URL, with time enough for a machine that runs many tests at once: these deadlines only end what would hang.
    package static func options(url: String) -> PostgresOptions {
        var options = PostgresOptions(url: url)
        options.applicationName = "order-router-tests"
        options.connectTimeout = .seconds(60)
        options.statementDeadline = .seconds(60)
        return options
    }

    package static func connect() throws -> PostgresConnection {
        try PostgresConnection(options())
    }

    private static func startOwn() throws -> String {
        let cluster = try PrivateCluster(at: temporaryPath())
        try cluster.stopWhenThisProcessEnds(removingFolder: true)
        try cluster.start()
        return cluster.url(database: "postgres")
    }

    /// A path under /var/tmp that nobody else has; nothing is made there.
    package static func temporaryPath() -> String {
        "/var/tmp/order-router-test-\(ProcessInfo.processInfo.processIdentifier)-\(String(UInt32.random(in: 0...UInt32.max), radix: 16))"
    }
}
