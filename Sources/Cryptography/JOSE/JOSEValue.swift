/// A JSON value (RFC 8259) as JOSE needs it read: a member that stands twice in an object is refused, because two readers may take
/// different ones (RFC 8725 section 2.4, RFC 7515 section 4).
package indirect enum JOSEValue: Sendable, Equatable {
    case null
    case bool(Bool)
    /// The number's own text: nothing is lost to binary fractions here.
    case number(String)
    case string(String)
    case array([JOSEValue])
    case object([String: JOSEValue])

    /// Reads one JSON text in UTF-8.
    ///
    /// - Throws: `malformed`.
    package init(parsing bytes: [UInt8]) throws(CryptographyError) {
        var reader = JOSEReader(bytes)
        self = try reader.readDocument()
    }

    package var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    package var array: [JOSEValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    package var object: [String: JOSEValue]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// The strings of an array that holds nothing else.
    package var strings: [String]? {
        guard let array else { return nil }
        let strings = array.compactMap(\.string)
        return strings.count == array.count ? strings : nil
    }

    /// A NumericDate (RFC 7519 section 2: seconds since the epoch, fractions allowed) in whole milliseconds, rounded down.
    package var millisecondsSinceEpoch: Int64? {
        guard case .number(let text) = self, let seconds = Double(text) else { return nil }
        // Up to the year 9999: what lies outside is no date, and would not survive the conversion.
        guard seconds >= 0, seconds <= 253_402_300_799 else { return nil }
        return Int64(seconds * 1_000)
    }

    /// The value as JSON text, members in order of their names, without white space.
    package var json: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number(let text): text
        case .string(let text): Self.quoted(text)
        case .array(let elements): "[" + elements.map(\.json).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.sorted { $0.key < $1.key }.map { Self.quoted($0.key) + ":" + $0.value.json }.joined(separator: ",") + "}"
        }
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\u{0}"..<" ":
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}

/// A recursive reader of JSON. Tokens and key sets are small and verified tokens are cached, so plainness comes before speed.
struct JOSEReader {
    private let bytes: [UInt8]
    private var position = 0

    /// Deeper than any token or key set; keeps hostile input from using up the stack.
    static let maximumDepth = 16

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func readDocument() throws(CryptographyError) -> JOSEValue {
        let value = try readValue(depth: 0)
        skipWhiteSpace()
        guard position == bytes.count else { throw malformed("something follows the value") }
        return value
    }

    private mutating func readValue(depth: Int) throws(CryptographyError) -> JOSEValue {
        guard depth <= Self.maximumDepth else { throw malformed("nested too deep") }
        skipWhiteSpace()
        switch peek {
        case UInt8(ascii: "{"): return .object(try readObject(depth: depth))
        case UInt8(ascii: "["): return .array(try readArray(depth: depth))
        case UInt8(ascii: "\""): return .string(try readString())
        case UInt8(ascii: "t"): return try readWord("true", as: .bool(true))
        case UInt8(ascii: "f"): return try readWord("false", as: .bool(false))
        case UInt8(ascii: "n"): return try readWord("null", as: .null)
        default: return .number(try readNumber())
        }
    }

    private mutating func readObject(depth: Int) throws(CryptographyError) -> [String: JOSEValue] {
        position += 1
        var members: [String: JOSEValue] = [:]
        skipWhiteSpace()
        if take("}") { return members }
        repeat {
            skipWhiteSpace()
            guard peek == UInt8(ascii: "\"") else { throw malformed("a member has no name") }
            let name = try readString()
            skipWhiteSpace()
            guard take(":") else { throw malformed("a member has no value") }
            guard members.updateValue(try readValue(depth: depth + 1), forKey: name) == nil else {
                throw malformed("a member stands twice")
            }
            skipWhiteSpace()
        } while take(",")
        guard take("}") else { throw malformed("an object does not end") }
        return members
    }

    private mutating func readArray(depth: Int) throws(CryptographyError) -> [JOSEValue] {
        position += 1
        var elements: [JOSEValue] = []
        skipWhiteSpace()
        if take("]") { return elements }
        repeat {
            elements.append(try readValue(depth: depth + 1))
            skipWhiteSpace()
        } while take(",")
        guard take("]") else { throw malformed("an array does not end") }
        return elements
    }

    private mutating func readString() throws(CryptographyError) -> String {
        position += 1
        var units: [UInt8] = []
        while let byte = next() {
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = String(validating: units, as: UTF8.self) else { throw malformed("a string is not UTF-8") }
                return text
            case UInt8(ascii: "\\"):
                units.append(contentsOf: Array(String(Character(try readEscape())).utf8))
            case 0..<0x20:
                throw malformed("a control character in a string")
            default:
                units.append(byte)
            }
        }
        throw malformed("a string does not end")
    }

    private mutating func readEscape() throws(CryptographyError) -> Unicode.Scalar {
        switch next() {
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "/"): return "/"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            let unit = try readHex()
            if let scalar = Unicode.Scalar(unit) { return scalar }
            guard (0xD800..<0xDC00).contains(unit), next() == UInt8(ascii: "\\"), next() == UInt8(ascii: "u") else {
                throw malformed("half a surrogate pair")
            }
            let second = try readHex()
            guard (0xDC00..<0xE000).contains(second),
                let scalar = Unicode.Scalar(0x10000 + (UInt32(unit) - 0xD800) << 10 + (UInt32(second) - 0xDC00))
            else { throw malformed("half a surrogate pair") }
            return scalar
        default: throw malformed("an unknown escape")
        }
    }

    private mutating func readHex() throws(CryptographyError) -> UInt16 {
        var value: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = next(), let digit = Character(Unicode.Scalar(byte)).hexDigitValue, byte < 0x80 else {
                throw malformed("an unknown escape")
            }
            value = value << 4 | UInt16(digit)
        }
        return value
    }

    private mutating func readNumber() throws(CryptographyError) -> String {
        let start = position
        _ = take("-")
        if !take("0") { try readDigits() }
        if take(".") { try readDigits() }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            try readDigits()
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func readDigits() throws(CryptographyError) {
        let start = position
        while let byte = peek, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        guard position > start else { throw malformed("neither a value nor a number") }
    }

    private mutating func readWord(_ word: String, as value: JOSEValue) throws(CryptographyError) -> JOSEValue {
        guard bytes[position...].starts(with: word.utf8) else { throw malformed("neither a value nor a number") }
        position += word.utf8.count
        return value
    }

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func next() -> UInt8? {
        guard let byte = peek else { return nil }
        position += 1
        return byte
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func skipWhiteSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private func malformed(_ message: String) -> CryptographyError {
        CryptographyError(.malformed, "read JSON", "\(message), at byte \(position)")
    }
}
