import Foundation
import Quotes
import Synchronization
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

    /// A shelf, and what is made where it has nothing.
    private struct Shelved {
        let shelf = HistoryShelf()

        /// How many bytes the answer has, and whether it was made for this question.
        func ask(_ question: HistoryShelf.Question, at now: Int64, bytes: Int = 0, until end: Int64 = 0) async throws -> (bytes: Int, isNew: Bool) {
            let made = Mutex(false)
            let answer = try await shelf.answer(question, at: now) {
                made.withLock { $0 = true }
                return .init(body: [UInt8](repeating: 1, count: bytes), tag: "t", expiresAt: end)
            }
            return (answer.body.count, made.withLock { $0 })
        }
    }

    @Test func `is kept for those who ask the same while it is good, and not beyond its room`() async throws {
        let shelved = Shelved()
        let question = HistoryShelf.Question(symbol: .init("NVDA")!, query: day, isDelayed: false)
        #expect(try await shelved.ask(question, at: 0, bytes: 10, until: 100) == (10, true))
        #expect(try await shelved.ask(question, at: 99, bytes: 11) == (10, false))
        let other = HistoryShelf.Question(symbol: .init("AAPL")!, query: day, isDelayed: false)
        #expect(try await shelved.ask(other, at: 0).isNew)
        #expect(try await shelved.ask(.init(symbol: question.symbol, query: day, isDelayed: true), at: 99).isNew)
        // The clock was set back: it would be good for too long.
        #expect(try await shelved.ask(question, at: 99 - HistoryPlan.longestLife, bytes: 12, until: 100) == (12, true))
        #expect(try await shelved.ask(question, at: 100, bytes: 13, until: 100) == (13, true))
        // What is past makes room; what is good stays, and what finds none is not kept.
        #expect(try await shelved.ask(other, at: 100, bytes: HistoryShelf.capacity, until: 300).isNew)
        #expect(try await shelved.ask(other, at: 200).isNew == false)
        #expect(try await shelved.ask(question, at: 200, bytes: 10, until: 300) == (10, true))
        #expect(try await shelved.ask(question, at: 200, bytes: 10, until: 300).isNew)
        #expect(try await shelved.ask(other, at: 200).isNew == false)
    }

    private final class Tally: Sendable {
        let made = Atomic(0)
        let asked = Atomic(0)
    }

    @Test(arguments: [false, true]) func `is made once for all who ask the same at the same time`(_ fails: Bool) async throws {
        struct Failed: Error {}
        let shelf = HistoryShelf()
        let question = HistoryShelf.Question(symbol: .init("NVDA")!, query: day, isDelayed: false)
        let tally = Tally()
        let results = await withTaskGroup { group in
            for _ in 0..<50 {
                group.addTask {
                    tally.asked.add(1, ordering: .relaxed)
                    return try? await shelf.answer(question, at: 0) {
                        tally.made.add(1, ordering: .relaxed)
                        // Until all have asked; those behind come upon what is kept, or read a failure anew.
                        while tally.asked.load(ordering: .relaxed) < 50 { await Task.yield() }
                        for _ in 0..<1_000 { await Task.yield() }
                        if fails { throw Failed() }
                        return .init(body: [1, 2, 3], tag: "t", expiresAt: 100)
                    }.body
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results == Array(repeating: fails ? nil : [1, 2, 3], count: 50))
        #expect(fails ? tally.made.load(ordering: .relaxed) < 50 : tally.made.load(ordering: .relaxed) == 1)
        // A failure is nobody's answer later.
        #expect(try await shelf.answer(question, at: 1) { .init(body: [4], tag: "t", expiresAt: 100) }.body == (fails ? [4] : [1, 2, 3]))
    }
}
