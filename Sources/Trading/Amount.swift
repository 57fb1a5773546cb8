/// Money, a price or a number of shares in the ledger: a whole number of 1/10,000, exact, never a binary float.
///
/// Every operation that can leave the range of Int64 says so by returning nil; nothing wraps and nothing rounds unless its name says it.
package struct Amount: Hashable, Comparable, Sendable {
    /// Whole 1/10,000 units: 125.50 is 1_255_000.
    package var units: Int64

    package static let unitsPerOne: Int64 = 10_000
    package static let zero = Amount(units: 0)

    @inlinable package init(units: Int64) {
        self.units = units
    }

    /// A whole number of shares or dollars; nil when it leaves the range.
    package init?(whole: Int64) {
        let (product, overflow) = whole.multipliedReportingOverflow(by: Self.unitsPerOne)
        if overflow { return nil }
        self.init(units: product)
    }

    /// Reads a plain decimal: digits, at most one point, at most four decimals. No sign, exponent, space or separator.
    ///
    /// Returns nil for everything else, including values beyond Int64: a price that we would have to bend is not a price.
    package init?(decimal text: some Collection<UInt8>) {
        var units: Int64 = 0
        var decimals = -1
        var digits = 0
        for byte in text {
            if byte == UInt8(ascii: ".") {
                guard decimals < 0, digits > 0 else { return nil }
                decimals = 0
                continue
            }
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
            if decimals >= 0 { decimals += 1 }
            guard decimals <= 4, let next = Self.appending(digit: Int64(byte - UInt8(ascii: "0")), to: units) else { return nil }
            units = next
            digits += 1
        }
        guard digits > 0, decimals != 0 else { return nil }
        for _ in max(decimals, 0)..<4 {
            guard let next = Self.appending(digit: 0, to: units) else { return nil }
            units = next
        }
        self.init(units: units)
    }

    package init?(_ text: some StringProtocol) {
        self.init(decimal: Array(text.utf8))
    }

    package init?(_ text: String) {
        var text = text
        guard let amount = text.withUTF8({ unsafe Amount(decimal: $0) }) else { return nil }
        self = amount
    }

    private static func appending(digit: Int64, to units: Int64) -> Int64? {
        let (tens, over) = units.multipliedReportingOverflow(by: 10)
        let (sum, overAgain) = tens.addingReportingOverflow(digit)
        return over || overAgain ? nil : sum
    }

    package static func < (left: Amount, right: Amount) -> Bool { left.units < right.units }

    /// Exact sum, or nil on overflow.
    package func adding(_ other: Amount) -> Amount? {
        let (sum, overflow) = units.addingReportingOverflow(other.units)
        return overflow ? nil : Amount(units: sum)
    }

    /// Exact difference, or nil on overflow.
    package func subtracting(_ other: Amount) -> Amount? {
        let (difference, overflow) = units.subtractingReportingOverflow(other.units)
        return overflow ? nil : Amount(units: difference)
    }

    /// A price times a number of shares, or nil on overflow.
    package func times(_ quantity: Int64) -> Amount? {
        let (product, overflow) = units.multipliedReportingOverflow(by: quantity)
        return overflow ? nil : Amount(units: product)
    }

    /// This amount plus `basisPoints` hundredths of a percent, rounded up to the next unit; nil on overflow.
    ///
    /// Rounded up because it sizes holds: a hold may be too large by 1/10,000, never too small.
    package func raised(byBasisPoints basisPoints: Int64) -> Amount? {
        let (product, overflow) = units.multipliedReportingOverflow(by: 10_000 + basisPoints)
        if overflow || product < 0 { return nil }
        return Amount(units: product / 10_000 + (product % 10_000 == 0 ? 0 : 1))
    }

    /// Total divided by a count, rounded half to even at the fourth decimal (design section 4.1).
    package static func average(of total: Amount, over count: Int64) -> Amount {
        precondition(count > 0, "An average needs at least one share.")
        let (quotient, remainder) = total.units.quotientAndRemainder(dividingBy: count)
        let doubled = remainder.magnitude * 2
        let up = doubled > count.magnitude || (doubled == count.magnitude && quotient % 2 != 0)
        return Amount(units: up ? quotient + (total.units < 0 ? -1 : 1) : quotient)
    }
}

extension Amount: CustomStringConvertible {
    /// Two to four decimals, exact: 125.50, 125.5025, 0.00.
    package var description: String { text(minimumDecimals: 2) }

    /// Exactly four decimals, as the signed form writes money (design section 4.2).
    package var fourDecimals: String { text(minimumDecimals: 4) }

    private func text(minimumDecimals: Int) -> String {
        let magnitude = units.magnitude
        var fraction = String(magnitude % 10_000)
        fraction = String(repeating: "0", count: 4 - fraction.count) + fraction
        while fraction.count > minimumDecimals, fraction.hasSuffix("0") { fraction.removeLast() }
        return (units < 0 ? "-" : "") + String(magnitude / 10_000) + "." + fraction
    }
}
