import BinaryFeed
import FIX
import Foundation
import MarketData
import Quotes
import Synchronization
import Testing
import Trading

/// Both clocks, moved by hand.
final class HandClock: Sendable {
    private let state = Mutex((wall: Ticker.midnight + 36_000_000, monotonic: Int64(5_000)))

    var clock: SessionClock { SessionClock(wall: { self.state.withLock { $0.wall } }, monotonic: { self.state.withLock { $0.monotonic } }) }

    func pass(_ milliseconds: Int64) { state.withLock { $0 = ($0.wall + milliseconds, $0.monotonic + milliseconds) } }

    func set(by milliseconds: Int64) { state.withLock { $0.wall += milliseconds } }
}

@Suite struct `The clock's sanity` {
    @Test(arguments: [(0, nil), (900, nil), (-1_000, nil), (1_001, 1_001), (-1_001, -1_001), (3_600_000, 3_600_000)] as [(Int64, Int64?)])
    func `is lost with a step of more than a second either way`(_ set: Int64, _ step: Int64?) {
        var sanity = ClockSanity()
        #expect(sanity.step(wall: 1_000_000, monotonic: 500) == nil)
        #expect(sanity.step(wall: 1_000_500 + set, monotonic: 1_000) == step)
        #expect(sanity.step(wall: 1_001_000 + set, monotonic: 1_500) == nil)
    }

    @Test func `is kept while a clock is corrected slowly, however far`() {
        var sanity = ClockSanity()
        for second in 0..<7_200 as Range<Int64> { #expect(sanity.step(wall: second * 1_000 + second / 2, monotonic: second * 1_000) == nil) }
    }

    @Test func `is lost to steps that add up`() {
        var sanity = ClockSanity()
        _ = sanity.step(wall: 0, monotonic: 0)
        #expect(sanity.step(wall: 1_600, monotonic: 1_000) == nil)
        #expect(sanity.step(wall: 3_200, monotonic: 2_000) == 1_199)
    }
}

@Suite struct `The watch over a feed` {
    @Test func `lets no price count once the clock was set, until the feed has vouched for it anew`() throws {
        let hand = HandClock()
        let board = QuoteBoard(now: hand.clock.wall)
        let troubles = Exchange.Troubles()
        let feed = BinaryMarketFeed(settings: BinaryFeedSettings(host: "127.0.0.1", port: 1), board: board, clock: hand.clock, trouble: { _ in })
        let watch = FeedWatch(feed: feed, board: board, clock: hand.clock, maximumSilence: 100_000, trouble: { troubles.add($0) })
        var look = FeedWatch.Look(heardAt: hand.clock.monotonic())
        let symbol = try #require(Symbol("NVDA"))
        let tick = { _ = board.update { $0.apply(Tick(place: $0.place(adding: symbol), bid: 10, ask: 20), at: $1) } }
        let state = { Freshness().state(of: board.listing(of: symbol)!, at: hand.clock.wall()) }
        tick()
        watch.look(&look)
        hand.pass(500)
        watch.look(&look)
        #expect(state() == .live)
        hand.set(by: -60_000)
        watch.look(&look)
        #expect(state() == .stale(.clockSet))
        #expect(troubles.all == ["this machine's clock was set by -60000 ms: no price counts until its feed has vouched for it again"])
        tick()
        #expect(state() == .live)
    }

    @Test(arguments: [-7_200_000, 7_200_000] as [Int64])
    func `shows delayed tokens what is a quarter of an hour old, however the clock was set`(_ step: Int64) throws {
        let hand = HandClock()
        let board = QuoteBoard(now: hand.clock.wall)
        let feed = BinaryMarketFeed(settings: BinaryFeedSettings(host: "127.0.0.1", port: 1), board: board, clock: hand.clock, trouble: { _ in })
        let watch = FeedWatch(feed: feed, board: board, clock: hand.clock, maximumSilence: 1 << 40, trouble: { _ in })
        var look = FeedWatch.Look(heardAt: hand.clock.monotonic())
        let symbol = try #require(Symbol("NVDA"))
        func tick(_ price: Int64) {
            board.update { _ = $0.apply(Tick(place: $0.place(adding: symbol), bid: price, ask: price + 1), at: $1) }
            board.noteForDelayed()
        }
        let shown = { board.delayedListing(of: symbol)?.quote }
        tick(100)
        hand.pass(600_000)
        tick(101)
        watch.look(&look)
        hand.set(by: step)
        watch.look(&look)
        board.noteForDelayed()
        #expect(shown() == nil)
        hand.pass(300_000)
        board.noteForDelayed()
        #expect(shown()?.bid == Amount(units: 100))
        // Its times are told by the clock as it is now.
        #expect(shown()?.age(at: hand.clock.wall()) == 900_000 && shown()?.changedAt == hand.clock.wall() - 900_000)
        hand.pass(600_000)
        board.noteForDelayed()
        #expect(shown()?.bid == Amount(units: 101))
    }

    @Test func `tells once of a feed that has fallen silent, and once of refused prices`() {
        let hand = HandClock()
        let board = QuoteBoard(now: hand.clock.wall)
        let troubles = Exchange.Troubles()
        let feed = BinaryMarketFeed(settings: BinaryFeedSettings(host: "127.0.0.1", port: 1), board: board, clock: hand.clock, trouble: { _ in })
        let watch = FeedWatch(feed: feed, board: board, clock: hand.clock, maximumSilence: 2_500, trouble: { troubles.add($0) })
        var look = FeedWatch.Look(heardAt: hand.clock.monotonic())
        for _ in 0..<8 {
            watch.look(&look)
            hand.pass(500)
        }
        #expect(troubles.all == ["nothing has come from the feed for 3000 ms"])
        board.update { book, now in
            let place = book.place(adding: Symbol("NVDA")!)
            for _ in 0..<5 { _ = book.apply(Tick(place: place, bid: 1_000_000, ask: 900_000), at: now) }
        }
        watch.look(&look)
        watch.look(&look)
        #expect(troubles.all.dropFirst() == ["5 prices were not taken, the last of NVDA: bid 100.00 ask 90.00; in all: crossed 5"])
        board.update { book, now in _ = book.apply(Tick(place: 0, bid: 1_000_000, ask: 1_000_200, at: now + 4_000), at: now) }
        watch.look(&look)
        let ahead = ", 4000 ms ahead of this machine's clock, where --feed-lead takes 1000 ms"
        #expect(troubles.all.last == "1 prices were not taken, the last of NVDA: bid 100.00 ask 100.02\(ahead); in all: crossed 5, future 1")
    }
}

@Suite struct `A recorded feed` {
    private func recorded(_ body: (FeedRecorder) -> Void) throws -> String {
        let recorder = FeedRecorder()
        body(recorder)
        let path = FileManager.default.temporaryDirectory.appending(path: "feed-\(UUID().uuidString)").path
        try Data(recorder.takeBytes()).write(to: URL(filePath: path))
        return path
    }

    private func take(_ recorder: FeedRecorder, _ frames: [BinaryFrame], at: Int64) {
        let bytes = frames.flatMap(\.bytes)
        recorder.take(unsafe bytes.span.bytes, at: at)
    }

    @Test func `brings the same pictures again, as fresh as if they were new, as often as it is played`() async throws {
        let ticker = Ticker()
        let path = try recorded { recorder in
            take(recorder, [.definition("NVDA", id: 0, session: ticker.session, count: 1, ofDay: 5), ticker.frame(7, kind: .snapshot)], at: 1_000)
            take(recorder, [ticker.frame(8, bid: 1_000_100), ticker.frame(9, bid: 1_000_200)], at: 1_020)
        }
        defer { try? FileManager.default.removeItem(atPath: path) }
        let board = QuoteBoard(now: SessionClock.system.wall)
        let troubles = Exchange.Troubles()
        let feed = try RecordedFeed(path: path, symbols: ["*"], speed: 10, repeats: true, board: board, clock: .system) { troubles.add($0) }
        #expect(feed.status.isReplay)
        let playing = Task { try await feed.run() }
        while troubles.all.count < 3 { await Task.yield() }
        playing.cancel()
        _ = await playing.result
        #expect(troubles.all[0] == "the recorded feed has come to its end after 4 frames")
        let quote = try #require(board.listing(of: Symbol("NVDA")!)?.quote)
        #expect(quote.age(at: SessionClock.system.wall()) ?? 9_999 < 2_500)
        let counts = board.read { $0.counts }
        #expect(counts.gaps == 0 && counts.late == 0 && counts.applied >= 9)
    }

    @Test func `may be cut at its end, and must be one`() throws {
        let ticker = Ticker()
        let path = try recorded { take($0, [ticker.frame(1), ticker.frame(2)], at: 0) }
        defer { try? FileManager.default.removeItem(atPath: path) }
        let whole = try Data(contentsOf: URL(filePath: path))
        try whole.dropLast(5).write(to: URL(filePath: path))
        #expect(try Recording.read(path).count == Recording.recordSize)
        try Data(whole.dropFirst()).write(to: URL(filePath: path))
        #expect(throws: Recording.Wrong.self) { try Recording.read(path) }
        #expect(throws: Recording.Wrong.self) { try Recording.read(path + "-none") }
    }
}
