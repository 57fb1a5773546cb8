/// What a feed says of one symbol: its whole picture, not a difference, so that any later one makes up for any that was lost.
package struct Tick: Hashable, Sendable {
    package enum Kind: UInt8, Sendable {
        /// Something changed.
        case change
        /// Nothing changed: the feed vouches that the picture still stands. Carries the number of the last change.
        case refresh
        /// The answer to a request, or a picture that the feed gives unasked. What it says is so, whatever came before.
        case snapshot
    }

    /// The symbol's place in the book.
    package var place: Int
    package var kind: Kind
    /// The feed's own number for this symbol: grows by one with each change, and goes from 2^32 - 1 to 1. 0 = the feed does not number.
    package var number: UInt32
    /// Prices in 1/10,000. `last` 0 = nothing traded yet.
    package var bid: Int64
    package var ask: Int64
    package var last: Int64
    /// Shares traded so far today.
    package var volume: Int64
    /// The feed's clock, ms since the epoch; 0 = it does not say, and the time of arrival counts.
    package var at: Int64
    /// Whether trading in the symbol is halted; nil = this tick does not say.
    package var isHalted: Bool?

    @inlinable package init(
        place: Int,
        kind: Kind = .change,
        number: UInt32 = 0,
        bid: Int64,
        ask: Int64,
        last: Int64 = 0,
        volume: Int64 = 0,
        at: Int64 = 0,
        isHalted: Bool? = nil
    ) {
        self.place = place
        self.kind = kind
        self.number = number
        self.bid = bid
        self.ask = ask
        self.last = last
        self.volume = volume
        self.at = at
        self.isHalted = isHalted
    }

    /// How many numbers `next` lies behind `number`, negative = before it, as RFC 1982 compares; 0 is left out of the round.
    @inlinable package static func distance(from number: UInt32, to next: UInt32) -> Int32 {
        let raw = Int32(bitPattern: next &- number)
        // Between the highest number and 1 stands the 0 that is never given.
        if raw > 0, next < number { return raw - 1 }
        if raw < 0, next > number { return raw + 1 }
        return raw
    }
}

/// Why a price is not one that anybody may trade on.
package enum PriceFault: UInt8, CaseIterable, Sendable {
    /// Bid above ask.
    case crossed
    /// A side without a price.
    case zero
    case negative
    /// Farther from the price before than the band allows.
    case absurd
    /// The feed's clock is farther ahead of ours than clocks may differ.
    case future
}

/// What became of a tick.
package enum TickVerdict: Hashable, Sendable {
    /// The picture changed, and has a new sequence number of ours.
    case applied
    /// The picture is the one that stands: vouched for anew.
    case vouched
    /// Already seen.
    case duplicate
    /// Older than what stands.
    case late
    /// Numbers are missing: the feed must be asked for a snapshot. Ticks wait until it comes.
    case gap
    /// Waits for the snapshot.
    case waiting
    case refused(PriceFault)
}
