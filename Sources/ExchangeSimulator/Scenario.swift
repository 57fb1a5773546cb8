/// What the venue does wrong on purpose. Chosen by the symbol's suffix (`NVDA.REJ` trades at NVDA's quote) or set for any symbol.
package enum Scenario: String, CaseIterable, Sendable {
    // What becomes of an order.
    case reject = "REJ"
    case partialFills = "PART"
    case overfill = "OVER"
    case priceGap = "GAP"
    case lost = "LOST"
    // What becomes of requests about it.
    case noCancel = "NOCXL"
    case noReplace = "NOREPL"
    case crossingFill = "CROSS"
    case filledFirst = "TOOLATE"
    case fillAfterCancel = "LATEFILL"
    // When and how it is reported.
    case late = "LATE"
    case mute = "MUTE"
    case silent = "SILENT"
    case duplicateReports = "DUP"
    case reordered = "REORDER"
    case busted = "BUST"
    case corrected = "CORR"
    // What the line does.
    case unheard = "UNHEARD"
    case drop = "DROP"
    case dropInFrame = "DROPMID"
    case dropAfter = "DROPACK"
    case badCheckSum = "BADSUM"
    case gap = "SEQGAP"
    case split = "SPLIT"
    case replayed = "REPLAY"
    case asksAgain = "RESEND"
    case logout = "LOGOUT"

    /// One line for a person who has to choose.
    package var summary: String {
        switch self {
        case .reject: "Every order is rejected."
        case .partialFills: "Fills come in quarters: one at once, one at each tick. IOC gets the first alone, FOK all at once."
        case .overfill: "More is filled than was ordered: a tenth more, one share at least."
        case .priceGap: "Orders without a limit are filled 20 % worse than the quote."
        case .lost: "An order is swallowed: the venue never knows of it. Only one that comes again (PossResend) is taken."
        case .noCancel: "Every cancel request is rejected."
        case .noReplace: "Every replace request is rejected."
        case .crossingFill: "Orders rest; a cancel or replace request crosses a fill of half of what is left."
        case .filledFirst: "Orders rest; a cancel or replace request comes too late: all that is left has just been filled."
        case .fillAfterCancel: "Orders rest; after a cancel is acknowledged, half of the order is filled all the same."
        case .late: "Reports come after a delay. A cancel or replace is first pending, then done."
        case .mute: "Orders rest and nothing is ever answered, except status requests."
        case .silent: "Nothing is answered for a while, not even status requests; then everything is."
        case .duplicateReports: "Every report is sent twice, as two messages with one ExecID."
        case .reordered: "The acknowledgement comes after the fills and whatever else there is."
        case .busted: "Every trade is taken back right after it is reported (ExecType H), and its order cancelled."
        case .corrected: "Every trade is corrected right after it is reported (ExecType G), to a price one cent lower."
        case .unheard: "The line breaks when an order comes, before the venue has booked it; the session brings it again. Once for each order."
        case .drop: "The order is booked, then the connection breaks before it is acknowledged; once for each order."
        case .dropInFrame: "The connection breaks in the middle of the acknowledgement."
        case .dropAfter: "The connection breaks after the acknowledgement, before anything else."
        case .badCheckSum: "The acknowledgement has a wrong CheckSum: it is garbled and has to be asked for again."
        case .gap: "The acknowledgement takes its number and never reaches the line: a gap that has to be asked for."
        case .split: "Every report is written byte by byte."
        case .replayed: "Every report is sent again with PossDupFlag."
        case .asksAgain: "The venue asks again (ResendRequest) for what it has received last."
        case .logout: "The venue logs out before it acknowledges the order."
        }
    }

    /// Every scenario with its line.
    package static var list: String {
        allCases.map { "\($0.rawValue)\(String(repeating: " ", count: 10 - $0.rawValue.count))\($0.summary)" }.joined(separator: "\n")
    }

    /// No quote fills the order.
    var keepsResting: Bool {
        switch self {
        case .mute, .fillAfterCancel, .crossingFill, .filledFirst: true
        default: false
        }
    }

    /// What the line does when a report about the order is sent; `isFirst` = its acknowledgement.
    func fault(isFirst: Bool) -> LineFault? {
        switch self {
        case .split: .isSplit
        case .replayed: .isRepeated
        case .drop where isFirst: .breaksBefore
        case .dropInFrame where isFirst: .breaksInside
        case .dropAfter where isFirst: .breaksAfter
        case .badCheckSum where isFirst: .badCheckSum
        case .gap where isFirst: .isLost
        case .asksAgain where isFirst: .asksAgainAfter
        case .logout where isFirst: .logsOutBefore
        default: nil
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
