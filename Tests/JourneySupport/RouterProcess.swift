package import Foundation
import Synchronization

/// A router as an operator runs it: `order-router serve` in a process of its own, which a test may kill at any instant.
package final class RouterProcess: Sendable {
    private struct State {
        var port: UInt16?
        var hasEnded = false
        var lines: [String] = []
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let process: Process
    private let state = Mutex(State())

    package static let program: URL = {
        let tests = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        return tests.deletingLastPathComponent().appending(path: "order-router")
    }()

    /// - Parameters:
    ///   - environment: the settings, without those of the process that runs the tests.
    ///   - arguments: `serve`, or what else the program does.
    package init(_ environment: [String: String], arguments: [String] = ["serve"]) throws {
        process = Process()
        process.executableURL = Self.program
        process.arguments = arguments
        process.environment = Self.environment(environment)
        let pipe = Pipe()
        process.standardError = pipe
        process.standardOutput = FileHandle.nullDevice
        let partial = Mutex("")
        try process.run()
        PipeReader.read(pipe, of: process) { [weak self] data in
            let lines = partial.withLock { text in
                text += String(decoding: data, as: UTF8.self)
                var lines = text.components(separatedBy: "\n")
                text = lines.removeLast()
                return lines
            }
            for line in lines { self?.read(line) }
            if data.isEmpty { self?.end() }
        }
    }

    /// The settings, and of the environment of the tests what the sanitizer of a sanitized program must know: else it takes for a race what is none.
    static func environment(_ settings: [String: String]) -> [String: String] {
        let options = ProcessInfo.processInfo.environment["TSAN_OPTIONS"].map { ["TSAN_OPTIONS": $0] } ?? [:]
        return settings.merging(["PATH": "/usr/bin:/bin"]) { first, _ in first }.merging(options) { first, _ in first }
    }

    private func read(_ line: String) {
        let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.lines.append(line)
            guard line.contains(" event=ready "), let colon = line.lastIndex(of: ":") else { return [] }
            state.port = UInt16(line[line.index(after: colon)...])
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    private func end() {
        let waiters = state.withLock { state in
            state.hasEnded = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Waits until it serves; nil where it ended instead.
    package func ready() async -> UInt16? {
        await wait { $0.port != nil || $0.hasEnded }
        return state.withLock { $0.hasEnded ? nil : $0.port }
    }

    /// Waits for its end.
    package func ended() async { await wait(until: \.hasEnded) }

    private func wait(until isOver: @Sendable (State) -> Bool) async {
        while true {
            let isDone = state.withLock { isOver($0) }
            if isDone { return }
            await withCheckedContinuation { continuation in
                let resumesNow = state.withLock { state in
                    if isOver(state) { return true }
                    state.waiters.append(continuation)
                    return false
                }
                if resumesNow { continuation.resume() }
            }
        }
    }

    /// Where it listens already, before it is ready; nil until it has said so.
    package var listenPort: UInt16? {
        let words = log.first { $0.contains(" event=starting ") }?.split(separator: " ")
        return words?.first { $0.hasPrefix("listen_port=") }.flatMap { UInt16($0.dropFirst("listen_port=".count)) }
    }

    package var hasEnded: Bool { state.withLock(\.hasEnded) }
    package var log: [String] { state.withLock(\.lines) }

    /// Nothing where it has ended: its number may be somebody else's by now.
    package func signal(_ number: Int32) {
        if process.isRunning { kill(process.processIdentifier, number) }
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }
}
