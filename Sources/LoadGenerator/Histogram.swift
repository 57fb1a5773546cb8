/// Counts of values in buckets whose width grows with the value: 128 to each power of two, so that what is read off is at most 0.8 % too high.
///
/// Values are whole and not negative, here nanoseconds. Adding costs a few instructions and never allocates.
struct Histogram: Sendable {
    private static let bits = 7
    private static let perPower = 1 << bits
    /// 2^42 ns are 73 minutes: what is beyond counts as that.
    private static let largestPower = 42
    private var counts = [Int](repeating: 0, count: (largestPower - bits + 2) * perPower)
    private(set) var count = 0
    private(set) var largest: Int64 = 0
    private var sum = 0.0

    mutating func add(_ value: Int64) {
        let value = min(max(0, value), 1 << Self.largestPower)
        counts[Self.bucket(value)] += 1
        count += 1
        sum += Double(value)
        largest = max(largest, value)
    }

    var mean: Double? { count == 0 ? nil : sum / Double(count) }

    /// The value that this share of all values does not exceed; nil where there are none.
    func quantile(_ share: Double) -> Int64? {
        guard count > 0 else { return nil }
        let wanted = max(1, Int((share * Double(count)).rounded(.up)))
        var seen = 0
        for (index, amount) in counts.enumerated() where amount > 0 {
            seen += amount
            if seen >= wanted { return min(largest, Self.upperBound(index)) }
        }
        return largest
    }

    /// Below 128 each value has a bucket of its own; from there on the seven bits behind the leading one tell.
    private static func bucket(_ value: Int64) -> Int {
        if value < perPower { return Int(value) }
        let power = 63 - value.leadingZeroBitCount
        return (power - bits + 1) * perPower + Int(value >> (power - bits)) - perPower
    }

    private static func upperBound(_ index: Int) -> Int64 {
        let (row, column) = (index / perPower, index % perPower)
        if row == 0 { return Int64(column) }
        return (Int64(perPower + column + 1) << (row - 1)) - 1
    }
}
