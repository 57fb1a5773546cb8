import Testing
import Trading
import Wire

@Suite struct `A quote` {
    private let quote = QuoteView(
        symbol: Symbol("NVDA")!,
        sequence: 42,
        price: nil,
        bid: Amount("125.49"),
        ask: Amount("125.5025"),
        volume: 700,
        changedAt: 1_773_647_999_000,
        asOf: 1_773_647_999_800,
        ageMilliseconds: 320,
        marketState: "OPEN",
        state: "STALE",
        reason: "x",
        isDelayed: false
    )

    @Test func `is a list of strings for whoever asks`() {
        #expect(
            text(QuoteView.listBody([quote], serverTime: 5))
                == #"{"quotes":[{"symbol":"NVDA","price":null,"bid":"125.49","ask":"125.5025","volume":700,"seq":42,"as_of":1773647999800,"#
                + #""age_ms":320,"marketState":"OPEN","state":"STALE","reason":"x","entitlement":"REALTIME","serverTime":5}],"server_time":5}"#
        )
    }

    @Test func `is numbers in the events of a stream`() {
        #expect(
            text(quote.tick)
                == #"{"symbol":"NVDA","price":null,"bid":125.49,"ask":125.5025,"volume":700,"seq":42,"at":1773647999000}"#
        )
        #expect(
            text(quote.market(at: 9, nextOpen: nil, nextClose: 10))
                == #"{"symbol":"NVDA","marketState":"OPEN","state":"STALE","reason":"x","as_of":1773647999800,"#
                + #""next_open":null,"next_close":10,"at":9}"#
        )
        #expect(text(quote.snapshot(serverTime: 9)).hasPrefix(#"{"symbol":"NVDA","price":null,"bid":125.49,"#))
    }
}

@Suite struct `A request on a WebSocket` {
    private func read(_ text: String) throws(Problem) -> SocketRequest { try SocketRequest.read(Array(text.utf8), symbolLimit: 3) }

    @Test func `names an action, a channel and what that needs`() throws {
        let nvda = Symbol("NVDA")!
        let account = AccountID("acc_1")!
        let watch = try read(#"{"action":"subscribe","channel":"stock-prices","symbols":["NVDA"],"rate_ms":5000,"id":"7"}"#)
        #expect(watch == SocketRequest(action: .watch([nvda], rateMilliseconds: 5_000), id: "7"))
        #expect(try read(#"{"action":"unsubscribe","channel":"stock-prices"}"#).action == .unwatch(nil))
        #expect(try read(#"{"action":"unsubscribe","channel":"stock-prices","symbols":["NVDA"]}"#).action == .unwatch([nvda]))
        #expect(
            try read(#"{"action":"subscribe","channel":"order-updates","account_id":"acc_1","last_event_id":"1-2"}"#).action
                == .follow(.orders, account, lastEventID: "1-2")
        )
        #expect(try read(#"{"action":"subscribe","channel":"portfolio-updates"}"#).action == .follow(.portfolio, nil, lastEventID: nil))
        #expect(try read(#"{"action":"unsubscribe","channel":"order-updates"}"#).action == .unfollow(.orders, nil))
        #expect(try read(#"{"action":"ping"}"#).action == .ping)
        #expect(try read(#"{"action":"ping","symbols":null}"#).action == .ping)
    }

    @Test(arguments: [
        "", "7", "[]", #"{"action":"dance"}"#, #"{"action":7}"#, #"{"channel":"stock-prices"}"#, #"{"action":"subscribe"}"#,
        #"{"action":"subscribe","channel":"weather"}"#, #"{"action":"subscribe","channel":"stock-prices"}"#,
        #"{"action":"subscribe","channel":"stock-prices","symbols":[]}"#, #"{"action":"subscribe","channel":"stock-prices","symbols":"NVDA"}"#,
        #"{"action":"subscribe","channel":"stock-prices","symbols":["nvda"]}"#, #"{"action":"subscribe","channel":"stock-prices","symbols":[1]}"#,
        #"{"action":"subscribe","channel":"stock-prices","symbols":["A","B","C","D"]}"#,
        #"{"action":"subscribe","channel":"stock-prices","symbols":["A"],"rate_ms":99}"#,
        #"{"action":"subscribe","channel":"stock-prices","symbols":["A"],"rate_ms":"500"}"#,
        #"{"action":"subscribe","channel":"stock-prices","symbols":["A"],"speed":1}"#,
        #"{"action":"subscribe","channel":"order-updates","account_id":"a b"}"#, #"{"action":"ping","id":7}"#,
        #"{"action":"ping","action":"ping"}"#,
        // What means something elsewhere and nothing here.
        #"{"action":"ping","channel":"stock-prices"}"#, #"{"action":"ping","symbols":["A"]}"#,
        #"{"action":"subscribe","channel":"stock-prices","symbols":["A"],"account_id":"acc_1"}"#,
        #"{"action":"subscribe","channel":"stock-prices","symbols":["A"],"last_event_id":"1-2"}"#,
        #"{"action":"unsubscribe","channel":"stock-prices","symbols":["A"],"rate_ms":500}"#,
        #"{"action":"subscribe","channel":"order-updates","symbols":["A"]}"#, #"{"action":"subscribe","channel":"order-updates","rate_ms":500}"#,
        #"{"action":"unsubscribe","channel":"order-updates","last_event_id":"1-2"}"#,
        #"{"action":"subscribe","channel":"portfolio-updates","last_event_id":"1-2"}"#,
        #"{"action":"subscribe","channel":"portfolio-updates","symbols":["A"]}"#,
        #"{"action":"unsubscribe","channel":"portfolio-updates","rate_ms":500}"#,
    ])
    func `that makes no sense is refused with what is taken`(_ text: String) {
        #expect { try read(text) } throws: { error in
            guard let problem = error as? Problem else { return false }
            return [.malformedRequest, .invalidField].contains(problem.code) && !problem.detail.isEmpty
        }
    }
}
