/// The one error of this edge: the counterparty, the network or the system did not cooperate.
package struct FIXError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Sendable {
        case addressNotFound
        case connectFailed
        case timedOut
        case connectionClosed
        case listenFailed
        case systemCallFailed
        /// No line that both ends believe in: a certificate, a key, or an end that does not speak TLS.
        case tlsFailed
    }

    package let code: Code
    /// What was being done, in a word or two.
    package let operation: String
    package let message: String

    package init(_ code: Code, operation: String, message: String) {
        self.code = code
        self.operation = operation
        self.message = message
    }

    package var description: String { "\(operation): \(code.rawValue): \(message)" }
}
