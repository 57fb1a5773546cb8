import Cryptography
import Foundation
import Identity
import Postgres
import Storage
import Synchronization
import Trading
import Wire

extension Command {
    static let prepare = Command(
        "prepare",
        "Makes accounts with plenty of cash and shares, each with a device key, a credential and a token, and writes what run needs.",
        flags: [
            Flag("database-url", "url", .required, "The router's database, migrated."),
            Flag("directory", "folder", .required, "Where traders.json goes, readable for its owner alone; and issuer/, a development issuer."),
            Flag("accounts", "n", .optional, "How many; 200 without it."),
            Flag("prefix", "text", .optional, "What their ids begin with; load_ and the time without it."),
            Flag("issuer", "text", .optional, "The iss of the tokens; load without it."),
            Flag("audience", "text", .optional, "The aud of the tokens; order-router without it."),
        ],
        details: """
            The router must trust <folder>/issuer/jwks.json, with this issuer and audience, and needs rates that one host's load
            does not meet: --account-rate 100000/100000 --address-rate 1000000/1000000.
            """
    ) { arguments in
        guard let url = arguments.value("database-url"), let folder = arguments.value("directory") else { return .usage }
        var preparation = Preparation(databaseURL: url, folder: folder)
        preparation.accounts = try arguments.number("accounts", 1...10_000) ?? preparation.accounts
        preparation.prefix = arguments.value("prefix") ?? "load_\(WallClock.milliseconds)_"
        preparation.issuer = arguments.value("issuer") ?? preparation.issuer
        preparation.audience = arguments.value("audience") ?? preparation.audience
        let traders = try await preparation.run()
        say("\(traders.count) accounts are ready, \(traders[0].account) and so on; \(folder)/\(TraderFile.name) is for run.")
        return .ok
    }
}

/// Accounts to trade with.
struct Preparation: Sendable {
    /// What the orders of a run are about: large names of the simulated venue, so that a symbol's books are shared by many accounts.
    static let symbols = ["NVDA", "AAPL", "MSFT", "AMZN"]
    /// An hour of full load uses up neither.
    private static let cash = Amount(units: 10_000_000_000 * Amount.unitsPerOne)
    private static let shares = Amount(units: 50_000_000 * Amount.unitsPerOne)
    /// The longest run and its preparation.
    private static let tokenLifetime: Duration = .seconds(24 * 3_600)

    let databaseURL: String
    let folder: String
    var accounts: Int
    var prefix = "load_"
    var issuer = "load"
    var audience = "order-router"

    init(databaseURL: String, folder: String, accounts: Int = 200) {
        (self.databaseURL, self.folder, self.accounts) = (databaseURL, folder, accounts)
    }

    var issuerFolder: String { folder + "/issuer" }

    func run() async throws -> [Trader] {
        let options = PostgresOptions(url: databaseURL)
        let issuer = try DevelopmentIssuer(directory: issuerFolder, issuer: issuer, audience: audience)
        let troubles = Mutex<[String]>([])
        let enrolment = Enrolment(database: options, book: nil) { text in troubles.withLock { $0.append(text) } }
        let database = DatabasePool("prepare", options, count: 1, waitingLimit: 1)
        var traders: [Trader] = []
        for number in 0..<accounts {
            guard let account = AccountID(prefix + String(number)) else { throw UsageError("--prefix makes no account id: \(prefix)\(number)") }
            let isNew = try await database.read { database in
                try database.createAccount(account, cash: Self.cash, positions: Self.positions, by: "load-generator", at: WallClock.milliseconds)
            }
            guard isNew else { throw LoadFailure("the account \(account) exists already: choose another --prefix") }
            let key = try P256PrivateKey()
            do {
                let credential = try await enrolment.enrol(account, alias: "load", spki: key.publicKey.spki, now: WallClock.milliseconds)
                traders.append(try trader(account, credential.credentialID, key, issuer))
            } catch let problem as Problem {
                throw LoadFailure("\(account) gets no credential: \(problem.detail) \(troubles.withLock { $0.joined(separator: " ") })")
            }
        }
        await database.stop()
        try TraderFile(traders).write(to: folder)
        return traders
    }

    private func trader(_ account: AccountID, _ credential: String, _ key: P256PrivateKey, _ issuer: DevelopmentIssuer) throws -> Trader {
        let token = try issuer.issue(
            subject: "load of \(account)",
            accounts: [account],
            scopes: [.ordersRead, .ordersWrite, .marketRead],
            lifetime: Self.tokenLifetime,
            now: WallClock.milliseconds
        )
        return Trader(account: account, credential: credential, token: token, key: key)
    }

    private static var positions: [(symbol: Symbol, shares: Amount, cost: Amount)] {
        symbols.compactMap { Symbol($0) }.map { ($0, shares, .zero) }
    }
}
