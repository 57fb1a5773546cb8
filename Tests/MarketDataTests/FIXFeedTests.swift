import ExchangeSimulator
import FIX
import MarketData
import Quotes
import Synchronization
import Testing
import Trading

/// A venue, and the FIX feed handler with its book.
struct Wire: Sendable {
    let venue: SimulatedVenue
    let board: QuoteBoard
    let feed: QuoteFeed
    let troubles: Exchange.Troubles

    static func with(symbols: [String] = ["*"], driftInterval: Int64? = nil, _ body: (Wire) async throws -> Void) async throws {
        var configuration = SimulatedVenue.Configuration()
        // Under a sanitizer and beside other work the handler keeps up with these.
        configuration.ticksPerSecond = 20
        let venue = try SimulatedVenue(configuration) { _ in }
        let port = try venue.start()
        let board = QuoteBoard(now: SessionClock.system.wall)
        let troubles = Exchange.Troubles()
        let feed = QuoteFeed(
            settings: FeedSettings(
                host: "127.0.0.1",
                port: port,
                senderCompID: "QUOTES",
                targetCompID: "EXCH",
                heartbeatSeconds: 30,
                symbols: symbols,
                driftInterval: driftInterval
            ),
            board: board,
            clock: .system,
            random: { 0.5 },
            trouble: { troubles.add($0) }
        )
        let wire = Wire(venue: venue, board: board, feed: feed, troubles: troubles)
        try await withThrowingTaskGroup { group in
            group.addTask { try await venue.run() }
            group.addTask { try await feed.run() }
            try await body(wire)
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    var counts: Book.Counts { board.read { $0.counts } }

    func listing(_ symbol: String) -> Quotes.Listing? { board.listing(of: Symbol(symbol)!) }
    func quote(_ symbol: String) -> Quotes.Quote? { listing(symbol)?.quote }

    func waits(until what: @escaping @Sendable (Wire) -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(30)
        while !what(self) {
            guard ContinuousClock.now < deadline else {
                throw Exchange.Missing(counts: counts, feed: feed.status.counts, troubles: troubles.all)
            }
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}

@Suite(.timeLimit(.minutes(2))) struct `The FIX feed, against the simulated venue,` {
    @Test func `follows its updates without a gap`() async throws {
        try await Wire.with { wire in
            try await wire.waits { $0.counts.applied > 2_000 && $0.quote("NVDA")?.volume ?? 0 > 0 }
            #expect((wire.counts.gaps, wire.counts.repairs, wire.counts.refused.reduce(0, +)) == (0, 0, 0))
            #expect(wire.troubles.all == [])
        }
    }

    @Test func `makes up for lost updates with snapshots`() async throws {
        try await Wire.with { wire in
            try await wire.waits { $0.counts.applied > 100 }
            wire.venue.adjust { $0.dropUpdatesEvery = 9 }
            try await wire.waits { $0.counts.gaps > 20 }
            wire.venue.adjust { $0.dropUpdatesEvery = 0 }
            try await wire.waits { wire in wire.board.read { $0.waitingCount == 0 } }
        }
    }

    @Test func `asks for each symbol by itself where one of many is refused, and tells of that one`() async throws {
        try await Wire.with(symbols: ["NVDA", "NOSUCH", "AAPL"]) { wire in
            try await wire.waits { $0.quote("NVDA") != nil && $0.quote("AAPL") != nil && $0.feed.status.counts.refusedSymbols == 1 }
            #expect(wire.troubles.all == ["the feed refuses the subscription to NOSUCH: unknown symbol NOSUCH"])
        }
    }

    @Test func `learns of halts, and of one that was lifted while nobody listened`() async throws {
        try await Wire.with { wire in
            try await wire.waits { $0.quote("NVDA") != nil }
            wire.venue.setHalted("NVDA", true)
            try await wire.waits { $0.listing("NVDA")?.isHalted == true }
            wire.venue.refuseConnections(true)
            wire.venue.disconnectAll()
            try await wire.waits { !$0.feed.status.isUp }
            wire.venue.setHalted("NVDA", false)
            wire.venue.refuseConnections(false)
            try await wire.waits { $0.listing("NVDA")?.isHalted == false }
        }
    }

    @Test func `compares each symbol with the venue's own picture in turn`() async throws {
        try await Wire.with(driftInterval: 1_000) { wire in
            try await wire.waits { $0.feed.status.counts.asked > 3 && $0.counts.applied > 500 }
            #expect(wire.counts.repairs == 0)
        }
    }
}
