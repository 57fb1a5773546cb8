package import Cryptography
import Foundation
import FoundationNetworking
package import Trading
package import Wire

/// A client with a device key: signs orders and sends them over HTTP, again and again with the same key until it knows what became of them.
package struct Phone: Sendable {
    package let account: AccountID
    package let token: String
    package let key: P256PrivateKey
    package let credentialID: String?

    package init(account: AccountID, token: String, key: P256PrivateKey, credentialID: String?) {
        self.account = account
        self.token = token
        self.key = key
        self.credentialID = credentialID
    }

    package struct Answer: Sendable {
        package let status: Int
        package let headers: [String: String]
        package let body: [UInt8]

        package init(status: Int, headers: [String: String], body: [UInt8]) {
            self.status = status
            self.headers = headers
            self.body = body
        }

        package var text: String { String(decoding: body, as: UTF8.self) }

        package func header(_ name: String) -> String? { headers.first { $0.key.lowercased() == name.lowercased() }?.value }

        /// A member of a JSON answer, as text.
        package func member(_ name: String) -> String? {
            guard case .object(let members)? = try? JSONReader.read(body, limits: .answer) else { return nil }
            switch members.first(where: { $0.name == name })?.value {
            case .string(let text)?: return text
            case .number(let raw)?: return raw
            case .bool(let flag)?: return String(flag)
            default: return nil
            }
        }
    }

    private static let session: URLSession = {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 15
        configuration.httpMaximumConnectionsPerHost = 64
        return URLSession(configuration: configuration)
    }()

    /// One request with the phone's token. Throws when the connection fails: then nothing is known.
    package func send(
        _ method: String,
        _ path: String,
        port: UInt16,
        headers: [String: String] = [:],
        body: [UInt8]? = nil
    ) async throws -> Answer {
        let more = ["Authorization": "Bearer \(token)"].merging(body == nil ? [:] : ["Content-Type": "application/json"]) { first, _ in first }
        return try await Self.exchange(method, path, port: port, headers: more.merging(headers) { _, given in given }, body: body)
    }

    /// One request with exactly these headers.
    package static func exchange(
        _ method: String,
        _ path: String,
        port: UInt16,
        headers: [String: String] = [:],
        body: [UInt8]? = nil
    ) async throws -> Answer {
        var request = URLRequest(url: URL(string: "http://127.0.0.1:\(port)\(path)")!)
        request.httpMethod = method
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        if let body { request.httpBody = Data(body) }
        let (data, response) = try await Self.session.data(for: request)
        guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        var received: [String: String] = [:]
        for (name, value) in response.allHeaderFields { received["\(name)"] = "\(value)" }
        return Answer(status: response.statusCode, headers: received, body: Array(data))
    }

    /// The order, signed at this moment over the quote of this moment.
    package func signed(_ terms: OrderTerms, key orderKey: IdempotencyKey, at now: Int64 = Town.now()) throws -> PlaceOrderRequest {
        func request(_ signature: [UInt8]) -> PlaceOrderRequest {
            PlaceOrderRequest(
                account: account,
                terms: terms,
                estimatedTotal: nil,
                key: orderKey,
                signature: signature,
                credentialID: credentialID,
                clientTimestamp: now,
                quoteReference: now
            )
        }
        return request(try key.sign(SignedForm.order(request([]))))
    }

    package func place(_ terms: OrderTerms, key orderKey: IdempotencyKey, port: UInt16) async throws -> Answer {
        try await post(try signed(terms, key: orderKey), port: port)
    }

    package func post(_ request: PlaceOrderRequest, port: UInt16) async throws -> Answer {
        try await send("POST", OrderPath.orders, port: port, headers: Self.fields(request.headers), body: request.body)
    }

    /// Asks for other numbers of an order of this phone's account, signed at this moment.
    package func replace(_ order: OrderID, by terms: Replacement, key orderKey: IdempotencyKey, port: UInt16) async throws -> Answer {
        let now = Town.now()
        func request(_ signature: [UInt8]) -> ReplaceOrderRequest {
            ReplaceOrderRequest(
                account: account,
                orderID: order,
                terms: terms,
                signed: SignedHeaders(key: orderKey, signature: signature, credentialID: credentialID, clientTimestamp: now, quoteReference: now)
            )
        }
        let signed = request(try key.sign(SignedForm.replaceWithFingerprintText(request([])).form))
        return try await send("PATCH", OrderPath.order(order), port: port, headers: Self.fields(signed.signed.fields), body: terms.body)
    }

    private static func fields(_ given: PlaceOrderHeaders) -> [String: String] {
        var headers: [String: String] = [:]
        headers[PlaceOrderHeaders.Name.idempotencyKey] = given.idempotencyKey
        headers[PlaceOrderHeaders.Name.signature] = given.signature
        headers[PlaceOrderHeaders.Name.credential] = given.credential
        headers[PlaceOrderHeaders.Name.clientTimestamp] = given.clientTimestamp
        headers[PlaceOrderHeaders.Name.quoteReferenceTimestamp] = given.quoteReferenceTimestamp
        return headers
    }
}
