package import Postgres

/// What one check of the ledger found.
package struct CheckResult: Sendable, Equatable {
    package let name: String
    /// The invariant, as a sentence.
    package let proves: String
    package let columns: [String]
    /// Rows that break it, as text in the order of `columns`; none where it holds.
    package let offending: [[String]]
    /// Whether more rows break it than were asked for.
    package let hasMore: Bool

    package var holds: Bool { offending.isEmpty }
}

/// The proof of what the ledger promises (design section 5): each check is a statement that returns the rows that break an invariant.
extension Database {
    fileprivate struct Check {
        let statement: Statement
        let proves: String
    }

    private static let checks: [Check] = [
        Check(statement: SQL.verifyJournals, proves: "The entries of each journal sum to zero for each asset."),
        Check(statement: SQL.verifyEntries, proves: "Each entry has an amount above zero, a bucket that its account has, and its account's shard."),
        Check(statement: SQL.verifyBalances, proves: "Each balance is the sum of its entries, for each account, asset and bucket."),
        Check(statement: SQL.verifySigns, proves: "No customer's balance is negative, and only the house settles."),
        Check(statement: SQL.verifyHolds, proves: "What an account has held is what its open orders hold together."),
        Check(statement: SQL.verifyOrderHolds, proves: "Each open order holds what its remaining quantity needs; ended orders hold nothing."),
        Check(statement: SQL.verifyOrderEntries, proves: "What each order holds and has settled is the sum of its own entries."),
        Check(statement: SQL.verifyFills, proves: "Filled quantity and value of each order are the sums of its executions."),
        Check(statement: SQL.verifyAlarms, proves: "Each order filled beyond its quantity, and each account that owes, has its alarm."),
        Check(statement: SQL.verifyKeys, proves: "Each accepted key has its one order, and each order its one accepted key, of the same account."),
        Check(
            statement: SQL.verifyVenueOrders,
            proves: "Each order went to the venue as one new order at most, under its own ClOrdID, and did if it says so."
        ),
        Check(statement: SQL.verifyEvents, proves: "The events of each account are numbered without gaps up to its last one."),
        Check(statement: SQL.verifyLog, proves: "The log of each shard has each account's events in their order."),
        Check(statement: SQL.verifyCounters, proves: "Shards and sessions have counted past every row that they numbered."),
    ]

    /// Reading all entries of a large ledger takes minutes; an operator who waits longer looks for another way.
    private static let verifyDeadline: Duration = .seconds(3_600)

    /// Runs every check on what is committed at one moment, in a transaction that reads alone: it may run beside live routers.
    ///
    /// - Parameter limit: offending rows of each check at most.
    package func verifyLedger(limit: Int) throws(PostgresError) -> [CheckResult] {
        let connection = try connection()
        do {
            try connection.run(SQL.beginVerify)
            try connection.run(SQL.lockParts)
            try connection.run(SQL.readWholeTables)
            var results: [CheckResult] = []
            for check in Self.checks {
                var values = Parameters()
                values.append(Int64(limit) + 1)
                results.append(check.result(try connection.run(check.statement, values, within: Self.verifyDeadline), limit))
            }
            try connection.commit()
            return results
        } catch {
            rollback()
            throw error
        }
    }
}

extension Database.Check {
    fileprivate func result(_ rows: Rows, _ limit: Int) -> CheckResult {
        CheckResult(
            name: statement.name.replacing("verify_", with: "").replacing("_", with: "-"),
            proves: proves,
            columns: (0..<rows.columnCount).map { rows.columnName($0) },
            offending: (0..<min(rows.count, limit)).map { row in (0..<rows.columnCount).map { rows.optionalText(row, $0) ?? "-" } },
            hasMore: rows.count > limit
        )
    }
}
