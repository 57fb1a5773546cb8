package import Postgres

/// The session by which orders go to the venue. There is one at a time (design section 6: the log has one sender).
package struct SessionInForce: Sendable, Equatable {
    /// `<SenderCompID>-><TargetCompID>`.
    package let id: String
    let epoch: Int64
    /// A router speaks for it.
    package let isHeld: Bool
    /// When this database was last recovered, ms since the epoch; nil: never.
    package let recoveredAt: Int64?
    /// MsgSeqNum of our next message.
    package let nextOut: Int64
}

extension Database {
    /// nil where none was ever begun.
    package func sessionInForce() throws(PostgresError) -> SessionInForce? {
        let rows = try run(SQL.readSessionInForce)
        if rows.count == 0 { return nil }
        return SessionInForce(
            id: rows.text(0, 0),
            epoch: rows.int64(0, 1),
            isHeld: rows.bool(0, 2),
            recoveredAt: rows.optionalInt64(0, 3),
            nextOut: rows.int64(0, 4)
        )
    }

    /// The same, begun with this one where there is none yet: of two that begin at once one is in force for both.
    package func sessionInForce(elseBeginning session: String) throws(PostgresError) -> SessionInForce {
        _ = try run(SQL.claimSession) { $0.append(session) }
        guard let found = try sessionInForce() else { preconditionFailure("One session is in force from the first one on.") }
        return found
    }

    /// From now on orders go by another session. Nothing of the one before is deleted. False where a router speaks for that one, or has since it was read.
    package func changeSession(from old: SessionInForce, to new: String, by whom: String, at now: Int64) throws(PostgresError) -> Bool {
        let rows = try begin { pipeline in
            pipeline.add(SQL.endSession) {
                $0.append(old.id)
                $0.append(old.epoch)
                $0.append(now)
            }
        }
        guard rows[0].count == 1 else {
            rollback()
            return false
        }
        let nextInbox = rows[0].int64(0, 0)
        do {
            try commit { pipeline in
                pipeline.add(SQL.beginSession) {
                    $0.append(new)
                    $0.append(nextInbox)
                }
                pipeline.auditOperator(by: whom, "session_changed", "\(old.id) to \(new)", now)
            }
        } catch {
            rollback()
            throw error
        }
        return true
    }

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
    /// too, so that nothing of the old numbers is committed any more. Returns the new generation; nil where orders do not go by such a session.
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
