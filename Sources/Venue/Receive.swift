import FIX
import Storage
import Trading

/// receive: exchange to inbox. What the venue told us and the number that we expect next go in one commit. After a crash the session asks again from the
/// last committed number, so no report is lost and none is taken twice.
extension VenueSession {
    /// Commits one batch of deliveries with the session's numbers. Throws when the lease is lost: nothing was received then.
    func receive(_ step: SessionStep, numbers: SessionNumbers) throws {
        let begun = ContinuousClock.now
        let now = now
        var reports = step.deliveries.compactMap { ReceivedReport($0, receivedAt: now) }
        if !step.refused.isEmpty {
            for delivery in step.refused { observer.trouble("message \(delivery.number) is refused: \(delivery.message)") }
            reports = (reports + step.refused.compactMap { ReceivedReport(refused: $0) }).sorted { $0.number < $1.number }
        }
        if !reports.isEmpty { observer.step(.receiveRead) }
        try database.commitReceived(
            session: settings.sessionID,
            record: try held(),
            nextOut: Int64(numbers.nextOut),
            nextIn: Int64(numbers.nextIn),
            generation: numbers.generation,
            reports: reports,
            at: now
        )
        if reports.isEmpty { return }
        observer.step(.receiveCommitted)
        observer.received()
        observer.batch("receive", reports.count, .now - begun)
    }
}
