package import Postgres
package import Trading

/// A halt with who made it and when.
package struct HaltDetails: Sendable {
    package let halt: Halt
    package let by: String
    package let at: Int64
}

/// How many orders wait for the venue's word out of turn, and since when the oldest does (ms); nil when there is none.
package struct Doubts: Sendable {
    package struct Count: Sendable {
        package let count: Int64
        package let oldestAt: Int64?
    }

    package let unknown: Count
    /// Cancel and replace requests without an answer, of orders that are not UNKNOWN.
    package let unansweredRequests: Count
}

/// What operators do to open orders.
extension Database {
    /// The same as `halts`, for people.
    package func haltDetails() throws(PostgresError) -> [HaltDetails] {
        let rows = try run(SQL.readHaltDetails)
        return zip(rows.halts, 0..<rows.count).map { HaltDetails(halt: $0, by: rows.text($1, 3), at: rows.int64($1, 4)) }
    }

    package func doubts() throws(PostgresError) -> Doubts {
        let rows = try run(SQL.readDoubts)
        func count(_ column: Int) -> Doubts.Count {
            Doubts.Count(count: rows.int64(0, column), oldestAt: rows.int64(0, column + 1) == 0 ? nil : rows.int64(0, column + 1))
        }
        return Doubts(unknown: count(0), unansweredRequests: count(2))
    }

    /// The open orders of an account, the oldest first.
    package func openOrders(of account: AccountID) throws(PostgresError) -> [OrderID] {
        try run(SQL.readOpenOrdersOfAccount) { $0.append(account.text) }.orderIDs
    }

    /// The open orders of an account whose cancel is under way, the oldest first, and how many cancels were requested of each.
    package func pendingCancels(of account: AccountID) throws(PostgresError) -> [(id: OrderID, cancels: Int16)] {
        let rows = try run(SQL.readPendingCancels) { $0.append(account.text) }
        return (0..<rows.count).map { (rows.orderID($0, 0), rows.int16($0, 1)) }
    }

    /// Every open order, by shard, as of one moment: reads all orders, the newest part first, a portion at a time (1 to 5 s for each GB).
    ///
    /// - Parameters:
    ///   - blocks: of 8 kB, read at once.
    ///   - found: called after each portion that has some, in a transaction of this connection: not to be used in there.
    package func openOrders(blocks: Int64, _ found: ([Int16: [OrderID]]) throws -> Void) throws {
        let connection = try connection()
        do {
            // One moment: an order that moves to another block meanwhile is not missed.
            try connection.run(SQL.beginVerify)
            try connection.run(SQL.lockParts)
            let parts = try connection.run(SQL.readOrderParts)
            for part in 0..<parts.count {
                for first in stride(from: 0, to: parts.int64(part, 1), by: Int(blocks)) {
                    let rows = try run(SQL.readOpenInPart) {
                        $0.append(parts.text(part, 0))
                        $0.append(first)
                        $0.append(first + blocks)
                    }
                    var portion: [Int16: [OrderID]] = [:]
                    for row in 0..<rows.count { portion[rows.int16(row, 0), default: []].append(rows.orderID(row, 1)) }
                    if !portion.isEmpty { try found(portion) }
                }
            }
            try connection.commit()
        } catch {
            rollback()
            throw error
        }
    }

    /// Open orders that were numbered for the venue and are not UNKNOWN yet, or have a request under way, by shard, as of one moment. Reads all orders, a
    /// portion at a time.
    ///
    /// - Parameters:
    ///   - blocks: of 8 kB, read at once.
    ///   - pause: called after each portion, in a transaction of this connection: not to be used in there.
    package func ordersAtVenue(blocks: Int64, _ pause: () throws -> Void) throws -> [Int16: [OrderID]] {
        let connection = try connection()
        do {
            // One moment: an order that moves to another block meanwhile is not missed.
            try connection.run(SQL.beginVerify)
            let all = try connection.run(SQL.countOrderBlocks).int64(0, 0)
            var found: [Int16: [OrderID]] = [:]
            for first in stride(from: 0, to: all, by: Int(blocks)) {
                let rows = try run(SQL.readOrdersAtVenue) {
                    $0.append(first)
                    $0.append(first + blocks)
                }
                for row in 0..<rows.count { found[rows.int16(row, 0), default: []].append(rows.orderID(row, 1)) }
                try pause()
            }
            try connection.commit()
            return found
        } catch {
            rollback()
            throw error
        }
    }

    /// In the transaction at hand: which requests of these orders, of the locked shards, wait for their number.
    package func waitingRequests(of orders: [OrderID], in locks: [ShardLock]) throws(PostgresError) -> [OrderID: Set<OrderEventType>] {
        if orders.isEmpty { return [:] }
        var waiting: [OrderID: Set<OrderEventType>] = [:]
        for lock in locks {
            let rows = try run(SQL.readWaitingRequests) {
                $0.append(lock.shard)
                $0.append(lock.sentLog)
                $0.append(orders.map(\.text))
            }
            for row in 0..<rows.count {
                guard let type = OrderEventType(rawValue: rows.int16(row, 1)) else { preconditionFailure("A stored event type is known.") }
                waiting[rows.orderID(row, 0), default: []].insert(type)
            }
        }
        return waiting
    }

    /// Commits a leg that an operator asked for, with its audit: a row for each detail.
    package func commit(_ changes: ShardChanges, audited details: [String], as action: String, by whom: String) throws(PostgresError) {
        try commit { pipeline in
            changes.write(into: &pipeline)
            for detail in details { pipeline.auditOperator(by: whom, action, detail, changes.at) }
        }
    }

    /// Writes down what an operator did that changes no order.
    package func audit(_ action: String, _ detail: String, by whom: String, at now: Int64) throws(PostgresError) {
        _ = try connection().pipeline { $0.auditOperator(by: whom, action, detail, now) }
    }
}
