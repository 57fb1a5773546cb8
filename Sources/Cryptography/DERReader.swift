/// Reads ASN.1 in its distinguished encoding (ITU-T X.690 section 10), refusing everything that only BER allows: indefinite
/// lengths, lengths with more bytes than needed, integers with more bytes than needed.
struct DERReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    var isAtEnd: Bool { rest.isEmpty }

    static let integer: UInt8 = 0x02
    static let bitString: UInt8 = 0x03
    static let null: UInt8 = 0x05
    static let objectIdentifier: UInt8 = 0x06
    static let sequence: UInt8 = 0x30

    /// The tag of the next element, without reading it.
    var nextTag: UInt8? { rest.first }

    /// The content of the next element, if it has that tag and is well-formed.
    mutating func read(_ tag: UInt8) -> ArraySlice<UInt8>? {
        var ahead = rest
        guard ahead.popFirst() == tag, let first = ahead.popFirst() else { return nil }
        var length = Int(first)
        if first >= 0x80 {
            // Two bytes of length reach 65,535: more than any key or signature read here.
            guard first == 0x81 || first == 0x82 else { return nil }
            length = 0
            for _ in 0..<(first - 0x80) {
                guard let byte = ahead.popFirst() else { return nil }
                length = length << 8 | Int(byte)
            }
            guard length >= (first == 0x81 ? 0x80 : 0x100) else { return nil }
        }
        guard ahead.count >= length else { return nil }
        rest = ahead.dropFirst(length)
        return ahead.prefix(length)
    }

    /// The magnitude, without leading zero bytes (so zero is empty), of the next element if it is a non-negative INTEGER.
    mutating func readUnsigned() -> ArraySlice<UInt8>? {
        guard let content = read(Self.integer), let first = content.first, first < 0x80 else { return nil }
        guard first == 0 else { return content }
        let magnitude = content.dropFirst()
        if let second = magnitude.first, second < 0x80 { return nil }
        return magnitude
    }
}
