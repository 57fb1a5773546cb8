import Cryptography
import Foundation
import JourneySupport

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

extension Phone.Answer {
    /// A member by its path, such as `order.status` or `orders.0.order_id`, as text; nil where it is absent or null.
    subscript(_ path: String) -> String? {
        guard var value = try? JSONSerialization.jsonObject(with: Data(body), options: .fragmentsAllowed) else { return nil }
        for name in path.split(separator: ".").map(String.init) {
            if let object = value as? [String: Any], let next = object[name] {
                value = next
            } else if let array = value as? [Any], let index = Int(name), array.indices.contains(index) {
                value = array[index]
            } else {
                return nil
            }
        }
        if value is NSNull { return nil }
        if let flag = value as? Bool, "\(value)" == "true" || "\(value)" == "false" { return String(flag) }
        return "\(value)"
    }

    /// The names of the members of the object at the path, sorted.
    func names(_ path: String = "") -> [String] {
        guard var value = try? JSONSerialization.jsonObject(with: Data(body)) else { return [] }
        for name in path.split(separator: ".").map(String.init) {
            if let object = value as? [String: Any] {
                value = object[name] ?? NSNull()
            } else if let array = value as? [Any], let index = Int(name) {
                value = array[index]
            }
        }
        return (value as? [String: Any])?.keys.sorted() ?? []
    }

    func count(_ path: String) -> Int {
        guard let object = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any] else { return -1 }
        return (object[path] as? [Any])?.count ?? -1
    }
}
