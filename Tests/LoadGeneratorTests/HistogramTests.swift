import ExchangeSimulator
import Testing

@testable import LoadGenerator

@Suite struct `A histogram` {
    @Test func `tells quantiles that are at most one percent too high and never too low`() throws {
        var random = SeededGenerator(seed: 7)
        // From nanoseconds to minutes, so that every power of two is met.
        let values = (0..<20_000).map { _ in Int64.random(in: 0..<(1 << Int64.random(in: 1...40, using: &random)), using: &random) }
        var histogram = Histogram()
        for value in values { histogram.add(value) }
        let sorted = values.sorted()
        for share in [0.001, 0.25, 0.5, 0.9, 0.99, 0.999, 1] {
            let exact = sorted[max(0, Int((share * Double(sorted.count)).rounded(.up)) - 1)]
            let told = try #require(histogram.quantile(share))
            #expect(told >= exact && Double(told) <= Double(exact) * 1.01 + 1, "\(share): \(told) for \(exact)")
        }
        #expect(histogram.largest == sorted.last)
        #expect(histogram.count == values.count)
    }

    @Test func `tells small values exactly`() {
        for value in 0..<Int64(256) {
            var histogram = Histogram()
            histogram.add(value)
            histogram.add(1_000)
            #expect(histogram.quantile(0.5) == value)
        }
    }

    @Test func `takes what is too large as its largest, and what is negative as nothing`() {
        var histogram = Histogram()
        histogram.add(.max)
        histogram.add(-5)
        #expect(histogram.quantile(1) == 1 << 42)
        #expect(histogram.quantile(0.5) == 0)
    }

    @Test func `has no quantile without values`() {
        #expect(Histogram().quantile(0.99) == nil)
        #expect(Histogram().mean == nil)
    }
}
