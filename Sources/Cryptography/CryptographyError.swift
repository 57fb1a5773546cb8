/// What went wrong at the edge to OpenSSL, or with bytes that should have been a key, a key set or a token.
///
/// `message` never holds key material, a signature or a token: it may be logged and shown.
package struct CryptographyError: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Code: String, Sendable {
        /// Not the encoding it should be: PEM, DER, base64, JSON or compact serialization.
        case malformed
        /// A well-formed key of another kind than the one wanted.
        case wrongKeyType = "wrong_key_type"
        /// An elliptic curve key, but not one of the named curve P-256.
        case wrongCurve = "wrong_curve"
        /// The curve is spelled out instead of named (a door for forged parameters, CVE-2020-0601).
        case explicitCurve = "explicit_curve"
        /// A point in compressed or hybrid form.
        case pointForm = "point_form"
        /// The point at infinity, which is nobody's public key.
        case pointAtInfinity = "point_at_infinity"
        /// Coordinates that do not lie on P-256.
        case pointNotOnCurve = "point_not_on_curve"
        /// An RSA key of fewer than 2,048 or more than 8,192 bits, or with an exponent that nobody should use.
        case weakKey = "weak_key"
        /// A JOSE algorithm other than RS256 and ES256.
        case unsupportedAlgorithm = "unsupported_algorithm"
        /// No key of that `kid` for that `alg` in the set.
        case unknownKey = "unknown_key"
        /// The signature does not fit the message and the key.
        case signatureInvalid = "signature_invalid"
        /// OpenSSL itself failed (memory, entropy, a missing provider).
        case openSSL = "library"
    }

    package let code: Code
    package let operation: String
    package let message: String

    package init(_ code: Code, _ operation: String, _ message: String) {
        self.code = code
        self.operation = operation
        self.message = message
    }

    package var description: String { "\(operation): \(message) (\(code.rawValue))" }
}
