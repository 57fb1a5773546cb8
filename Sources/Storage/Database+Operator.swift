package import Postgres
package import Trading

/// How much waits for each leg.
package struct Backlog: Sendable {
    package let unsentRows: Int64
    /// Time of the oldest log row that the venue's sender has not looked at; nil when there is none.
    package let oldestUnsentAt: Int64?
    package let unsettledReports: Int64
    /// Receipt time of the oldest unsettled report; nil when there is none.
    package let oldestUnsettledAt: Int64?
    package let parkedReports: Int64
    package let alarms: Int64
    /// Days until the newest rows would gather in the open part of a table (see `makeParts`).
    package let partDaysAhead: Int64
}

/// How large a table is, partitions and indexes included.
package struct TableSize: Sendable {
    package let name: String
    package let bytes: Int64
    /// As the last statistics say.
    package let liveRows: Int64
    package let deadRows: Int64
}

/// What operators do.
extension Database {
    /// Creates an account with cash and shares: deposits from the house, in one transaction.
    ///
    /// - Parameter positions: whole shares and what they cost in all.
    /// - Returns: false where the account exists already (nothing is changed).
    package func createAccount(
        _ account: AccountID,
        cash: Amount,
        positions: [(symbol: Symbol, shares: Amount, cost: Amount)],
        by whom: String,
        at now: Int64
    ) throws(PostgresError) -> Bool {
        let house = LedgerAccount.house(shard: account.shard)
        let assets = [Asset.cash] + positions.map { .shares($0.symbol) }
        let rows = try begin { pipeline in
            pipeline.lock([account.shard])
            pipeline.readAccounts([account])
            pipeline.readBalances(assets.map { Balances.Key(house, $0) })
        }
        guard rows[1].count == 0 else {
            rollback()
            return false
        }
        var changes = ShardChanges(locks: rows[0].shardLocks, at: now, accounts: [:], balances: rows[2].balances)
        var fits = changes.balances.deposit(cash, of: .cash, to: account)
        for position in positions {
            fits = fits && changes.balances.deposit(position.shares, of: .shares(position.symbol), to: account)
            changes.balances.setCost(position.cost, of: .customer(account), .shares(position.symbol))
        }
        guard fits else {
            rollback()
            throw PostgresError(code: .server, operation: "create account", message: "the house account would leave the range of the ledger")
        }
        let opening = changes
        do {
            try commit { pipeline in
                pipeline.add(SQL.insertAccount) {
                    $0.append(account.text)
                    $0.append(account.shard)
                    $0.append(now)
                }
                opening.write(into: &pipeline)
                pipeline.auditOperator(by: whom, "account_created", account.text, now)
            }
        } catch {
            rollback()
            throw error
        }
        return true
    }

    package func halts() throws(PostgresError) -> [Halt] { try run(SQL.readHalts).halts }

    /// Halts through every shard: when this returns, nothing is accepted or newly numbered under the halt, on any router.
    package func halt(_ halt: Halt, by whom: String, at now: Int64) throws(PostgresError) {
        try changeHalts { pipeline in
            pipeline.add(SQL.insertHalt) {
                $0.append(halt.scope.rawValue)
                $0.append(halt.subject)
                $0.append(now)
                $0.append(whom)
                $0.append(halt.reason)
            }
            pipeline.auditOperator(by: whom, "halted", "\(halt.scope.rawValue) \(halt.subject): \(halt.reason)", now)
        }
    }

    /// Ends a halt. False where there was none.
    package func resume(_ scope: Halt.Scope, subject: String, by whom: String, at now: Int64) throws(PostgresError) -> Bool {
        let existed = try halts().contains { $0.scope == scope && $0.subject == subject }
        try changeHalts { pipeline in
            pipeline.add(SQL.deleteHalt) {
                $0.append(scope.rawValue)
                $0.append(subject)
            }
            pipeline.auditOperator(by: whom, "resumed", "\(scope.rawValue) \(subject)", now)
        }
        return existed
    }

    private func changeHalts(_ build: (inout Pipeline) -> Void) throws(PostgresError) {
        _ = try begin { $0.add(SQL.lockAllShards) }
        do {
            try commit(build)
        } catch {
            rollback()
            throw error
        }
    }

    package func backlog() throws(PostgresError) -> Backlog {
        let rows = try run(SQL.readBacklog)
        func time(_ column: Int) -> Int64? { rows.int64(0, column) == 0 ? nil : rows.int64(0, column) }
        return Backlog(
            unsentRows: rows.int64(0, 0),
            oldestUnsentAt: time(1),
            unsettledReports: rows.int64(0, 2),
            oldestUnsettledAt: time(3),
            parkedReports: rows.int64(0, 4),
            alarms: rows.int64(0, 5),
            partDaysAhead: Int64(rows.int32(0, 6))
        )
    }

    /// Every table, the largest first.
    package func tableSizes() throws(PostgresError) -> [TableSize] {
        let rows = try run(SQL.readTableSizes)
        return (0..<rows.count).map {
            TableSize(name: rows.text($0, 0), bytes: rows.int64($0, 1), liveRows: rows.int64($0, 2), deadRows: rows.int64($0, 3))
        }
    }
}

extension Pipeline {
    mutating func auditOperator(by whom: String, _ action: String, _ detail: String, _ now: Int64) {
        add(SQL.insertOperatorAudit) {
            $0.append(now)
            $0.append(whom)
            $0.append(action)
            $0.append(detail)
        }
    }
}
