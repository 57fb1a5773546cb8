package import Quotes
package import Trading
package import Wire

/// Prices as a token may see them: as they stand, or as they stood a quarter of an hour ago. The one place that says which picture is shown, of when it is,
/// and how its symbol stood then.
package struct EntitledPrices: Sendable {
    let board: QuoteBoard
    private let conditions: Conditions
    package let isDelayed: Bool

    package init(_ board: QuoteBoard, _ conditions: Conditions, isDelayed: Bool) {
        self.board = board
        self.conditions = conditions
        self.isDelayed = isDelayed
    }

    /// By how many milliseconds what is shown lies behind.
    package var delay: Int64 { isDelayed ? board.delay : 0 }

    /// The time for which pictures, states and `asof` speak: what is shown stood then.
    package func asOf(at now: Int64) -> Int64 { now - delay }

    /// nil where the symbol is not known at all.
    package func listing(of symbol: Symbol) -> Listing? { isDelayed ? board.delayedListing(of: symbol) : board.listing(of: symbol) }

    func listings(at places: [Int], _ now: Int64) -> [(place: Int, listing: Listing)] {
        board.listings(at: places, delayedAt: isDelayed ? now : nil)
    }

    package func standing(of listing: Listing, at now: Int64) -> Conditions.Standing { conditions.standing(of: listing, at: asOf(at: now)) }

    package func view(_ listing: Listing, _ standing: Conditions.Standing, at now: Int64) -> QuoteView {
        let quote = listing.quote
        return QuoteView(
            symbol: listing.symbol,
            sequence: quote?.sequence ?? 0,
            price: quote?.last,
            bid: quote?.bid,
            ask: quote?.ask,
            volume: quote?.volume,
            changedAt: quote?.changedAt,
            asOf: quote.flatMap { $0.vouchedAt == Quote.never ? nil : $0.vouchedAt },
            ageMilliseconds: quote?.age(at: now),
            marketState: standing.hours.state.rawValue,
            state: standing.state.name.rawValue,
            reason: standing.state.reason,
            isDelayed: isDelayed
        )
    }
}
