import Foundation
import Testing

@testable import Cryptography

/// The vectors of Project Wycheproof: thousands of ways in which others got signatures wrong. The files are not part of this
/// repository; `ORDER_ROUTER_WYCHEPROOF` names their folder, or it lies as `shared/wycheproof` beside a parent of this package.
@Suite struct `The vectors of Wycheproof` {
    struct Vectors: Decodable {
        let numberOfTests: Int
        let testGroups: [Group]
    }

    struct Group: Decodable {
        let publicKeyDer: String?
        let tests: [Vector]
    }

    struct Vector: Decodable {
        let tcId: Int
        let comment: String
        let msg: String?
        let sig: String?
        let jws: String?
        let result: String
    }

    private static func bytes(of file: String) throws -> [UInt8]? {
        var candidates: [URL] = []
        if let named = ProcessInfo.processInfo.environment["ORDER_ROUTER_WYCHEPROOF"] { candidates.append(URL(filePath: named)) }
        var parent = URL(filePath: #filePath)
        while parent.path != "/" {
            parent.deleteLastPathComponent()
            candidates.append(parent.appending(path: "shared/wycheproof"))
        }
        for folder in candidates {
            let path = folder.appending(path: file)
            if FileManager.default.fileExists(atPath: path.path) { return [UInt8](try Data(contentsOf: path)) }
        }
        print("Wycheproof: \(file) is not here; its vectors did not run.")
        return nil
    }

    private func verdicts(of file: String, judge: (P256PublicKey, [UInt8], [UInt8]) throws -> Bool) throws -> Int? {
        guard let bytes = try Self.bytes(of: file) else { return nil }
        let vectors = try JSONDecoder().decode(Vectors.self, from: Data(bytes))
        var count = 0
        for group in vectors.testGroups {
            let key = try P256PublicKey(spki: hex(try #require(group.publicKeyDer)))
            for vector in group.tests {
                // None of these files has the verdict "acceptable"; it would fail here.
                #expect(["valid", "invalid"].contains(vector.result))
                let verdict = try judge(key, hex(try #require(vector.sig)), hex(try #require(vector.msg)))
                #expect(verdict == (vector.result == "valid"), "\(file) \(vector.tcId): \(vector.comment)")
                count += 1
            }
        }
        #expect(count == vectors.numberOfTests)
        print("Wycheproof: \(count) vectors of \(file) ran.")
        return count
    }

    @Test func `for DER signatures get the right verdict`() throws {
        let file = "ecdsa_secp256r1_sha256_test.json"
        guard let count = try verdicts(of: file, judge: { try $0.verify(der: $1, message: $2) }) else { return }
        #expect(count == 484)
        _ = try verdicts(of: file) { try $0.verify(eitherForm: $1, message: $2) }
    }

    @Test func `for raw signatures get the right verdict`() throws {
        let file = "ecdsa_secp256r1_sha256_p1363_test.json"
        guard let count = try verdicts(of: file, judge: { try $0.verify(raw: $1, message: $2) }) else { return }
        #expect(count == 262)
        _ = try verdicts(of: file) { try $0.verify(eitherForm: $1, message: $2) }
    }

    @Test func `for JSON Web Signatures get the right verdict`() throws {
        guard let bytes = try Self.bytes(of: "json_web_signature_test.json") else { return }
        let groups = try #require(try JOSEValue(parsing: bytes).object?["testGroups"]?.array)
        var count = 0
        var accepted = 0
        for group in groups {
            let key = try #require(group.object?["public"] ?? group.object?["private"])
            let keys = try JSONWebKeySet(json: Array(JOSEValue.object(["keys": .array([key])]).json.utf8))
            for vector in try #require(group.object?["tests"]?.array) {
                let fields = try #require(vector.object)
                let compact = try #require(fields["jws"]?.string)
                // What other algorithms sign is valid there and refused here.
                let wanted = fields["result"] == .string("valid") && Self.isTakenHere(compact)
                var verdict = false
                do throws(CryptographyError) {
                    _ = try JSONWebSignature(compact: compact).verify(with: keys)
                    verdict = true
                } catch {
                    #expect(error.code != .openSSL)
                }
                #expect(verdict == wanted, "\(fields["tcId"]?.json ?? ""): \(fields["comment"]?.json ?? "")")
                count += 1
                if verdict { accepted += 1 }
            }
        }
        #expect(count == 401)
        #expect(accepted == 10)
        print("Wycheproof: \(count) vectors of json_web_signature_test.json ran, \(accepted) accepted.")
    }

    private static func isTakenHere(_ compact: String) -> Bool {
        let header = Base64.url.decode(String(compact.prefix { $0 != "." })) ?? []
        let text = String(decoding: header, as: UTF8.self)
        return text.contains("\"RS256\"") || text.contains("\"ES256\"")
    }
}
