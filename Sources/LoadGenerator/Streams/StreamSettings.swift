import Glibc

/// How many clients watch which prices, and for how long.
struct StreamSettings: Sendable {
    enum Form: String, Sendable {
        case sse
        case websocket
        /// Whatever a server sends, unasked: see the command broadcast.
        case plain
    }

    var host: String
    var port: UInt16
    var token: String
    var form: Form
    var clients: Int
    var symbols: [String]
    /// Symbols of one client.
    var each: Int
    /// Nanoseconds that are measured, after as many of warming up as it takes for all to be connected, and `warmUp`.
    var span: Int64
    var warmUp: Int64
    /// Each client takes a sip of a kilobyte every two seconds, and is behind for ever.
    var isSlow: Bool
    /// The process that serves them; nil: not watched.
    var server: Int32?

    /// Connections that are being made at once: below a listener's backlog.
    static let connecting = 200

    /// What the client with this number asks for.
    func request(_ number: Int) -> [UInt8] {
        let symbols = symbols(number)
        switch form {
        case .plain: return []
        case .sse:
            return Array(
                """
                GET /v1/marketdata/tickers/stream?symbols=\(symbols.joined(separator: ",")) HTTP/1.1\r
                Host: \(host)\r
                Authorization: Bearer \(token)\r\n\r\n
                """.utf8
            )
        case .websocket:
            let head = """
                GET /v1/ws HTTP/1.1\r
                Host: \(host)\r
                Authorization: Bearer \(token)\r
                Connection: Upgrade\r
                Upgrade: websocket\r
                Sec-WebSocket-Version: 13\r
                Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n
                """
            let names = symbols.map { "\"\($0)\"" }.joined(separator: ",")
            let text = Array("{\"action\":\"subscribe\",\"channel\":\"stock-prices\",\"symbols\":[\(names)]}".utf8)
            // RFC 6455 section 5.2: a client's frame is masked; with a mask of zeros, the payload stays as it is.
            return Array(head.utf8) + [0x81, 0x80 | 126, UInt8(text.count >> 8), UInt8(text.count & 0xFF), 0, 0, 0, 0] + text
        }
    }

    /// Neighbours in the list, each client beginning elsewhere: all symbols are watched by equally many.
    private func symbols(_ number: Int) -> [String] { (0..<min(each, symbols.count)).map { symbols[(number * 7 + $0) % symbols.count] } }
}
