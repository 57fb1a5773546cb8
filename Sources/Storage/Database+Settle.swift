package import Postgres
package import Trading

/// A report waiting in the inbox.
package struct InboxReport: Sendable {
    package let inboxID: Int64
    package let shard: Int16
    package let report: VenueReport

    package init(inboxID: Int64, shard: Int16, report: VenueReport) {
        self.inboxID = inboxID
        self.shard = shard
        self.report = report
    }
}

/// What settle, cancel and the sweeps read under their shards' locks about orders that exist.
package struct OrderReads: Sendable {
    package let locks: [ShardLock]
    package let orders: [OrderID: OrderState]
    package let accounts: [AccountID: AccountRecord]
    package let balances: [Balances.Key: Balance]

    /// The changes of this leg, to be filled.
    package func changes(at now: Int64) -> ShardChanges {
        ShardChanges(locks: locks, at: now, accounts: accounts, balances: balances)
    }
}

/// A booked execution's content, to tell a repetition from a contradiction.
package struct BookedExecution: Hashable, Sendable {
    package let orderID: OrderID
    package let quantity: Int64
    package let price: Amount

    package init(orderID: OrderID, quantity: Int64, price: Amount) {
        self.orderID = orderID
        self.quantity = quantity
        self.price = price
    }
}

/// Trade date and ExecID: unique for a venue.
package struct ExecutionKey: Hashable, Sendable {
    package let tradeDate: String
    package let execID: String

    package init(tradeDate: String, execID: String) {
        self.tradeDate = tradeDate
        self.execID = execID
    }
}

extension Database {
    /// Shards that have unsettled reports.
    package func shardsToSettle() throws(PostgresError) -> [Int16] { try run(SQL.readShardsToSettle).shards }

    /// Begins settling shards: locks them and reads their next reports, each shard's in the order they were received. Ends the transaction when there
    /// are none.
    ///
    /// - Parameter limit: reports of each shard at most.
    package func beginSettle(shards: [Int16], limit: Int) throws(PostgresError) -> (locks: [ShardLock], reports: [InboxReport]) {
        let rows = try begin { pipeline in
            pipeline.lock(shards)
            pipeline.add(SQL.readInbox) {
                $0.append(shards)
                $0.append(Int64(limit))
            }
        }
        let reports = rows[1].inboxReports
        if reports.isEmpty { rollback() }
        return (rows[0].shardLocks, reports)
    }

    /// Reads, in the transaction at hand, the orders that reports speak of and the executions that are booked already.
    package func readForSettle(
        _ locks: [ShardLock],
        orders: [OrderID],
        venue: String,
        executions: [ExecutionKey]
    ) throws(PostgresError) -> (reads: OrderReads, booked: [ExecutionKey: BookedExecution]) {
        let rows = try connection().pipeline { pipeline in
            pipeline.add(SQL.readExecutions) {
                $0.append(venue)
                $0.append(executions.map(\.tradeDate))
                $0.append(executions.map(\.execID))
            }
            pipeline.readOrders(orders)
        }
        return (try reads(locks, Array(rows.dropFirst())), rows[0].bookedExecutions)
    }

    /// Locks shards and reads orders of them, with their accounts and balances.
    package func beginOrders(shards: [Int16], orders: [OrderID]) throws(PostgresError) -> OrderReads {
        let rows = try begin { pipeline in
            pipeline.lock(shards)
            pipeline.readOrders(orders)
        }
        return try reads(rows[0].shardLocks, Array(rows.dropFirst()))
    }

    /// The orders of these shards among `rows`, with everything that a change of them touches.
    func reads(_ locks: [ShardLock], _ rows: [Rows]) throws(PostgresError) -> OrderReads {
        let orders = rows[0].orders.filter { order in locks.contains { $0.shard == order.value.account.shard } }
        let accounts = Array(Set(orders.values.map(\.account)))
        var wanted: Set<Balances.Key> = []
        for order in orders.values {
            for asset in [Asset.cash, .shares(order.terms.symbol)] {
                wanted.insert(Balances.Key(.customer(order.account), asset))
                wanted.insert(Balances.Key(.house(shard: order.account.shard), asset))
            }
        }
        let more = try connection().pipeline { pipeline in
            pipeline.readAccounts(accounts)
            pipeline.readBalances(Array(wanted))
        }
        return OrderReads(locks: locks, orders: orders, accounts: more[0].accounts, balances: more[1].balances)
    }

    // MARK: Sweeps

    /// Shards with orders past their route deadline, or routed and unanswered since before `silentSince`.
    package func shardsToSweep(now: Int64, silentSince: Int64) throws(PostgresError) -> [Int16] {
        try run(SQL.readShardsToSweep) {
            $0.append(now)
            $0.append(silentSince)
        }.shards
    }

    /// Orders of a shard that were not numbered for the venue by their deadline.
    package func overdueOrders(shard: Int16, now: Int64, limit: Int) throws(PostgresError) -> [OrderID] {
        try run(SQL.readOverdueOrders) {
            $0.append(shard)
            $0.append(now)
            $0.append(Int64(limit))
        }.orderIDs
    }

    /// Orders of a shard that were routed before `before` and never acknowledged.
    package func silentOrders(shard: Int16, routedBefore before: Int64, limit: Int) throws(PostgresError) -> [OrderID] {
        try run(SQL.readSilentOrders) {
            $0.append(shard)
            $0.append(before)
            $0.append(Int64(limit))
        }.orderIDs
    }

    /// Deletes what is past its keeping, in a bounded portion. Returns how many rows went.
    package func deletePast(before: Int64, eventsBefore: Int64, limit: Int) throws(PostgresError) -> Int {
        var deleted = 0
        for shard in 0..<AccountID.shardCount { deleted += try deleteEvents(of: shard, before: eventsBefore, limit: limit) }
        for statement in [SQL.deleteOldInbox, SQL.deleteOldSent] {
            deleted += try run(statement) {
                $0.append(before)
                $0.append(Int64(limit))
            }.affected
        }
        return deleted
    }

    /// Under the shard's lock: the accounts' oldest event moves on, and so does nothing else of them meanwhile.
    private func deleteEvents(of shard: Int16, before: Int64, limit: Int) throws(PostgresError) -> Int {
        do {
            let rows = try connection().pipeline { pipeline in
                pipeline.add(.begin)
                pipeline.lock([shard])
                pipeline.add(SQL.deleteOldEvents) {
                    $0.append(shard)
                    $0.append(before)
                    $0.append(Int64(limit))
                }
                pipeline.add(.commit)
            }
            return Int(rows[2].int64(0, 0))
        } catch {
            rollback()
            throw error
        }
    }
}

extension Pipeline {
    mutating func readOrders(_ orders: [OrderID]) { add(SQL.readOrdersByID) { $0.append(orders.map(\.text)) } }
}

extension Rows {
    var shards: [Int16] { (0..<count).map { int16($0, 0) } }

    var orderIDs: [OrderID] { (0..<count).map { orderID($0, 0) } }

    fileprivate var bookedExecutions: [ExecutionKey: BookedExecution] {
        var found: [ExecutionKey: BookedExecution] = [:]
        for row in 0..<count {
            found[ExecutionKey(tradeDate: text(row, 0), execID: text(row, 1))] = BookedExecution(
                orderID: orderID(row, 2),
                quantity: int64(row, 3),
                price: amount(row, 4)
            )
        }
        return found
    }

    fileprivate var inboxReports: [InboxReport] {
        (0..<count).map { row in
            guard let kind = VenueReport.Kind(rawValue: int16(row, 1)) else { preconditionFailure("A stored report's kind is known.") }
            var report = VenueReport(kind: kind)
            report.orderID = optionalText(row, 2)
            report.cancelID = optionalText(row, 3)
            report.execID = optionalText(row, 4)
            report.tradeDate = optionalText(row, 5)
            report.execType = optionalText(row, 6)
            report.orderStatus = optionalText(row, 7)
            report.lastQuantity = optionalInt64(row, 8)
            report.lastPrice = optionalAmount(row, 9)
            report.cumulativeQuantity = optionalInt64(row, 10)
            report.orderQuantity = optionalInt64(row, 11)
            report.rejectReason = optionalInt64(row, 12)
            report.symbol = optionalText(row, 13)
            report.side = optionalText(row, 14)
            report.text = optionalText(row, 15)
            return InboxReport(inboxID: int64(row, 0), shard: int16(row, 16), report: report)
        }
    }
}
