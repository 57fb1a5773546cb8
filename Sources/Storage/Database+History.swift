package import Postgres
package import Quotes
package import Trading

/// Where a kept candle comes from. Raw values are stored.
package enum CandleSource: Int16, CaseIterable, Sendable {
    case feed = 1
    case loaded = 2
    case simulated = 3

    package var text: String {
        switch self {
        case .feed: "feed"
        case .loaded: "loaded"
        case .simulated: "simulated"
        }
    }
}

/// A candle of a symbol, as it is kept.
package struct KeptBar: Hashable, Sendable {
    package let symbol: Symbol
    /// Minutes, or days, since 1970-01-01.
    package let number: Int32
    /// Its `at` does not count.
    package let bar: Bar

    package init(symbol: Symbol, number: Int32, bar: Bar) {
        self.symbol = symbol
        self.number = number
        self.bar = bar
    }
}

/// A minute as this router has seen it.
package struct SeenMinute: Hashable, Sendable {
    package let symbol: Symbol
    package let candle: Candle

    package init(symbol: Symbol, candle: Candle) {
        self.symbol = symbol
        self.candle = candle
    }
}

/// A stretch of a symbol's history, in order of time.
package struct KeptBars: Sendable {
    /// Minutes, or days, since 1970-01-01, and what they hold; a bar's `at` is not set.
    package let bars: [(number: Int32, bar: Bar)]
    package let sources: Set<CandleSource>
}

/// What symbols stand for, and the history of their prices.
extension Database {
    // MARK: Instruments

    package func instruments() throws(PostgresError) -> [Instrument] {
        let rows = try run(SQL.readInstruments)
        // The command that loads them has checked them; what somebody wrote past it is left out, as if it were not there.
        return (0..<rows.count).compactMap { row in
            guard let symbol = Symbol(rows.text(row, 0)) else { return nil }
            return Instrument(symbol: symbol, name: rows.text(row, 1), exchange: ExchangeCode(rows.text(row, 2)))
        }
    }

    /// Adds and renames. Each symbol stands there once.
    ///
    /// - Returns: how many are new or changed.
    package func load(_ instruments: [Instrument], from what: String, by whom: String, at now: Int64) throws(PostgresError) -> Int {
        try connection().pipeline { pipeline in
            pipeline.add(.begin)
            pipeline.add(SQL.upsertInstruments) {
                $0.append(instruments.map(\.symbol.text))
                $0.append(instruments.map(\.name))
                $0.append(instruments.map { $0.exchange?.text ?? "" })
                $0.append(now)
            }
            pipeline.auditOperator(by: whom, "instruments_loaded", "\(instruments.count) of \(what)", now)
            pipeline.add(.commit)
        }[1].affected
    }

    // MARK: Candles, written

    /// Writes minutes as seen here over what other routers have seen of them. Safe to repeat.
    ///
    /// - Parameter minutes: each minute of a symbol once.
    package func merge(_ minutes: [SeenMinute]) throws(PostgresError) {
        let minutes = minutes.sorted { ($0.symbol, $0.candle.minute) < ($1.symbol, $1.candle.minute) }
        _ = try run(SQL.mergeMinutes) {
            $0.append(minutes.map(\.symbol.text))
            $0.append(minutes.map { Int32($0.candle.minute) })
            $0.append(minutes.map(\.candle.open))
            $0.append(minutes.map(\.candle.high))
            $0.append(minutes.map(\.candle.low))
            $0.append(minutes.map(\.candle.close))
            $0.append(minutes.map(\.candle.volume))
            $0.append(minutes.map(\.candle.openedAt))
            $0.append(minutes.map(\.candle.closedAt))
        }
    }

    /// Minutes from elsewhere, in place of what is there. Each minute of a symbol once.
    package func loadMinutes(_ bars: [KeptBar], as source: CandleSource) throws(PostgresError) { try load(bars, as: source, SQL.loadMinutes) }

    /// Trading days from elsewhere, in place of what is there. Each day of a symbol once.
    package func loadDays(_ bars: [KeptBar], as source: CandleSource) throws(PostgresError) { try load(bars, as: source, SQL.loadDays) }

    private func load(_ bars: [KeptBar], as source: CandleSource, _ statement: Statement) throws(PostgresError) {
        let bars = bars.sorted { ($0.symbol, $0.number) < ($1.symbol, $1.number) }
        _ = try run(statement) {
            $0.append(bars.map(\.symbol.text))
            $0.append(bars.map(\.number))
            $0.append(bars.map(\.bar.open))
            $0.append(bars.map(\.bar.high))
            $0.append(bars.map(\.bar.low))
            $0.append(bars.map(\.bar.close))
            $0.append(bars.map(\.bar.volume))
            $0.append(source.rawValue)
        }
    }

    /// Makes the trading day of each symbol from the minutes of its regular session. Safe to repeat.
    package func rollUp(_ session: MarketCalendar.TradingDay, of symbols: [Symbol]) throws(PostgresError) {
        _ = try run(SQL.rollUpDays) {
            $0.append(symbols.sorted().map(\.text))
            $0.append(Int32(session.day.number))
            $0.append(Int32(session.opens / Candle.millisecondsPerMinute))
            $0.append(Int32(session.closes / Candle.millisecondsPerMinute))
        }
    }

    /// Ends the keeping of a portion of the minutes before this one (minutes since the epoch).
    ///
    /// - Returns: how many are gone; fewer than the portion: no more are there.
    package func deleteMinutes(before minute: Int64, portion: Int32) throws(PostgresError) -> Int {
        try run(SQL.deleteOldMinutes) {
            $0.append(Int32(clamping: minute))
            $0.append(portion)
        }.affected
    }

    // MARK: Candles, read

    /// Open, high and low of each symbol that was traded in these minutes.
    package func dayRanges(of symbols: [Symbol], minutes: Range<Int64>) throws(PostgresError) -> [Symbol: DayRange] {
        let rows = try run(SQL.readDayRanges) {
            $0.append(symbols.map(\.text))
            $0.append(Int32(clamping: minutes.lowerBound))
            $0.append(Int32(clamping: minutes.upperBound))
        }
        var ranges: [Symbol: DayRange] = [:]
        for row in 0..<rows.count {
            guard let symbol = Symbol(rows.text(row, 0)) else { continue }
            ranges[symbol] = DayRange(open: rows.int64(row, 1), high: rows.int64(row, 2), low: rows.int64(row, 3))
        }
        return ranges
    }

    /// The newest minutes within a stretch, in minutes since the epoch.
    package func minutes(of symbol: Symbol, _ minutes: Range<Int64>, limit: Int32) throws(PostgresError) -> KeptBars {
        try bars(SQL.readMinutes, symbol, minutes, limit)
    }

    /// The newest trading days within a stretch.
    package func days(of symbol: Symbol, _ days: Range<CalendarDay>, limit: Int32) throws(PostgresError) -> KeptBars {
        try bars(SQL.readDays, symbol, Int64(days.lowerBound.number)..<Int64(days.upperBound.number), limit)
    }

    private func bars(_ statement: Statement, _ symbol: Symbol, _ range: Range<Int64>, _ limit: Int32) throws(PostgresError) -> KeptBars {
        let rows = try run(statement) {
            $0.append(symbol.text)
            $0.append(Int32(clamping: range.lowerBound))
            $0.append(Int32(clamping: range.upperBound))
            $0.append(limit)
        }
        var sources: Set<CandleSource> = []
        let bars = (0..<rows.count).reversed().map { row in
            if let source = CandleSource(rawValue: rows.int16(row, 6)) { sources.insert(source) }
            return (
                number: rows.int32(row, 0),
                bar: Bar(
                    at: 0,
                    open: rows.int64(row, 1),
                    high: rows.int64(row, 2),
                    low: rows.int64(row, 3),
                    close: rows.int64(row, 4),
                    volume: rows.int64(row, 5)
                )
            )
        }
        return KeptBars(bars: bars, sources: sources)
    }
}
