package import Quotes
import Synchronization
package import Trading

/// The book of this router: the feeds write it, accept and the streams read it. Read by accept under a shard's lock, so reading never waits for a feed longer
/// than one portion of ticks takes (some µs).
package final class QuoteBoard: QuoteSource {
    private struct State {
        var book: Book
        var delayed = DelayLine()
        var firstDataAt: Int64?

        func delayedListing(at place: Int, _ now: Int64) -> Listing {
            let symbol = book.symbols[place]
            return delayed.slot(at: place, now: now).map { book.listing(of: symbol, $0) } ?? Listing(symbol: symbol, quote: nil)
        }
    }

    /// After the feed's first word its list of symbols is still arriving: until then a symbol that is missing is without data, not unknown.
    static let learningTime: Int64 = 3_000

    private let state: Mutex<State>
    package let now: @Sendable () -> Int64
    /// By how much delayed pictures lie behind, in ms.
    package let delay: Int64

    /// - Parameter now: milliseconds since the epoch; the clock by which ages count.
    package init(rules: Book.Rules = Book.Rules(), now: @escaping @Sendable () -> Int64) {
        let state = State(book: Book(rules: rules))
        delay = state.delayed.delay
        self.state = Mutex(state)
        self.now = now
    }

    package func listing(of symbol: Symbol) -> Listing? {
        let now = now()
        return state.withLock { state in
            if let place = state.book.place(of: symbol) { return state.book.listing(at: place) }
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

    /// Hands the book to whoever changes what no feed says: takes its candles, begins its days. Must not wait for anything.
    func keep<Value: Sendable>(_ body: (inout Book) -> Value) -> Value { state.withLock { body(&$0.book) } }

    /// The router's clock was set by so many milliseconds, forward or back: no age of before counts any more.
    func clockWasSet(by step: Int64) {
        state.withLock { state in
            state.book.forgetVouching()
            state.delayed.shift(by: step)
            state.firstDataAt = state.firstDataAt.map { $0 + step }
        }
    }

    /// Looks at the book.
    package func read<Value: Sendable>(_ body: (borrowing Book) -> Value) -> Value { state.withLock { body($0.book) } }

    // MARK: For the streams

    /// A reader of changes: see `takeChanges`.
    func addReader() -> Int { state.withLock { $0.book.addReader() } }

    /// The symbols that have changed since the reader last asked, those that it is interested in.
    func takeChanges(of reader: Int, where isOfInterest: (Int) -> Bool) -> [(place: Int, listing: Listing)] {
        state.withLock { state in
            var changed: [Int] = []
            state.book.takeChanges(of: reader) { place in
                if isOfInterest(place) { changed.append(place) }
            }
            return changed.map { ($0, state.book.listing(at: $0)) }
        }
    }

    /// The symbols as they stand now, or as they may be shown with the delay.
    ///
    /// - Parameter delayedAt: now, for delayed ones; nil for those that stand.
    func listings(at places: [Int], delayedAt now: Int64?) -> [(place: Int, listing: Listing)] {
        state.withLock { state in
            places.map { place in
                guard let now else { return (place, state.book.listing(at: place)) }
                return (place, state.delayedListing(at: place, now))
            }
        }
    }

    /// The symbols with their places, without those that no feed has spoken of.
    package func places(of symbols: [Symbol]) -> [(place: Int, symbol: Symbol)] {
        state.withLock { state in symbols.compactMap { symbol in state.book.place(of: symbol).map { ($0, symbol) } } }
    }

    /// Notes what delayed tokens will see in a quarter of an hour. Called every second.
    package func noteForDelayed() {
        let now = now()
        state.withLock { $0.delayed.note($0.book, at: now) }
    }

    /// As `listing`, fifteen minutes old.
    package func delayedListing(of symbol: Symbol) -> Listing? {
        guard let known = listing(of: symbol) else { return nil }
        let now = now()
        return state.withLock { state in state.book.place(of: symbol).map { state.delayedListing(at: $0, now) } ?? known }
    }

    /// For metrics: how many symbols have a price, and the age of the stalest and the freshest in ms.
    package var ages: (symbols: Int, freshest: Int64?, stalest: Int64?) {
        let now = now()
        let vouched = read { book in book.slots.lazy.filter { $0.sequence > 0 }.map(\.vouchedAt).reduce(into: [Int64]()) { $0.append($1) } }
        return (vouched.count, vouched.max().map { max(0, now - $0) }, vouched.min().map { max(0, now - $0) })
    }
}
