/// The algorithms of RFC 7518 section 3.1 that are taken, and no other: not `none`, no HMAC (a public key would be its secret).
package enum SignatureAlgorithm: String, Sendable, Hashable {
    case rs256 = "RS256"
    case es256 = "ES256"
}

/// A public key together with the one algorithm it may be used for (RFC 8725 section 3.1).
package enum VerificationKey: Sendable {
    case rs256(RSAPublicKey)
    case es256(P256PublicKey)

    package var algorithm: SignatureAlgorithm {
        switch self {
        case .rs256: .rs256
        case .es256: .es256
        }
    }

    /// SHA-256 over the key's own numbers: the same for the same key, whatever its `kid`.
    package var thumbprint: [UInt8] {
        switch self {
        case .rs256(let key): sha256([UInt8(ascii: "R")] + key.exponent + [0] + key.modulus)
        case .es256(let key): sha256([UInt8(ascii: "E")] + key.spki)
        }
    }
}

/// What names a key: its `kid` and the algorithm. RFC 7517 section 4.5 lets keys of different types share a `kid`.
package struct KeyName: Hashable, Sendable {
    package let id: String
    package let algorithm: SignatureAlgorithm

    package init(id: String, algorithm: SignatureAlgorithm) {
        self.id = id
        self.algorithm = algorithm
    }
}

/// The keys of an issuer (JWK Set, RFC 7517) that can verify RS256 or ES256.
///
/// Keys that cannot be used are skipped, as section 5 asks, and listed with the reason: no `kid`, another `kty`, `alg`, `use` or
/// `key_ops`, a weak or broken key, a private part. Two different keys of one name are both skipped: nobody could say which is meant.
package struct JSONWebKeySet: Sendable {
    package struct Entry: Sendable {
        package let key: VerificationKey
        package let thumbprint: [UInt8]
    }

    package struct Skipped: Sendable, Equatable {
        package let keyID: String?
        package let reason: String
    }

    package private(set) var keys: [KeyName: Entry] = [:]
    package private(set) var skipped: [Skipped] = []

    /// More than any issuer has, and few enough that a hostile file costs little.
    package static let maximumKeys = 100

    /// From the JSON text of a JWK Set.
    ///
    /// - Throws: `malformed` when the text is no JWK Set at all; `library` when OpenSSL fails.
    package init(json: [UInt8]) throws(CryptographyError) {
        let operation = "read key set"
        guard let list = try JOSEValue(parsing: json).object?["keys"]?.array else {
            throw CryptographyError(.malformed, operation, "there is no member keys with an array")
        }
        guard list.count <= Self.maximumKeys else {
            throw CryptographyError(.malformed, operation, "there are more than \(Self.maximumKeys) keys")
        }
        var ambiguous: Set<KeyName> = []
        for value in list {
            let keyID = value.object?["kid"]?.string
            switch try Self.key(of: value) {
            case .unusable(let reason): skipped.append(Skipped(keyID: keyID, reason: reason))
            case .usable(let name, let key):
                let entry = Entry(key: key, thumbprint: key.thumbprint)
                if let first = keys[name], first.thumbprint != entry.thumbprint { ambiguous.insert(name) }
                keys[name] = entry
            }
        }
        for name in ambiguous {
            keys[name] = nil
            skipped.append(Skipped(keyID: name.id, reason: "different keys of one kid and algorithm"))
        }
    }

    package subscript(name: KeyName) -> Entry? { keys[name] }

    /// A JWK Set with one ES256 key (RFC 7517 section 5).
    package static func json(publishing key: P256PublicKey, keyID: String) -> String {
        let members: [String: JOSEValue] = [
            "kty": .string("EC"), "crv": .string("P-256"), "alg": .string("ES256"), "use": .string("sig"), "kid": .string(keyID),
            "x": .string(Base64.url.encode(key.x)), "y": .string(Base64.url.encode(key.y)),
        ]
        return JOSEValue.object(["keys": .array([.object(members)])]).json
    }

    private enum Reading {
        case usable(KeyName, VerificationKey)
        case unusable(String)
    }

    private static func key(of value: JOSEValue) throws(CryptographyError) -> Reading {
        guard let members = value.object else { return .unusable("not an object") }
        guard let keyID = members["kid"]?.string, !keyID.isEmpty else { return .unusable("no kid") }
        if let use = members["use"], use != .string("sig") { return .unusable("use is not sig") }
        if let operations = members["key_ops"], operations.array?.contains(.string("verify")) != true {
            return .unusable("key_ops does not have verify")
        }
        // Whoever published the private part can no longer vouch for what it signs.
        guard members["d"] == nil else { return .unusable("the private part is published") }
        do {
            switch members["kty"]?.string {
            case "EC":
                if let algorithm = members["alg"], algorithm != .string("ES256") { return .unusable("alg is not ES256") }
                guard members["crv"]?.string == "P-256" else { return .unusable("crv is not P-256") }
                guard let x = bytes(members["x"]), let y = bytes(members["y"]) else { return .unusable("x or y is not base64url") }
                return .usable(KeyName(id: keyID, algorithm: .es256), .es256(try P256PublicKey(x: x, y: y)))
            case "RSA":
                if let algorithm = members["alg"], algorithm != .string("RS256") { return .unusable("alg is not RS256") }
                guard let n = bytes(members["n"]), let e = bytes(members["e"]) else { return .unusable("n or e is not base64url") }
                return .usable(KeyName(id: keyID, algorithm: .rs256), .rs256(try RSAPublicKey(modulus: n, exponent: e)))
            default:
                return .unusable("kty is neither EC nor RSA")
            }
        } catch {
            guard error.code != .openSSL else { throw error }
            return .unusable(error.message)
        }
    }

    private static func bytes(_ value: JOSEValue?) -> [UInt8]? {
        value?.string.flatMap { Base64.url.decode($0) }
    }
}
