package import Quotes
import Synchronization
package import Trading

/// Whether symbols may be traded on now: the one answer that quotes and streams give, and by the same rule as orders are refused.
package final class Conditions: Sendable {
    package let freshness: Freshness
    private let halts = Mutex<[Halt]>([])
    private let instruments: any InstrumentSource

    /// How a symbol stands.
    package struct Standing: Hashable, Sendable {
        package let state: QuoteState
        /// With the state HALTED while it is.
        package let hours: MarketHours

        /// Changes when a client has to be told.
        package var fingerprint: UInt64 { state.fingerprint ^ UInt64(hours.state.rawValue.utf8.reduce(0) { $0 + UInt64($1) }) << 48 }
    }

    /// - Parameter instruments: when each symbol's market is open.
    package init(freshness: Freshness, instruments: any InstrumentSource) {
        self.freshness = freshness
        self.instruments = instruments
    }

    /// The operator's halts as last read. Orders are refused by those in the database, which may be a moment ahead.
    package func setHalts(_ halts: [Halt]) {
        // The one that is told is the one that an order is refused by.
        let ordered = Halt.Scope.allCases.flatMap { scope in halts.filter { $0.scope == scope } }
        self.halts.withLock { $0 = ordered }
    }

    package func standing(of listing: Listing, at now: Int64) -> Standing {
        let symbol = listing.symbol
        let hours = instruments.marketHours(of: symbol, at: now)
        let halt = halts.withLock { halts in
            halts.isEmpty ? nil : halts.first { $0.scope.isForAll || ($0.scope == .symbol && $0.subject == symbol.text) }
        }
        let state: QuoteState =
            if let halt { .halted(halt.reason) } else {
                freshness.state(of: listing, isClosed: hours.state == .closed, opensAt: hours.nextOpen, at: now)
            }
        guard case .halted = state else { return Standing(state: state, hours: hours) }
        return Standing(state: state, hours: hours.halted(if: true))
    }
}

extension Halt.Scope {
    fileprivate var isForAll: Bool { self == .killSwitch || self == .venue }
}
