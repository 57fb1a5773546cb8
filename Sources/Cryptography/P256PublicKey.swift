/// A public key of the named curve P-256 (prime256v1, secp256r1). A value that exists is a point on the curve.
///
/// One object may verify on any number of threads at once: it holds one immutable OpenSSL key, and threads that meet use contexts of
/// their own.
package final class P256PublicKey: Sendable {
    /// SubjectPublicKeyInfo (RFC 5480 section 2) in DER: always these 91 bytes, named curve, uncompressed point.
    package let spki: [UInt8]
    private let handle: KeyHandle

    /// From SubjectPublicKeyInfo in DER.
    ///
    /// - Throws: `malformed`, `wrongKeyType`, `wrongCurve`, `explicitCurve`, `pointForm`, `pointAtInfinity`, `pointNotOnCurve`.
    package convenience init(spki: [UInt8]) throws(CryptographyError) {
        let operation = "read P-256 key"
        let info = try SubjectPublicKeyInfo(spki, operation: operation)
        guard info.algorithm == SubjectPublicKeyInfo.ellipticCurve else {
            throw CryptographyError(.wrongKeyType, operation, "the key is not an elliptic curve key")
        }
        var parameters = info.parameters
        if parameters.nextTag == DERReader.sequence {
            throw CryptographyError(.explicitCurve, operation, "the curve is spelled out, not named")
        }
        guard let curve = parameters.read(DERReader.objectIdentifier), parameters.isAtEnd else {
            throw CryptographyError(.malformed, operation, "the curve is not named by one object identifier")
        }
        guard Array(curve) == Self.curveIdentifier else { throw CryptographyError(.wrongCurve, operation, "the curve is not P-256") }
        try self.init(point: info.key, operation: operation)
    }

    /// From a PEM block `PUBLIC KEY`.
    ///
    /// - Throws: as `init(spki:)`.
    package convenience init(pem: String) throws(CryptographyError) {
        try self.init(spki: PEM.decode(pem, label: "PUBLIC KEY", operation: "read P-256 key"))
    }

    /// From the coordinates of a JWK (RFC 7518 section 6.2.1), big-endian, 32 bytes each.
    ///
    /// - Throws: `malformed`, `pointNotOnCurve`.
    package convenience init(x: [UInt8], y: [UInt8]) throws(CryptographyError) {
        let operation = "read P-256 key"
        guard x.count == 32, y.count == 32 else { throw CryptographyError(.malformed, operation, "a coordinate of P-256 has 32 bytes") }
        try self.init(point: [4] + x + y, operation: operation)
    }

    init(point: [UInt8], operation: String) throws(CryptographyError) {
        switch point.first {
        case 0 where point.count == 1:
            throw CryptographyError(.pointAtInfinity, operation, "the point at infinity is no public key")
        case 2, 3, 6, 7:
            throw CryptographyError(.pointForm, operation, "the point is compressed or hybrid; it must be uncompressed")
        case 4 where point.count == 65:
            break
        default:
            throw CryptographyError(.malformed, operation, "the point is not 65 bytes, uncompressed")
        }
        handle = try KeyHandle.p256(point: point, operation: operation)
        spki = Self.spkiPrefix + point
    }

    package var pem: String { PEM.encode(spki, label: "PUBLIC KEY") }
    package var x: [UInt8] { Array(spki[27..<59]) }
    package var y: [UInt8] { Array(spki[59..<91]) }

    /// ECDSA with SHA-256; the signature in DER, and nothing that only BER would allow.
    ///
    /// - Throws: `library` when OpenSSL fails; a signature that is wrong in whatever way is false.
    package func verify(der signature: [UInt8], message: [UInt8]) throws(CryptographyError) -> Bool {
        guard ECDSASignature(der: signature) != nil else { return false }
        // DER has one form for each signature: what was read strictly is what would be written.
        return try handle.verify(digest: sha256(message), signature: signature, scheme: .ecdsa)
    }

    /// ECDSA with SHA-256; the signature as r || s, 64 bytes.
    ///
    /// - Throws: as `verify(der:message:)`.
    package func verify(raw signature: [UInt8], message: [UInt8]) throws(CryptographyError) -> Bool {
        guard let signature = ECDSASignature(raw: signature) else { return false }
        return try handle.verify(digest: sha256(message), signature: signature.der, scheme: .ecdsa)
    }

    /// For a signature of which only the bytes are known: 64 bytes that are not DER are r || s, all else must be DER.
    ///
    /// - Throws: as `verify(der:message:)`.
    package func verify(eitherForm signature: [UInt8], message: [UInt8]) throws(CryptographyError) -> Bool {
        if signature.count == 64, !ECDSASignature.isDER(signature) { return try verify(raw: signature, message: message) }
        return try verify(der: signature, message: message)
    }

    /// 1.2.840.10045.3.1.7
    private static let curveIdentifier: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
    private static let spkiPrefix: [UInt8] =
        [0x30, 0x59, 0x30, 0x13, 0x06, 0x07] + SubjectPublicKeyInfo.ellipticCurve + [0x06, 0x08] + curveIdentifier + [0x03, 0x42, 0x00]
}
