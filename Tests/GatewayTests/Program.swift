import Foundation

/// Programs of the system as clients that share no code with us: curl, openssl, grep.
enum Program {
    struct Output: Sendable {
        let status: Int32
        let bytes: [UInt8]
        var text: String { String(decoding: bytes, as: UTF8.self) }
    }

    /// Runs a program and gives what it wrote to its standard output.
    static func run(_ arguments: [String], in folder: URL? = nil) async throws -> Output {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        if let folder { process.currentDirectoryURL = folder }
        // A file: the end of a pipe would not come as long as another child, started meanwhile, holds its other end.
        let file = FileManager.default.temporaryDirectory.appending(path: "order-router-output-\(UUID().uuidString)")
        try Data().write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let output = try FileHandle(forWritingTo: file)
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        let status = Watched(Int32?.none)
        process.terminationHandler = { ended in status.change { $0 = ended.terminationStatus } }
        try process.run()
        let end = try await status.wait(for: "the end of \(arguments[0])") { $0 != nil }
        try output.close()
        return Output(status: end ?? -1, bytes: [UInt8](try Data(contentsOf: file)))
    }

    /// One request by curl, with its arguments as they are; the answer's head and body.
    static func curl(_ arguments: [String]) async throws -> (status: Int, head: String, body: String) {
        let output = try await run(["curl", "-sS", "-i", "--max-time", "30"] + arguments)
        let halves = output.text.components(separatedBy: "\r\n\r\n")
        // An interim answer (100 Continue) comes first.
        let heads = halves.dropLast()
        let head = heads.last ?? ""
        let status = head.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return (status, head, halves.last ?? "")
    }
}

/// A folder that goes with the test.
final class ScratchFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "order-router-gateway-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func write(_ text: String, to name: String) throws -> String {
        let file = url.appending(path: name)
        try Data(text.utf8).write(to: file)
        return file.path
    }
}
