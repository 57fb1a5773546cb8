import Glibc

/// Reads answers of HTTP/1.1 (RFC 9112) as a router sends them: a status, headers of which three matter, and a body with a length.
enum ResponseReader {
    struct Head: Equatable {
        var status = 0
        /// Where the body begins.
        var bodyStart = 0
        /// nil: a stream without an end of its own.
        var bodyCount: Int?
        var isReplayed = false
        var closes = false
    }

    enum Outcome: Equatable {
        /// The head has not all come.
        case incomplete
        case malformed
        case head(Head)
    }

    /// Looks for a head in `bytes[start..<end]`.
    static func head(_ bytes: [UInt8], _ start: Int, _ end: Int) -> Outcome {
        // "HTTP/1.1 201 "
        guard end - start >= 13 else { return .incomplete }
        guard bytes[start] == UInt8(ascii: "H"), bytes[start + 8] == UInt8(ascii: " ") else { return .malformed }
        var head = Head()
        for place in start + 9..<start + 12 {
            guard bytes[place] >= 0x30, bytes[place] <= 0x39 else { return .malformed }
            head.status = head.status * 10 + Int(bytes[place] - 0x30)
        }
        var line = start
        while true {
            guard let next = nextLine(bytes, line, end) else { return .incomplete }
            if next - line == 2 {
                head.bodyStart = next
                if head.status == 204 { head.bodyCount = 0 }
                return .head(head)
            }
            take(bytes, line, next - 2, &head)
            line = next
        }
    }

    /// Where the line after this one begins; nil where its end has not come.
    private static func nextLine(_ bytes: [UInt8], _ start: Int, _ end: Int) -> Int? {
        ByteSearch.newline(in: bytes, start, end).map { $0 + 1 }
    }

    private static func take(_ bytes: [UInt8], _ start: Int, _ end: Int, _ head: inout Head) {
        switch bytes[start] | 0x20 {
        case UInt8(ascii: "c"):
            if let value = value(bytes, start, end, of: contentLength) {
                head.bodyCount = bytes[value..<end].reduce(0) { $1 >= 0x30 && $1 <= 0x39 ? $0 * 10 + Int($1 - 0x30) : $0 }
            } else if let value = value(bytes, start, end, of: connection) {
                head.closes = bytes[value..<end].contains { $0 | 0x20 == UInt8(ascii: "c") }
            }
        case UInt8(ascii: "i"):
            if value(bytes, start, end, of: replayed) != nil { head.isReplayed = true }
        default: break
        }
    }

    /// Where the value of a header begins, if the line is that header's. Names are compared in lower case.
    private static func value(_ bytes: [UInt8], _ start: Int, _ end: Int, of name: [UInt8]) -> Int? {
        guard end - start >= name.count else { return nil }
        for (offset, letter) in name.enumerated() where bytes[start + offset] | 0x20 != letter | 0x20 { return nil }
        return start + name.count
    }

    private static let contentLength = Array("content-length:".utf8)
    private static let connection = Array("connection:".utf8)
    private static let replayed = Array("idempotency-replayed: true".utf8)
}

/// What the loop looks for in bodies and events, without reading JSON.
enum ByteSearch {
    /// Where the text begins within `bytes[start..<end]`.
    static func find(_ text: [UInt8], in bytes: [UInt8], _ start: Int, _ end: Int) -> Int? {
        let first = text[0]
        var place = start
        let last = end - text.count
        while place <= last {
            if bytes[place] == first, matches(text, bytes, place) { return place }
            place += 1
        }
        return nil
    }

    /// Where the line that begins at `start` ends. By memchr, which looks at many bytes at once: four events an order are 2.4 KB.
    static func newline(in bytes: [UInt8], _ start: Int, _ end: Int) -> Int? {
        guard start < end else { return nil }
        return unsafe bytes.withUnsafeBytes { raw in
            guard let base = raw.baseAddress, let found = unsafe memchr(base + start, 0x0A, end - start) else { return nil }
            return unsafe UnsafeRawPointer(found) - base
        }
    }

    static func matches(_ text: [UInt8], _ bytes: [UInt8], _ place: Int) -> Bool {
        for offset in text.indices where bytes[place + offset] != text[offset] { return false }
        return true
    }

    static func hasPrefix(_ text: [UInt8], _ bytes: [UInt8], _ start: Int, _ end: Int) -> Bool {
        end - start >= text.count && matches(text, bytes, start)
    }

    /// FNV-1a over eight bytes at a time: tells two bodies apart.
    static func fingerprint(_ bytes: [UInt8], _ start: Int, _ end: Int) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325 ^ UInt64(end - start)
        var place = start
        while place < end {
            var word: UInt64 = 0
            for offset in 0..<min(8, end - place) { word |= UInt64(bytes[place + offset]) << UInt64(8 * offset) }
            hash = (hash ^ word) &* 0x100_0000_01b3
            hash ^= hash >> 29
            place += 8
        }
        return hash
    }
}

/// An order's identity in 64 bits: the first of the digest that its id is made from.
enum OrderDigest {
    /// `ord_20260916_` stands before the 26 characters of the digest.
    static let prefixCount = 13
    static let textCount = 39

    static func of(_ digest: [UInt8]) -> UInt64 { digest[0..<8].reduce(0) { $0 << 8 | UInt64($1) } }

    /// Reads it from an order id that begins at `start`; nil where there is none. Thirteen characters of base32 hold 65 bits.
    static func read(_ bytes: [UInt8], _ start: Int, _ end: Int) -> UInt64? {
        guard end - start >= textCount, bytes[start] == UInt8(ascii: "o") else { return nil }
        var value: UInt64 = 0
        for offset in 0..<13 {
            let letter = bytes[start + prefixCount + offset]
            let digit: UInt64
            switch letter {
            case UInt8(ascii: "a")...UInt8(ascii: "z"): digit = UInt64(letter - UInt8(ascii: "a"))
            case UInt8(ascii: "2")...UInt8(ascii: "7"): digit = UInt64(letter - UInt8(ascii: "2")) + 26
            default: return nil
            }
            value = offset < 12 ? value << 5 | digit : value << 4 | digit >> 1
        }
        return value
    }
}

/// Where a digest's order is: a table with open addressing, because a look-up an event must cost next to nothing.
struct OrderIndex {
    private var digests: [UInt64]
    private var orders: [Int32]
    private var count = 0

    init(capacity: Int) {
        var size = 1_024
        while size < capacity * 2 { size *= 2 }
        digests = Array(repeating: 0, count: size)
        orders = Array(repeating: -1, count: size)
    }

    subscript(digest: UInt64) -> Int? {
        var slot = Int(truncatingIfNeeded: digest) & (digests.count - 1)
        while orders[slot] >= 0 {
            if digests[slot] == digest { return Int(orders[slot]) }
            slot = (slot + 1) & (digests.count - 1)
        }
        return nil
    }

    mutating func insert(_ digest: UInt64, _ order: Int) {
        if count * 2 >= digests.count { grow() }
        place(digest, Int32(order))
        count += 1
    }

    private mutating func place(_ digest: UInt64, _ order: Int32) {
        var slot = Int(truncatingIfNeeded: digest) & (digests.count - 1)
        while orders[slot] >= 0 { slot = (slot + 1) & (digests.count - 1) }
        (digests[slot], orders[slot]) = (digest, order)
    }

    private mutating func grow() {
        let old = zip(digests, orders).filter { $0.1 >= 0 }
        digests = Array(repeating: 0, count: digests.count * 2)
        orders = Array(repeating: -1, count: digests.count)
        for (digest, order) in old { place(digest, order) }
    }
}
