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
    let database: TestDatabase
    let venue: SimulatedVenue
    let venuePort: UInt16
    let readers: Readers
    let phones: [Phone]
    private let folder: String
    private let url: String

    /// - Parameters:
    ///   - url: where the routers find the database: its own address, or a proxy's.
    init(accounts: Int, cash: Int64 = 1_000_000, shares: Int64 = 1_000, through url: String? = nil, frozen: Bool = true) async throws {
        database = try TestDatabase()
        self.url = url ?? database.url
        var configuration = SimulatedVenue.Configuration()
        configuration.frozen = frozen
        venue = try SimulatedVenue(configuration, log: { _ in })
        venuePort = try venue.start()
        folder = FileManager.default.temporaryDirectory.appending(path: "order-router-journey-\(UUID().uuidString)").path
        let issuer = try DevelopmentIssuer(directory: folder, issuer: "journey", audience: "order-router")
        readers = Readers(try database.options, count: 1)
        let enrolment = Enrolment(database: try database.options, book: nil, trouble: { print("enrolment: \($0)") })
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
            "ORDER_ROUTER_DATABASE_URL": url, "ORDER_ROUTER_LISTEN": "127.0.0.1:0", "ORDER_ROUTER_JWKS": folder + "/jwks.json",
            "ORDER_ROUTER_ISSUER": "journey", "ORDER_ROUTER_AUDIENCE": "order-router", "ORDER_ROUTER_VENUE": "127.0.0.1:\(venuePort)",
            "ORDER_ROUTER_LEASE": "1s", "ORDER_ROUTER_ACCOUNT_RATE": "10000", "ORDER_ROUTER_ADDRESS_RATE": "100000",
            "ORDER_ROUTER_MIGRATIONS": TestDatabase.migrations,
        ].merging(more) { _, new in new }
    }

    func router(_ more: [String: String] = [:]) throws -> RouterProcess { try RouterProcess(environment(more)) }

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
        await readers.stop()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Waits until no order is under way any more: everything has its verdict or rests at the venue.
    func quiet() async throws {
        let deadline = ContinuousClock.now + .seconds(60)
        var last: [String] = []
        while ContinuousClock.now < deadline {
            let under = try await readers.read { database in
                let rows = try database.connection().query(
                    """
                    SELECT order_id || ' ' || status || ' ' || cancel_pending FROM orders WHERE status IN (1, 2, 9) OR cancel_pending
                    UNION ALL SELECT 'inbox ' || s.shard FROM shards s JOIN inbox i ON i.shard = s.shard AND i.inbox_id > s.settled_inbox
                    """
                )
                return (0..<rows.count).map { rows.text($0, 0) }
            }
            if under.isEmpty { return }
            last = under
            try await Task.sleep(for: .milliseconds(20))
        }
        throw TimedOut(what: "the end of orders under way: \(last.prefix(5))")
    }

    /// Every invariant of the ledger, and one order at the venue for each ClOrdID.
    func verify() async throws {
        let results = try await readers.read { try $0.verifyLedger(limit: 5) }
        for result in results where !result.holds { Issue.record("\(result.name): \(result.proves) \(result.columns) \(result.offending)") }
        #expect(results.count > 10)
        #expect(venue.doubles.isEmpty)
    }
}
