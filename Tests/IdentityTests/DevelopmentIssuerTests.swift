import Cryptography
import Foundation
import Testing
import Trading

@testable import Identity

@Suite struct `A development issuer` {
    let folder: TemporaryFolder
    let directory: String

    init() throws {
        folder = try TemporaryFolder()
        directory = folder.path("issuer")
    }

    private func open() throws -> DevelopmentIssuer {
        try DevelopmentIssuer(directory: directory, issuer: TestKey.issuer, audience: TestKey.audience)
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test func `issues tokens that a router takes`() async throws {
        let issuer = try open()
        let source = try SourceUnderTest(issuer.keySetPath).source
        try await source.load()
        let verifier = TokenVerifier(settings: .init(issuer: TestKey.issuer, audience: TestKey.audience), source: source)
        let account = try #require(AccountID("acc_1"))
        let now = TestKey.now * 1_000
        let token = try issuer.issue(subject: "dev", accounts: [account], scopes: [.ordersWrite, .operator], lifetime: .seconds(60), now: now + 999)
        let expected = Principal(subject: "dev", accounts: [account], scopes: [.ordersWrite, .operator], expiresAt: now + 90_000)
        #expect(await verifier.verify(token, now: now) == .principal(expected))
        #expect(await verifier.verify(token, now: now + 90_000) == .refused(.expired))
        let again = try issuer.issue(subject: "dev", accounts: [account], scopes: [], lifetime: .seconds(60), now: now)
        #expect(again != token)
    }

    @Test func `keeps its key in files that only the owner reads, and leaves nothing else behind`() throws {
        let issuer = try open()
        #expect(try mode(directory) == 0o700)
        #expect(try mode(directory + "/issuer-key.pem") == 0o600)
        #expect(try mode(issuer.keySetPath) == 0o600)
        #expect(try Set(FileManager.default.contentsOfDirectory(atPath: directory)) == ["issuer-key.pem", "jwks.json"])
    }

    @Test func `opened again is the same, and mends its key set`() throws {
        let first = try open()
        let keySet = try String(contentsOfFile: first.keySetPath, encoding: .utf8)
        #expect(try open().keyID == first.keyID)
        try Data("{}".utf8).write(to: URL(filePath: first.keySetPath))
        #expect(try open().keyID == first.keyID)
        #expect(try String(contentsOfFile: first.keySetPath, encoding: .utf8) == keySet)
        #expect(try mode(first.keySetPath) == 0o600)
        #expect(try Set(FileManager.default.contentsOfDirectory(atPath: directory)) == ["issuer-key.pem", "jwks.json"])
    }

    @Test func `made by many at once is one`() async throws {
        let directory = directory
        let names = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<8 {
                group.addTask { @concurrent in
                    try DevelopmentIssuer(directory: directory, issuer: "i", audience: "a").keyID
                }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(names.count == 1)
    }

    @Test func `refuses a key file that others can read, or that holds no key`() throws {
        _ = try open()
        let path = directory + "/issuer-key.pem"
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
        #expect(throws: IdentityError(.keyFile, "open development issuer", "the key file is open to others than its owner; its mode must be 0600")) {
            try open()
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        try Data("nothing".utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        #expect(throws: IdentityError(.keyFile, "open development issuer", "there is no private key in PEM without a pass phrase")) { try open() }
    }

    @Test func `cannot be made where a file stands`() throws {
        try folder.write("x", to: "file")
        #expect(throws: IdentityError.self) {
            try DevelopmentIssuer(directory: folder.path("file"), issuer: "i", audience: "a")
        }
    }
}
