import Trading

/// How much a reader takes from a stranger.
package struct JSONLimits: Sendable {
    /// The whole text, in bytes.
    package let bytes: Int
    /// Arrays and objects inside one another; also bounds the reader's recursion.
    package let depth: Int
    /// Members of one object; bounds the search for duplicates, which is quadratic.
    package let members: Int

    package init(bytes: Int, depth: Int, members: Int) {
        self.bytes = bytes
        self.depth = depth
        self.members = members
    }

    /// A request: an order is about 250 bytes and flat, a credential about 400.
    package static let request = JSONLimits(bytes: 16_384, depth: 8, members: 64)
    /// An answer of ours, read by a client: a page of 500 orders is about 300 KB and four deep.
    package static let answer = JSONLimits(bytes: 4_194_304, depth: 16, members: 256)
}

/// Why a text is not the JSON that we take, and where.
package struct JSONError: Error, Hashable, Sendable {
    package enum Code: Hashable, Sendable {
        case tooLarge
        case tooDeep
        case tooManyMembers
        case unexpectedByte
        case unexpectedEnd
        case trailingBytes
        case duplicateMember
        case invalidUTF8
        case controlCharacter
        case invalidEscape
        case loneSurrogate
        case invalidNumber
    }

    package let code: Code
    /// Offset of the offending byte, from 0; the length of the text where it ended too early.
    package let position: Int
    /// A clause without full stop, fit to be shown to the sender.
    package let message: String
}

/// Reads JSON strictly (RFC 8259): valid UTF-8, no duplicate names at any level, no byte order mark, nothing after the value.
///
/// Where parsers differ an attacker finds room: what one reads as the first `quantity` another reads as the last. So both are refused.
package struct JSONReader {
    private let bytes: [UInt8]
    private let limits: JSONLimits
    private var position = 0

    private init(_ bytes: [UInt8], _ limits: JSONLimits) {
        self.bytes = bytes
        self.limits = limits
    }

    /// The one value that the text holds.
    package static func read(_ bytes: [UInt8], limits: JSONLimits = .request) throws(JSONError) -> JSONValue {
        guard bytes.count <= limits.bytes else {
            throw JSONError(code: .tooLarge, position: limits.bytes, message: "the text has \(bytes.count) bytes, at most \(limits.bytes) are taken")
        }
        var reader = JSONReader(bytes, limits)
        let value = try reader.value(depth: 0)
        reader.skipSpace()
        guard reader.position == bytes.count else { throw reader.failure(.trailingBytes, "something follows the value") }
        return value
    }

    // MARK: Values

    private mutating func value(depth: Int) throws(JSONError) -> JSONValue {
        skipSpace()
        switch try current("a value") {
        case UInt8(ascii: "{"): return .object(try object(depth: depth + 1))
        case UInt8(ascii: "["): return .array(try array(depth: depth + 1))
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try number())
        default: throw failure(.unexpectedByte, "a value was expected")
        }
    }

    private mutating func object(depth: Int) throws(JSONError) -> [JSONMember] {
        try enter(depth)
        var members: [JSONMember] = []
        // An order has nine.
        members.reserveCapacity(9)
        if try closes(UInt8(ascii: "}"), "a member's name or '}'") { return members }
        repeat {
            skipSpace()
            let start = position
            guard try current("a member's name") == UInt8(ascii: "\"") else { throw failure(.unexpectedByte, "a member's name was expected") }
            let name = try string()
            guard !members.contains(where: { $0.name.hasSameBytes(as: name) }) else {
                throw failure(.duplicateMember, "the member \(name.quotedForMessage) stands there twice", at: start)
            }
            guard members.count < limits.members else {
                throw failure(.tooManyMembers, "an object has more than \(limits.members) members", at: start)
            }
            skipSpace()
            guard try current("':'") == UInt8(ascii: ":") else { throw failure(.unexpectedByte, "':' was expected") }
            position += 1
            members.append(JSONMember(name, try value(depth: depth)))
        } while try continues(until: UInt8(ascii: "}"), "',' or '}'")
        return members
    }

    private mutating func array(depth: Int) throws(JSONError) -> [JSONValue] {
        try enter(depth)
        var values: [JSONValue] = []
        if try closes(UInt8(ascii: "]"), "a value or ']'") { return values }
        repeat {
            values.append(try value(depth: depth))
        } while try continues(until: UInt8(ascii: "]"), "',' or ']'")
        return values
    }

    private mutating func enter(_ depth: Int) throws(JSONError) {
        guard depth <= limits.depth else { throw failure(.tooDeep, "arrays and objects nest more than \(limits.depth) deep") }
        position += 1
    }

    private mutating func closes(_ end: UInt8, _ expected: String) throws(JSONError) -> Bool {
        skipSpace()
        guard try current(expected) == end else { return false }
        position += 1
        return true
    }

    /// After an element: true on a comma, false on the closing byte.
    private mutating func continues(until end: UInt8, _ expected: String) throws(JSONError) -> Bool {
        if try closes(end, expected) { return false }
        guard bytes[position] == UInt8(ascii: ",") else { throw failure(.unexpectedByte, "\(expected) was expected") }
        position += 1
        return true
    }

    private mutating func literal(_ text: StaticString, _ value: JSONValue) throws(JSONError) -> JSONValue {
        for expected in text.description.utf8 {
            guard try current(text.description) == expected else { throw failure(.unexpectedByte, "'\(text)' was expected") }
            position += 1
        }
        return value
    }

    // MARK: Numbers

    private mutating func number() throws(JSONError) -> String {
        let start = position
        if bytes[position] == UInt8(ascii: "-") { position += 1 }
        let first = position
        try digits()
        guard bytes[first] != UInt8(ascii: "0") || position == first + 1 else {
            throw failure(.invalidNumber, "a number has a leading zero", at: first)
        }
        if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
            position += 1
            try digits()
        }
        if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
            position += 1
            if position < bytes.count, bytes[position] == UInt8(ascii: "+") || bytes[position] == UInt8(ascii: "-") { position += 1 }
            try digits()
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func digits() throws(JSONError) {
        guard try current("a digit").isDigit else { throw failure(.invalidNumber, "a digit was expected") }
        while position < bytes.count, bytes[position].isDigit { position += 1 }
    }

    // MARK: Strings

    private mutating func string() throws(JSONError) -> String {
        position += 1
        var start = position
        var unescaped: [UInt8]?
        while true {
            switch try current("the string's closing quote") {
            case UInt8(ascii: "\""):
                let rest = bytes[start..<position]
                position += 1
                guard let unescaped else { return String(decoding: rest, as: UTF8.self) }
                return String(decoding: unescaped + rest, as: UTF8.self)
            case UInt8(ascii: "\\"):
                var text = unescaped ?? []
                text += bytes[start..<position]
                try escape(into: &text)
                unescaped = text
                start = position
            case 0x00..<0x20:
                throw failure(.controlCharacter, "a string holds a bare control character")
            case 0x80...0xFF:
                guard let length = bytes.lengthOfUTF8Sequence(at: position) else {
                    throw failure(.invalidUTF8, "the text is not valid UTF-8")
                }
                position += length
            default:
                position += 1
            }
        }
    }

    private mutating func escape(into text: inout [UInt8]) throws(JSONError) {
        let start = position
        position += 1
        let letter = try current("an escape")
        position += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(letter)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"): text += String(try scalar(from: start)).utf8
        default: throw failure(.invalidEscape, "a string holds an unknown escape", at: start)
        }
    }

    /// What follows `\u`: four hexadecimal digits, or two such escapes that make a surrogate pair (RFC 8259 section 7).
    private mutating func scalar(from start: Int) throws(JSONError) -> Unicode.Scalar {
        let first = try fourHexDigits(from: start)
        if let scalar = Unicode.Scalar(first) { return scalar }
        if first < 0xDC00, position + 1 < bytes.count, bytes[position] == UInt8(ascii: "\\"), bytes[position + 1] == UInt8(ascii: "u") {
            position += 2
            let second = try fourHexDigits(from: start)
            if (0xDC00...0xDFFF).contains(second), let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00)) {
                return scalar
            }
        }
        throw failure(.loneSurrogate, "a string holds half of a surrogate pair", at: start)
    }

    private mutating func fourHexDigits(from start: Int) throws(JSONError) -> UInt32 {
        var number: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = try current("four hexadecimal digits").hexDigit else {
                throw failure(.invalidEscape, "four hexadecimal digits were expected", at: start)
            }
            number = number << 4 | UInt32(digit)
            position += 1
        }
        return number
    }

    // MARK: Bytes

    private mutating func skipSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }

    private func current(_ expected: @autoclosure () -> String) throws(JSONError) -> UInt8 {
        guard position < bytes.count else { throw failure(.unexpectedEnd, "the text ends where \(expected()) was expected") }
        return bytes[position]
    }

    private func failure(_ code: JSONError.Code, _ message: String, at offset: Int? = nil) -> JSONError {
        JSONError(code: code, position: offset ?? position, message: message)
    }
}
