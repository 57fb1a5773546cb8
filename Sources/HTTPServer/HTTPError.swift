/// What went wrong at the HTTP edge: the world did not cooperate.
///
/// Faults of clients are not errors; they are answered (see `RequestFault`).
package struct HTTPError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Sendable {
        /// A limit or an address in the configuration makes no sense.
        case configuration
        /// The address cannot be listened on.
        case listen
        /// A certificate or key cannot be used; the message names the file.
        case tls
        /// The operating system refused a resource that a loop needs.
        case system
        /// The client of an event stream has gone, or the stream has ended.
        case streamClosed
        /// The client of an event stream reads too slowly and has been cut off.
        case streamOverflow
    }

    package let code: Code
    package let operation: String
    package let message: String

    package var description: String { "\(operation): \(message) (\(code.rawValue))" }
}

/// Why a request cannot be handed to the program: the status of the answer, and a sentence for the person who reads it.
struct RequestFault: Error, Hashable, Sendable {
    let status: Int
    let detail: String

    static func malformed(_ detail: String) -> RequestFault { RequestFault(status: 400, detail: detail) }

    static let version = RequestFault(status: 505, detail: "Only HTTP/1.0 and HTTP/1.1 are spoken here.")
}
