import Foundation
import Postgres
import Quotes
import Storage
import TestSupport
import Testing
import Trading

extension `On PostgreSQL, storage` {
    @Suite struct `The candles of a symbol` {
        private let database: TestDatabase
        private let storage: Database
        private static let minute: Int64 = 30_000_000

        init() throws {
            database = try TestDatabase()
            storage = Database(try database.options)
        }

        private func seen(
            _ minute: Int64,
            _ prices: (open: Int64, high: Int64, low: Int64, close: Int64),
            volume: Int64 = 10,
            from: Int32 = 0,
            to: Int32 = 59_999,
            of symbol: Symbol = symbol
        ) -> SeenMinute {
            let candle = Candle(
                minute: minute,
                open: prices.open,
                high: prices.high,
                low: prices.low,
                close: prices.close,
                volume: volume,
                openedAt: from,
                closedAt: to
            )
            return SeenMinute(symbol: symbol, candle: candle)
        }

        private func minutes(_ range: Range<Int64> = 0..<40_000_000, limit: Int32 = 100) throws -> [Bar] {
            try storage.minutes(of: symbol, range, limit: limit).bars.map { number, bar in
                var bar = bar
                bar.at = Int64(number)
                return bar
            }
        }

        private func bar(_ at: Int64, _ open: Int64, _ high: Int64, _ low: Int64, _ close: Int64, _ volume: Int64) -> Bar {
            Bar(at: at, open: open, high: high, low: low, close: close, volume: volume)
        }

        /// One router has seen the minute's beginning, the other its end: in either order, and again.
        @Test(arguments: [[0, 1], [1, 0], [0, 1, 0, 1], [1, 1, 0, 0]])
        func `merge what two routers saw of a minute, in any order and as often as it is written`(_ order: [Int]) throws {
            let parts = [
                seen(Self.minute, (open: 100, high: 130, low: 95, close: 110), volume: 50, from: 100, to: 40_000),
                seen(Self.minute, (open: 112, high: 120, low: 90, close: 105), volume: 70, from: 20_000, to: 59_000),
            ]
            for part in order { try storage.merge([parts[part]]) }
            #expect(try minutes() == [bar(Self.minute, 100, 130, 90, 105, 70)])
        }

        @Test func `come in portions of many symbols and minutes, and are read the newest ones in order of time`() throws {
            let other = Symbol("AAPL")!
            let all = (0..<500).flatMap { number in
                [symbol, other].map { seen(Self.minute + number, (open: 1 + number, high: 2 + number, low: 1, close: 2), of: $0) }
            }
            try storage.merge(all.shuffled())
            #expect(try minutes().count == 100)
            #expect(try minutes(limit: 3).map(\.at) == [497, 498, 499].map { Self.minute + $0 })
            #expect(try minutes(Self.minute + 10..<Self.minute + 12).map(\.open) == [11, 12])
            #expect(try storage.minutes(of: Symbol("NONE")!, 0..<40_000_000, limit: 5).sources.isEmpty)
        }

        @Test func `that were loaded stay as they are`() throws {
            try storage.merge([seen(Self.minute, (open: 1, high: 2, low: 1, close: 2))])
            try storage.loadMinutes([KeptBar(symbol: symbol, number: Int32(Self.minute), bar: bar(0, 5, 9, 4, 6, 3))], as: .loaded)
            try storage.merge([seen(Self.minute, (open: 1, high: 20, low: 1, close: 2), volume: 99)])
            #expect(try minutes() == [bar(Self.minute, 5, 9, 4, 6, 3)])
            #expect(try storage.minutes(of: symbol, 0..<40_000_000, limit: 5).sources == [.loaded])
        }

        @Test func `of minutes are deleted past their keeping, a portion at a time`() throws {
            try storage.merge((0..<25).map { seen(Self.minute + $0, (open: 1, high: 1, low: 1, close: 1)) })
            let cut = Self.minute + 21
            #expect(try [10, 10, 10].map { try storage.deleteMinutes(before: cut, portion: $0) } == [10, 10, 1])
            #expect(try minutes().map(\.at) == (21..<25).map { Self.minute + $0 })
        }

        /// Sunday, November 7, 2027: the clocks of New York go back, so the Sunday has 25 hours; Monday's session begins at 14:30 and not at 13:30 UTC.
        @Test func `roll up to the regular session of a day, by the clock of its exchange`() throws {
            let calendar = MarketCalendar(
                zone: TimeZone(identifier: "America/New_York")!,
                normal: [.init(.pre, from: 240, to: 570), .init(.open, from: 570, to: 960), .init(.post, from: 960, to: 1_200)]
            )
            for (text, opens) in [
                ("2027-11-05", "2027-11-05T13:30:00Z"), ("2027-11-07", "2027-11-07T14:30:00Z"), ("2027-11-08", "2027-11-08T14:30:00Z"),
            ] {
                let day = try #require(CalendarDay(text))
                let session = try #require(calendar.tradingDay(day))
                let open = session.opens / 60_000
                #expect(open == Int64(try Date(opens, strategy: .iso8601).timeIntervalSince1970) / 60)
                try storage.merge([
                    seen(open - 1, (open: 1, high: 999, low: 1, close: 999)), seen(open, (open: 100, high: 110, low: 99, close: 105), volume: 5),
                    seen(open + 389, (open: 103, high: 104, low: 98, close: 101), volume: 7),
                    seen(open + 390, (open: 2, high: 888, low: 2, close: 888)),
                ])
                for _ in 0..<2 { try storage.rollUp(session, of: [symbol, Symbol("QUIET")!]) }
                let days = try storage.days(of: symbol, day..<day.advanced(by: 1), limit: 10)
                #expect(days.bars.map(\.number) == [Int32(day.number)])
                #expect(days.bars.map(\.bar) == [bar(0, 100, 110, 98, 101, 12)] && days.sources == [.feed])
                // A minute that comes late.
                try storage.merge([seen(open + 200, (open: 120, high: 150, low: 120, close: 121), volume: 1)])
                try storage.rollUp(session, of: [symbol])
                #expect(try storage.days(of: symbol, day..<day.advanced(by: 1), limit: 10).bars.map(\.bar) == [bar(0, 100, 150, 98, 101, 13)])
                let ranges = try storage.dayRanges(of: [symbol, Symbol("QUIET")!], minutes: open..<open + 390)
                #expect(ranges == [symbol: DayRange(open: 100, high: 150, low: 98)])
            }
            #expect(try storage.days(of: Symbol("QUIET")!, CalendarDay(number: 0)..<CalendarDay(number: 99_999), limit: 10).bars.isEmpty)
        }

        @Test func `of a day that was loaded are not rolled up over`() throws {
            let day = try #require(CalendarDay("2027-11-08"))
            let session = try #require(MarketCalendar.alwaysOpen.tradingDay(day))
            try storage.loadDays([KeptBar(symbol: symbol, number: Int32(day.number), bar: bar(0, 5, 9, 4, 6, 3))], as: .simulated)
            try storage.merge([seen(session.opens / 60_000, (open: 1, high: 1, low: 1, close: 1))])
            try storage.rollUp(session, of: [symbol])
            let days = try storage.days(of: symbol, day..<day.advanced(by: 1), limit: 10)
            #expect(days.bars.map(\.bar) == [bar(0, 5, 9, 4, 6, 3)] && days.sources == [.simulated])
        }

        @Test func `are refused by the database where they cannot be prices`() throws {
            for prices in [(open: 5, high: 4, low: 1, close: 3), (open: 5, high: 6, low: 0, close: 3), (open: 5, high: 6, low: 4, close: 3)]
                as [(Int64, Int64, Int64, Int64)]
            {
                #expect(
                    sqlState { () throws(PostgresError) in
                        try storage.merge([seen(Self.minute, (open: prices.0, high: prices.1, low: prices.2, close: prices.3))])
                    } == "23514"
                )
            }
        }
    }

    @Suite struct `What symbols stand for` {
        @Test func `is added, changed and told of in the audit`() throws {
            let database = try TestDatabase()
            let storage = Database(try database.options)
            func instrument(_ symbol: String, _ name: String) -> Instrument {
                Instrument(symbol: Symbol(symbol)!, name: name, exchange: ExchangeCode("XNYS"))
            }
            let first = [instrument("F", "Ford"), instrument("T", "AT&T")]
            #expect(try storage.load(first, from: "a.csv", by: "ann", at: 1) == 2)
            #expect(try storage.load([instrument("F", "Ford Motor"), instrument("T", "AT&T")], from: "b.csv", by: "ann", at: 2) == 1)
            #expect(try storage.instruments() == [instrument("F", "Ford Motor"), instrument("T", "AT&T")])
            let audit = try database.connect().query(
                "SELECT string_agg(by_whom || ' ' || action || ' ' || detail, '; ' ORDER BY audit_id) FROM operator_audit"
            )
            #expect(audit.text(0, 0) == "ann instruments_loaded 2 of a.csv; ann instruments_loaded 2 of b.csv")
        }
    }
}
