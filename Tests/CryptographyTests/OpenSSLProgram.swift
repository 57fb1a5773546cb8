import Foundation

/// The `openssl` program as the independent other side: keys and signatures made by it, and ours judged by it.
final class OpenSSLProgram: Sendable {
    let directory: URL

    init() throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "order-router-openssl-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    struct Failed: Error {
        let arguments: [String]
        let status: Int32
    }

    /// Runs the program in the directory; gives its standard output.
    @discardableResult
    func callAsFunction(_ arguments: String...) throws -> [UInt8] { try run(arguments) }

    func run(_ arguments: [String]) throws -> [UInt8] {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        process.currentDirectoryURL = directory
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        let ended = DispatchSemaphore(value: 0)
        process.terminationHandler = { _ in ended.signal() }
        try process.run()
        let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
        ended.wait()
        guard process.terminationStatus == 0 else { throw Failed(arguments: arguments, status: process.terminationStatus) }
        return [UInt8](bytes)
    }

    func write(_ bytes: [UInt8], to name: String) throws { try Data(bytes).write(to: directory.appending(path: name)) }

    func write(_ text: String, to name: String) throws { try write(Array(text.utf8), to: name) }

    func read(_ name: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: directory.appending(path: name))) }

    func text(_ name: String) throws -> String { String(decoding: try read(name), as: UTF8.self) }
}

/// Bytes from hexadecimal digits; white space is skipped.
func hex(_ digits: String) -> [UInt8] {
    let values = digits.compactMap(\.hexDigitValue)
    return stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
}
