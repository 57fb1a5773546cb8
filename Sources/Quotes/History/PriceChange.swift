package import Trading

/// What a price has gained on an earlier one.
package struct PriceChange: Hashable, Sendable {
    package let amount: Amount
    /// Hundredths of a percent, rounded half to even.
    package let basisPoints: Int64

    /// nil where the earlier price is not above zero, or the change is beyond all measure.
    package init?(from earlier: Amount, to later: Amount) {
        guard earlier.units > 0, let amount = later.subtracting(earlier) else { return nil }
        let (quotient, remainder) = (Int128(amount.units) * 10_000).quotientAndRemainder(dividingBy: Int128(earlier.units))
        let doubled = remainder.magnitude * 2
        let isUp = doubled > earlier.units.magnitude || (doubled == earlier.units.magnitude && quotient % 2 != 0)
        guard let points = Int64(exactly: quotient + (isUp ? (amount.units < 0 ? -1 : 1) : 0)) else { return nil }
        self.amount = amount
        basisPoints = points
    }

    /// Two decimals, such as -0.40; nil beyond what an amount holds.
    package var percent: Amount? { Amount(units: basisPoints).times(Amount.unitsPerOne / 100) }
}
