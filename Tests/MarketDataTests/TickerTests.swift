import MarketData
import Quotes
import Synchronization
import Testing
import Trading

/// A clock that stands until it is moved.
final class ManualClock: Sendable {
    private let time = Atomic<Int64>(1_800_000_000_000)
    var now: Int64 { time.load(ordering: .relaxed) }
    func move(_ milliseconds: Int64) { time.add(milliseconds, ordering: .relaxed) }
}

/// A client that keeps what it is sent, one line an event, and may stop reading.
final class Reader: TickerSink {
    var isBehind = false
    var hasEnded = false
    var lines: [String] = []

    func write(_ events: [UInt8]) { lines += String(decoding: events, as: UTF8.self).split(separator: "\n").map(String.init) }
    func end() { hasEnded = true }

    func take() -> [String] {
        defer { lines = [] }
        return lines
    }
}

/// Every market is always open.
private struct NoCalendar: InstrumentSource {
    func instrument(of symbol: Symbol) -> Instrument? { Instrument(unnamed: symbol) }
    func calendar(of symbol: Symbol) -> MarketCalendar { .alwaysOpen }
    func marketHours(of symbol: Symbol, at now: Int64) -> MarketHours { MarketCalendar.alwaysOpen.hours(at: now) }
    func instruments(matching query: String, limit: Int) -> [Instrument] { [] }
}

/// One loop's rounds over a board whose clock is moved by hand: ten slices of 10 ms a window.
final class Street {
    let clock = ManualClock()
    let board: QuoteBoard
    let conditions: Conditions
    let rounds: TickerRounds

    init() {
        let clock = clock
        board = QuoteBoard(now: { clock.now })
        conditions = Conditions(freshness: Freshness(), instruments: NoCalendar())
        let form = TickerForm { event, data, output in output += Array("\(event) ".utf8) + data + [UInt8(ascii: "\n")] }
        rounds = TickerRounds(board: board, conditions: conditions, forms: [form], window: 100)
    }

    func tick(_ name: String, _ bid: Int64, volume: Int64 = 0) {
        board.update { book, now in
            let place = book.place(adding: Symbol(name)!)
            _ = book.apply(Tick(place: place, bid: bid * 10_000, ask: bid * 10_000 + 100, volume: volume), at: now)
        }
    }

    func join(_ names: String..., every: Int = 1, isDelayed: Bool = false, for milliseconds: Int64 = 1 << 40) -> (TickerClient, Reader) {
        let reader = Reader()
        let client = TickerClient(reader, form: 0, isDelayed: isDelayed, expiresAt: clock.now + milliseconds)
        rounds.add(client)
        watch(client, names, every: every)
        return (client, reader)
    }

    func watch(_ client: TickerClient, _ names: [String], every: Int = 1) {
        let symbols = names.map { Symbol($0)! }
        board.update { book, _ in for symbol in symbols { _ = book.place(adding: symbol) } }
        rounds.watch(board.places(of: symbols), every: every, for: client, at: clock.now)
    }

    /// Lets the clock run, slice by slice.
    func run(_ milliseconds: Int64) {
        for _ in 0..<(milliseconds / TickerRounds.sliceMilliseconds) {
            clock.move(TickerRounds.sliceMilliseconds)
            rounds.turn(at: clock.now)
        }
    }
}

/// Events without those that come by the clock alone.
private func events(_ lines: [String]) -> [String] {
    lines.filter { !$0.hasPrefix("asof") }.map { line in
        let bid = line.firstMatch(of: /"bid":([0-9.]+|null)/).map { " \($0.1)" } ?? ""
        let symbol = line.firstMatch(of: /"symbol":"(\w+)"/).map { String($0.1) } ?? ""
        let state = line.hasPrefix("tick") ? "" : line.firstMatch(of: /"state":"(\w+)"/).map { " \($0.1)" } ?? ""
        return "\(line.prefix { $0 != " " }) \(symbol)\(bid)\(state)"
    }
}

@Suite struct `A client of prices` {
    @Test func `sees each symbol as it stands first, and then once a window the newest of what has changed`() {
        let street = Street()
        street.tick("NVDA", 100)
        let (_, reader) = street.join("NVDA", "AAPL")
        #expect(events(reader.take()) == ["snapshot NVDA 100.00 LIVE", "snapshot AAPL null STALE"])
        for price in 101...109 {
            street.tick("NVDA", Int64(price))
            street.run(10)
        }
        street.run(10)
        let seen = events(reader.take())
        #expect(seen.count == 1)
        street.run(100)
        #expect(events(reader.take()) == (seen == ["tick NVDA 109.00"] ? [] : ["tick NVDA 109.00"]))
        street.tick("AAPL", 50)
        street.run(100)
        #expect(events(reader.take()) == ["tick AAPL 50.00", "market AAPL LIVE"])
    }

    @Test func `is not told of a value that went and came back within a window`() {
        let street = Street()
        street.tick("NVDA", 100)
        let (_, reader) = street.join("NVDA")
        _ = reader.take()
        street.tick("NVDA", 101)
        street.tick("NVDA", 100)
        street.run(200)
        #expect(events(reader.take()) == [])
    }

    @Test func `that reads slowly misses windows, costs nothing meanwhile, and then sees the newest alone`() {
        let street = Street()
        street.tick("NVDA", 100)
        let (_, reader) = street.join("NVDA")
        _ = reader.take()
        reader.isBehind = true
        for price in 101...150 {
            street.tick("NVDA", Int64(price))
            street.run(100)
        }
        #expect(reader.lines == [])
        #expect(street.rounds.counts.missed >= 49)
        reader.isBehind = false
        street.run(100)
        #expect(events(reader.take()) == ["tick NVDA 150.00"])
    }

    @Test func `is shown an off-screen symbol more rarely`() {
        let street = Street()
        street.tick("NVDA", 100)
        street.tick("AAPL", 100)
        let (client, reader) = street.join("NVDA")
        street.watch(client, ["AAPL"], every: 10)
        _ = reader.take()
        for price in 101...140 {
            street.tick("NVDA", Int64(price))
            street.tick("AAPL", Int64(price))
            street.run(100)
        }
        let seen = events(reader.take())
        #expect(seen.count { $0.contains("NVDA") } == 40)
        #expect(seen.count { $0.contains("AAPL") } == 4)
    }

    @Test func `is told when a price goes stale, by the age at which orders are refused, and when it lives again`() {
        let street = Street()
        street.tick("NVDA", 100)
        let (_, reader) = street.join("NVDA")
        _ = reader.take()
        street.run(2_500)
        #expect(events(reader.take()) == [])
        let listing = street.board.listing(of: Symbol("NVDA")!)!
        #expect(Freshness().refusal(of: listing, reference: street.clock.now, at: street.clock.now) == nil)
        street.run(400)
        let told = reader.take()
        #expect(events(told) == ["market NVDA STALE"])
        let refusal = Freshness().refusal(of: street.board.listing(of: Symbol("NVDA")!)!, reference: street.clock.now, at: street.clock.now)
        guard case .marketDataStale(_, let why) = refusal else { return #expect(Bool(false), "\(refusal as Any)") }
        #expect(told[0].contains(why.prefix { !$0.isNumber }))
        street.tick("NVDA", 100)
        street.run(400)
        #expect(events(reader.take()) == ["market NVDA LIVE"])
    }

    @Test func `hears each second which of its symbols are vouched for, and as of when`() {
        let street = Street()
        street.tick("NVDA", 100)
        street.tick("AAPL", 100)
        let (_, reader) = street.join("NVDA", "AAPL")
        #expect(reader.take().last == #"asof {"as_of":\#(street.clock.now),"symbols":["NVDA","AAPL"]}"#)
        var vouched: [String] = []
        for _ in 0..<4 {
            street.tick("NVDA", 100)
            street.run(1_000)
            vouched += reader.take().filter { $0.hasPrefix("asof") }
        }
        #expect(vouched.count == 4)
        #expect(vouched.first?.contains("AAPL") == true)
        #expect(vouched.last?.contains("AAPL") == false)
        #expect(vouched.last?.contains("NVDA") == true)
    }

    @Test func `sees what the exchange and the operator halt, and why`() {
        let street = Street()
        street.tick("NVDA", 100)
        let (_, reader) = street.join("NVDA")
        _ = reader.take()
        street.board.update { book, _ in book.setHalted(true, at: 0) }
        street.run(100)
        let first = reader.take()
        #expect(events(first) == ["market NVDA HALTED"])
        #expect(first[0].contains("the exchange has halted trading in it"))
        street.conditions.setHalts([Halt(scope: .venue, subject: "", reason: "drill 7")])
        street.run(400)
        #expect(reader.take().contains { $0.hasPrefix("market") && $0.contains("drill 7") })
        street.conditions.setHalts([])
        street.board.update { book, _ in book.setHalted(false, at: 0) }
        street.tick("NVDA", 100)
        street.run(400)
        #expect(events(reader.take()).last == "market NVDA LIVE")
    }

    @Test func `is told of the halt that its orders are refused by, of several`() {
        let street = Street()
        street.tick("NVDA", 100)
        let (_, reader) = street.join("NVDA")
        _ = reader.take()
        street.conditions.setHalts([
            Halt(scope: .symbol, subject: "NVDA", reason: "news"), Halt(scope: .venue, subject: "", reason: "drill"),
            Halt(scope: .account, subject: "acc_1", reason: "not of all"),
        ])
        street.run(400)
        let told = reader.take()
        #expect(events(told) == ["market NVDA HALTED"] && told[0].contains("drill"))
        street.conditions.setHalts([
            Halt(scope: .venue, subject: "", reason: "drill"), Halt(scope: .killSwitch, subject: "", reason: "enough"),
        ])
        street.run(400)
        #expect(reader.take().contains { $0.hasPrefix("market") && $0.contains("enough") })
    }

    @Test func `goes on to hear of ages and vouching when the clock was set back`() {
        let street = Street()
        street.tick("NVDA", 100)
        let (_, reader) = street.join("NVDA")
        street.run(500)
        _ = reader.take()
        street.clock.move(-3_600_000)
        street.board.update { book, _ in book.forgetVouching() }
        street.run(100)
        #expect(events(reader.take()) == ["market NVDA STALE"])
        // Vouched for without a change: nothing but a look at the ages finds it, and nothing but one finds its silence afterwards.
        street.tick("NVDA", 100)
        street.run(1_500)
        let alive = reader.take()
        #expect(events(alive) == ["market NVDA LIVE"])
        #expect(alive.contains { $0.hasPrefix("asof") && $0.contains("NVDA") })
        street.run(3_000)
        #expect(events(reader.take()) == ["market NVDA STALE"])
    }

    @Test func `with a delayed token sees what was a quarter of an hour ago, and nothing before there is such a thing`() {
        let street = Street()
        street.tick("NVDA", 100)
        street.board.noteForDelayed()
        let (_, reader) = street.join("NVDA", isDelayed: true)
        let opening = reader.take()
        #expect(events(opening) == ["snapshot NVDA null STALE"])
        #expect(opening[0].contains(#""entitlement":"DELAYED""#))
        for minute in 1...14 {
            street.clock.move(60_000)
            street.tick("NVDA", 100 + Int64(minute))
            street.board.noteForDelayed()
        }
        street.run(1_100)
        #expect(events(reader.take()) == [])
        street.clock.move(60_000)
        street.run(1_100)
        #expect(events(reader.take()).first == "tick NVDA 100.00")
        street.clock.move(60_000)
        street.run(1_100)
        #expect(events(reader.take()).first == "tick NVDA 101.00")
    }

    @Test func `is ended when its token is, and leaves nothing behind`() {
        let street = Street()
        street.tick("NVDA", 100)
        let (client, reader) = street.join("NVDA", for: 1_000)
        let (_, other) = street.join("NVDA")
        street.run(1_000)
        #expect(!reader.lines.isEmpty)
        street.run(100)
        #expect(reader.hasEnded)
        street.rounds.remove(client)
        street.rounds.remove(client)
        #expect(street.rounds.counts.clients == 1)
        _ = (reader.take(), other.take())
        street.tick("NVDA", 101)
        street.run(200)
        #expect(reader.lines == [])
        #expect(events(other.take()).contains("tick NVDA 101.00"))
    }

    @Test func `may leave symbols and take them up again, whoever else watches them`() {
        let street = Street()
        street.tick("NVDA", 100)
        let (first, reader) = street.join("NVDA")
        let (second, _) = street.join("NVDA")
        street.rounds.unwatch([0], for: first)
        street.rounds.unwatch([0], for: second)
        _ = reader.take()
        street.tick("NVDA", 105)
        street.run(200)
        #expect(reader.take() == [])
        street.watch(first, ["NVDA"])
        #expect(events(reader.take()) == ["snapshot NVDA 105.00 LIVE"])
        street.tick("NVDA", 106)
        street.run(100)
        #expect(events(reader.take()) == ["tick NVDA 106.00"])
    }
}
