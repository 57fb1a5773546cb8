package import Quotes
import Synchronization
package import Trading

/// Whether symbols may be traded on now: the one answer that quotes and streams give, and by the same rule as orders are refused.
package final class Conditions: Sendable {
    package let freshness: Freshness
    private let halts = Mutex<[Halt]>([])
    private let session: @Sendable (_ symbol: Symbol, _ at: Int64) -> MarketSession

    /// How a symbol stands.
    package struct Standing: Hashable, Sendable {
        package let state: QuoteState
        package let session: MarketSession

        /// Changes when a client has to be told.
        package var fingerprint: UInt64 { state.fingerprint ^ UInt64(session.phase.rawValue.utf8.first ?? 0) << 48 }
    }

    /// - Parameter session: the phase of a symbol's market.
    package init(freshness: Freshness, session: @escaping @Sendable (_ symbol: Symbol, _ at: Int64) -> MarketSession) {
        self.freshness = freshness
        self.session = session
    }

    /// The operator's halts as last read. Orders are refused by those in the database, which may be a moment ahead.
    package func setHalts(_ halts: [Halt]) { self.halts.withLock { $0 = halts } }

    package func standing(of symbol: Symbol, _ quote: Quote?, at now: Int64) -> Standing {
        let session = session(symbol, now)
        let halt = halts.withLock { halts in
            halts.isEmpty ? nil : halts.first { $0.scope.isForAll || ($0.scope == .symbol && $0.subject == symbol.text) }
        }
        if let halt { return Standing(state: .halted(halt.reason), session: session) }
        let state = freshness.state(of: quote, isClosed: session.phase == .closed, opensAt: session.nextOpen, at: now)
        return Standing(state: state, session: session)
    }
}

extension Halt.Scope {
    fileprivate var isForAll: Bool { self == .killSwitch || self == .venue }
}
