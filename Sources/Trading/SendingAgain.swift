/// Sending an order again that was lost in a reset of the sequence numbers (design section 7; PossResend, FIX 4.4 tag 97).
///
/// What holds up "one key, one order": the venue itself has said, to a question that was asked after the reset and after the last sending, that it does
/// not know the order; and it never said anything else of it. Should it have come all the same, the venue knows it by its ClOrdID, which is unique within
/// a trading day (FIX 4.4 volume 4, tag 11): so nothing is sent again on another day.
extension OrderState {
    /// Each takes a reset of its own: a venue that loses an order three times is not to be given it once more.
    package static let resendsAtMost: Int16 = 2

    /// Whether an order that the venue has said not to know may go to it once more. Only as it was: what a cancel or replace was asked for is left to its
    /// client.
    ///
    /// - Parameter opening: when the venue's present period of numbers began, where that is agreed upon.
    package func maySendAgain(at now: Int64, since opening: Int64? = nil) -> Bool {
        unansweredIn ?? 0 > 0 && filledQuantity == 0 && cancels == 0 && replaces.requests == 0 && routeBy >= now
            && CivilDate(millisecondsSinceEpoch: createdAt) == CivilDate(millisecondsSinceEpoch: now) && createdAt >= opening ?? .min
    }

    /// Waits for its number and must not get it any more: past its deadline, or to be sent again where that may not be.
    package func isTooLate(at now: Int64, since opening: Int64?) -> Bool {
        isOverdue(at: now) || (status == .accepted && resends > 0 && !maySendAgain(at: now, since: opening))
    }
}

/// What an OrderStatusRequest of ours says of itself (OrdStatusReqID, tag 790), and the venue's answer repeats: which sending it asks about.
package struct StatusQuestion: Hashable, Sendable {
    /// Of the session's numbers, in which it is asked.
    package let generation: Int64
    /// How often the order had been sent again when it was asked.
    package let resends: Int16

    package init(generation: Int64, resends: Int16) {
        self.generation = generation
        self.resends = resends
    }

    /// nil where it is none of ours.
    package init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let generation = Int64(parts[0]), let resends = Int16(parts[1]), generation > 0, resends >= 0 else { return nil }
        self.init(generation: generation, resends: resends)
    }

    package var text: String { "\(generation).\(resends)" }
}
