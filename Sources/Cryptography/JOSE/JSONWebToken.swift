/// The claims of a token (JWT, RFC 7519) whose signature has been proven. Whether they suffice and hold now is for the reader to decide.
package struct JSONWebToken: Sendable {
    package let keyName: KeyName
    package let issuer: String?
    package let subject: String?
    /// `aud`, whether it was one string or an array of them.
    package let audience: [String]
    /// `exp`, `nbf` and `iat` in milliseconds since the epoch.
    package let expiresAt: Int64?
    package let notBefore: Int64?
    package let issuedAt: Int64?
    package let claims: [String: JOSEValue]

    /// Verifies the signature, then reads the registered claims (section 4.1); one of the wrong type is refused.
    ///
    /// The `typ` header, if there, must be `JWT` or `at+jwt` (RFC 9068): so no signed message of another purpose by the same issuer
    /// passes for a token (RFC 8725 section 3.11). Nested tokens (`cty`) are refused.
    ///
    /// - Throws: `malformed`, `unknownKey`, `signatureInvalid`; `library` when OpenSSL fails.
    package init(_ signed: JSONWebSignature, verifiedWith keys: JSONWebKeySet) throws(CryptographyError) {
        let operation = "read token"
        if let type = signed.header["typ"] {
            var name = type.string?.lowercased() ?? ""
            if name.hasPrefix("application/") { name.removeFirst("application/".count) }
            guard name == "jwt" || name == "at+jwt" else { throw CryptographyError(.malformed, operation, "its typ is not that of a token") }
        }
        guard signed.header["cty"] == nil else { throw CryptographyError(.malformed, operation, "it is nested") }
        guard let claims = try JOSEValue(parsing: signed.verify(with: keys)).object else {
            throw CryptographyError(.malformed, operation, "its claims are not a JSON object")
        }
        keyName = signed.keyName
        issuer = try Self.claim("iss", of: claims, as: \.string)
        subject = try Self.claim("sub", of: claims, as: \.string)
        audience = try Self.claim("aud", of: claims) { value in value.string.map { [$0] } ?? value.strings } ?? []
        expiresAt = try Self.claim("exp", of: claims, as: \.millisecondsSinceEpoch)
        notBefore = try Self.claim("nbf", of: claims, as: \.millisecondsSinceEpoch)
        issuedAt = try Self.claim("iat", of: claims, as: \.millisecondsSinceEpoch)
        self.claims = claims
    }

    /// A token signed with ES256.
    ///
    /// - Throws: `library` when OpenSSL fails.
    package static func sign(claims: [String: JOSEValue], key: P256PrivateKey, keyID: String) throws(CryptographyError) -> String {
        try JSONWebSignature.sign(Array(JOSEValue.object(claims).json.utf8), type: "JWT", key: key, keyID: keyID)
    }

    /// Nil when the claim is absent.
    private static func claim<Value>(
        _ name: String,
        of claims: [String: JOSEValue],
        as read: (JOSEValue) -> Value?
    ) throws(CryptographyError) -> Value? {
        guard let raw = claims[name] else { return nil }
        guard let value = read(raw) else { throw CryptographyError(.malformed, "read token", "its claim \(name) has the wrong type") }
        return value
    }
}
