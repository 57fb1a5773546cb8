import Foundation

/// The calendars of all exchanges, from a text of our own:
///
///     # New York
///     exchange XNYS XNAS America/New_York
///     hours PRE 04:00-09:30 OPEN 09:30-16:00 POST 16:00-20:00
///     closed SAT SUN
///     closed 2026-12-25                                            # Christmas Day
///     hours 2026-11-27 PRE 04:00-09:30 OPEN 09:30-13:00            # the day after Thanksgiving
///
/// `exchange` names one or more codes and an IANA time zone; what follows is theirs. `hours` without a day are those of a normal day, with one those of that
/// day alone. `closed` takes weekdays and days. What follows `#` is for people.
package struct MarketCalendars: Sendable {
    /// What is wrong with a text, for whoever wrote it.
    package struct Fault: Error, Hashable, Sendable {
        /// From 1.
        package let line: Int
        /// What is wrong, and what to write.
        package let message: String
    }

    private let calendars: [ExchangeCode: MarketCalendar]

    /// - Throws: the first fault.
    package init(_ text: String) throws(Fault) {
        var reading = CalendarReading()
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            try reading.read(line.prefix { $0 != "#" }, number: index + 1)
        }
        calendars = try reading.finish()
    }

    package var exchanges: [ExchangeCode] { calendars.keys.sorted() }

    /// When a calendar of one exchange ends.
    package struct Ending: Hashable, Sendable {
        package let exchange: ExchangeCode
        /// See `MarketCalendar.lastNamedDay`.
        package let lastDay: CalendarDay
        /// Of the exchange's own calendar, from today; negative: it is over.
        package let daysLeft: Int
    }

    /// Of every exchange whose calendar ends, by their codes.
    package func endings(at now: Int64) -> [Ending] {
        exchanges.compactMap { exchange in
            guard let calendar = calendars[exchange], let last = calendar.lastNamedDay else { return nil }
            return Ending(exchange: exchange, lastDay: last, daysLeft: last.number - calendar.day(at: now).number)
        }
    }

    /// nil: the exchange is not in the text.
    package subscript(exchange: ExchangeCode) -> MarketCalendar? { calendars[exchange] }
}

/// A text on its way to calendars.
private struct CalendarReading {
    private struct Draft {
        let line: Int
        let exchanges: [ExchangeCode]
        let zone: TimeZone
        var normal: [MarketCalendar.Session] = []
        var closedWeekdays: Set<Int> = []
        var closedDays: Set<CalendarDay> = []
        var special: [CalendarDay: [MarketCalendar.Session]] = [:]
    }

    private static let weekdays = ["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"]
    private static let states: [String: MarketState] = ["PRE": .pre, "OPEN": .open, "POST": .post]

    private var calendars: [ExchangeCode: MarketCalendar] = [:]
    private var draft: Draft?

    mutating func read(_ line: Substring, number: Int) throws(MarketCalendars.Fault) {
        let words = line.split(whereSeparator: \.isWhitespace).map { String($0) }
        guard let first = words.first else { return }
        let rest = Array(words.dropFirst())
        switch first {
        case "exchange": try beginExchange(rest, number)
        case "hours": try readHours(rest, number)
        case "closed": try readClosed(rest, number)
        default: throw fault(number, "'\(first)' is not known: a line begins with exchange, hours or closed")
        }
    }

    mutating func finish() throws(MarketCalendars.Fault) -> [ExchangeCode: MarketCalendar] {
        try endExchange()
        guard !calendars.isEmpty else { throw fault(1, "no exchange is named: write a line such as 'exchange XNYS America/New_York'") }
        return calendars
    }

    private func fault(_ line: Int, _ message: String) -> MarketCalendars.Fault { MarketCalendars.Fault(line: line, message: message) }

    // MARK: Lines

    private mutating func beginExchange(_ words: [String], _ line: Int) throws(MarketCalendars.Fault) {
        try endExchange()
        guard words.count >= 2, let name = words.last else {
            throw fault(line, "write the exchange's code and its time zone, such as 'exchange XNYS America/New_York'")
        }
        var exchanges: [ExchangeCode] = []
        for word in words.dropLast() {
            guard let code = ExchangeCode(word) else { throw fault(line, "'\(word)' is not an exchange's code: 1 to 8 of A-Z and 0-9, such as XNYS") }
            guard calendars[code] == nil, !exchanges.contains(code) else { throw fault(line, "\(code) stands there twice: give it one calendar") }
            exchanges.append(code)
        }
        // Foundation also takes abbreviations such as EST, and offsets: neither follows the law of a place.
        guard name == "UTC" || name.contains("/"), let zone = TimeZone(identifier: name) else {
            throw fault(line, "'\(name)' is not a time zone that this machine knows: write its IANA name, such as America/New_York, or UTC")
        }
        draft = Draft(line: line, exchanges: exchanges, zone: zone)
    }

    private mutating func endExchange() throws(MarketCalendars.Fault) {
        guard let draft else { return }
        guard !draft.normal.isEmpty else {
            throw fault(draft.line, "\(draft.exchanges[0]) has no normal hours: write a line such as 'hours OPEN 09:30-16:00'")
        }
        let calendar = MarketCalendar(
            zone: draft.zone,
            normal: draft.normal,
            closedWeekdays: draft.closedWeekdays,
            closedDays: draft.closedDays,
            special: draft.special
        )
        for exchange in draft.exchanges { calendars[exchange] = calendar }
        self.draft = nil
    }

    private mutating func readHours(_ words: [String], _ line: Int) throws(MarketCalendars.Fault) {
        guard let draft else { throw fault(line, "hours of which exchange? Write its 'exchange' line above") }
        let day = words.first.flatMap { CalendarDay($0) }
        let pairs = Array(words.dropFirst(day == nil ? 0 : 1))
        guard !pairs.isEmpty, pairs.count.isMultiple(of: 2) else {
            throw fault(
                line,
                "write sessions with their times, such as 'hours PRE 04:00-09:30 OPEN 09:30-16:00', with a day as yyyy-mm-dd in front if need be"
            )
        }
        var sessions: [MarketCalendar.Session] = []
        for index in stride(from: 0, to: pairs.count, by: 2) {
            guard let state = Self.states[pairs[index]] else { throw fault(line, "'\(pairs[index])' is not a session: write PRE, OPEN or POST") }
            guard let (from, to) = Self.times(pairs[index + 1]) else {
                throw fault(
                    line,
                    "'\(pairs[index + 1])' is not a time of the day: write such as 09:30-16:00, the end after the beginning, 24:00 at most"
                )
            }
            guard from >= sessions.last?.to ?? 0 else { throw fault(line, "\(pairs[index + 1]) begins before the session in front of it has ended") }
            sessions.append(MarketCalendar.Session(state, from: from, to: to))
        }
        guard sessions.contains(where: { $0.state == .open }) else {
            throw fault(line, "no session is OPEN: a day without a regular session is 'closed'")
        }
        guard let day else {
            guard draft.normal.isEmpty else { throw fault(line, "the normal hours stand there twice: put a day in front, or take one away") }
            self.draft?.normal = sessions
            return
        }
        guard draft.special[day] == nil, !draft.closedDays.contains(day) else { throw fault(line, "\(day) stands there twice") }
        self.draft?.special[day] = sessions
    }

    private mutating func readClosed(_ words: [String], _ line: Int) throws(MarketCalendars.Fault) {
        guard let draft else { throw fault(line, "closed of which exchange? Write its 'exchange' line above") }
        guard !words.isEmpty else { throw fault(line, "write weekdays or days, such as 'closed SAT SUN' or 'closed 2026-12-25'") }
        for word in words {
            if let weekday = Self.weekdays.firstIndex(of: word) {
                self.draft?.closedWeekdays.insert(weekday)
            } else if let day = CalendarDay(word) {
                guard draft.special[day] == nil, !draft.closedDays.contains(day) else { throw fault(line, "\(day) stands there twice") }
                self.draft?.closedDays.insert(day)
            } else {
                throw fault(line, "'\(word)' is not a day: write MON to SUN or yyyy-mm-dd; a remark begins with #")
            }
        }
    }

    /// `hh:mm-hh:mm`, in minutes of the day.
    private static func times(_ text: String) -> (Int, Int)? {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false).map { minute($0) }
        guard ends.count == 2, let from = ends[0], let to = ends[1], from < to else { return nil }
        return (from, to)
    }

    private static func minute(_ text: Substring) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.map(\.utf8.count) == [2, 2], text.utf8.allSatisfy({ $0 == UInt8(ascii: ":") || (0x30...0x39).contains($0) }),
            let hour = Int(parts[0]), let minute = Int(parts[1]), minute < 60, hour * 60 + minute <= MarketCalendar.minutesPerDay
        else { return nil }
        return hour * 60 + minute
    }
}
