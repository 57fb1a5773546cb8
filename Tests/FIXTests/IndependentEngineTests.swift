import Synchronization
import TestSupport
import Testing

@testable import FIX

/// Our engine against QuickFIX, an independent one, over a real line and in both roles: orders, gaps both ways, a broken line, resets, logouts.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `An independent engine` {
    private static let peer = QuickFIXProgram("quickfix_peer", beside: #filePath)
    private static let orders = 50

    private static func settings(_ role: SessionSettings.Role) -> SessionSettings {
        var settings = SessionSettings(role: role, senderCompID: "OURS", targetCompID: "QUICK")
        settings.rules = .strict
        settings.sendingTimeTolerance = 120_000
        return settings
    }

    @Test(.enabled(if: QuickFIXProgram.isWanted, "QuickFIX is missing: scripts/install-packages tests"))
    func `trades as initiator with our acceptor`() async throws {
        let disk = Disk()
        disk.state.withLock { $0.echoes = true }
        let said = Mutex<[String]>([])
        let acceptor = Acceptor(
            Acceptor.Configuration(),
            report: { what in said.withLock { $0.append("\(what)") } },
            open: { _ in Acceptor.Session(settings: Self.settings(.acceptor), store: DiskStore(disk)) }
        )
        let port = try acceptor.start()
        let peer = try await Self.peer.compiled()
        try await withThrowingTaskGroup { group in
            group.addTask { try await acceptor.run() }
            let ran = try await QuickFIXProgram.run(peer, ["initiator", String(port), String(Self.orders)])
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

    @Test(.enabled(if: QuickFIXProgram.isWanted, "QuickFIX is missing: scripts/install-packages tests"))
    func `trades as acceptor with our initiator`() async throws {
        let disk = Disk()
        disk.state.withLock { $0.echoes = true }
        // A port that is free now; QuickFIX takes none by itself.
        let port = try FIXListener(host: "127.0.0.1", port: 0).port
        let peer = try await Self.peer.compiled()
        var configuration = Initiator.Configuration(host: "127.0.0.1", port: port, session: Self.settings(.initiator))
        configuration.backoff = 20...200
        let initiator = Initiator(configuration, random: { 0.5 }, report: { _ in }, openStore: { DiskStore(disk) })
        try await withThrowingTaskGroup { group in
            group.addTask { try await initiator.run() }
            let ran = try await QuickFIXProgram.run(peer, ["acceptor", String(port), String(Self.orders)])
            group.cancelAll()
            try await group.waitForAll()
            #expect(ran.status == 0 && ran.output.contains("ok \(Self.orders * 4)"), "\(ran.output)")
        }
        let rounds = ["plain", "gap-out", "gap-in", "line"]
        #expect(disk.state.withLock { $0.received } == rounds.flatMap { round in (1...Self.orders).map { "\(round)\($0)" } })
    }
}
