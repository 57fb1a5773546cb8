import BinaryFeed
import ExchangeSimulator
import FIX
import MarketData
import Quotes
import Synchronization
import Testing
import Trading

/// A venue with the binary feed, a feed handler, and the book between them.
struct Exchange: Sendable {
    let venue: SimulatedVenue
    let board: QuoteBoard
    let feed: BinaryMarketFeed
    let troubles: Troubles

    final class Troubles: Sendable {
        private let told = Mutex<[String]>([])
        var all: [String] { told.withLock { $0 } }
        func add(_ text: String) { told.withLock { $0.append(text) } }
    }

    /// Over UDP on the loopback interface, to the group (or the address) and a port that is free now; over TCP alone without a group.
    static func with(
        group: String?,
        rate: Int = 2_000,
        madeUp: Int = 20,
        driftInterval: Int64? = nil,
        _ body: (Exchange) async throws -> Void
    ) async throws {
        var configuration = SimulatedVenue.Configuration()
        configuration.frozen = true
        configuration.madeUpSymbols = madeUp
        var ticks = TickPublisher.Settings()
        ticks.rate = rate
        // Bound and closed again: whoever takes it between gets frames of a test, and the test fails.
        let port = try group.map { try DatagramReceiver(group: $0, port: 0, interface: "127.0.0.1").port }
        if let group, let port { ticks.group = (group, port, "127.0.0.1") }
        configuration.ticks = ticks
        let venue = try SimulatedVenue(configuration) { _ in }
        _ = try venue.start()
        let board = QuoteBoard(now: SessionClock.system.wall)
        let troubles = Troubles()
        let feed = BinaryMarketFeed(
            settings: BinaryFeedSettings(
                host: "127.0.0.1",
                port: try #require(venue.ticks?.port),
                datagrams: group.map { .init(group: $0, port: port ?? 0, interface: "127.0.0.1") },
                driftInterval: driftInterval
            ),
            board: board,
            clock: .system,
            trouble: { troubles.add($0) }
        )
        let exchange = Exchange(venue: venue, board: board, feed: feed, troubles: troubles)
        try await withThrowingTaskGroup { group in
            group.addTask { try await venue.run() }
            group.addTask { try await feed.run() }
            try await body(exchange)
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    var counts: Book.Counts { board.read { $0.counts } }

    func listing(_ symbol: String) -> Quotes.Listing? { board.listing(of: Symbol(symbol)!) }
    func quote(_ symbol: String) -> Quotes.Quote? { listing(symbol)?.quote }

    /// Every symbol has a picture, none waits, and all are those that orders trade at.
    var isWhole: Bool {
        let listings = board.read { book in book.slots.indices.map { book.listing(at: $0) } }
        return listings.count == venue.symbols.count && listings.allSatisfy { $0.quote != nil && !$0.isAwaitingSnapshot }
    }

    /// After the venue's prices have come to rest.
    var agrees: Bool {
        board.read { book in
            book.slots.indices.allSatisfy { place in
                let (slot, quote) = (book.slots[place], venue.quote(of: book.symbols[place].text))
                return slot.bid == quote?.bid.units && slot.ask == quote?.ask.units && !slot.isWaiting
            }
        }
    }

    func ticks(until what: @escaping @Sendable (Exchange) -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(30)
        while !what(self) {
            guard ContinuousClock.now < deadline else { throw Missing(counts: counts, feed: feed.status.counts, troubles: troubles.all) }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    struct Missing: Error {
        let counts: Book.Counts
        let feed: FeedCounts
        let troubles: [String]
    }
}

@Suite(.timeLimit(.minutes(2))) struct `The binary feed, against the simulated venue,` {
    /// 239.255.0.0/16 is for use within one site (RFC 2365). The unicast address stands for networks without multicast.
    static let ways: [String?] = ["239.255.41.7", "127.0.0.1", nil]

    @Test(arguments: ways) func `brings every symbol and goes on without a gap`(_ group: String?) async throws {
        try await Exchange.with(group: group) { exchange in
            try await exchange.ticks { $0.isWhole && $0.counts.applied > 1_000 }
            #expect(exchange.feed.status.isUp)
            #expect(exchange.counts.refused.allSatisfy { $0 == 0 })
            #expect(exchange.feed.status.counts.unreadable == 0)
            #expect(exchange.troubles.all == [])
        }
    }

    @Test(arguments: ways) func `makes up for lost, repeated and late ticks with snapshots`(_ group: String?) async throws {
        try await Exchange.with(group: group) { exchange in
            try await exchange.ticks { $0.isWhole }
            exchange.venue.ticks?.adjust { ($0.dropEvery, $0.repeatEvery, $0.lateEvery) = (7, 5, 11) }
            try await exchange.ticks { $0.counts.gaps > 50 && $0.counts.duplicates > 50 && $0.counts.waiting > 0 }
            exchange.venue.ticks?.adjust { $0 = TickFaults() }
            exchange.venue.ticks?.setRate(0)
            try await exchange.ticks { $0.agrees }
        }
    }

    @Test func `asks again where a snapshot's answer is lost`() async throws {
        try await Exchange.with(group: "127.0.0.1") { exchange in
            try await exchange.ticks { $0.isWhole }
            exchange.venue.ticks?.adjust { $0.unanswered = 3 }
            exchange.venue.ticks?.adjust { $0.dropEvery = 50 }
            try await exchange.ticks { $0.venue.ticks?.faults.unanswered == 0 }
            exchange.venue.ticks?.adjust { $0 = TickFaults() }
            exchange.venue.ticks?.setRate(0)
            try await exchange.ticks { $0.agrees }
        }
    }

    @Test(arguments: ways) func `notices a feed that begins anew with other ids`(_ group: String?) async throws {
        try await Exchange.with(group: group) { exchange in
            try await exchange.ticks { $0.isWhole }
            exchange.venue.ticks?.restart()
            try await exchange.ticks { $0.feed.status.counts.restarts == 1 && $0.isWhole }
            exchange.venue.ticks?.setRate(0)
            try await exchange.ticks { $0.agrees }
            // A price taken for another symbol's would have been absurd.
            #expect(exchange.counts.refused.allSatisfy { $0 == 0 })
        }
    }

    @Test func `finds its line again`() async throws {
        try await Exchange.with(group: nil) { exchange in
            try await exchange.ticks { $0.isWhole }
            exchange.venue.ticks?.dropLines()
            try await exchange.ticks { !$0.troubles.all.isEmpty }
            let before = exchange.counts.applied
            try await exchange.ticks { $0.isWhole && $0.counts.applied > before + 100 }
            #expect(exchange.feed.status.counts.restarts == 0)
        }
    }

    @Test func `tells of halts, and stays silent of mute symbols`() async throws {
        try await Exchange.with(group: "127.0.0.1", rate: 0) { exchange in
            try await exchange.ticks { $0.isWhole }
            exchange.venue.setHalted("NVDA", true)
            try await exchange.ticks { $0.listing("NVDA")?.isHalted == true }
            exchange.venue.setHalted("NVDA", false)
            try await exchange.ticks { $0.listing("NVDA")?.isHalted == false }
            exchange.venue.stopQuotes("AAPL")
            try await exchange.ticks { ($0.quote("AAPL")?.age(at: SessionClock.system.wall()) ?? 0) > 1_200 }
            #expect(exchange.quote("NVDA")?.age(at: SessionClock.system.wall()) ?? 9_999 < 2_500)
        }
    }

    @Test(arguments: TickFaults.Spoiled.allCases) func `refuses a price that cannot be and takes the next one`(
        _ spoiled: TickFaults.Spoiled
    ) async throws {
        try await Exchange.with(group: nil, rate: 0) { exchange in
            try await exchange.ticks { $0.isWhole }
            exchange.venue.ticks?.adjust { $0.spoiled["F"] = spoiled }
            try exchange.venue.setQuote("F", bid: Amount("10.61")!, ask: Amount("10.63")!)
            try await exchange.ticks { $0.counts.refused.reduce(0, +) == 1 }
            try await exchange.ticks { $0.quote("F")?.bid == Amount("10.61") && $0.listing("F")?.refused == nil }
        }
    }

    @Test func `compares each symbol with the feed's own picture in turn`() async throws {
        try await Exchange.with(group: "127.0.0.1", rate: 0, driftInterval: 1_000) { exchange in
            try await exchange.ticks { $0.isWhole }
            // What no number shows, as after a mistake of ours or the feed's. No refresh of it comes that would mend it.
            exchange.venue.stopQuotes("F")
            exchange.board.update { book, now in
                let place = book.place(adding: Symbol("F")!)
                let slot = book.slots[place]
                let tick = Tick(place: place, kind: .refresh, number: slot.number, bid: slot.bid + 100, ask: slot.ask + 100, last: slot.last, at: now)
                #expect(book.apply(tick, at: now) == .applied)
            }
            try await exchange.ticks { $0.counts.repairs > 0 && $0.agrees }
        }
    }
}
