import Testing
import Trading
import Wire

@Suite struct `An answer about a stock` {
    private let symbol = Symbol("F")!

    @Test func `writes money as strings and what is not known as null`() {
        let quote = QuoteView(
            symbol: symbol,
            sequence: 0,
            price: nil,
            bid: nil,
            ask: nil,
            volume: nil,
            changedAt: nil,
            asOf: nil,
            ageMilliseconds: nil,
            marketState: "PRE",
            state: "STALE",
            reason: "none",
            isDelayed: false
        )
        let view = StockView(
            symbol: symbol,
            name: "Ford \"Motor\"",
            exchange: nil,
            marketState: "PRE",
            nextOpen: 5,
            nextClose: nil,
            open: nil,
            high: nil,
            low: nil,
            previousClose: Amount("12"),
            change: Amount(units: -5_000),
            changePercent: Amount(units: -41_700),
            volume: nil,
            quote: quote
        )
        let text = String(decoding: view.body(serverTime: 9), as: UTF8.self)
        #expect(text.hasPrefix(#"{"symbol":"F","name":"Ford \"Motor\"","exchange":null,"price":null,"bid":null,"ask":null,"#))
        #expect(
            text.contains(#""open":null,"high":null,"low":null,"previous_close":"12.00","change":"-0.50","change_percent":"-4.17","volume":null"#)
        )
        #expect(text.contains(#""market_state":"PRE","next_open":5,"next_close":null"#) && text.hasSuffix(#""server_time":9}"#))
    }

    @Test func `draws a history with the day of days, and marks what is not over`() {
        let one = Amount("1")!
        func point(_ day: String?, _ isUnfinished: Bool) -> HistoryAnswer.Point {
            HistoryAnswer.Point(at: 7, day: day, open: one, high: one, low: one, close: one, volume: 3, isUnfinished: isUnfinished)
        }
        let answer = HistoryAnswer(
            symbol: symbol,
            range: nil,
            period: .month,
            interval: .day,
            points: [point("2026-09-16", false), point(nil, true)],
            source: "feed",
            downsampled: .lttb,
            asOf: 8,
            isDelayed: true
        )
        #expect(
            String(decoding: answer.body, as: UTF8.self)
                == #"{"symbol":"F","range":null,"period":"1mo","interval":"1d","points":["#
                + #"{"t":7,"day":"2026-09-16","open":"1.00","high":"1.00","low":"1.00","close":"1.00","volume":3},"#
                + #"{"t":7,"open":"1.00","high":"1.00","low":"1.00","close":"1.00","volume":3,"unfinished":true}],"#
                + #""source":"feed","downsampled":"lttb","as_of":8,"entitlement":"DELAYED"}"#
        )
    }
}

@Suite struct `A question about history` {
    private func line(_ text: String) throws -> HistoryQuery {
        try HistoryQuery.readLine(QueryParameters(text, expecting: HistoryQuery.lineParameters))
    }

    private func candles(_ text: String) throws -> HistoryQuery {
        try HistoryQuery.readCandles(QueryParameters(text, expecting: HistoryQuery.candleParameters))
    }

    @Test func `is a line or candles`() throws {
        #expect(try line("range=1D") == .line(.day, points: 300))
        #expect(try line("range=MAX&points=2000") == .line(.all, points: 2_000))
        for interval in HistoryInterval.allCases {
            for period in HistoryPeriod.allCases {
                let text = "interval=\(interval.rawValue)&period=\(period.rawValue)"
                if interval.periods.contains(period) {
                    #expect(try candles(text) == .candles(interval, period))
                } else {
                    #expect(throws: Problem.self) { try candles(text) }
                }
            }
        }
    }

    @Test(arguments: ["", "range=", "range=1d", "range=5D", "range=1D&points=0", "range=1D&points=1.5", "range=1D&interval=1m"])
    func `is refused where it is neither`(_ text: String) {
        #expect(throws: Problem.self) { try line(text) }
    }
}
