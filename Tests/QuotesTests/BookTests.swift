import Quotes
import Testing
import Trading

/// A book with one symbol, and its clock.
struct Shop {
    var book = Book()
    let place: Int
    var now: Int64 = 1_800_000_000_000

    init(rules: Book.Rules = Book.Rules()) {
        book = Book(rules: rules)
        place = book.place(adding: Symbol("NVDA")!)
    }

    mutating func tick(
        _ number: UInt32,
        _ bid: Int64 = 1_000_000,
        _ ask: Int64 = 1_000_200,
        kind: Tick.Kind = .change,
        last: Int64 = 0,
        volume: Int64 = 0,
        at: Int64 = 0
    ) -> TickVerdict {
        book.apply(Tick(place: place, kind: kind, number: number, bid: bid, ask: ask, last: last, volume: volume, at: at), at: now)
    }

    var listing: Listing { book.listing(at: place) }
    var quote: Quote? { listing.quote }
}

@Suite struct `A book` {
    @Test func `numbers the changes of a symbol one by one and not the vouching between`() {
        var shop = Shop()
        let verdicts = [shop.tick(7), shop.tick(8, 1_000_100), shop.tick(8, 1_000_100, kind: .refresh), shop.tick(9, 1_000_000)]
        #expect(verdicts == [.applied, .applied, .vouched, .applied])
        #expect(shop.quote?.sequence == 3)
    }

    @Test func `drops duplicates and late ticks without vouching for anything`() {
        var shop = Shop()
        _ = shop.tick(7)
        _ = shop.tick(8, 1_000_100)
        let at = shop.now
        shop.now += 1_000
        let verdicts = [shop.tick(8, 1_000_100), shop.tick(7), shop.tick(6, kind: .refresh)]
        #expect(verdicts == [.duplicate, .late, .late])
        #expect(shop.quote?.vouchedAt == at)
        #expect(shop.quote?.bid.units == 1_000_100)
    }

    @Test func `waits with all ticks behind a gap until the snapshot comes, and then has the newest`() {
        var shop = Shop()
        _ = shop.tick(1)
        let gap = [shop.tick(4, 1_000_400, 1_000_500), shop.tick(5, 1_000_500, 1_000_600), shop.tick(5, kind: .refresh)]
        #expect(gap == [.gap, .waiting, .waiting])
        #expect(shop.listing.isAwaitingSnapshot == true)
        #expect(shop.quote?.bid.units == 1_000_000)
        let snapshot = shop.tick(4, 1_000_400, 1_000_500, kind: .snapshot)
        #expect(snapshot == .applied)
        #expect(shop.listing.isAwaitingSnapshot == false)
        #expect(shop.quote?.bid.units == 1_000_500)
        #expect(shop.quote?.sequence == 3)
        let next = shop.tick(6, 1_000_600, 1_000_700)
        #expect(next == .applied)
    }

    @Test func `takes a snapshot that is newer than what waited, and drops one that is older than what stands`() {
        var shop = Shop()
        _ = shop.tick(1)
        _ = shop.tick(4, 1_000_400, 1_000_500)
        let newer = shop.tick(9, 1_000_900, 1_001_000, kind: .snapshot)
        let older = shop.tick(3, 900_000, 900_100, kind: .snapshot)
        #expect(newer == .applied)
        #expect(older == .late)
        #expect(shop.quote?.bid.units == 1_000_900)
    }

    @Test func `counts a snapshot that shows a drift as a repair, and one that agrees as none`() {
        var shop = Shop()
        _ = shop.tick(1)
        _ = shop.tick(1, kind: .snapshot)
        #expect(shop.book.counts.repairs == 0)
        _ = shop.tick(1, 1_000_100, kind: .snapshot)
        _ = shop.tick(3, 1_000_200, 1_000_300, kind: .snapshot)
        #expect(shop.book.counts.repairs == 2)
        #expect(shop.quote?.bid.units == 1_000_200)
    }

    @Test func `goes on over the end of the feed's numbers`() {
        var shop = Shop()
        let verdicts = [shop.tick(.max - 1), shop.tick(.max, 1_000_100), shop.tick(1, 1_000_000), shop.tick(3), shop.tick(.max)]
        #expect(verdicts == [.applied, .applied, .applied, .gap, .waiting])
    }

    @Test(
        arguments: [
            (1_000_300, 1_000_200, PriceFault.crossed), (0, 1_000_200, .zero), (1_000_000, 0, .zero), (-1, 1_000_200, .negative),
            (1_600_000, 1_600_100, .absurd), (400_000, 400_100, .absurd), (.max - 1, .max, .absurd),
        ] as [(Int64, Int64, PriceFault)]
    )
    func `refuses a price that cannot be`(_ bid: Int64, _ ask: Int64, _ fault: PriceFault) {
        var shop = Shop()
        _ = shop.tick(1)
        let verdict = shop.tick(2, bid, ask)
        #expect(verdict == .refused(fault))
        #expect(shop.quote?.bid.units == 1_000_000)
        #expect(Freshness().state(of: shop.listing, at: shop.now) == .stale(.refused(shop.listing.refused!)))
        #expect(shop.listing.refused?.fault == fault)
        #expect(shop.book.counts.refused[Int(fault.rawValue)] == 1)
        let next = shop.tick(3, 1_000_100)
        #expect(next == .applied)
        #expect(Freshness().state(of: shop.listing, at: shop.now) == .live)
    }

    @Test func `believes an absurd level once it has stood for long`() {
        var shop = Shop()
        _ = shop.tick(1)
        var verdicts = [shop.tick(2, 2_000_000, 2_000_100)]
        shop.now += 29_000
        verdicts.append(shop.tick(2, 2_000_000, 2_000_100, kind: .refresh))
        shop.now += 1_000
        verdicts.append(shop.tick(3, 2_010_000, 2_010_100))
        #expect(verdicts == [.refused(.absurd), .refused(.absurd), .applied])
    }

    @Test func `counts the age of a tick from the feed's clock when that is behind, and refuses one from the future`() {
        var shop = Shop()
        _ = shop.tick(1, at: shop.now - 10_000)
        #expect(Freshness().state(of: shop.listing, at: shop.now) == .stale(.notVouched(age: 10_000)))
        _ = shop.tick(2, 1_000_100, at: shop.now + 900)
        #expect(shop.quote?.vouchedAt == shop.now)
        let verdict = shop.tick(3, 1_000_000, at: shop.now + 1_001)
        #expect(verdict == .refused(.future))
    }

    @Test(arguments: [(0, 1, true), (0, 0, false), (5_000, 5_000, false), (5_000, 5_001, true), (60_000, 59_000, false)] as [(Int64, Int64, Bool)])
    func `takes a price from as far ahead as is agreed upon, and says how far ahead another was`(_ bound: Int64, _ lead: Int64, _ isRefused: Bool) {
        var shop = Shop(rules: Book.Rules(maximumLead: bound))
        let first = shop.tick(1, at: shop.now + lead)
        #expect(first == (isRefused ? .refused(.future) : .applied))
        let state = Freshness().state(of: shop.listing, at: shop.now)
        guard isRefused else {
            // It counts from its arrival: a clock that is ahead makes no price live longer.
            #expect(state == .live && shop.quote?.vouchedAt == shop.now)
            return
        }
        // Also before there is any price: why there is none.
        #expect(shop.quote == nil)
        let why = "its newest price was not believed: its time is \(lead) ms ahead of the router's clock, and more than \(bound) ms are not believed"
        #expect(state.reason == why)
        let order = Freshness().refusal(of: shop.listing, reference: shop.now, at: shop.now)
        #expect(order == .marketDataStale(ageMilliseconds: nil, why: why))
        #expect(shop.book.reports.map(\.refusedLead) == [lead])
        // Another fault is told without it, and a price that is taken clears both.
        _ = shop.tick(2, 1_000_300, 1_000_200)
        #expect(Freshness().state(of: shop.listing, at: shop.now).reason == "its newest price was not believed (crossed)")
        #expect(shop.book.reports.map(\.refusedLead) == [nil])
        _ = shop.tick(3)
        #expect(Freshness().state(of: shop.listing, at: shop.now) == .live)
    }

    @Test func `tells of a halt also of a symbol that has no price yet`() {
        var shop = Shop()
        #expect(Freshness().state(of: shop.listing, at: shop.now) == .stale(.noData))
        shop.book.setHalted(true, at: shop.place)
        #expect(Freshness().state(of: shop.listing, at: shop.now) == .haltedByExchange)
    }

    @Test func `needs a fresh tick of a symbol once the clock was set`() {
        var shop = Shop()
        _ = shop.tick(1)
        shop.book.forgetVouching()
        #expect(Freshness().state(of: shop.listing, at: shop.now) == .stale(.clockSet))
        _ = shop.tick(1, kind: .refresh)
        #expect(Freshness().state(of: shop.listing, at: shop.now) == .live)
    }

    @Test func `waits for the pictures of a feed that begins anew, whatever its numbers`() {
        var shop = Shop()
        _ = shop.tick(500)
        shop.book.expectSnapshots()
        let verdicts = [shop.tick(2, 1_000_200, 1_000_300), shop.tick(1, 1_000_100, kind: .snapshot), shop.tick(3, 1_000_300, 1_000_400)]
        #expect(verdicts == [.waiting, .applied, .applied])
        #expect(shop.quote?.sequence == 4)
    }

    @Test func `tells each reader once of what has changed since it looked`() {
        var shop = Shop()
        let reader = shop.book.addReader()
        var others: [Int] = []
        for name in 0..<200 { others.append(shop.book.place(adding: Symbol("S\(name)")!)) }
        _ = shop.tick(1)
        _ = shop.book.apply(Tick(place: others[150], number: 1, bid: 10, ask: 20), at: shop.now)
        var seen: [Int] = []
        shop.book.takeChanges(of: reader) { place in seen.append(place) }
        #expect(seen == [shop.place, others[150]])
        seen = []
        _ = shop.tick(1, kind: .refresh)
        shop.book.takeChanges(of: reader) { place in seen.append(place) }
        #expect(seen.isEmpty)
        shop.book.setHalted(true, at: shop.place)
        shop.book.takeChanges(of: reader) { place in seen.append(place) }
        #expect(seen == [shop.place])
        #expect(Freshness().state(of: shop.listing, at: shop.now) == .haltedByExchange)
    }

    @Test func `makes a candle of each minute from the prices traded at`() {
        var shop = Shop()
        shop.now = 60_000 * 100
        _ = shop.tick(1, last: 1_000_000, volume: 500)
        _ = shop.tick(2, last: 1_000_400, volume: 600)
        _ = shop.tick(3, last: 999_900, volume: 650)
        shop.now += 60_000
        _ = shop.tick(4, last: 1_000_100, volume: 700)
        let ended = shop.book.takeCandles(before: 101)
        #expect(ended.count == 1)
        let candle = ended[0].candle
        #expect((candle.minute, candle.volume) == (100, 150))
        #expect([candle.open, candle.high, candle.low, candle.close] == [1_000_000, 1_000_400, 999_900, 999_900])
        #expect(shop.book.takeCandles(before: 101).isEmpty)
        #expect(shop.book.takeCandles(before: 102).map(\.candle.volume) == [50])
        #expect(shop.book.takeCandles(before: 200).isEmpty)
    }
}
