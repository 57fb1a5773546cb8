/// Open, high, low, close and volume of a stretch of time that is over, as history keeps it and shows it. In 1/10,000, and shares.
package struct Bar: Hashable, Sendable {
    /// Where the stretch begins, ms since the epoch.
    package var at: Int64
    package var open: Int64
    package var high: Int64
    package var low: Int64
    package var close: Int64
    package var volume: Int64

    package init(at: Int64, open: Int64, high: Int64, low: Int64, close: Int64, volume: Int64) {
        self.at = at
        self.open = open
        self.high = high
        self.low = low
        self.close = close
        self.volume = volume
    }

    /// Whether these can be prices of one stretch.
    package var isSound: Bool { low > 0 && low <= min(open, close) && max(open, close) <= high && volume >= 0 }

    /// Takes in the stretch that follows. Exact; a volume beyond Int64 stays at its greatest.
    mutating func append(_ next: Bar) {
        high = max(high, next.high)
        low = min(low, next.low)
        close = next.close
        let (sum, overflow) = volume.addingReportingOverflow(next.volume)
        volume = overflow ? .max : sum
    }

    /// One bar of all; nil of none.
    ///
    /// - Parameter bars: in order of time.
    package static func merged(_ bars: some Collection<Bar>) -> Bar? {
        guard var bar = bars.first else { return nil }
        for next in bars.dropFirst() { bar.append(next) }
        return bar
    }

    /// Longer bars: each of `length` ms of UTC, from a whole multiple of it on. Where nothing was traded there is none: gaps are not filled.
    ///
    /// - Parameter bars: in order of time.
    package static func merged(_ bars: [Bar], each length: Int64) -> [Bar] {
        precondition(length > 0, "A bar has a length.")
        var merged: [Bar] = []
        for var bar in bars {
            bar.at -= (bar.at % length + length) % length
            if let last = merged.last, last.at == bar.at { merged[merged.count - 1].append(bar) } else { merged.append(bar) }
        }
        return merged
    }
}

extension Bar {
    /// Fewer bars that draw the same line of closes: Largest Triangle Three Buckets (S. Steinarsson, Downsampling Time Series for Visual Representation,
    /// 2013), in whole numbers. In each bucket of the inner bars the one stays that spans the largest triangle with the one chosen before it and the mean of
    /// the bucket behind it. Added to that: the bars with the highest high and the lowest low stay in any case, in place of their bucket's choice.
    ///
    /// - Parameters:
    ///   - bars: in order of time.
    ///   - count: at least 2. All that there are where there are no more; else so many, among them the first and the last, and from 4 on the extremes.
    package static func downsampled(_ bars: [Bar], to count: Int) -> [Bar] {
        precondition(count >= 2, "A line has two ends.")
        guard bars.count > count else { return bars }
        let buckets = Buckets(of: bars.count, to: count)
        var chosen = [0]
        for bucket in 0..<buckets.count {
            let next = buckets.range(bucket + 1)
            let before = chosen[bucket]
            chosen.append(largestTriangle(bars, buckets.range(bucket), after: before, towards: next))
        }
        chosen.append(bars.count - 1)
        keep(extremes(of: bars), in: &chosen, buckets)
        return chosen.map { bars[$0] }
    }

    /// The inner bars in so many stretches of equal length, but for one.
    private struct Buckets {
        let count: Int
        private let inner: Int

        init(of bars: Int, to count: Int) {
            self.count = count - 2
            inner = bars - 2
        }

        /// Behind the last one stands the last bar.
        func range(_ bucket: Int) -> Range<Int> {
            bucket == count ? inner + 1..<inner + 2 : 1 + bucket * inner / count..<1 + (bucket + 1) * inner / count
        }

        /// nil for the first and the last bar.
        func bucket(of index: Int) -> Int? {
            guard count > 0, (1...inner).contains(index) else { return nil }
            return (0..<count).first { range($0).contains(index) }
        }
    }

    /// Of two with the same area the earlier one. Areas are compared times twice the number of bars in the next bucket, so that its mean is whole.
    private static func largestTriangle(_ bars: [Bar], _ range: Range<Int>, after before: Int, towards next: Range<Int>) -> Int {
        let origin = bars[before]
        var (sumX, sumY) = (Int128(0), Int128(0))
        for index in next {
            sumX += Int128(bars[index].at - origin.at)
            sumY += Int128(bars[index].close - origin.close)
        }
        var (best, largest) = (range.lowerBound, Int128(-1))
        for index in range {
            let (x, y) = (Int128(bars[index].at - origin.at), Int128(bars[index].close - origin.close))
            // Twice the area of the triangle whose first corner is the origin, times the number of bars in the next bucket.
            let area = (sumX * y - x * sumY).magnitude
            if Int128(area) > largest { (best, largest) = (index, Int128(area)) }
        }
        return best
    }

    /// Where the highest high and the lowest low are, the first of each, in order.
    private static func extremes(of bars: [Bar]) -> [Int] {
        var (highest, lowest) = (0, 0)
        for index in bars.indices {
            if bars[index].high > bars[highest].high { highest = index }
            if bars[index].low < bars[lowest].low { lowest = index }
        }
        return Set([highest, lowest]).sorted()
    }

    /// Puts the extremes in place of what their buckets have chosen. Two of one bucket take the place of a neighbour as well.
    private static func keep(_ extremes: [Int], in chosen: inout [Int], _ buckets: Buckets) {
        let inner = extremes.compactMap { index in buckets.bucket(of: index).map { (index, $0 + 1) } }
        for (index, slot) in inner { chosen[slot] = index }
        guard inner.count == 2, inner[0].1 == inner[1].1, buckets.count > 1 else { return }
        let slot = min(inner[0].1, buckets.count - 1)
        (chosen[slot], chosen[slot + 1]) = (inner[0].0, inner[1].0)
    }
}
