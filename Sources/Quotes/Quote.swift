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
    /// Router time at which the feed last vouched for it: a tick, or a refresh that says it still stands (design section 8). `never`: what was said
    /// before does not count any more.
    package let vouchedAt: Int64

    /// The time of what never was.
    package static let never: Int64 = 0

    package init(
        symbol: Symbol,
        bid: Amount,
        ask: Amount,
        last: Amount,
        volume: Int64,
        sequence: Int64,
        changedAt: Int64,
        vouchedAt: Int64
    ) {
        self.symbol = symbol
        self.bid = bid
        self.ask = ask
        self.last = last
        self.volume = volume
        self.sequence = sequence
        self.changedAt = changedAt
        self.vouchedAt = vouchedAt
    }

    /// Milliseconds since the feed last vouched for it; nil = nothing that counts.
    package func age(at now: Int64) -> Int64? { vouchedAt == Self.never ? nil : max(0, now - vouchedAt) }
}

extension Quote {
    /// nil before the first picture.
    package init?(_ symbol: Symbol, _ slot: Book.Slot) {
        if slot.sequence == 0 { return nil }
        self.init(
            symbol: symbol,
            bid: Amount(units: slot.bid),
            ask: Amount(units: slot.ask),
            last: Amount(units: slot.last),
            volume: slot.volume,
            sequence: slot.sequence,
            changedAt: slot.changedAt,
            vouchedAt: slot.vouchedAt
        )
    }
}

/// Where new orders look for a symbol's price. One snapshot serves a whole batch.
package protocol QuoteSource: Sendable {
    /// nil where the symbol is not known at all.
    func listing(of symbol: Symbol) -> Listing?
    /// Of the symbol's market; nil where nobody knows.
    func hours(of symbol: Symbol, at now: Int64) -> MarketHours?
    /// False while its prices are none to trade on with the venue that there is.
    var isForOrders: Bool { get }
}

extension QuoteSource {
    package func hours(of symbol: Symbol, at now: Int64) -> MarketHours? { nil }
    package var isForOrders: Bool { true }
}
