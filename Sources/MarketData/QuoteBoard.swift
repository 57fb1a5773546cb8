package import Quotes
import Synchronization
package import Trading

/// The newest quote of each symbol: one slot a symbol, replaced, never queued. Read by accept under a shard's lock, so reading never waits for the feed
/// longer than one replacement takes.
package final class QuoteBoard: QuoteSource {
    private struct State {
        var quotes: [Symbol: Quote] = [:]
        var firstDataAt: Int64?
    }

    /// After the feed's first word its list of symbols is still arriving: until then a symbol that is missing is without data, not unknown.
    static let learningTime: Int64 = 3_000

    private let state = Mutex(State())
    private let now: @Sendable () -> Int64

    /// - Parameter now: milliseconds since the epoch; the clock by which ages count.
    package init(now: @escaping @Sendable () -> Int64) {
        self.now = now
    }

    package func listing(of symbol: Symbol) -> Listing? {
        let now = now()
        return state.withLock { state in
            if let quote = state.quotes[symbol] { return Listing(symbol: symbol, quote: quote) }
            guard let first = state.firstDataAt, now - first > Self.learningTime else { return Listing(symbol: symbol, quote: nil) }
            return nil
        }
    }

    /// The feed vouches for these prices now: a change, or a refresh that says they still stand. Crossed or empty books are not prices: false.
    package func vouch(_ symbol: Symbol, bid: Amount, ask: Amount, last: Amount?, volume: Int64?) -> Bool {
        guard bid.units > 0, ask.units > 0, bid <= ask else { return false }
        let now = now()
        state.withLock { state in
            state.firstDataAt = state.firstDataAt ?? now
            let before = state.quotes[symbol]
            let last = last ?? before?.last ?? bid
            let volume = volume ?? before?.volume ?? 0
            let isChange = before.map { $0.bid != bid || $0.ask != ask || $0.last != last || $0.volume != volume } ?? true
            state.quotes[symbol] = Quote(
                symbol: symbol,
                bid: bid,
                ask: ask,
                last: last,
                volume: volume,
                sequence: (before?.sequence ?? 0) + (isChange ? 1 : 0),
                changedAt: isChange ? now : before?.changedAt ?? now,
                vouchedAt: now
            )
        }
        return true
    }

    /// For metrics: how many symbols there are, and the age of the stalest and the freshest in ms.
    package var ages: (symbols: Int, freshest: Int64?, stalest: Int64?) {
        let now = now()
        let ages = state.withLock { state in state.quotes.values.map { $0.age(at: now) } }
        return (ages.count, ages.min(), ages.max())
    }
}
