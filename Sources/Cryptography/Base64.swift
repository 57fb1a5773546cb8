/// Base64 as RFC 4648 defines it, with nothing let through: no white space, no foreign character, the padding exactly as the
/// alphabet demands, and no bits set that decode to nothing. So each byte string has just one text.
package enum Base64: Sendable {
    /// Section 4: `+`, `/`, padded with `=` to a multiple of four.
    case standard
    /// Section 5 without padding, as JOSE wants it (RFC 7515 section 2): `-`, `_`, no `=`.
    case url

    package func encode(_ bytes: [UInt8]) -> String {
        let alphabet = self == .standard ? Self.standardAlphabet : Self.urlAlphabet
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var index = 0
        while index < bytes.count {
            let taken = min(3, bytes.count - index)
            var group: UInt32 = 0
            for offset in 0..<3 {
                group = group << 8 | (offset < taken ? UInt32(bytes[index + offset]) : 0)
            }
            for position in 0..<4 {
                if position <= taken {
                    text.append(alphabet[Int(group >> UInt32(18 - 6 * position)) & 63])
                } else if self == .standard {
                    text.append(UInt8(ascii: "="))
                }
            }
            index += taken
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Nil when the text is not exactly what `encode` would have written.
    package func decode(_ text: some StringProtocol) -> [UInt8]? { decode(Array(text.utf8)) }

    /// Nil when the text is not exactly what `encode` would have written.
    package func decode(_ text: [UInt8]) -> [UInt8]? {
        var digits = text[...]
        if self == .standard {
            guard text.count.isMultiple(of: 4) else { return nil }
            for _ in 0..<2 where digits.last == UInt8(ascii: "=") { digits = digits.dropLast() }
        }
        let remainder = digits.count % 4
        guard remainder != 1 else { return nil }
        let values = self == .standard ? Self.standardValues : Self.urlValues
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count * 3 / 4)
        var buffer: UInt32 = 0
        var bits: UInt32 = 0
        for digit in digits {
            let value = values[Int(digit)]
            guard value < 64 else { return nil }
            buffer = buffer << 6 | UInt32(value)
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: buffer >> bits))
            }
        }
        guard buffer & ((1 << bits) - 1) == 0 else { return nil }
        return bytes
    }

    private static let common = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    private static let standardAlphabet = Array((common + "+/").utf8)
    private static let urlAlphabet = Array((common + "-_").utf8)
    private static let standardValues = values(of: standardAlphabet)
    private static let urlValues = values(of: urlAlphabet)

    /// The value of each byte; 255 for what is not in the alphabet.
    private static func values(of alphabet: [UInt8]) -> [UInt8] {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, digit) in alphabet.enumerated() { values[Int(digit)] = UInt8(value) }
        return values
    }
}
