package import Trading

/// The newest price of a symbol. A quote is replaced, never queued.
package struct Quote: Hashable, Sendable {
    package let symbol: Symbol
    package let bid: Amount
    package let ask: Amount
    package let last: Amount
    /// Shares traded so far today.
    package let volume: Int64
    /// Grows by one with every change of this symbol, within one router's run.
    package let sequence: Int64
    /// Router time of the change, ms since the epoch.
    package let changedAt: Int64
    /// Router time at which the feed last vouched for it: a tick, or a refresh that says it still stands (design section 8).
    package let vouchedAt: Int64

    package init(symbol: Symbol, bid: Amount, ask: Amount, last: Amount, volume: Int64, sequence: Int64, changedAt: Int64, vouchedAt: Int64) {
        self.symbol = symbol
        self.bid = bid
        self.ask = ask
        self.last = last
        self.volume = volume
        self.sequence = sequence
        self.changedAt = changedAt
        self.vouchedAt = vouchedAt
    }

    /// Milliseconds since the feed last vouched for it.
    package func age(at now: Int64) -> Int64 { max(0, now - vouchedAt) }
}

/// Where new orders look for a symbol's price. One snapshot serves a whole batch.
package protocol QuoteSource: Sendable {
    /// nil where the symbol is not known at all.
    func listing(of symbol: Symbol) -> Listing?
}

/// A symbol that the router knows, with its quote once the feed has sent one.
package struct Listing: Hashable, Sendable {
    package let symbol: Symbol
    package let quote: Quote?

    package init(symbol: Symbol, quote: Quote?) {
        self.symbol = symbol
        self.quote = quote
    }
}

/// How old a price may be before it must not be traded on (design section 8): the kill switch, per symbol, by one clock.
package struct Freshness: Sendable {
    /// Milliseconds since the last vouching.
    package var maximumAge: Int64
    /// Milliseconds by which a quote reference may lie in the future: clock differences between routers.
    package var maximumLead: Int64

    package init(maximumAge: Int64 = 2_500, maximumLead: Int64 = 1_000) {
        self.maximumAge = maximumAge
        self.maximumLead = maximumLead
    }

    /// Refusal for a new order on `listing`, whose trader saw the quote of `reference` (design section 4.3 row 7).
    package func refusal(of listing: Listing, reference: Int64, at now: Int64) -> Refusal? {
        guard let quote = listing.quote, quote.bid.units > 0, quote.ask.units > 0 else { return .marketDataStale(ageMilliseconds: nil) }
        if quote.age(at: now) > maximumAge { return .marketDataStale(ageMilliseconds: quote.age(at: now)) }
        let (age, overflow) = now.subtractingReportingOverflow(reference)
        if overflow || age > maximumAge || age < -maximumLead { return .quoteReferenceStale(ageMilliseconds: overflow ? .max : age) }
        return nil
    }
}
