import Quotes
import Storage
import Trading
import Wire

/// What is read to answer a question about a symbol's history, and how long the answer is good for. No clock: the same question gets the same answer
/// until `asOf` moves on.
struct HistoryPlan: Sendable, Equatable {
    enum Kept: Sendable, Equatable {
        /// Minutes since the epoch.
        case minutes(Range<Int64>)
        /// Trading days, and the minutes of one that may not be among them yet, or must not be shown as a whole.
        case days(Range<CalendarDay>, last: CalendarDay?, lastMinutes: Range<Int64>)
    }

    /// After a minute's end, ms: by then it is written. The recorder takes it after 2 s, and a full market is written in one.
    static let settling: Int64 = 5_000
    /// A day that is not over is told anew so often, ms: on a line of months nobody sees it move.
    static let dayStep: Int64 = 300_000
    /// Longest life of an answer, ms: an operator may load history at any time.
    static let longestLife: Int64 = 3_600_000
    /// Minutes of one answer: a month of a market that never closes. And days: fifty years.
    static let minutesLimit: Int32 = 45_000
    static let daysLimit: Int32 = 20_000

    let interval: HistoryInterval
    let kept: Kept
    /// Up to when it holds: the end of the newest minute that could be in it.
    let asOf: Int64
    /// When a newer answer can be had.
    let expiresAt: Int64

    /// - Parameter delay: milliseconds by which whoever asks sees prices later: then everything is as it was then.
    init(_ query: HistoryQuery, _ calendar: MarketCalendar, at present: Int64, delay: Int64 = 0) {
        let now = present - delay
        interval = Self.interval(of: query)
        let step = interval == .day ? Self.dayStep : Candle.millisecondsPerMinute
        let settled = (now - Self.settling) / step * step
        let session = calendar.latestSession(at: now)
        let hours = calendar.hours(at: now)
        if interval == .day {
            let isOver = session.map { $0.closes <= settled } ?? true
            let asOf = isOver ? session?.closes ?? settled : settled
            self.asOf = asOf
            // A day that has just ended is made of its minutes soon.
            let isFinal = session.map { $0.closes + 2 * Self.dayStep <= now } ?? true
            let next = calendar.isRoundTheClock || !isFinal ? nil : hours.nextOpen
            let renewed = isOver && isFinal ? next ?? settled + step + Self.settling : settled + step + Self.settling
            expiresAt = min(renewed, now + Self.longestLife) + delay
            let today = calendar.day(at: now)
            let first = Self.days(of: query).map { today.advanced(by: -$0) } ?? .earliest
            // The candle of a day that has ended within the delay is there already, and holds its end.
            let end = delay > 0 && !isOver ? session?.day ?? today : today.advanced(by: 1)
            kept = .days(
                first..<max(first, end),
                last: session?.day,
                lastMinutes: Self.minutes(session.map { $0.opens..<min($0.closes, asOf) })
            )
        } else {
            let isQuiet = hours.state == .closed && hours.from <= settled
            asOf = isQuiet ? hours.from : settled
            expiresAt = min(isQuiet ? hours.until : settled + step + Self.settling, now + Self.longestLife) + delay
            let first = Self.begin(of: query, calendar, at: now, upTo: settled)
            kept = .minutes(Self.minutes(first..<max(first, asOf)))
        }
    }

    private static func minutes(_ range: Range<Int64>?) -> Range<Int64> {
        guard let range, range.lowerBound < range.upperBound else { return 0..<0 }
        return range.lowerBound / Candle.millisecondsPerMinute..<range.upperBound / Candle.millisecondsPerMinute
    }

    private static func interval(of query: HistoryQuery) -> HistoryInterval {
        switch query {
        case .candles(let interval, _): interval
        case .line(.day, _): .minute
        case .line(.week, _): .fiveMinutes
        case .line: .day
        }
    }

    /// Days of the calendar; nil: all.
    private static func days(of query: HistoryQuery) -> Int? {
        switch query {
        case .line(.day, _), .candles(_, .day): 1
        case .line(.week, _), .candles(_, .fiveDays): 7
        case .line(.month, _), .candles(_, .month): 31
        case .candles(_, .threeMonths): 92
        case .candles(_, .sixMonths): 183
        case .line(.year, _), .candles(_, .year): 366
        case .candles(_, .twoYears): 731
        case .candles(_, .fiveYears): 1_827
        case .line(.all, _), .candles(_, .max): nil
        }
    }

    /// Where minutes begin: with the trading day at hand, or the fifth one back; where days follow one another without a pause, so many hours ago.
    private static func begin(of query: HistoryQuery, _ calendar: MarketCalendar, at now: Int64, upTo settled: Int64) -> Int64 {
        let trading: Int? =
            switch query {
            case .line(.day, _), .candles(_, .day): 1
            case .candles(_, .fiveDays): 5
            default: nil
            }
        if let trading, !calendar.isRoundTheClock { return calendar.tradingDays(begunBy: now, count: trading).last?.begins ?? settled }
        return settled - Int64(trading ?? days(of: query) ?? 0) * 86_400_000
    }
}

extension HistoryPlan {
    /// What was read.
    struct Reading: Sendable {
        var bars: [Bar]
        var sources: Set<CandleSource>
        /// The last bar is a day that is made of its minutes so far.
        var lastIsUnfinished = false
    }

    /// Bars in order of time. Those of days stand at midnight UTC of their date: `answer` puts them where they belong.
    func read(_ symbol: Symbol, _ database: Database) throws -> Reading {
        switch kept {
        case .minutes(let minutes):
            let read = try database.minutes(of: symbol, minutes, limit: Self.minutesLimit)
            return Reading(bars: Self.bars(read, Candle.millisecondsPerMinute), sources: read.sources)
        case .days(let days, let last, let lastMinutes):
            let read = try database.days(of: symbol, days, limit: Self.daysLimit)
            var reading = Reading(bars: Self.bars(read, 86_400_000), sources: read.sources)
            guard let last, last >= days.lowerBound, read.bars.last.map({ Int($0.number) < last.number }) ?? true else { return reading }
            let soFar = try database.minutes(of: symbol, lastMinutes, limit: Self.minutesLimit)
            guard var bar = Bar.merged(soFar.bars.map(\.bar)) else { return reading }
            bar.at = Int64(last.number) * 86_400_000
            reading.bars.append(bar)
            reading.sources.formUnion(soFar.sources)
            reading.lastIsUnfinished = true
            return reading
        }
    }

    private static func bars(_ read: KeptBars, _ length: Int64) -> [Bar] {
        read.bars.map { number, bar in
            var bar = bar
            bar.at = Int64(number) * length
            return bar
        }
    }

    func answer(_ query: HistoryQuery, _ symbol: Symbol, _ reading: Reading, _ calendar: MarketCalendar, isDelayed: Bool) -> HistoryAnswer {
        let length = interval.milliseconds
        let bars = length.map { $0 > Candle.millisecondsPerMinute ? Bar.merged(reading.bars, each: $0) : reading.bars } ?? reading.bars
        var (range, period): (HistoryRange?, HistoryPeriod?)
        var shown = bars
        switch query {
        case .candles(_, let asked): period = asked
        case .line(let asked, let points):
            range = asked
            shown = Bar.downsampled(bars, to: points)
        }
        return HistoryAnswer(
            symbol: symbol,
            range: range,
            period: period,
            interval: interval,
            points: shown.map { bar in
                let day = length == nil ? CalendarDay(number: Int(bar.at / 86_400_000)) : nil
                return HistoryAnswer.Point(
                    at: day.map { calendar.moment($0, minute: 0) } ?? bar.at,
                    day: day?.description,
                    open: Amount(units: bar.open),
                    high: Amount(units: bar.high),
                    low: Amount(units: bar.low),
                    close: Amount(units: bar.close),
                    volume: bar.volume,
                    isUnfinished: length.map { bar.at + $0 > asOf } ?? (reading.lastIsUnfinished && bar.at == bars.last?.at)
                )
            },
            source: reading.sources.isEmpty ? nil : reading.sources.map(\.text).sorted().joined(separator: "+"),
            downsampled: shown.count < bars.count ? .lttb : .none,
            asOf: asOf,
            isDelayed: isDelayed
        )
    }
}
