import Foundation
import Glibc
import HTTPServer
import Testing

/// A handler made of a closure.
struct Answering: HTTPHandler {
    let body: @Sendable (HTTPRequest) async -> HTTPResponse

    init(_ body: @escaping @Sendable (HTTPRequest) async -> HTTPResponse) {
        self.body = body
    }

    func respond(to request: HTTPRequest) async -> HTTPResponse { await body(request) }

    /// Says what it has understood: method, path, query and body.
    static let echo = Answering { request in
        let query = request.query.map { "\($0.name)=\($0.value)" }.joined(separator: ",")
        let text = "\(request.method.rawValue) \(request.path) [\(query)] \(String(decoding: request.body, as: UTF8.self))"
        return HTTPResponse(status: 200, contentType: "text/plain", body: Array(text.utf8))
    }
}

/// Runs a server around `body`, which gets it when clients can connect, and stops it afterwards.
func withServer<Result: Sendable>(
    _ handler: any HTTPHandler = Answering.echo,
    configure: (inout HTTPConfiguration) -> Void = { _ in },
    _ body: sending (HTTPListener) async throws -> Result
) async throws -> Result {
    var configuration = HTTPConfiguration()
    configure(&configuration)
    let server = try HTTPListener(configuration, handler: handler)
    let running = Task { try await server.run() }
    do {
        let result = try await body(server)
        await server.stop(within: .zero)
        try await running.value
        return result
    } catch {
        await server.stop(within: .zero)
        try await running.value
        throw error
    }
}

/// Runs blocking code on a thread of its own, so that it cannot take the threads that other tests' tasks need.
func blocking<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        let thread = Thread { continuation.resume(with: Swift.Result { try body() }) }
        thread.stackSize = 1 << 20
        thread.start()
    }
}

/// Opens once; whoever waits goes on then.
final class Signal: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    func fire() { continuation.finish() }

    func wait() async {
        for await _ in stream {}
    }
}

/// Waits for something that gives no signal, and fails rather than for ever.
func eventually(_ condition: () -> Bool) async throws {
    let limit = ContinuousClock.now + .seconds(Int(RawClient.guardSeconds))
    while !condition() {
        if ContinuousClock.now > limit { throw ClientFailure(description: "it never came true") }
        await Task.yield()
    }
}

struct ClientFailure: Error, CustomStringConvertible {
    let description: String
}

/// What a client has read.
struct Answer: Sendable {
    var status: Int
    var headers: [(name: String, value: String)]
    var body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }

    func header(_ name: String) -> String? { headers.first { $0.name.lowercased() == name.lowercased() }?.value }
}

/// A client that sends exactly the bytes it is given. All calls block, and fail after a while rather than for ever.
final class RawClient: @unchecked Sendable {
    static let guardSeconds: Int32 = 20

    private var descriptor: Int32
    private(set) var unread: [UInt8] = []

    init(_ server: HTTPListener, receiveBuffer: Int32? = nil) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw ClientFailure(description: "no socket") }
        if var size = receiveBuffer { unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, 4) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = server.port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let code = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else { throw ClientFailure(description: "cannot connect") }
        var on: Int32 = 1
        unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, 4)
    }

    deinit {
        if descriptor >= 0 { Glibc.close(descriptor) }
    }

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { throw ClientFailure(description: "cannot send") }
            rest = rest.dropFirst(count)
        }
    }

    /// Says that nothing more will be sent.
    func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Goes away without a word, with a reset.
    func vanish() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
        Glibc.close(descriptor)
        descriptor = -1
    }

    /// True while neither bytes nor the end have come, for so long.
    func hasNothingToRead(milliseconds: Int32 = 0) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&entry, 1, milliseconds) == 0
    }

    /// Reads some more; false at the end of the connection.
    @discardableResult
    func readMore() throws -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&entry, 1, Self.guardSeconds * 1000) > 0 else {
            throw ClientFailure(description: "nothing came; unread: \(String(decoding: unread, as: UTF8.self))")
        }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
        guard count >= 0 else { throw ClientFailure(description: "reset") }
        unread.append(contentsOf: buffer[..<count])
        return count > 0
    }

    func read(until mark: String) throws -> String {
        let mark = Array(mark.utf8)
        while true {
            if let range = unread.firstRange(of: mark) {
                defer { unread.removeFirst(range.upperBound) }
                return String(decoding: unread[..<range.upperBound], as: UTF8.self)
            }
            guard try readMore() else { throw ClientFailure(description: "the end came before \(mark)") }
        }
    }

    func read(count: Int) throws -> [UInt8] {
        while unread.count < count {
            guard try readMore() else { throw ClientFailure(description: "the end came early") }
        }
        defer { unread.removeFirst(count) }
        return Array(unread[..<count])
    }

    func readToEnd() throws -> [UInt8] {
        while try readMore() {}
        defer { unread = [] }
        return unread
    }

    func readHead() throws -> Answer {
        let lines = try read(until: "\r\n\r\n").dropLast(2).components(separatedBy: "\r\n")
        let parts = lines[0].split(separator: " ", maxSplits: 2)
        guard parts.count == 3, parts[0] == "HTTP/1.1", let status = Int(parts[1]) else { throw ClientFailure(description: lines[0]) }
        let headers = try lines.dropFirst().map { line in
            guard let colon = line.firstIndex(of: ":") else { throw ClientFailure(description: line) }
            return (name: String(line[..<colon]), value: line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces))
        }
        return Answer(status: status, headers: headers, body: [])
    }

    func readAnswer() throws -> Answer {
        var answer = try readHead()
        guard let text = answer.header("Content-Length"), let length = Int(text) else { return answer }
        answer.body = try read(count: length)
        return answer
    }

    /// One chunk of a chunked body; empty at its end.
    func readChunk() throws -> String {
        let line = try read(until: "\r\n").dropLast(1)
        guard let size = Int(line, radix: 16) else { throw ClientFailure(description: "chunk size \(line)") }
        let data = try read(count: size)
        _ = try read(until: "\r\n")
        return String(decoding: data, as: UTF8.self)
    }
}
