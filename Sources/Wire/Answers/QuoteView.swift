package import Trading

/// A quote as clients see it, with its age and state and why (design section 8).
package struct QuoteView: Hashable, Sendable {
    package let symbol: Symbol
    /// Grows by one with each tick of the symbol.
    package let sequence: Int64
    /// Nil = that side of the book is empty, or nothing traded yet.
    package let bid: Amount?
    package let ask: Amount?
    package let last: Amount?
    /// Milliseconds since the epoch, the router's time of the feed's last vouching: what X-Quote-Reference-Timestamp quotes. Nil = never.
    package let asOf: Int64?
    /// Since then; nil likewise, for no data is not fresh data.
    package let ageMilliseconds: Int64?
    /// LIVE, STALE, CLOSED or HALTED.
    package let state: String
    /// Why it is not LIVE.
    package let reason: String?

    package init(
        symbol: Symbol,
        sequence: Int64,
        bid: Amount?,
        ask: Amount?,
        last: Amount?,
        asOf: Int64?,
        ageMilliseconds: Int64?,
        state: String,
        reason: String?
    ) {
        self.symbol = symbol
        self.sequence = sequence
        self.bid = bid
        self.ask = ask
        self.last = last
        self.asOf = asOf
        self.ageMilliseconds = ageMilliseconds
        self.state = state
        self.reason = reason
    }

    /// - Parameter form: strings for snapshots and history, numbers for the stream's tick.
    package func write(to json: inout JSONWriter, money form: MoneyForm) {
        json.beginObject()
        json.member("symbol", symbol.text)
        json.member("sequence", sequence)
        json.member("bid", bid, as: form)
        json.member("ask", ask, as: form)
        json.member("last", last, as: form)
        json.member("as_of", asOf)
        json.member("age_ms", ageMilliseconds)
        json.member("state", state)
        json.member("reason", reason)
        json.endObject()
    }

    /// `{"quotes":[…],"server_time":…}`, money as strings.
    package static func listBody(_ quotes: [QuoteView], serverTime: Int64) -> [UInt8] {
        var json = JSONWriter(reservingBytes: 64 + quotes.count * 224)
        json.beginObject()
        json.name("quotes")
        json.beginArray()
        for quote in quotes { quote.write(to: &json, money: .string) }
        json.endArray()
        json.member("server_time", serverTime)
        json.endObject()
        return json.bytes
    }

    /// The data of one tick on the stream, money as numbers.
    package var tick: [UInt8] {
        var json = JSONWriter()
        write(to: &json, money: .number)
        return json.bytes
    }
}
