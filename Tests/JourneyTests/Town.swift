import Cryptography
import ExchangeSimulator
import Foundation
import Identity
import Postgres
import Storage
import Synchronization
import TestSupport
import Testing
import Trading
import Wire

/// What routers in processes of their own share: a database, a venue, an issuer of tokens, and phones with enrolled keys.
final class Town: Sendable {
    /// Where the database is, without a proxy.
    let databaseURL: String
    let venue: SimulatedVenue
    let venuePort: UInt16
    let readers: Readers
    let phones: [Phone]
    private let folder: String
    private let routers = Mutex<[RouterProcess]>([])
    private let database: TestDatabase?

    /// - Parameters:
    ///   - cluster: a PostgreSQL of the test's own, which it may stop; else a database of the one that all tests share.
    init(accounts: Int, cash: Int64 = 1_000_000, shares: Int64 = 1_000, on cluster: PrivateCluster? = nil, frozen: Bool = true) async throws {
        if let cluster {
            try cluster.ensureDatabase("town")
            database = nil
            databaseURL = cluster.url(database: "town")
            _ = try Migrator(directory: TestDatabase.migrations).migrate(PostgresConnection(TestServer.options(url: databaseURL)))
        } else {
            let made = try TestDatabase()
            database = made
            databaseURL = made.url
        }
        let options = TestServer.options(url: databaseURL)
        var configuration = SimulatedVenue.Configuration()
        configuration.frozen = frozen
        // A router for each has prices of its own.
        configuration.marketDataParties = ["QUOTES", "QUOTES2"]
        configuration.exchange.lateness = 300
        venue = try SimulatedVenue(configuration, log: { _ in })
        venuePort = try venue.start()
        folder = FileManager.default.temporaryDirectory.appending(path: "order-router-journey-\(UUID().uuidString)").path
        let issuer = try DevelopmentIssuer(directory: folder, issuer: "journey", audience: "order-router")
        readers = Readers(options, count: 1)
        let enrolment = Enrolment(database: options, book: nil, trouble: { print("enrolment: \($0)") })
        var phones: [Phone] = []
        for number in 0..<accounts {
            let account = AccountID("acc_\(number)")!
            let now = Circle.now()
            _ = try await readers.read { database in
                try database.createAccount(
                    account,
                    cash: Amount(whole: cash)!,
                    positions: [(Symbol("NVDA")!, Amount(whole: shares)!, .zero)],
                    by: "test",
                    at: now
                )
            }
            let key = try P256PrivateKey()
            let credential = try await enrolment.enrol(account, alias: "phone", spki: key.publicKey.spki, now: now)
            let token = try issuer.issue(
                subject: "person-\(number)",
                accounts: [account],
                scopes: Set(Scope.allCases),
                lifetime: .seconds(3_600),
                now: now
            )
            phones.append(Phone(account: account, token: token, key: key, credentialID: credential.credentialID))
        }
        self.phones = phones
    }

    /// Settings of a router; `more` wins.
    func environment(_ more: [String: String] = [:]) -> [String: String] {
        [
            "ORDER_ROUTER_DATABASE_URL": databaseURL, "ORDER_ROUTER_LISTEN": "127.0.0.1:0", "ORDER_ROUTER_JWKS": folder + "/jwks.json",
            "ORDER_ROUTER_ISSUER": "journey", "ORDER_ROUTER_AUDIENCE": "order-router", "ORDER_ROUTER_VENUE": "127.0.0.1:\(venuePort)",
            "ORDER_ROUTER_LEASE": "1s", "ORDER_ROUTER_ACCOUNT_RATE": "10000", "ORDER_ROUTER_ADDRESS_RATE": "100000",
            "ORDER_ROUTER_MIGRATIONS": TestDatabase.migrations,
        ].merging(more) { _, new in new }
    }

    /// It lives until it ends or the town does.
    func router(_ more: [String: String] = [:]) throws -> RouterProcess {
        let router = try RouterProcess(environment(more))
        routers.withLock { routers in
            routers.removeAll(where: \.hasEnded)
            routers.append(router)
        }
        return router
    }

    /// Another beside the first, with a market-data session of its own.
    func secondRouter(_ more: [String: String] = [:]) throws -> RouterProcess {
        try router(["ORDER_ROUTER_MARKET_DATA_SENDER_COMP_ID": "QUOTES2"].merging(more) { _, new in new })
    }

    /// The first column of a query, as text.
    func texts(_ sql: String) async throws -> [String] {
        try await readers.read { database in
            let rows = try database.connection().query(sql)
            return (0..<rows.count).map { rows.text($0, 0) }
        }
    }

    /// The epoch of the venue's session, while some router speaks for it.
    func epochLoggedOn() async throws -> Int64? {
        try await texts(
            """
            SELECT lease_epoch::text FROM fix_sessions WHERE logged_on AND lease_until > (extract(epoch FROM clock_timestamp()) * 1000)::bigint
            """
        ).first.flatMap(Int64.init)
    }

    /// Waits until a router speaks for the session under a later epoch.
    func loggedOn(after epoch: Int64) async throws -> Int64 {
        let found = Mutex(epoch)
        try await eventually("a logon after epoch \(epoch)") {
            guard let now = try await self.epochLoggedOn(), now > epoch else { return false }
            found.withLock { $0 = now }
            return true
        }
        return found.withLock { $0 }
    }

    /// Runs the venue around `body`.
    func run(_ body: @escaping @Sendable (Town) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.venue.run() }
            group.addTask {
                try await body(self)
                throw CancellationError()
            }
            do {
                while try await group.next() != nil {}
            } catch is CancellationError {}
            group.cancelAll()
            while await group.nextResult() != nil {}
        }
        for router in routers.withLock({ $0 }) { router.signal(SIGKILL) }
        await readers.stop()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Waits until no order is under way any more: everything has its verdict or rests at the venue.
    func quiet() async throws { try await readers.quiet() }

    /// Every invariant of the ledger, and one order at the venue for each ClOrdID.
    func verify() async throws { try await readers.verify(venue) }
}
