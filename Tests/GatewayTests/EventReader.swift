import Foundation
import JourneySupport

/// `curl -N` on an event stream: a client that shares no code with the router.
final class EventReader: Sendable {
    struct Frame: Sendable {
        var id: String?
        var event: String?
        var data = ""

        var answer: Phone.Answer { Phone.Answer(status: 200, headers: [:], body: Array(data.utf8)) }
    }

    struct State: Sendable {
        /// Header lines of the answer, in lower case, its status line first.
        var head: [String] = []
        var frames: [Frame] = []
        var comments: [String] = []
        var hasEnded = false
        var rest: [UInt8] = []
        var isInBody = false
        var next = Frame()
    }

    let watched = Watched(State())
    private let process = Process()

    /// - Parameters:
    ///   - path: of the order events, or of another stream.
    ///   - lastID: the `Last-Event-ID` to resume from.
    ///   - bytesPerSecond: how slowly to read.
    init(_ client: Client, path: String = "/v1/trading/orders/events", query: String = "", lastID: String? = nil, bytesPerSecond: Int? = nil) throws {
        process.executableURL = URL(filePath: "/usr/bin/env")
        var arguments = [
            "curl", "-sS", "-N", "-i", "-H", "Authorization: Bearer \(client.phone.token)", "-H", "Accept: text/event-stream",
            "http://127.0.0.1:\(client.port)\(path)\(query)",
        ]
        if let lastID { arguments += ["-H", "Last-Event-ID: \(lastID)"] }
        if let bytesPerSecond { arguments += ["--limit-rate", String(bytesPerSecond)] }
        process.arguments = arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        PipeReader.read(pipe, of: process) { [watched] data in watched.change { Self.take(data, &$0) } }
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

    /// Reads nothing any more, as a phone whose owner looks at something else.
    func freeze() { kill(process.processIdentifier, SIGSTOP) }
    func thaw() { kill(process.processIdentifier, SIGCONT) }

    func stop() { if process.isRunning { process.terminate() } }

    /// HTML standard, section 9.2.6, after the head.
    private static func take(_ data: Data, _ state: inout State) {
        if data.isEmpty { state.hasEnded = true }
        state.rest += data
        var lines = state.rest.split(separator: 0x0A, omittingEmptySubsequences: false)
        state.rest = Array(lines.removeLast())
        for line in lines { take(line: String(decoding: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self), &state) }
    }

    private static func take(line: String, _ state: inout State) {
        if !state.isInBody {
            if line.isEmpty { state.isInBody = true } else { state.head.append(line.lowercased()) }
        } else if line.isEmpty {
            if !state.next.data.isEmpty { state.frames.append(state.next) }
            state.next = Frame()
        } else if line.hasPrefix(":") {
            state.comments.append(String(line.dropFirst()))
        } else if line.hasPrefix("id: ") {
            state.next.id = String(line.dropFirst(4))
        } else if line.hasPrefix("event: ") {
            state.next.event = String(line.dropFirst(7))
        } else if line.hasPrefix("data: ") {
            state.next.data += line.dropFirst(6)
        }
    }

    /// Waits until the stream stands.
    func opened() async throws -> EventReader {
        _ = try await watched.wait(for: "the stream") { $0.isInBody && !$0.comments.isEmpty }
        return self
    }

    /// The frames once one is as asked.
    func frames(until what: String, _ isEnd: @escaping @Sendable (Frame) -> Bool) async throws -> [Frame] {
        try await watched.wait(for: what) { $0.frames.contains(where: isEnd) }.frames
    }

    /// The stream's end, and all that came before.
    func ended() async throws -> State { try await watched.wait(for: "the stream's end") { $0.hasEnded } }
}
