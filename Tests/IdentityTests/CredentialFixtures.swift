import Cryptography
import Foundation
import Postgres
import Storage
import Synchronization
import TestSupport
import Testing
import Trading
import Wire

@testable import Identity

/// A trader's device.
protocol Device: Sendable {
    /// Its public key, DER SubjectPublicKeyInfo.
    var spki: [UInt8] { get }
    /// In DER.
    func sign(_ form: [UInt8]) throws -> [UInt8]
    /// As r || s.
    func signRaw(_ form: [UInt8]) throws -> [UInt8]
}

extension P256PrivateKey: Device {
    var spki: [UInt8] { publicKey.spki }
}

/// One whose key is made and used by the `openssl` program alone.
final class OpenSSLDevice: Device {
    let spki: [UInt8]
    private let folder: TemporaryFolder

    struct Failed: Error {
        let arguments: [String]
    }

    init(curve: String = "prime256v1") throws {
        folder = try TemporaryFolder()
        try Self.openssl(["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:\(curve)", "-out", folder.path("key.pem")])
        try Self.openssl(["pkey", "-in", folder.path("key.pem"), "-pubout", "-outform", "DER", "-out", folder.path("key.der")])
        spki = [UInt8](try Data(contentsOf: folder.url.appending(path: "key.der")))
    }

    func sign(_ form: [UInt8]) throws -> [UInt8] {
        let name = UUID().uuidString
        try Data(form).write(to: folder.url.appending(path: name))
        try Self.openssl(["dgst", "-sha256", "-sign", folder.path("key.pem"), "-out", folder.path(name + ".sig"), folder.path(name)])
        return [UInt8](try Data(contentsOf: folder.url.appending(path: name + ".sig")))
    }

    /// The two INTEGERs of the DER, without their signs, to 32 bytes each.
    func signRaw(_ form: [UInt8]) throws -> [UInt8] {
        let der = try sign(form)
        let r = der[4..<(4 + Int(der[3]))]
        let s = der[(r.endIndex + 2)...]
        return [r, s].flatMap { number in
            let magnitude = number.drop { $0 == 0 }
            return [UInt8](repeating: 0, count: 32 - magnitude.count) + magnitude
        }
    }

    private static func openssl(_ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failed(arguments: arguments) }
    }
}

/// A database with two accounts, and one router's book and enrolment on it.
final class CredentialStation: Sendable {
    static let now: Int64 = 1_773_648_000_000

    let test: TestDatabase
    let first: AccountID
    let second: AccountID
    let book: CredentialBook
    let enrolment: Enrolment

    /// Making a database takes long and keeps a thread of the pool: tests that do not break it share one, each with accounts of its own.
    private struct Shared {
        weak var database: TestDatabase?
    }
    private static let shared = Mutex(Shared())

    /// - Parameter isAlone: with a database of its own.
    convenience init(alone isAlone: Bool = false) throws {
        let test =
            try isAlone
            ? TestDatabase()
            : Self.shared.withLock { shared in
                if let database = shared.database { return database }
                let database = try TestDatabase()
                shared.database = database
                return database
            }
        let accounts = try (0..<2).map { _ in try #require(AccountID("acc_" + UUID().uuidString)) }
        let database = Database(try test.options)
        for account in accounts {
            #expect(try database.createAccount(account, cash: #require(Amount(whole: 1_000)), positions: [], by: "operator", at: Self.now))
        }
        try self.init(test, accounts)
    }

    private init(_ test: TestDatabase, _ accounts: [AccountID], url: String? = nil, settings: CredentialBook.Settings = .init()) throws {
        self.test = test
        (first, second) = (accounts[0], accounts[1])
        var options = try test.options
        if let url { options.url = url }
        let (lines, line) = AsyncStream.makeStream(of: String.self)
        troubles = lines
        book = CredentialBook(database: options, settings: settings) { line.yield($0) }
        enrolment = Enrolment(database: options, book: book) { line.yield($0) }
        end = { line.finish() }
    }

    private let troubles: AsyncStream<String>
    private let end: @Sendable () -> Void

    /// What it complained of so far. Ends the listening.
    func complaints() async -> [String] {
        end()
        return await troubles.reduce(into: []) { $0.append($1) }
    }

    /// A router of its own on the same database: it shares no memory with this one.
    func another(url: String? = nil, settings: CredentialBook.Settings = CredentialBook.Settings()) throws -> CredentialStation {
        try CredentialStation(test, [first, second], url: url, settings: settings)
    }

    func enrol(_ device: any Device, in account: AccountID? = nil, now: Int64 = now) async throws -> String {
        try await enrolment.enrol(account ?? first, alias: "phone", spki: device.spki, now: now).credentialID
    }

    func create(_ device: any Device, in account: AccountID? = nil, now: Int64 = now) async throws -> Enrolment.Created {
        try await enrolment.create(
            CreateCredentialRequest(account: account ?? first, keyAlias: "tablet", publicKey: device.spki),
            by: "trader-1",
            now: now
        )
    }

    func pair(
        _ created: Enrolment.Created,
        _ request: PairCredentialRequest,
        accounts: Set<AccountID>? = nil,
        now: Int64 = now
    ) async throws -> CredentialView {
        try await enrolment.pair(created.view.credentialID, request, accounts: accounts ?? [first], by: "trader-1", now: now)
    }

    func verify(
        _ signature: [UInt8],
        of account: AccountID? = nil,
        by credentialID: String? = nil,
        now: Int64 = now
    ) async -> SignatureVerdict {
        await book.verify(account: account ?? first, credentialID: credentialID, signature: signature, form: Self.form, now: now)
    }

    /// A column of a query as text.
    func texts(_ sql: String) throws -> [String] {
        let rows = try test.connect().query(sql)
        return (0..<rows.count).map { rows.text($0, 0) }
    }

    /// The audit of a credential, oldest first: change, by whom, detail.
    func audit(_ credentialID: String) throws -> [String] {
        try texts(
            """
            SELECT change || ' by ' || by_whom || coalesce(': ' || detail, '') FROM credential_audit
            WHERE credential_id = '\(credentialID)' ORDER BY audit_id
            """
        )
    }

    static let form = Array("TRADING-ORDER-V1\naccount_id=acc_first\nsymbol=NVDA".utf8)
}

extension Enrolment.Created {
    /// What both keys sign, put together from the design's text.
    var form: [UInt8] {
        let challenge = Data(challenge).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        let text = "CREDENTIAL-PAIR-V1\naccount_id=\(view.accountID)\ncredential_id=\(view.credentialID)\nchallenge=\(challenge)"
        return Array(text.utf8)
    }

    func request(signedBy new: any Device, and old: any Device, _ oldID: String) throws -> PairCredentialRequest {
        PairCredentialRequest(signature: try new.sign(form), authorizingCredentialID: oldID, authorizingSignature: try old.signRaw(form))
    }
}

/// The code of the problem that the work ends with.
func problem(_ work: () async throws -> Void) async -> ErrorCode? {
    do {
        try await work()
        return nil
    } catch {
        return (error as? Problem)?.code
    }
}
