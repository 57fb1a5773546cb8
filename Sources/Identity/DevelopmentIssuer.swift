import Cryptography
import Foundation
package import Trading

/// An issuer of tokens for development and tests: one ES256 key in a directory, with the key set that makes a router trust it.
///
/// Whoever reads the directory can make any token. Production has an issuer of its own.
package struct DevelopmentIssuer: Sendable {
    /// The path of the JWK Set, to be given to the router.
    package let keySetPath: String
    package let keyID: String
    private let key: P256PrivateKey
    private let issuer: String
    private let audience: String

    private static let operation = "open development issuer"

    /// Opens the issuer in the directory, or makes directory, key and key set when they are not there. Safe to run by two at once: the
    /// first to place its key wins.
    ///
    /// - Parameters:
    ///   - issuer: the `iss` of its tokens.
    ///   - audience: the `aud` of its tokens.
    /// - Throws: `keyFile` when the key file is open to others than its owner, holds no P-256 key, or cannot be read or written.
    package init(directory: String, issuer: String, audience: String) throws(IdentityError) {
        self.issuer = issuer
        self.audience = audience
        let folder = URL(filePath: directory, directoryHint: .isDirectory)
        let keyFile = folder.appending(path: "issuer-key.pem")
        let keySetFile = folder.appending(path: "jwks.json")
        do {
            if !FileManager.default.fileExists(atPath: folder.path) {
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            }
            if !FileManager.default.fileExists(atPath: keyFile.path) { try Self.placeNewKey(at: keyFile, in: folder) }
            key = try Self.readKey(keyFile)
            keyID = String(Base64.url.encode(sha256(key.publicKey.spki)).prefix(16))
            keySetPath = keySetFile.path
            let keySet = Data(JSONWebKeySet.json(publishing: key.publicKey, keyID: keyID).utf8)
            if try !FileManager.default.fileExists(atPath: keySetPath) || Data(contentsOf: keySetFile) != keySet {
                // Atomic: a router that reads at this moment sees the old set or the new one. There is no secret in it.
                try keySet.write(to: keySetFile, options: .atomic)
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: keySetPath)
            }
        } catch let error as IdentityError {
            throw error
        } catch let error as CryptographyError {
            throw IdentityError(.keyFile, Self.operation, error.message)
        } catch {
            throw IdentityError(.keyFile, Self.operation, error.localizedDescription)
        }
    }

    /// A token for the accounts and scopes.
    ///
    /// - Parameters:
    ///   - lifetime: from `now` to its `exp`, in whole seconds (what is less is dropped).
    ///   - now: milliseconds since the epoch.
    /// - Throws: `library` when OpenSSL fails.
    package func issue(
        subject: String,
        accounts: [AccountID],
        scopes: Set<Scope>,
        lifetime: Duration,
        now: Int64
    ) throws -> String {
        let issuedAt = now / 1_000
        let claims: [String: JOSEValue] = [
            "iss": .string(issuer), "aud": .string(audience), "sub": .string(subject),
            "iat": .number(String(issuedAt)), "exp": .number(String(issuedAt + lifetime.components.seconds)),
            "jti": .string(Base64.url.encode(try randomBytes(count: 16))),
            "accounts": .array(accounts.map { .string($0.text) }),
            "scope": .string(scopes.map(\.rawValue).sorted().joined(separator: " ")),
        ]
        return try JSONWebToken.sign(claims: claims, key: key, keyID: keyID)
    }

    /// Writes a new key aside and links it to its name, which fails if another process was faster: then that one's key is used.
    private static func placeNewKey(at keyFile: URL, in folder: URL) throws {
        try inPrivateFolder(within: folder) { temporary in
            let file = temporary.appending(path: "key.pem")
            try Data(P256PrivateKey().pem().utf8).write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
            do {
                try FileManager.default.linkItem(at: file, to: keyFile)
            } catch {
                guard FileManager.default.fileExists(atPath: keyFile.path) else { throw error }
            }
        }
    }

    private static func readKey(_ file: URL) throws -> P256PrivateKey {
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        guard let mode, mode & 0o077 == 0 else {
            throw IdentityError(.keyFile, operation, "the key file is open to others than its owner; its mode must be 0600")
        }
        return try P256PrivateKey(pem: String(contentsOf: file, encoding: .utf8))
    }

    /// A folder that only its owner enters: what is written there is never seen by others, not even before its mode is set.
    private static func inPrivateFolder(within folder: URL, _ work: (URL) throws -> Void) throws {
        let temporary = folder.appending(path: ".new-" + Base64.url.encode(try randomBytes(count: 12)))
        try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        do {
            try work(temporary)
        } catch {
            // The first error says more than one about clearing up.
            try? FileManager.default.removeItem(at: temporary)
            throw error
        }
        try FileManager.default.removeItem(at: temporary)
    }
}
