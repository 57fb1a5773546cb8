import Cryptography
import ExchangeSimulator
import Foundation
import Identity
import Postgres
import Storage
import TestSupport
import Testing
import Trading

@testable import OrderRouter

/// Commands as their users run them, on a database of their own. One at a time: each starts processes.
@Suite(.serialized) struct `The command order-router` {
    let database: TestDatabase
    let folder: TemporaryFolder

    init() throws {
        database = try TestDatabase()
        folder = try TemporaryFolder()
    }

    private func run(_ words: String..., input: String = "", environment: [String: String] = [:]) async throws -> BuiltProgram.Outcome {
        try await BuiltProgram.run(words, ["ORDER_ROUTER_DATABASE_URL": database.url].merging(environment) { $1 }, input: input)
    }

    private func count(_ sql: String) throws -> Int64 { try database.connect().query("SELECT count(*) FROM \(sql)").int64(0, 0) }

    /// A key made by openssl, private and public half.
    private func makeKey(_ curve: String = "P-256") async throws -> (privateKey: String, publicKey: String) {
        let (privateKey, publicKey) = (folder.url("\(curve).pem").path, folder.url("\(curve).pub").path)
        #expect(try await program("openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:\(curve)", "-out", privateKey).status == 0)
        #expect(try await program("openssl", "pkey", "-in", privateKey, "-pubout", "-out", publicKey).status == 0)
        return (privateKey, publicKey)
    }

    // MARK: How it is called

    @Test func `explains itself`() async throws {
        let help = try await run("--help")
        #expect(help.status == 0 && help.errors.isEmpty)
        for command in OrderRouterCommand.all { #expect(help.output.contains("\n  \(command.name) "), "\(command.name)") }
        for words in [["migrate", "--help"], ["help", "migrate"], ["migrate", "--status", "-h"]] {
            let outcome = try await BuiltProgram.run(words)
            #expect(outcome.status == 0 && outcome.output.contains("usage: order-router migrate [--status] [settings]"), "\(words)")
        }
        #expect(try await run("account", "--help").output.contains("account show"))
    }

    @Test(arguments: [
        [], ["serv"], ["account"], ["account", "creat"], ["migrate", "now"], ["migrate", "--force"], ["account", "create"],
        ["halt", "planet", "--reason", "r"],
        ["halt", "symbol", "--reason", "r"], ["halt", "symbol", "nvda", "--reason", "r"], ["halt", "venue", "EXCH", "--reason", "r"],
        ["halt", "venue"], ["halt", "kill_switch", "--reason", "r"], ["kill-switch", "on"],
        ["kill-switch", "on", "--reason", "r", "--within", "soon"], ["kill-switch"], ["reconcile", "--within", "0s"], ["recover", "--next-out", "0"],
        ["orders", "cancel", "--by", "a", "--reason", "r"], ["orders", "cancel", "ord_1", "--by", "a", "--reason", "r"], ["orders", "show", "x"],
        ["orders", "cancel", "ord_20260101_aaaaaaaaaaaaaaaaaaaaaaaaaa", "--reason", "r"], ["orders", "unknown", "--limit", "0"],
        ["orders", "cancel", "ord_20260101_aaaaaaaaaaaaaaaaaaaaaaaaaa", "--account", "a", "--by", "a", "--reason", "r"],
        ["halt", "venue", "--reason", ""], ["account", "create", "--id", "acc/1"], ["account", "create", "--id", "a", "--cash", "1.00001"],
        ["account", "create", "--id", "a", "--cash", "-1"], ["account", "create", "--id", "a", "--position", "NVDA"],
        ["account", "create", "--id", "a", "--position", "NVDA=1.5"], ["account", "create", "--id", "a", "--position", "NVDA=0"],
        ["account", "create", "--id", "a", "--position", "NVDA=1", "--position", "NVDA=2"], ["verify-ledger", "--limit", "0"],
        ["token", "issue", "--account", "a", "--ttl", "0s", "--issuer", "i", "--audience", "a"], ["simulate", "--scenario", "NVDA=WILD"],
        ["simulate", "--listen", "127.0.0.1:0", "--scenario", "NOSUCH=REJ"],
        ["simulate", "--echo", "--state", "x"], ["simulate", "--echo", "--scenario", "F=MUTE"],
        ["simulate", "--ticks", "0"], ["token", "issue", "--scope", "everything", "--issuer", "i", "--audience", "a"],
        ["token", "issue", "--issuer", "i", "--audience", "a"], ["simulate", "--comp-id", "NYSE"], ["simulate", "--echo", "--comp-id", "NYSE"],
        ["simulate", "--admin", "0.0.0.0:9881"], ["simulate", "--heartbeat-bounds", "60-5"],
        ["simulate", "--tls-certificate", "c.pem"], ["simulate", "--tls-client-ca", "ca.pem"],
        ["simulate", "--validation", "some"], ["simulate", "--sending-time-tolerance", "2"],
        ["simulate", "--feed-udp", "239.1.1.1:9882"], ["simulate", "--feed-rate", "5"], ["simulate", "--feed-symbols", "0"],
        ["simulate", "--feed-tcp", "127.0.0.1:0", "--feed-rate", "-1"], ["simulate", "--feed-tcp", "here"],
        ["simulate", "--feed-tcp", "127.0.0.1:0", "--feed-interface", "127.0.0.1"],
    ])
    func `refuses a wrong call with 2 and a sentence`(_ words: [String]) async throws {
        let outcome = try await BuiltProgram.run(words, ["ORDER_ROUTER_DATABASE_URL": database.url])
        #expect(outcome.status == 2, "\(words)")
        #expect(outcome.output.isEmpty && outcome.errors.hasPrefix("order-router: "), "\(outcome.errors)")
        #expect(try count("accounts") == 0)
    }

    @Test func `publishes the binary feed that the simulator's flags ask for`() async throws {
        let folder = try TemporaryFolder()
        let venue = try BuiltProgram.Running([
            "simulate", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--frozen", "--feed-tcp", "127.0.0.1:0", "--feed-rate", "500",
            "--feed-symbols", "7",
        ])
        let line = try await eventually("its feed's port") {
            venue.output.firstMatch(of: /Its binary feed is at (127\.0\.0\.1:\d+)\./).map { String($0.1) }
        }
        let file = folder.path + "/recorded"
        let recording = try await BuiltProgram.run(["record", "--feed", "tcp://\(line)", "--to", file, "--for", "1s"])
        #expect(recording.status == 0, "\(recording.errors)")
        let recorded = try Data(contentsOf: URL(filePath: file))
        for name in ["NVDA", "S00001", "S00007"] { #expect(recorded.firstRange(of: Data(name.utf8)) != nil, "\(name)") }
        #expect(recorded.firstRange(of: Data("S00008".utf8)) == nil)
        venue.send(SIGTERM)
        #expect(try await venue.end(within: .seconds(30)).status == 0)
    }

    @Test func `lists what can go wrong at the simulator`() async throws {
        let outcome = try await BuiltProgram.run(["simulate", "--scenarios"])
        #expect(outcome.status == 0)
        let readme = try String(contentsOf: BuiltProgram.root.appending(path: "README.md"), encoding: .utf8)
        for scenario in Scenario.allCases {
            #expect(outcome.output.contains("  \(scenario.rawValue) "), "\(scenario)")
            #expect(readme.contains("\n| `\(scenario.rawValue)` | \(scenario.summary) |\n"), "\(scenario)")
        }
        #expect(outcome.output.contains("/scenario?symbol=F&name=MUTE"))
    }

    @Test func `does not start with a wrong setting and names it`() async throws {
        let outcome = try await run("serve", environment: ["ORDER_ROUTER_LANES": "many"])
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("ORDER_ROUTER_LANES is 'many': expected is a whole number from 1 to 64"))
        let unknown = try await run("serve", environment: ["ORDER_ROUTER_LANE": "4"])
        #expect(unknown.status == 2 && unknown.errors.contains("Is ORDER_ROUTER_LANES meant?"))
        let none = try await BuiltProgram.run(["serve"])
        #expect(none.status == 2 && none.errors.contains("ORDER_ROUTER_DATABASE_URL (or --database-url) is not set"))
        let port = try await BuiltProgram.run(["demo"], ["PORT": "80a"])
        #expect(port.status == 2 && port.errors.contains("PORT is '80a'"))
    }

    @Test func `says with 3 that the database cannot be reached, and nothing of its password`() async throws {
        let outcome = try await BuiltProgram.run(["halts", "--database-url", "postgres://u:topsecret@127.0.0.1:1/x"])
        #expect(outcome.status == 3)
        #expect(outcome.errors.contains("the database cannot be reached") && !outcome.errors.contains("topsecret"))
        let wrong = try await BuiltProgram.run(["halts", "--database-url", "mysql://u:topsecret@h/x"])
        #expect(wrong.status != 0 && !wrong.errors.contains("topsecret"))
    }

    // MARK: migrate

    @Test func `migrates once, also when two do it at once`() async throws {
        let empty = try TestDatabase(migrations: "/nonexistent")
        let environment = ["ORDER_ROUTER_DATABASE_URL": empty.url]
        let before = try await BuiltProgram.run(["migrate", "--status"], environment)
        #expect(before.status == 1 && before.output.contains("pending") && !before.output.contains("applied"))
        let unready = try await BuiltProgram.run(["halts"], environment)
        #expect(unready.status == 1 && unready.errors.contains("run order-router migrate"))

        async let one = BuiltProgram.run(["migrate"], environment)
        async let two = BuiltProgram.run(["migrate"], environment)
        let outcomes = try await [one, two]
        #expect(outcomes.map(\.status) == [0, 0])
        let files = try FileManager.default.contentsOfDirectory(atPath: TestDatabase.migrations).filter { $0.hasSuffix(".sql") }
        for file in files { #expect(outcomes.count { $0.output.contains("applied  \(file)") } == 1, "\(file)") }

        let again = try await BuiltProgram.run(["migrate"], environment)
        #expect(again.status == 0 && again.output == "The database is up to date.\n")
        let after = try await BuiltProgram.run(["migrate", "--status"], environment)
        #expect(after.status == 0 && after.output.split(separator: "\n").count == files.count && !after.output.contains("pending"))
    }

    @Test func `refuses migrations that are not those of the database`() async throws {
        let copy = folder.url("migrations")
        try FileManager.default.copyItem(at: URL(filePath: TestDatabase.migrations), to: copy)
        let first = copy.appending(path: "0001_accounts_and_ledger.sql")
        try Data((try String(contentsOf: first, encoding: .utf8) + "\n-- changed").utf8).write(to: first)
        let outcome = try await run("migrate", "--migrations", copy.path)
        #expect(outcome.status == 1 && outcome.errors.contains("0001_accounts_and_ledger.sql has changed since it was applied"))
        #expect(try await run("migrate", "--migrations", folder.path + "/none").status == 1)
    }

    // MARK: Accounts

    @Test func `opens an account once and shows it`() async throws {
        let words = [
            "account", "create", "--id", "acc_x", "--cash", "10000.00", "--position", "NVDA=100@120.00", "--position", "BRK.B=3", "--by", "ann",
        ]
        let environment = ["ORDER_ROUTER_DATABASE_URL": database.url]
        let created = try await BuiltProgram.run(words, environment)
        #expect(created.status == 0 && created.output == "The account acc_x is open with 10000.00 USD, 100 NVDA, 3 BRK.B.\n")
        let again = try await BuiltProgram.run(words, environment)
        #expect(again.status == 1 && again.errors.contains("exists already"))
        let shown = try await run("account", "show", "--id", "acc_x")
        let rows = shown.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        #expect(rows.contains(["USD", "10000.00", "0.00", "0.00"]))
        #expect(rows.contains(["NVDA", "100", "0", "0", "120.00"]))
        #expect(rows.contains(["BRK.B", "3", "0", "0", "0.00"]))
        #expect(try await run("account", "show", "--id", "acc_y").status == 1)
        #expect(try count("operator_audit WHERE by_whom = 'ann' AND action = 'account_created' AND detail = 'acc_x'") == 1)
        #expect(try await run("verify-ledger").status == 0)
    }

    // MARK: Credentials and tokens

    @Test func `enrols P-256 keys alone, lists them and ends them`() async throws {
        _ = try await run("account", "create", "--id", "acc_x")
        let key = try await makeKey()
        let enrolled = try await run("credential", "enrol", "--account", "acc_x", "--public-key", key.publicKey, "--alias", "my phone", "--by", "ann")
        #expect(enrolled.status == 0)
        let id = enrolled.output.trimmingCharacters(in: .newlines)
        #expect(!id.isEmpty && !id.contains(" "))
        let list = try await run("credential", "list", "--account", "acc_x")
        #expect(list.output.contains(id) && list.output.contains("ACTIVE") && list.output.contains("\"my phone\""))

        let wrong = [
            try await makeKey("P-384").publicKey, try await makeKey("secp256k1").publicKey, key.privateKey, folder.url("none").path,
            try folder.write("text", "no key"),
        ]
        for file in wrong {
            let outcome = try await run("credential", "enrol", "--account", "acc_x", "--public-key", file)
            #expect(outcome.status == 1 && outcome.errors.contains(file), "\(outcome.errors)")
        }
        #expect(try await run("credential", "enrol", "--account", "acc_y", "--public-key", key.publicKey).status == 1)
        #expect(try count("credentials") == 1)

        #expect(try await run("credential", "invalidate", "--account", "acc_x", "--id", id).output == "\(id) is INVALIDATED.\n")
        #expect(try await run("credential", "invalidate", "--account", "acc_x", "--id", id).output == "\(id) was INVALIDATED before.\n")
        #expect(try await run("credential", "invalidate", "--account", "acc_x", "--id", "cred_none").status == 1)
        #expect(try await run("credential", "list", "--account", "acc_x").output.contains("INVALIDATED"))
        #expect(try await run("credential", "list", "--account", "acc_y").status == 1)
        #expect(try count("credential_audit WHERE credential_id = '\(id)'") == 2)
        #expect(try count("credential_audit WHERE by_whom = 'ann' AND change = 'enrolled'") == 1)
    }

    @Test func `takes a public key in DER as well`() async throws {
        _ = try await run("account", "create", "--id", "acc_x")
        let key = try await makeKey()
        let der = folder.url("key.der").path
        #expect(try await program("openssl", "pkey", "-pubin", "-in", key.publicKey, "-outform", "DER", "-out", der).status == 0)
        #expect(try await run("credential", "enrol", "--account", "acc_x", "--public-key", der).status == 0)
    }

    @Test func `issues tokens that a router takes`() async throws {
        let outcome = try await run(
            "token",
            "issue",
            "--account",
            "acc_x",
            "--account",
            "acc_y",
            "--scope",
            "orders:read orders:write",
            "--ttl",
            "5m",
            "--issuer",
            "us",
            "--audience",
            "router",
            "--issuer-folder",
            folder.path + "/issuer"
        )
        #expect(outcome.status == 0)
        let token = outcome.output.trimmingCharacters(in: .newlines)
        let source = KeySetSource(location: try KeySetLocation(folder.path + "/issuer/jwks.json"), report: { _ in })
        try await source.load()
        let verifier = TokenVerifier(settings: .init(issuer: "us", audience: "router"), source: source)
        guard case .principal(let principal) = await verifier.verify(token, now: Date.nowMilliseconds) else {
            Issue.record("the token was refused")
            return
        }
        #expect(principal.accounts == [AccountID("acc_x")!, AccountID("acc_y")!])
        #expect(principal.scopes == [.ordersRead, .ordersWrite])
        #expect(principal.expiresAt - Date.nowMilliseconds < 331_000)
    }

    // MARK: sign

    private static let order = """
        {"account_id":"acc_998124a87","symbol":"NVDA","side":"BUY","order_type":"LIMIT","limit_price":125.50,
         "quantity":100,"time_in_force":"DAY","estimated_total_usd":12550.00}
        """

    /// The signed form of the published example, word for word.
    private static let form = """
        TRADING-ORDER-V1
        account_id=acc_998124a87
        symbol=NVDA
        side=BUY
        order_type=LIMIT
        quantity=100
        limit_price=125.5000
        stop_price=
        time_in_force=DAY
        estimated_total_usd=12550.0000
        idempotency_key=018e3d2a-7f12-7000-8000-123456789abc
        client_timestamp=1773648000120
        quote_reference_timestamp=1773647999800
        """

    @Test func `signs the published form so that openssl verifies it`() async throws {
        let key = try await makeKey()
        let order = try folder.write("order.json", Self.order)
        let words = [
            "sign", "--key", key.privateKey, "--order", order, "--idempotency-key", "018e3d2a-7f12-7000-8000-123456789abc", "--client-timestamp",
            "1773648000120", "--quote-reference-timestamp", "1773647999800", "--credential", "cred_1",
        ]
        let form = try await BuiltProgram.run(words + ["--print", "form"])
        #expect(form.status == 0 && form.output == Self.form)
        let headers = try await BuiltProgram.run(words + ["--print", "headers"])
        let lines = headers.output.split(separator: "\n").map(String.init)
        let signature = try #require(lines.first { $0.hasPrefix("X-Biometric-Signature: ") }).split(separator: " ")[1]
        #expect(
            lines.filter { !$0.hasPrefix("X-Biometric-Signature") } == [
                "Idempotency-Key: 018e3d2a-7f12-7000-8000-123456789abc", "X-Client-Timestamp: 1773648000120",
                "X-Quote-Reference-Timestamp: 1773647999800", "X-Biometric-Credential: cred_1",
            ]
        )
        try Data(try #require(Data(base64Encoded: String(signature)))).write(to: folder.url("signature"))
        let file = try folder.write("form", form.output)
        let check = try await program("openssl", "dgst", "-sha256", "-verify", key.publicKey, "-signature", folder.url("signature").path, file)
        #expect(check.status == 0 && check.output == "Verified OK\n")
        let both = try await BuiltProgram.run(words)
        #expect(both.output.hasPrefix(Self.form + "\n\nIdempotency-Key: "))
    }

    @Test func `signs what comes by the standard input, under a new key each time`() async throws {
        let key = try await makeKey()
        var keys: Set<String> = []
        for _ in 0..<2 {
            let outcome = try await run("sign", "--key", key.privateKey, "--order", "-", "--print", "headers", input: Self.order)
            let line = try #require(outcome.output.split(separator: "\n").first { $0.hasPrefix("Idempotency-Key: ") })
            let made = try #require(IdempotencyKey(line.dropFirst("Idempotency-Key: ".count)))
            #expect(abs(made.milliseconds - Date.nowMilliseconds) < 60_000)
            keys.insert(made.description)
        }
        #expect(keys.count == 2)
    }

    @Test func `does not sign what a router would not take`() async throws {
        let key = try await makeKey()
        let wrong = [
            (Self.order.replacing("\"quantity\":100", with: "\"quantity\":0"), "quantity"),
            (Self.order.replacing("DAY", with: "NEVER"), "time_in_force"),
            (Self.order.replacing("12550.00", with: "12550.01"), "estimated_total_usd"), ("{", "JSON"),
        ]
        for (order, word) in wrong {
            let outcome = try await run("sign", "--key", key.privateKey, "--order", "-", input: order)
            #expect(outcome.status == 1 && outcome.output.isEmpty && outcome.errors.contains(word), "\(outcome.errors)")
        }
        let old = try await run("sign", "--key", key.privateKey, "--order", "-", "--idempotency-key", UUID().uuidString, input: Self.order)
        #expect(old.status == 1 && old.errors.contains("UUID of version 7"))
        let notPrivate = try await run("sign", "--key", key.publicKey, "--order", "-", input: Self.order)
        #expect(notPrivate.status == 1 && notPrivate.errors.contains("no P-256 private key"))
    }

    // MARK: halts

    @Test func `halts, lists and resumes`() async throws {
        _ = try await run("account", "create", "--id", "acc_x")
        #expect(try await run("halts").output == "Nothing is halted.\n")
        #expect(try await run("halt", "venue", "--reason", "all").output == "The venue is halted.\n")
        #expect(try await run("halt", "symbol", "NVDA", "--reason", "news pending", "--by", "ann").output == "The symbol NVDA is halted.\n")
        #expect(try await run("halt", "account", "acc_x", "--reason", "a\nb").status == 0)
        #expect(try await run("halt", "account", "acc_y", "--reason", "r").status == 1)
        let rows = try await run("halts").output.split(separator: "\n").map {
            $0.split(separator: " ", maxSplits: 2).map { $0.trimmingCharacters(in: .whitespaces) }
        }
        #expect(rows.count == 4)
        #expect(rows.contains(["symbol", "NVDA", "\"news pending\""]) && rows.contains(["account", "acc_x", "\"a\\nb\""]))
        #expect(try await run("resume", "symbol", "NVDA").output == "The symbol NVDA is resumed.\n")
        #expect(try await run("resume", "symbol", "NVDA").status == 1)
        #expect(try count("halts") == 2)
        #expect(try count("operator_audit WHERE by_whom = 'ann' AND action = 'halted'") == 1)
    }

    // MARK: partitions

    @Test func `lists the parts of the tables, and detaches old ones that nothing asks for`() async throws {
        try database.haveHadParts(weeks: 5)
        _ = try await run("account", "create", "--id", "acc_x", "--cash", "500")
        let list = try await run("partitions")
        let lines = list.output.split(separator: "\n").map { $0.split(separator: " ") }
        let first = try #require(lines.first { $0.first == "orders_first" })
        #expect(list.status == 0 && first[1] == "-" && lines.contains { $0.first == "ledger_entries_later" && $0[2] == "-" })
        #expect(try await run("partitions", "detach", "--before", "2020-01-01").output == "No part ends on or before 2020-01-01.\n")
        #expect(try await run("partitions", "detach", "--before", "monday").status == 2)
        let detached = try await run("partitions", "detach", "--before", String(first[2]), "--by", "ann")
        #expect(detached.output == "detached  orders_first\ndetached  executions_first\ndetached  ledger_entries_first\n")
        #expect(try count("operator_audit WHERE by_whom = 'ann' AND action = 'part_detached'") == 3)
        // What may still be written to stays, even where nothing is in it yet.
        let coming = try await run("partitions", "detach", "--before", "2999-01-01")
        #expect(coming.status == 2 && coming.errors.contains("expected is"))
        #expect(try await run("verify-ledger").status == 0)
        #expect(try await !run("partitions").output.contains("_first"))
    }

    // MARK: verify-ledger

    @Test func `proves a clean ledger and shows the rows of one that was tampered with`() async throws {
        _ = try await run("account", "create", "--id", "acc_x", "--cash", "500")
        let clean = try await run("verify-ledger")
        #expect(clean.status == 0 && clean.output.hasSuffix("\nAll 14 checks hold.\n") && clean.errors.isEmpty)
        try database.connect().execute(
            "SET session_replication_role = replica; UPDATE ledger_entries SET amount = amount + 7 WHERE account_id = 'acc_x' AND asset = '$'"
        )
        let broken = try await run("verify-ledger")
        #expect(broken.status == 1)
        let lines = broken.output.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        #expect(lines.contains("balances FAILED, 1 Each balance is the sum of its entries, for each account, asset and bucket."))
        #expect(lines.contains("acc_x $ available 5000000 5000007"))
        #expect(lines.contains("\(AccountID("acc_x")!.shard) 1 $ 7"))
        #expect(lines.last == "2 of 14 checks do not hold.")
    }
}
