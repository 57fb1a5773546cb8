package import Trading

/// Everything that is known of a symbol now: the answer of `GET /v1/stocks/<symbol>`. Money as strings, absent = null.
package struct StockView: Hashable, Sendable {
    package let symbol: Symbol
    package let name: String
    package let exchange: String?
    /// PRE, OPEN, POST, CLOSED or HALTED.
    package let marketState: String
    /// Of the regular session, ms since the epoch.
    package let nextOpen: Int64?
    package let nextClose: Int64?
    /// Of the regular session at hand, or else of the last one.
    package let open: Amount?
    package let high: Amount?
    package let low: Amount?
    /// Of the trading day before the one at hand.
    package let previousClose: Amount?
    package let change: Amount?
    /// Two decimals, rounded half to even; negative where it fell.
    package let changePercent: Amount?
    /// Shares traded today as the feed counts them.
    package let volume: Int64?
    /// Price, age and state, as `/v1/quotes` tells them.
    package let quote: QuoteView

    package init(
        symbol: Symbol,
        name: String,
        exchange: String?,
        marketState: String,
        nextOpen: Int64?,
        nextClose: Int64?,
        open: Amount?,
        high: Amount?,
        low: Amount?,
        previousClose: Amount?,
        change: Amount?,
        changePercent: Amount?,
        volume: Int64?,
        quote: QuoteView
    ) {
        self.symbol = symbol
        self.name = name
        self.exchange = exchange
        self.marketState = marketState
        self.nextOpen = nextOpen
        self.nextClose = nextClose
        self.open = open
        self.high = high
        self.low = low
        self.previousClose = previousClose
        self.change = change
        self.changePercent = changePercent
        self.volume = volume
        self.quote = quote
    }

    package func body(serverTime: Int64) -> [UInt8] {
        var json = JSONWriter(reservingBytes: 640)
        json.beginObject()
        json.member("symbol", symbol.text)
        json.member("name", name)
        json.member("exchange", exchange)
        json.member("price", quote.price, as: .string)
        json.member("bid", quote.bid, as: .string)
        json.member("ask", quote.ask, as: .string)
        json.member("open", open, as: .string)
        json.member("high", high, as: .string)
        json.member("low", low, as: .string)
        json.member("previous_close", previousClose, as: .string)
        json.member("change", change, as: .string)
        json.member("change_percent", changePercent, as: .string)
        json.member("volume", volume)
        json.member("market_state", marketState)
        json.member("next_open", nextOpen)
        json.member("next_close", nextClose)
        json.member("seq", quote.sequence)
        json.member("as_of", quote.asOf)
        json.member("age_ms", quote.ageMilliseconds)
        json.member("state", quote.state)
        json.member("reason", quote.reason)
        json.member("entitlement", quote.entitlement)
        json.member("server_time", serverTime)
        json.endObject()
        return json.bytes
    }
}

/// A symbol that a search has found.
package struct SymbolView: Hashable, Sendable {
    package let symbol: Symbol
    package let name: String
    package let exchange: String?

    package init(symbol: Symbol, name: String, exchange: String?) {
        self.symbol = symbol
        self.name = name
        self.exchange = exchange
    }

    /// `{"symbols":[{"symbol","name","exchange"},…]}`, the best first.
    package static func listBody(_ symbols: [SymbolView]) -> [UInt8] {
        var json = JSONWriter(reservingBytes: 32 + symbols.count * 96)
        json.beginObject()
        json.name("symbols")
        json.beginArray()
        for view in symbols {
            json.beginObject()
            json.member("symbol", view.symbol.text)
            json.member("name", view.name)
            json.member("exchange", view.exchange)
            json.endObject()
        }
        json.endArray()
        json.endObject()
        return json.bytes
    }
}

/// A stretch of a symbol's history: the answer of both history routes. Money as strings.
package struct HistoryAnswer: Hashable, Sendable {
    package struct Point: Hashable, Sendable {
        /// Where it begins, ms since the epoch.
        package let at: Int64
        /// `yyyy-mm-dd`, of a whole trading day.
        package let day: String?
        package let open: Amount
        package let high: Amount
        package let low: Amount
        package let close: Amount
        package let volume: Int64
        /// The day is not over: what it holds may still change.
        package let isUnfinished: Bool

        package init(at: Int64, day: String?, open: Amount, high: Amount, low: Amount, close: Amount, volume: Int64, isUnfinished: Bool) {
            self.at = at
            self.day = day
            self.open = open
            self.high = high
            self.low = low
            self.close = close
            self.volume = volume
            self.isUnfinished = isUnfinished
        }
    }

    /// How a line of many points became one of few.
    package enum Downsampling: String, Sendable {
        case lttb
        case none
    }

    package let symbol: Symbol
    /// What was asked for: one of the two is nil.
    package let range: HistoryRange?
    package let period: HistoryPeriod?
    package let interval: HistoryInterval
    package let points: [Point]
    /// Where the candles come from: feed, loaded, simulated, or several of them joined by +; nil where there are none.
    package let source: String?
    package let downsampled: Downsampling
    /// Up to when it holds, ms since the epoch: the end of the newest candle that there could be.
    package let asOf: Int64
    /// Fifteen minutes old, for tokens that may see no newer prices.
    package let isDelayed: Bool

    package init(
        symbol: Symbol,
        range: HistoryRange?,
        period: HistoryPeriod?,
        interval: HistoryInterval,
        points: [Point],
        source: String?,
        downsampled: Downsampling,
        asOf: Int64,
        isDelayed: Bool
    ) {
        self.symbol = symbol
        self.range = range
        self.period = period
        self.interval = interval
        self.points = points
        self.source = source
        self.downsampled = downsampled
        self.asOf = asOf
        self.isDelayed = isDelayed
    }

    package var body: [UInt8] {
        var json = JSONWriter(reservingBytes: 192 + points.count * 128)
        json.beginObject()
        json.member("symbol", symbol.text)
        json.member("range", range?.rawValue)
        json.member("period", period?.rawValue)
        json.member("interval", interval.rawValue)
        json.name("points")
        json.beginArray()
        for point in points {
            json.beginObject()
            json.member("t", point.at)
            if let day = point.day { json.member("day", day) }
            json.member("open", point.open, as: .string)
            json.member("high", point.high, as: .string)
            json.member("low", point.low, as: .string)
            json.member("close", point.close, as: .string)
            json.member("volume", point.volume)
            if point.isUnfinished { json.member("unfinished", true) }
            json.endObject()
        }
        json.endArray()
        json.member("source", source)
        json.member("downsampled", downsampled.rawValue)
        json.member("as_of", asOf)
        json.member("entitlement", QuoteView.entitlement(isDelayed: isDelayed))
        json.endObject()
        return json.bytes
    }
}
