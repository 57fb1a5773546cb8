/// What a market does at a moment.
package enum MarketState: String, CaseIterable, Sendable {
    /// Before the regular session.
    case pre = "PRE"
    /// The regular session.
    case open = "OPEN"
    /// After the regular session.
    case post = "POST"
    case closed = "CLOSED"
    /// By the exchange or by an operator: covers whatever the calendar says. No calendar has it.
    case halted = "HALTED"
}

/// What a calendar says of a moment, and until when it says so. Times in ms since the epoch.
package struct MarketHours: Hashable, Sendable {
    package var state: MarketState
    /// When the next regular session begins, and when the one at hand, or else the next one, ends; nil: not within `MarketCalendar.horizon`.
    package let nextOpen: Int64?
    package let nextClose: Int64?
    /// It holds from `from` on, and before `until`.
    package let from: Int64
    package let until: Int64

    package init(state: MarketState, nextOpen: Int64?, nextClose: Int64?, from: Int64, until: Int64) {
        self.state = state
        self.nextOpen = nextOpen
        self.nextClose = nextClose
        self.from = from
        self.until = until
    }

    /// The same for a symbol that is halted.
    package func halted(if isHalted: Bool) -> MarketHours {
        var hours = self
        if isHalted { hours.state = .halted }
        return hours
    }
}

/// An exchange by its code, `[A-Z0-9]{1,8}`: a market identifier code of ISO 10383 where it has one, such as XNYS.
package struct ExchangeCode: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let text: String

    package init?(_ text: String) {
        let isCode = text.utf8.allSatisfy { (0x41...0x5A).contains($0) || (0x30...0x39).contains($0) }
        guard isCode, (1...8).contains(text.utf8.count) else { return nil }
        self.text = text
    }

    package var description: String { text }

    package static func < (left: ExchangeCode, right: ExchangeCode) -> Bool { left.text < right.text }
}
