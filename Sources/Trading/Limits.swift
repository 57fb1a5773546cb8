/// What an order may not exceed, and how far from the market an aggressive price may lie.
package struct RiskLimits: Sendable {
    /// Shares per order.
    package var maximumQuantity: Int64
    /// Quantity times price per order.
    package var maximumNotional: Amount
    /// Hundredths of a percent. Also sizes the hold of orders without a limit: price × (1 + collar).
    package var collarBasisPoints: Int64

    package init(maximumQuantity: Int64, maximumNotional: Amount, collarBasisPoints: Int64) {
        self.maximumQuantity = maximumQuantity
        self.maximumNotional = maximumNotional
        self.collarBasisPoints = collarBasisPoints
    }

    /// Checks quantity, notional and collar, in that order.
    ///
    /// The collar looks at the aggressive side alone: a BUY far above the ask, a SELL far below the bid. A STOP_LIMIT is compared with its own
    /// stop where that lies further out, for it only comes alive there.
    package func refusal(of terms: OrderTerms, bid: Amount, ask: Amount) -> Refusal? {
        if terms.quantity > maximumQuantity { return .quantityLimit(maximum: maximumQuantity) }
        let price = terms.limitPrice ?? (terms.side == .buy ? stopOrAsk(terms, ask) : terms.stopPrice ?? bid)
        guard let notional = price.times(terms.quantity), notional <= maximumNotional else { return .notionalLimit(maximum: maximumNotional) }
        guard let limit = terms.limitPrice else { return nil }
        switch terms.side {
        case .buy:
            let reference = max(ask, terms.stopPrice ?? ask)
            guard let bound = reference.raised(byBasisPoints: collarBasisPoints) else { return nil }
            return limit > bound ? .priceCollar(bound: bound, reference: reference) : nil
        case .sell:
            let reference = min(bid, terms.stopPrice ?? bid)
            guard let bound = reference.lowered(byBasisPoints: collarBasisPoints) else { return nil }
            return limit < bound ? .priceCollar(bound: bound, reference: reference) : nil
        }
    }

    /// Cash held for each share of a BUY (design section 5): the limit; for MARKET ask × (1 + collar); for STOP stop × (1 + collar), or what a
    /// MARKET order holds where the ask is beyond the stop already. Zero for a SELL.
    ///
    /// Returns nil on overflow.
    package func holdPrice(of terms: OrderTerms, ask: Amount) -> Amount? {
        guard terms.side == .buy else { return .zero }
        if let limit = terms.limitPrice { return limit }
        return stopOrAsk(terms, ask).raised(byBasisPoints: collarBasisPoints)
    }

    /// What a BUY without a limit pays at least: a stop below the ask triggers at once and pays the ask.
    private func stopOrAsk(_ terms: OrderTerms, _ ask: Amount) -> Amount { max(terms.stopPrice ?? ask, ask) }
}

extension Amount {
    /// This amount less `basisPoints` hundredths of a percent, rounded down; nil on overflow or when nothing is left.
    package func lowered(byBasisPoints basisPoints: Int64) -> Amount? {
        guard basisPoints < 10_000 else { return .zero }
        let (product, overflow) = units.multipliedReportingOverflow(by: 10_000 - basisPoints)
        return overflow || product < 0 ? nil : Amount(units: product / 10_000)
    }
}

/// How long an order may wait for its FIX sequence number (design section 7): MARKET, IOC and FOK a few seconds, the others the session.
package struct RouteDeadlines: Sendable {
    package var immediateMilliseconds: Int64
    package var sessionMilliseconds: Int64

    package init(immediateMilliseconds: Int64, sessionMilliseconds: Int64) {
        self.immediateMilliseconds = immediateMilliseconds
        self.sessionMilliseconds = sessionMilliseconds
    }

    package func deadline(of terms: OrderTerms, acceptedAt now: Int64) -> Int64 {
        let immediate = terms.type == .market || terms.timeInForce == .immediateOrCancel || terms.timeInForce == .fillOrKill
        return now + (immediate ? immediateMilliseconds : sessionMilliseconds)
    }
}
