import Cryptography
import Foundation
import Identity
import JourneySupport
import Postgres
import Storage
import Synchronization
import Testing

/// What must never stand in a log: tokens, signatures, challenges and keys that the tests have used.
enum Secrets {
    private static let kept = Mutex<Set<String>>([])

    static func keep(_ secret: String) { kept.withLock { _ = $0.insert(secret) } }

    /// Lines of the log that hold one, or a good part of one.
    static func leaks(in log: [String]) async throws -> String {
        let folder = try ScratchFolder()
        let secrets = kept.withLock { $0 }.filter { $0.count >= 16 }
        // Beginning and end count as well: a log that cuts a secret short still tells it.
        let patterns = secrets.flatMap { [String($0.prefix(24)), String($0.suffix(24))] }.filter { !$0.hasPrefix("eyJ") }
        guard !patterns.isEmpty else { throw TimedOut(what: "a secret to look for") }
        let text = try folder.write(log.joined(separator: "\n"), to: "log")
        let list = try folder.write(patterns.joined(separator: "\n"), to: "secrets")
        return try await Program.run(["grep", "-F", "-f", list, text]).text
    }
}

/// A router that serves, and the town around it.
struct Served: Sendable {
    let town: Town
    let router: RouterProcess
    let port: UInt16

    /// The router that the suite's tests share: started once, each test with accounts of its own.
    @TaskLocal static var shared: Served?

    static func router() throws -> Served { try #require(shared) }

    private static let accounts = Atomic(0)
    /// Accounts are made a few at a time: enrolment refuses a flood.
    private static let turns = Turns(4)

    /// A client with an account of its own.
    func client(cash: Int64 = 1_000_000, shares: Int64 = 1_000) async throws -> Client {
        let number = Self.accounts.add(1, ordering: .relaxed).newValue
        let phone = try await Self.turns.take { try await town.phone("acc_gw_\(number)", cash: cash, shares: shares) }
        Secrets.keep(phone.token)
        Secrets.keep(Data(phone.key.publicKey.spki).base64EncodedString())
        return Client(phone: phone, port: port)
    }

    /// Runs a router, with these settings, around the body; then nothing secret stands in its log and the ledger is sound.
    static func run(
        _ settings: [String: String] = [:],
        town given: Town? = nil,
        _ body: (Served) async throws -> Void
    ) async throws {
        let town: Town
        if let given { town = given } else { town = try await Town(accounts: 0) }
        try await town.run { try await run(settings, in: $0, body) }
    }

    /// The same in a town whose venue runs already.
    static func run(_ settings: [String: String] = [:], in town: Town, _ body: (Served) async throws -> Void) async throws {
        let router = try town.router(settings)
        guard let port = await router.ready() else { throw TimedOut(what: "the router: \(router.log)") }
        let served = Served(town: town, router: router, port: port)
        do {
            try await served.priced()
            // Noted at every level that is noted at all: what is looked for in the log below.
            #expect(try await served.quote("none").status == 400)
            try await body(served)
        } catch {
            router.signal(SIGKILL)
            await router.ended()
            throw error
        }
        if !router.hasEnded {
            try await town.quiet()
            router.signal(SIGTERM)
            await router.ended()
        }
        let log = router.log
        #expect(log.contains { $0.contains("event=request") })
        #expect(!log.contains { $0.contains("status=500") }, "\(log.filter { $0.contains("status=500") })")
        #expect(try await Secrets.leaks(in: log) == "")
        try await town.verify()
    }

    private func quote(_ symbol: String) async throws -> Phone.Answer {
        let token = try town.issuer.issue(subject: "watcher", accounts: [], scopes: [.marketRead], lifetime: .seconds(600), now: Town.now())
        return try await Phone.exchange("GET", "/v1/quotes?symbols=\(symbol)", port: port, headers: ["Authorization": "Bearer \(token)"])
    }

    /// Waits until the symbol has a price.
    func priced(_ symbol: String = "NVDA") async throws {
        try await eventually("a live price of \(symbol)") { try await quote(symbol)["quotes.0.state"] == "LIVE" }
    }

    /// Waits until the router knows what is traded: before that a missing symbol might still come.
    func listed() async throws {
        try await eventually("the list of symbols") { try await quote("NOSUCH").status == 422 }
    }

    /// Asks again and again, for what only asking tells.
    func eventually(_ what: String, _ isSo: @Sendable () async throws -> Bool) async throws {
        let deadline = ContinuousClock.now + Watched<Int>.patience
        while try await !isSo() {
            guard ContinuousClock.now < deadline else { throw TimedOut(what: what) }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Waits until a lane waits for a shard that the test has locked.
    func blocked() async throws {
        try await eventually("a waiting lane") {
            try await number(
                "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database() AND query LIKE '%shards%'"
            ) > 0
        }
    }

    /// Waits for the order's status.
    func reached(_ status: String, _ client: Client, _ order: String) async throws {
        try await eventually("\(order) \(status)") { try await client.get("/v1/trading/orders/\(order)")["status"] == status }
    }

    // MARK: The database

    func number(_ sql: String) async throws -> Int64 {
        try await town.readers.read { database in try database.connection().query(sql).int64(0, 0) }
    }

    func texts(_ sql: String) async throws -> [String] {
        try await town.readers.read { database in
            let rows = try database.connection().query(sql)
            return (0..<rows.count).map { rows.text($0, 0) }
        }
    }

    /// What orders have left behind of an account: keys, orders, entries beside its opening.
    func written(_ client: Client) async throws -> Int64 {
        let account = client.account
        return try await number(
            """
            SELECT (SELECT count(*) FROM idempotency_keys WHERE account_id = '\(account)') + (SELECT count(*) FROM orders WHERE account_id = '\(account)')
                + (SELECT count(*) FROM ledger_entries WHERE account_id = '\(account)' AND cause <> 1)
            """
        )
    }
}

/// Starts the shared router before the suite's first test and ends it after its last, with the checks of `Served.run`.
struct ServedTrait: SuiteTrait, TestScoping {
    @concurrent func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await Served.run(["ORDER_ROUTER_LOG_LEVEL": "debug"]) { served in
            try await served.listed()
            try await Served.$shared.withValue(served) { try await function() }
        }
    }
}

extension Trait where Self == ServedTrait {
    static var served: Self { ServedTrait() }
}

/// The contract of the HTTP API, proved from outside against one router in a process of its own. Its chapters are in the other files.
@Suite(.served) struct `The HTTP contract` {}

/// A problem of RFC 9457 with all its members.
func expect(
    _ answer: Phone.Answer,
    isProblem code: String,
    _ status: Int,
    outcome: String,
    final: Bool = false,
    _ sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(answer.status == status, "\(answer.text)", sourceLocation: sourceLocation)
    #expect(answer.header("Content-Type") == "application/problem+json", sourceLocation: sourceLocation)
    #expect(answer["code"] == code, "\(answer.text)", sourceLocation: sourceLocation)
    #expect(answer["status"] == String(status), sourceLocation: sourceLocation)
    #expect(answer["outcome"] == outcome, "\(answer.text)", sourceLocation: sourceLocation)
    #expect(answer["final"] == String(final), "\(answer.text)", sourceLocation: sourceLocation)
    #expect(answer["retry_safe"] == "true", sourceLocation: sourceLocation)
    #expect(answer["type"]?.hasSuffix(code) == true, sourceLocation: sourceLocation)
    #expect(answer["title"]?.isEmpty == false && answer["detail"]?.isEmpty == false, sourceLocation: sourceLocation)
    let drift = abs(Int64(answer["server_time"] ?? "0")! - Town.now())
    #expect(drift < 120_000, "\(answer.text)", sourceLocation: sourceLocation)
}
