import Cryptography
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import FIX

/// The authorities and certificates of these tests, made once.
enum TLSFixture {
    static let authority = Result { try CertificateAuthority() }
    static let stranger = Result { try CertificateAuthority() }
    private static let ofServer = Result { try authority.get().sign() }
    private static let ofClient = Result { try authority.get().sign("DNS:orders") }

    static func identity(_ files: (certificate: String, key: String)) -> LineTLS.Identity {
        LineTLS.Identity(certificateChain: files.certificate, privateKey: files.key)
    }

    static func server() throws -> LineTLS.Identity { identity(try ofServer.get()) }
    static func client() throws -> LineTLS.Identity { identity(try ofClient.get()) }

    static func acceptor(_ given: LineTLS.Identity? = nil, clients: String? = nil) throws -> LineTLS {
        try LineTLS.acceptor(identity: given ?? server(), clientAuthorities: clients)
    }

    static func initiator(_ authorities: String? = nil, name: String? = nil, identity: LineTLS.Identity? = nil) throws -> LineTLS {
        try LineTLS.initiator(authorities: authorities ?? authority.get().file, name: name, identity: identity)
    }
}

/// What an end reports, and where to wait for it.
final class Told: Sendable {
    let disk = Disk()

    var report: @Sendable (String) -> Void { { [disk] line in disk.change { $0.received.append(line) } } }
    var lines: [String] { disk.state.withLock(\.received) }

    func wait(for words: String) async { await disk.wait { $0.received.contains { $0.contains(words) } } }
}

/// An acceptor and an initiator, each with TLS or without.
private struct Line {
    let ours = Disk()
    let theirs = Disk()
    let initiatorTold = Told()
    let acceptorTold = Told()

    func run(
        host: String = "localhost",
        _ acceptance: LineTLS?,
        _ connecting: LineTLS?,
        handshakeTimeout: Int64 = 5_000,
        _ body: (Acceptor, Initiator, UInt16) async throws -> Void
    ) async throws {
        var configuration = Acceptor.Configuration()
        configuration.tls = acceptance
        configuration.handshakeTimeout = handshakeTimeout
        configuration.logonTimeout = 1_000
        let acceptor = Acceptor(configuration, report: acceptorTold.report) { [theirs] _ in
            Acceptor.Session(settings: SessionSettings(role: .acceptor, senderCompID: "B", targetCompID: "A"), store: DiskStore(theirs))
        }
        let settings = SessionSettings(role: .initiator, senderCompID: "A", targetCompID: "B")
        let port = try acceptor.start()
        var connection = Initiator.Configuration(host: host, port: port, session: settings)
        connection.backoff = 1...20
        connection.tls = connecting
        connection.handshakeTimeout = handshakeTimeout
        let initiator = Initiator(connection, random: { 0.5 }, report: initiatorTold.report, openStore: { [ours] in DiskStore(ours) })
        try await withThrowingTaskGroup { group in
            group.addTask { try await acceptor.run() }
            group.addTask { try await initiator.run() }
            try await body(acceptor, initiator, port)
            group.cancelAll()
            try await group.waitForAll()
        }
    }
}

@Suite(.timeLimit(.minutes(1))) struct `A session over TLS` {
    @Test func `carries large bursts both ways, once and in order, with a certificate at each end`() async throws {
        let many = (1...5_000).map { "order-\($0)" }
        let line = Line()
        line.ours.state.withLock { $0.outbox = many }
        line.theirs.state.withLock { $0.outbox = many }
        let acceptance = try TLSFixture.acceptor(clients: TLSFixture.authority.get().file)
        try await line.run(acceptance, try TLSFixture.initiator(identity: TLSFixture.client())) { _, _, _ in
            await line.theirs.wait { $0.received.count >= many.count }
            await line.ours.wait { $0.received.count >= many.count }
        }
        #expect(line.theirs.state.withLock { $0.received } == many)
        #expect(line.ours.state.withLock { $0.received } == many)
        #expect(line.ours.state.withLock { $0.events.last } == .disconnected("shutting down"))
    }

    @Test func `loses and doubles nothing when the line breaks again and again`() async throws {
        let many = (1...500).map { "order-\($0)" }
        let line = Line()
        try await line.run(try TLSFixture.acceptor(), try TLSFixture.initiator()) { acceptor, initiator, _ in
            for round in 0..<20 {
                line.ours.state.withLock { $0.outbox += many[(round * 25)..<(round * 25 + 25)] }
                line.theirs.state.withLock { $0.outbox += many[(round * 25)..<(round * 25 + 25)] }
                await line.ours.wait { $0.events.last == .loggedOn }
                if round % 2 == 0 { acceptor.disconnectAll("the line broke") } else { initiator.drop("the line broke") }
                await line.ours.wait { $0.events.filter { $0 == .loggedOn }.count > round + 1 }
            }
            await line.theirs.wait { $0.received.count >= many.count }
            await line.ours.wait { $0.received.count >= many.count }
        }
        #expect(line.theirs.state.withLock { $0.received } == many)
        #expect(line.ours.state.withLock { $0.received } == many)
    }

    @Test func `takes a certificate for an address, and one for a name that is set`() async throws {
        for (host, name) in [("127.0.0.1", nil), ("127.0.0.1", "localhost")] as [(String, String?)] {
            let line = Line()
            try await line.run(host: host, try TLSFixture.acceptor(), try TLSFixture.initiator(name: name)) { _, _, _ in
                await line.ours.wait { $0.events.contains(.loggedOn) }
            }
        }
    }

    /// What an end is, and a part of what the initiator is told.
    enum Wrong: CaseIterable {
        case strangeAuthority, systemAuthorities, otherHost, otherName, expired, noClientCertificate, strangeClientCertificate
        case plainAcceptor, plainInitiator

        var words: String {
            switch self {
            case .strangeAuthority, .systemAuthorities: "signed by no certificate authority that is believed here"
            case .otherHost: "is not made out to 'localhost'"
            case .otherName: "is not made out to 'venue.example'"
            case .expired: "has expired"
            case .noClientCertificate: "wants a certificate of ours: none is set here"
            case .strangeClientCertificate: "does not believe who has signed our certificate"
            case .plainAcceptor: "closed the connection in its middle: does it speak TLS on this port"
            case .plainInitiator: "the counterparty closed the connection"
            }
        }

        /// And what the acceptor is told, where it can know.
        var acceptorWords: String? {
            switch self {
            case .noClientCertificate: "has shown no certificate"
            case .strangeClientCertificate: "signed by no certificate authority that is believed here"
            case .strangeAuthority: "does not believe who has signed our certificate"
            case .plainAcceptor: "speaks TLS on this port, and this end does not"
            case .plainInitiator: "does not speak TLS on this port"
            default: nil
            }
        }

        func ends() throws -> (acceptor: LineTLS?, initiator: LineTLS?) {
            let (authority, stranger) = (try TLSFixture.authority.get(), try TLSFixture.stranger.get())
            let good = try TLSFixture.acceptor()
            return switch self {
            case .strangeAuthority: (good, try TLSFixture.initiator(stranger.file))
            case .systemAuthorities: (good, try LineTLS.initiator(authorities: nil, name: nil, identity: nil))
            case .otherHost: (try TLSFixture.acceptor(TLSFixture.identity(authority.sign("DNS:venue.example"))), try TLSFixture.initiator())
            case .otherName: (good, try TLSFixture.initiator(name: "venue.example"))
            case .expired: (try TLSFixture.acceptor(TLSFixture.identity(authority.sign(days: -1))), try TLSFixture.initiator())
            case .noClientCertificate: (try TLSFixture.acceptor(clients: authority.file), try TLSFixture.initiator())
            case .strangeClientCertificate:
                (try TLSFixture.acceptor(clients: authority.file), try TLSFixture.initiator(identity: TLSFixture.identity(stranger.sign())))
            case .plainAcceptor: (nil, try TLSFixture.initiator())
            case .plainInitiator: (good, nil)
            }
        }
    }

    @Test(arguments: Wrong.allCases) func `does not come about, and both ends are told why`(_ wrong: Wrong) async throws {
        let line = Line()
        let (acceptance, connecting) = try wrong.ends()
        try await line.run(acceptance, connecting) { _, _, _ in
            await line.initiatorTold.wait(for: wrong.words)
            if let words = wrong.acceptorWords { await line.acceptorTold.wait(for: words) }
        }
        #expect(!line.ours.state.withLock { $0.events.contains(.loggedOn) })
        #expect(line.theirs.state.withLock { $0.received }.isEmpty)
        #expect(!(line.initiatorTold.lines + line.acceptorTold.lines).contains { $0.contains("PRIVATE KEY") })
    }

    @Test func `is not kept waiting by whoever connects and stalls the handshake`() async throws {
        let line = Line()
        try await line.run(try TLSFixture.acceptor(), try TLSFixture.initiator(), handshakeTimeout: 300) { _, _, port in
            await line.ours.wait { $0.events.contains(.loggedOn) }
            // A silent one, and one that begins a handshake and does not go on: the record header of a ClientHello.
            let silent = try FIXSocket.connect(host: "localhost", port: port, timeout: 5_000)
            let stalled = try FIXSocket.connect(host: "localhost", port: port, timeout: 5_000)
            #expect(try stalled.write([0x16, 3, 1, 2, 0]) == 5)
            // The session that lives goes on meanwhile.
            line.ours.change { $0.outbox = ["meanwhile"] }
            await line.theirs.wait { $0.received == ["meanwhile"] }
            await line.acceptorTold.disk.wait { $0.received.filter { $0.contains("not done within 300 ms") }.count == 2 }
            _ = (silent, stalled)
        }
        #expect(line.ours.state.withLock { $0.events.filter { $0 == .loggedOn }.count } == 1)
    }

    @Test func `gives up an acceptor that stalls the handshake, and tries again`() async throws {
        let listener = try FIXListener(host: "127.0.0.1", port: 0)
        let (disk, told) = (Disk(), Told())
        let settings = SessionSettings(role: .initiator, senderCompID: "A", targetCompID: "B")
        var configuration = Initiator.Configuration(host: "127.0.0.1", port: listener.port, session: settings)
        configuration.tls = try TLSFixture.initiator()
        configuration.handshakeTimeout = 50
        configuration.backoff = 1...1
        let initiator = Initiator(configuration, random: { 0.5 }, report: told.report, openStore: { DiskStore(disk) })
        try await withThrowingTaskGroup { group in
            group.addTask { try await initiator.run() }
            await told.wait(for: "not done within 50 ms: does the other end speak TLS on this port?")
            for _ in 0..<3 {
                _ = Readiness.wait(reading: listener.descriptor, writing: nil, wakeUp: nil, timeout: 5_000)
                #expect(try listener.accept() != nil)
            }
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    @Test func `names the file that cannot be used`() throws {
        let (identity, authority) = (try TLSFixture.server(), try TLSFixture.authority.get())
        let other = try TLSFixture.client()
        func message(_ body: () throws -> LineTLS) -> String {
            do {
                _ = try body()
                return "nothing"
            } catch {
                return "\(error)"
            }
        }
        func accepting(_ certificate: String, _ key: String) -> String {
            message { try LineTLS.acceptor(identity: LineTLS.Identity(certificateChain: certificate, privateKey: key), clientAuthorities: nil) }
        }
        #expect(accepting("/no/cert.pem", identity.privateKey).contains("/no/cert.pem cannot be used"))
        #expect(accepting(identity.certificateChain, "/no/key.pem").contains("/no/key.pem cannot be used"))
        #expect(accepting(identity.certificateChain, other.privateKey).contains("does not belong to \(identity.certificateChain)"))
        let encrypted = try authority.encrypted(identity.privateKey)
        #expect(accepting(identity.certificateChain, encrypted).contains("\(encrypted) cannot be used"))
        #expect(message { try LineTLS.initiator(authorities: "/no/ca.pem", name: nil, identity: nil) }.contains("/no/ca.pem cannot be used"))
    }
}
