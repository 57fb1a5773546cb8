import Foundation
import JourneySupport
import MarketData
import Postgres
import Quotes
import Storage
import TestSupport
import Testing
import Trading

private let nvda = Symbol("NVDA")!
private let apple = Symbol("AAPL")!

private func time(_ text: String) -> Int64 { Int64(try! Date(text, strategy: .iso8601).timeIntervalSince1970 * 1_000) }

/// Blocks its thread on the database, so one at a time.
@Suite(.serialized) struct `The recorder of candles` {
    private let database: TestDatabase
    /// A Monday, the first day of trading after New York's clocks went back.
    private let clock = MovedClock(standingAt: time("2027-11-08T14:29:30Z"))
    private let listed = [Instrument(symbol: nvda, name: "NVIDIA Corporation", exchange: ExchangeCode("XNYS"))]

    init() throws { database = try TestDatabase() }

    private func room(bufferLimit: Int = CandleRecorder.bufferLimit) throws -> MarketRoom {
        try MarketRoom(clock, database: database, listed: listed, bufferLimit: bufferLimit)
    }

    private func rows(_ table: String = "candles_1m", _ key: String = "minute") throws -> [String] {
        let rows = try database.connect().query(
            "SELECT concat_ws(' ', symbol, open, high, low, close, volume) FROM \(table) ORDER BY symbol, \(key)"
        )
        return (0..<rows.count).map { rows.text($0, 0) }
    }

    @Test func `writes each minute once it is over, and what two routers saw of it as one`() throws {
        let (room, other) = (try room(), try room())
        room.trade(nvda, at: 1_000_000, volume: 500)
        clock.move(by: 10_000)
        for seen in [room, other] { seen.trade(nvda, at: 1_020_000, volume: 560) }
        clock.move(by: 10_000)
        for seen in [room, other] { seen.trade(nvda, at: 990_000, volume: 600) }
        room.recorder.record()
        #expect(try rows() == [])
        clock.move(by: 12_000)
        for seen in [room, other, room] { seen.recorder.record() }
        #expect(try rows() == ["NVDA 1000000 1020000 990000 990000 100"])
        clock.move(by: 60_000)
        room.recorder.record()
        // No trade, no candle.
        #expect(try rows().count == 1)
        #expect(room.troubles.all.isEmpty && room.recorder.backlog == 0)
    }

    @Test func `keeps minutes while the database is away, drops the oldest beyond its bound, and writes the rest later`() throws {
        let room = try room(bufferLimit: 3)
        room.recorder.record()
        try database.connect().execute("ALTER TABLE candles_1m RENAME TO elsewhere")
        for minute in Int64(1)...5 {
            room.trade(nvda, at: 1_000_000 + minute * 100, volume: minute)
            clock.move(by: 60_000)
            room.recorder.record()
        }
        #expect(room.recorder.backlog == 3 && room.dropped.value == 2)
        #expect(!room.troubles.all.isEmpty)
        // The board goes on meanwhile.
        #expect(room.board.listing(of: nvda)?.quote?.last.units == 1_000_500)
        try database.connect().execute("ALTER TABLE elsewhere RENAME TO candles_1m")
        clock.move(by: CandleRecorder.retryInterval)
        room.recorder.record()
        #expect(room.recorder.backlog == 0)
        #expect(try rows().map { $0.split(separator: " ")[1] } == ["1000300", "1000400", "1000500"])
    }

    @Test func `begins the day with the opening, ends it with the close, and rolls it up`() throws {
        let room = try room()
        room.recorder.record()
        // Before the bell: no price of the day's.
        room.trade(nvda, at: 2_000_000, volume: 10)
        room.trade(apple, at: 500_000, volume: 10)
        room.recorder.record()
        clock.move(by: 30_300)
        // The first trade of the session comes before the recorder looks.
        room.trade(nvda, at: 1_000_000, volume: 20)
        room.recorder.record()
        #expect(room.day(of: nvda) == [1_000_000, 1_000_000, 1_000_000])
        clock.move(by: 60_000)
        room.trade(nvda, at: 1_100_000, volume: 30)
        room.recorder.record()
        // Restarted: what the session was so far is not forgotten.
        let restarted = try self.room()
        clock.move(by: 62_000)
        room.recorder.record()
        restarted.trade(nvda, at: 1_050_000, volume: 40)
        restarted.recorder.record()
        #expect(restarted.day(of: nvda) == [1_000_000, 1_100_000, 1_000_000])
        clock.move(by: time("2027-11-08T21:00:00Z") - clock.now + 700)
        restarted.recorder.record()
        restarted.trade(nvda, at: 9_000_000, volume: 50)
        #expect(restarted.day(of: nvda) == [1_000_000, 1_100_000, 1_000_000])
        clock.move(by: 60_000)
        // A day at a look: days without a candle here come first.
        for _ in 0..<10 { restarted.recorder.record() }
        #expect(try rows("candles_1d", "day") == ["NVDA 1000000 1100000 1000000 1050000 20"])
        #expect(try rows("candles_1d WHERE day = '2027-11-08'", "day").count == 1)
        // Started after the close: the range is the session's, not what comes after it.
        let late = try self.room()
        late.trade(nvda, at: 8_000_000, volume: 60)
        late.recorder.record()
        #expect(late.day(of: nvda) == [1_000_000, 1_100_000, 1_000_000])
        #expect(room.troubles.all.isEmpty && restarted.troubles.all.isEmpty && late.troubles.all.isEmpty)
    }

    @Test func `gives a symbol that nobody has listed days of UTC, and rolls a day up that ended while no router ran`() throws {
        let first = try room()
        first.recorder.record()
        first.trade(apple, at: 500_000, volume: 10)
        clock.move(by: 62_000)
        first.recorder.record()
        #expect(first.day(of: apple) == [500_000, 500_000, 500_000])
        clock.move(by: 2 * 86_400_000)
        let second = try room()
        second.trade(apple, at: 600_000, volume: 10)
        // A day at a look.
        for _ in 0..<10 { second.recorder.record() }
        #expect(try rows("candles_1d", "day") == ["AAPL 500000 500000 500000 500000 0"])
        #expect(second.day(of: apple) == [600_000, 600_000, 600_000])
    }

    @Test func `deletes minutes past their keeping`() throws {
        let room = try room()
        room.trade(nvda, at: 1_000_000, volume: 10)
        clock.move(by: 62_000)
        room.recorder.record()
        #expect(try rows().count == 1)
        clock.move(by: 36 * 86_400_000)
        room.recorder.record()
        #expect(try rows() == [])
    }
}

@Suite struct `The instruments of a router` {
    private let clock = MovedClock(standingAt: time("2027-11-08T14:29:30Z"))

    @Test func `have the hours of their exchange, kept until they change`() throws {
        let board = QuoteBoard(now: { 0 })
        let told = MarketRoom.Lines()
        let instruments = InstrumentBoard(calendars: MarketRoom.calendars, quotes: board, trouble: { told.add($0) })
        let strange = Instrument(symbol: Symbol("VOD")!, name: "Vodafone", exchange: ExchangeCode("XLON"))
        instruments.replace(with: [Instrument(symbol: nvda, name: "NVIDIA Corporation", exchange: ExchangeCode("XNYS")), strange])
        #expect(told.all.count == 1 && told.all[0].contains("XLON"))
        #expect(instruments.marketState(of: nvda, at: clock.now) == .pre)
        #expect(instruments.marketState(of: nvda, at: clock.now + 30_000) == .open)
        // Asked about a moment before the one that is kept.
        #expect(instruments.marketState(of: nvda, at: clock.now) == .pre)
        #expect(instruments.marketHours(of: nvda, at: clock.now).nextOpen == clock.now + 30_000)
        #expect(instruments.marketState(of: strange.symbol, at: clock.now) == .open)
        #expect(instruments.instrument(of: apple) == nil && instruments.marketState(of: apple, at: clock.now) == .open)
        board.update { book, _ in _ = book.place(adding: apple) }
        #expect(instruments.instrument(of: apple) == Instrument(symbol: apple, name: "AAPL", exchange: nil))
        #expect(instruments.instruments(matching: "aap", limit: 5).isEmpty)
        instruments.addUnnamed()
        #expect(instruments.instruments(matching: "aap", limit: 5).map(\.symbol) == [apple])
        #expect(instruments.name(of: nvda) == "NVIDIA Corporation" && instruments.name(of: apple) == "AAPL" && instruments.exchange(of: apple) == nil)
    }

    @Test func `have calendars that come with the program, or an operator's file, whose faults are told by line`() throws {
        let shipped = try MarketCalendars.load(nil)
        #expect(shipped.exchanges.map(\.text) == ["SIM", "XNAS", "XNYS"])
        let file = FileManager.default.temporaryDirectory.appending(path: "calendars-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        #expect { try MarketCalendars.load(file.path) } throws: { "\($0)".contains("\(file.path) cannot be read") }
        try Data("exchange XNYS America/New_York\nhours OPEN 9-17\n".utf8).write(to: file)
        #expect { try MarketCalendars.load(file.path) } throws: { "\($0)".hasPrefix("\(file.path), line 2: '9-17'") }
    }
}
