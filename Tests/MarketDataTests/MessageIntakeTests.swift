import FIX
import Quotes
import Testing
import Trading

@testable import MarketData

/// A book and a FIX feed that speaks to it.
struct Caller {
    var book = Book()
    var intake = MessageIntake()
    var now: Int64 = 1_800_000_000_000

    mutating func say(_ message: FIXMessage) { intake.take(message, into: &book, at: now) }

    /// W with these prices; `number` is RptSeq.
    mutating func snapshot(_ bid: String, _ ask: String, number: Int? = nil, symbol: String = "NVDA", volume: Int? = nil, sent: String? = nil) {
        var message = FIXMessage("W")
        if let sent { message.append(.sendingTime, sent) }
        message.append(.symbol, symbol)
        message.append(.noMDEntries, volume == nil ? 3 : 4)
        for (type, price) in [("0", bid), ("1", ask), ("2", bid)] {
            message.append(.mdEntryType, type)
            message.append(.mdEntryPx, price)
            if let number { message.append(.rptSeq, number) }
        }
        if let volume {
            message.append(.mdEntryType, "B")
            message.append(.mdEntrySize, volume)
        }
        say(message)
    }

    /// X that changes some of the symbol.
    mutating func update(
        _ entries: (type: String, price: String)...,
        number: Int? = nil,
        symbol: String = "NVDA",
        action: Int = 1,
        time: String? = nil
    ) {
        var message = FIXMessage("X")
        message.append(.noMDEntries, entries.count)
        for entry in entries {
            message.append(.mdUpdateAction, action)
            message.append(.mdEntryType, entry.type)
            message.append(.symbol, symbol)
            if entry.type == "B" { message.append(.mdEntrySize, entry.price) } else if action != 2 { message.append(.mdEntryPx, entry.price) }
            if let time {
                message.append(.mdEntryDate, "20270115")
                message.append(.mdEntryTime, time)
            }
            if let number { message.append(.rptSeq, number) }
        }
        say(message)
    }

    mutating func status(_ status: Int) {
        var message = FIXMessage("f")
        message.append(.symbol, "NVDA")
        message.append(.securityTradingStatus, status)
        say(message)
    }

    var listing: Listing? { book.place(of: Symbol("NVDA")!).map { book.listing(at: $0) } }
    var quote: Quote? { listing?.quote }
    var prices: [String] { quote.map { ["\($0.bid)", "\($0.ask)"] } ?? [] }
}

@Suite struct `FIX market data` {
    @Test func `changes with X what W has said, and no more`() {
        var caller = Caller()
        caller.snapshot("100.00", "100.02", number: 1, volume: 500)
        caller.update(("1", "100.05"), number: 2)
        #expect(caller.prices == ["100.00", "100.05"])
        caller.update(("0", "100.01"), ("2", "100.02"), ("B", "700"), number: 3)
        #expect(caller.prices == ["100.01", "100.05"])
        #expect((caller.quote?.last, caller.quote?.volume) == (Amount("100.02"), 700))
        #expect(caller.quote?.sequence == 3)
    }

    @Test func `lets X wait for a first W, which they then go onto`() {
        var caller = Caller()
        caller.update(("0", "100.03"), number: 7)
        caller.update(("1", "100.09"), number: 8)
        #expect(caller.quote == nil)
        #expect(caller.intake.takeLacking() == [0])
        caller.snapshot("100.00", "100.05", number: 6)
        #expect(caller.prices == ["100.03", "100.09"])
    }

    @Test func `lets X wait behind a missing number until W has come, and leaves out what W knows`() {
        var caller = Caller()
        caller.snapshot("100.00", "100.02", number: 1)
        caller.update(("0", "100.01"), number: 3)
        caller.update(("1", "100.04"), number: 4)
        #expect(caller.prices == ["100.00", "100.02"])
        #expect(caller.listing?.isAwaitingSnapshot == true)
        #expect(caller.intake.takeLacking() == [0])
        #expect(caller.intake.waiting == [0])
        #expect((caller.book.counts.gaps, caller.book.counts.waiting) == (1, 1))
        // W knows number 3: its bid has moved on since, as number 5 will say.
        caller.snapshot("99.99", "100.03", number: 3)
        #expect(caller.prices == ["99.99", "100.04"])
        #expect(caller.listing?.isAwaitingSnapshot == false)
        caller.update(("0", "100.00"), number: 5)
        #expect(caller.prices == ["100.00", "100.04"])
    }

    @Test func `waits on where W comes from before the gap's end`() {
        var caller = Caller()
        caller.snapshot("100.00", "100.02", number: 1)
        caller.update(("0", "100.01"), number: 4)
        _ = caller.intake.takeLacking()
        caller.snapshot("100.00", "100.03", number: 2)
        #expect(caller.listing?.isAwaitingSnapshot == true)
        #expect(caller.intake.takeLacking() == [0])
        caller.snapshot("100.00", "100.04", number: 3)
        #expect(caller.prices == ["100.01", "100.04"])
        #expect(caller.listing?.isAwaitingSnapshot == false)
    }

    @Test func `drops X that was seen or is late, and W that is older`() {
        var caller = Caller()
        caller.snapshot("100.00", "100.02", number: 5)
        caller.update(("0", "99.00"), number: 5)
        caller.update(("0", "98.00"), number: 4)
        caller.snapshot("97.00", "97.02", number: 3)
        #expect(caller.prices == ["100.00", "100.02"])
        #expect((caller.book.counts.duplicates, caller.book.counts.late) == (1, 2))
    }

    @Test func `counts a W that differs under the same number as a repair`() {
        var caller = Caller()
        caller.snapshot("100.00", "100.02", number: 5)
        caller.snapshot("100.00", "100.02", number: 5)
        #expect(caller.book.counts.repairs == 0)
        caller.snapshot("100.01", "100.02", number: 5)
        #expect(caller.book.counts.repairs == 1)
        #expect(caller.prices == ["100.01", "100.02"])
    }

    @Test func `has no price on a side that was deleted, and trades on none`() {
        var caller = Caller()
        caller.snapshot("100.00", "100.02", number: 1)
        caller.update(("0", ""), number: 2, action: 2)
        #expect(Freshness().state(of: caller.listing!, at: caller.now) == .stale(.refused(RefusedPrice(.zero, maximumLead: 1_000))))
        caller.update(("0", "100.01"), number: 3, action: 0)
        #expect(Freshness().state(of: caller.listing!, at: caller.now) == .live)
    }

    @Test func `asks for a snapshot where a price cannot be read`() {
        var caller = Caller()
        caller.snapshot("100.00", "100.02", number: 1)
        caller.update(("0", "1e2"), number: 2)
        #expect(caller.intake.takeLacking() == [0])
        #expect(caller.intake.takeNotes().count == 1)
        #expect(caller.listing?.isAwaitingSnapshot == true)
        caller.snapshot("-1.00", "100.02", number: 2)
        #expect(caller.listing?.refused?.fault == .negative)
    }

    @Test func `takes unnumbered X in the session's order`() {
        var caller = Caller()
        caller.update(("0", "100.03"))
        caller.snapshot("100.00", "100.02")
        #expect(caller.prices == ["100.00", "100.02"])
        caller.update(("0", "100.01"))
        caller.update(("1", "100.03"))
        #expect(caller.prices == ["100.01", "100.03"])
        caller.intake.begin()
        caller.update(("0", "90.00"))
        #expect(caller.prices == ["100.01", "100.03"])
    }

    @Test(arguments: [(2, true), (18, true), (3, false), (17, false)]) func `halts and resumes with f`(_ status: Int, _ isHalted: Bool) {
        var caller = Caller()
        caller.snapshot("100.00", "100.02")
        caller.status(isHalted ? 3 : 2)
        caller.status(status)
        // 20 = unknown: says nothing.
        caller.status(20)
        #expect(caller.listing?.isHalted == isHalted)
    }

    @Test func `takes the time at which it was said, where that is known to the millisecond`() {
        var caller = Caller()
        caller.now = FIXTime.milliseconds(Array("20270115-10:00:10.000".utf8))!
        caller.snapshot("100.00", "100.02", number: 1, sent: "20270115-10:00:08.500")
        #expect(caller.quote?.age(at: caller.now) == 1_500)
        caller.snapshot("100.00", "100.02", number: 1, sent: "20270115-10:00:09")
        #expect(caller.quote?.age(at: caller.now) == 0)
        caller.now += 5_000
        caller.update(("0", "100.01"), number: 2, time: "10:00:14.200")
        #expect(caller.quote?.age(at: caller.now) == 800)
    }

    @Test func `of a venue whose clock is ahead is believed as far as is agreed upon, and otherwise says how far it is`() throws {
        var caller = Caller()
        caller.now = FIXTime.milliseconds(Array("20270115-10:00:10.000".utf8))!
        caller.snapshot("100.00", "100.02", number: 1, sent: "20270115-10:00:11.500")
        let refused = try #require(caller.listing)
        let why = "its newest price was not believed: its time is 1500 ms ahead of the router's clock, and more than 1000 ms are not believed"
        #expect(caller.prices.isEmpty && Freshness().state(of: refused, at: caller.now).reason == why)
        caller.book = Book(rules: Book.Rules(maximumLead: 2_000))
        caller.intake = MessageIntake()
        caller.snapshot("100.00", "100.02", number: 1, sent: "20270115-10:00:11.500")
        #expect(caller.prices == ["100.00", "100.02"] && caller.quote?.vouchedAt == caller.now)
    }
}
