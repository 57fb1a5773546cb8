import Foundation
import JourneySupport

/// A WebSocket spoken by Python's websockets: a client that shares no code with the router.
final class SocketReader: Sendable {
    struct State: Sendable {
        var lines: [String] = []
        var rest: [UInt8] = []
        var hasEnded = false

        /// The messages of this type, read as JSON.
        func messages(_ type: String) -> [Phone.Answer] {
            lines.filter { $0.hasPrefix(#"{"type":"\#(type)""#) }.map { Phone.Answer(status: 200, headers: [:], body: Array($0.utf8)) }
        }
    }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Scripts/websocket_pipe.py").path
    /// Where `scripts/install-packages tests` puts it.
    private static let packages = root.appending(path: ".build/python").path
    static let isWanted =
        FileManager.default.fileExists(atPath: packages + "/websockets") || ProcessInfo.processInfo.environment["CI"] != nil

    let watched = Watched(State())
    private let process = Process()
    private let input = Pipe()

    /// - Parameter isBrowser: gives its token as a subprotocol, as a browser must.
    init(_ client: Client, isBrowser: Bool = false) throws {
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", Self.script, "ws://127.0.0.1:\(client.port)/v1/ws", client.phone.token] + (isBrowser ? ["--browser"] : [])
        process.environment = ProcessInfo.processInfo.environment.merging(["PYTHONPATH": Self.packages]) { $1 }
        let output = Pipe()
        process.standardOutput = output
        process.standardInput = input
        try process.run()
        PipeReader.read(output, of: process) { [watched] data in
            watched.change { state in
                if data.isEmpty { state.hasEnded = true }
                state.rest += data
                var lines = state.rest.split(separator: 0x0A, omittingEmptySubsequences: false)
                state.rest = Array(lines.removeLast())
                state.lines += lines.map { String(decoding: $0, as: UTF8.self) }
            }
        }
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

    func send(_ message: String) throws { try input.fileHandleForWriting.write(contentsOf: Data((message + "\n").utf8)) }

    func stop() { if process.isRunning { process.terminate() } }

    /// The state once it is as asked.
    func state(when what: String, _ isSo: @escaping @Sendable (State) -> Bool) async throws -> State {
        try await watched.wait(for: "\(what); there is \(watched.now.lines.suffix(5))", isSo)
    }

    /// The first message of this type.
    func first(_ type: String) async throws -> Phone.Answer { try await state(when: type) { !$0.messages(type).isEmpty }.messages(type)[0] }
}
