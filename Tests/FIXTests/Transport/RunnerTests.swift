import Foundation
import Synchronization
import Testing

@testable import FIX

private func acceptorSession(_ disk: Disk) -> Acceptor.Session {
    Acceptor.Session(settings: SessionSettings(role: .acceptor, senderCompID: "B", targetCompID: "A"), store: DiskStore(disk))
}

/// An acceptor and an initiator over a real socket.
private enum Line {
    static func run(_ ours: Disk, _ theirs: Disk, _ body: (Acceptor, Initiator) async throws -> Void) async throws {
        let open: @Sendable (Acceptor.Logon) -> Acceptor.Session? = { logon in
            guard logon.senderCompID == "A", logon.targetCompID == "B" else { return nil }
            return acceptorSession(theirs)
        }
        let acceptor = Acceptor(Acceptor.Configuration(), report: { _ in }, open: open)
        let port = try acceptor.start()
        let settings = SessionSettings(role: .initiator, senderCompID: "A", targetCompID: "B")
        var configuration = Initiator.Configuration(host: "127.0.0.1", port: port, session: settings)
        configuration.backoff = 1...20
        let initiator = Initiator(configuration, random: { 0.5 }, report: { _ in }, openStore: { DiskStore(ours) })
        try await withThrowingTaskGroup { group in
            group.addTask { try await acceptor.run() }
            group.addTask { try await initiator.run() }
            try await body(acceptor, initiator)
            group.cancelAll()
            try await group.waitForAll()
        }
    }
}

@Suite(.timeLimit(.minutes(1))) struct `A session over a real line` {
    private let many = (1...500).map { "order-\($0)" }

    @Test func `carries messages both ways, once and in order, and logs out when it is cancelled`() async throws {
        let ours = Disk(outbox: many)
        let theirs = Disk(outbox: many)
        try await Line.run(ours, theirs) { _, _ in
            await theirs.wait { $0.received.count >= 500 }
            await ours.wait { $0.received.count >= 500 }
        }
        #expect(theirs.state.withLock { $0.received } == many)
        #expect(ours.state.withLock { $0.received } == many)
        #expect(ours.state.withLock { $0.numbers.nextOut } == theirs.state.withLock { $0.numbers.nextIn })
        #expect(ours.state.withLock { $0.numbers.nextIn } == theirs.state.withLock { $0.numbers.nextOut })
        #expect(ours.state.withLock { $0.events.last } == .disconnected("shutting down"))
    }

    @Test func `loses and doubles nothing when the line breaks again and again`() async throws {
        let ours = Disk()
        let theirs = Disk()
        try await Line.run(ours, theirs) { acceptor, initiator in
            for round in 0..<20 {
                ours.state.withLock { $0.outbox += many[(round * 25)..<(round * 25 + 25)] }
                theirs.state.withLock { $0.outbox += many[(round * 25)..<(round * 25 + 25)] }
                await ours.wait { $0.events.last == .loggedOn }
                if round % 2 == 0 { acceptor.disconnectAll("the line broke") } else { initiator.drop("the line broke") }
                await ours.wait { $0.events.filter { $0 == .loggedOn }.count > round + 1 }
            }
            await theirs.wait { $0.received.count >= 500 }
            await ours.wait { $0.received.count >= 500 }
        }
        #expect(theirs.state.withLock { $0.received } == many)
        #expect(ours.state.withLock { $0.received } == many)
    }

    @Test func `resends what was missed in parts, and passes over a million numbers without a message at once`() async throws {
        let (ours, theirs) = (Disk(), Disk())
        let missed = (2...1_201).map { "order-\($0)" }
        ours.state.withLock { state in
            for (number, name) in zip(2..., missed) {
                let order = DiskStore.order(name, at: 1)
                state.sent[number] = StoredMessage(number: number, type: order.type, sendingTime: 1, body: order.bytes)
            }
            state.numbers.nextOut = 1_000_000
        }
        try await Line.run(ours, theirs) { _, _ in await theirs.wait { $0.received.count >= missed.count && $0.numbers.nextIn > 1_000_000 } }
        #expect(theirs.state.withLock { $0.received } == missed)
        // A part is so many messages: three, and again where the machine is so slow that what is missing is asked for anew.
        #expect((3..<30).contains(ours.state.withLock { $0.reads }))
    }

    @Test func `forgets what a failed commit would have received, and asks for it again`() async throws {
        let ours = Disk(outbox: many)
        let theirs = Disk()
        theirs.state.withLock { $0.failCommits = 3 }
        try await Line.run(ours, theirs) { _, _ in await theirs.wait { $0.received.count >= 500 } }
        #expect(theirs.state.withLock { $0.received } == many)
        #expect(theirs.state.withLock { $0.failCommits } == 0)
    }

    @Test func `takes back the numbers of a pull that failed`() async throws {
        let ours = Disk(outbox: many)
        let theirs = Disk()
        ours.state.withLock { $0.failPulls = 3 }
        try await Line.run(ours, theirs) { _, _ in await theirs.wait { $0.received.count >= 500 } }
        #expect(theirs.state.withLock { $0.received } == many)
        #expect(ours.state.withLock { $0.failPulls } == 0)
    }

    @Test func `writes nothing once the right to write is lost`() async throws {
        let ours = Disk()
        let theirs = Disk()
        try await Line.run(ours, theirs) { _, initiator in
            await ours.wait { $0.events.contains(.loggedOn) }
            let before = theirs.state.withLock { $0.numbers.nextIn }
            ours.state.withLock {
                $0.mayWrite = false
                $0.outbox = ["late"]
            }
            initiator.wake()
            await ours.wait { $0.events.contains(.disconnected("the right to write is lost")) }
            await theirs.wait { if case .disconnected = $0.events.last { true } else { false } }
            #expect(theirs.state.withLock { $0.numbers.nextIn } == before)
            #expect(theirs.state.withLock { $0.received }.isEmpty)
            // The message is committed with its number: with the right to write it goes out by the session's own resend.
            ours.state.withLock { $0.mayWrite = true }
            await theirs.wait { !$0.received.isEmpty }
        }
        #expect(theirs.state.withLock { $0.received } == ["late"])
    }

    @Test func `refuses a second connection while the first one lives`() async throws {
        let ours = Disk()
        let theirs = Disk()
        let second = Disk()
        let refused = Mutex<[String]>([])
        let report: @Sendable (String) -> Void = { line in second.change { _ in refused.withLock { $0.append(line) } } }
        let acceptor = Acceptor(Acceptor.Configuration(), report: report, open: { _ in acceptorSession(theirs) })
        let port = try acceptor.start()
        let settings = SessionSettings(role: .initiator, senderCompID: "A", targetCompID: "B")
        let configuration = Initiator.Configuration(host: "127.0.0.1", port: port, session: settings)
        let initiator = Initiator(configuration, random: { 0.5 }, report: { _ in }, openStore: { DiskStore(ours) })
        let intruder = Initiator(configuration, random: { 0.5 }, report: { _ in }, openStore: { DiskStore(second) })
        try await withThrowingTaskGroup { group in
            group.addTask { try await acceptor.run() }
            group.addTask { try await initiator.run() }
            await ours.wait { $0.events.contains(.loggedOn) }
            group.addTask { try await intruder.run() }
            await second.wait { $0.events.contains { if case .disconnected = $0 { true } else { false } } }
            #expect(!second.state.withLock { $0.events.contains(.loggedOn) })
            #expect(ours.state.withLock { $0.events } == [.loggedOn])
            group.cancelAll()
            try await group.waitForAll()
        }
        #expect(refused.withLock { $0.contains { $0.contains("already connected") } })
    }

    @Test func `keeps nothing of connections that it has refused`() async throws {
        let (ours, theirs, second) = (Disk(), Disk(), Disk())
        let refused = Mutex(0)
        var acceptance = Acceptor.Configuration()
        acceptance.handover = 1
        let acceptor = Acceptor(
            acceptance,
            report: { _ in second.change { _ in refused.withLock { $0 += 1 } } },
            open: { _ in acceptorSession(theirs) }
        )
        let port = try acceptor.start()
        let settings = SessionSettings(role: .initiator, senderCompID: "A", targetCompID: "B")
        var configuration = Initiator.Configuration(host: "127.0.0.1", port: port, session: settings)
        let initiator = Initiator(configuration, random: { 0.5 }, report: { _ in }, openStore: { DiskStore(ours) })
        configuration.backoff = 1...1
        let intruder = Initiator(configuration, random: { 0.5 }, report: { _ in }, openStore: { DiskStore(second) })
        func descriptors() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
        try await withThrowingTaskGroup { group in
            group.addTask { try await acceptor.run() }
            group.addTask { try await initiator.run() }
            await ours.wait { $0.events.contains(.loggedOn) }
            let before = try descriptors()
            group.addTask { try await intruder.run() }
            await second.wait { _ in refused.withLock { $0 >= 40 } }
            // Two for each that was refused would be eighty; a connection on its way has a handful.
            let after = try descriptors()
            #expect(after < before + 40, "\(before) before, \(after) after")
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    @Test func `lets a second connection in once the first one, which has logged out, is seen to be closed`() async throws {
        let (ours, theirs, second) = (Disk(), Disk(), Disk())
        let acceptor = Acceptor(Acceptor.Configuration(), report: { _ in }, open: { _ in acceptorSession(theirs) })
        let port = try acceptor.start()
        let settings = SessionSettings(role: .initiator, senderCompID: "A", targetCompID: "B")
        var configuration = Initiator.Configuration(host: "127.0.0.1", port: port, session: settings)
        let initiator = Initiator(configuration, random: { 0.5 }, report: { _ in }, openStore: { DiskStore(ours) })
        // One try: what is refused would not come again in time.
        configuration.backoff = 60_000...60_000
        let successor = Initiator(configuration, random: { 0.5 }, report: { _ in }, openStore: { DiskStore(second) })
        try await withThrowingTaskGroup { group in
            group.addTask { try await acceptor.run() }
            let first = Task { try await initiator.run() }
            await ours.wait { $0.events.contains(.loggedOn) }
            second.state.withLock { $0.numbers = ours.state.withLock { $0.numbers } }
            second.state.withLock { $0.numbers.nextOut += 1 }
            group.addTask { try await successor.run() }
            first.cancel()
            _ = try await first.value
            await second.wait { $0.events.contains(.loggedOn) }
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    @Test func `begins again at one with each logon when it is told to`() async throws {
        let theirs = Disk()
        let ours = Disk()
        theirs.state.withLock { $0.numbers = SessionNumbers(generation: 4, nextOut: 70, nextIn: 80) }
        let acceptor = Acceptor(Acceptor.Configuration(), report: { _ in }, open: { _ in acceptorSession(theirs) })
        var settings = SessionSettings(role: .initiator, senderCompID: "A", targetCompID: "B")
        settings.resetOnLogon = true
        let configuration = Initiator.Configuration(host: "127.0.0.1", port: try acceptor.start(), session: settings)
        let initiator = Initiator(configuration, random: { 0.5 }, report: { _ in }, openStore: { DiskStore(ours) })
        try await withThrowingTaskGroup { group in
            group.addTask { try await acceptor.run() }
            group.addTask { try await initiator.run() }
            await ours.wait { $0.events.contains(.loggedOn) }
            #expect(ours.state.withLock { $0.numbers } == SessionNumbers(generation: 2, nextOut: 2, nextIn: 2))
            #expect(theirs.state.withLock { $0.numbers } == SessionNumbers(generation: 5, nextOut: 2, nextIn: 2))
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    @Test func `waits for a logon without spinning, and not for ever`() async throws {
        let ours = Disk()
        let listener = try FIXListener(host: "127.0.0.1", port: 0)
        let looks = Mutex(0)
        let clock = SessionClock(
            wall: SessionClock.system.wall,
            monotonic: {
                looks.withLock { $0 += 1 }
                return SessionClock.system.monotonic()
            }
        )
        var settings = SessionSettings(role: .initiator, senderCompID: "A", targetCompID: "B")
        settings.logonTimeout = 300
        let configuration = Initiator.Configuration(host: "127.0.0.1", port: listener.port, session: settings)
        let initiator = Initiator(configuration, clock: clock, random: { 0.5 }, report: { _ in }, openStore: { DiskStore(ours) })
        try await withThrowingTaskGroup { group in
            group.addTask { try await initiator.run() }
            await ours.wait { $0.events.contains(.disconnected("no Logon in time")) }
            #expect(looks.withLock { $0 } < 200 * ours.state.withLock { $0.events.count })
            group.cancelAll()
            try await group.waitForAll()
        }
    }
}
