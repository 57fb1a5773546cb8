import Foundation
import Quotes
import Testing
import Trading
import Wire

@testable import Gateway

private let newYork = MarketRoom.calendars[ExchangeCode("XNYS")!]!

private func time(_ text: String) -> Int64 { Int64(try! Date(text.replacing("Z", with: ":00Z"), strategy: .iso8601).timeIntervalSince1970) * 1_000 }

private func plan(_ query: HistoryQuery, _ at: String, _ calendar: MarketCalendar = newYork) -> HistoryPlan {
    HistoryPlan(query, calendar, at: time(at))
}

/// The minutes between two moments.
private func minutes(_ from: String, _ to: String) -> HistoryPlan.Kept { .minutes(time(from) / 60_000..<time(to) / 60_000) }

@Suite struct `What is read of a history` {
    private let day = HistoryQuery.line(.day, points: 300)
    private let year = HistoryQuery.line(.year, points: 300)

    @Test func `of a day begins with its first session, and holds until the next minute`() {
        let open = plan(day, "2027-11-09T15:30Z")
        #expect(open.interval == .minute && open.kept == minutes("2027-11-09T09:00Z", "2027-11-09T15:29Z"))
        #expect(open.asOf == time("2027-11-09T15:29Z") && open.expiresAt == time("2027-11-09T15:30Z") + HistoryPlan.settling)
        // Six seconds into a minute the one before is written.
        #expect(HistoryPlan(day, newYork, at: time("2027-11-09T15:30Z") + 6_000).asOf == time("2027-11-09T15:30Z"))
    }

    @Test func `of a day on which nothing is traded is that of the last one, and holds until the next session, an hour at most`() {
        let sunday = plan(day, "2027-11-14T15:30Z")
        #expect(sunday.kept == minutes("2027-11-12T09:00Z", "2027-11-13T01:00Z"))
        #expect(sunday.asOf == time("2027-11-13T01:00Z") && sunday.expiresAt == time("2027-11-14T16:30Z"))
        let early = plan(day, "2027-11-15T08:59Z")
        #expect(early.expiresAt == time("2027-11-15T09:00Z") && early.asOf == sunday.asOf)
    }

    @Test func `of several days counts trading days, and 24 hours each where a market never closes`() {
        // From Tuesday back over the weekend on which the clocks went back: to Wednesday, 04:00 in summer time.
        let five = plan(.candles(.fiveMinutes, .fiveDays), "2027-11-09T15:30Z")
        #expect(five.kept == minutes("2027-11-03T08:00Z", "2027-11-09T15:29Z"))
        #expect(plan(.candles(.fiveMinutes, .fiveDays), "2027-11-09T15:30Z", .alwaysOpen).kept == minutes("2027-11-04T15:29Z", "2027-11-09T15:29Z"))
        #expect(plan(day, "2027-11-09T15:30Z", .alwaysOpen).kept == minutes("2027-11-08T15:29Z", "2027-11-09T15:29Z"))
    }

    @Test func `of a year is made of days, the last one of its minutes so far`() {
        let open = plan(year, "2027-11-09T15:33Z")
        let today = CalendarDay("2027-11-09")!
        let session = time("2027-11-09T14:30Z") / 60_000..<time("2027-11-09T15:30Z") / 60_000
        #expect(open.kept == .days(today.advanced(by: -366)..<today.advanced(by: 1), last: today, lastMinutes: session))
        #expect(open.asOf == time("2027-11-09T15:30Z") && open.expiresAt == time("2027-11-09T15:35Z") + HistoryPlan.settling)
        // Before the bell nothing of the day is there yet.
        guard case .days(_, let last, _) = plan(year, "2027-11-09T14:00Z").kept else {
            Issue.record("a year is made of days")
            return
        }
        #expect(last == CalendarDay("2027-11-08"))
        // After the close it stands until the next opening.
        let over = plan(year, "2027-11-09T22:00Z")
        #expect(over.asOf == time("2027-11-09T21:00Z") && over.expiresAt == time("2027-11-09T23:00Z"))
        let all = plan(.line(.all, points: 2), "2027-11-09T22:00Z")
        #expect(
            all.kept
                == .days(
                    .earliest..<today.advanced(by: 1),
                    last: today,
                    lastMinutes: time("2027-11-09T14:30Z") / 60_000..<time("2027-11-09T21:00Z") / 60_000
                )
        )
    }

    @Test func `is with a delay what it was then, also of a day that has ended since`() {
        func late(_ query: HistoryQuery, _ at: String) -> HistoryPlan { HistoryPlan(query, newYork, at: time(at), delay: 900_000) }
        let open = late(day, "2027-11-09T15:30Z")
        #expect(open.kept == minutes("2027-11-09T09:00Z", "2027-11-09T15:14Z") && open.asOf == time("2027-11-09T15:14Z"))
        #expect(open.expiresAt == time("2027-11-09T15:30Z") + HistoryPlan.settling)
        // Ten minutes after the close the candle of the day is there; the minutes of a quarter of an hour ago are what may be shown of it.
        let today = CalendarDay("2027-11-09")!
        let closing = late(year, "2027-11-09T21:10Z")
        let session = time("2027-11-09T14:30Z") / 60_000..<time("2027-11-09T20:50Z") / 60_000
        #expect(closing.kept == .days(today.advanced(by: -366)..<today, last: today, lastMinutes: session))
        #expect(closing.asOf == time("2027-11-09T20:50Z"))
        guard case .days(let days, _, _) = late(year, "2027-11-09T21:20Z").kept else {
            Issue.record("a year is made of days")
            return
        }
        #expect(days.contains(today))
    }

    @Test func `is kept for those who ask the same while it is good, and not beyond its room`() {
        let shelf = HistoryShelf()
        let question = HistoryShelf.Question(symbol: .init("NVDA")!, query: day, isDelayed: false)
        func answer(_ bytes: Int, until end: Int64) -> HistoryShelf.Answer {
            .init(body: [UInt8](repeating: 1, count: bytes), tag: "t", expiresAt: end)
        }
        shelf.keep(answer(10, until: 100), to: question, at: 0)
        #expect(shelf.answer(question, at: 99)?.body.count == 10 && shelf.answer(question, at: 100) == nil)
        let other = HistoryShelf.Question(symbol: .init("AAPL")!, query: day, isDelayed: false)
        #expect(shelf.answer(other, at: 0) == nil)
        #expect(shelf.answer(.init(symbol: question.symbol, query: day, isDelayed: true), at: 99) == nil)
        // The clock was set back: it would be good for too long.
        #expect(shelf.answer(question, at: 99 - HistoryPlan.longestLife) == nil)
        // What is past makes room; what is good stays, and what finds none is not kept.
        shelf.keep(answer(HistoryShelf.capacity, until: 300), to: other, at: 100)
        #expect(shelf.answer(other, at: 200) != nil)
        shelf.keep(answer(10, until: 300), to: question, at: 200)
        #expect(shelf.answer(question, at: 200) == nil && shelf.answer(other, at: 200) != nil)
    }
}
