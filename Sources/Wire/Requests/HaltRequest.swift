package import Trading

/// `POST /v1/operator/halts {"scope","subject","reason"}`; `subject` is left out for the venue.
package struct HaltRequest: Hashable, Sendable {
    package let halt: Halt

    package static let fieldNames = ["scope", "subject", "reason"]
    /// Long enough for a sentence and a ticket's number.
    package static let reasonLimitBytes = 256

    /// - Throws: `malformed_request` or `invalid_field`.
    package static func read(_ body: [UInt8]) throws(Problem) -> HaltRequest {
        let fields = try RequestFields(body, expecting: fieldNames)
        let scope = try fields.parsed("scope", "venue, symbol or account", Self.scope)
        let reason = try fields.parsed("reason", "why, in up to \(reasonLimitBytes) bytes") { text in
            !text.isEmpty && text.utf8.count <= reasonLimitBytes ? text : nil
        }
        let subject =
            switch scope {
            case .killSwitch, .venue:
                try fields.absent("subject", "The venue is halted as a whole. Leave 'subject' out, or send scope symbol or account.")
            case .symbol: try fields.parsed("subject", "the symbol to halt", Symbol.init).text
            case .account: try fields.parsed("subject", "the account to halt", AccountID.init).text
            }
        return HaltRequest(halt: Halt(scope: scope, subject: subject, reason: reason))
    }

    /// A halt that a request may name. The kill switch is more than a halt: it also cancels, and is the command line's.
    package static func scope(_ text: String) -> Halt.Scope? { Halt.Scope(rawValue: text).flatMap { $0 == .killSwitch ? nil : $0 } }

    /// `{"halts":[{"scope","subject","reason"},…]}`.
    package static func listBody(_ halts: [Halt]) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.name("halts")
        json.beginArray()
        for halt in halts {
            json.beginObject()
            json.member("scope", halt.scope.rawValue)
            json.member("subject", halt.subject)
            json.member("reason", halt.reason)
            json.endObject()
        }
        json.endArray()
        json.endObject()
        return json.bytes
    }
}
