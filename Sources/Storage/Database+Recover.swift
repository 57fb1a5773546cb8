package import Postgres
import Trading

/// What a recovery came to.
package struct Recovered: Sendable {
    /// MsgSeqNum that our next message takes.
    package let nextOut: Int64
    /// MsgSeqNum that we expect: the venue is asked for all from there on, which brings the reports that were lost.
    package let nextIn: Int64
    /// In event ids from now on.
    package let generation: Int64
}

/// A database restored from a backup: the venue knows orders that it does not.
extension Database {
    /// Begins the recovered history, in one transaction; nil where a router speaks for the session, there is none, or `nextOut` lies back.
    ///
    /// - Parameters:
    ///   - nextOut: of our next message; nil: `skipping` more than it is.
    ///   - cancels: numbers of cancel requests that are left out for each open order.
    package func recover(
        session: String,
        nextOut: Int64?,
        skipping numbers: Int64,
        cancels: Int16,
        by whom: String,
        at now: Int64
    ) throws(PostgresError) -> Recovered? {
        let rows = try begin { pipeline in
            pipeline.add(SQL.lockAllShards)
            pipeline.add(SQL.readWholeTables)
            pipeline.add(SQL.recoverDatabase) {
                $0.append(session)
                $0.append(nextOut)
                $0.append(numbers)
                $0.append(now)
                $0.append(whom)
                $0.append(cancels)
                $0.append(OrderState.lostInRestore)
            }
        }
        guard rows[2].count == 1 else {
            rollback()
            return nil
        }
        let recovered = Recovered(nextOut: rows[2].int64(0, 0), nextIn: rows[2].int64(0, 1), generation: rows[2].int64(0, 2))
        do {
            try commit { $0.auditOperator(by: whom, "recovered", "\(session), next out \(recovered.nextOut)", now) }
        } catch {
            rollback()
            throw error
        }
        return recovered
    }

    /// In the transaction at hand: those of the keys that were asked about, with the venue's word.
    func recoveredKeys(_ keys: [KeyID]) throws(PostgresError) -> [KeyID: Bool?] {
        if keys.isEmpty { return [:] }
        do {
            let rows = try run(SQL.readRecoveredKeys) {
                $0.append(keys.map(\.account.text))
                $0.append(keys.map(\.bits))
            }
            var found: [KeyID: Bool?] = [:]
            for row in 0..<rows.count {
                found.updateValue(rows.isNull(row, 2) ? nil : rows.bool(row, 2), forKey: KeyID(rows.account(row, 0), rows.key(row, 1)))
            }
            return found
        } catch {
            rollback()
            throw error
        }
    }

    /// Keys that the venue has not answered, and was not asked about since.
    package func keysToAsk(askedBefore: Int64, limit: Int) throws(PostgresError) -> [KeyQuestion] {
        let rows = try run(SQL.readKeysToAsk) {
            $0.append(askedBefore)
            $0.append(Int64(limit))
        }
        return (0..<rows.count).map { row in
            guard let symbol = Symbol(rows.text(row, 3)), let side = Side(rawValue: rows.int16(row, 4)) else {
                preconditionFailure("A recovered key has valid terms.")
            }
            return KeyQuestion(id: KeyID(rows.account(row, 0), rows.key(row, 1)), orderID: rows.orderID(row, 2), symbol: symbol, side: side)
        }
    }

    /// Commits questions about keys with the session's numbers, and notes that they were asked.
    package func commitKeysAsked(
        _ messages: [SentMessage],
        session: String,
        record: SessionRecord,
        nextOut: Int64,
        nextIn: Int64,
        at now: Int64
    ) throws(PostgresError) {
        _ = try begin { _ in }
        do {
            try commit { pipeline in
                pipeline.add(SQL.noteKeysAsked) {
                    $0.append(messages.map(\.orderID))
                    $0.append(now)
                }
                pipeline.insertSent(messages, session: session, generation: record.generation)
                pipeline.advance(session, epoch: record.epoch, generation: record.generation, nextOut: nextOut, nextIn: nextIn, received: 0)
            }
        } catch {
            rollback()
            throw error
        }
    }
}

extension ShardChanges {
    /// The session's row is locked by it: last of all.
    func writeRecovery(into pipeline: inout Pipeline) {
        if !questions.isEmpty {
            pipeline.add(SQL.insertRecoveredKeys) {
                $0.append(at)
                $0.append(questions.map(\.id.account.text))
                $0.append(questions.map(\.id.bits))
                $0.append(questions.map(\.id.account.shard))
                $0.append(questions.map(\.orderID.text))
                $0.append(questions.map(\.symbol.text))
                $0.append(questions.map(\.side.rawValue))
            }
        }
        if !knownAtVenue.isEmpty {
            let answers = knownAtVenue.sorted { $0.key.text < $1.key.text }
            pipeline.add(SQL.answerRecoveredKeys) {
                $0.append(at)
                $0.append(answers.map(\.key.text))
                $0.append(answers.map(\.value))
            }
        }
        if let session = adopted.first?.session {
            pipeline.add(SQL.attachReports) {
                $0.append(adopted.map(\.order.id.text))
                $0.append(adopted.map(\.order.account.shard))
                $0.append(session)
                $0.append(at)
            }
        }
    }
}
