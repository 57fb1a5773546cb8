package import Postgres
package import Trading

/// A comparison of what is here with what the venue has. Times in ms since the epoch.
package struct Reconciliation: Sendable {
    package enum Outcome: String, Sendable {
        case agrees
        case differs
        /// The venue does not answer such requests.
        case refused
        case unanswered
    }

    package let id: Int64
    package let requestedBy: String
    package let requestedAt: Int64
    /// When the OrderMassStatusRequest had its number.
    package let sentAt: Int64?
    package let endedAt: Int64?
    package let outcome: Outcome?
    /// Reports of the venue's answer.
    package let reports: Int64?
    package let detail: String?

    /// MassStatusReqID, tag 584.
    package var requestID: String { "R\(id)" }
}

/// How far the venue's answer has come.
package struct ReconciliationAnswer: Sendable {
    package let reports: Int64
    package let isComplete: Bool
    /// All of it, and all that came before it.
    package let isSettled: Bool
    /// The venue's words, where it refuses to answer.
    package let refusal: String?
}

/// Something that is one way here and another way at the venue.
package struct Difference: Sendable {
    /// As the venue names it: may be no order of ours.
    package let orderID: String
    package let account: String?
    /// not_ours, not_at_venue, cum_qty, terms or open_at_venue.
    package let what: String
    package let detail: String
}

extension Database {
    /// Returns the comparison's number.
    package func requestReconciliation(of session: String, by whom: String, at now: Int64) throws(PostgresError) -> Int64 {
        try run(SQL.insertReconciliation) {
            $0.append(session)
            $0.append(whom)
            $0.append(now)
        }.int64(0, 0)
    }

    /// Those that are not at their end, oldest first.
    package func openReconciliations(of session: String) throws(PostgresError) -> [Reconciliation] {
        let rows = try run(SQL.readOpenReconciliations) { $0.append(session) }
        return (0..<rows.count).map { rows.reconciliation($0) }
    }

    package func reconciliation(_ id: Int64) throws(PostgresError) -> Reconciliation? {
        let rows = try run(SQL.readReconciliation) { $0.append(id) }
        return rows.count == 0 ? nil : rows.reconciliation(0)
    }

    package func differences(of reconciliation: Int64) throws(PostgresError) -> [Difference] {
        try run(SQL.readDifferences) { $0.append(reconciliation) }.differences
    }

    /// Of the newest comparison that has ended; nil where there is none, or the venue gave no answer.
    package func differenceCount() throws(PostgresError) -> Int64? {
        let count = try run(SQL.countDifferences).int64(0, 0)
        return count < 0 ? nil : count
    }

    /// Commits the OrderMassStatusRequest of a comparison with its number.
    package func commitMassStatus(
        _ message: SentMessage,
        of reconciliation: Int64,
        session: String,
        record: SessionRecord,
        nextOut: Int64,
        nextIn: Int64
    ) throws(PostgresError) {
        _ = try begin { _ in }
        do {
            try commit { pipeline in
                pipeline.add(SQL.noteReconciliationSent) {
                    $0.append(reconciliation)
                    $0.append(session)
                    for value in [message.sentAt, record.generation, message.number] { $0.append(value) }
                }
                pipeline.insertSent([message], session: session, generation: record.generation)
                pipeline.advance(session, epoch: record.epoch, generation: record.generation, nextOut: nextOut, nextIn: nextIn, received: 0)
            }
        } catch {
            rollback()
            throw error
        }
    }

    package func answer(to reconciliation: Int64) throws(PostgresError) -> ReconciliationAnswer {
        let rows = try run(SQL.readReconciliationAnswer) { $0.append(reconciliation) }
        return ReconciliationAnswer(
            reports: rows.int64(0, 0),
            isComplete: rows.bool(0, 1),
            isSettled: rows.bool(0, 2),
            refusal: rows.optionalText(0, 3)
        )
    }

    /// Compares the whole answer, once it is settled, with what is here.
    ///
    /// - Parameters:
    ///   - open: orders that were numbered for the venue and are open here.
    ///   - venue: under which executions are unique.
    package func compare(_ reconciliation: Int64, open: [OrderID], venue: String) throws(PostgresError) -> [Difference] {
        let connection = try connection()
        do {
            try connection.run(SQL.beginVerify)
            try connection.run(SQL.readWholeTables)
            var values = Parameters()
            values.append(reconciliation)
            values.append(open.map(\.text))
            values.append(venue)
            let found = try connection.run(SQL.compareWithVenue, values).differences
            try connection.commit()
            return found
        } catch {
            rollback()
            throw error
        }
    }

    /// Ends a comparison: what was found is kept, and alarmed once.
    package func end(
        _ reconciliation: Int64,
        _ outcome: Reconciliation.Outcome,
        reports: Int64,
        differences: [Difference] = [],
        detail: String? = nil,
        at now: Int64
    ) throws(PostgresError) {
        _ = try begin { _ in }
        do {
            try commit { pipeline in
                if !differences.isEmpty {
                    pipeline.add(SQL.insertDifferences) {
                        $0.append(reconciliation)
                        $0.append(differences.map(\.orderID))
                        $0.append(differences.map(\.account))
                        $0.append(differences.map(\.what))
                        $0.append(differences.map(\.detail))
                    }
                    pipeline.add(SQL.raiseAlarms) {
                        $0.append(now)
                        $0.append([Alarm.Kind.reconciliation.rawValue])
                        $0.append([String?.none])
                        $0.append([String?.none])
                        $0.append(["\(differences.count) differences with the venue in reconciliation \(reconciliation)"])
                    }
                }
                pipeline.add(SQL.endReconciliation) {
                    $0.append(reconciliation)
                    $0.append(now)
                    $0.append(outcome.rawValue)
                    $0.append(reports)
                    $0.append(detail)
                }
            }
        } catch {
            rollback()
            throw error
        }
    }
}

extension Rows {
    fileprivate func reconciliation(_ row: Int) -> Reconciliation {
        Reconciliation(
            id: int64(row, 0),
            requestedBy: text(row, 1),
            requestedAt: int64(row, 2),
            sentAt: optionalInt64(row, 3),
            endedAt: optionalInt64(row, 4),
            outcome: optionalText(row, 5).flatMap(Reconciliation.Outcome.init(rawValue:)),
            reports: optionalInt64(row, 6),
            detail: optionalText(row, 7)
        )
    }

    fileprivate var differences: [Difference] {
        (0..<count).map { Difference(orderID: text($0, 0), account: optionalText($0, 1), what: text($0, 2), detail: text($0, 3)) }
    }
}
