import Cryptography
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FIX

/// A program that is spoken to while it runs.
private final class Talk: Sendable {
    private let process: Process
    private let input = Pipe()
    private let said = Disk()

    init(_ arguments: [String]) throws {
        process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        let output = Pipe()
        (process.standardInput, process.standardOutput, process.standardError) = (input, output, output)
        try process.run()
        Thread.detachNewThread { [said] in
            while true {
                let bytes = output.fileHandleForReading.availableData
                said.change { $0.received.append(bytes.isEmpty ? "(the end)" : String(decoding: bytes, as: UTF8.self)) }
                if bytes.isEmpty { return }
            }
        }
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }

    var text: String { said.state.withLock { $0.received.joined() } }

    func write(_ bytes: [UInt8]) throws { try input.fileHandleForWriting.write(contentsOf: bytes) }

    func hear(_ words: String) async { await said.wait { $0.received.joined().contains(words) } }
}

private func frame(_ type: MessageType, _ number: Int, from sender: String, to target: String, body: String = "") -> [UInt8] {
    let header = Frame.Header(type: type, senderCompID: sender, targetCompID: target, number: number, sendingTime: SessionClock.system.wall())
    return Frame.encode(header, body: Array(body.utf8))
}

/// OpenSSL's own programs at the other end of the line.
@Suite(.timeLimit(.minutes(1))) struct `With the openssl program` {
    @Test(arguments: [("-tls1_1", false), ("-tls1_2", true), ("-tls1_3", true)])
    func `an acceptor takes a Logon of s_client, from TLS 1.2 on`(_ version: String, _ isSpoken: Bool) async throws {
        let (disk, told) = (Disk(), Told())
        var configuration = Acceptor.Configuration()
        configuration.tls = try TLSFixture.acceptor(clients: TLSFixture.authority.get().file)
        let acceptor = Acceptor(configuration, report: told.report) { _ in
            Acceptor.Session(settings: SessionSettings(role: .acceptor, senderCompID: "B", targetCompID: "A"), store: DiskStore(disk))
        }
        let (port, client) = (try acceptor.start(), try TLSFixture.client())
        try await withThrowingTaskGroup { group in
            group.addTask { try await acceptor.run() }
            let talk = try Talk([
                "s_client", "-quiet", version, "-cipher", "DEFAULT:@SECLEVEL=0", "-connect", "127.0.0.1:\(port)", "-servername", "localhost",
                "-CAfile",
                TLSFixture.authority.get().file, "-verify_return_error", "-cert", client.certificateChain, "-key", client.privateKey,
            ])
            if isSpoken {
                try talk.write(frame(.logon, 1, from: "A", to: "B", body: "98=0\u{1}108=30\u{1}"))
                await talk.hear("\u{1}35=A\u{1}")
                try talk.write(frame(.logout, 2, from: "A", to: "B"))
                await talk.hear("\u{1}35=5\u{1}")
                #expect(disk.state.withLock { $0.events.first } == .loggedOn)
            } else {
                await told.wait(for: "1.2 or later is spoken here")
            }
            await talk.hear("(the end)")
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func `an initiator logs on to s_server, shows its certificate and tells the host's name`(_ version: String) async throws {
        // A port that is free now; s_server takes none by itself that it would tell.
        let port = try FIXListener(host: "127.0.0.1", port: 0).port
        let (server, client) = (try TLSFixture.server(), try TLSFixture.client())
        let talk = try Talk([
            "s_server", "-quiet", version, "-naccept", "1", "-accept", "127.0.0.1:\(port)", "-cert", server.certificateChain, "-key",
            server.privateKey,
            "-CAfile", try TLSFixture.authority.get().file, "-Verify", "2", "-verify_return_error", "-servername", "localhost", "-servername_fatal",
            "-cert2", server.certificateChain, "-key2", server.privateKey,
        ])
        let disk = Disk()
        var configuration = Initiator.Configuration(
            host: "localhost",
            port: port,
            session: SessionSettings(role: .initiator, senderCompID: "A", targetCompID: "B")
        )
        configuration.backoff = 10...50
        configuration.tls = try TLSFixture.initiator(identity: client)
        let initiator = Initiator(configuration, random: { 0.5 }, report: { _ in }, openStore: { DiskStore(disk) })
        try await withThrowingTaskGroup { group in
            group.addTask { try await initiator.run() }
            await talk.hear("\u{1}35=A\u{1}")
            try talk.write(frame(.logon, 1, from: "B", to: "A", body: "98=0\u{1}108=30\u{1}"))
            await disk.wait { $0.events.contains(.loggedOn) }
            disk.change { $0.outbox = ["ord"] }
            initiator.wake()
            await talk.hear("\u{1}11=ord\u{1}")
            group.cancelAll()
            await talk.hear("\u{1}35=5\u{1}")
            try await group.waitForAll()
        }
    }
}
