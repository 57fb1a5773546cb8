import Foundation

/// A counterparty on QuickFIX, an engine that shares nothing with ours: a program in C++ beside the tests that speak to it.
package struct QuickFIXProgram: Sendable {
    package struct NotCompiled: Error {
        package let output: String
    }

    private let source: URL

    /// False where the library is missing; where it must not be, the test fails instead.
    package static let isWanted =
        FileManager.default.fileExists(atPath: "/usr/include/quickfix/Session.h") || ProcessInfo.processInfo.environment["CI"] != nil

    /// - Parameter file: of the test; the program's source is in Scripts beside it.
    package init(_ name: String, beside file: String) {
        source = URL(filePath: file).deletingLastPathComponent().appending(path: "Scripts/\(name).cpp")
    }

    /// Its path, compiled once for all tests.
    package func compiled() async throws -> String {
        let name = source.deletingPathExtension().lastPathComponent
        let program = FileManager.default.temporaryDirectory.appending(path: "\(name)-\(ProcessInfo.processInfo.processIdentifier)").path
        if FileManager.default.isExecutableFile(atPath: program) { return program }
        // The library's own headers still say what a function throws, which later standards do not take.
        let compiler = ["g++", "-std=c++14", "-w", "-o", program, source.path, "-lquickfix", "-lpthread"]
        let compiled = try await Self.run("/usr/bin/env", compiler)
        if compiled.status != 0 { throw NotCompiled(output: compiled.output) }
        return program
    }

    /// Runs a program to its end, on a thread of its own; its exit code and what it said.
    package static func run(_ program: String, _ arguments: [String]) async throws -> (status: Int32, output: String) {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        let process = Process()
                        process.executableURL = URL(filePath: program)
                        process.arguments = arguments
                        let pipe = Pipe()
                        process.standardOutput = pipe
                        process.standardError = pipe
                        try process.run()
                        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
                        process.waitUntilExit()
                        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
                    }
                )
            }
        }
    }
}
