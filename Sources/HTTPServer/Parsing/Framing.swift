/// How the body of a request is delimited (RFC 9112 section 6.3).
enum Framing {
    case length(Int)
    case chunked

    /// The parser has its own checks of these fields; this does not rely on them.
    init(_ headers: HTTPHeaders, isVersion10: Bool) throws(RequestFault) {
        let coding = headers.single("transfer-encoding")
        let length = headers.single("content-length")
        if coding.count > 0 {
            guard length.count == 0 else { throw .malformed("Content-Length may not come beside Transfer-Encoding.") }
            guard !isVersion10 else { throw .malformed("HTTP/1.0 has no Transfer-Encoding.") }
            guard coding.count == 1, String(decoding: coding.value, as: UTF8.self).lowercased() == "chunked" else {
                throw RequestFault(status: 501, detail: "Only the transfer coding chunked is known.")
            }
            self = .chunked
            return
        }
        guard length.count > 0 else {
            self = .length(0)
            return
        }
        guard length.count == 1 else { throw .malformed("Content-Length may come only once.") }
        guard length.value.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let bytes = Int(String(decoding: length.value, as: UTF8.self)) else {
            throw .malformed("Content-Length is not a number.")
        }
        self = .length(bytes)
    }
}

extension RequestParser {
    /// Characters of a method or a field name (RFC 9110 section 5.6.2).
    static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E, 0x5F, 0x60, 0x7C, 0x7E: true
        default: false
        }
    }

    /// Whether all the bytes are what `isAllowed` lets through. Without an end at the first that is not: a loop that is always run to its end is
    /// done in a few wide instructions, and nearly all texts are sound.
    @inline(__always)
    static func all(_ bytes: Span<UInt8>, from start: Int, to end: Int, _ isAllowed: (UInt8) -> Bool) -> Bool {
        var areAllowed = true
        for index in start..<end { areAllowed = isAllowed(bytes[index]) && areAllowed }
        return areAllowed
    }

    /// Characters of a field value: visible ones, space, tab, and bytes beyond ASCII (RFC 9110 section 5.5).
    static func isFieldText(_ byte: UInt8) -> Bool { byte == 0x09 || byte >= 0x20 && byte != 0x7F }

    /// Characters of `host[:port]` (RFC 3986 section 3.2.2, without user information).
    static func isAuthority(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x3B, 0x41...0x5B, 0x5D, 0x61...0x7A: true
        case 0x21, 0x24...0x2B, 0x2D, 0x2E, 0x3D, 0x5F, 0x7E, 0x25: true
        default: false
        }
    }
}
