import Foundation
import Testing

@testable import Cryptography

private let message = Array("TRADING-ORDER-V1\naccount_id=acc_998124a87".utf8)

private func code(_ work: () throws -> some Any) -> CryptographyError.Code? {
    do {
        _ = try work()
        return nil
    } catch let error as CryptographyError {
        return error.code
    } catch {
        return nil
    }
}

@Suite struct `A P-256 key` {
    @Test func `of the openssl program verifies what that program signed`() throws {
        let openssl = try OpenSSLProgram()
        try openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", "key.pem")
        try openssl("ec", "-in", "key.pem", "-pubout", "-out", "public.pem")
        try openssl("ec", "-in", "key.pem", "-pubout", "-outform", "DER", "-out", "public.der")
        try openssl.write(message, to: "message")
        try openssl("dgst", "-sha256", "-sign", "key.pem", "-out", "signature", "message")
        let signature = try openssl.read("signature")

        for key in [try P256PublicKey(pem: openssl.text("public.pem")), try P256PublicKey(spki: openssl.read("public.der"))] {
            #expect(try key.verify(der: signature, message: message))
            #expect(try key.verify(eitherForm: signature, message: message))
            #expect(try !key.verify(raw: signature, message: message))
            #expect(try !key.verify(der: signature, message: message + [0]))
            #expect(try !key.verify(der: signature + [0], message: message))
            #expect(key.spki == (try openssl.read("public.der")))
            #expect(key.pem == (try openssl.text("public.pem")))
        }
    }

    @Test(arguments: [
        ["ecparam", "-name", "prime256v1", "-genkey", "-noout"], ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
    ])
    func `private is read from both PEM forms and signs what the program verifies`(_ command: [String]) throws {
        let openssl = try OpenSSLProgram()
        let pem = String(decoding: try openssl.run(command), as: UTF8.self)
        let key = try P256PrivateKey(pem: pem)
        try openssl.write(message, to: "message")
        try openssl.write(try key.sign(message), to: "signature")
        try openssl.write(key.publicKey.pem, to: "public.pem")
        try openssl("dgst", "-sha256", "-verify", "public.pem", "-signature", "signature", "message")
        #expect(throws: OpenSSLProgram.Failed.self) {
            try openssl.write(message + [0], to: "message")
            try openssl("dgst", "-sha256", "-verify", "public.pem", "-signature", "signature", "message")
        }
    }

    @Test func `private is written as PKCS 8 that the program and we read back`() throws {
        let openssl = try OpenSSLProgram()
        let key = try P256PrivateKey()
        let pem = try key.pem()
        #expect(pem.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
        #expect(try P256PrivateKey(pem: pem).publicKey.spki == key.publicKey.spki)
        try openssl.write(pem, to: "key.pem")
        #expect(try openssl("pkey", "-in", "key.pem", "-pubout", "-outform", "DER") == key.publicKey.spki)
        #expect(try P256PrivateKey().publicKey.spki != key.publicKey.spki)
    }

    @Test func `tells raw and DER signatures apart`() throws {
        let key = try P256PrivateKey()
        for round in 0..<50 {
            let message = message + [UInt8(round)]
            let raw = try key.signRaw(message)
            let der = try key.sign(message)
            #expect(raw.count == 64)
            #expect(try key.publicKey.verify(raw: raw, message: message))
            #expect(try key.publicKey.verify(eitherForm: raw, message: message))
            #expect(try key.publicKey.verify(eitherForm: der, message: message))
            #expect(try !key.publicKey.verify(der: raw, message: message))
            #expect(ECDSASignature(der: der)?.der == der)
        }
    }

    @Test func `from coordinates is the same key`() throws {
        let key = try P256PrivateKey().publicKey
        #expect(try P256PublicKey(x: key.x, y: key.y).spki == key.spki)
        #expect(code { try P256PublicKey(x: key.x, y: Array(key.y.dropLast())) } == .malformed)
        #expect(code { try P256PublicKey(x: [0] + key.x, y: key.y) } == .malformed)
        #expect(code { try P256PublicKey(x: key.y, y: key.x) } == .pointNotOnCurve)
    }

    @Test func `judges each signature anew, whatever it judged before`() throws {
        let key = try P256PrivateKey()
        let (good, raw) = (try key.sign(message), try #require(ECDSASignature(der: try key.sign(message))).raw)
        for round in 0..<50 {
            var bad = good
            bad[bad.count - 1] ^= UInt8(1 << (round % 8))
            #expect(try !key.publicKey.verify(der: bad, message: message))
            #expect(try key.publicKey.verify(der: good, message: message))
            #expect(try !key.publicKey.verify(eitherForm: good, message: message + [0]))
            #expect(try key.publicKey.verify(eitherForm: raw, message: message))
        }
    }

    @Test func `verifies on many threads at once`() async throws {
        let key = try P256PrivateKey()
        let publicKey = key.publicKey
        let signature = try key.sign(message)
        let correct = try await withThrowingTaskGroup(of: Int.self) { group in
            for worker in 0..<8 {
                group.addTask { @concurrent in
                    try (0..<200).count { round in
                        let genuine = (round + worker).isMultiple(of: 2)
                        return try publicKey.verify(der: signature, message: genuine ? message : message + [1]) == genuine
                    }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(correct == 1_600)
    }
}

@Suite struct `A P-256 key is refused` {
    let openssl: OpenSSLProgram
    let good: [UInt8]

    init() throws {
        openssl = try OpenSSLProgram()
        good = try P256PrivateKey().publicKey.spki
    }

    @Test(arguments: ["secp384r1", "secp521r1", "secp256k1", "prime192v1"])
    func `on another curve`(_ curve: String) throws {
        try openssl("ecparam", "-name", curve, "-genkey", "-noout", "-out", "key.pem")
        #expect(code { try P256PublicKey(spki: try openssl("ec", "-in", "key.pem", "-pubout", "-outform", "DER")) } == .wrongCurve)
        #expect(code { try P256PrivateKey(pem: openssl.text("key.pem")) } == .wrongCurve)
    }

    @Test func `with its curve spelled out`() throws {
        try openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-param_enc", "explicit", "-out", "key.pem")
        #expect(code { try P256PublicKey(spki: try openssl("ec", "-in", "key.pem", "-pubout", "-outform", "DER")) } == .explicitCurve)
        #expect(code { try P256PrivateKey(pem: openssl.text("key.pem")) } == .explicitCurve)
    }

    @Test(arguments: ["compressed", "hybrid"])
    func `with its point in another form`(_ form: String) throws {
        try openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", "key.pem")
        let spki = try openssl("ec", "-in", "key.pem", "-pubout", "-outform", "DER", "-conv_form", form)
        #expect(code { try P256PublicKey(spki: spki) } == .pointForm)
    }

    @Test func `of another kind`() throws {
        try openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", "rsa.pem")
        try openssl("genpkey", "-algorithm", "ED25519", "-out", "ed.pem")
        for name in ["rsa.pem", "ed.pem"] {
            #expect(code { try P256PublicKey(spki: try openssl("pkey", "-in", name, "-pubout", "-outform", "DER")) } == .wrongKeyType)
            #expect(code { try P256PrivateKey(pem: openssl.text(name)) } == .wrongKeyType)
        }
    }

    @Test func `that is the point at infinity or beside the curve`() throws {
        let prefix: [UInt8] = [0x30, 0x19] + good[2..<23] + [0x03, 0x02, 0x00, 0x00]
        #expect(code { try P256PublicKey(spki: prefix) } == .pointAtInfinity)
        var beside = good
        beside[90] ^= 1
        #expect(code { try P256PublicKey(spki: beside) } == .pointNotOnCurve)
        #expect(code { try P256PublicKey(spki: Array(good[..<27]) + [UInt8](repeating: 0, count: 64)) } == .pointNotOnCurve)
        #expect(code { try P256PublicKey(spki: Array(good[..<27]) + [UInt8](repeating: 0xFF, count: 64)) } == .pointNotOnCurve)
    }

    @Test func `whose bytes are cut, lengthened or changed in the frame`() {
        #expect(code { try P256PublicKey(spki: good) } == nil)
        #expect(code { try P256PublicKey(spki: []) } == .malformed)
        #expect(code { try P256PublicKey(spki: good + [0]) } == .malformed)
        for length in 1..<good.count { #expect(code { try P256PublicKey(spki: Array(good[..<length])) } == .malformed) }
        for index in 0..<27 {
            var changed = good
            changed[index] ^= 0x01
            #expect(code { try P256PublicKey(spki: changed) } != nil, "byte \(index)")
        }
        // The outer length in two bytes instead of one: BER, not DER.
        #expect(code { try P256PublicKey(spki: [0x30, 0x81, 0x59] + good[2...]) } == .malformed)
    }

    @Test func `in PEM that is not one PUBLIC KEY`() throws {
        let pem = PEM.encode(good, label: "PUBLIC KEY")
        #expect(try P256PublicKey(pem: "\n" + pem.replacingOccurrences(of: "\n", with: "\r\n") + "\n").spki == good)
        for text in ["", "PUBLIC KEY", pem + pem, pem + "x", String(pem.dropLast(30)), pem.replacingOccurrences(of: "M", with: "*")] {
            #expect(code { try P256PublicKey(pem: text) } == .malformed)
        }
        #expect(code { try P256PublicKey(pem: PEM.encode(good, label: "CERTIFICATE")) } == .wrongKeyType)
        #expect(code { try P256PublicKey(pem: P256PrivateKey().pem()) } == .wrongKeyType)
    }

    @Test func `when private and under a pass phrase, or not PEM, or with halves of two keys`() throws {
        try openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", "key.pem")
        try openssl("ec", "-in", "key.pem", "-aes128", "-passout", "pass:secret", "-out", "locked.pem")
        try openssl("pkcs8", "-topk8", "-in", "key.pem", "-passout", "pass:secret", "-out", "locked8.pem")
        for name in ["locked.pem", "locked8.pem"] { #expect(code { try P256PrivateKey(pem: openssl.text(name)) } == .malformed) }
        #expect(code { try P256PrivateKey(pem: "") } == .malformed)
        #expect(code { try P256PrivateKey(pem: PEM.encode(good, label: "PUBLIC KEY")) } == .malformed)

        // SEC 1: the public point is the last 64 bytes; put another key's there.
        let own = try openssl("ec", "-in", "key.pem", "-outform", "DER")
        let mixed = Array(own.dropLast(64)) + good.suffix(64)
        #expect(code { try P256PrivateKey(pem: PEM.encode(own, label: "EC PRIVATE KEY")) } == nil)
        #expect(code { try P256PrivateKey(pem: PEM.encode(mixed, label: "EC PRIVATE KEY")) } == .malformed)
    }
}

@Suite struct `A signature's numbers` {
    @Test func `are from 1 to the order less 1`() {
        let order = hex("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
        let one = [UInt8](repeating: 0, count: 31) + [1]
        let zero = [UInt8](repeating: 0, count: 32)
        var last = order
        last[31] -= 1
        for number in [one, last] {
            #expect(ECDSASignature(raw: number + one) != nil)
            #expect(ECDSASignature(raw: one + number) != nil)
        }
        for number in [zero, order, [UInt8](repeating: 0xFF, count: 32)] {
            #expect(ECDSASignature(raw: number + one) == nil)
            #expect(ECDSASignature(raw: one + number) == nil)
        }
        #expect(ECDSASignature(raw: one + one.dropLast()) == nil)
        #expect(ECDSASignature(raw: one + one)?.der == [0x30, 6, 2, 1, 1, 2, 1, 1])
        #expect(ECDSASignature(raw: last + last)?.der.count == 72)
    }

    @Test(arguments: [
        "3006020101020101", "30060201010201", "3080020101020101 0000", "308106020101020101", "3007020101020101", "3005020101020101",
        "300602010102010100", "3006020181020101", "300702020001020101", "30050200020101", "3006020100020101", "3106020101020101",
        "3006030101020101", "3009020101020101020101", "30070281010102010 1", "", "30", "3000", "3084000000 06020101020101",
    ])
    func `are read from nothing but DER`(_ digits: String) {
        #expect((ECDSASignature(der: hex(digits)) != nil) == (digits == "3006020101020101"))
    }
}
