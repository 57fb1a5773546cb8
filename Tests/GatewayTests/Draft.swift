import Cryptography
import Foundation
import JourneySupport
import Trading

/// An order as the author of a client writes it from the published contract alone: its body, its signed form and its key share no code with the
/// router.
struct Draft: Sendable {
    var account: String
    var symbol = "NVDA"
    var side = "BUY"
    var type = "LIMIT"
    /// Far below the market, so that it rests.
    var limit: String? = "100.00"
    var stop: String?
    var quantity = "10"
    var timeInForce = "DAY"
    var total: String?
    var key = Draft.newKey()
    var clientTime = Town.now()
    var quoteTime = Town.now()

    init(_ account: String, _ change: (inout Draft) -> Void = { _ in }) {
        self.account = account
        change(&self)
    }

    /// The same order asked for again now: fresh timestamps, so a fresh signature.
    var again: Draft {
        var draft = self
        draft.clientTime = Town.now()
        draft.quoteTime = Town.now()
        return draft
    }

    var body: String {
        var members = [#""account_id":"\#(account)""#, #""symbol":"\#(symbol)""#, #""side":"\#(side)""#, #""order_type":"\#(type)""#]
        if let limit { members.append(#""limit_price":\#(limit)"#) }
        if let stop { members.append(#""stop_price":\#(stop)"#) }
        members += [#""quantity":\#(quantity)"#, #""time_in_force":"\#(timeInForce)""#]
        if let total { members.append(#""estimated_total_usd":\#(total)"#) }
        return "{" + members.joined(separator: ",") + "}"
    }

    /// Section "The signed form" of the contract, line by line.
    var form: String {
        [
            "TRADING-ORDER-V1", "account_id=\(account)", "symbol=\(symbol)", "side=\(side)", "order_type=\(type)", "quantity=\(quantity)",
            "limit_price=\(Self.fourDecimals(limit))", "stop_price=\(Self.fourDecimals(stop))", "time_in_force=\(timeInForce)",
            "estimated_total_usd=\(Self.fourDecimals(total))", "idempotency_key=\(key.lowercased())", "client_timestamp=\(clientTime)",
            "quote_reference_timestamp=\(quoteTime)",
        ].joined(separator: "\n")
    }

    private static func fourDecimals(_ money: String?) -> String {
        guard let money else { return "" }
        let parts = money.replacing("\"", with: "").split(separator: ".", omittingEmptySubsequences: false)
        let decimals = parts.count > 1 ? String(parts[1]) : ""
        return parts[0] + "." + decimals + String(repeating: "0", count: max(0, 4 - decimals.count))
    }

    /// RFC 9562 section 5.7.
    static func newKey(at time: Int64 = Town.now()) -> String {
        let hex = String(time, radix: 16)
        let head = String(repeating: "0", count: 12 - hex.count) + hex
        let random = (0..<3).map { _ in String(format: "%03x", Int.random(in: 0..<4_096)) }
        let tail = (0..<3).map { _ in String(format: "%04x", Int.random(in: 0..<65_536)) }.joined()
        return "\(head.prefix(8))-\(head.suffix(4))-7\(random[0])-8\(random[1])-\(tail)"
    }
}

/// A trader's program: a phone, and the router that it talks to.
struct Client: Sendable {
    let phone: Phone
    let port: UInt16

    var account: String { phone.account.text }

    func draft(_ change: (inout Draft) -> Void = { _ in }) -> Draft { Draft(account, change) }

    /// The headers of a signed order.
    func headers(_ draft: Draft) throws -> [String: String] {
        let signature = Data(try phone.key.sign(Array(draft.form.utf8))).base64EncodedString()
        Secrets.keep(signature)
        var headers = [
            "Authorization": "Bearer \(phone.token)", "Content-Type": "application/json", "Idempotency-Key": draft.key,
            "X-Biometric-Signature": signature, "X-Client-Timestamp": String(draft.clientTime),
            "X-Quote-Reference-Timestamp": String(draft.quoteTime),
        ]
        if let credentialID = phone.credentialID { headers["X-Biometric-Credential"] = credentialID }
        return headers
    }

    /// - Parameters:
    ///   - headers: wins over the right ones; an empty value leaves the header out.
    ///   - body: instead of the draft's.
    func place(_ draft: Draft, headers changed: [String: String] = [:], body: String? = nil) async throws -> Phone.Answer {
        let headers = try headers(draft).merging(changed) { _, new in new }.filter { !$0.value.isEmpty }
        return try await Phone.exchange("POST", "/v1/trading/orders", port: port, headers: headers, body: Array((body ?? draft.body).utf8))
    }

    func get(_ path: String) async throws -> Phone.Answer { try await phone.send("GET", path, port: port) }
    func delete(_ path: String) async throws -> Phone.Answer { try await phone.send("DELETE", path, port: port) }
    func post(_ path: String, _ body: String? = nil) async throws -> Phone.Answer {
        try await phone.send("POST", path, port: port, body: body.map { Array($0.utf8) })
    }

    /// The same program with another token.
    func with(token: String) -> Client {
        Secrets.keep(token)
        return Client(phone: Phone(account: phone.account, token: token, key: phone.key, credentialID: phone.credentialID), port: port)
    }

    /// The same program without naming its credential.
    var anonymous: Client { Client(phone: Phone(account: phone.account, token: phone.token, key: phone.key, credentialID: nil), port: port) }
}

/// An answer's JSON as Foundation reads it.
private enum JSON: Decodable {
    case null
    case bool(Bool)
    case number(Decimal)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let bool = try? value.decode(Bool.self) {
            self = .bool(bool)
        } else if let number = try? value.decode(Decimal.self) {
            self = .number(number)
        } else if let string = try? value.decode(String.self) {
            self = .string(string)
        } else if let array = try? value.decode([JSON].self) {
            self = .array(array)
        } else {
            self = .object(try value.decode([String: JSON].self))
        }
    }

    subscript(_ name: String) -> JSON? {
        switch self {
        case .object(let members): members[name]
        case .array(let members): Int(name).flatMap { members.indices.contains($0) ? members[$0] : nil }
        default: nil
        }
    }
}

extension Phone.Answer {
    private func value(_ path: String) -> JSON? {
        var value = try? JSONDecoder().decode(JSON.self, from: Data(body))
        for name in path.split(separator: ".") { value = value?[String(name)] }
        return value
    }

    /// A member by its path, such as `order.status` or `orders.0.order_id`, as text; nil where it is absent, null or no plain value.
    subscript(_ path: String) -> String? {
        switch value(path) {
        case .bool(let flag): String(flag)
        case .number(let number): "\(number)"
        case .string(let text): text
        default: nil
        }
    }

    /// The names of the members of the object at the path, sorted.
    func names(_ path: String = "") -> [String] {
        if case .object(let members) = value(path) { members.keys.sorted() } else { [] }
    }

    /// The length of the array at the path.
    func count(_ path: String) -> Int {
        if case .array(let members) = value(path) { members.count } else { -1 }
    }
}
