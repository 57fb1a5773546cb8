import Foundation
import FoundationNetworking
import Postgres
import Storage
import TestSupport
import Testing
import Trading

@testable import OrderRouter

/// The demo as a person runs it: started, used, interrupted, killed, started again.
@Suite(.serialized) struct `The demo` {
    private let folder: TemporaryFolder
    private var demoFolder: String { folder.path + "/demo" }

    init() throws { folder = try TemporaryFolder() }

    private struct Description: Decodable {
        let base_url: String
        let account_id: String
        let token: String
        let credential_id: String
        let private_key: String
        let database_url: String
        let venue: String
    }

    private func start(port: String = "0") throws -> BuiltProgram.Running {
        try BuiltProgram.Running(["demo", "--folder", demoFolder], ["PORT": port])
    }

    /// Asks again and again for what another program does; nothing tells.
    private func eventually<Value>(_ what: String, _ demo: BuiltProgram.Running, _ look: () async throws -> Value?) async throws -> Value {
        let end = ContinuousClock.now + .seconds(120)
        while ContinuousClock.now < end, demo.isRunning {
            if let found = try await look() { return found }
            try await Task.sleep(for: .milliseconds(20))
        }
        demo.send(SIGTERM)
        throw BuiltProgram.Failure(what: "\(what) did not come: \(demo.output)\(demo.errors)")
    }

    private func ready(_ demo: BuiltProgram.Running) async throws -> Description {
        try await eventually("demo.json", demo) {
            try FileManager.default.contents(atPath: demoFolder + "/demo.json").map { try JSONDecoder().decode(Description.self, from: $0) }
        }
    }

    private func end(_ demo: BuiltProgram.Running, _ description: Description) async throws {
        demo.send(SIGTERM)
        let outcome = try await demo.end(within: .seconds(60))
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(!FileManager.default.fileExists(atPath: demoFolder + "/demo.json"))
        #expect(throws: PostgresError.self) { try PostgresConnection(PostgresOptions(url: description.database_url)) }
    }

    private func removeCluster(_ description: Description) async throws {
        let place = try #require(description.database_url.firstMatch(of: /host='([^']+)'/)).1
        #expect(place.contains("order-router") || place.hasPrefix(folder.path))
        try FileManager.default.removeItem(atPath: String(place))
    }

    private func filled(_ order: OrderID, _ description: Description, _ demo: BuiltProgram.Running) async throws -> OrderState {
        let database = Database(PostgresOptions(url: description.database_url))
        return try await eventually("the fill", demo) {
            try database.order(order, of: AccountID(description.account_id)!).flatMap { $0.status == .filled ? $0 : nil }
        }
    }

    @Test func `is ready when it says so, ends cleanly, goes on with its data, and survives a kill`() async throws {
        let first = try start()
        let one = try await ready(first)
        #expect(one.account_id == "acc_demo" && one.base_url.hasPrefix("http://127.0.0.1:") && Endpoint(one.venue) != nil)
        #expect(first.output.contains("curl ") && !first.output.contains(one.token))
        for name in ["demo.json", "device-key.pem", "issuer/issuer-key.pem"] {
            let mode = try FileManager.default.attributesOfItem(atPath: demoFolder + "/" + name)[.posixPermissions] as? Int
            #expect(mode == 0o600, "\(name)")
        }

        // The script signs with openssl and sends with curl.
        let placed = try await program("sh", demoFolder + "/place-order.sh", "NVDA", "BUY", "10")
        let id = try #require(placed.output.firstMatch(of: /"order_id":"(ord_[a-z0-9_]+)"/).flatMap { OrderID(String($0.1)) }, "\(placed)")
        #expect(placed.output.hasPrefix("HTTP/1.1 201"))
        _ = try await filled(id, one, first)
        let key = try #require(placed.errors.firstMatch(of: /key ([0-9a-f-]{36})/)).1
        let price = try #require(placed.output.firstMatch(of: /"limit_price":([0-9.]+)/)).1
        let again = try await program("env", "KEY=\(key)", "sh", demoFolder + "/place-order.sh", "NVDA", "BUY", "10", String(price))
        #expect(again.output.contains("Idempotency-Replayed: true") && again.output.contains(id.text), "\(again)")

        // A past that is made up, and says so.
        func get(_ path: String) async throws -> String {
            try await program("curl", "-sS", "-H", "Authorization: Bearer \(one.token)", one.base_url + path).output
        }
        let stock = try await get("/v1/stocks/NVDA")
        #expect(stock.contains(#""name":"NVIDIA Corporation","exchange":"SIM""#) && stock.contains(#""previous_close":"125.50""#), "\(stock)")
        let history = try await get("/v1/symbols/NVDA/history?range=1Y&points=12")
        #expect(history.contains(/"source":"(feed\+)?simulated","downsampled":"lttb"/) && history.matches(of: /"t":/).count == 12, "\(history)")
        #expect(try await get("/v1/symbols?query=ford").contains(#""symbol":"F""#))

        try await walk(first)

        let second = try await start().end(within: .seconds(60))
        #expect(second.status == 1 && second.errors.contains("a demo is running in \(demoFolder) already"))
        try await end(first, one)

        let third = try start()
        let two = try await ready(third)
        #expect(two.credential_id == one.credential_id && two.token != one.token)
        #expect(try await filled(id, two, third).filledQuantity == 10)
        let sold = try await program("sh", demoFolder + "/place-order.sh", "AAPL", "SELL", "5")
        let sale = try #require(sold.output.firstMatch(of: /"order_id":"(ord_[a-z0-9_]+)"/).flatMap { OrderID(String($0.1)) }, "\(sold)")
        try await third.die()

        let fourth = try start()
        let three = try await ready(fourth)
        _ = try await filled(sale, three, fourth)
        let verified = try await BuiltProgram.run(["verify-ledger", "--database-url", three.database_url])
        #expect(verified.status == 0, "\(verified.output)")
        try await end(fourth, three)
        try await removeCluster(three)
    }

    /// The README's walk, word for word, in a folder that looks like the repository.
    private func walk(_ demo: BuiltProgram.Running) async throws {
        let place = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: place.path + "/.build/release", withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: place.path + "/.demo", withDestinationPath: demoFolder)
        try FileManager.default.createSymbolicLink(atPath: place.path + "/.build/release/order-router", withDestinationPath: BuiltProgram.path)
        let readme = try String(contentsOf: BuiltProgram.root.appending(path: "README.md"), encoding: .utf8)
        let blocks = readme.matches(of: /```sh\n([^`]*)```/).map { String($0.1) }
        #expect(blocks.count == 5)
        let outcome = try await program("sh", "-e", "-c", "cd '\(place.path)'\n" + blocks.joined(separator: "\n"))
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("\"symbol\":\"NVDA\""))
        #expect(outcome.output.matches(of: /HTTP\/1\.1 201 Created/).count == 2, "\(outcome.output)")
        #expect(outcome.output.matches(of: /Idempotency-Replayed: true/).count == 1)
        #expect(outcome.output.contains("account acc_demo, shard") && outcome.output.hasSuffix("All 14 checks hold.\n"))
    }

    @Test func `begins anew in a new folder, also where an earlier one of the same name left its database elsewhere`() async throws {
        let first = try start()
        let one = try await ready(first)
        try await end(first, one)
        try FileManager.default.removeItem(atPath: demoFolder)

        let second = try start()
        let two = try await ready(second)
        #expect(two.credential_id != one.credential_id)
        let placed = try await program("sh", demoFolder + "/place-order.sh", "NVDA", "BUY", "10")
        let id = try #require(placed.output.firstMatch(of: /"order_id":"(ord_[a-z0-9_]+)"/).flatMap { OrderID(String($0.1)) }, "\(placed)")
        _ = try await filled(id, two, second)
        try await end(second, two)
        if let aside = second.output.firstMatch(of: /is kept in ([^;]+);/)?.1 { try FileManager.default.removeItem(atPath: String(aside)) }
        try await removeCluster(two)
    }

    @Test func `leaves nothing running where its port is taken`() async throws {
        let other = try BuiltProgram.Running(["simulate", "--listen", "127.0.0.1:0"])
        let port = try await eventually("the other's port", other) { other.output.firstMatch(of: /127\.0\.0\.1:(\d+)\./).map { String($0.1) } }
        let outcome = try await start(port: port).end(within: .seconds(60))
        #expect(outcome.status == 1)
        #expect(outcome.errors == "order-router: port \(port) of 127.0.0.1 is in use: set PORT to another one\n")
        #expect(
            !FileManager.default.fileExists(atPath: demoFolder + "/demo.json") && !FileManager.default.fileExists(atPath: demoFolder + "/postgres")
        )
        other.send(SIGINT)
        #expect(try await other.end(within: .seconds(60)).status == 0)
    }
}
