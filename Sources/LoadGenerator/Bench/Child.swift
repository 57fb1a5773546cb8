import Foundation
import Glibc

/// A program of the bench's own that runs until it is told to end, and does not outlive the bench.
final class Child: Sendable {
    let log: String
    private let process: Process
    private let guardian: Process
    /// Open for as long as this process lives: its end tells the guardian.
    private let lifeline = Pipe()

    /// - Parameter log: a file for all that it writes.
    init(_ program: String, _ arguments: [String], log: String) throws {
        self.log = log
        guard FileManager.default.createFile(atPath: log, contents: nil), let output = FileHandle(forWritingAtPath: log) else {
            throw LoadFailure("\(log) cannot be written")
        }
        process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        // A setting of the environment is for another router.
        process.environment = ["PATH": "/usr/bin:/bin"]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        try Self.start(process)
        guardian = Process()
        guardian.executableURL = URL(filePath: "/bin/sh")
        guardian.arguments = ["-c", #"trap '' INT HUP TERM; read -r _; kill -TERM "$0" 2>/dev/null"#, String(process.processIdentifier)]
        guardian.standardInput = lifeline
        guardian.standardOutput = FileHandle.nullDevice
        guardian.standardError = FileHandle.nullDevice
        try Self.start(guardian)
    }

    var id: Int32 { process.processIdentifier }
    var isRunning: Bool { process.isRunning }

    /// Ends it and waits until it is gone.
    func stop() async {
        if process.isRunning { process.terminate() }
        await ended(process)
        try? lifeline.fileHandleForWriting.close()
        await ended(guardian)
    }

    private func ended(_ process: Process) async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                process.waitUntilExit()
                continuation.resume()
            }
        }
    }

    /// Swift's threads block most signals, and a program inherits that: pgbench would never see the alarm that ends it.
    private static func start(_ process: Process) throws {
        var (none, before) = (sigset_t(), sigset_t())
        unsafe sigemptyset(&none)
        unsafe pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { unsafe _ = pthread_sigmask(SIG_SETMASK, &before, nil) }
        try process.run()
    }

    /// Runs a program to its end.
    ///
    /// - Throws: where its status is not 0, with what it wrote.
    static func output(_ program: String, _ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        let pipe = Pipe()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        process.standardError = pipe
        try start(process)
        let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw LoadFailure("\(program) ended with status \(process.terminationStatus): \(text)") }
        return text
    }
}
