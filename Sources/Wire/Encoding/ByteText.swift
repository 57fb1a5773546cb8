import Trading

// Text as bytes. Every order passes here several times, so numbers are written without a String in between.

extension [UInt8] {
    mutating func append(literal text: StaticString) {
        text.withUTF8Buffer { unsafe append(contentsOf: $0) }
    }

    mutating func append(text: String) {
        var text = text
        text.withUTF8 { unsafe append(contentsOf: $0) }
    }

    mutating func append(decimal number: Int64) {
        if number < 0 { append(UInt8(ascii: "-")) }
        append(digits: number.magnitude, atLeast: 1)
    }

    /// Exact, with as many decimals as the amount has, between `minimumDecimals` and four.
    mutating func append(_ amount: Amount, minimumDecimals: Int) {
        let magnitude = amount.units.magnitude
        if amount.units < 0 { append(UInt8(ascii: "-")) }
        append(digits: magnitude / 10_000, atLeast: 1)
        append(UInt8(ascii: "."))
        append(digits: magnitude % 10_000, atLeast: 4)
        var decimals = 4
        while decimals > minimumDecimals, last == UInt8(ascii: "0") {
            removeLast()
            decimals -= 1
        }
    }

    /// A key in lower case with its hyphens (RFC 9562 section 4).
    mutating func append(_ key: IdempotencyKey) {
        for index in 0..<16 {
            if index == 4 || index == 6 || index == 8 || index == 10 { append(UInt8(ascii: "-")) }
            let half = index < 8 ? key.high : key.low
            append(hexByte: UInt8(truncatingIfNeeded: half >> UInt64(56 - index % 8 * 8)))
        }
    }

    mutating func append(hexByte byte: UInt8) {
        append((byte >> 4).hexCharacter)
        append((byte & 0xF).hexCharacter)
    }

    private mutating func append(digits number: UInt64, atLeast count: Int) {
        // From the last digit to the first, so from the end of room that holds the longest number.
        var digits: InlineArray<20, UInt8> = .init(repeating: UInt8(ascii: "0"))
        var start = digits.count
        var rest = number
        while rest > 0 || digits.count - start < count {
            start -= 1
            digits[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        for index in start..<digits.count { append(digits[index]) }
    }

    /// Length of the UTF-8 sequence that starts at `index`, or nil when it is overlong, a surrogate, beyond U+10FFFF or cut off (RFC 3629 section 4).
    func lengthOfUTF8Sequence(at index: Int) -> Int? {
        func follows(_ offset: Int, in range: ClosedRange<UInt8> = 0x80...0xBF) -> Bool {
            index + offset < count && range.contains(self[index + offset])
        }
        switch self[index] {
        case 0x00...0x7F: return 1
        case 0xC2...0xDF: return follows(1) ? 2 : nil
        case 0xE0: return follows(1, in: 0xA0...0xBF) && follows(2) ? 3 : nil
        case 0xED: return follows(1, in: 0x80...0x9F) && follows(2) ? 3 : nil
        case 0xE1...0xEF: return follows(1) && follows(2) ? 3 : nil
        case 0xF0: return follows(1, in: 0x90...0xBF) && follows(2) && follows(3) ? 4 : nil
        case 0xF1...0xF3: return follows(1) && follows(2) && follows(3) ? 4 : nil
        case 0xF4: return follows(1, in: 0x80...0x8F) && follows(2) && follows(3) ? 4 : nil
        default: return nil
        }
    }
}

extension UInt8 {
    fileprivate var hexCharacter: UInt8 { self < 10 ? UInt8(ascii: "0") + self : UInt8(ascii: "a") + self - 10 }

    /// `[A-Za-z0-9_-]`
    var isIdentifierCharacter: Bool {
        isDigit || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) || self == UInt8(ascii: "_") || self == UInt8(ascii: "-")
    }
}

extension String {
    /// Equality of the bytes. Swift's `==` is canonical equivalence, under which the Kelvin sign is a `K` and `MARKET` can be spelt twice.
    func hasSameBytes(as other: String) -> Bool {
        // Texts of the same bytes have the same length and are canonically equivalent, which costs little to see: nearly all comparisons end here.
        guard utf8.count == other.utf8.count, self == other else { return false }
        var (own, others) = (self, other)
        return own.withUTF8 { own in others.withUTF8 { others in unsafe own.elementsEqual(others) } }
    }

    var isASCII: Bool { utf8.allSatisfy { $0 < 0x80 } }

    /// Between single quotes and cut short, so that a message that quotes a stranger stays a message.
    package var quotedForMessage: String {
        let longest = 64
        return count <= longest ? "'\(self)'" : "'\(prefix(longest))…'"
    }

    /// `[A-Za-z0-9_-]{1,64}`, as accounts.
    var isCredentialID: Bool { (1...64).contains(utf8.count) && utf8.allSatisfy(\.isIdentifierCharacter) }

    /// A whole number without sign, space or leading zero, or nil.
    var wholeNumber: Int64? {
        guard !isEmpty, utf8.allSatisfy(\.isDigit), utf8.first != UInt8(ascii: "0") || utf8.count == 1 else { return nil }
        return Int64(self)
    }
}
