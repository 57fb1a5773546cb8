package import Trading

/// Whether a symbol's price may be traded on, and why not: one answer for the streams, the quotes and the refusals.
package enum QuoteState: Hashable, Sendable {
    case live
    case stale(Reason)
    /// Not vouched for because its market is closed; when it opens, ms since the epoch, where that is known.
    case closed(opensAt: Int64?)
    /// By the exchange or by the operator, and why.
    case halted(String)

    /// Why a price is not alive.
    package enum Reason: Hashable, Sendable {
        case noData
        /// Milliseconds since the last vouching.
        case notVouched(age: Int64)
        /// The newest price was not believed.
        case refused(RefusedPrice)
        case awaitingSnapshot
        /// The router's clock was set; ages from before mean nothing.
        case clockSet
    }

    /// As the API writes it.
    package enum Name: String, CaseIterable, Sendable {
        case live = "LIVE"
        case stale = "STALE"
        case closed = "CLOSED"
        case halted = "HALTED"
    }

    package var name: Name {
        switch self {
        case .live: .live
        case .stale: .stale
        case .closed: .closed
        case .halted: .halted
        }
    }

    /// In words; nil for what is alive.
    package var reason: String? {
        switch self {
        case .live: nil
        case .stale(.noData): "there is no price of it yet"
        case .stale(.notVouched(let age)): "the feed has not vouched for it for \(age) ms"
        case .stale(.refused(let refused)): "its newest price was not believed\(refused.words)"
        case .stale(.awaitingSnapshot): "ticks of it were lost, and the feed was asked for the whole picture"
        case .stale(.clockSet): "the router's clock was set, and no tick has come since"
        case .closed(nil): "its market is closed"
        case .closed(let opensAt?): "its market is closed until \(opensAt) (ms since the epoch)"
        case .halted(let why): why
        }
    }

    package static let haltedByExchange = QuoteState.halted("the exchange has halted trading in it")

    /// The same for the same state whatever its age: what a client has to be told of when it changes. Never 0.
    package var fingerprint: UInt64 {
        let kind: UInt64 =
            switch self {
            case .live: 1
            case .closed: 2
            case .stale(.noData): 3
            case .stale(.notVouched): 4
            case .stale(.awaitingSnapshot): 5
            case .stale(.clockSet): 6
            case .stale(.refused(let refused)): 16 + UInt64(refused.fault.rawValue)
            case .halted(let why): why.utf8.reduce(7) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
            }
        return kind | 1 << 63
    }
}

/// How old a price may be before it must not be traded on (design section 8): the kill switch, per symbol, by one clock.
package struct Freshness: Sendable {
    /// Milliseconds since the last vouching.
    package var maximumAge: Int64
    /// Milliseconds by which a quote reference may lie in the future: clock differences between routers.
    package var maximumLead: Int64

    package init(maximumAge: Int64 = 2_500, maximumLead: Int64 = 1_000) {
        self.maximumAge = maximumAge
        self.maximumLead = maximumLead
    }

    /// Whether a price may be traded on now.
    ///
    /// - Parameters:
    ///   - isClosed: by its market's calendar: explains a price that nobody vouches for, and stops none that somebody does.
    ///   - opensAt: ms since the epoch, where known.
    package func state(of listing: Listing, isClosed: Bool = false, opensAt: Int64? = nil, at now: Int64) -> QuoteState {
        if listing.isHalted { return .haltedByExchange }
        guard let reason = staleness(of: listing, at: now) else { return .live }
        return isClosed ? .closed(opensAt: opensAt) : .stale(reason)
    }

    private func staleness(of listing: Listing, at now: Int64) -> QuoteState.Reason? {
        if let refused = listing.refused { return .refused(refused) }
        guard let quote = listing.quote, quote.bid.units > 0, quote.ask.units > 0 else { return .noData }
        if listing.isAwaitingSnapshot { return .awaitingSnapshot }
        guard let age = quote.age(at: now) else { return .clockSet }
        return age > maximumAge ? .notVouched(age: age) : nil
    }

    /// Refusal for a new order on `listing`, whose trader saw the quote of `reference` (design section 4.3 row 7).
    ///
    /// - Parameter hours: of the symbol's market, asked for only where they may explain why nobody vouches; nil: not known.
    package func refusal(of listing: Listing, reference: Int64, hours: () -> MarketHours? = { nil }, at now: Int64) -> Refusal? {
        let age = listing.quote?.age(at: now)
        switch state(of: listing, at: now) {
        case .live: break
        case .halted(let why): return .tradingHalted(Halt(scope: .symbol, subject: listing.symbol.text, reason: why))
        case .stale, .closed:
            let hours = hours()
            let told = state(of: listing, isClosed: hours?.state == .closed, opensAt: hours?.nextOpen, at: now)
            return .marketDataStale(ageMilliseconds: age, why: told.reason ?? "")
        }
        let (seen, overflow) = now.subtractingReportingOverflow(reference)
        if overflow || seen > maximumAge || seen < -maximumLead { return .quoteReferenceStale(ageMilliseconds: overflow ? .max : seen) }
        return nil
    }
}
