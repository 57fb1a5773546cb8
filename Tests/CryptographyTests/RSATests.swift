import Foundation
import Testing

@testable import Cryptography

@Suite struct `An RSA key` {
    let openssl: OpenSSLProgram
    let message = Array("message".utf8)

    init() throws { openssl = try OpenSSLProgram() }

    private func makeKey(bits: Int, exponent: String = "65537") throws -> [UInt8] {
        try openssl(
            "genpkey",
            "-algorithm",
            "RSA",
            "-pkeyopt",
            "rsa_keygen_bits:\(bits)",
            "-pkeyopt",
            "rsa_keygen_pubexp:\(exponent)",
            "-out",
            "key.pem"
        )
        return try openssl("pkey", "-in", "key.pem", "-pubout", "-outform", "DER")
    }

    @Test func `verifies what the openssl program signed with PKCS 1 padding, and nothing else`() throws {
        let key = try RSAPublicKey(spki: try makeKey(bits: 2_048))
        try openssl.write(message, to: "message")
        try openssl("dgst", "-sha256", "-sign", "key.pem", "-out", "signature", "message")
        let signature = try openssl.read("signature")
        #expect(try key.verify(signature: signature, message: message))
        #expect(try !key.verify(signature: signature, message: message + [0]))
        #expect(try !key.verify(signature: [0] + signature, message: message))
        #expect(try !key.verify(signature: Array(signature.dropLast()), message: message))
        #expect(try !key.verify(signature: [], message: message))
        #expect(try !key.verify(signature: key.modulus, message: message))
        var changed = signature
        changed[100] ^= 1
        #expect(try !key.verify(signature: changed, message: message))

        try openssl("dgst", "-sha512", "-sign", "key.pem", "-out", "other", "message")
        #expect(try !key.verify(signature: openssl.read("other"), message: message))
        try openssl("dgst", "-sha256", "-sigopt", "rsa_padding_mode:pss", "-sign", "key.pem", "-out", "pss", "message")
        #expect(try !key.verify(signature: openssl.read("pss"), message: message))
        #expect(try RSAPublicKey(modulus: key.modulus, exponent: key.exponent).verify(signature: signature, message: message))
    }

    @Test func `too short is refused`() throws {
        let weak = try makeKey(bits: 1_024)
        #expect(throws: CryptographyError(.weakKey, "read RSA key", "the modulus is not odd and of 2,048 to 8,192 bits")) {
            try RSAPublicKey(spki: weak)
        }
        let key = try RSAPublicKey(spki: try makeKey(bits: 2_048))
        for modulus in [
            Array(key.modulus.dropLast()), key.modulus.dropLast() + [0], [0x7F] + key.modulus.dropFirst(),
            key.modulus + [UInt8](repeating: 1, count: 800),
        ] {
            #expect(throws: CryptographyError.self) { try RSAPublicKey(modulus: modulus, exponent: key.exponent) }
        }
        for modulus in [[], [0] + key.modulus] {
            #expect(throws: CryptographyError(.malformed, "read RSA key", "modulus or exponent is empty or has a leading zero")) {
                try RSAPublicKey(modulus: modulus, exponent: key.exponent)
            }
        }
        for exponent: [UInt8] in [[1], [2], [1, 0, 0], [1, 0, 0, 0, 0, 0, 0, 0, 1], [], [0, 3]] {
            #expect(throws: CryptographyError.self) { try RSAPublicKey(modulus: key.modulus, exponent: exponent) }
        }
    }

    @Test func `of another kind, cut or lengthened is refused`() throws {
        let spki = try makeKey(bits: 2_048)
        for bytes in [[], Array(spki.dropLast()), spki + [0], Array(spki.dropFirst())] {
            #expect(throws: CryptographyError.self) { try RSAPublicKey(spki: bytes) }
        }
        let elliptic = try P256PrivateKey().publicKey.spki
        #expect(throws: CryptographyError(.wrongKeyType, "read RSA key", "the key is not an RSA key")) { try RSAPublicKey(spki: elliptic) }
        try openssl("genpkey", "-algorithm", "RSA-PSS", "-pkeyopt", "rsa_keygen_bits:2048", "-out", "pss.pem")
        let pss = try openssl("pkey", "-in", "pss.pem", "-pubout", "-outform", "DER")
        #expect(throws: CryptographyError(.wrongKeyType, "read RSA key", "the key is not an RSA key")) { try RSAPublicKey(spki: pss) }
    }
}
