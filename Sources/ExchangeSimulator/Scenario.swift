/// What the venue does wrong on purpose. Chosen by the symbol's suffix (`NVDA.REJ` trades at NVDA's quote) or set for any symbol.
package enum Scenario: String, CaseIterable, Sendable {
    case reject = "REJ"
    case partialFills = "PART"
    case late = "LATE"
    case mute = "MUTE"
    case drop = "DROP"
    case duplicateReports = "DUP"
    case overfill = "OVER"
    case fillAfterCancel = "LATEFILL"
    case priceGap = "GAP"
    case noCancel = "NOCXL"
    case noReplace = "NOREPL"
    case crossingFill = "CROSS"
    case filledFirst = "TOOLATE"

    /// One line for a person who has to choose.
    package var summary: String {
        switch self {
        case .reject: "Every order is rejected."
        case .partialFills: "Fills come in quarters: one at once, one at each tick. IOC gets the first alone, FOK all at once."
        case .late: "Reports come after a delay. A cancel or replace is first pending, then done."
        case .mute: "Orders rest and nothing is ever answered, except status requests."
        case .drop: "The order is booked, then the connection breaks before it is acknowledged; once for each order."
        case .duplicateReports: "Every report is sent twice, as two messages with one ExecID."
        case .overfill: "More is filled than was ordered: a tenth more, one share at least."
        case .fillAfterCancel: "Orders rest; after a cancel is acknowledged, half of the order is filled all the same."
        case .priceGap: "Orders without a limit are filled 20 % worse than the quote."
        case .noCancel: "Every cancel request is rejected."
        case .noReplace: "Every replace request is rejected."
        case .crossingFill: "Orders rest; a cancel or replace request crosses a fill of half of what is left."
        case .filledFirst: "Orders rest; a cancel or replace request comes too late: all that is left has just been filled."
        }
    }

    /// No quote fills the order.
    var keepsResting: Bool {
        switch self {
        case .mute, .fillAfterCancel, .crossingFill, .filledFirst: true
        default: false
        }
    }

    /// The scenario that a symbol's suffix names, and the symbol whose quote it trades at.
    package static func split(_ symbol: String) -> (base: String, scenario: Scenario?) {
        guard let dot = symbol.lastIndex(of: "."), let scenario = Scenario(rawValue: String(symbol[symbol.index(after: dot)...])) else {
            return (symbol, nil)
        }
        return (String(symbol[..<dot]), scenario)
    }
}
