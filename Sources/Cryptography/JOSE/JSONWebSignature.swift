/// A signed message in compact serialization (JWS, RFC 7515 section 3.1), taken apart but not yet verified: its payload is handed out
/// only by `verify(with:)`.
///
/// Of the header only `alg` and `kid` decide anything, and both only choose among keys that we already trust: an embedded `jwk`, `jku`,
/// `x5c` or `x5u` is never looked at. A `crit` header is refused, since no extension is understood here (section 4.1.11).
package struct JSONWebSignature: Sendable {
    package let keyName: KeyName
    /// The whole header, for what stands above this layer (`typ`, `cty`).
    package let header: [String: JOSEValue]
    private let signingInput: [UInt8]
    private let payload: [UInt8]
    private let signature: [UInt8]

    /// Twice what proxies allow for all header fields together; a longer text is refused unread.
    package static let maximumLengthBytes = 16_384

    /// - Throws: `malformed`; `unsupportedAlgorithm` for every `alg` but RS256 and ES256; `unknownKey` when there is no `kid`.
    package init(compact: String) throws(CryptographyError) {
        let operation = "read signed message"
        let bytes = Array(compact.utf8)
        guard bytes.count <= Self.maximumLengthBytes else { throw CryptographyError(.malformed, operation, "it is too long") }
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw CryptographyError(.malformed, operation, "it does not have three parts") }
        guard let headerBytes = Base64.url.decode(Array(parts[0])), let payload = Base64.url.decode(Array(parts[1])),
            let signature = Base64.url.decode(Array(parts[2]))
        else { throw CryptographyError(.malformed, operation, "a part is not base64url without padding") }
        guard let header = try JOSEValue(parsing: headerBytes).object else {
            throw CryptographyError(.malformed, operation, "its header is not a JSON object")
        }
        guard let algorithm = header["alg"]?.string.flatMap(SignatureAlgorithm.init(rawValue:)) else {
            throw CryptographyError(.unsupportedAlgorithm, operation, "its alg is neither RS256 nor ES256")
        }
        guard header["crit"] == nil else { throw CryptographyError(.malformed, operation, "its header has crit") }
        guard let keyID = header["kid"]?.string, !keyID.isEmpty else {
            throw CryptographyError(.unknownKey, operation, "its header has no kid")
        }
        keyName = KeyName(id: keyID, algorithm: algorithm)
        self.header = header
        self.payload = payload
        self.signature = signature
        signingInput = Array(bytes[..<parts[1].endIndex])
    }

    /// The payload, proven by the key of that name in the set.
    ///
    /// - Throws: `unknownKey`, `signatureInvalid`; `library` when OpenSSL fails.
    package func verify(with keys: JSONWebKeySet) throws(CryptographyError) -> [UInt8] {
        let operation = "verify signed message"
        guard let entry = keys[keyName] else { throw CryptographyError(.unknownKey, operation, "its kid and alg name no known key") }
        let isValid =
            switch entry.key {
            case .rs256(let key): try key.verify(signature: signature, message: signingInput)
            case .es256(let key): try key.verify(raw: signature, message: signingInput)
            }
        guard isValid else { throw CryptographyError(.signatureInvalid, operation, "its signature is wrong") }
        return payload
    }

    /// Signs with ES256 (RFC 7518 section 3.4).
    ///
    /// - Throws: `library` when OpenSSL fails.
    package static func sign(
        _ payload: [UInt8],
        type: String? = nil,
        key: P256PrivateKey,
        keyID: String
    ) throws(CryptographyError) -> String {
        var header: [String: JOSEValue] = ["alg": .string(SignatureAlgorithm.es256.rawValue), "kid": .string(keyID)]
        if let type { header["typ"] = .string(type) }
        let input = Base64.url.encode(Array(JOSEValue.object(header).json.utf8)) + "." + Base64.url.encode(payload)
        return input + "." + Base64.url.encode(try key.signRaw(Array(input.utf8)))
    }
}
