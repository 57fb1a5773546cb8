/// A JSON value as it was written (RFC 8259): members keep their order and numbers their text, so that money never becomes a binary float.
package enum JSONValue: Hashable, Sendable {
    case object([JSONMember])
    case array([JSONValue])
    case string(String)
    /// The number's own text, in the grammar of RFC 8259 section 6: `125.50` stays `125.50`.
    case number(String)
    case bool(Bool)
    case null

    /// What the value is, in the words of RFC 8259, for messages.
    package var kind: String {
        switch self {
        case .object: "an object"
        case .array: "an array"
        case .string: "a string"
        case .number: "a number"
        case .bool: "a boolean"
        case .null: "null"
        }
    }

    /// The member of that name, or nil when there is none or the value is no object. Names are compared byte by byte.
    package subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name.hasSameBytes(as: name) }?.value
    }
}

/// One name and value of an object.
package struct JSONMember: Hashable, Sendable {
    package let name: String
    package let value: JSONValue

    package init(_ name: String, _ value: JSONValue) {
        self.name = name
        self.value = value
    }
}
