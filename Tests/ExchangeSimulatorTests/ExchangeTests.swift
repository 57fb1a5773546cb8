import ExchangeSimulator
import FIX
import Testing
import Trading

/// NVDA begins at 125.50 bid, 125.52 ask.
struct Floor {
    var exchange = Exchange()
    var time: Int64 = 1_773_648_000_000
    var number = 1

    /// Text of fields with `|` between them, MsgType first.
    func message(_ text: String) -> FIXMessage? {
        var message: FIXMessage?
        for field in text.split(separator: "|") {
            let parts = field.split(separator: "=", maxSplits: 1).map(String.init)
            if parts[0] == "35" {
                message = FIXMessage(MessageType(rawValue: parts[1]))
            } else if let tag = Int32(parts[0]) {
                message?.append(FIXTag(rawValue: tag), parts[1])
            }
        }
        return message
    }

    mutating func receive(_ text: String, possResend: Bool = false) -> [Report] {
        number += 1
        guard let message = message(text) else { return [] }
        return exchange.received(message, number: number, isPossResend: possResend, from: "ORDERS", at: time)
    }

    mutating func order(_ id: String, _ symbol: String = "NVDA", _ rest: String = "54=1|38=100|40=1|59=0") -> [Report] {
        receive("35=D|11=\(id)|1=acc_1|55=\(symbol)|\(rest)")
    }

    mutating func cancel(_ id: String, _ cancelID: String, possResend: Bool = false) -> [Report] {
        receive("35=F|11=\(cancelID)|41=\(id)|55=NVDA|54=1", possResend: possResend)
    }

    mutating func replace(_ id: String, _ replaceID: String, _ rest: String, _ symbol: String = "NVDA", possResend: Bool = false) -> [Report] {
        receive("35=G|11=\(replaceID)|41=\(id)|55=\(symbol)|54=1|\(rest)", possResend: possResend)
    }

    mutating func quote(_ bid: String, _ ask: String, symbol: String = "NVDA") throws -> [Report] {
        exchange.setQuote(symbol, Quote(bid: try #require(Amount(bid)), ask: try #require(Amount(ask))))
        return exchange.match(at: time)
    }
}

extension [Report] {
    /// ExecType, OrdStatus, LastQty@LastPx, CumQty/LeavesQty of each report, or MsgType and reason of what is no report.
    var told: [String] {
        map { report in
            let message = report.message
            func text(_ tag: FIXTag) -> String { message.string(tag) ?? "" }
            switch message.type {
            case .orderCancelReject: return "9 \(text(.cxlRejReason)) \(text(.ordStatus))"
            case .businessMessageReject: return "j \(text(.businessRejectReason))"
            default:
                let fill = message.has(.lastQty) ? " \(text(.lastQty))@\(text(.lastPx))" : ""
                return "\(text(.execType))\(text(.ordStatus))\(fill) \(text(.cumQty))/\(text(.leavesQty))"
            }
        }
    }
}

@Suite struct `The exchange` {
    @Test(arguments: [("54=1", "125.52"), ("54=2", "125.50")])
    func `fills a market order at the other side of the quote`(_ side: String, _ price: String) {
        var floor = Floor()
        let reports = floor.order("a", "NVDA", "\(side)|38=100|40=1|59=0")
        #expect(reports.told == ["00 0/100", "F2 100@\(price) 100/0"])
        #expect(reports.allSatisfy { $0.party == "ORDERS" && $0.due == floor.time && $0.fault == nil })
    }

    @Test func `reports every field that a bookkeeper needs`() {
        var floor = Floor()
        let message = floor.order("a", "NVDA", "54=1|38=100|40=2|44=130.00|59=1")[1].message
        let expected =
            "37=X1|11=a|17=E20260316-3|150=F|39=2|1=acc_1|55=NVDA|54=1|38=100|40=2|44=130.00|59=1|32=100|31=125.52|151=0|14=100|6=125.52"
            + "|60=20260316-08:00:00.000|75=20260316|"
        #expect(message.description == expected)
    }

    @Test(arguments: [
        ("54=1|40=2|44=125.52", "F2 100@125.52 100/0"), ("54=1|40=2|44=200.00", "F2 100@125.52 100/0"),
        ("54=2|40=2|44=125.50", "F2 100@125.50 100/0"), ("54=2|40=2|44=1", "F2 100@125.50 100/0"),
    ])
    func `fills a marketable limit at the quote, better than its limit`(_ terms: String, _ fill: String) {
        var floor = Floor()
        #expect(floor.order("a", "NVDA", terms + "|38=100|59=0").told == ["00 0/100", fill])
    }

    @Test func `lets other limits rest until the quote crosses them`() throws {
        var floor = Floor()
        #expect(floor.order("buy", "NVDA", "54=1|40=2|44=125.00|38=100|59=1").told == ["00 0/100"])
        #expect(floor.order("sell", "NVDA", "54=2|40=2|44=126.00|38=7|59=0").told == ["00 0/7"])
        #expect(try floor.quote("124.99", "125.01").told == [])
        #expect(try floor.quote("124.96", "124.98").told == ["F2 100@124.98 100/0"])
        #expect(try floor.quote("126.00", "126.02").told == ["F2 7@126.00 7/0"])
        #expect(floor.exchange.match(at: floor.time).told == [])
    }

    @Test func `keeps the order of arrival`() throws {
        var floor = Floor()
        for id in ["c", "a", "b"] { _ = floor.order(id, "NVDA", "54=1|40=2|44=125.00|38=1|59=1") }
        #expect(try floor.quote("124.96", "124.98").map { $0.message.string(.clOrdID) } == ["c", "a", "b"])
    }

    @Test func `triggers stops, which then are market or limit orders`() throws {
        var floor = Floor()
        #expect(floor.order("stop", "NVDA", "54=1|40=3|99=126.00|38=10|59=1").told == ["00 0/10"])
        #expect(floor.order("limit", "NVDA", "54=1|40=4|99=126.00|44=126.01|38=10|59=1").told == ["00 0/10"])
        #expect(floor.order("loss", "NVDA", "54=2|40=3|99=125.00|38=10|59=1").told == ["00 0/10"])
        #expect(try floor.quote("126.00", "126.02").told == ["F2 10@126.02 10/0"])
        // The stop-limit has triggered above its limit: it rests as a limit order, also below its stop.
        #expect(try floor.quote("125.88", "125.90").told == ["F2 10@125.90 10/0"])
        #expect(try floor.quote("124.90", "124.92").told == ["F2 10@124.90 10/0"])
    }

    @Test func `cancels what IOC and FOK leave unfilled`() {
        var floor = Floor()
        #expect(floor.order("a", "NVDA", "54=1|40=2|44=125.00|38=100|59=3").told == ["00 0/100", "44 0/0"])
        #expect(floor.order("b", "NVDA", "54=1|40=2|44=125.00|38=100|59=4").told == ["00 0/100", "44 0/0"])
        #expect(floor.order("c", "NVDA", "54=1|40=1|38=100|59=4").told == ["00 0/100", "F2 100@125.52 100/0"])
    }

    @Test func `expires DAY orders alone at the end of the day`() {
        var floor = Floor()
        _ = floor.order("day", "NVDA", "54=1|40=2|44=125.00|38=100|59=0")
        _ = floor.order("gtc", "NVDA", "54=1|40=2|44=125.00|38=100|59=1")
        let reports = floor.exchange.endDay(at: floor.time)
        #expect(reports.told == ["CC 0/0"])
        #expect(reports.map { $0.message.string(.clOrdID) } == ["day"])
        #expect(floor.exchange.endDay(at: floor.time).told == [])
    }

    @Test func `cancels an open order and names both requests`() {
        var floor = Floor()
        _ = floor.order("a", "NVDA", "54=1|40=2|44=125.00|38=100|59=1")
        let reports = floor.cancel("a", "a-c1")
        #expect(reports.told == ["44 0/0"])
        #expect(reports.first?.message.string(.clOrdID) == "a-c1")
        #expect(reports.first?.message.string(.origClOrdID) == "a")
        #expect(floor.cancel("a", "a-c2").told == ["9 0 4"])
        #expect(floor.cancel("a", "a-c1").told == ["9 6 4"])
        #expect(floor.cancel("a", "a-c1", possResend: true).told == ["I4 0/0"])
        #expect(floor.cancel("nobody", "x-c1").told == ["9 1 8"])
    }

    @Test func `answers status requests, also about orders that it never saw`() {
        var floor = Floor()
        _ = floor.order("a")
        let known = floor.receive("35=H|11=a|55=NVDA|54=1|790=q1")
        #expect(known.told == ["I2 100/0"])
        #expect(known.first?.message.string(.ordStatusReqID) == "q1")
        let unknown = floor.receive("35=H|11=z|55=NVDA|54=1|790=q2")
        #expect(unknown.told == ["I8 0/0"])
        #expect(unknown.first?.message.int(.ordRejReason) == 5)
        #expect(unknown.first?.message.string(.ordStatusReqID) == "q2")
    }

    @Test func `never executes a ClOrdID twice and tells of the second`() {
        var floor = Floor()
        #expect(floor.order("a").told == ["00 0/100", "F2 100@125.52 100/0"])
        let again = floor.order("a")
        #expect(again.told == ["88 0/0"])
        #expect(again.first?.message.int(.ordRejReason) == 6)
        #expect(floor.receive("35=D|11=a|55=NVDA|54=1|38=100|40=1|97=Y", possResend: true).told == ["I2 100/0"])
        #expect(floor.exchange.seen == ["a": 3])
        #expect(floor.exchange.doubles == ["a"])
        #expect(floor.exchange.orders["a"]?.cumQty == 100)
    }

    @Test func `takes an order with PossResend that it has not seen`() {
        var floor = Floor()
        #expect(floor.receive("35=D|11=a|55=NVDA|54=1|38=100|40=1|97=Y", possResend: true).told == ["00 0/100", "F2 100@125.52 100/0"])
        #expect(floor.exchange.doubles.isEmpty)
    }

    @Test func `rejects what it cannot trade`() {
        var floor = Floor()
        let unknown = floor.order("a", "NOSUCH")
        #expect(unknown.told == ["88 0/0"])
        #expect(unknown.first?.message.int(.ordRejReason) == 1)
        floor.exchange.settings.halted = ["NVDA"]
        #expect(floor.order("b").first?.message.int(.ordRejReason) == 2)
        #expect(floor.order("c", "NVDA.DUP").first?.message.int(.ordRejReason) == 2)
    }

    @Test(arguments: [
        "35=D|55=NVDA|54=1|38=100|40=1", "35=D|11=a|54=1|38=100|40=1", "35=D|11=a|55=NVDA|54=9|38=100|40=1", "35=D|11=a|55=NVDA|54=1|40=1",
        "35=D|11=a|55=NVDA|54=1|38=0|40=1", "35=D|11=a|55=NVDA|54=1|38=1.5|40=1", "35=D|11=a|55=NVDA|54=1|38=100|40=2",
        "35=D|11=a|55=NVDA|54=1|38=100|40=3|44=1", "35=D|11=a|55=NVDA|54=1|38=100|40=1|59=7", "35=F|11=c", "35=H|55=NVDA",
        "35=G|11=a-r1", "35=AF|585=7", "35=AF|584=m",
    ])
    func `refuses messages that it cannot read as a business matter`(_ text: String) {
        var floor = Floor()
        let reports = floor.receive(text)
        #expect(reports.told == ["j 5"])
        #expect(reports.first?.message.int(.refSeqNum) == 2)
        #expect(floor.exchange.orders.isEmpty)
    }

    @Test func `refuses message types that it does not serve`() {
        var floor = Floor()
        #expect(floor.receive("35=E|66=a").told == ["j 3"])
        #expect(floor.receive("35=j|45=1|380=0").told == [])
    }

    @Test func `keeps a resting order from filling while its symbol is halted`() throws {
        var floor = Floor()
        _ = floor.order("a", "NVDA", "54=1|40=2|44=125.00|38=100|59=1")
        floor.exchange.settings.halted = ["NVDA"]
        #expect(try floor.quote("124.96", "124.98").told == [])
        floor.exchange.settings.halted = []
        #expect(floor.exchange.match(at: floor.time).told == ["F2 100@124.98 100/0"])
    }
}

@Suite struct `A scenario` {
    @Test func `is named by a suffix or set for a symbol`() {
        var exchange = Exchange()
        #expect(exchange.scenario(of: "NVDA.REJ") == .reject)
        #expect(exchange.scenario(of: "BRK.B") == nil)
        #expect(exchange.quote(of: "BRK.B") != nil)
        #expect(exchange.quote(of: "BRK.B.REJ") == exchange.quote(of: "BRK.B"))
        #expect(exchange.quote(of: "NVDA.NONE") == nil)
        exchange.settings.scenarios["AAPL"] = .late
        #expect(exchange.scenario(of: "AAPL") == .late)
        #expect(Set(Scenario.allCases.map(\.summary)).count == Scenario.allCases.count)
        #expect(Scenario.allCases.allSatisfy { Symbol("NVDA." + $0.rawValue) != nil })
    }

    @Test func `rejects`() {
        var floor = Floor()
        #expect(floor.order("a", "NVDA.REJ").told == ["88 0/0"])
    }

    @Test func `fills in parts, one at each tick`() {
        var floor = Floor()
        #expect(floor.order("a", "NVDA.PART", "54=1|38=10|40=1|59=0").told == ["00 0/10", "F1 3@125.52 3/7"])
        #expect(floor.exchange.match(at: floor.time).told == ["F1 3@125.52 6/4"])
        #expect(floor.exchange.match(at: floor.time).told == ["F1 3@125.52 9/1"])
        #expect(floor.exchange.match(at: floor.time).told == ["F2 1@125.52 10/0"])
        #expect(floor.exchange.match(at: floor.time).told == [])
        #expect(floor.order("ioc", "NVDA.PART", "54=1|38=8|40=1|59=3").told == ["00 0/8", "F1 2@125.52 2/6", "44 2/0"])
        let parts = ["00 0/8", "F1 2@125.52 2/6", "F1 2@125.52 4/4", "F1 2@125.52 6/2", "F2 2@125.52 8/0"]
        #expect(floor.order("fok", "NVDA.PART", "54=1|38=8|40=1|59=4").told == parts)
    }

    @Test func `averages the prices of parts exactly`() throws {
        var floor = Floor()
        _ = floor.order("a", "NVDA.PART", "54=1|38=3|40=1|59=0")
        _ = try floor.quote("125.98", "126.00")
        _ = try floor.quote("125.98", "126.00")
        // (125.52 + 2 × 126.00) ÷ 3
        #expect(floor.exchange.orders["a"]?.averagePrice == Amount("125.84"))
    }

    @Test func `reports late, and a cancel as pending first`() {
        var floor = Floor()
        let reports = floor.order("a", "NVDA.LATE", "54=1|40=2|44=125.00|38=100|59=1")
        #expect(reports.map(\.due) == [floor.time + 3_000])
        let cancel = floor.cancel("a", "a-c1")
        #expect(cancel.told == ["66 0/100", "44 0/0"])
        #expect(cancel.map(\.due) == [floor.time, floor.time + 3_000])
    }

    @Test func `never answers, except status requests unless told otherwise`() {
        var floor = Floor()
        #expect(floor.order("a", "NVDA.MUTE").map(\.due) == [Report.never])
        #expect(floor.exchange.match(at: floor.time).told == [])
        let status = floor.receive("35=H|11=a|55=NVDA.MUTE|54=1")
        #expect(status.told == ["I0 0/100"])
        #expect(status.map(\.due) == [floor.time])
        floor.exchange.settings.answersStatusWhenMute = false
        #expect(floor.receive("35=H|11=a|55=NVDA.MUTE|54=1").told == [])
        #expect(floor.cancel("a", "a-c1").map(\.due) == [Report.never])
    }

    @Test func `breaks the connection before the first report alone`() {
        var floor = Floor()
        #expect(floor.order("a", "NVDA.DROP").map(\.fault) == [.breaksBefore, nil])
    }

    @Test func `sends each report twice under one ExecID`() {
        var floor = Floor()
        let reports = floor.order("a", "NVDA.DUP")
        #expect(reports.told == ["00 0/100", "00 0/100", "F2 100@125.52 100/0", "F2 100@125.52 100/0"])
        #expect(Set(reports.map { $0.message.string(.execID) }).count == 2)
    }

    @Test(arguments: [(100, "F2 110@125.52 110/0"), (1, "F2 2@125.52 2/0")])
    func `fills more than was ordered`(_ quantity: Int, _ fill: String) {
        var floor = Floor()
        #expect(floor.order("a", "NVDA.OVER", "54=1|38=\(quantity)|40=1|59=0").told == ["00 0/\(quantity)", fill])
    }

    @Test func `fills after the cancel is acknowledged`() {
        var floor = Floor()
        #expect(floor.order("a", "NVDA.LATEFILL").told == ["00 0/100"])
        #expect(floor.exchange.match(at: floor.time).told == [])
        #expect(floor.cancel("a", "a-c1").told == ["44 0/0", "F4 50@125.52 50/0"])
    }

    @Test(arguments: [("54=1", "150.624"), ("54=2", "100.40")])
    func `fills a fifth worse than the quote`(_ side: String, _ price: String) {
        var floor = Floor()
        #expect(floor.order("a", "NVDA.GAP", "\(side)|38=100|40=1|59=0").told == ["00 0/100", "F2 100@\(price) 100/0"])
    }

    @Test func `keeps limits even with a price gap`() {
        var floor = Floor()
        #expect(floor.order("a", "NVDA.GAP", "54=1|38=100|40=2|44=125.52|59=0").told == ["00 0/100", "F2 100@125.52 100/0"])
    }

    @Test func `rejects cancels`() {
        var floor = Floor()
        _ = floor.order("a", "NVDA.NOCXL", "54=1|40=2|44=125.00|38=100|59=1")
        #expect(floor.cancel("a", "a-c1").told == ["9 2 0"])
        #expect(floor.exchange.orders["a"]?.isOpen == true)
    }

    @Test func `swallows an order the first time that it comes`() {
        var floor = Floor()
        #expect(floor.order("a", "NVDA.LOST").told == [])
        #expect(floor.receive("35=H|11=a|55=NVDA.LOST|54=1").told == ["I8 0/0"])
        #expect(floor.receive("35=D|11=a|55=NVDA.LOST|54=1|38=5|40=1|97=Y", possResend: true).told == ["00 0/5", "F2 5@125.52 5/0"])
        #expect(floor.exchange.doubles.isEmpty)
    }

    @Test func `is silent for a while, also when it is asked, then speaks`() {
        var floor = Floor()
        #expect(floor.order("a", "NVDA.SILENT").map(\.due) == [floor.time + 3_000, floor.time + 3_000])
        #expect(floor.receive("35=H|11=a|55=NVDA.SILENT|54=1").map(\.due) == [floor.time + 3_000])
    }

    @Test func `acknowledges after the fill`() {
        var floor = Floor()
        let reports = floor.order("a", "NVDA.REORDER")
        #expect(reports.told == ["00 0/100", "F2 100@125.52 100/0"])
        #expect(reports.map(\.due) == [floor.time + 3_000, floor.time])
    }

    @Test func `takes a trade back and ends its order, or corrects it`() {
        var floor = Floor()
        #expect(floor.order("a", "NVDA.BUST").told == ["00 0/100", "F2 100@125.52 100/0", "H0 0@0.00 0/100", "44 0/0"])
        let reports = floor.order("b", "NVDA.CORR")
        #expect(reports.told == ["00 0/100", "F2 100@125.52 100/0", "G2 100@125.51 100/0"])
        #expect(reports[2].message.string(.execRefID) == reports[1].message.string(.execID))
        #expect(floor.exchange.orders["b"]?.averagePrice == Amount("125.51"))
    }
}
