import Foundation
import Quotes
import Testing

/// The calendars that are shipped, and London, whose clocks change on other days.
private let calendars: MarketCalendars = {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let shipped = try! String(contentsOf: root.appending(path: "Sources/MarketData/exchange-calendars.txt"), encoding: .utf8)
    return try! MarketCalendars(shipped + "\nexchange XLON Europe/London\nhours OPEN 08:00-16:30\nclosed SAT SUN\nclosed 2027-12-27 2027-12-28\n")
}()

private let newYork = calendars[ExchangeCode("XNYS")!]!
private let london = calendars[ExchangeCode("XLON")!]!

/// Of `2027-03-15T13:30Z`.
private func time(_ text: String) -> Int64 {
    Int64(try! Date(text.replacing("Z", with: ":00Z"), strategy: .iso8601).timeIntervalSince1970) * 1_000
}

private func hours(_ calendar: MarketCalendar, _ at: String) -> (MarketState, open: Int64?, close: Int64?) {
    let hours = calendar.hours(at: time(at))
    return (hours.state, hours.nextOpen, hours.nextClose)
}

@Suite struct `A market's calendar` {
    @Test func `ends with the last day that it names, and says how far that is by its own wall`() {
        let endings = calendars.endings(at: time("2028-12-24T04:59Z"))
        #expect(endings.map { "\($0.exchange) \($0.lastDay) \($0.daysLeft)" } == ["XLON 2027-12-28 -362", "XNAS 2028-12-25 2", "XNYS 2028-12-25 2"])
        // One that names no day knows all of them.
        #expect(calendars[ExchangeCode("SIM")!]?.lastNamedDay == nil)
        #expect(calendars.endings(at: time("2028-12-24T05:01Z")).map(\.daysLeft) == [-362, 1, 1])
    }

    /// By the wall of New York: in winter five hours behind UTC, in summer four.
    @Test(arguments: [
        ("2027-01-20T08:59Z", MarketState.closed), ("2027-01-20T09:00Z", .pre), ("2027-01-20T14:29Z", .pre), ("2027-01-20T14:30Z", .open),
        ("2027-01-20T20:59Z", .open), ("2027-01-20T21:00Z", .post), ("2027-01-21T00:59Z", .post), ("2027-01-21T01:00Z", .closed),
        ("2027-07-21T13:29Z", .pre), ("2027-07-21T13:30Z", .open), ("2027-07-21T19:59Z", .open), ("2027-07-21T20:00Z", .post),
        ("2027-07-24T15:00Z", .closed), ("2027-07-25T15:00Z", .closed),
    ])
    func `follows the clock on the exchange's wall`(_ at: String, _ state: MarketState) {
        #expect(newYork.hours(at: time(at)).state == state)
    }

    @Test func `opens at the same hour by its wall before and after the clocks change`() {
        // The last session in winter time, the first one in summer time, and back again: in New York on March 14 and November 7, 2027.
        #expect(hours(newYork, "2027-03-12T12:00Z").open == time("2027-03-12T14:30Z"))
        #expect(hours(newYork, "2027-03-13T12:00Z").open == time("2027-03-15T13:30Z"))
        #expect(hours(newYork, "2027-03-14T12:00Z").close == time("2027-03-15T20:00Z"))
        #expect(hours(newYork, "2027-11-05T12:00Z").open == time("2027-11-05T13:30Z"))
        #expect(hours(newYork, "2027-11-06T12:00Z").open == time("2027-11-08T14:30Z"))
        // In London on March 28 and October 31.
        #expect(hours(london, "2027-03-26T20:00Z").open == time("2027-03-29T07:00Z"))
        #expect(hours(london, "2027-03-25T20:00Z").open == time("2027-03-26T08:00Z"))
        #expect(hours(london, "2027-10-29T20:00Z").open == time("2027-11-01T08:00Z"))
        // Two weeks in spring in which the two are four hours apart.
        #expect(newYork.moment(CalendarDay("2027-03-22")!, minute: 570) - london.moment(CalendarDay("2027-03-22")!, minute: 570) == 4 * 3_600_000)
    }

    @Test func `shows each minute of a day on which the clocks change at one moment`() {
        let spring = CalendarDay("2027-03-14")!
        let autumn = CalendarDay("2027-11-07")!
        func moment(_ day: CalendarDay, _ hour: Int, _ minute: Int) -> Int64 { newYork.moment(day, minute: hour * 60 + minute) }
        #expect(moment(spring, 1, 59) == time("2027-03-14T06:59Z"))
        // Never shown: an hour later, as the clocks go.
        #expect(moment(spring, 2, 30) == time("2027-03-14T07:30Z"))
        #expect(moment(spring, 3, 0) == time("2027-03-14T07:00Z"))
        #expect(moment(autumn, 0, 59) == time("2027-11-07T04:59Z"))
        // Shown twice: the first time.
        #expect(moment(autumn, 1, 30) == time("2027-11-07T05:30Z"))
        #expect(moment(autumn, 2, 0) == time("2027-11-07T07:00Z"))
        #expect(moment(autumn, 24, 0) - moment(autumn, 0, 0) == 25 * 3_600_000)
        #expect(london.moment(CalendarDay("2027-10-31")!, minute: 90) == time("2027-10-31T00:30Z"))
        #expect(london.moment(CalendarDay("2027-03-28")!, minute: 90) == time("2027-03-28T01:30Z"))
        for day in -1...1 {
            #expect(newYork.day(at: moment(autumn.advanced(by: day), 0, 0)) == autumn.advanced(by: day))
            #expect(newYork.day(at: moment(autumn.advanced(by: day), 0, 0) - 1) == autumn.advanced(by: day - 1))
        }
    }

    @Test func `knows holidays and half days of three years`() {
        let holidays = [
            "2026-01-01", "2026-01-19", "2026-02-16", "2026-04-03", "2026-05-25", "2026-06-19", "2026-07-03", "2026-09-07", "2026-11-26",
            "2026-12-25", "2027-01-01", "2027-03-26", "2027-06-18", "2027-07-05", "2027-12-24", "2028-01-17", "2028-04-14", "2028-12-25",
        ]
        for holiday in holidays {
            #expect(newYork.tradingDay(CalendarDay(holiday)!) == nil, "\(holiday)")
            #expect(hours(newYork, holiday + "T16:00Z").0 == .closed, "\(holiday)")
        }
        #expect(newYork.closedDays.count == 29 && newYork.special.count == 5)
        #expect(newYork.closedDays.allSatisfy { $0.weekday < 5 } && newYork.special.keys.allSatisfy { $0.weekday < 5 })
        for (half, close) in [("2026-11-27", "2026-11-27T18:00Z"), ("2026-12-24", "2026-12-24T18:00Z"), ("2028-07-03", "2028-07-03T17:00Z")] {
            #expect(hours(newYork, half + "T15:00Z").close == time(close))
            #expect(newYork.hours(at: time(close)).state == .post)
            #expect(newYork.hours(at: time(close) + 4 * 3_600_000).state == .closed)
        }
        // Thanksgiving is followed by a half day, and that by a weekend.
        #expect(hours(newYork, "2026-11-25T22:00Z").open == time("2026-11-27T14:30Z"))
        #expect(hours(newYork, "2026-11-27T18:30Z").open == time("2026-11-30T14:30Z"))
    }

    @Test func `says until when its answer holds, and answers the same until then`() {
        var now = time("2027-03-12T00:00Z")
        let end = time("2027-03-17T00:00Z")
        var states: [MarketState] = []
        while now < end {
            let hours = newYork.hours(at: now)
            #expect(hours.from <= now && now < hours.until)
            for later in [(now + hours.until) / 2, hours.until - 1] {
                let again = newYork.hours(at: later)
                #expect(again.state == hours.state && again.until == hours.until && again.from <= later)
                #expect(again.nextOpen == hours.nextOpen && again.nextClose == hours.nextClose)
            }
            #expect(newYork.hours(at: hours.until).state != hours.state)
            states.append(hours.state)
            now = hours.until
        }
        let day: [MarketState] = [.closed, .pre, .open, .post]
        #expect(states == [.post] + day + day + day)
    }

    @Test func `tells the trading days that have begun`() {
        let monday = CalendarDay("2027-03-15")!
        #expect(newYork.latestSession(at: time("2027-03-15T13:30Z"))?.day == monday)
        // Before the bell the last regular session is Friday's, though Monday has begun.
        #expect(newYork.latestSession(at: time("2027-03-15T13:29Z"))?.day == CalendarDay("2027-03-12"))
        #expect(
            newYork.tradingDays(begunBy: time("2027-03-15T13:29Z"), count: 3).map(\.day.description) == ["2027-03-15", "2027-03-12", "2027-03-11"]
        )
        #expect(newYork.latestSession(at: time("2027-03-14T12:00Z"))?.closes == time("2027-03-12T21:00Z"))
    }

    @Test func `of a market that never closes has no next opening, and days of UTC`() throws {
        let sim = try #require(calendars[ExchangeCode("SIM")!])
        let now = time("2027-03-14T12:00Z")
        for calendar in [sim, .alwaysOpen] {
            let hours = calendar.hours(at: now)
            #expect(hours.state == .open && hours.nextOpen == nil && hours.nextClose == nil)
            #expect(hours.until - now > 30 * 86_400_000)
            #expect(calendar.isRoundTheClock)
            #expect(calendar.latestSession(at: now)?.opens == time("2027-03-14T00:00Z"))
        }
        #expect(!newYork.isRoundTheClock)
    }

    @Test func `counts days of the civil calendar`() {
        #expect(CalendarDay("1970-01-01")?.number == 0)
        #expect(CalendarDay("2028-02-29").map { $0.advanced(by: 1).description } == "2028-03-01")
        #expect(CalendarDay("2026-09-16")?.weekday == 2)
        #expect(CalendarDay(number: -1).description == "1969-12-31" && CalendarDay(number: -1).weekday == 2)
        for text in ["2027-02-29", "2026-13-01", "2026-1-01", "20260101", "2026-01-0x", ""] { #expect(CalendarDay(text) == nil, "\(text)") }
    }
}

@Suite struct `A file of calendars` {
    static let faults: [(String, Int, String)] = [
        ("", 1, "no exchange"),
        ("exchange XNYS", 1, "time zone"),
        ("exchange xnys America/New_York", 1, "'xnys'"),
        ("exchange XNYS America/New_Yrok", 1, "'America/New_Yrok'"),
        ("exchange XNYS EST", 1, "'EST'"),
        ("exchange XNYS GMT-5", 1, "'GMT-5'"),
        ("exchange A UTC\nhours OPEN 00:00-24:00\nexchange A UTC", 3, "twice"),
        ("\n\nexchange A UTC\nclosed SAT", 3, "no normal hours"),
        ("hours OPEN 09:30-16:00", 1, "which exchange"),
        ("closed SAT", 1, "which exchange"),
        ("exchange A UTC\nhours OPEN", 2, "with their times"),
        ("exchange A UTC\nhours LUNCH 09:30-16:00", 2, "'LUNCH'"),
        ("exchange A UTC\nhours OPEN 09:30-16:60", 2, "'09:30-16:60'"),
        ("exchange A UTC\nhours OPEN 16:00-09:30", 2, "'16:00-09:30'"),
        ("exchange A UTC\nhours OPEN 9:30-16:00", 2, "'9:30-16:00'"),
        ("exchange A UTC\nhours OPEN 00:00-24:01", 2, "'00:00-24:01'"),
        ("exchange A UTC\nhours OPEN 09:30-16:00 POST 15:59-20:00", 2, "before the session"),
        ("exchange A UTC\nhours PRE 09:30-16:00", 2, "no session is OPEN"),
        ("exchange A UTC\nhours OPEN 09:30-16:00\nhours OPEN 09:30-16:00", 3, "twice"),
        ("exchange A UTC\nhours OPEN 09:30-16:00\nclosed 2026-02-30", 3, "'2026-02-30'"),
        ("exchange A UTC\nhours OPEN 09:30-16:00\nclosed 2026-12-25 Christmas", 3, "'Christmas'"),
        ("exchange A UTC\nhours OPEN 09:30-16:00\nclosed 2026-12-25\nhours 2026-12-25 OPEN 09:30-13:00", 4, "twice"),
        ("exchange A UTC\nhours OPEN 09:30-16:00\nholiday 2026-12-25", 3, "'holiday'"),
    ]

    @Test(arguments: faults)
    func `is refused by its line and with what to write`(_ text: String, _ line: Int, _ words: String) {
        #expect {
            try MarketCalendars(text)
        } throws: { error in
            guard let fault = error as? MarketCalendars.Fault else { return false }
            #expect(fault.line == line, "\(fault)")
            #expect(fault.message.contains(words), "\(fault)")
            return true
        }
    }

    @Test func `may have remarks, blank lines and line ends of Windows`() throws {
        let calendars = try MarketCalendars("# all\r\n\r\nexchange A B UTC # two\r\nhours OPEN 09:30-16:00\t# day\r\nclosed SUN\r\n")
        #expect(calendars.exchanges.map(\.text) == ["A", "B"])
        #expect(calendars[ExchangeCode("B")!]?.closedWeekdays == [6])
        #expect(calendars[ExchangeCode("C")!] == nil)
    }
}
