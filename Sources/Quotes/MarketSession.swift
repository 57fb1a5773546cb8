/// Which part of its day a market is in.
package enum MarketPhase: String, Hashable, Sendable, CaseIterable {
    case pre = "PRE"
    case open = "OPEN"
    case post = "POST"
    case closed = "CLOSED"
}

/// A market's phase and the next turns of its regular session; ms since the epoch, nil where none is known.
package struct MarketSession: Hashable, Sendable {
    package let phase: MarketPhase
    package let nextOpen: Int64?
    package let nextClose: Int64?

    package init(phase: MarketPhase, nextOpen: Int64?, nextClose: Int64?) {
        self.phase = phase
        self.nextOpen = nextOpen
        self.nextClose = nextClose
    }

    /// A market that never closes.
    package static let always = MarketSession(phase: .open, nextOpen: nil, nextClose: nil)
}
