package import Postgres

/// The FIX session's numbers as a whole: since when, whether the venue has lost them, and beginning them again.
extension Database {
    /// When the session's numbers of this generation were first used, ms since the epoch; nil = nobody knows.
    package func sessionBegan(_ session: String, generation: Int64) throws(PostgresError) -> Int64? {
        let rows = try run(SQL.readSessionBegan) {
            $0.append(session)
            $0.append(generation)
        }
        return rows.count == 0 ? nil : rows.optionalInt64(0, 0)
    }

    /// The venue has lost its numbers: `takeLease` says so until the session is reset.
    package func noteNumbersLost(by session: String, epoch: Int64, at now: Int64) throws(PostgresError) {
        _ = try run(SQL.noteNumbersLost) {
            $0.append(session)
            $0.append(epoch)
            $0.append(now)
        }
    }

    /// Begins the session's numbers again: the generation that nobody has spoken in yet, whose first Logon asks the venue to do the same. The epoch moves
    /// too, so that nothing of the old numbers is committed any more. Returns the new generation; nil where there is no such session.
    package func resetSession(_ session: String, by whom: String, at now: Int64) throws(PostgresError) -> Int64? {
        let rows = try begin { $0.add(SQL.resetSession) { $0.append(session) } }
        guard rows[0].count == 1 else {
            rollback()
            return nil
        }
        do {
            try commit { $0.auditOperator(by: whom, "session_reset", session, now) }
        } catch {
            rollback()
            throw error
        }
        return rows[0].int64(0, 0)
    }
}
