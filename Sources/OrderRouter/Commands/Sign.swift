import Cryptography
import Foundation
import Trading
import Wire

extension Command {
    static let sign = Command(
        "sign",
        "Signs an order with a device's key: prints the signed form and the headers to send.",
        flags: [
            Flag("key", "file", .required, "The device's private key: P-256, PEM."),
            Flag("order", "file", .required, "The body of the request, JSON; - reads the standard input."),
            Flag("idempotency-key", "uuid", .optional, "A UUID of version 7; a new one without it."),
            Flag("client-timestamp", "ms", .optional, "Milliseconds since the epoch; now without it."),
            Flag("quote-reference-timestamp", "ms", .optional, "The router's time of the quote that the trader saw; now without it."),
            Flag("credential", "id", .optional, "Names the credential; without it the router tries the account's."),
            Flag("print", "what", .optional, "form: exactly the signed bytes. headers: one a line, as curl -H @file reads them. Both without it."),
        ]
    ) { arguments in
        let part = try arguments.parsed("print", "form or headers", SignedOrder.Part.init(rawValue:)) ?? .both
        let order = try SignedOrder(
            key: try privateKey(arguments.required("key", "a file") { $0 }),
            body: try body(arguments.required("order", "a file") { $0 }),
            idempotencyKey: arguments.value("idempotency-key") ?? IdempotencyKey.new(at: Date.nowMilliseconds, using: &systemRandom).description,
            clientTimestamp: arguments.value("client-timestamp"),
            quoteReferenceTimestamp: arguments.value("quote-reference-timestamp"),
            credential: arguments.value("credential"),
            now: Date.nowMilliseconds
        )
        say(order.text(part), terminator: "")
        return .ok
    }

    private static var systemRandom: SystemRandomNumberGenerator {
        get { SystemRandomNumberGenerator() }
        set {}
    }

    private static func privateKey(_ path: String) throws -> P256PrivateKey {
        guard let data = FileManager.default.contents(atPath: path) else { throw CommandFailure("the file \(path) cannot be read") }
        do throws(CryptographyError) {
            return try P256PrivateKey(pem: String(decoding: data, as: UTF8.self))
        } catch {
            throw CommandFailure("\(path) holds no P-256 private key: \(error.message)")
        }
    }

    private static func body(_ path: String) throws -> [UInt8] {
        if path == "-" { return [UInt8](try FileHandle.standardInput.readToEnd() ?? Data()) }
        guard let data = FileManager.default.contents(atPath: path) else { throw CommandFailure("the file \(path) cannot be read") }
        return [UInt8](data)
    }
}

/// An order with its signature, ready to send.
struct SignedOrder {
    enum Part: String {
        case form
        case headers
        case both
    }

    private let form: [UInt8]
    private let headers: [(name: String, value: String)]

    /// - Throws: the fault that the router would name, as far as body and headers show it.
    init(
        key: P256PrivateKey,
        body: [UInt8],
        idempotencyKey: String,
        clientTimestamp: String?,
        quoteReferenceTimestamp: String?,
        credential: String?,
        now: Int64
    ) throws {
        // Reading needs a signature; the signed form does not contain it.
        let unsigned = PlaceOrderHeaders(
            idempotencyKey: idempotencyKey,
            signature: "AA==",
            credential: credential,
            clientTimestamp: clientTimestamp ?? String(now),
            quoteReferenceTimestamp: quoteReferenceTimestamp ?? String(now)
        )
        let request: PlaceOrderRequest
        do {
            request = try PlaceOrderRequest.read(body: body, headers: unsigned)
        } catch {
            throw CommandFailure("the order is not one that a router takes: \(error.detail)")
        }
        form = SignedForm.order(request)
        typealias Name = PlaceOrderHeaders.Name
        var headers = [
            (Name.idempotencyKey, request.key.description),
            (Name.signature, Base64.standard.encode(try key.sign(form))),
            (Name.clientTimestamp, String(request.clientTimestamp)),
            (Name.quoteReferenceTimestamp, String(request.quoteReference)),
        ]
        if let credential { headers.append((Name.credential, credential)) }
        self.headers = headers
    }

    func text(_ part: Part) -> String {
        let form = String(decoding: form, as: UTF8.self)
        let headers = headers.map { "\($0.name): \($0.value)\n" }.joined()
        return switch part {
        case .form: form
        case .headers: headers
        case .both: form + "\n\n" + headers
        }
    }
}

extension IdempotencyKey {
    /// A new key (RFC 9562 section 5.7): 48 bits of milliseconds since the epoch, then 74 random bits.
    static func new(at now: Int64, using random: inout some RandomNumberGenerator) -> IdempotencyKey {
        let high = UInt64(bitPattern: now) << 16 | 0x7000 | UInt64.random(in: 0...0xFFF, using: &random)
        let low = 1 << 63 | UInt64.random(in: 0...(1 << 62 - 1), using: &random)
        guard let key = IdempotencyKey(high: high, low: low) else { preconditionFailure("These bits have version 7 and its variant.") }
        return key
    }
}
