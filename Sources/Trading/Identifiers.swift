/// An account: `[A-Za-z0-9_-]{1,64}`. A value that exists is valid.
package struct AccountID: Hashable, Sendable, CustomStringConvertible {
    package let text: String

    package init?(_ text: String) {
        let bytes = text.utf8
        guard (1...64).contains(bytes.count), bytes.allSatisfy({ $0.isLetterOrDigit || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-") })
        else { return nil }
        self.text = text
    }

    package var description: String { text }

    /// How many shards the accounts are spread over; fixed by the first migration, for ever.
    package static let shardCount: Int16 = 8

    /// The shard of this account: FNV-1a (64 bit) of its text modulo 8, so that every program and language finds the same one.
    package var shard: Int16 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in text.utf8 {
            hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
        }
        return Int16(hash % UInt64(Self.shardCount))
    }
}

/// A tradable symbol: `[A-Z0-9.]{1,16}`.
package struct Symbol: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let text: String

    package init?(_ text: String) {
        let bytes = text.utf8
        guard (1...16).contains(bytes.count), bytes.allSatisfy({ $0.isUpperLetterOrDigit || $0 == UInt8(ascii: ".") }) else { return nil }
        self.text = text
    }

    package var description: String { text }

    package static func < (left: Symbol, right: Symbol) -> Bool { left.text < right.text }
}

/// A client's idempotency key: a UUID of version 7 (RFC 9562 section 5.7), compared and written in lower case.
package struct IdempotencyKey: Hashable, Sendable, CustomStringConvertible {
    package let high: UInt64
    package let low: UInt64

    package init?(high: UInt64, low: UInt64) {
        guard (high >> 12) & 0xF == 7, low >> 62 == 0b10 else { return nil }
        self.high = high
        self.low = low
    }

    /// Reads the bare 36-character form, or the same between double quotes (a structured-field string, RFC 8941 section 3.3.3).
    package init?(_ text: some StringProtocol) {
        self.init(String(text))
    }

    package init?(_ text: String) {
        var text = text
        guard let key = text.withUTF8({ unsafe IdempotencyKey($0.span) }) else { return nil }
        self = key
    }

    private init?(_ bytes: Span<UInt8>) {
        var start = 0
        if bytes.count == 38, bytes[0] == UInt8(ascii: "\""), bytes[37] == UInt8(ascii: "\"") { start = 1 }
        guard bytes.count - 2 * start == 36 else { return nil }
        var halves: (UInt64, UInt64) = (0, 0)
        var digits = 0
        for index in 0..<36 {
            let byte = bytes[start + index]
            if index == 8 || index == 13 || index == 18 || index == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            guard let digit = byte.hexDigit else { return nil }
            if digits < 16 { halves.0 = halves.0 << 4 | UInt64(digit) } else { halves.1 = halves.1 << 4 | UInt64(digit) }
            digits += 1
        }
        self.init(high: halves.0, low: halves.1)
    }

    /// Milliseconds since the epoch that the key itself carries (its first 48 bits).
    package var milliseconds: Int64 { Int64(high >> 16) }

    package var description: String {
        let hex = Self.hex(high) + Self.hex(low)
        var text = ""
        for (index, character) in hex.enumerated() {
            if [8, 12, 16, 20].contains(index) { text.append("-") }
            text.append(character)
        }
        return text
    }

    private static func hex(_ half: UInt64) -> String {
        let digits = String(half, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

/// An order's identity, also its FIX ClOrdID (tag 11): `ord_<yyyymmdd>_<26 base32 characters>`.
package struct OrderID: Hashable, Sendable, CustomStringConvertible {
    package let text: String

    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 39, bytes[0..<4].elementsEqual("ord_".utf8), bytes[12] == UInt8(ascii: "_"),
            bytes[4..<12].allSatisfy({ $0.isDigit }), bytes[13...].allSatisfy({ $0.isBase32 })
        else { return nil }
        self.text = text
    }

    /// Made from account and key alone (design section 4.1), so that not even a restored database can give a key a second identity.
    ///
    /// - Parameter digest: SHA-256 of `<account_id> LF <key in lower case>`; its first 128 bits are used.
    package init(key: IdempotencyKey, digest: [UInt8]) {
        precondition(digest.count == 32, "An order's identity is made from a SHA-256 digest.")
        var bytes: [UInt8] = []
        bytes.reserveCapacity(39)
        bytes.append(contentsOf: "ord_".utf8)
        bytes.append(contentsOf: CivilDate(millisecondsSinceEpoch: key.milliseconds).compact.utf8)
        bytes.append(UInt8(ascii: "_"))
        Self.appendBase32(digest[0..<16], to: &bytes)
        text = String(decoding: bytes, as: UTF8.self)
    }

    package var description: String { text }

    /// `<order_id>-c<n>`: what the n-th request to cancel it is called, also at the venue.
    package func cancelID(_ n: Int16) -> String { "\(text)-c\(n)" }

    /// Below the ids of all keys of this time (ms) and later.
    /// The end of the year 9999, ms since the epoch: beyond it a date has nine digits, and ids no longer sort by it.
    package static let lastDatedMilliseconds: Int64 = 253_402_300_799_999

    package static func bound(from milliseconds: Int64) -> String { "ord_" + CivilDate(millisecondsSinceEpoch: milliseconds).compact }

    /// Above the ids of all keys of this time (ms) and before, by bytes.
    package static func bound(through milliseconds: Int64) -> String { bound(from: milliseconds) + "~" }

    /// RFC 4648 section 6 alphabet in lower case, no padding, most significant bit first: 16 bytes give 26 characters.
    private static func appendBase32(_ bytes: ArraySlice<UInt8>, to characters: inout [UInt8]) {
        func character(_ value: UInt32) -> UInt8 {
            let value = UInt8(truncatingIfNeeded: value & 31)
            return value < 26 ? UInt8(ascii: "a") + value : UInt8(ascii: "2") + value - 26
        }
        var buffer: UInt32 = 0
        var bits = 0
        for byte in bytes {
            buffer = buffer << 8 | UInt32(byte)
            bits += 8
            while bits >= 5 {
                bits -= 5
                characters.append(character(buffer >> UInt32(bits)))
            }
        }
        if bits > 0 { characters.append(character(buffer << UInt32(5 - bits))) }
    }
}

extension UInt8 {
    package var isDigit: Bool { self >= 0x30 && self <= 0x39 }
    var isUpperLetterOrDigit: Bool { isDigit || (self >= 0x41 && self <= 0x5A) }
    var isLetterOrDigit: Bool { isUpperLetterOrDigit || (self >= 0x61 && self <= 0x7A) }
    var isBase32: Bool { (self >= 0x61 && self <= 0x7A) || (self >= 0x32 && self <= 0x37) }

    package var hexDigit: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x41 + 10
        case 0x61...0x66: self - 0x61 + 10
        default: nil
        }
    }
}
