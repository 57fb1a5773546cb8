package import Trading

/// The parameters of a request's query, each of them expected: like fields, unknown and repeated ones are refused.
package struct QueryParameters {
    private let pairs: [(name: String, value: String)]

    /// Longest query taken, in bytes: the longest sensible one is under 300.
    package static let limitBytes = 2_048

    /// - Parameters:
    ///   - query: what stands after `?`, still percent-encoded; nil when there was none.
    ///   - names: the parameters that this endpoint knows.
    /// - Throws: `malformed_request` when it is too long or an escape is broken, `invalid_field` for unknown or repeated parameters.
    package init(_ query: String?, expecting names: [String]) throws(Problem) {
        let query = query ?? ""
        guard query.utf8.count <= Self.limitBytes else {
            throw Problem(.malformedRequest, "The query has more than \(Self.limitBytes) bytes. Send a shorter one.")
        }
        var pairs: [(name: String, value: String)] = []
        for part in query.utf8.split(separator: UInt8(ascii: "&")) {
            let halves = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(halves[0]), let value = Self.decoded(halves.count == 2 ? halves[1] : halves[0].prefix(0)) else {
                throw Problem(.malformedRequest, "The query holds an invalid percent-escape. Encode it as UTF-8.")
            }
            pairs.append((name, value))
        }
        try self.init(decoded: pairs, expecting: names)
    }

    /// The same of parameters that were decoded already, in the order of the target.
    package init(decoded pairs: [(name: String, value: String)], expecting names: [String]) throws(Problem) {
        var taken: [(name: String, value: String)] = []
        for (name, value) in pairs {
            guard names.contains(where: { $0.hasSameBytes(as: name) }) else {
                let known = names.isEmpty ? "none is" : "known are \(names.joined(separator: ", "))"
                throw .invalid(name, "The parameter \(name.quotedForMessage) is not known here. Leave it out; \(known).")
            }
            guard !taken.contains(where: { $0.name == name }) else {
                throw .invalid(name, "The parameter '\(name)' stands there twice. Send it once.")
            }
            taken.append((name, value))
        }
        self.pairs = taken
    }

    /// The decoded value; nil when the parameter is absent or empty.
    package subscript(name: String) -> String? {
        guard let value = pairs.first(where: { $0.name == name })?.value, !value.isEmpty else { return nil }
        return value
    }

    /// A parameter that `parse` makes something of, or nil when it is absent or empty; `expected` completes the sentence "Send …".
    package func parsed<Value>(_ name: String, _ expected: String, _ parse: (String) -> Value?) throws(Problem) -> Value? {
        guard let text = self[name] else { return nil }
        guard text.isASCII, let value = parse(text) else {
            throw .invalid(name, "The parameter '\(name)' is not valid. Send \(expected), or leave it out.")
        }
        return value
    }

    /// The `account_id` that a request speaks of; nil leaves it to the token, if that has just one.
    package func account() throws(Problem) -> AccountID? {
        try parsed("account_id", "an account id", AccountID.init)
    }

    /// A whole number within the range, or nil when it is absent or empty.
    package func wholeNumber(_ name: String, in range: ClosedRange<Int>) throws(Problem) -> Int? {
        try parsed(name, "a whole number from \(range.lowerBound) to \(range.upperBound)") { text in
            text.wholeNumber.map(Int.init).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    private static func decoded(_ text: Substring.UTF8View.SubSequence) -> String? { decoded(Array(text)) }
    private static func decoded(_ text: [UInt8]) -> String? {
        var bytes: [UInt8] = []
        var index = 0
        while index < text.count {
            switch text[index] {
            case UInt8(ascii: "%"):
                guard index + 2 < text.count, let high = text[index + 1].hexDigit, let low = text[index + 2].hexDigit else { return nil }
                bytes.append(high << 4 | low)
                index += 3
            case UInt8(ascii: "+"):
                bytes.append(UInt8(ascii: " "))
                index += 1
            default:
                bytes.append(text[index])
                index += 1
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
