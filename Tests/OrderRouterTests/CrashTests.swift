import Foundation
import Identity
import OrderDesk
import Postgres
import Storage
import TestSupport
import Testing
import Trading
import Venue

@testable import OrderRouter

/// The router killed at each named step, with the venue and the client living on: the client retries under its key, another router takes over.
@Suite(.serialized) struct `A router that dies at a step` {
    private static let account = AccountID("acc_x")!
    private let database: TestDatabase
    private let folder: TemporaryFolder

    init() throws {
        database = try TestDatabase()
        folder = try TemporaryFolder()
    }

    /// A step, and the time it is reached at which the router dies.
    static let steps: [(step: String, occurrence: Int)] =
        (DeskStep.allCases.map(\.rawValue) + VenueStep.allCases.map(\.rawValue)).map { ($0, 1) }
        // The first write of a session is its logon; the second one carries the order.
        + [("send-writing", 2)]

    @Test(arguments: steps.indices) func `loses and doubles nothing`(_ index: Int) async throws {
        let (step, occurrence) = Self.steps[index]
        let venue = try BuiltProgram.Running(["simulate", "--listen", "127.0.0.1:0", "--state", folder.path + "/venue", "--frozen"])
        defer { venue.send(SIGKILL) }
        let port = try await eventually("the venue's port") { venue.output.firstMatch(of: /127\.0\.0\.1:(\d+)\./).map { String($0.1) } }
        let client = try await Client(database, folder)
        let doomed = try serve(venue: port, crashAt: "\(step):\(occurrence)")
        defer { doomed.send(SIGKILL) }

        // Under one key until the router is dead; what it had answered by then must stay true.
        let key = IdempotencyKey.new(at: Date.nowMilliseconds, using: &client.random).description
        var acknowledged: String?
        if let url = try await ready(doomed) {
            acknowledged = try await eventually("the answer or the router's end") { () -> String?? in
                if let answer = try await client.place(key, at: url), answer.isAccepted { return .some(answer.body) }
                return doomed.isRunning ? nil : .some(nil)
            }
        }
        #expect(try await doomed.end(within: .seconds(10)).status == 128 + SIGKILL, "\(step) was not reached:\n\(doomed.errors)")

        let successor = try serve(venue: port, crashAt: nil)
        defer { successor.send(SIGKILL) }
        let url = try #require(try await ready(successor))
        let answer = try await eventually("the answer") {
            try await client.place(key, at: url).flatMap { $0.isAccepted ? $0 : nil }
        }
        if let acknowledged { #expect(answer.body == acknowledged) }
        let id = try #require(answer.body.firstMatch(of: /"order_id":"(ord_[a-z0-9_]+)"/).flatMap { OrderID(String($0.1)) })
        let storage = try Database(database.options)
        let order = try await eventually("the fill") { try storage.order(id, of: Self.account).flatMap { $0.status == .filled ? $0 : nil } }
        #expect(order.filledQuantity == 10)

        #expect(try database.connect().query("SELECT count(*) FROM orders").int64(0, 0) == 1)
        #expect(try storage.verifyLedger(limit: 5).filter { !$0.holds } == [])
        successor.send(SIGTERM)
        #expect(try await successor.end(within: .seconds(60)).status == 0, "\(successor.errors)")
        #expect(!venue.errors.contains("double"), "\(venue.errors)")
    }

    // MARK: The parts

    private func serve(venue: String, crashAt point: String?) throws -> BuiltProgram.Running {
        var arguments = [
            "serve", "--database-url", database.url, "--listen", "127.0.0.1:0", "--venue", "127.0.0.1:\(venue)", "--jwks",
            folder.path + "/issuer/jwks.json", "--issuer", "test", "--audience", "test", "--lease", "1s", "--target-comp-id",
            "EXCH-SIM",
        ]
        if let point { arguments += ["--crash-at", point] }
        return try BuiltProgram.Running(arguments)
    }

    /// Where it serves; nil when it ends before.
    private func ready(_ router: BuiltProgram.Running) async throws -> String? {
        try await eventually("a ready router") { () -> String?? in
            if let match = router.errors.firstMatch(of: /event=ready listen=(\S+)/) { return .some("http://\(match.1)") }
            return router.isRunning ? nil : .some(nil)
        }
    }

    /// Signs with the program's own `sign`, sends with curl.
    private final class Client {
        struct Answer {
            let isAccepted: Bool
            let body: String
        }

        var random = SystemRandomNumberGenerator()
        private let folder: TemporaryFolder
        private let token: String

        init(_ database: TestDatabase, _ folder: TemporaryFolder) async throws {
            self.folder = folder
            let environment = ["ORDER_ROUTER_DATABASE_URL": database.url]
            let (key, publicKey) = (folder.path + "/key.pem", folder.path + "/key.pub")
            #expect(try await program("openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key).status == 0)
            #expect(try await program("openssl", "pkey", "-in", key, "-pubout", "-out", publicKey).status == 0)
            let commands = [
                ["account", "create", "--id", "acc_x", "--cash", "100000"], ["credential", "enrol", "--account", "acc_x", "--public-key", publicKey],
            ]
            for words in commands { #expect(try await BuiltProgram.run(words, environment).status == 0) }
            let issuer = try DevelopmentIssuer(directory: folder.path + "/issuer", issuer: "test", audience: "test")
            token = try issuer.issue(
                subject: "test",
                accounts: [`A router that dies at a step`.account],
                scopes: Set(Scope.allCases),
                lifetime: .seconds(3_600),
                now: Date.nowMilliseconds
            )
            try folder.write(
                "order.json",
                #"{"account_id":"acc_x","symbol":"NVDA","side":"BUY","order_type":"LIMIT","limit_price":130,"quantity":10,"time_in_force":"GTC"}"#
            )
        }

        /// One attempt, signed anew; nil where nothing came back.
        func place(_ key: String, at url: String) async throws -> Answer? {
            let order = folder.path + "/order.json"
            let signed = try await BuiltProgram.run([
                "sign", "--key", folder.path + "/key.pem", "--order", order, "--idempotency-key", key, "--print", "headers",
            ])
            let headers = try folder.write("headers", signed.output + "Authorization: Bearer \(token)\nContent-Type: application/json\n")
            let sent = try await program(
                "curl",
                "-sS",
                "-m",
                "10",
                "-w",
                "\n%{http_code}",
                "-H",
                "@" + headers,
                "--data-binary",
                "@" + order,
                url + "/v1/trading/orders"
            )
            guard sent.status == 0 else { return nil }
            let lines = sent.output.split(separator: "\n").map(String.init)
            guard let code = lines.last, let body = lines.first else { return nil }
            #expect(code == "201" || code == "503" || code == "409", "\(sent.output)")
            return Answer(isAccepted: code == "201", body: body)
        }
    }
}
