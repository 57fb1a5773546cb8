import Trading

/// Base64 (RFC 4648), strict: one text for each sequence of bytes. A second spelling of a signature or key would be a second identity.
package enum Base64 {
    /// Standard alphabet with its padding (section 4). Nil for white space, missing padding, other alphabets, set bits past the end, and for
    /// more than `limitBytes` decoded bytes.
    package static func decode(_ text: String, limitBytes: Int) -> [UInt8]? {
        guard text.utf8.count % 4 == 0, text.utf8.count / 4 <= (limitBytes + 2) / 3 else { return nil }
        let characters = Array(text.utf8)
        let padding = characters.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
        let significant = characters.dropLast(padding)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(significant.count * 3 / 4)
        var buffer: UInt32 = 0
        var bits = 0
        for character in significant {
            guard let value = Self.value(of: character) else { return nil }
            buffer = (buffer << 6 | UInt32(value)) & 0xFFFF
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: buffer >> UInt32(bits)))
            }
        }
        return buffer & (1 << UInt32(bits) - 1) == 0 && bytes.count <= limitBytes ? bytes : nil
    }

    /// Standard alphabet, padded.
    package static func encode(_ bytes: [UInt8]) -> String {
        let text = encode(bytes, last: (UInt8(ascii: "+"), UInt8(ascii: "/")))
        return text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    }

    /// The alphabet that is safe in addresses and file names, without padding (section 5): challenges.
    package static func encodeURLSafe(_ bytes: [UInt8]) -> String {
        encode(bytes, last: (UInt8(ascii: "-"), UInt8(ascii: "_")))
    }

    private static func encode(_ bytes: [UInt8], last: (UInt8, UInt8)) -> String {
        var characters: [UInt8] = []
        characters.reserveCapacity(bytes.count * 4 / 3 + 3)
        var buffer: UInt32 = 0
        var bits = 0
        for byte in bytes {
            buffer = (buffer << 8 | UInt32(byte)) & 0xFFFF
            bits += 8
            while bits >= 6 {
                bits -= 6
                characters.append(character(for: UInt8(buffer >> UInt32(bits) & 63), last))
            }
        }
        if bits > 0 { characters.append(character(for: UInt8(buffer << UInt32(6 - bits) & 63), last)) }
        return String(decoding: characters, as: UTF8.self)
    }

    private static func character(for value: UInt8, _ last: (UInt8, UInt8)) -> UInt8 {
        switch value {
        case 0..<26: UInt8(ascii: "A") + value
        case 26..<52: UInt8(ascii: "a") + value - 26
        case 52..<62: UInt8(ascii: "0") + value - 52
        case 62: last.0
        default: last.1
        }
    }

    private static func value(of character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
