import Cryptography
import ExchangeSimulator
import Foundation
import Glibc
import Identity
import Postgres
import Storage
import Synchronization
import Trading

extension Command {
    static let demo = Command(
        "demo",
        "Runs everything on this machine: PostgreSQL of its own, a simulated venue with quotes, an account with a device key, and the router.",
        flags: [Flag("folder", "folder", .optional, "Where it keeps its data; .demo without it.")],
        settings: Setting.all.filter { !Demo.fixedFlags.contains($0.flag) },
        details: """
            PORT in the environment changes the port, 8080 without it; 0 takes any free one. When all is ready, demo.json in the folder says how to
            reach it. Ctrl-C ends everything; the next start goes on with the same data. To begin anew, remove the folder.
            """
    ) { arguments in
        try await withEndingSignals { ended in
            try await Demo(folder: arguments.value("folder") ?? ".demo", arguments).run(until: ended)
        }
        return .ok
    }
}

/// Everything on one machine, from nothing, and again from what an earlier run or its kill has left.
struct Demo {
    /// What the demo decides itself.
    static let fixedFlags: Set = [
        "database-url", "listen", "tls-certificate", "tls-key", "jwks", "issuer", "audience", "venue", "sender-comp-id", "target-comp-id",
        "venue-tls", "venue-tls-ca", "venue-tls-name", "venue-tls-certificate", "venue-tls-key", "market-data-tls",
        "market-data", "market-data-sender-comp-id", "market-data-target-comp-id",
    ]

    private static let account = AccountID("acc_demo")!
    private static let database = "order_router"
    private static let issuer = "order-router-demo"
    private static let audience = "order-router"
    /// A demo is left running for some days and its token pasted around; a new start makes a new one.
    private static let tokenLifetime: Duration = .seconds(7 * 86_400)

    private let folder: String
    private let arguments: Arguments
    private let port: UInt16
    private let log: Log

    /// - Throws: a wrong flag or setting, or a `PORT` that is none.
    init(folder: String, _ arguments: Arguments) throws(UsageError) {
        self.folder = URL(filePath: folder, directoryHint: .isDirectory).standardizedFileURL.path
        self.arguments = arguments
        let text = arguments.environment["PORT"].flatMap { $0.isEmpty ? nil : $0 } ?? "8080"
        guard let port = ValueKind<UInt16>.number(0...UInt16.max).parse(text) else {
            throw UsageError("PORT is '\(text)': expected is a whole number from 0 to 65535.")
        }
        self.port = port
        log = Log(least: try Self.configuration(arguments, databaseURL: "-", port: port, keySet: "-", venue: Command.simulatorEndpoint).logLevel)
    }

    func run(until ended: EndingSignal) async throws {
        // Tokens and keys are written below: for their owner's eyes.
        umask(0o077)
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        } catch {
            throw CommandFailure("the folder \(folder) cannot be made: \(error.localizedDescription)")
        }
        let lock = try FolderLock(folder)
        defer { lock.release() }
        let description = DemoDescription(folder: folder)
        try description.remove()
        try PortProbe.check("127.0.0.1", port)
        let cluster = try PrivateCluster(at: folder + "/postgres")
        try setAsideForeign(cluster)
        let result: Result<Void, any Error>
        do {
            try await serve(on: cluster, description, until: ended)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        // Whatever happened, nothing is left running.
        try description.remove()
        try cluster.stop()
        try result.get()
    }

    /// A cluster outside of the folder outlives it. What is found there when the folder is new is of a folder that was removed: its session with the
    /// venue, its keys and its issuer are gone, so nothing of it can go on. It is kept, under another name, and the demo begins anew.
    private func setAsideForeign(_ cluster: PrivateCluster) throws {
        let isOutside = !cluster.directory.hasPrefix(folder + "/")
        guard isOutside, !FileManager.default.fileExists(atPath: DemoDescription(folder: folder).keyPath) else { return }
        guard let aside = try cluster.setAside() else { return }
        say("This folder is new. The database of the one before it is kept in \(aside); remove it if you do not need it.")
    }

    private func serve(on cluster: PrivateCluster, _ description: DemoDescription, until ended: EndingSignal) async throws {
        say("Starting PostgreSQL in \(cluster.directory) …")
        try cluster.start()
        try cluster.ensureDatabase(Self.database)
        let url = cluster.url(database: Self.database)
        let migrations = try Migrations.folder(arguments.setting("migrations", \.migrations))
        let connection = try PostgresConnection(PostgresOptions(url: url))
        for migration in try Migrator(directory: migrations).migrate(connection) { log(.info, "migrated", ["file": migration.fileName]) }
        connection.close()
        if ended.hasCome { return }

        let issuer = try DevelopmentIssuer(directory: folder + "/issuer", issuer: Self.issuer, audience: Self.audience)
        try openAccount(url)
        try DemoHistory.load(into: url, prices: SimulatedVenue.startPrices, at: Date.nowMilliseconds)
        let credential = try await enrolDevice(url, description.keyPath)
        let token = try issuer.issue(
            subject: "demo",
            accounts: [Self.account],
            scopes: Set(Scope.allCases),
            lifetime: Self.tokenLifetime,
            now: Date.nowMilliseconds
        )

        let log = log
        let venue = try SimulatedVenue(venueConfiguration) { log(.info, "venue", ["text": $0]) }
        let endpoint = Endpoint(host: "127.0.0.1", port: try venue.start())
        let configuration = try Self.configuration(arguments, databaseURL: url, port: port, keySet: issuer.keySetPath, venue: endpoint)
        try await together(venue, ended) {
            try await Serve(configuration, log: log).run(until: ended) { port in
                let facts = DemoDescription.Facts(
                    baseURL: "http://127.0.0.1:\(port)",
                    account: Self.account.text,
                    token: token,
                    credential: credential,
                    databaseURL: url,
                    venue: endpoint.description
                )
                try description.write(facts)
                say(description.welcome(facts))
            }
        }
    }

    /// The router with the venue beside it: a venue that fails ends the router, and the router's end ends the venue.
    private func together(_ venue: SimulatedVenue, _ ended: EndingSignal, _ serve: () async throws -> Void) async throws {
        try await withThrowingTaskGroup { group in
            group.addTask {
                defer { ended.come() }
                try await venue.run()
            }
            do {
                try await serve()
            } catch {
                group.cancelAll()
                // The router's failure is the one to tell; the venue's end only follows it.
                _ = await group.nextResult()
                throw error
            }
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    private var venueConfiguration: SimulatedVenue.Configuration {
        var configuration = SimulatedVenue.Configuration()
        configuration.stateDirectory = folder + "/venue"
        // For further routers on the demo's database, each with a market-data session of its own.
        configuration.marketDataParties = ["QUOTES", "QUOTES2", "QUOTES3"]
        return configuration
    }

    private static func configuration(
        _ arguments: Arguments,
        databaseURL: String,
        port: UInt16,
        keySet: String,
        venue: Endpoint
    ) throws(UsageError) -> Configuration {
        var fixed = [
            "database-url": databaseURL, "listen": "127.0.0.1:\(port)", "jwks": keySet, "issuer": issuer, "audience": audience,
            "venue": venue.description, "market-data": venue.description, "target-comp-id": "EXCH", "market-data-target-comp-id": "EXCH",
        ]
        fixed["sender-comp-id"] = "ORDERS"
        fixed["market-data-sender-comp-id"] = "QUOTES"
        // TLS of the environment is for another router.
        let environment = arguments.environment.filter { !fixedVariables.contains($0.key) }
        return try Arguments(arguments, environment: environment).configuration(fixed: fixed)
    }

    private static let fixedVariables = Set(Setting.all.filter { fixedFlags.contains($0.flag) }.map(\.variable))

    // MARK: Who trades

    private func openAccount(_ url: String) throws {
        var positions: [(symbol: Symbol, shares: Amount, cost: Amount)] = []
        for text in ["NVDA=500@118.00", "AAPL=500@205.00", "MSFT=500@401.00"] {
            let position = try OpeningPosition(text)
            positions.append((position.symbol, position.shares, position.cost))
        }
        let database = Database(PostgresOptions(url: url))
        defer { database.drop() }
        let million = Amount(units: 1_000_000 * Amount.unitsPerOne)
        if try database.createAccount(Self.account, cash: million, positions: positions, by: "demo", at: Date.nowMilliseconds) {
            log(.info, "account_created", ["account": Self.account.text])
        }
    }

    /// The device's key, made once, and its credential, made where the database has none.
    private func enrolDevice(_ url: String, _ keyPath: String) async throws -> String {
        let key: P256PrivateKey
        if let data = FileManager.default.contents(atPath: keyPath) {
            key = try P256PrivateKey(pem: String(decoding: data, as: UTF8.self))
        } else {
            key = try P256PrivateKey()
            try Data(key.pem().utf8).write(to: URL(filePath: keyPath), options: .atomic)
        }
        let options = PostgresOptions(url: url)
        let known = try knownCredential(key.publicKey, options)
        if let known { return known }
        return try await Command.enrol(key.publicKey, alias: "demo device", for: Self.account, in: options, by: "demo")
    }

    private func knownCredential(_ key: P256PublicKey, _ options: PostgresOptions) throws -> String? {
        let database = Database(options)
        defer { database.drop() }
        return try database.credentials(of: Self.account).first { $0.state == .active && $0.publicKeySPKI == key.spki }?.id
    }
}

/// Keeps two demos out of one folder. The system releases it when its holder ends, however it ends.
private struct FolderLock {
    private let descriptor: Int32

    init(_ folder: String) throws(CommandFailure) {
        // Closed in children: PostgreSQL outlives a killed demo and must not keep the folder locked.
        descriptor = unsafe open(folder + "/lock", O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CommandFailure("\(folder)/lock cannot be opened (errno \(errno))") }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw CommandFailure("a demo is running in \(folder) already")
        }
    }

    func release() { close(descriptor) }
}
