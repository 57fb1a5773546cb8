import Postgres
import Quotes
import Storage
import Trading

/// Where each exchange is in its days, as the recorder knows it.
struct RecordedDays {
    struct Market {
        let calendar: MarketCalendar
        var places: [Int] = []
        /// The latest regular session that has begun, and whether the book has been told of its end.
        var session: MarketCalendar.TradingDay?
        var isOver = false
        /// Sessions whose minutes have yet to become the day's candle.
        var unfinished: Set<CalendarDay> = []
    }

    /// Trading days looked back for such as ended while no router ran, and for minutes that came late. A week: holidays included, and a weekend of repairs.
    static let lookBack = 7
    /// After a session's end, ms: until then other routers write the last minutes they have seen.
    static let rollUpDelay: Int64 = 60_000

    /// By exchange; nil: symbols whose exchange nobody has told.
    var markets: [ExchangeCode?: Market] = [:]
    /// Places of the book below this one belong to a market.
    var known = 0
    /// Places whose day has to be completed with what was traded before this router looked.
    var unrestored: Set<Int> = []

    /// Minutes were written: sessions that have ended since they began are rolled up, once more if need be.
    mutating func expectRollUps(ofMinutesFrom minute: Int64, at now: Int64) {
        for (exchange, market) in markets {
            let late = market.calendar.tradingDays(begunBy: now, count: Self.lookBack)
                .filter { $0.closes <= now && $0.closes > minute * Candle.millisecondsPerMinute }
            markets[exchange]?.unfinished.formUnion(late.map(\.day))
        }
    }
}

extension CandleRecorder {
    /// Symbols of one statement that reads a day's minutes of each: a tenth of a second.
    private static let dayPortion = 500

    /// Tells the book where days begin and end. No database.
    func turnDays(at now: Int64, isNewMinute: Bool) {
        sortNewSymbols(at: now, again: isNewMinute)
        for (exchange, market) in days.markets {
            guard let session = market.calendar.latestSession(at: now) else { continue }
            if session.day != market.session?.day {
                // The first session that is seen began before: what was traded in it then is restored.
                if market.session != nil {
                    let minute = session.opens / Candle.millisecondsPerMinute
                    board.keep { book in for place in market.places { book.beginDay(at: place, minute: minute) } }
                }
                if let before = market.session { days.markets[exchange]?.unfinished.insert(before.day) }
                days.markets[exchange]?.session = session
                days.markets[exchange]?.isOver = false
            }
            if now >= session.closes, days.markets[exchange]?.isOver == false {
                days.markets[exchange]?.isOver = true
                days.markets[exchange]?.unfinished.insert(session.day)
                board.keep { book in for place in market.places { book.endDay(at: place) } }
            }
        }
    }

    /// Symbols that have come since, each to its exchange; each minute all of them, for an operator may have told an exchange.
    private func sortNewSymbols(at now: Int64, again: Bool) {
        let symbols = board.read { $0.symbols }
        guard symbols.count > days.known || again else { return }
        days.unrestored.formUnion(days.known..<symbols.count)
        days.known = symbols.count
        for exchange in days.markets.keys { days.markets[exchange]?.places = [] }
        for (place, symbol) in symbols.enumerated() {
            let exchange = instruments.exchange(of: symbol)
            if days.markets[exchange] == nil {
                let calendar = instruments.calendar(of: symbol)
                let ended = calendar.tradingDays(begunBy: now, count: RecordedDays.lookBack).filter { $0.closes <= now }
                days.markets[exchange] = RecordedDays.Market(calendar: calendar, unfinished: Set(ended.map(\.day)))
            }
            days.markets[exchange]?.places.append(place)
        }
    }

    /// Completes the ranges of symbols that this router has only just met, from the minutes of their session.
    func restoreDays(at now: Int64) throws(PostgresError) {
        if days.unrestored.isEmpty { return }
        for market in days.markets.values {
            guard let session = market.session else { continue }
            try restore(market.places.filter { days.unrestored.contains($0) }, session, isOver: now >= session.closes)
        }
    }

    private func restore(_ places: [Int], _ session: MarketCalendar.TradingDay, isOver: Bool) throws(PostgresError) {
        let symbols = board.read { $0.symbols }
        let minutes = session.opens / Candle.millisecondsPerMinute..<session.closes / Candle.millisecondsPerMinute
        for first in stride(from: 0, to: places.count, by: Self.dayPortion) {
            let portion = places[first..<min(first + Self.dayPortion, places.count)]
            let ranges = try database.dayRanges(of: portion.map { symbols[$0] }, minutes: minutes)
            board.keep { book in
                for place in portion { book.restoreDay(ranges[symbols[place]] ?? DayRange(), isOver: isOver, at: place) }
            }
            days.unrestored.subtract(portion)
        }
    }

    /// Makes the candles of a day that has ended: one at a look, so that minutes do not wait long. The range in the book is then the day's as it is kept,
    /// without what came in the moments around its end.
    func rollUpDays(at now: Int64) throws(PostgresError) {
        let symbols = board.read { $0.symbols }
        for (exchange, market) in days.markets {
            for day in market.unfinished.sorted() {
                guard let session = market.calendar.tradingDay(day), now >= session.closes + RecordedDays.rollUpDelay else { continue }
                for first in stride(from: 0, to: market.places.count, by: Self.dayPortion) {
                    let portion = market.places[first..<min(first + Self.dayPortion, market.places.count)]
                    try database.rollUp(session, of: portion.map { symbols[$0] })
                }
                if day == market.session?.day { try restore(market.places, session, isOver: true) }
                days.markets[exchange]?.unfinished.remove(day)
                return
            }
        }
    }
}
