/// Open, high, low, close and volume of one minute, of the prices last traded at. In 1/10,000, and shares.
package struct Candle: Hashable, Sendable {
    /// Minutes since the epoch; negative = nothing yet.
    package private(set) var minute: Int64 = -1
    package private(set) var open: Int64 = 0
    package private(set) var high: Int64 = 0
    package private(set) var low: Int64 = 0
    package private(set) var close: Int64 = 0
    package private(set) var volume: Int64 = 0
    /// When its first and its last price came, ms since the minute's begin: where two routers have seen parts of a minute, these tell whose open and whose
    /// close it has.
    package private(set) var openedAt: Int32 = 0
    package private(set) var closedAt: Int32 = 0
    /// Minutes before this one have ended.
    private var earliest: Int64 = 0

    /// A candle and the place of its symbol in the book.
    package struct OfSymbol: Hashable, Sendable {
        package let place: Int
        package let candle: Candle

        package init(place: Int, candle: Candle) {
            self.place = place
            self.candle = candle
        }
    }

    package static let millisecondsPerMinute: Int64 = 60_000

    init() {}

    /// One that is over.
    package init(minute: Int64, open: Int64, high: Int64, low: Int64, close: Int64, volume: Int64, openedAt: Int32 = 0, closedAt: Int32 = 59_999) {
        self.minute = minute
        self.open = open
        self.high = high
        self.low = low
        self.close = close
        self.volume = volume
        self.openedAt = openedAt
        self.closedAt = closedAt
    }

    /// Adds a price. Returns the candle that it ends, the one of an earlier minute.
    ///
    /// - Parameter at: ms since the epoch. A price of an earlier minute counts in the one at hand: candles are never opened again.
    mutating func add(_ price: Int64, volume: Int64, at: Int64) -> Candle? {
        let minute = max(at / Self.millisecondsPerMinute, earliest)
        let offset = Int32(truncatingIfNeeded: max(0, at - minute * Self.millisecondsPerMinute))
        if minute > self.minute {
            let before = self.minute < 0 ? nil : self
            self.minute = minute
            earliest = minute
            (open, high, low, close, self.volume) = (price, price, price, price, volume)
            (openedAt, closedAt) = (offset, offset)
            return before
        }
        high = max(high, price)
        low = min(low, price)
        close = price
        self.volume += volume
        closedAt = max(closedAt, offset)
        return nil
    }

    /// Ends it when it is of an earlier minute.
    mutating func end(before minute: Int64) -> Candle? {
        guard self.minute >= 0, self.minute < minute else { return nil }
        let ended = self
        self = Candle()
        earliest = ended.minute + 1
        return ended
    }
}

/// The prices of a regular session.
package struct DayRange: Hashable, Sendable {
    /// In 1/10,000; 0 = nothing traded yet.
    package private(set) var open: Int64 = 0
    package private(set) var high: Int64 = 0
    package private(set) var low: Int64 = 0
    /// The session is over: later prices are not the day's.
    private var isOver = false

    package init() {}

    package init(open: Int64, high: Int64, low: Int64) {
        self.open = open
        self.high = high
        self.low = low
    }

    mutating func add(_ price: Int64) {
        if isOver { return }
        if open == 0 { (open, high, low) = (price, price, price) }
        high = max(high, price)
        low = min(low, price)
    }

    /// Takes in what came before.
    mutating func prepend(_ earlier: DayRange) {
        if earlier.open == 0 { return }
        let (high, low) = (open == 0 ? earlier.high : max(high, earlier.high), open == 0 ? earlier.low : min(low, earlier.low))
        (open, self.high, self.low) = (earlier.open, high, low)
    }

    mutating func end() { isOver = true }
}
