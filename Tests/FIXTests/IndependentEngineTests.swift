import Foundation
import Synchronization
import Testing

@testable import FIX

/// Our engine against QuickFIX, an independent one, over a real line and in both roles: orders, gaps both ways, a broken line, resets, logouts.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `An independent engine` {
    private static let source = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Scripts/quickfix_peer.cpp").path
    private static let isInstalled = FileManager.default.fileExists(atPath: "/usr/include/quickfix/Session.h")
    private static let isWanted = isInstalled || ProcessInfo.processInfo.environment["CI"] != nil
    private static let orders = 50

    /// Runs a program to its end, on a thread of its own; its output and exit code.
    private static func run(_ program: String, _ arguments: [String]) async throws -> (status: Int32, output: String) {
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

    /// The counterparty's program, compiled once for all tests.
    private static func peer() async throws -> String {
        let program = FileManager.default.temporaryDirectory.appending(path: "quickfix-peer-\(ProcessInfo.processInfo.processIdentifier)").path
        if FileManager.default.isExecutableFile(atPath: program) { return program }
        // The library's own headers still say what a function throws, which later standards do not take.
        let compiled = try await run("/usr/bin/env", ["g++", "-std=c++14", "-w", "-o", program, source, "-lquickfix", "-lpthread"])
        try #require(compiled.status == 0, "\(compiled.output)")
        return program
    }

    private static func settings(_ role: SessionSettings.Role) -> SessionSettings {
        var settings = SessionSettings(role: role, senderCompID: "OURS", targetCompID: "QUICK")
        settings.rules = .strict
        settings.sendingTimeTolerance = 120_000
        return settings
    }

    @Test(.enabled(if: isWanted, "QuickFIX is missing: scripts/install-packages tests")) func `trades as initiator with our acceptor`() async throws {
        let disk = Disk()
        disk.state.withLock { $0.echoes = true }
        let said = Mutex<[String]>([])
        let acceptor = Acceptor(
            Acceptor.Configuration(),
            report: { what in said.withLock { $0.append("\(what)") } },
            open: { _ in Acceptor.Session(settings: Self.settings(.acceptor), store: DiskStore(disk)) }
        )
        let port = try acceptor.start()
        let peer = try await Self.peer()
        try await withThrowingTaskGroup { group in
            group.addTask { try await acceptor.run() }
            let ran = try await Self.run(peer, ["initiator", String(port), String(Self.orders)])
            group.cancelAll()
            try await group.waitForAll()
            #expect(
                ran.status == 0 && ran.output.contains("ok \(Self.orders * 5)"),
                "\(ran.output)\n\(said.withLock { $0.prefix(12).joined(separator: "\n") })"
            )
        }
        let rounds = ["plain", "gap-out", "gap-in", "line", "again"]
        #expect(disk.state.withLock { $0.received } == rounds.flatMap { round in (1...Self.orders).map { "\(round)\($0)" } })
    }

    @Test(.enabled(if: isWanted, "QuickFIX is missing: scripts/install-packages tests")) func `trades as acceptor with our initiator`() async throws {
        let disk = Disk()
        disk.state.withLock { $0.echoes = true }
        // A port that is free now; QuickFIX takes none by itself.
        let port = try FIXListener(host: "127.0.0.1", port: 0).port
        let peer = try await Self.peer()
        var configuration = Initiator.Configuration(host: "127.0.0.1", port: port, session: Self.settings(.initiator))
        configuration.backoff = 20...200
        let initiator = Initiator(configuration, random: { 0.5 }, report: { _ in }, openStore: { DiskStore(disk) })
        try await withThrowingTaskGroup { group in
            group.addTask { try await initiator.run() }
            let ran = try await Self.run(peer, ["acceptor", String(port), String(Self.orders)])
            group.cancelAll()
            try await group.waitForAll()
            #expect(ran.status == 0 && ran.output.contains("ok \(Self.orders * 4)"), "\(ran.output)")
        }
        let rounds = ["plain", "gap-out", "gap-in", "line"]
        #expect(disk.state.withLock { $0.received } == rounds.flatMap { round in (1...Self.orders).map { "\(round)\($0)" } })
    }
}
