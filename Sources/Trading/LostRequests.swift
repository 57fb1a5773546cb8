/// Requests to cancel or replace, when messages between us and the venue are lost for good: in a reset of the sequence numbers, or because the venue skips
/// some of its own. With them a request that had its number may be lost, or its answer, and nobody sends either again.
extension OrderState {
    /// A cancel or replace was asked of the venue, and is not answered.
    package var hasRequestUnderWay: Bool { cancelPending || replaces.pending != nil }

    /// A cancel is to be asked for again, under a new id: a venue that has taken the first one refuses it, and says that the order has ended. A replace is not:
    /// the venue's status tells by its id whether it is in force, once it was asked in later numbers than these.
    ///
    /// - Parameters:
    ///   - generation: of the session's numbers in which messages were lost.
    ///   - waiting: requests that wait for their number, and so cannot be lost.
    /// - Returns: what to apply.
    package mutating func loseRequests(in generation: Int64, waiting: Set<OrderEventType>) -> OrderEvent? {
        if !waiting.contains(.replaceRequested) { replaces.pending?.lostIn = generation }
        return cancelPending && !waiting.contains(.cancelRequested) ? .cancelRequested : nil
    }
}
