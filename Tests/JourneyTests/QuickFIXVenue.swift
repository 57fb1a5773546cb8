import FIX
import Foundation
import JourneySupport
import Storage
import Synchronization
import TestSupport
import Trading

/// A venue on QuickFIX in a process of its own, whose session and orders outlive it.
final class QuickFIXVenue: Sendable {
    /// An order as it has it.
    struct Order: Equatable {
        let status: Character
        let quantity: Int64
        let filled: Int64
    }

    static let compID = "QUICK"
    private static let program = QuickFIXProgram("quickfix_venue", beside: #filePath)

    let port: UInt16
    private let folder: URL
    private let path: String
    private let lines = Mutex<[String]>([])
    private let process = Mutex<(Process, Pipe)?>(nil)

    init() async throws {
        path = try await Self.program.compiled()
        port = try Town.freePort()
        folder = FileManager.default.temporaryDirectory.appending(path: "order-router-quickfix-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    func start() async throws {
        let next = Process()
        next.executableURL = URL(filePath: path)
        next.arguments = [String(port), folder.path]
        let (input, output) = (Pipe(), Pipe())
        (next.standardInput, next.standardOutput) = (input, output)
        let rest = Mutex("")
        let known = lines.withLock { $0.count }
        PipeReader.read(output) { [self] data in
            let whole = rest.withLock { text in
                text += String(decoding: data, as: UTF8.self)
                var lines = text.components(separatedBy: "\n")
                text = lines.removeLast()
                return lines
            }
            lines.withLock { $0 += whole }
        }
        try next.run()
        process.withLock { $0 = (next, input) }
        try await eventually("QuickFIX") { lines.withLock { $0[known...].contains("ready") } }
    }

    func kill() {
        guard let (running, _) = process.withLock({ $0.take() }) else { return }
        Glibc.kill(running.processIdentifier, SIGKILL)
        running.waitUntilExit()
    }

    /// Its session's numbers and messages, which it keeps beside its orders.
    func loseNumbers() throws { try FileManager.default.removeItem(at: folder.appending(path: "store")) }

    func remove() {
        kill()
        try? FileManager.default.removeItem(at: folder)
    }

    /// Messages that came, by MsgType and ClOrdID, with what they said of themselves.
    var received: [String] { lines.withLock { $0 } }

    func orders() async throws -> [String: Order] {
        let known = lines.withLock { $0.count }
        process.withLock { $0?.1.fileHandleForWriting.write(Data("orders\n".utf8)) }
        try await eventually("QuickFIX's orders") { lines.withLock { $0[known...].contains(".") } }
        let words = lines.withLock { $0[known...].map { $0.split(separator: " ") }.filter { $0.first == "order" } }
        var orders: [String: Order] = [:]
        for line in words {
            orders[String(line[1])] = Order(status: line[2].first ?? " ", quantity: Int64(line[3]) ?? 0, filled: Int64(line[4]) ?? 0)
        }
        return orders
    }
}
