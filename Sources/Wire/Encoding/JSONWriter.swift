package import Trading

/// Writes JSON by appending bytes. Commas come by themselves, nesting is the caller's: every `begin` needs its `end`.
package struct JSONWriter {
    package private(set) var bytes: [UInt8] = []

    package init(reservingBytes capacity: Int = 256) {
        bytes.reserveCapacity(capacity)
    }

    // MARK: Structure

    package mutating func beginObject() { open(UInt8(ascii: "{")) }
    package mutating func endObject() { bytes.append(UInt8(ascii: "}")) }
    package mutating func beginArray() { open(UInt8(ascii: "[")) }
    package mutating func endArray() { bytes.append(UInt8(ascii: "]")) }

    /// The name of the member whose value is written next.
    package mutating func name(_ name: String) {
        separate()
        appendQuoted(name)
        bytes.append(UInt8(ascii: ":"))
    }

    // MARK: Values

    package mutating func string(_ text: String) {
        separate()
        appendQuoted(text)
    }

    package mutating func integer(_ number: Int64) {
        separate()
        bytes.append(decimal: number)
    }

    /// Money as a JSON number, exact, two to four decimals (design section 4.1: order endpoints and ticks).
    package mutating func number(_ amount: Amount) {
        separate()
        bytes.append(amount, minimumDecimals: 2)
    }

    /// Money as a decimal string of the same form (every other endpoint).
    package mutating func string(_ amount: Amount) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        bytes.append(amount, minimumDecimals: 2)
        bytes.append(UInt8(ascii: "\""))
    }

    /// A key in lower case.
    package mutating func string(_ key: IdempotencyKey) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        bytes.append(key)
        bytes.append(UInt8(ascii: "\""))
    }

    package mutating func bool(_ flag: Bool) {
        separate()
        bytes += (flag ? "true" : "false").utf8
    }

    package mutating func null() {
        separate()
        bytes += "null".utf8
    }

    /// A value that is JSON already, byte for byte: a stored answer inside another.
    package mutating func verbatim(_ json: [UInt8]) {
        precondition(!json.isEmpty, "No bytes are not a JSON value.")
        separate()
        bytes += json
    }

    package mutating func value(_ value: JSONValue) {
        switch value {
        case .object(let members):
            beginObject()
            for member in members {
                name(member.name)
                self.value(member.value)
            }
            endObject()
        case .array(let values):
            beginArray()
            for element in values { self.value(element) }
            endArray()
        case .string(let text): string(text)
        case .number(let text):
            separate()
            bytes += text.utf8
        case .bool(let flag): bool(flag)
        case .null: null()
        }
    }

    // MARK: Members

    /// Name and text; nil is written as null.
    package mutating func member(_ name: String, _ text: String?) {
        self.name(name)
        if let text { string(text) } else { null() }
    }

    /// Name and whole number; nil is written as null.
    package mutating func member(_ name: String, _ number: Int64?) {
        self.name(name)
        if let number { integer(number) } else { null() }
    }

    /// Name and money in the given form; nil is written as null.
    package mutating func member(_ name: String, _ amount: Amount?, as form: MoneyForm) {
        self.name(name)
        switch (amount, form) {
        case (let amount?, .number): number(amount)
        case (let amount?, .string): string(amount)
        case (nil, _): null()
        }
    }

    package mutating func member(_ name: String, _ flag: Bool) {
        self.name(name)
        bool(flag)
    }

    // MARK: Bytes

    private mutating func open(_ bracket: UInt8) {
        separate()
        bytes.append(bracket)
    }

    /// A comma unless this is the first thing inside its bracket or follows a name. The last byte tells: no complete value ends in one of these.
    private mutating func separate() {
        switch bytes.last {
        case nil, UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: ":"): return
        default: bytes.append(UInt8(ascii: ","))
        }
    }

    private mutating func appendQuoted(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        if text.utf8.contains(where: { $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }) {
            appendEscaped(text)
        } else {
            bytes.append(text: text)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func appendEscaped(_ text: String) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0x08: bytes += "\\b".utf8
            case 0x09: bytes += "\\t".utf8
            case 0x0A: bytes += "\\n".utf8
            case 0x0C: bytes += "\\f".utf8
            case 0x0D: bytes += "\\r".utf8
            case 0x00..<0x20:
                bytes += "\\u00".utf8
                bytes.append(hexByte: byte)
            default: bytes.append(byte)
            }
        }
    }
}

/// How an endpoint writes money (design section 4.1).
package enum MoneyForm: Sendable {
    /// 125.50: the order endpoints and the tick of the stream.
    case number
    /// "125.50": every other endpoint.
    case string
}
