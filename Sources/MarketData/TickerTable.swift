import Quotes
import Trading
import Wire

/// How a stream writes its events: as Server-Sent Events or as WebSocket messages.
package struct TickerForm: Sendable {
    /// Appends one event with its data, JSON.
    package let append: @Sendable (_ event: StaticString, _ data: [UInt8], _ output: inout [UInt8]) -> Void

    package init(append: @escaping @Sendable (_ event: StaticString, _ data: [UInt8], _ output: inout [UInt8]) -> Void) {
        self.append = append
    }
}

/// The newest picture of each symbol that somebody watches, and its events ready to be sent: made once, when the first client needs them, the same bytes for all.
/// Belongs to one thread.
final class TickerTable {
    struct Entry {
        /// `"NVDA"`, with its quotes.
        let name: [UInt8]
        var watchers = 0
        var listing: Listing
        var values: UInt64 = 1
        var standing: Conditions.Standing
        var state: UInt64 = 1
        /// One of each kind and form; empty = not made since the last change.
        var events: [[UInt8]]
        var isLive: Bool { standing.state == .live }
    }

    /// An event that is the same for all.
    private enum Kind: Int, CaseIterable {
        case tick
        case market
    }

    private let prices: EntitledPrices
    /// Of the board's changes; nil = its pictures are delayed.
    private let reader: Int?
    private let forms: [TickerForm]
    private(set) var entries: [Entry?] = []
    private var watched: [Int] = []
    private var statesAt: Int64?

    /// How often the states of all symbols are looked at, in ms: an age passes its bound without a tick. A tenth of the bound.
    static let stateInterval: Int64 = 250
    /// How often delayed pictures are looked at, in ms: the line notes one every ten seconds.
    static let delayedInterval: Int64 = 1_000

    init(_ prices: EntitledPrices, forms: [TickerForm]) {
        self.prices = prices
        reader = prices.isDelayed ? nil : prices.board.addReader()
        self.forms = forms
    }

    // MARK: Watchers

    func watch(_ place: Int, _ symbol: Symbol, at now: Int64) {
        while entries.count <= place { entries.append(nil) }
        if entries[place] == nil {
            let listing = Listing(symbol: symbol, quote: nil)
            let none = [[UInt8]](repeating: [], count: Kind.allCases.count * forms.count)
            let standing = prices.standing(of: listing, at: now)
            entries[place] = Entry(name: Array("\"\(symbol)\"".utf8), listing: listing, standing: standing, events: none)
        }
        entries[place]?.watchers += 1
        guard entries[place]?.watchers == 1 else { return }
        watched.append(place)
        take(prices.listings(at: [place], now), at: now)
    }

    func unwatch(_ place: Int) {
        guard let watchers = entries[place]?.watchers else { preconditionFailure("Only what is watched is watched no more.") }
        entries[place]?.watchers = watchers - 1
        guard watchers == 1, let index = watched.firstIndex(of: place) else { return }
        watched.swapAt(index, watched.count - 1)
        watched.removeLast()
    }

    // MARK: Pictures

    /// Takes over what has changed.
    func refresh(at now: Int64) {
        if let reader {
            let isWatched = { place in self.entries.indices.contains(place) && (self.entries[place]?.watchers ?? 0) > 0 }
            take(prices.board.takeChanges(of: reader, where: isWatched), at: now)
        }
        let interval = prices.isDelayed ? Self.delayedInterval : Self.stateInterval
        // Also when the clock was set back: nobody waits until it has caught up.
        if let statesAt, (now - statesAt).magnitude < interval { return }
        statesAt = now
        // Vouching changes no value and marks nothing: ages are looked up anew.
        take(prices.listings(at: watched, now), at: now)
    }

    private func take(_ listings: [(place: Int, listing: Listing)], at now: Int64) {
        for (place, listing) in listings {
            set(listing, at: place)
            look(place, at: now)
        }
    }

    private func set(_ listing: Listing, at place: Int) {
        let values = listing.quote?.fingerprint ?? 1
        entries[place]?.listing = listing
        guard entries[place]?.values != values else { return }
        entries[place]?.values = values
        forget(.tick, at: place)
    }

    private func look(_ place: Int, at now: Int64) {
        guard let entry = entries[place] else { return }
        let standing = prices.standing(of: entry.listing, at: now)
        entries[place]?.standing = standing
        guard entry.state != standing.fingerprint else { return }
        entries[place]?.state = standing.fingerprint
        forget(.market, at: place)
    }

    // MARK: Events

    func snapshot(_ place: Int, _ form: Int, at now: Int64, to output: inout [UInt8]) {
        guard let entry = entries[place] else { return }
        forms[form].append("snapshot", view(entry, at: now).snapshot(serverTime: now), &output)
    }

    func tick(_ place: Int, _ form: Int, to output: inout [UInt8]) {
        append(.tick, place, form, to: &output) { view($0, at: 0).tick }
    }

    func market(_ place: Int, _ form: Int, at now: Int64, to output: inout [UInt8]) {
        append(.market, place, form, to: &output) { entry in
            let hours = entry.standing.hours
            return view(entry, at: now).market(at: now, nextOpen: hours.nextOpen, nextClose: hours.nextClose)
        }
    }

    /// Makes the event where it is not there yet.
    private func append(_ kind: Kind, _ place: Int, _ form: Int, to output: inout [UInt8], data: (Entry) -> [UInt8]) {
        guard let entry = entries[place] else { return }
        let index = index(kind, form)
        if entry.events[index].isEmpty {
            var event: [UInt8] = []
            forms[form].append(kind == .tick ? "tick" : "market", data(entry), &event)
            entries[place]?.events[index] = event
            output.append(contentsOf: event)
        } else {
            output.append(contentsOf: entry.events[index])
        }
    }

    private func forget(_ kind: Kind, at place: Int) {
        for form in forms.indices { entries[place]?.events[index(kind, form)] = [] }
    }

    private func index(_ kind: Kind, _ form: Int) -> Int { kind.rawValue * forms.count + form }

    private func view(_ entry: Entry, at now: Int64) -> QuoteView { prices.view(entry.listing, entry.standing, at: now) }

    func asOf(at now: Int64) -> Int64 { prices.asOf(at: now) }
}
