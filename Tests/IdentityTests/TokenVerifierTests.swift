import Cryptography
import Foundation
import Testing
import Trading

@testable import Identity

private let nowMs = TestKey.now * 1_000

@Suite struct `A bearer token` {
    let folder: TemporaryFolder
    let key: TestKey
    let test: SourceUnderTest
    let verifier: TokenVerifier

    init() async throws {
        folder = try TemporaryFolder()
        key = try TestKey("k1")
        try folder.write(TestKey.keySet([key]), to: "jwks.json")
        test = try SourceUnderTest(folder.path("jwks.json"))
        try await test.source.load()
        verifier = TokenVerifier(settings: .init(issuer: TestKey.issuer, audience: TestKey.audience), source: test.source)
    }

    private func verdict(_ changes: [String: JOSEValue] = [:], without absent: Set<String> = [], now: Int64 = nowMs) async throws -> TokenVerdict {
        await verifier.verify(try key.token(changes, without: absent), now: now)
    }

    private func principal(_ changes: [String: JOSEValue] = [:], without absent: Set<String> = [], now: Int64 = nowMs) async throws -> Principal? {
        if case .principal(let principal) = try await verdict(changes, without: absent, now: now) { principal } else { nil }
    }

    private func detail(_ changes: [String: JOSEValue] = [:], without absent: Set<String> = [], now: Int64 = nowMs) async throws -> String? {
        if case .refused(.invalid(let detail)) = try await verdict(changes, without: absent, now: now) { detail } else { nil }
    }

    @Test func `names its principal`() async throws {
        let accounts = Set(["acc_1", "acc_2"].compactMap { AccountID($0) })
        let expected = Principal(subject: "trader-1", accounts: accounts, scopes: [.ordersRead, .ordersWrite], expiresAt: nowMs + 3_630_000)
        #expect(try await principal() == expected)
    }

    @Test func `may do without sub, accounts and scope, and then has no rights`() async throws {
        let expected = Principal(subject: nil, accounts: [], scopes: [], expiresAt: nowMs + 3_630_000)
        #expect(try await principal(without: ["sub", "accounts", "scope"]) == expected)
    }

    @Test func `carries every scope by its word and passes over words of others`() async throws {
        let all = "openid orders:read orders:write credentials:write market:read market:delayed operator  Orders:Read orders"
        #expect(try await principal(["scope": .string(all)])?.scopes == Set(Scope.allCases))
        #expect(try await principal(["scope": .string("")])?.scopes == [])
    }

    @Test func `may name several audiences`() async throws {
        #expect(try await principal(["aud": .array([.string("other"), .string(TestKey.audience)])]) != nil)
    }

    @Test func `without a required claim or with a wrong one is refused`() async throws {
        #expect(try await detail(without: ["iss"]) == "its iss is not ours")
        #expect(try await detail(["iss": .string("https://issuer.example/")]) == "its iss is not ours")
        #expect(try await detail(without: ["aud"]) == "its aud does not name us")
        #expect(try await detail(["aud": .string("order-router-2")]) == "its aud does not name us")
        #expect(try await detail(["aud": .array([])]) == "its aud does not name us")
        #expect(try await detail(["aud": .array([.string("a"), .string("b")])]) == "its aud does not name us")
        #expect(try await detail(without: ["exp"]) == "it has no exp")
        #expect(try await detail(["exp": .string("1773651600")]) == "its claim exp has the wrong type")
        for accounts: JOSEValue in [.string("acc_1"), .array([.number("1")]), .array([.string("acc 1")]), .array([.string("")]), .object([:]), .null]
        {
            #expect(try await detail(["accounts": accounts]) == "its accounts are not an array of account ids")
        }
        #expect(try await detail(["scope": .array([.string("operator")])]) == "its scope is not a string")
    }

    @Test func `of another issuer that is expired is called invalid`() async throws {
        #expect(try await detail(["iss": .string("other"), "exp": .number("1")]) == "its iss is not ours")
    }

    @Test func `ends 30 seconds after its exp, remembered or not`() async throws {
        let exp = JOSEValue.number(String(TestKey.now))
        #expect(try await principal(["exp": exp], now: nowMs + 29_999) != nil)
        #expect(try await verdict(["exp": exp], now: nowMs + 30_000) == .refused(.expired))
        let token = try key.token(["exp": exp])
        guard case .principal(let principal) = await verifier.verify(token, now: nowMs) else {
            Issue.record("a good token was refused")
            return
        }
        #expect(principal.expiresAt == nowMs + 30_000)
        #expect(await verifier.verify(token, now: nowMs + 29_999) == .principal(principal))
        #expect(await verifier.verify(token, now: nowMs + 30_000) == .refused(.expired))
        #expect(await verifier.verify(token, now: nowMs + 30_001) == .refused(.expired))
    }

    @Test func `is not taken before its nbf and iat, but for the leeway`() async throws {
        for claim in ["nbf", "iat"] {
            #expect(try await principal([claim: .number(String(TestKey.now + 30))]) != nil)
            #expect(try await detail([claim: .number(String(TestKey.now + 31))]) == "its \(claim) is still ahead")
            #expect(try await detail([claim: .string("x")]) == "its claim \(claim) has the wrong type")
        }
    }

    @Test func `with any character changed is refused, though the true one is remembered`() async throws {
        let token = try key.token()
        let trusted = await verifier.verify(token, now: nowMs)
        var characters = Array(token.utf8)
        for index in stride(from: 0, to: characters.count, by: 7) where characters[index] != UInt8(ascii: ".") {
            let original = characters[index]
            characters[index] = original == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            let verdict = await verifier.verify(String(decoding: characters, as: UTF8.self), now: nowMs)
            guard case .refused(.invalid(let detail)) = verdict else {
                Issue.record("a changed token was taken")
                return
            }
            #expect(!token.split(separator: ".").contains { detail.contains($0) })
            characters[index] = original
        }
        #expect(await verifier.verify(token, now: nowMs) == trusted)
    }

    @Test func `signed by a stranger under our kid, unsigned, or with the public key as a secret is refused`() async throws {
        let stranger = try TestKey("k1")
        #expect(await verifier.verify(try stranger.token(), now: nowMs) == .refused(.invalid("its signature is wrong")))
        let parts = try key.token().split(separator: ".").map(String.init)
        for algorithm in ["none", "HS256", "HS512", "ES384"] {
            let header = Base64.url.encode(Array(#"{"alg":"\#(algorithm)","kid":"k1"}"#.utf8))
            for signature in ["", parts[2], Base64.url.encode(sha256(Array(key.key.publicKey.pem.utf8)))] {
                let verdict = await verifier.verify("\(header).\(parts[1]).\(signature)", now: nowMs)
                #expect(verdict == .refused(.invalid("its alg is neither RS256 nor ES256")))
            }
        }
    }

    @Test func `is not judged when there are no keys`() async throws {
        let empty = try SourceUnderTest(folder.path("absent.json"))
        let verifier = TokenVerifier(settings: .init(issuer: TestKey.issuer, audience: TestKey.audience), source: empty.source)
        #expect(await verifier.verify(try key.token(), now: nowMs) == .refused(.unavailable("the issuer's keys could not be read")))
    }

    @Test func `ends with its key, though remembered`() async throws {
        let token = try key.token()
        guard case .principal = await verifier.verify(token, now: nowMs) else {
            Issue.record("a good token was refused")
            return
        }
        let other = try TestKey("k2")
        try folder.write(TestKey.keySet([other]), to: "jwks.json")
        try await test.source.load()
        #expect(await verifier.verify(token, now: nowMs) == .refused(.invalid("its kid and alg name no known key")))
        // Another key under the old name does not revive it.
        try folder.write(TestKey.keySet([other, TestKey("k1")]), to: "jwks.json")
        try await test.source.load()
        #expect(await verifier.verify(token, now: nowMs) == .refused(.invalid("its signature is wrong")))
        guard case .principal = await verifier.verify(try other.token(), now: nowMs) else {
            Issue.record("the new key's token was refused")
            return
        }
    }

    @Test func `remembered outlives a reading that changes nothing`() async throws {
        let token = try key.token()
        let first = await verifier.verify(token, now: nowMs)
        try await test.source.load()
        #expect(await verifier.verify(token, now: nowMs) == first)
    }
}
