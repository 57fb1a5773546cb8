package import Quotes
import Synchronization
package import Trading

/// The book of this router: the feeds write it, accept and the streams read it. Read by accept under a shard's lock, so reading never waits for a feed longer
/// than one portion of ticks takes (some µs).
package final class QuoteBoard: QuoteSource {
    private struct State {
        var book: Book
        var firstDataAt: Int64?
    }

    /// After the feed's first word its list of symbols is still arriving: until then a symbol that is missing is without data, not unknown.
    static let learningTime: Int64 = 3_000

    private let state: Mutex<State>
    private let now: @Sendable () -> Int64

    /// - Parameter now: milliseconds since the epoch; the clock by which ages count.
    package init(rules: Book.Rules = Book.Rules(), now: @escaping @Sendable () -> Int64) {
        state = Mutex(State(book: Book(rules: rules)))
        self.now = now
    }

    package func listing(of symbol: Symbol) -> Listing? {
        let now = now()
        return state.withLock { state in
            if let place = state.book.place(of: symbol) { return Listing(symbol: symbol, quote: state.book.quote(at: place)) }
            guard let first = state.firstDataAt, now - first > Self.learningTime else { return Listing(symbol: symbol, quote: nil) }
            return nil
        }
    }

    /// Hands the book to a feed, for a portion of ticks: as many as have come together, at most some hundred.
    ///
    /// - Parameter body: gets the router's time as well. Must not wait for anything.
    package func update<Value: Sendable>(_ body: (inout Book, _ now: Int64) -> Value) -> Value {
        let now = now()
        return state.withLock { state in
            state.firstDataAt = state.firstDataAt ?? now
            return body(&state.book, now)
        }
    }

    /// Looks at the book.
    package func read<Value: Sendable>(_ body: (borrowing Book) -> Value) -> Value { state.withLock { body($0.book) } }

    /// For the operator: every symbol, in the order in which the feed brought them.
    package var reports: [SymbolReport] {
        read { book in
            book.slots.indices.map { place in
                let slot = book.slots[place]
                let hasRefused = slot.refusedBid != 0 || slot.refusedAsk != 0
                return SymbolReport(
                    listing: Listing(symbol: book.symbols[place], quote: book.quote(at: place)),
                    refusedBid: hasRefused ? Amount(units: slot.refusedBid) : nil,
                    refusedAsk: hasRefused ? Amount(units: slot.refusedAsk) : nil
                )
            }
        }
    }

    /// For metrics: how many symbols have a price, and the age of the stalest and the freshest in ms.
    package var ages: (symbols: Int, freshest: Int64?, stalest: Int64?) {
        let now = now()
        let vouched = read { book in book.slots.lazy.filter { $0.sequence > 0 }.map(\.vouchedAt).reduce(into: [Int64]()) { $0.append($1) } }
        return (vouched.count, vouched.max().map { max(0, now - $0) }, vouched.min().map { max(0, now - $0) })
    }
}
