import Quotes
import Testing
import Trading

/// SplitMix64: the same bars for the same seed.
private struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// A walk of minutes, some of them without trading.
private func walk(_ count: Int, seed: UInt64) -> [Bar] {
    var generator = Seeded(state: seed)
    var (at, price) = (Int64(1_800_000_000_000), Int64(1_000_000))
    return (0..<count).map { _ in
        at += Int64.random(in: 1...3, using: &generator) * 60_000
        let open = price
        price = max(20_000, price + Int64.random(in: -5_000...5_000, using: &generator))
        return Bar(
            at: at,
            open: open,
            high: max(open, price) + Int64.random(in: 0...2_000, using: &generator),
            low: min(open, price) - Int64.random(in: 0...2_000, using: &generator),
            close: price,
            volume: Int64.random(in: 0...1_000, using: &generator)
        )
    }
}

private func line(_ closes: [Int64]) -> [Bar] {
    closes.enumerated().map { Bar(at: Int64($0) * 60_000, open: $1, high: $1, low: $1, close: $1, volume: 1) }
}

@Suite struct `A line of fewer points` {
    @Test(arguments: [(5_000, 300), (301, 300), (10_000, 2_000), (100, 4), (7, 5), (400, 4), (1_999, 1_000)])
    func `keeps its ends, its extremes and the order of time, and has as many points as were asked for`(_ count: Int, _ points: Int) {
        for seed in UInt64(1)...20 {
            let bars = walk(count, seed: seed)
            let fewer = Bar.downsampled(bars, to: points)
            #expect(fewer.count == points)
            #expect(fewer.first == bars.first && fewer.last == bars.last)
            #expect(fewer.map(\.high).max() == bars.map(\.high).max() && fewer.map(\.low).min() == bars.map(\.low).min(), "seed \(seed)")
            #expect(zip(fewer, fewer.dropFirst()).allSatisfy { $0.at < $1.at }, "seed \(seed)")
            #expect(Set(fewer).isSubset(of: Set(bars)))
        }
    }

    @Test func `keeps both extremes where they are neighbours`() {
        for place in 1...97 {
            var bars = line(Array(repeating: 1_000, count: 100))
            bars[place] = Bar(at: bars[place].at, open: 1_000, high: 9_000, low: 1_000, close: 1_000, volume: 1)
            bars[place + 1] = Bar(at: bars[place + 1].at, open: 1_000, high: 1_000, low: 10, close: 1_000, volume: 1)
            let fewer = Bar.downsampled(bars, to: 6)
            #expect(fewer.count == 6 && fewer.contains(bars[place]) && fewer.contains(bars[place + 1]), "\(place)")
            #expect(zip(fewer, fewer.dropFirst()).allSatisfy { $0.at < $1.at }, "\(place)")
        }
    }

    @Test func `is the same line where there are no more points than asked for, and its ends where two are`() {
        let bars = walk(50, seed: 1)
        #expect(Bar.downsampled(bars, to: 50) == bars && Bar.downsampled([], to: 2).isEmpty)
        #expect(Bar.downsampled(bars, to: 2) == [bars[0], bars[49]])
        #expect(Bar.downsampled(bars, to: 3).count == 3)
    }

    /// By hand: in the bucket of 1 to 3 the triangle between the first point, the candidate and the mean of 4 to 6 is the largest at 2.
    @Test func `takes from each bucket the point of the largest triangle`() {
        let fewer = Bar.downsampled(line([10, 12, 30, 12, 12, 5, 12, 10]), to: 4)
        #expect(fewer.map(\.close) == [10, 30, 5, 10])
        // A corner on the straight line to the mean spans nothing: the bend is kept.
        let bend = Bar.downsampled(line([10, 20, 30, 40, 40, 40, 40, 40]), to: 4)
        #expect(bend.map(\.close) == [10, 40, 40, 40] && bend[1].at == 3 * 60_000)
    }

    @Test func `does not overflow with the largest prices and the longest times`() {
        let high = Int64.max / 2
        let bars = (0..<1_000).map { index in
            let price = index.isMultiple(of: 2) ? high : 1
            return Bar(at: Int64(index) * 86_400_000 * 30, open: price, high: price, low: price, close: price, volume: 0)
        }
        #expect(Bar.downsampled(bars, to: 100).count == 100)
    }
}

@Suite struct `Bars` {
    @Test func `merge exactly: first open, highest high, lowest low, last close, all volume`() {
        let bars = walk(3_000, seed: 7)
        let hours = Bar.merged(bars, each: 3_600_000)
        #expect(hours.map(\.volume).reduce(0, +) == bars.map(\.volume).reduce(0, +))
        for hour in hours {
            let inside = bars.filter { hour.at <= $0.at && $0.at < hour.at + 3_600_000 }
            #expect(hour.at % 3_600_000 == 0)
            #expect(hour.open == inside.first?.open && hour.close == inside.last?.close)
            #expect(hour.high == inside.map(\.high).max() && hour.low == inside.map(\.low).min())
        }
        #expect(
            Bar.merged(bars)
                == Bar.merged(hours).map { Bar(at: bars[0].at, open: $0.open, high: $0.high, low: $0.low, close: $0.close, volume: $0.volume) }
        )
    }

    @Test func `leave gaps where nothing was traded`() {
        let bars = [0, 1, 20].map { Bar(at: $0 * 60_000, open: 1, high: 1, low: 1, close: 1, volume: 1) }
        #expect(Bar.merged(bars, each: 300_000).map(\.at) == [0, 1_200_000])
        #expect(Bar.merged([Bar]()) == nil)
    }
}

@Suite struct `The change of a price` {
    @Test(arguments: [
        ("100.00", "101.00", "1.00", "1.00"), ("100.00", "99.00", "-1.00", "-1.00"), ("3.00", "4.00", "1.00", "33.33"),
        ("3.00", "2.00", "-1.00", "-33.33"),
        // Half a hundredth goes to the even one.
        ("200.00", "200.01", "0.01", "0.00"), ("200.00", "200.03", "0.03", "0.02"), ("200.00", "199.99", "-0.01", "0.00"),
        ("200.00", "199.97", "-0.03", "-0.02"),
        ("0.0001", "1000000.00", "999999.9999", "999999999900.00"),
    ])
    func `is exact, its percent rounded half to even`(_ from: String, _ to: String, _ amount: String, _ percent: String) {
        let change = PriceChange(from: Amount(from)!, to: Amount(to)!)
        #expect(change?.amount.description == amount)
        #expect(change?.percent?.description == percent)
    }

    @Test func `is unknown where nothing came before`() {
        #expect(PriceChange(from: .zero, to: Amount("1")!) == nil)
    }
}

@Suite struct `A candle` {
    private static let minute: Int64 = 30_000_000

    @Test func `remembers when in its minute it opened and closed`() throws {
        var shop = Shop()
        shop.now = Self.minute * 60_000
        for (number, second) in [(UInt32(1), Int64(7)), (2, 31), (3, 59)] {
            shop.now = Self.minute * 60_000 + second * 1_000
            _ = shop.tick(number, last: 1_000_000 + Int64(number) * 100)
        }
        let candle = try #require(shop.book.takeCandles(before: Self.minute + 1).first?.candle)
        #expect(candle.openedAt == 7_000 && candle.closedAt == 59_000)
        #expect(candle.open == 1_000_100 && candle.close == 1_000_300)
    }

    @Test func `is not opened again by a price that comes late`() {
        var shop = Shop()
        shop.now = Self.minute * 60_000 + 59_000
        _ = shop.tick(1)
        shop.now += 3_000
        #expect(shop.book.takeCandles(before: Self.minute + 1).map(\.candle.minute) == [Self.minute])
        // Made in the minute that is over: counts in the one at hand.
        _ = shop.tick(2, 1_000_100, at: shop.now - 2_500)
        let late = shop.book.takeCandles(before: Self.minute + 2).map(\.candle)
        #expect(late.map(\.minute) == [Self.minute + 1] && late.map(\.openedAt) == [0])
    }
}

@Suite struct `The range of a day` {
    private func day(_ shop: Shop) -> [Int64] { [shop.book.slots[0].day.open, shop.book.slots[0].day.high, shop.book.slots[0].day.low] }

    @Test func `takes in what came before a restart, and begins anew with the next session`() {
        var shop = Shop()
        _ = shop.tick(1, 1_000_000, 1_000_200)
        shop.book.restoreDay(DayRange(open: 900_000, high: 1_200_000, low: 890_000), isOver: false, at: shop.place)
        #expect(day(shop) == [900_000, 1_200_000, 890_000])
        _ = shop.tick(2, last: 880_000)
        #expect(day(shop) == [900_000, 1_200_000, 880_000])
        shop.book.restoreDay(DayRange(), isOver: false, at: shop.place)
        #expect(day(shop) == [900_000, 1_200_000, 880_000])
        // Called half a second late, with the session's first prices in the minute at hand.
        shop.now += 60_000
        _ = shop.tick(3, last: 950_000)
        shop.book.beginDay(at: shop.place, minute: shop.now / 60_000)
        _ = shop.tick(4, last: 900_000)
        #expect(day(shop) == [950_000, 950_000, 900_000])
        shop.book.beginDay(at: shop.place, minute: shop.now / 60_000 + 1)
        #expect(day(shop) == [0, 0, 0])
    }

    @Test func `holds nothing from after its session`() {
        var shop = Shop()
        _ = shop.tick(1)
        shop.book.endDay(at: shop.place)
        _ = shop.tick(2, last: 1_100_000)
        #expect(day(shop) == [1_000_000, 1_000_000, 1_000_000])
        // Started after the close: what was seen since is no part of it.
        shop.book.restoreDay(DayRange(open: 5, high: 7, low: 3), isOver: true, at: shop.place)
        _ = shop.tick(3, last: 1_000_000)
        #expect(day(shop) == [5, 7, 3])
    }
}
