/// An order that the venue had and says not to know: its session was restarted without its memory, another part of it has answered, or it has purged what
/// it takes for over. What it has done with the order until then nobody knows from that word: the hold stays, a person is told, and he ends the order here
/// once the venue's desk has said what was filled of it. An order that the venue never spoke of is another matter: it never came (`notRouted`). Whether it has
/// spoken of an order that was open in a backup nobody knows once that is restored: so such an order counts as one that it had.
extension OrderState {
    /// Why such an order is UNKNOWN; stored, and shown to its client.
    package static let forgottenByVenue = "forgotten_by_venue"
    /// Why it is UNKNOWN still once the venue speaks of it again, until that word says where it stands.
    package static let knownByVenueAfterAll = "venue_has_it_after_all"

    /// `unansweredIn` of an order that was open in a restored backup, and not answered by then. In the time that is lost it may have been sent, filled and
    /// ended. The venue sends its reports again as far as it has them still: not those of before the numbers began again, and nothing tells here whether they
    /// have. So no later answer of the session's, in whichever numbers it was asked for, proves that an order never came.
    package static let lostInRestore: Int64 = -1

    /// The venue has acknowledged it, filled of it, or spoken of it otherwise as one that it has. Once it is in doubt its status does not tell any more.
    package var wasHeardOf: Bool { status == .working || status == .partiallyFilled || filledQuantity > 0 || unansweredIn == 0 }

    /// The venue has spoken of it, or may have in a time that a restore has lost.
    package var mayHaveBeenHeardOf: Bool { wasHeardOf || unansweredIn == Self.lostInRestore }

    /// A report was settled: where the venue speaks of the order as one that it has, that is noted, so that the order is taken neither for lost nor for
    /// forgotten. On its normal way an order's status says so.
    ///
    /// - Returns: whether that is new.
    package mutating func heard(_ report: VenueReport) -> Bool {
        guard report.saysThatItCame, status == .routed || status == .unknown || unansweredIn != nil else { return false }
        let before = self
        unansweredIn = 0
        if isForgotten { reason = Self.knownByVenueAfterAll }
        return self != before
    }

    /// The venue's newest word on it is that it does not know it.
    package var isForgotten: Bool { status == .unknown && reason == Self.forgottenByVenue }

    /// Whether the venue's desk alone can say what became of it: its session does not know the order any more, or answers no question about it.
    ///
    /// - Parameter isUnanswered: asked for long, the venue has said nothing of it.
    package func needsTheDesk(isUnanswered: Bool) -> Bool { isForgotten || (status == .unknown && isUnanswered) }

    /// By the word of the venue's desk, which an operator has.
    package static let endedByOperator = OrderEvent.cancelled(reason: "ended_by_operator")
}
