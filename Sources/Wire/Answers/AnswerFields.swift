import Trading

/// An answer that a client cannot read: it comes from something that is not this router, or from one that speaks another version.
package struct AnswerError: Error, Hashable, Sendable {
    package enum Code: Hashable, Sendable {
        case notJSON
        case missingMember
        case invalidMember
    }

    package let code: Code
    /// What was read: "order", "problem", …
    package let operation: String
    package let message: String
}

/// The members of an answer, read by a client. Unlike requests, unknown members pass: a newer router may say more than this client knows.
struct AnswerFields {
    let value: JSONValue
    private let operation: String

    init(_ body: [UInt8], _ operation: String) throws(AnswerError) {
        do {
            value = try JSONReader.read(body, limits: .answer)
        } catch {
            throw AnswerError(code: .notJSON, operation: operation, message: "\(error.message) (byte \(error.position))")
        }
        self.operation = operation
    }

    init(_ value: JSONValue, _ operation: String) {
        self.value = value
        self.operation = operation
    }

    /// The member, or nil when it is absent or null.
    func optional(_ name: String) -> JSONValue? {
        guard let member = value[name], member != .null else { return nil }
        return member
    }

    func required(_ name: String) throws(AnswerError) -> JSONValue {
        guard let member = optional(name) else { throw AnswerError(code: .missingMember, operation: operation, message: "'\(name)' is missing") }
        return member
    }

    func invalid(_ name: String) -> AnswerError {
        AnswerError(code: .invalidMember, operation: operation, message: "'\(name)' is not valid")
    }

    func text(_ name: String) throws(AnswerError) -> String {
        guard case .string(let text) = try required(name) else { throw invalid(name) }
        return text
    }

    func optionalText(_ name: String) throws(AnswerError) -> String? {
        optional(name) == nil ? nil : try text(name)
    }

    func parsed<Value>(_ name: String, _ parse: (String) -> Value?) throws(AnswerError) -> Value {
        let text = try text(name)
        guard text.isASCII, let value = parse(text) else { throw invalid(name) }
        return value
    }

    func optionalParsed<Value>(_ name: String, _ parse: (String) -> Value?) throws(AnswerError) -> Value? {
        optional(name) == nil ? nil : try parsed(name, parse)
    }

    /// Zero or more: nothing that answers count or date is negative.
    func wholeNumber(_ name: String) throws(AnswerError) -> Int64 {
        guard case .number(let text) = try required(name), let number = text.wholeNumber else { throw invalid(name) }
        return number
    }

    func optionalWholeNumber(_ name: String) throws(AnswerError) -> Int64? {
        optional(name) == nil ? nil : try wholeNumber(name)
    }

    func flag(_ name: String) throws(AnswerError) -> Bool {
        guard case .bool(let flag) = try required(name) else { throw invalid(name) }
        return flag
    }

    /// Money in either form, number or string.
    func money(_ name: String) throws(AnswerError) -> Amount {
        switch try required(name) {
        case .number(let text), .string(let text):
            guard let amount = Amount(text) else { throw invalid(name) }
            return amount
        default: throw invalid(name)
        }
    }

    func optionalMoney(_ name: String) throws(AnswerError) -> Amount? {
        optional(name) == nil ? nil : try money(name)
    }

    /// The member's own JSON. Numbers keep their text and our answers hold no white space, so these are the bytes that were written.
    func json(_ name: String) throws(AnswerError) -> [UInt8] {
        var json = JSONWriter()
        json.value(try required(name))
        return json.bytes
    }
}
