import FIX
import Testing
import Trading

@testable import ExchangeSimulator

/// OrderCancelReplaceRequest by the order state change matrices of FIX 4.4 volume 4, appendix D. NVDA is 125.50 bid, 125.52 ask.
@Suite struct `A replace` {
    @Test func `changes the total and the prices, keeps the OrderID and chains the ClOrdIDs`() throws {
        var floor = Floor()
        let orderID = floor.order("a", "NVDA", "54=1|40=4|99=126.00|44=126.10|38=100|59=1").first?.message.string(.orderID)
        let reports = floor.replace("a", "a-r1", "40=4|99=126.50|44=126.60|38=60")
        #expect(reports.told == ["50 0/60"])
        let replaced = try #require(reports.first?.message)
        #expect(replaced.string(.clOrdID) == "a-r1" && replaced.string(.origClOrdID) == "a" && replaced.string(.orderID) == orderID)
        #expect(replaced.string(.orderQty) == "60" && replaced.string(.price) == "126.60" && replaced.string(.stopPx) == "126.50")
        let again = try #require(floor.replace("a-r1", "a-r2", "40=4|99=126.40|44=126.60|38=80").first?.message)
        #expect(again.string(.clOrdID) == "a-r2" && again.string(.origClOrdID) == "a-r1")
        // By its new stop it triggers; the report carries the last ClOrdID and names no other.
        let fill = try #require(try floor.quote("126.38", "126.40").first?.message)
        #expect(fill.string(.clOrdID) == "a-r2" && !fill.has(.origClOrdID) && fill.string(.orderID) == orderID)
        #expect(floor.exchange.orders["a"]?.cumQty == 80)
    }

    @Test func `counts what is filled and leaves the rest of the new total`() throws {
        var floor = Floor()
        _ = floor.order("a", "NVDA.PART", "54=1|38=160|40=2|44=126.00|59=1")
        #expect(floor.replace("a", "a-r1", "40=2|44=125.00|38=60", "NVDA.PART").told == ["51 40/20"])
        _ = try floor.quote("124.96", "124.98")
        #expect(floor.exchange.orders["a"]?.cumQty == 55)
    }

    @Test(arguments: [40, 30]) func `to what is filled or less takes the balance away: the order is filled`(_ quantity: Int) {
        var floor = Floor()
        _ = floor.order("a", "NVDA.PART", "54=1|38=160|40=2|44=126.00|59=1")
        let reports = floor.replace("a", "a-r1", "40=2|44=126.00|38=\(quantity)", "NVDA.PART")
        #expect(reports.told == ["52 40/0"])
        #expect(reports.first?.message.string(.orderQty) == "40")
        #expect(floor.exchange.match(at: floor.time).told == [])
        #expect(floor.cancel("a-r1", "a-c1").told == ["9 0 2"])
    }

    @Test func `to a price that the quote meets is replaced, then filled`() {
        var floor = Floor()
        _ = floor.order("a", "NVDA", "54=1|38=100|40=2|44=125.00|59=1")
        #expect(floor.replace("a", "a-r1", "40=2|44=126.00|38=100").told == ["50 0/100", "F2 100@125.52 100/0"])
    }

    @Test func `is refused by OrderCancelReject in response to a replace`() {
        var floor = Floor()
        #expect(floor.replace("z", "z-r1", "40=1|38=1").told == ["9 1 8"])
        _ = floor.order("a", "NVDA", "54=1|38=100|40=2|44=125.00|59=1")
        let unfit = ["40=2|44=125.00|38=0", "40=2|44=125.00", "40=2|38=100", "40=1|38=100", "40=2|44=-1|38=100", "40=2|44=125.00|38=1.5"]
        for (number, terms) in unfit.enumerated() {
            #expect(floor.replace("a", "a-x\(number)", terms).told == ["9 99 0"], "\(terms)")
        }
        #expect(floor.replace("a", "a-r1", "40=2|44=125.00|38=100", "AAPL").told == ["9 99 0"])
        #expect(floor.replace("a", "a", "40=2|44=125.00|38=100").told == ["9 6 0"])
        #expect(floor.replace("a", "a-r2", "40=2|44=124.00|38=90").told == ["50 0/90"])
        #expect(floor.replace("a", "a-r2", "40=2|44=123.00|38=80").told == ["9 6 0"])
        #expect(floor.replace("a", "a-r2", "40=2|44=123.00|38=80", possResend: true).told == ["I0 0/90"])
        #expect(floor.cancel("a", "a-c1").told == ["44 0/0"])
        let late = floor.replace("a-r2", "a-r3", "40=2|44=123.00|38=80")
        #expect(late.told == ["9 0 4"])
        #expect(late.first?.message.int(.cxlRejResponseTo) == 2)
        #expect(floor.cancel("a", "a-c2").first?.message.int(.cxlRejResponseTo) == 1)
    }

    @Test func `does not bring a filled order back`() {
        var floor = Floor()
        _ = floor.order("a")
        #expect(floor.replace("a", "a-r1", "40=1|38=200").told == ["9 0 2"])
    }

    @Test func `by scenario is refused, comes late, or crosses a fill`() {
        var floor = Floor()
        let rest = "54=1|38=100|40=2|44=125.00|59=1"
        _ = floor.order("a", "NVDA.NOREPL", rest)
        #expect(floor.replace("a", "a-r1", "40=2|44=125.00|38=50", "NVDA.NOREPL").told == ["9 2 0"])
        _ = floor.order("b", "NVDA.LATE", rest)
        let late = floor.replace("b", "b-r1", "40=2|44=125.00|38=50", "NVDA.LATE")
        #expect(late.told == ["EE 0/100", "50 0/50"])
        #expect(late.map(\.due) == [floor.time, floor.time + 3_000])
        #expect(late.first?.message.string(.clOrdID) == "b-r1")
        _ = floor.order("c", "NVDA.CROSS", rest)
        #expect(floor.replace("c", "c-r1", "40=2|44=125.00|38=80", "NVDA.CROSS").told == ["F1 50@125.00 50/50", "51 50/30"])
        #expect(floor.replace("c-r1", "c-r2", "40=2|44=125.00|38=60", "NVDA.CROSS").told == ["F1 15@125.00 65/15", "52 65/0"])
        _ = floor.order("d", "NVDA.CROSS", rest)
        #expect(floor.cancel("d", "d-c1").told == ["F1 50@125.00 50/50", "44 50/0"])
        _ = floor.order("e", "NVDA.TOOLATE", rest)
        #expect(floor.replace("e", "e-r1", "40=2|44=125.00|38=80", "NVDA.TOOLATE").told == ["F2 100@125.00 100/0", "9 0 2"])
        _ = floor.order("f", "NVDA.TOOLATE", rest)
        #expect(floor.cancel("f", "f-c1").told == ["F2 100@125.00 100/0", "9 0 2"])
    }
}

@Suite struct `A status request` {
    @Test func `finds a replaced order by either ClOrdID`() {
        var floor = Floor()
        _ = floor.order("a", "NVDA", "54=1|38=100|40=2|44=125.00|59=1")
        _ = floor.replace("a", "a-r1", "40=2|44=125.00|38=50")
        for id in ["a", "a-r1"] {
            let answer = floor.receive("35=H|11=\(id)|55=NVDA|54=1")
            #expect(answer.told == ["I0 0/50"])
            #expect(answer.first?.message.string(.clOrdID) == "a-r1")
            #expect(answer.first?.message.string(.origClOrdID) == "a")
        }
    }

    @Test func `for all orders gets one report for each, numbered, the last one marked`() {
        var floor = Floor()
        for id in ["c", "a", "b"] { _ = floor.order(id) }
        _ = floor.order("d", "AAPL", "54=2|38=5|40=2|44=300.00|59=1")
        let reports = floor.receive("35=AF|584=m1|585=7")
        #expect(reports.told == ["I2 100/0", "I2 100/0", "I2 100/0", "I0 0/5"])
        #expect(reports.map { $0.message.string(.clOrdID) } == ["c", "a", "b", "d"])
        #expect(reports.allSatisfy { $0.message.string(.massStatusReqID) == "m1" && $0.message.int(.totNumReports) == 4 })
        #expect(reports.map { $0.message.flag(.lastRptRequested) } == [false, false, false, true])
        #expect(floor.receive("35=AF|584=m2|585=1|55=AAPL").told == ["I0 0/5"])
        #expect(floor.receive("35=AF|584=m3|585=7|54=2").told == ["I0 0/5"])
        #expect(floor.receive("35=AF|584=m4|585=7|1=acc_1").count == 4)
        #expect(floor.receive("35=AF|584=m5|585=9").told == ["j 0"])
    }

    @Test func `for all orders where there is none says so`() {
        var floor = Floor()
        let reports = floor.receive("35=AF|584=m1|585=7")
        #expect(reports.told == ["I8 0/0"])
        #expect(reports.first?.message.int(.totNumReports) == 0)
        #expect(reports.first?.message.flag(.lastRptRequested) == true)
    }
}

/// The matrix "filled order, followed by correction and cancellation of executions" and "a cancelled order followed by a busted execution".
@Suite struct `A trade` {
    private func venue() throws -> SimulatedVenue {
        var configuration = SimulatedVenue.Configuration()
        configuration.frozen = true
        return try SimulatedVenue(configuration, log: { _ in })
    }

    private func place(_ id: String, _ symbol: String, _ rest: String, at venue: SimulatedVenue) throws {
        let floor = Floor()
        let message = try #require(floor.message("35=D|11=\(id)|55=\(symbol)|\(rest)"))
        try venue.change { state, now throws(SimulatorError) in
            let reports = state.exchange.received(message, number: 2, isPossResend: false, from: "ORDERS", at: now)
            try state.record(reports, [], at: now)
        }
    }

    @Test func `that is taken back opens the order again, and one that is corrected changes its sums`() throws {
        let venue = try venue()
        try place("a", "NVDA.PART", "54=1|38=4|40=1|59=1", at: venue)
        try venue.tick()
        #expect(venue.trades(of: "a").map(\.quantity) == [1, 1])
        for _ in 0..<2 { try venue.tick() }
        #expect(venue.order("a")?.status == "2")
        let trades = venue.trades(of: "a")
        try venue.bust(trades[0].execID)
        #expect(venue.order("a")?.status == "1" && venue.order("a")?.cumQty == 3 && venue.order("a")?.leavesQty == 1)
        try venue.correct(trades[1].execID, quantity: 1, price: #require(Amount("100.00")))
        #expect(venue.order("a")?.averagePrice == Amount("117.0133"))
        let corrected = try #require(venue.trades(of: "a").first)
        #expect(corrected.price == Amount("100.00") && corrected.execID != trades[1].execID)
        // A correction is corrected by its own ExecID; what was superseded or taken back cannot be touched again.
        for gone in [trades[0].execID, trades[1].execID, "nobody"] {
            #expect(throws: SimulatorError.self) { try venue.bust(gone) }
        }
        try venue.correct(corrected.execID, quantity: 2, price: #require(Amount("110.00")))
        #expect(venue.order("a")?.status == "2" && venue.order("a")?.cumQty == 4)
        let told = venue.waitingReports(to: "ORDERS").suffix(3)
        #expect(told.compactMap { $0.string(.execType) } == ["H", "G", "G"])
        #expect(told.compactMap { $0.string(.execRefID) } == [trades[0].execID, trades[1].execID, corrected.execID])
        #expect(told.first?.string(.lastQty) == "0")
    }

    @Test func `that was corrected or taken back stands so also when its reports are told again`() throws {
        let venue = try venue()
        try place("a", "NVDA.PART", "54=1|38=4|40=1|59=1", at: venue)
        for _ in 0..<3 { try venue.tick() }
        let trades = venue.trades(of: "a")
        try venue.bust(trades[0].execID)
        try venue.correct(trades[1].execID, quantity: 1, price: #require(Amount("100.00")))
        let standing = venue.trades(of: "a")
        let told = venue.waitingReports(to: "ORDERS")
        try venue.change { state, now throws(SimulatorError) in
            try state.record(told.map { Report(party: "ORDERS", message: $0, due: now) }, [], at: now)
        }
        #expect(venue.waitingReports(to: "ORDERS").count == 2 * told.count)
        #expect(venue.trades(of: "a") == standing)
        for gone in [trades[0].execID, trades[1].execID] {
            #expect(throws: SimulatorError.self) { try venue.bust(gone) }
        }
    }

    @Test func `that is taken back leaves a cancelled order cancelled`() throws {
        let venue = try venue()
        try place("a", "NVDA.PART", "54=1|38=8|40=1|59=3", at: venue)
        try venue.bust(try #require(venue.trades(of: "a").first).execID)
        #expect(venue.order("a")?.status == "4" && venue.order("a")?.cumQty == 0 && venue.order("a")?.leavesQty == 0)
    }
}
