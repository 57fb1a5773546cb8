package import Postgres

/// A part of a table that is partitioned by time. Days are UTC, `yyyy-mm-dd`.
package struct Part: Sendable {
    package let table: String
    package let name: String
    /// nil: everything before its end.
    package let begins: String?
    /// The day behind its last; nil: open to the end of time.
    package let ends: String?
    /// Its detaching was interrupted and has yet to be finished.
    package let isLeaving: Bool
    /// As PostgreSQL last counted them.
    package let rows: Int64
    package let rowBytes: Int64
    package let indexBytes: Int64
}

/// Orders, executions and ledger entries in parts of a week (migration 0006).
extension Database {
    /// In the order in which old parts are detached: what belongs to an order leaves after it.
    private static let tables = ["orders", "executions", "ledger_entries"]

    /// Days for which parts are made ahead: weeks of alarms before rows begin to gather in the open part, where they are kept all the same.
    package static let partDaysAhead: Int32 = 28

    /// Makes the parts of the coming weeks that are missing. Legs wait half a second for it at most; where that does not suffice it fails, and is tried
    /// again later.
    package func makeParts(at now: Int64) throws(PostgresError) -> Int64 {
        var made: Int64 = 0
        for table in Self.tables {
            made += try run(SQL.makeParts) {
                $0.append(table)
                $0.append(now)
                $0.append(Self.partDaysAhead)
            }.int64(0, 0)
        }
        return made
    }

    /// Every part, oldest first within its table.
    package func parts() throws(PostgresError) -> [Part] {
        let rows = try run(SQL.readParts)
        let parts = (0..<rows.count).map { row in
            Part(
                table: rows.text(row, 0),
                name: rows.text(row, 1),
                begins: rows.optionalText(row, 2),
                ends: rows.optionalText(row, 3),
                isLeaving: rows.bool(row, 4),
                rows: rows.int64(row, 5),
                rowBytes: rows.int64(row, 6),
                indexBytes: rows.int64(row, 7)
            )
        }
        return Self.tables.flatMap { table in parts.filter { $0.table == table } }
    }

    /// Detaches a part, beside live routers; its table stays, for whoever keeps it elsewhere or drops it. Waits for transactions that are reading.
    ///
    /// - Returns: why it cannot be detached; nil when it was.
    package func detach(_ part: Part, by whom: String, at now: Int64) throws(PostgresError) -> String? {
        let connection = try connection()
        var name = Parameters()
        name.append(part.name)
        // Its rows are read end to end, which may take minutes.
        func run(_ statement: Statement) throws(PostgresError) -> Rows {
            try connection.run(statement, name, within: Self.detachDeadline)
        }
        do {
            try connection.begin()
            try connection.run(SQL.readWholeTables)
            if !part.isLeaving, let obstacle = try run(SQL.readPartObstacle).optionalText(0, 0) {
                rollback()
                return obstacle
            }
            if part.table == "ledger_entries" { _ = try run(SQL.carryEntries) }
            _ = try connection.pipeline { $0.auditOperator(by: whom, "part_detached", "\(part.name): \(part.rows) rows or so", now) }
            try connection.commit()
        } catch {
            rollback()
            throw error
        }
        try connection.execute(try run(SQL.readDetachCommand).text(0, 0), within: Self.detachDeadline)
        return nil
    }

    private static let detachDeadline: Duration = .seconds(3_600)
}
