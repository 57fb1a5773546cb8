/// Open, high, low, close and volume of one minute, of the prices last traded at. In 1/10,000, and shares.
package struct Candle: Hashable, Sendable {
    /// Minutes since the epoch; negative = nothing yet.
    package private(set) var minute: Int64 = -1
    package private(set) var open: Int64 = 0
    package private(set) var high: Int64 = 0
    package private(set) var low: Int64 = 0
    package private(set) var close: Int64 = 0
    package private(set) var volume: Int64 = 0

    /// A candle and the place of its symbol in the book.
    package struct OfSymbol: Hashable, Sendable {
        package let place: Int
        package let candle: Candle
    }

    package static let millisecondsPerMinute: Int64 = 60_000

    init() {}

    /// Adds a price. Returns the candle that it ends, the one of an earlier minute.
    ///
    /// - Parameter at: ms since the epoch. A price of an earlier minute counts in the one at hand: candles are never opened again.
    mutating func add(_ price: Int64, volume: Int64, at: Int64) -> Candle? {
        let minute = at / Self.millisecondsPerMinute
        if minute > self.minute {
            let before = self.minute < 0 ? nil : self
            self.minute = minute
            (open, high, low, close, self.volume) = (price, price, price, price, volume)
            return before
        }
        high = max(high, price)
        low = min(low, price)
        close = price
        self.volume += volume
        return nil
    }

    /// Ends it when it is of an earlier minute.
    mutating func end(before minute: Int64) -> Candle? {
        guard self.minute >= 0, self.minute < minute else { return nil }
        defer { self = Candle() }
        return self
    }
}

/// The prices of a trading day.
package struct DayRange: Hashable, Sendable {
    /// In 1/10,000; 0 = nothing traded yet.
    package private(set) var open: Int64 = 0
    package private(set) var high: Int64 = 0
    package private(set) var low: Int64 = 0

    package init() {}

    mutating func add(_ price: Int64) {
        if open == 0 { (open, high, low) = (price, price, price) }
        high = max(high, price)
        low = min(low, price)
    }
}
