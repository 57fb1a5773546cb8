/// A public RSA key of 2,048 to 8,192 bits. As safe to share between threads as `P256PublicKey`, for the same reason.
package final class RSAPublicKey: Sendable {
    /// Big-endian, without leading zeros.
    package let modulus: [UInt8]
    package let exponent: [UInt8]
    private let handle: KeyHandle

    /// The least that SP 800-131A still allows and RFC 7518 section 3.3 demands.
    package static let minimumBits = 2_048
    /// A larger key is an attack on our time: one verification of 8,192 bits already costs ten of 2,048.
    package static let maximumBits = 8_192

    /// From big-endian numbers, as in a JWK (RFC 7518 section 6.3.1): no leading zeros.
    ///
    /// - Throws: `malformed`, `weakKey`.
    package init(modulus: [UInt8], exponent: [UInt8]) throws(CryptographyError) {
        let operation = "read RSA key"
        guard let top = modulus.first, top != 0, let first = exponent.first, first != 0, let last = exponent.last else {
            throw CryptographyError(.malformed, operation, "modulus or exponent is empty or has a leading zero")
        }
        let bits = modulus.count * 8 - top.leadingZeroBitCount
        guard (Self.minimumBits...Self.maximumBits).contains(bits), modulus.last.map({ $0 & 1 }) == 1 else {
            throw CryptographyError(.weakKey, operation, "the modulus is not odd and of 2,048 to 8,192 bits")
        }
        // At most 64 bits: OpenSSL takes no more for large keys either, and 65,537 is what people use.
        guard exponent.count <= 8, last & 1 == 1, exponent != [1] else {
            throw CryptographyError(.weakKey, operation, "the exponent is not an odd number from 3 of at most 64 bits")
        }
        handle = try KeyHandle.rsa(modulus: modulus, exponent: exponent, operation: operation)
        self.modulus = modulus
        self.exponent = exponent
    }

    /// From SubjectPublicKeyInfo in DER (RFC 3279 section 2.3.1).
    ///
    /// - Throws: `malformed`, `wrongKeyType`, `weakKey`.
    package convenience init(spki: [UInt8]) throws(CryptographyError) {
        let operation = "read RSA key"
        let info = try SubjectPublicKeyInfo(spki, operation: operation)
        guard info.algorithm == SubjectPublicKeyInfo.rsa else {
            throw CryptographyError(.wrongKeyType, operation, "the key is not an RSA key")
        }
        var parameters = info.parameters
        guard let null = parameters.read(DERReader.null), null.isEmpty, parameters.isAtEnd else {
            throw CryptographyError(.malformed, operation, "the parameters of an RSA key are NULL")
        }
        var outer = DERReader(info.key)
        guard let content = outer.read(DERReader.sequence), outer.isAtEnd else {
            throw CryptographyError(.malformed, operation, "the key is not one RSAPublicKey in DER")
        }
        var inner = DERReader(content)
        guard let modulus = inner.readUnsigned(), let exponent = inner.readUnsigned(), inner.isAtEnd else {
            throw CryptographyError(.malformed, operation, "the key is not one RSAPublicKey in DER")
        }
        try self.init(modulus: Array(modulus), exponent: Array(exponent))
    }

    /// RSASSA-PKCS1-v1_5 with SHA-256 (RFC 8017 section 8.2.2).
    ///
    /// - Throws: `library` when OpenSSL fails; a signature that is wrong in whatever way is false.
    package func verify(signature: [UInt8], message: [UInt8]) throws(CryptographyError) -> Bool {
        guard signature.count == modulus.count else { return false }
        return try handle.verify(digest: sha256(message), signature: signature, scheme: .rsaPKCS1SHA256)
    }
}
