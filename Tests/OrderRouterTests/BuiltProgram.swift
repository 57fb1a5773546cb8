import Foundation
import Synchronization
import TestSupport
import Testing

/// The program order-router as it was built beside these tests, run as its users run it.
struct BuiltProgram {
    struct Outcome {
        let status: Int32
        let output: String
        let errors: String
    }

    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Beside the test program, whatever the build is called.
    static let path: String = {
        let tests = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        let beside = tests.deletingLastPathComponent().appending(path: "order-router")
        if FileManager.default.isExecutableFile(atPath: beside.path) { return beside.path }
        return root.appending(path: ".build/debug/order-router").path
    }()

    /// Only a failure guard: a command takes a second.
    private static let deadline: Duration = .seconds(120)

    /// Runs a command to its end.
    static func run(_ arguments: [String], _ environment: [String: String] = [:], input: String = "") async throws -> Outcome {
        try await Running(arguments, environment, input: input).end(within: deadline)
    }

    /// A command that runs until it is told to end, or ends by itself.
    final class Running: Sendable {
        private let process: Process
        private let folder: TemporaryFolder
        private let ended = Latch()

        init(_ arguments: [String], _ environment: [String: String] = [:], input: String = "", in directory: String? = nil) throws {
            folder = try TemporaryFolder()
            process = Process()
            process.executableURL = URL(filePath: BuiltProgram.path)
            process.arguments = arguments
            process.currentDirectoryURL = directory.map { URL(filePath: $0) } ?? BuiltProgram.root
            process.environment = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"].merging(environment) { $1 }
            // Files, not pipes: a program that writes much is never stopped by a test that does not read.
            for name in ["out", "err"] { try folder.write(name, "") }
            try folder.write("in", input)
            process.terminationHandler = { [ended] _ in ended.open() }
            try process.run(in: folder)
        }

        var output: String { folder.read("out") }
        var errors: String { folder.read("err") }
        var isRunning: Bool { process.isRunning }

        func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

        /// Kills it, and returns once it is gone. What it started and left behind keeps `end` waiting: that looks at what they inherited.
        func die() async throws {
            send(SIGKILL)
            let end = ContinuousClock.now + .seconds(30)
            while ContinuousClock.now < end {
                let state = try? String(contentsOfFile: "/proc/\(process.processIdentifier)/stat", encoding: .utf8).split(separator: ") ").last?.first
                if state == nil || state == "Z" { return }
                try await Task.sleep(for: .milliseconds(10))
            }
            throw Failure(what: "the killed command is still there")
        }

        func end(within time: Duration) async throws -> Outcome {
            guard await ended.wait(upTo: time) else {
                send(SIGKILL)
                throw Failure(what: "the command did not end within \(time); it said: \(output)\(errors)")
            }
            let status = process.terminationReason == .uncaughtSignal ? 128 + process.terminationStatus : process.terminationStatus
            return Outcome(status: status, output: output, errors: errors)
        }
    }

    struct Failure: Error, CustomStringConvertible {
        let what: String

        var description: String { what }
    }
}

/// Opens once; whoever waits goes on.
final class Latch: Sendable {
    private let state = Mutex<(isOpen: Bool, waiters: [AsyncStream<Void>.Continuation])>((false, []))

    func open() {
        let waiters = state.withLock { state in
            state.isOpen = true
            return state.waiters
        }
        for waiter in waiters { waiter.finish() }
    }

    /// - Returns: false where it did not open in time.
    func wait(upTo time: Duration) async -> Bool {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        let isOpen = state.withLock { state in
            state.waiters.append(continuation)
            return state.isOpen
        }
        if isOpen { return true }
        let guardian = Task {
            try? await Task.sleep(for: time)
            continuation.finish()
        }
        for await _ in stream {}
        guardian.cancel()
        return state.withLock(\.isOpen)
    }
}

/// A folder of a test's own, gone with it.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        path = TestServer.temporaryPath()
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            print("\(path) could not be removed: \(error)")
        }
    }

    func url(_ name: String) -> URL { URL(filePath: path).appending(path: name) }

    @discardableResult
    func write(_ name: String, _ text: String) throws -> String {
        try Data(text.utf8).write(to: url(name))
        return url(name).path
    }

    func read(_ name: String) -> String { String(decoding: FileManager.default.contents(atPath: url(name).path) ?? Data(), as: UTF8.self) }
}

/// Another program, such as openssl.
func program(_ words: String..., input: String = "") async throws -> BuiltProgram.Outcome {
    let folder = try TemporaryFolder()
    for name in ["out", "err"] { try folder.write(name, "") }
    try folder.write("in", input)
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = words
    let ended = Latch()
    process.terminationHandler = { _ in ended.open() }
    try process.run(in: folder)
    guard await ended.wait(upTo: .seconds(60)) else { throw BuiltProgram.Failure(what: "\(words) did not end") }
    return BuiltProgram.Outcome(status: process.terminationStatus, output: folder.read("out"), errors: folder.read("err"))
}

extension Process {
    /// Starts with the folder's files `in`, `out` and `err` as its own; ours are closed at once, for each test starts many.
    func run(in folder: TemporaryFolder) throws {
        let handles = [
            try FileHandle(forReadingFrom: folder.url("in")), try FileHandle(forWritingTo: folder.url("out")),
            try FileHandle(forWritingTo: folder.url("err")),
        ]
        (standardInput, standardOutput, standardError) = (handles[0], handles[1], handles[2])
        try run()
        for handle in handles { try handle.close() }
    }
}

/// Asks again and again for what other programs do; nothing tells.
func eventually<Value>(_ what: String, _ look: () async throws -> Value?) async throws -> Value {
    let end = ContinuousClock.now + .seconds(60)
    while ContinuousClock.now < end {
        if let found = try await look() { return found }
        try await Task.sleep(for: .milliseconds(20))
    }
    throw BuiltProgram.Failure(what: "\(what) did not come")
}
