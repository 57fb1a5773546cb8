package import Trading

/// A quote as clients see it, with its age and state and why (design section 8).
package struct QuoteView: Hashable, Sendable {
    package let symbol: Symbol
    /// Grows by one with each change of the symbol, within one router's run. 0 = there is no price.
    package let sequence: Int64
    /// The price last traded at. Nil = none yet; so are the others.
    package let price: Amount?
    package let bid: Amount?
    package let ask: Amount?
    /// Shares traded so far today.
    package let volume: Int64?
    /// Milliseconds since the epoch by the router's clock, of the last change and of the feed's last vouching. Nil = never. What
    /// X-Quote-Reference-Timestamp quotes is the second.
    package let changedAt: Int64?
    package let asOf: Int64?
    /// Since the last vouching; nil likewise, for no data is not fresh data.
    package let ageMilliseconds: Int64?
    /// PRE, OPEN, POST, CLOSED or HALTED.
    package let marketState: String
    /// LIVE, STALE, CLOSED or HALTED.
    package let state: String
    /// Why it is not LIVE.
    package let reason: String?
    /// Fifteen minutes old, for tokens that may see no newer one.
    package let isDelayed: Bool

    package init(
        symbol: Symbol,
        sequence: Int64,
        price: Amount?,
        bid: Amount?,
        ask: Amount?,
        volume: Int64?,
        changedAt: Int64?,
        asOf: Int64?,
        ageMilliseconds: Int64?,
        marketState: String,
        state: String,
        reason: String?,
        isDelayed: Bool
    ) {
        self.symbol = symbol
        self.sequence = sequence
        self.price = price
        self.bid = bid
        self.ask = ask
        self.volume = volume
        self.changedAt = changedAt
        self.asOf = asOf
        self.ageMilliseconds = ageMilliseconds
        self.marketState = marketState
        self.state = state
        self.reason = reason
        self.isDelayed = isDelayed
    }

    /// Everything: a quote of the list, and the snapshot that a stream begins with.
    ///
    /// - Parameters:
    ///   - form: strings for the list, numbers on streams.
    ///   - now: the router's time at which it is written.
    package func write(to json: inout JSONWriter, money form: MoneyForm, serverTime now: Int64) {
        json.beginObject()
        writeValues(to: &json, form)
        json.member("as_of", asOf)
        json.member("age_ms", ageMilliseconds)
        writeState(to: &json)
        json.member("entitlement", entitlement)
        json.member("serverTime", now)
        json.endObject()
    }

    package var entitlement: String { Self.entitlement(isDelayed: isDelayed) }

    /// What is said of prices, with the scope `market:read` or without it.
    static func entitlement(isDelayed: Bool) -> String { isDelayed ? "DELAYED" : "REALTIME" }

    private func writeValues(to json: inout JSONWriter, _ form: MoneyForm) {
        json.member("symbol", symbol.text)
        json.member("price", price, as: form)
        json.member("bid", bid, as: form)
        json.member("ask", ask, as: form)
        json.member("volume", volume)
        json.member("seq", sequence)
    }

    private func writeState(to json: inout JSONWriter) {
        json.member("marketState", marketState)
        json.member("state", state)
        json.member("reason", reason)
    }

    /// `{"quotes":[…],"server_time":…}`, money as strings.
    package static func listBody(_ quotes: [QuoteView], serverTime: Int64) -> [UInt8] {
        var json = JSONWriter(reservingBytes: 64 + quotes.count * 256)
        json.beginObject()
        json.name("quotes")
        json.beginArray()
        for quote in quotes { quote.write(to: &json, money: .string, serverTime: serverTime) }
        json.endArray()
        json.member("server_time", serverTime)
        json.endObject()
        return json.bytes
    }

    // MARK: Streams, money as numbers

    /// `snapshot`: everything, as a client sees it first.
    package func snapshot(serverTime now: Int64) -> [UInt8] {
        var json = JSONWriter()
        write(to: &json, money: .number, serverTime: now)
        return json.bytes
    }

    /// `tick`: the values, and when they changed. The same bytes for everybody, so nothing in it is of one client or moment.
    package var tick: [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        writeValues(to: &json, .number)
        json.member("at", changedAt)
        json.endObject()
        return json.bytes
    }

    /// `market`: the state of the symbol and its market, and when that was so.
    package func market(at now: Int64, nextOpen: Int64?, nextClose: Int64?) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("symbol", symbol.text)
        writeState(to: &json)
        json.member("as_of", asOf)
        json.member("next_open", nextOpen)
        json.member("next_close", nextClose)
        json.member("at", now)
        json.endObject()
        return json.bytes
    }
}
