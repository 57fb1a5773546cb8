import BinaryFeed
import ExchangeSimulator
import Glibc
import HTTPServer
import Synchronization
import Testing

/// Whoever reads the binary feed's TCP line: what has come, as a client of another make would see it.
private final class LineReader: Sendable {
    struct State {
        var frames: [BinaryFrame] = []
        var hasEnded = false
    }

    private let state = Mutex(State())
    private let (changes, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    /// Reads on a thread of its own until the other side closes the line, or the task is cancelled.
    func run(_ port: UInt16) async throws {
        let address = try #require(try FeedAddress.resolve(host: "127.0.0.1", port: port).first)
        try await FeedThread.run { thread in
            let line = try FrameLine(to: address)
            do {
                try line.send(BinaryFrame.request(.definitionRequest, of: BinaryFrame.everySymbol).bytes)
                while !thread.isEnded { try self.read(line) }
            } catch let error as FeedError where error.code == .connectionClosed {
                self.state.withLock { $0.hasEnded = true }
                self.continuation.yield()
            }
        }
    }

    private func read(_ line: FrameLine) throws(FeedError) {
        var poll = pollfd(fd: line.descriptor, events: Int16(POLLIN) | (line.wantsToWrite ? Int16(POLLOUT) : 0), revents: 0)
        // So long until the end of the test is seen.
        guard unsafe Glibc.poll(&poll, 1, 100) > 0 else { return }
        if !line.isConnected { try line.finishConnecting() }
        try line.flush()
        _ = try line.receive { bytes in
            let frames = stride(from: 0, to: bytes.byteCount, by: BinaryFrame.size).map { BinaryFrame(bytes, at: $0) }
            state.withLock { $0.frames += frames }
        }
        continuation.yield()
    }

    /// Waits until what has come since the last wait is as asked; gives it, and forgets it.
    @discardableResult
    func wait(_ isSo: @Sendable (State) -> Bool) async -> [BinaryFrame] {
        func taken() -> [BinaryFrame]? {
            state.withLock { state in
                guard isSo(state) else { return nil }
                defer { state.frames = [] }
                return state.frames
            }
        }
        if let frames = taken() { return frames }
        for await _ in changes { if let frames = taken() { return frames } }
        return []
    }
}

extension LineReader.State {
    var changes: [BinaryFrame] { frames.filter { $0.kind == .change } }
}

@Suite(.timeLimit(.minutes(1))) struct `The switches of the binary feed` {
    private func call(_ venue: SimulatedVenue, _ path: String, _ query: [(String, String)] = []) async -> (Int, String) {
        let request = HTTPRequest(method: .post, path: path, query: query.map { (name: $0.0, value: $0.1) })
        let response = await SimulatorAdmin(venue).respond(to: request)
        guard case .bytes(let bytes) = response.body else { return (response.status, "") }
        return (response.status, String(decoding: bytes, as: UTF8.self))
    }

    @Test func `want a venue that has the feed`() async throws {
        let venue = try SimulatedVenue(SimulatedVenue.Configuration(), log: { _ in })
        for path in ["/feed-faults", "/feed-restart", "/feed-disconnect", "/feed-rate"] {
            let (status, text) = await call(venue, path)
            #expect(status == 400 && text.contains("--feed-tcp"), "\(path): \(text)")
        }
        #expect(await call(venue, "/feed-spoil", [("symbol", "NVDA"), ("name", "crossed")]).1.contains("--feed-tcp"))
    }

    @Test func `spoil what the feed lists, in a way that there is`() async throws {
        var configuration = SimulatedVenue.Configuration()
        configuration.ticks = TickPublisher.Settings()
        let venue = try SimulatedVenue(configuration, log: { _ in })
        let odd = await call(venue, "/feed-spoil", [("symbol", "NVDA"), ("name", "odd")])
        #expect(odd == (400, "no such price is called odd: absurd, crossed, zero, negative are\n"))
        let unlisted = await call(venue, "/feed-spoil", [("symbol", "F.REJ"), ("name", "zero")])
        #expect(unlisted == (400, "the feed does not list F.REJ: GET /symbols says what it lists\n"))
        #expect(try #require(venue.ticks).faults == TickFaults())
        #expect(await call(venue, "/feed-spoil", [("symbol", "NVDA.REJ"), ("name", "zero")]) == (200, "done\n"))
    }

    @Test func `change what comes over its line`() async throws {
        var configuration = SimulatedVenue.Configuration()
        configuration.frozen = true
        configuration.madeUpSymbols = 3
        configuration.ticks = TickPublisher.Settings()
        let venue = try SimulatedVenue(configuration, log: { _ in })
        _ = try venue.start()
        let ticks = try #require(venue.ticks)
        let reader = LineReader()
        try await withThrowingTaskGroup { group in
            group.addTask { try await venue.run() }
            group.addTask { try await reader.run(ticks.port) }
            await reader.wait { state in
                Set(state.frames.filter { $0.kind == .definition }.compactMap(\.name)).isSuperset(of: ["NVDA", "S00001", "S00002", "S00003"])
            }
            // Nothing moves by itself; then something does.
            #expect(await call(venue, "/feed-rate", [("rate", "2000")]) == (200, "done\n"))
            await reader.wait { !$0.changes.isEmpty }
            let signs: [(String, @Sendable (BinaryFrame) -> Bool)] = [
                ("crossed", { $0.bid > $0.ask }), ("zero", { $0.bid == 0 }), ("negative", { $0.ask < 0 }),
            ]
            for (name, isSpoiled) in signs {
                #expect(await call(venue, "/feed-spoil", [("symbol", "S00001"), ("name", name)]) == (200, "done\n"))
                await reader.wait { $0.changes.contains(where: isSpoiled) }
            }
            #expect(await call(venue, "/feed-faults", [("repeat", "1")]) == (200, "done\n"))
            await reader.wait { state in zip(state.changes, state.changes.dropFirst()).contains { $0 == $1 } }
            #expect(await call(venue, "/feed-faults", [("late", "2")]) == (200, "done\n"))
            await reader.wait { state in
                // Of one symbol a number comes behind a later one.
                state.changes.indices.contains { index in
                    state.changes[..<index].contains { $0.id == state.changes[index].id && $0.number > state.changes[index].number }
                }
            }
            #expect(await call(venue, "/feed-faults", [("drop", "2"), ("unanswered", "1")]) == (200, "done\n"))
            #expect(ticks.faults.dropEvery == 2 && ticks.faults.unanswered == 1 && ticks.faults.lateEvery == 0)
            #expect(await call(venue, "/feed-faults") == (200, "done\n"))
            let before = try #require(await reader.wait { !$0.changes.isEmpty }.last?.generation)
            #expect(await call(venue, "/feed-restart") == (200, "done\n"))
            // Another session of the feed, by the generation that each frame bears.
            await reader.wait { $0.changes.contains { $0.generation != before } }
            #expect(await call(venue, "/feed-disconnect") == (200, "done\n"))
            await reader.wait(\.hasEnded)
            group.cancelAll()
            try await group.waitForAll()
        }
    }
}
