import Cryptography
import Trading

/// The members of a request's body, each of them expected: an unknown or duplicate one is refused, because a trader must never believe in a
/// field that we ignore.
struct RequestFields {
    private let members: [JSONMember]

    init(_ body: [UInt8], expecting names: [String]) throws(Problem) {
        let value: JSONValue
        do {
            value = try JSONReader.read(body)
        } catch  where error.code == .tooLarge {
            throw Problem(.payloadTooLarge, "The body is too large: \(error.message).")
        } catch {
            throw Problem(.malformedRequest, "The body is not the JSON that is taken here: \(error.message) (byte \(error.position)).")
        }
        guard case .object(let members) = value else {
            throw Problem(.malformedRequest, "The body is \(value.kind). Send a JSON object.")
        }
        for member in members where !names.contains(where: { $0.hasSameBytes(as: member.name) }) {
            throw .invalid(
                member.name,
                "The field \(member.name.quotedForMessage) is not known here. Leave it out; known are \(names.joined(separator: ", "))."
            )
        }
        self.members = members
    }

    /// The field, or nil when it is absent or null.
    func optional(_ name: String) -> JSONValue? {
        guard let value = members.first(where: { $0.name.hasSameBytes(as: name) })?.value, value != .null else { return nil }
        return value
    }

    func required(_ name: String) throws(Problem) -> JSONValue {
        guard let value = optional(name) else { throw .invalid(name, "The field '\(name)' is missing. Send it.") }
        return value
    }

    /// A field that must not be there in this case (null counts as absent); its value is the empty text.
    func absent(_ name: String, _ detail: String) throws(Problem) -> String {
        guard optional(name) == nil else { throw .invalid(name, detail) }
        return ""
    }

    /// Refuses fields that mean something elsewhere and nothing here (null counts as absent).
    ///
    /// - Parameter what: completes the sentence "… means nothing to …".
    func only(_ names: [String], _ what: String) throws(Problem) {
        for member in members where member.value != .null && !names.contains(member.name) {
            throw .invalid(member.name, "The field '\(member.name)' means nothing to \(what). Leave it out.")
        }
    }

    /// A required string; `expected` completes the sentence "Send …".
    func text(_ name: String, _ expected: String) throws(Problem) -> String {
        guard case .string(let text) = try required(name) else { throw .invalid(name, "'\(name)' is no string. Send \(expected).") }
        return text
    }

    /// A required string that `parse` makes something of. Only ASCII is given to it: beyond that, Swift's equality is wider than identity.
    func parsed<Value>(_ name: String, _ expected: String, _ parse: (String) -> Value?) throws(Problem) -> Value {
        let text = try text(name, expected)
        guard text.isASCII, let value = parse(text) else { throw .invalid(name, "'\(name)' is not valid. Send \(expected).") }
        return value
    }

    /// A whole number within the range, written as a JSON number without fraction or exponent.
    func wholeNumber(_ name: String, in range: ClosedRange<Int64>) throws(Problem) -> Int64 {
        guard case .number(let text) = try required(name), let number = text.wholeNumber, range.contains(number) else {
            throw .invalid(
                name,
                "'\(name)' is not valid. Send a JSON number from \(range.lowerBound) to \(range.upperBound) without fraction or exponent."
            )
        }
        return number
    }

    /// Required bytes in strict base64, at least one.
    func base64(_ name: String, limitBytes: Int) throws(Problem) -> [UInt8] {
        try parsed(name, "1 to \(limitBytes) bytes in base64, standard alphabet with padding") { text in
            text.base64(limitBytes: limitBytes).flatMap { $0.isEmpty ? nil : $0 }
        }
    }

    /// Money, or nil when it is absent or null: a JSON number or a string of the same form, at most four decimals, no sign, no exponent.
    func money(_ name: String) throws(Problem) -> Amount? {
        switch optional(name) {
        case nil: return nil
        case .number(let text)?, .string(let text)?:
            if !text.hasLeadingZero, let amount = Amount(text) { return amount }
        case .some: break
        }
        throw .invalid(
            name,
            "'\(name)' is not valid. Send an amount as a number or string, at most four decimals, no sign, no exponent, at most \(Amount(units: .max))."
        )
    }
}

extension String {
    /// `007` is not how JSON writes 7, so it is not how a string of the same form writes it either.
    fileprivate var hasLeadingZero: Bool {
        let start = utf8.prefix(2)
        return start.count == 2 && start.first == UInt8(ascii: "0") && start.last != UInt8(ascii: ".")
    }
}

extension String {
    /// The bytes of a strict base64 text (RFC 4648 section 4); nil when it is none or has more bytes than that, which is seen before anything is decoded.
    func base64(limitBytes: Int) -> [UInt8]? {
        guard utf8.count / 4 <= (limitBytes + 2) / 3, let bytes = Base64.standard.decode(self), bytes.count <= limitBytes else { return nil }
        return bytes
    }
}
