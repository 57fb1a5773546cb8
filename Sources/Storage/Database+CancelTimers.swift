package import Postgres
package import Trading

/// A timer of cancel-all-after that has run out.
package struct DueCancelTimer: Sendable {
    package let account: AccountID
    package let deadline: Int64
}

/// cancel-all-after: a client that falls silent has its open orders cancelled.
extension Database {
    /// Arms the account's timer or pushes it back; nil disarms it. False where no such account exists.
    package func setCancelTimer(of account: AccountID, deadline: Int64?, at now: Int64) throws(PostgresError) -> Bool {
        guard let deadline else {
            _ = try run(SQL.deleteCancelTimer) { $0.append(account.text) }
            return try run(SQL.readAccounts) { $0.append([account.text]) }.count == 1
        }
        do {
            _ = try run(SQL.setCancelTimer) {
                $0.append(account.text)
                $0.append(account.shard)
                $0.append(now)
                $0.append(deadline)
            }
            return true
        } catch  where error.sqlState == "23503" {
            return false
        }
    }

    /// Timers whose deadline is past, the oldest first.
    package func dueCancelTimers(now: Int64, limit: Int) throws(PostgresError) -> [DueCancelTimer] {
        let rows = try run(SQL.readDueCancelTimers) {
            $0.append(now)
            $0.append(Int64(limit))
        }
        return (0..<rows.count).map { DueCancelTimer(account: rows.account($0, 0), deadline: rows.int64($0, 1)) }
    }

    /// Begins cancelling for a timer: takes it and the account's shard, and reads the next of its open orders, oldest first. Ends the transaction and
    /// returns nil when the timer was pushed back meanwhile.
    package func beginCancelAll(_ timer: DueCancelTimer) throws(PostgresError) -> OrderReads? {
        let rows = try begin { pipeline in
            pipeline.add(SQL.lockCancelTimer) {
                $0.append(timer.account.text)
                $0.append(timer.deadline)
            }
            pipeline.lock([timer.account.shard])
        }
        if rows[0].count == 0 {
            rollback()
            return nil
        }
        do {
            let open = try openOrders(of: [timer.account])
            return try reads(rows[1].shardLocks, [try run(SQL.readOrdersByID) { $0.append(bounded: open.map(\.text)) }])
        } catch {
            rollback()
            throw error
        }
    }

    /// Commits cancel requests for a timer, which ends with the last of them.
    package func commitCancelAll(_ changes: ShardChanges, ending timer: DueCancelTimer?) throws(PostgresError) {
        func end(_ pipeline: inout Pipeline) {
            if let timer { pipeline.add(SQL.deleteCancelTimer) { $0.append(timer.account.text) } }
        }
        try commit(changes, sent: {}, end)
    }
}
