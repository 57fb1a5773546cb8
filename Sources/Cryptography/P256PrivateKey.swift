/// A private key of P-256 with its public half. For issuers and tests: the router itself only verifies.
package final class P256PrivateKey: Sendable {
    package let publicKey: P256PublicKey
    private let handle: KeyHandle

    /// A new key.
    ///
    /// - Throws: `library` when OpenSSL fails.
    package convenience init() throws(CryptographyError) {
        try self.init(handle: KeyHandle.generateP256())
    }

    /// From PEM: `EC PRIVATE KEY` (SEC 1, RFC 5915) or `PRIVATE KEY` (PKCS #8, RFC 5958), without a pass phrase.
    ///
    /// - Throws: `malformed`, `wrongKeyType`, `wrongCurve`, `explicitCurve`, `library`.
    package convenience init(pem: String) throws(CryptographyError) {
        let operation = "read private key"
        let handle = try KeyHandle.privateKey(pem: pem)
        guard handle.isEllipticCurve else { throw CryptographyError(.wrongKeyType, operation, "the key is not an elliptic curve key") }
        guard handle.isNamedCurve else { throw CryptographyError(.explicitCurve, operation, "the curve is spelled out, not named") }
        guard handle.groupName == KeyHandle.curveName else { throw CryptographyError(.wrongCurve, operation, "the curve is not P-256") }
        guard try handle.isConsistentPair() else {
            throw CryptographyError(.malformed, operation, "the private and the public half do not belong together")
        }
        try self.init(handle: handle)
    }

    private init(handle: KeyHandle) throws(CryptographyError) {
        self.handle = handle
        publicKey = try P256PublicKey(point: handle.publicPoint(), operation: "read private key")
    }

    /// PKCS #8 in PEM, not encrypted: whoever writes it to a file guards the file.
    ///
    /// - Throws: `library` when OpenSSL fails.
    package func pem() throws(CryptographyError) -> String { try handle.privatePEM() }

    /// ECDSA with SHA-256, in DER. Randomised: two signatures over one message differ.
    ///
    /// - Throws: `library` when OpenSSL fails.
    package func sign(_ message: [UInt8]) throws(CryptographyError) -> [UInt8] {
        try handle.sign(digest: sha256(message))
    }

    /// ECDSA with SHA-256, as r || s of 64 bytes.
    ///
    /// - Throws: `library` when OpenSSL fails.
    package func signRaw(_ message: [UInt8]) throws(CryptographyError) -> [UInt8] {
        guard let signature = ECDSASignature(der: try sign(message)) else {
            preconditionFailure("OpenSSL's own signatures are DER.")
        }
        return signature.raw
    }
}
