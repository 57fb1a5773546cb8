import CHTTPParser

/// Reads requests from bytes: http-parser takes the head apart, guards around it refuse what two readers could read differently.
///
/// The only file that knows http-parser. Bodies are framed here, because the parser's own chunk reading is lenient (a bare LF in a
/// chunk extension, for one). One parser serves one connection, request after request; after a fault it must not be used again.
@safe final class RequestParser {
    struct Limits: Sendable {
        var targetBytes: Int
        var headerBytes: Int
        var headerCount: Int
        var bodyBytes: Int
    }

    /// A request without what only the connection knows.
    struct Message {
        var method: HTTPMethod
        var target: RequestTarget
        var headers: HTTPHeaders
        var body: [UInt8]
        var keepsAlive: Bool
        var isVersion10: Bool
    }

    enum Progress {
        /// All bytes are taken, the request is not whole.
        case incomplete
        /// The client waits for a 100 before it sends the body.
        case expectsContinue
        case complete(Message)
        case refused(RequestFault)
    }

    /// The parser's own limit on a head; ours lie below it and answer better.
    static let hardHeaderLimitBytes = 256 * 1024

    private enum State {
        case method
        case head
        case fixedBody
        case chunkedBody
    }

    private let limits: Limits
    private let parser: UnsafeMutablePointer<http_parser>
    private var state = State.method
    /// The method as far as it has come, when it came in pieces.
    private var opening: [UInt8] = []
    private var blankBytes = 0
    private(set) var method: HTTPMethod?

    /// Target, then names and values; moves to the request.
    private var text: [UInt8] = []
    private var targetEnd = 0
    private var fields: [HTTPHeaders.Field] = []
    private var isInValue = false
    private var headBytes = 0
    /// What the last request of this connection had: the next one is likely to have as much, and then nothing has to grow.
    private var usualHead = 512
    private var usualFields = 12
    private var lines = HeadLines()
    private var fault: RequestFault?
    private var isHeadComplete = false

    private var target: RequestTarget?
    private var body: [UInt8] = []
    private var bodyLength = 0
    private var chunks = ChunkedBody(maximumBytes: 0)
    private var isVersion10 = false
    private var keepsAlive = true
    private var awaitsContinue = false

    init(limits: Limits) {
        self.limits = limits
        unsafe parser = .allocate(capacity: 1)
        unsafe parser.initialize(to: http_parser())
        _ = Self.limitIsRaised
    }

    deinit {
        unsafe parser.deallocate()
    }

    /// True when not even a byte of the next request has come.
    var isIdle: Bool { state == .method && opening.isEmpty }

    /// Takes bytes up to the end of one request and returns how many it took.
    func take(_ bytes: UnsafeRawBufferPointer) -> (taken: Int, progress: Progress) {
        var taken = 0
        do throws(RequestFault) {
            while taken < bytes.count {
                let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[taken...])
                switch state {
                case .method: taken += unsafe try takeMethod(rest)
                case .head: taken += unsafe try takeHead(rest)
                case .fixedBody:
                    let count = min(rest.count, bodyLength - body.count)
                    unsafe body.append(contentsOf: rest[..<count])
                    taken += count
                    if body.count == bodyLength { return (taken, .complete(finish())) }
                    continue
                case .chunkedBody:
                    taken += unsafe try chunks.take(rest)
                    if chunks.isComplete {
                        body = chunks.body
                        return (taken, .complete(finish()))
                    }
                    continue
                }
                guard isHeadComplete else { continue }
                isHeadComplete = false
                if state == .method { return (taken, .complete(finish())) }
                if awaitsContinue, taken == bytes.count { return (taken, .expectsContinue) }
            }
            return (taken, .incomplete)
        } catch {
            return (taken, .refused(error))
        }
    }

    // MARK: The method

    /// The method is looked at before the parser sees it, so that an unknown one is told from nonsense.
    private func takeMethod(_ bytes: UnsafeRawBufferPointer) throws(RequestFault) -> Int {
        var index = 0
        if opening.isEmpty {
            // RFC 9112 section 2.2: an empty line before a request is skipped. More than two are not a request.
            while index < bytes.count, unsafe bytes[index] == 0x0D || bytes[index] == 0x0A {
                index += 1
                blankBytes += 1
                if blankBytes > 4 { throw .malformed("There are too many empty lines before the request.") }
            }
        }
        while index < bytes.count {
            let byte = unsafe bytes[index]
            index += 1
            if byte == 0x20 {
                try beginHead()
                return index
            }
            guard Self.isToken(byte) else { throw .malformed("This is not an HTTP request.") }
            opening.append(byte)
            if opening.count > 32 { throw RequestFault(status: 501, detail: "The method is not known.") }
        }
        return index
    }

    private func beginHead() throws(RequestFault) {
        guard let known = Self.method(opening) else {
            if opening.isEmpty { throw .malformed("The request has no method.") }
            if opening.elementsEqual("PRI".utf8) { throw .version }
            throw RequestFault(status: 501, detail: "The method is not known.")
        }
        method = known
        unsafe http_parser_init(parser, HTTP_REQUEST)
        unsafe parser.pointee.data = Unmanaged.passUnretained(self).toOpaque()
        text.reserveCapacity(usualHead)
        fields.reserveCapacity(usualFields)
        state = .head
        lines = HeadLines()
        opening.append(0x20)
        let fed = unsafe opening.withUnsafeBytes { unsafe feed($0) }
        precondition(fed == opening.count, "The parser knows every method of HTTPMethod.")
        opening.removeAll(keepingCapacity: true)
    }

    private static func method(_ bytes: [UInt8]) -> HTTPMethod? {
        switch bytes.count {
        case 3: bytes.elementsEqual("GET".utf8) ? .get : bytes.elementsEqual("PUT".utf8) ? .put : nil
        case 4: bytes.elementsEqual("POST".utf8) ? .post : bytes.elementsEqual("HEAD".utf8) ? .head : nil
        case 5: bytes.elementsEqual("PATCH".utf8) ? .patch : nil
        case 6: bytes.elementsEqual("DELETE".utf8) ? .delete : nil
        case 7: bytes.elementsEqual("OPTIONS".utf8) ? .options : nil
        default: nil
        }
    }

    // MARK: The head

    private func takeHead(_ bytes: UnsafeRawBufferPointer) throws(RequestFault) -> Int {
        let taken = unsafe feed(bytes)
        unsafe try lines.check(UnsafeRawBufferPointer(rebasing: bytes[..<taken]))
        headBytes += taken
        if let fault { throw fault }
        let code = unsafe http_errno(UInt32(parser.pointee.http_errno))
        if !isHeadComplete, code != HPE_OK { throw Self.fault(code) }
        if headBytes - targetEnd > limits.headerBytes + 16 {
            throw RequestFault(status: 431, detail: "The headers may have at most \(limits.headerBytes) bytes.")
        }
        if isHeadComplete { try endHead() }
        return taken
    }

    private func feed(_ bytes: UnsafeRawBufferPointer) -> Int {
        unsafe withUnsafePointer(to: Self.settings) { settings in
            unsafe http_parser_execute(parser, settings, bytes.assumingMemoryBound(to: CChar.self).baseAddress, bytes.count)
        }
    }

    private static func fault(_ code: http_errno) -> RequestFault {
        switch code {
        case HPE_INVALID_VERSION: .version
        case HPE_INVALID_TRANSFER_ENCODING: RequestFault(status: 501, detail: "Only the transfer coding chunked is known.")
        case HPE_HEADER_OVERFLOW: RequestFault(status: 431, detail: "The headers are too long.")
        case HPE_INVALID_URL: .malformed("The request target is malformed.")
        case HPE_INVALID_HEADER_TOKEN: .malformed("A header line is malformed.")
        case HPE_INVALID_CONTENT_LENGTH: .malformed("Content-Length is not a number.")
        case HPE_UNEXPECTED_CONTENT_LENGTH: .malformed("Content-Length may come once, and not beside Transfer-Encoding.")
        default: .malformed("The request head is malformed.")
        }
    }

    private func endHead() throws(RequestFault) {
        let major = unsafe parser.pointee.http_major
        guard major == 1 else { throw .version }
        isVersion10 = unsafe parser.pointee.http_minor == 0
        let headers = HTTPHeaders(bytes: text, fields: fields)
        try checkFields(headers)
        guard let method else { preconditionFailure("A head begins with a method.") }
        target = try RequestTarget(text[..<targetEnd], method: method)

        let framing = try Framing(headers, isVersion10: isVersion10)
        if case .length(let length) = framing, length > limits.bodyBytes {
            throw RequestFault(status: 413, detail: "The body may have at most \(limits.bodyBytes) bytes.")
        }
        let expectation = headers.single("expect")
        if !isVersion10, expectation.count > 0 {
            guard expectation.count == 1, String(decoding: expectation.value, as: UTF8.self).lowercased() == "100-continue" else {
                throw RequestFault(status: 417, detail: "No expectation but 100-continue can be met.")
            }
            awaitsContinue = true
        }
        switch framing {
        case .length(0):
            state = .method
        case .length(let length):
            bodyLength = length
            // A length is only a claim: memory is taken as bytes come.
            body.reserveCapacity(min(length, 4096))
            state = .fixedBody
        case .chunked:
            chunks = ChunkedBody(maximumBytes: limits.bodyBytes)
            state = .chunkedBody
        }
    }

    private func checkFields(_ headers: HTTPHeaders) throws(RequestFault) {
        let block = headers.bytes
        let bytes = block.span
        var hosts = 0
        for field in fields {
            let (start, end) = (Int(field.nameStart), Int(field.nameEnd))
            guard start < end, Self.all(bytes, from: start, to: end, Self.isToken) else { throw .malformed("A header name is malformed.") }
            let (valueStart, valueEnd) = (Int(field.valueStart), Int(field.valueEnd))
            guard Self.all(bytes, from: valueStart, to: valueEnd, Self.isFieldText) else {
                throw .malformed("A header value has a control character.")
            }
            guard headers.isNamed(field, "host") else { continue }
            hosts += 1
            guard valueStart < valueEnd, Self.all(bytes, from: valueStart, to: valueEnd, Self.isAuthority) else {
                throw .malformed("Host is malformed.")
            }
        }
        if hosts > 1 { throw .malformed("Host may come only once.") }
        if hosts == 0, !isVersion10 { throw .malformed("Host is missing.") }
    }

    /// Hands the request over and makes ready for the next one.
    private func finish() -> Message {
        guard let method, let target else { preconditionFailure("A request ends after its head.") }
        let message = Message(
            method: method,
            target: target,
            headers: HTTPHeaders(bytes: text, fields: fields),
            body: body,
            keepsAlive: keepsAlive,
            isVersion10: isVersion10
        )
        self.method = nil
        self.target = nil
        usualHead = text.count
        usualFields = fields.count
        text = []
        fields = []
        body = []
        chunks = ChunkedBody(maximumBytes: 0)
        targetEnd = 0
        headBytes = 0
        bodyLength = 0
        blankBytes = 0
        isInValue = false
        awaitsContinue = false
        state = .method
        return message
    }

    // MARK: What http-parser calls

    private func onTarget(_ bytes: UnsafeRawBufferPointer) -> Int32 {
        unsafe text.append(contentsOf: bytes)
        targetEnd = text.count
        if targetEnd > limits.targetBytes {
            return stop(RequestFault(status: 414, detail: "The request target may have at most \(limits.targetBytes) bytes."))
        }
        for index in 0..<bytes.count {
            let byte = unsafe bytes[index]
            if byte > 0x20, byte < 0x7F, byte != UInt8(ascii: "#") { continue }
            return stop(.malformed("The request target has a character that must be encoded."))
        }
        return 0
    }

    private func onName(_ bytes: UnsafeRawBufferPointer) -> Int32 {
        if isInValue || fields.isEmpty {
            if fields.count == limits.headerCount {
                return stop(RequestFault(status: 431, detail: "There may be at most \(limits.headerCount) header lines."))
            }
            isInValue = false
            let start = Int32(text.count)
            fields.append(HTTPHeaders.Field(nameStart: start, nameEnd: start, valueStart: start, valueEnd: start))
        }
        let nameStart = text.count
        unsafe text.append(contentsOf: bytes)
        var name = text.mutableSpan
        for index in nameStart..<name.count { name[index] = HTTPHeaders.lowercased(name[index]) }
        let end = Int32(text.count)
        fields[fields.count - 1].nameEnd = end
        fields[fields.count - 1].valueStart = end
        fields[fields.count - 1].valueEnd = end
        return checkLength()
    }

    /// Also called with nothing for an empty value. Spaces at the end are not part of a value.
    private func onValue(_ bytes: UnsafeRawBufferPointer) -> Int32 {
        guard !fields.isEmpty else { return stop(.malformed("A header line is malformed.")) }
        isInValue = true
        unsafe text.append(contentsOf: bytes)
        let field = fields[fields.count - 1]
        var end = text.count
        while end > Int(field.valueStart), text[end - 1] == 0x20 || text[end - 1] == 0x09 { end -= 1 }
        fields[fields.count - 1].valueEnd = Int32(end)
        return checkLength()
    }

    private func checkLength() -> Int32 {
        if text.count - targetEnd <= limits.headerBytes { return 0 }
        return stop(RequestFault(status: 431, detail: "The headers may have at most \(limits.headerBytes) bytes."))
    }

    private func onHead() {
        keepsAlive = unsafe http_should_keep_alive(parser) != 0
    }

    private func onEnd() {
        isHeadComplete = true
        unsafe http_parser_pause(parser, 1)
    }

    private func stop(_ fault: RequestFault) -> Int32 {
        self.fault = fault
        return -1
    }

    private static func of(_ parser: UnsafeMutablePointer<http_parser>?) -> RequestParser {
        guard let parser = unsafe parser, let data = unsafe parser.pointee.data else { preconditionFailure("The parser has lost its owner.") }
        return unsafe Unmanaged<RequestParser>.fromOpaque(data).takeUnretainedValue()
    }

    /// The limit is one variable for the whole process; it is set once, before the first parser.
    private static let limitIsRaised: Bool = {
        http_parser_set_max_header_size(UInt32(2 * hardHeaderLimitBytes))
        return true
    }()

    private static let settings: http_parser_settings = {
        var settings = http_parser_settings()
        unsafe settings.on_url = { unsafe RequestParser.of($0).onTarget(UnsafeRawBufferPointer(start: $1, count: $2)) }
        unsafe settings.on_header_field = { unsafe RequestParser.of($0).onName(UnsafeRawBufferPointer(start: $1, count: $2)) }
        unsafe settings.on_header_value = { unsafe RequestParser.of($0).onValue(UnsafeRawBufferPointer(start: $1, count: $2)) }
        unsafe settings.on_headers_complete = {
            unsafe RequestParser.of($0).onHead()
            return 1  // The parser is to expect no body: it is framed here.
        }
        unsafe settings.on_message_complete = {
            unsafe RequestParser.of($0).onEnd()
            return 0
        }
        return settings
    }()
}
