import ExchangeSimulator
import Foundation
import JourneySupport
import Postgres
import Storage
import TestSupport
import Testing
import Trading

@testable import LoadGenerator

/// The real generator against a real router, database and venue: what it counts is what happened.
@Suite struct `A small load` {
    @Test func `is answered, repeated, refused, received and filled as it must be`() async throws {
        let receipts = FileManager.default.temporaryDirectory.appending(path: "receipts-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: receipts) }
        let town = try await Town(accounts: 5, cash: 100_000_000, shares: 1_000_000, receipts: receipts)
        try await town.run { town in
            let port = try #require(await town.router(["ORDER_ROUTER_STALE_AFTER": "60s"]).ready())
            try await knowsItsSymbols(town, port)
            let settings = try settings(town, port, receipts)
            let result = try await DedicatedThread(name: "load").run { try Run(settings).perform() }
            #expect(result.examples == [])
            #expect(result.holds && result.unexpected == 0)
            #expect(result.orders == 300)
            let refusals = ["unknown_symbol", "price_collar", "signature_invalid"].map { result.answers[$0] ?? 0 }
            #expect(refusals.allSatisfy { $0 > 0 }, "\(result.answers)")
            #expect(result.accepted + refusals.reduce(0, +) == result.orders)
            #expect(result.answers["201"] == result.accepted)
            #expect(result.answers["201 replayed"] ?? 0 > 10)
            #expect(Set(result.answers.keys).isSubset(of: ["201", "201 replayed", "unknown_symbol", "price_collar", "signature_invalid", "busy"]))
            #expect(result.received == result.accepted)
            #expect(result.filled == result.accepted)
            #expect(result.toAnswer.count == result.accepted && result.toReceipt.count == result.accepted && result.toFill.count == result.accepted)
            #expect(result.batchSizes["accept"] ?? 0 >= 1)
            try await check(town, result)
        }
    }

    /// Waits until the router takes a symbol that it has no data of for an unknown one: right after its start there may be some under way.
    private func knowsItsSymbols(_ town: Town, _ port: UInt16) async throws {
        let key = try #require(IdempotencyKey(high: UInt64(Town.now()) << 16 | 0x7000, low: 1 << 63))
        let terms = OrderTerms(
            symbol: try #require(Symbol("ZZZZ")),
            side: .buy,
            type: .market,
            timeInForce: .day,
            quantity: 1,
            limitPrice: nil,
            stopPrice: nil
        )
        try await eventually("the router to know what is traded") {
            try await town.phones[0].place(terms, key: key, port: port).member("code") == "unknown_symbol"
        }
    }

    private func settings(_ town: Town, _ port: UInt16, _ receipts: String) throws -> LoadSettings {
        var settings = LoadSettings()
        settings.port = port
        settings.traders = try town.phones.map { phone in
            Trader(account: phone.account, credential: try #require(phone.credentialID), token: phone.token, key: phone.key)
        }
        settings.symbols = ["NVDA"]
        settings.connections = 16
        settings.orders = 300
        settings.ahead = 300
        settings.duplicates = 0.1
        settings.refusals = 0.1
        settings.hotShare = 0.3
        settings.warmUp = 0
        // The orders end the run.
        settings.duration = 60_000_000_000
        settings.receipts = receipts
        settings.showsProgress = false
        return settings
    }

    /// The database and the venue have seen the same.
    private func check(_ town: Town, _ result: LoadResult) async throws {
        try await town.quiet()
        #expect(try await town.readers.texts("SELECT count(*)::text FROM orders") == [String(result.accepted)])
        let hot = try await town.readers.texts("SELECT count(*)::text FROM orders WHERE account_id = 'acc_0'").first.flatMap { Int($0) } ?? 0
        // Three tenths, and its part of the rest.
        #expect(hot * 10 > result.accepted * 3, "\(hot) of \(result.accepted)")
        #expect(town.venue.receipts.count { $0.type == "D" } == result.accepted)
        try await town.verify()
    }
}

/// The script of the comparison inserts into tables that change with the migrations: it must go on doing so.
@Suite struct `The usual way` {
    @Test func `accepts orders on the tables as they are now`() async throws {
        let database = try TestDatabase()
        let folder = FileManager.default.temporaryDirectory.appending(path: "usual-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var preparation = Preparation(databaseURL: database.url, folder: folder, accounts: 3)
        preparation.prefix = "usual_"
        _ = try await preparation.run()
        let mode = try FileManager.default.attributesOfItem(atPath: folder + "/" + TraderFile.name)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let output = try UsualWay.drive(
            PrivateCluster(at: folder + "/unused").programs,
            database.url,
            accounts: 3,
            prefix: "usual_",
            amount: ["-t", "2"],
            script: root.appending(path: UsualWay.script).path
        )
        #expect(output.contains("number of transactions actually processed: 32/32"), "\(output)")
        #expect(try database.connect().query("SELECT FROM orders").count == 32)
        #expect(try database.connect().query("SELECT FROM ledger_entries WHERE cause = 2").count == 64)
        let sizes = try Database(database.options).tableSizes()
        #expect(sizes.map(\.name).contains("orders") && sizes.allSatisfy { $0.bytes >= 0 })
        #expect(sizes.first { $0.name == "orders" }?.bytes ?? 0 >= 8_192)
    }
}
