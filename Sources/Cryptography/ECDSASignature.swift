/// A signature's two numbers, each from 1 to n - 1 (FIPS 186-5 section 6.4.2): a value that exists is in range.
struct ECDSASignature: Equatable {
    /// r and s, big-endian, 32 bytes each.
    let raw: [UInt8]

    /// The order n of P-256 (SP 800-186 section 3.2.1.3).
    private static let order: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ]

    /// From r || s of 64 bytes (IEEE P1363, RFC 7518 section 3.4).
    init?(raw: [UInt8]) {
        guard raw.count == 64, Self.isInRange(raw[..<32]), Self.isInRange(raw[32...]) else { return nil }
        self.raw = raw
    }

    /// From `ECDSA-Sig-Value` (RFC 3279 section 2.2.3) in DER, with nothing before or after.
    init?(der: [UInt8]) {
        guard let numbers = Self.numbers(der: der) else { return nil }
        guard numbers.r.count <= 32, numbers.s.count <= 32 else { return nil }
        var raw: [UInt8] = []
        raw.reserveCapacity(64)
        for number in [numbers.r, numbers.s] {
            for _ in number.count..<32 { raw.append(0) }
            raw.append(contentsOf: number)
        }
        self.init(raw: raw)
    }

    /// Whether the bytes have the shape of a DER signature, whatever its numbers.
    static func isDER(_ bytes: [UInt8]) -> Bool { numbers(der: bytes) != nil }

    var der: [UInt8] {
        let content = Self.integer(raw[..<32]) + Self.integer(raw[32...])
        return [DERReader.sequence, UInt8(content.count)] + content
    }

    private static func numbers(der: [UInt8]) -> (r: ArraySlice<UInt8>, s: ArraySlice<UInt8>)? {
        var outer = DERReader(der)
        guard let content = outer.read(DERReader.sequence), outer.isAtEnd else { return nil }
        var inner = DERReader(content)
        guard let r = inner.readUnsigned(), let s = inner.readUnsigned(), inner.isAtEnd else { return nil }
        return (r, s)
    }

    private static func integer(_ number: ArraySlice<UInt8>) -> [UInt8] {
        let magnitude = number.drop { $0 == 0 }
        let sign: [UInt8] = magnitude.first.map { $0 >= 0x80 } == true ? [0] : []
        return [DERReader.integer, UInt8(magnitude.count + sign.count)] + sign + magnitude
    }

    private static func isInRange(_ number: ArraySlice<UInt8>) -> Bool {
        number.contains { $0 != 0 } && number.lexicographicallyPrecedes(order)
    }
}
