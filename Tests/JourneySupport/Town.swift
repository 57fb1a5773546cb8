import Cryptography
package import ExchangeSimulator
package import FIX
import Foundation
package import Identity
import Postgres
package import Storage
import Synchronization
package import TestSupport
import Trading
import Wire

/// What routers in processes of their own share: a database, a venue, an issuer of tokens, and phones with enrolled keys.
package final class Town: Sendable {
    package let database: TestDatabase
    package let venue: SimulatedVenue
    package let venuePort: UInt16
    package let readers: DatabasePool
    /// The accounts made at the start, `acc_0` and so on.
    package let phones: [Phone]
    /// What the routers take tokens of: `iss`, `aud`, and the folder with the issuer's key.
    package static let issuerName = "journey"
    package static let audience = "order-router"
    package let issuer: DevelopmentIssuer
    package let folder: String
    private let url: String
    private let enrolment: Enrolment
    private let routers = Mutex<[RouterProcess]>([])

    /// Milliseconds since the epoch.
    package static func now() -> Int64 { SessionClock.system.wall() }

    /// - Parameters:
    ///   - url: where the routers find the database: its own address, or a proxy's.
    ///   - given: else a new one of the server that all tests share.
    ///   - tls: of the venue's lines.
    ///   - receipts: the file in which the venue notes when orders come; nil: none.
    ///   - ticks: the venue's binary feed; nil: none.
    package init(
        accounts: Int,
        cash: Int64 = 1_000_000,
        shares: Int64 = 1_000,
        through url: String? = nil,
        frozen: Bool = true,
        database given: TestDatabase? = nil,
        tls: LineTLS? = nil,
        receipts: String? = nil,
        ticks: TickPublisher.Settings? = nil
    ) async throws {
        let database = try given ?? TestDatabase()
        self.database = database
        self.url = url ?? database.url
        var configuration = SimulatedVenue.Configuration()
        configuration.frozen = frozen
        configuration.receiptsFile = receipts
        configuration.tls = tls
        configuration.ticks = ticks
        // Two routers side by side have a market-data session each.
        configuration.marketDataParties = ["QUOTES", "QUOTES2"]
        configuration.exchange.lateness = 300
        venue = try SimulatedVenue(configuration, log: { _ in })
        venuePort = try venue.start()
        folder = FileManager.default.temporaryDirectory.appending(path: "order-router-journey-\(UUID().uuidString)").path
        issuer = try DevelopmentIssuer(directory: folder, issuer: Self.issuerName, audience: Self.audience)
        readers = DatabasePool("readers", try database.options, count: 1, waitingLimit: 1_000)
        let enrolment = Enrolment(database: try database.options, book: nil, trouble: { print("enrolment: \($0)") })
        self.enrolment = enrolment
        var phones: [Phone] = []
        for number in 0..<accounts {
            phones.append(try await Self.phone("acc_\(number)", cash, shares, readers, issuer, enrolment))
        }
        self.phones = phones
    }

    /// A new account with a phone whose key is enrolled.
    ///
    /// - Parameters:
    ///   - cash: whole dollars.
    ///   - shares: whole shares of NVDA.
    package func phone(_ account: String, cash: Int64 = 1_000_000, shares: Int64 = 1_000) async throws -> Phone {
        try await Self.phone(account, cash, shares, readers, issuer, enrolment)
    }

    private static func phone(
        _ name: String,
        _ cash: Int64,
        _ shares: Int64,
        _ readers: DatabasePool,
        _ issuer: DevelopmentIssuer,
        _ enrolment: Enrolment
    ) async throws -> Phone {
        let account = AccountID(name)!
        let now = now()
        let isNew = try await readers.read { database in
            try database.createAccount(
                account,
                cash: Amount(whole: cash)!,
                positions: shares == 0 ? [] : [(Symbol("NVDA")!, Amount(whole: shares)!, .zero)],
                by: "test",
                at: now
            )
        }
        precondition(isNew, "Each test has accounts of its own.")
        let key = try P256PrivateKey()
        let credential = try await enrolment.enrol(account, alias: "phone", spki: key.publicKey.spki, now: now)
        let token = try issuer.issue(
            subject: "person of \(name)",
            accounts: [account],
            scopes: Set(Scope.allCases),
            lifetime: .seconds(3_600),
            now: now
        )
        return Phone(account: account, token: token, key: key, credentialID: credential.credentialID)
    }

    /// Settings of a router; `more` wins.
    package func environment(_ more: [String: String] = [:]) -> [String: String] {
        [
            "ORDER_ROUTER_DATABASE_URL": url, "ORDER_ROUTER_LISTEN": "127.0.0.1:0", "ORDER_ROUTER_JWKS": folder + "/jwks.json",
            "ORDER_ROUTER_ISSUER": Self.issuerName, "ORDER_ROUTER_AUDIENCE": Self.audience, "ORDER_ROUTER_VENUE": "127.0.0.1:\(venuePort)",
            "ORDER_ROUTER_LEASE": "1s", "ORDER_ROUTER_ACCOUNT_RATE": "10000", "ORDER_ROUTER_ADDRESS_RATE": "100000",
            "ORDER_ROUTER_MIGRATIONS": TestDatabase.migrations,
        ].merging(more) { _, new in new }
    }

    /// It lives until it ends or the town does.
    package func router(_ more: [String: String] = [:]) throws -> RouterProcess {
        let router = try RouterProcess(environment(more))
        routers.withLock { routers in
            routers.removeAll(where: \.hasEnded)
            routers.append(router)
        }
        return router
    }

    /// Another beside the first, with a market-data session of its own.
    package func secondRouter(_ more: [String: String] = [:]) throws -> RouterProcess {
        try router(["ORDER_ROUTER_MARKET_DATA_SENDER_COMP_ID": "QUOTES2"].merging(more) { _, new in new })
    }

    /// Runs the venue around `body`.
    package func run(_ body: (Town) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [venue] in try await venue.run() }
            var failure: (any Error)?
            do {
                try await body(self)
            } catch {
                failure = error
            }
            group.cancelAll()
            while let result = await group.nextResult() {
                if case .failure(let error) = result, !(error is CancellationError) { failure = failure ?? error }
            }
            if let failure { throw failure }
        }
        for router in routers.withLock({ $0 }) { router.signal(SIGKILL) }
        await readers.stop()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Of this machine, free now: for a venue in a process of its own, which has to be found again after it was killed.
    package static func freePort() throws -> UInt16 { try SimulatedVenue(SimulatedVenue.Configuration(), log: { _ in }).start() }

    /// Waits until no order is under way any more: everything has its verdict or rests at the venue.
    package func quiet() async throws { try await readers.quiet() }

    /// Every invariant of the ledger, and one order at the venue for each ClOrdID. Throws what does not hold.
    package func verify() async throws { try await readers.verify(venue) }
}

/// Something that should have come did not.
package struct TimedOut: Error {
    package let what: String

    package init(what: String) {
        self.what = what
    }
}

/// What does not hold at the end of a journey.
package struct Unsound: Error {
    package let faults: [String]
}
