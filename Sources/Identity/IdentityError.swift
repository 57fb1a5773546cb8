/// The key set or a file of keys could not be read or written.
///
/// `message` never holds a token or key material: it may be logged.
package struct IdentityError: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Code: String, Sendable {
        /// The place of the key set is neither a path nor an http or https URL.
        case invalidLocation = "invalid_location"
        /// The file or server could not be reached, or did not answer with a key set in time.
        case unreachable
        /// What was read is no JWK Set.
        case invalidKeySet = "invalid_key_set"
        /// A key file is unsafe or holds no P-256 key, or could not be written.
        case keyFile = "key_file"
    }

    package let code: Code
    package let operation: String
    package let message: String

    package init(_ code: Code, _ operation: String, _ message: String) {
        self.code = code
        self.operation = operation
        self.message = message
    }

    package var description: String { "\(operation): \(message) (\(code.rawValue))" }
}
