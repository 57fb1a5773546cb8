import Cryptography
package import Trading

/// What the headers of a signed request say (design section 4.1), each in its form.
package struct SignedHeaders: Hashable, Sendable {
    package let key: IdempotencyKey
    /// DER or raw r‖s, still to be verified.
    package let signature: [UInt8]
    /// The credential that the client names; nil = the account's active ones are tried.
    package let credentialID: String?
    /// Milliseconds since the epoch, the client's clock.
    package let clientTimestamp: Int64
    /// Milliseconds since the epoch, the router's time of the quote that the trader saw.
    package let quoteReference: Int64

    package init(key: IdempotencyKey, signature: [UInt8], credentialID: String?, clientTimestamp: Int64, quoteReference: Int64) {
        self.key = key
        self.signature = signature
        self.credentialID = credentialID
        self.clientTimestamp = clientTimestamp
        self.quoteReference = quoteReference
    }

    /// Longest signature taken, in bytes. DER needs 72, raw 64; what is longer is no P-256 signature and is not worth decoding.
    package static let signatureLimitBytes = 256

    /// Latest time taken, in milliseconds since the epoch: the last one of the year 9999. Sums and microseconds of it stay in the range of Int64.
    package static let latestTimestamp: Int64 = 253_402_300_799_999

    /// - Parameter form: what is signed, for the message.
    /// - Throws: `missing_header`: the first missing or empty one of Idempotency-Key, X-Biometric-Signature, X-Client-Timestamp,
    ///   X-Quote-Reference-Timestamp; then `invalid_field`: the first invalid one, in that order, X-Biometric-Credential last.
    package static func read(_ headers: PlaceOrderHeaders, form: String) throws(Problem) -> SignedHeaders {
        let keyText = try require(headers.idempotencyKey, PlaceOrderHeaders.Name.idempotencyKey, "a UUID of version 7, new for each order")
        let signatureText = try require(headers.signature, PlaceOrderHeaders.Name.signature, "the signature over \(form) in base64")
        let clientText = try require(headers.clientTimestamp, PlaceOrderHeaders.Name.clientTimestamp, "the time in milliseconds since the epoch")
        let quoteText = try require(
            headers.quoteReferenceTimestamp,
            PlaceOrderHeaders.Name.quoteReferenceTimestamp,
            "the time of the quote in milliseconds since the epoch"
        )
        guard let key = IdempotencyKey(keyText) else {
            throw .invalid(PlaceOrderHeaders.Name.idempotencyKey, "The idempotency key is not valid. Send a UUID of version 7 (RFC 9562).")
        }
        let signature = try readSignature(signatureText)
        let clientTimestamp = try readTimestamp(clientText, PlaceOrderHeaders.Name.clientTimestamp)
        let quoteReference = try readTimestamp(quoteText, PlaceOrderHeaders.Name.quoteReferenceTimestamp)
        return SignedHeaders(
            key: key,
            signature: signature,
            credentialID: try readCredential(headers.credential),
            clientTimestamp: clientTimestamp,
            quoteReference: quoteReference
        )
    }

    /// As a client sends them, beside Authorization and Content-Type.
    package var fields: PlaceOrderHeaders {
        PlaceOrderHeaders(
            idempotencyKey: key.description,
            signature: Base64.standard.encode(signature),
            credential: credentialID,
            clientTimestamp: String(clientTimestamp),
            quoteReferenceTimestamp: String(quoteReference)
        )
    }

    private static func require(_ value: String?, _ name: String, _ expected: String) throws(Problem) -> String {
        guard let value, !value.isEmpty else {
            throw Problem(.missingHeader, "The header \(name) is missing. Send \(expected).", extras: [.field(name)])
        }
        return value
    }

    private static func readSignature(_ text: String) throws(Problem) -> [UInt8] {
        let name = PlaceOrderHeaders.Name.signature
        guard let signature = text.base64(limitBytes: signatureLimitBytes) else {
            throw .invalid(name, "The signature is not valid base64. Send DER or the raw 64 bytes, standard alphabet with padding.")
        }
        return signature
    }

    private static func readTimestamp(_ text: String, _ name: String) throws(Problem) -> Int64 {
        guard let milliseconds = text.wholeNumber, milliseconds <= latestTimestamp else {
            throw .invalid(name, "The header \(name) is not valid. Send whole milliseconds since the epoch, digits only.")
        }
        return milliseconds
    }

    private static func readCredential(_ text: String?) throws(Problem) -> String? {
        guard let text else { return nil }
        guard text.isCredentialID else {
            let name = PlaceOrderHeaders.Name.credential
            throw .invalid(name, "The header \(name) is not a credential id. Send the id of an active credential, or leave the header out.")
        }
        return text
    }
}
