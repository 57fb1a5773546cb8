import Foundation
import Testing

@testable import Cryptography

private func keySet(_ members: [JOSEValue]) throws -> JSONWebKeySet {
    try JSONWebKeySet(json: Array(JOSEValue.object(["keys": .array(members)]).json.utf8))
}

private func jwk(_ key: P256PublicKey, id: String? = "k1", _ changes: [String: JOSEValue] = [:], without absent: String? = nil) -> JOSEValue {
    var members: [String: JOSEValue] = [
        "kty": .string("EC"), "crv": .string("P-256"), "x": .string(Base64.url.encode(key.x)), "y": .string(Base64.url.encode(key.y)),
    ]
    if let id { members["kid"] = .string(id) }
    members.merge(changes) { $1 }
    if let absent { members[absent] = nil }
    return .object(members)
}

private func jwk(_ key: RSAPublicKey, id: String, _ changes: [String: JOSEValue] = [:]) -> JOSEValue {
    .object(
        [
            "kty": .string("RSA"), "kid": .string(id), "n": .string(Base64.url.encode(key.modulus)), "e": .string(Base64.url.encode(key.exponent)),
        ].merging(changes) { $1 }
    )
}

private func compact(header: String, payload: String, sign: ([UInt8]) throws -> [UInt8]) rethrows -> String {
    let input = Base64.url.encode(Array(header.utf8)) + "." + Base64.url.encode(Array(payload.utf8))
    return input + "." + Base64.url.encode(try sign(Array(input.utf8)))
}

private func refusal(_ token: String, _ keys: JSONWebKeySet) -> CryptographyError.Code? {
    do throws(CryptographyError) {
        _ = try JSONWebToken(JSONWebSignature(compact: token), verifiedWith: keys)
        return nil
    } catch {
        return error.code
    }
}

@Suite struct `A key set` {
    let key: P256PublicKey
    let name = KeyName(id: "k1", algorithm: .es256)

    init() throws { key = try P256PrivateKey().publicKey }

    @Test func `that we publish is one that we read`() throws {
        let keys = try JSONWebKeySet(json: Array(JSONWebKeySet.json(publishing: key, keyID: "k1").utf8))
        #expect(keys.keys.count == 1)
        #expect(keys.skipped.isEmpty)
        guard case .es256(let read) = keys[name]?.key else {
            Issue.record("there is no ES256 key")
            return
        }
        #expect(read.spki == key.spki)
    }

    @Test func `skips keys that it cannot use and keeps the others`() throws {
        let x = JOSEValue.string(Base64.url.encode(key.x))
        let unusable: [(JOSEValue, String)] = [
            (.string("x"), "not an object"),
            (jwk(key, id: nil), "no kid"), (jwk(key, id: ""), "no kid"), (jwk(key, ["kid": .number("1")]), "no kid"),
            (jwk(key, ["use": .string("enc")]), "use is not sig"), (jwk(key, ["use": .null]), "use is not sig"),
            (jwk(key, ["key_ops": .array([.string("encrypt")])]), "key_ops does not have verify"),
            (jwk(key, ["key_ops": .string("verify")]), "key_ops does not have verify"),
            (jwk(key, ["alg": .string("ES384")]), "alg is not ES256"), (jwk(key, ["alg": .string("RS256")]), "alg is not ES256"),
            (jwk(key, ["alg": .string("HS256")]), "alg is not ES256"), (jwk(key, ["alg": .null]), "alg is not ES256"),
            (jwk(key, ["crv": .string("P-384")]), "crv is not P-256"), (jwk(key, without: "crv"), "crv is not P-256"),
            (jwk(key, ["kty": .string("oct"), "k": .string("AAAA")]), "kty is neither EC nor RSA"),
            (jwk(key, ["kty": .string("OKP")]), "kty is neither EC nor RSA"), (jwk(key, without: "kty"), "kty is neither EC nor RSA"),
            (jwk(key, without: "y"), "x or y is not base64url"), (jwk(key, ["y": .string("=")]), "x or y is not base64url"),
            (jwk(key, ["y": x]), "the point does not lie on P-256"), (jwk(key, ["y": .string("AAAA")]), "a coordinate of P-256 has 32 bytes"),
            (jwk(key, ["d": x]), "the private part is published"),
            (
                .object(["kty": .string("RSA"), "kid": .string("r"), "n": x, "e": .string("AQAB")]),
                "the modulus is not odd and of 2,048 to 8,192 bits"
            ),
            (.object(["kty": .string("RSA"), "kid": .string("r"), "n": x]), "n or e is not base64url"),
        ]
        for (value, reason) in unusable {
            let keys = try keySet([value, jwk(key, id: "good")])
            #expect(keys.skipped.map(\.reason) == [reason], "\(value.json)")
            #expect(keys.keys.map(\.key) == [KeyName(id: "good", algorithm: .es256)])
        }
    }

    @Test func `uses a key that says what it is for`() throws {
        let usable = jwk(key, ["use": .string("sig"), "alg": .string("ES256"), "key_ops": .array([.string("verify")]), "other": .null])
        #expect(try keySet([usable]).keys.count == 1)
    }

    @Test func `takes neither of two keys of one name, and one that stands twice once`() throws {
        let other = try P256PrivateKey().publicKey
        let twice = try keySet([jwk(key), jwk(key)])
        #expect(twice.keys.count == 1)
        #expect(twice.skipped.isEmpty)
        for members in [[jwk(key), jwk(other)], [jwk(key), jwk(other), jwk(key)], [jwk(key), jwk(key), jwk(other)]] {
            let ambiguous = try keySet(members)
            #expect(ambiguous.keys.isEmpty)
            #expect(ambiguous.skipped == [.init(keyID: "k1", reason: "different keys of one kid and algorithm")])
        }
    }

    @Test(arguments: ["", "[]", "{}", #"{"keys":{}}"#, #"{"keys":[],"keys":[]}"#, #"{"keys":[{"kid":"a","kid":"b"}]}"#, #"{"keys":[]}x"#])
    func `that is none is refused`(_ text: String) {
        #expect(throws: CryptographyError.self) { try JSONWebKeySet(json: Array(text.utf8)) }
    }

    @Test func `has at most 100 keys`() throws {
        #expect(try keySet([JOSEValue](repeating: .null, count: 100)).skipped.count == 100)
        #expect(throws: CryptographyError.self) { try keySet([JOSEValue](repeating: .null, count: 101)) }
    }
}

@Suite struct `A token` {
    let key: P256PrivateKey
    let keys: JSONWebKeySet
    let claims = #"{"iss":"i","sub":"s","aud":["a","b"],"exp":1773648000.5,"nbf":1,"iat":2,"more":[true]}"#

    init() throws {
        key = try P256PrivateKey()
        keys = try keySet([jwk(key.publicKey)])
    }

    private func token(header: String, claims: String? = nil) throws -> String {
        try compact(header: header, payload: claims ?? self.claims) { try key.signRaw($0) }
    }

    @Test func `is verified and its claims read`() throws {
        let signed = try JSONWebSignature(compact: token(header: #"{"alg":"ES256","kid":"k1","typ":"JWT"}"#))
        let token = try JSONWebToken(signed, verifiedWith: keys)
        #expect(token.keyName == KeyName(id: "k1", algorithm: .es256))
        #expect(token.issuer == "i")
        #expect(token.subject == "s")
        #expect(token.audience == ["a", "b"])
        #expect(token.expiresAt == 1_773_648_000_500)
        #expect(token.notBefore == 1_000)
        #expect(token.issuedAt == 2_000)
        #expect(token.claims["more"] == .array([.bool(true)]))
    }

    @Test func `signed by us is verified, and by the openssl program too`() throws {
        let text = try JSONWebToken.sign(claims: ["iss": .string("i"), "aud": .string("a")], key: key, keyID: "k1")
        let token = try JSONWebToken(JSONWebSignature(compact: text), verifiedWith: keys)
        #expect(token.audience == ["a"])
        #expect(token.expiresAt == nil)

        let openssl = try OpenSSLProgram()
        let parts = text.split(separator: ".")
        let raw = try #require(Base64.url.decode(parts[2]))
        try openssl.write("\(parts[0]).\(parts[1])", to: "input")
        try openssl.write(try #require(ECDSASignature(raw: raw)).der, to: "signature")
        try openssl.write(key.publicKey.pem, to: "public.pem")
        try openssl("dgst", "-sha256", "-verify", "public.pem", "-signature", "signature", "input")
    }

    @Test func `of RS256 that the openssl program signed is verified`() throws {
        let openssl = try OpenSSLProgram()
        try openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", "key.pem")
        let rsa = try RSAPublicKey(spki: try openssl("pkey", "-in", "key.pem", "-pubout", "-outform", "DER"))
        let text = try compact(header: #"{"alg":"RS256","kid":"r"}"#, payload: claims) { input in
            try openssl.write(input, to: "input")
            return try openssl("dgst", "-sha256", "-sign", "key.pem", "input")
        }
        let both = try keySet([jwk(rsa, id: "r", ["alg": .string("RS256")]), jwk(key.publicKey)])
        #expect(refusal(text, both) == nil)
        #expect(refusal(text, keys) == .unknownKey)
        // One kid for two types of key: the token's alg decides, and only its own key fits.
        let shared = try keySet([jwk(rsa, id: "k1"), jwk(key.publicKey, id: "k1")])
        #expect(shared.keys.count == 2)
        #expect(refusal(try token(header: #"{"alg":"ES256","kid":"k1"}"#), shared) == nil)
        #expect(refusal(try token(header: #"{"alg":"RS256","kid":"k1"}"#), shared) == .signatureInvalid)
    }

    @Test(arguments: [
        #"{"alg":"none","kid":"k1"}"#, #"{"alg":"None","kid":"k1"}"#, #"{"alg":"HS256","kid":"k1"}"#, #"{"alg":"es256","kid":"k1"}"#,
        #"{"alg":"ES384","kid":"k1"}"#, #"{"alg":"PS256","kid":"k1"}"#, #"{"alg":"EdDSA","kid":"k1"}"#, #"{"alg":"","kid":"k1"}"#, #"{"kid":"k1"}"#,
        #"{"alg":["ES256"],"kid":"k1"}"#, #"{"alg":null,"kid":"k1"}"#,
    ])
    func `of another algorithm is refused, even well signed`(_ header: String) throws {
        #expect(refusal(try token(header: header), keys) == .unsupportedAlgorithm)
    }

    @Test func `without a signature is refused`() throws {
        let unsigned = Base64.url.encode(Array(#"{"alg":"none"}"#.utf8)) + "." + Base64.url.encode(Array(claims.utf8)) + "."
        #expect(refusal(unsigned, keys) == .unsupportedAlgorithm)
        let emptied = compact(header: #"{"alg":"ES256","kid":"k1"}"#, payload: claims) { _ in [] }
        #expect(refusal(emptied, keys) == .signatureInvalid)
    }

    @Test(arguments: [
        #"{"alg":"ES256"}"#, #"{"alg":"ES256","kid":""}"#, #"{"alg":"ES256","kid":1}"#, #"{"alg":"ES256","kid":"K1"}"#,
        #"{"alg":"RS256","kid":"k1"}"#,
    ])
    func `that names no key of its algorithm is refused`(_ header: String) throws {
        #expect(refusal(try token(header: header), keys) == .unknownKey)
    }

    @Test(arguments: [
        #"{"alg":"ES256","kid":"k1","crit":["exp"]}"#, #"{"alg":"ES256","kid":"k1","crit":[]}"#,
        #"{"alg":"ES256","kid":"k1","crit":["b64"],"b64":false}"#,
        #"{"alg":"ES256","kid":"k1","alg":"ES256"}"#, #"{"alg":"ES256","kid":"k1"} "x""#, #"["ES256"]"#, "", "x",
        #"{"alg":"ES256","kid":"k1","typ":"dpop+jwt"}"#, #"{"alg":"ES256","kid":"k1","typ":"logout+jwt"}"#, #"{"alg":"ES256","kid":"k1","typ":1}"#,
        #"{"alg":"ES256","kid":"k1","cty":"JWT"}"#,
    ])
    func `whose header is not plain is refused, even well signed`(_ header: String) throws {
        #expect(refusal(try token(header: header), keys) == .malformed)
    }

    @Test(arguments: ["jwt", "JWT", "at+jwt", "application/at+jwt", "AT+JWT"])
    func `may say that it is one`(_ type: String) throws {
        #expect(refusal(try token(header: #"{"alg":"ES256","kid":"k1","typ":"\#(type)"}"#), keys) == nil)
    }

    @Test func `signed by a key that it brings along or points to is refused`() throws {
        let stranger = try P256PrivateKey()
        let embedded = jwk(stranger.publicKey).json
        for extra in ["\"jwk\":\(embedded)", "\"jku\":\"https://evil.example/keys\"", "\"x5c\":[\"AAAA\"]", "\"x5u\":\"https://evil.example/\""] {
            let header = #"{"alg":"ES256","kid":"k1",\#(extra)}"#
            let forged = try compact(header: header, payload: claims) { try stranger.signRaw($0) }
            #expect(refusal(forged, keys) == .signatureInvalid)
            // The same header over a genuine signature changes nothing: it is not looked at.
            #expect(refusal(try token(header: header), keys) == nil)
        }
    }

    @Test func `whose signature is in DER, longer, shorter or of other parts is refused`() throws {
        let header = #"{"alg":"ES256","kid":"k1"}"#
        let good = try token(header: header)
        let parts = good.split(separator: ".").map(String.init)
        #expect(refusal(try compact(header: header, payload: claims) { try key.sign($0) }, keys) == .signatureInvalid)
        #expect(refusal(try compact(header: header, payload: claims) { try key.signRaw($0) + [0] }, keys) == .signatureInvalid)
        #expect(refusal(try compact(header: header, payload: claims) { try key.signRaw($0).dropLast() }, keys) == .signatureInvalid)
        #expect(refusal(compact(header: header, payload: claims) { _ in [UInt8](repeating: 0, count: 64) }, keys) == .signatureInvalid)
        let otherClaims = Base64.url.encode(Array(claims.replacing("\"s\"", with: "\"t\"").utf8))
        #expect(refusal("\(parts[0]).\(otherClaims).\(parts[2])", keys) == .signatureInvalid)
        let otherHeader = Base64.url.encode(Array(#"{"kid":"k1","alg":"ES256"}"#.utf8))
        #expect(refusal("\(otherHeader).\(parts[1]).\(parts[2])", keys) == .signatureInvalid)
    }

    @Test func `in another shape is refused`() throws {
        let good = try token(header: #"{"alg":"ES256","kid":"k1"}"#)
        #expect(refusal(good, keys) == nil)
        let parts = good.split(separator: ".").map(String.init)
        let wrong = [
            "", ".", "..", "...", good + ".", "." + good, good + ".AAAA", parts[0] + "." + parts[1], parts[0], good + "=", good + " ", " " + good,
            good + "\n", parts[0] + "=." + parts[1] + "." + parts[2], parts[0] + ".!" + parts[1] + "." + parts[2],
            "{\"payload\":\"\(parts[1])\",\"protected\":\"\(parts[0])\",\"signature\":\"\(parts[2])\"}",
            good + String(repeating: "A", count: JSONWebSignature.maximumLengthBytes),
        ]
        for text in wrong { #expect(refusal(text, keys) == .malformed) }
    }

    @Test(arguments: [
        "x", "[]", "\"\"", #"{"iss":1}"#, #"{"sub":[]}"#, #"{"aud":1}"#, #"{"aud":["a",1]}"#, #"{"exp":"1773648000"}"#, #"{"exp":-1}"#,
        #"{"nbf":true}"#,
        #"{"iat":null}"#, #"{"exp":1,"exp":2}"#,
    ])
    func `whose claims have the wrong type is refused, even well signed`(_ claims: String) throws {
        #expect(refusal(try token(header: #"{"alg":"ES256","kid":"k1"}"#, claims: claims), keys) == .malformed)
    }

    @Test func `never shows up in what is said about it`() throws {
        let good = try token(header: #"{"alg":"ES256","kid":"k1"}"#)
        for text in [good + ".", "x" + good, String(good.dropLast(4)), good.replacing(".", with: "!.")] {
            do throws(CryptographyError) {
                _ = try JSONWebToken(JSONWebSignature(compact: text), verifiedWith: keys)
                Issue.record("a broken token was taken")
            } catch {
                for part in text.split(separator: ".") { #expect(!error.description.contains(part)) }
            }
        }
    }
}
