package import Foundation

/// When an exchange trades: sessions of a normal day in its own zone, the days on which it does not trade, and the days with other sessions. The zone's
/// offsets are Foundation's; nothing here knows one.
package struct MarketCalendar: Sendable {
    /// A part of a day. Sessions end within their day: what goes on past midnight begins again at 00:00.
    package struct Session: Hashable, Sendable {
        /// PRE, OPEN or POST.
        package let state: MarketState
        /// Minutes of the day by the clock on the wall, `from` below `to`, at most 24:00.
        package let from: Int
        package let to: Int

        package init(_ state: MarketState, from: Int, to: Int) {
            self.state = state
            self.from = from
            self.to = to
        }
    }

    /// The regular session of one trading day, in ms since the epoch: from its first opening to its last close.
    package struct TradingDay: Hashable, Sendable {
        package let day: CalendarDay
        /// Of the first session, PRE included.
        package let begins: Int64
        package let opens: Int64
        package let closes: Int64
    }

    /// So far ahead (and back) openings are looked for, in days: longer than any exchange was ever closed in our time (ten days).
    package static let horizon = 31

    /// So far back the end of the last session is looked for, in days: over a long weekend.
    private static let lookBack = 7

    package let zone: TimeZone
    /// In order of time, not overlapping.
    package let normal: [Session]
    /// 0 = Monday.
    package let closedWeekdays: Set<Int>
    package let closedDays: Set<CalendarDay>
    package let special: [CalendarDay: [Session]]

    package init(
        zone: TimeZone,
        normal: [Session],
        closedWeekdays: Set<Int> = [],
        closedDays: Set<CalendarDay> = [],
        special: [CalendarDay: [Session]] = [:]
    ) {
        self.zone = zone
        self.normal = normal
        self.closedWeekdays = closedWeekdays
        self.closedDays = closedDays
        self.special = special
    }

    /// Open at any hour of any day, with days of UTC: what holds for a symbol whose exchange nobody has told.
    package static let alwaysOpen = MarketCalendar(zone: .gmt, normal: [Session(.open, from: 0, to: minutesPerDay)])

    package static let minutesPerDay = 24 * 60

    /// Whether its days follow one another without a pause: then "today" says little, and the last 24 hours say more.
    package var isRoundTheClock: Bool {
        normal == [Session(.open, from: 0, to: Self.minutesPerDay)] && closedWeekdays.isEmpty && closedDays.isEmpty && special.isEmpty
    }

    /// The last day of which it says anything of its own: beyond, holidays count as normal days. nil: it never names a day, and so knows all of them.
    package var lastNamedDay: CalendarDay? { [closedDays.max(), special.keys.max()].compactMap { $0 }.max() }

    package func sessions(on day: CalendarDay) -> [Session] {
        if let sessions = special[day] { return sessions }
        return closedDays.contains(day) || closedWeekdays.contains(day.weekday) ? [] : normal
    }

    // MARK: Times

    /// The day on the wall of the exchange.
    package func day(at milliseconds: Int64) -> CalendarDay {
        let seconds = Int((milliseconds - (milliseconds % 1_000 + 1_000) % 1_000) / 1_000)
        let local = seconds + zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds)))
        return CalendarDay(number: (local - (local % 86_400 + 86_400) % 86_400) / 86_400)
    }

    /// The moment at which the wall of the exchange shows this minute of the day, ms since the epoch. Shown twice (clocks go back): the first. Never shown
    /// (clocks go forward): as much later as they went forward.
    package func moment(_ day: CalendarDay, minute: Int) -> Int64 {
        let local = day.number * 86_400 + minute * 60
        func offset(_ seconds: Int) -> Int { zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds))) }
        // Offsets of the day before and after: between them lies the change, if there is one.
        let (before, after) = (offset(local - 86_400), offset(local + 86_400))
        let later = local - after
        if offset(local - before) != before, offset(later) == after { return Int64(later) * 1_000 }
        return Int64(local - before) * 1_000
    }

    // MARK: Answers

    private struct Span {
        let state: MarketState
        let from: Int64
        var to: Int64
    }

    private func spans(on day: CalendarDay) -> [Span] {
        sessions(on: day).map { Span(state: $0.state, from: moment(day, minute: $0.from), to: moment(day, minute: $0.to)) }
    }

    /// What the market does now. Looks at the days ahead until it knows: keep it until `until`.
    package func hours(at now: Int64) -> MarketHours {
        var spans: [Span] = []
        let today = day(at: now)
        for ahead in -Self.lookBack...Self.horizon {
            for span in self.spans(on: today.advanced(by: ahead)) {
                // Midnight does not end a session that goes on.
                if let last = spans.last, last.state == span.state, last.to == span.from {
                    spans[spans.count - 1].to = span.to
                } else {
                    spans.append(span)
                }
            }
            // The last one may go on beyond what was looked at.
            if ahead > 0, spans.dropLast().contains(where: { $0.state == .open && $0.from > now }) { break }
        }
        let current = spans.first { $0.from <= now && now < $0.to }
        let next = spans.first { $0.from > now }
        let isEndless = current.map { $0.to == spans.last?.to } ?? false
        let ends = spans.first { $0.state == .open && $0.to > now }?.to
        return MarketHours(
            state: current?.state ?? .closed,
            nextOpen: spans.first { $0.state == .open && $0.from > now }?.from,
            nextClose: isEndless && current?.state == .open ? nil : ends,
            from: current?.from ?? spans.last { $0.to <= now }?.to ?? now,
            until: current?.to ?? next?.from ?? now + Int64(Self.horizon) * 86_400_000
        )
    }

    /// The trading day of `day`; nil where it has no regular session.
    package func tradingDay(_ day: CalendarDay) -> TradingDay? {
        let spans = spans(on: day)
        let regular = spans.filter { $0.state == .open }
        guard let first = regular.first, let last = regular.last else { return nil }
        return TradingDay(day: day, begins: min(spans[0].from, first.from), opens: first.from, closes: last.to)
    }

    /// The trading days of which the first session has begun, the latest first, as many as are asked for; days closed longer than the horizon end the search.
    package func tradingDays(begunBy now: Int64, count: Int) -> [TradingDay] {
        var found: [TradingDay] = []
        var day = day(at: now)
        var closed = 0
        while found.count < count, closed <= Self.horizon {
            if let trading = tradingDay(day), trading.begins <= now {
                found.append(trading)
                closed = 0
            } else {
                closed += 1
            }
            day = day.advanced(by: -1)
        }
        return found
    }

    /// The latest regular session that has begun, over or not.
    package func latestSession(at now: Int64) -> TradingDay? {
        tradingDays(begunBy: now, count: 2).first { $0.opens <= now }
    }
}
