/// What a handler answers.
package struct HTTPResponse: Sendable {
    package enum Body: Sendable {
        case bytes([UInt8])
        /// Server-sent events. The closure runs on the loop once the head has been sent, writes whole events, and ends the stream by returning.
        ///
        /// Its task is cancelled when the client has gone, has been cut, or the server stops. In the last case the writer is still open:
        /// a farewell may be sent before returning.
        case eventStream(@Sendable (EventStreamWriter) async -> Void)
        /// Server-sent events that a publisher writes on a stream loop, apart from where requests are served: no task of its own.
        case pushed(any PushHandler)
        /// The opening handshake of RFC 6455 answered with 101, then messages both ways on a stream loop. See `HTTPResponse.webSocket`.
        case webSocket(any PushHandler)
    }

    /// 200 to 599. Anything else is answered 500.
    package var status: Int
    /// Sent as they are, in this order. A name that is no token or a value with a control character is a fault: the client gets a 500.
    ///
    /// Content-Length, Transfer-Encoding and Date are the server's own and are dropped; `Connection: close` closes after this answer.
    package var headers: [(name: String, value: String)]
    package var body: Body

    package init(status: Int, headers: [(name: String, value: String)] = [], body: Body = .bytes([])) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    package init(status: Int, contentType: String, body: [UInt8]) {
        self.init(status: status, headers: [("Content-Type", contentType)], body: .bytes(body))
    }

    package static func eventStream(_ write: @escaping @Sendable (EventStreamWriter) async -> Void) -> HTTPResponse {
        HTTPResponse(status: 200, body: .eventStream(write))
    }

    /// A problem of RFC 9457 as the server makes it when nothing else is configured. `detail` must not need escaping in JSON.
    @Sendable package static func problem(status: Int, detail: String) -> HTTPResponse {
        let code =
            switch status {
            case 500: "internal_error"
            case 503: "busy"
            default: "malformed_request"
            }
        let text = #"{"type":"about:blank","title":"\#(reason(status))","status":\#(status),"detail":"\#(detail)","code":"\#(code)"}"#
        return HTTPResponse(status: status, contentType: "application/problem+json", body: Array(text.utf8))
    }

    /// The reason phrase of RFC 9110 section 15.
    package static func reason(_ status: Int) -> StaticString {
        switch status {
        case 101: "Switching Protocols"
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 204: "No Content"
        case 304: "Not Modified"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 406: "Not Acceptable"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 410: "Gone"
        case 411: "Length Required"
        case 413: "Content Too Large"
        case 414: "URI Too Long"
        case 415: "Unsupported Media Type"
        case 417: "Expectation Failed"
        case 422: "Unprocessable Content"
        case 426: "Upgrade Required"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 503: "Service Unavailable"
        case 505: "HTTP Version Not Supported"
        default: "Status"
        }
    }

    /// False when sending this would let a handler's data become framing (RFC 9112 section 11.1), or is no final answer.
    var isSound: Bool {
        let isKnown = if case .webSocket = body { status == 101 } else { (200...599).contains(status) }
        guard isKnown else { return false }
        return headers.allSatisfy { name, value in
            !name.isEmpty && name.utf8.allSatisfy(RequestParser.isToken) && value.utf8.allSatisfy(RequestParser.isFieldText)
        }
    }

    var asksToClose: Bool {
        headers.contains { Self.isName($0.name, "connection") && $0.value.lowercased().contains("close") }
    }

    /// Compares a name with one in lower case.
    static func isName(_ name: String, _ lower: StaticString) -> Bool {
        guard name.utf8.count == lower.utf8CodeUnitCount else { return false }
        return lower.withUTF8Buffer { lower in
            unsafe zip(name.utf8, lower).allSatisfy { HTTPHeaders.lowercased($0) == $1 }
        }
    }
}

/// Answers requests. Called on a loop's thread, and back on it after each wait; must not block.
///
/// Called once for each whole request. It runs to its end even when the client goes away meanwhile: what a client asked for is not undone
/// by a lost connection. Requests of one connection come one after another.
package protocol HTTPHandler: Sendable {
    func respond(to request: HTTPRequest) async -> HTTPResponse
}

/// Writes heads of answers. One per loop: the date line is made once a second.
struct ResponseWriter {
    private var second = -1
    private var date: [UInt8] = []

    enum Framing {
        case length(Int)
        case chunked
        /// By the end of the connection.
        case close
        /// Another protocol follows.
        case upgrade
    }

    mutating func writeHead(_ response: HTTPResponse, framing: Framing, closes: Bool, isVersion10: Bool, at second: Int, to output: inout [UInt8]) {
        output.append(text: "HTTP/1.1 ")
        output.append(decimal: response.status)
        output.append(text: " ")
        output.append(text: HTTPResponse.reason(response.status))
        if second != self.second {
            self.second = second
            date = HTTPDate.line(second)
        }
        output.append(contentsOf: date)
        for (name, value) in response.headers where !Self.isOurs(name) {
            output.append(contentsOf: name.utf8)
            output.append(text: ": ")
            output.append(contentsOf: value.utf8)
            output.append(text: "\r\n")
        }
        switch framing {
        // RFC 9110 section 8.6: a 204 has no length, and that of a 304 would be the length of what it stands for.
        case .length where response.status == 204 || response.status == 304: break
        case .length(let length):
            output.append(text: "Content-Length: ")
            output.append(decimal: length)
            output.append(text: "\r\n")
        case .chunked: output.append(text: "Transfer-Encoding: chunked\r\n")
        case .upgrade: output.append(text: "Connection: Upgrade\r\n")
        case .close: break
        }
        // RFC 9110 section 7.8: who sends Upgrade, as a 426 must, names it in Connection.
        if response.status == 426 { output.append(text: "Connection: Upgrade\r\n") }
        if closes { output.append(text: "Connection: close\r\n") } else if isVersion10 { output.append(text: "Connection: keep-alive\r\n") }
        output.append(text: "\r\n")
    }

    private static func isOurs(_ name: String) -> Bool {
        switch name.utf8.count {
        case 4: HTTPResponse.isName(name, "date")
        case 10: HTTPResponse.isName(name, "connection")
        case 14: HTTPResponse.isName(name, "content-length")
        case 17: HTTPResponse.isName(name, "transfer-encoding")
        default: false
        }
    }
}

extension [UInt8] {
    mutating func append(text: StaticString) {
        unsafe append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    mutating func append(decimal number: Int) {
        append(contentsOf: String(number).utf8)
    }
}
