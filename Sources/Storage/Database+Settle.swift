package import Postgres
package import Trading

/// A report waiting in the inbox.
package struct InboxReport: Sendable {
    package let inboxID: Int64
    package let report: VenueReport

    package init(inboxID: Int64, report: VenueReport) {
        self.inboxID = inboxID
        self.report = report
    }
}

/// What settle, cancel and the sweeps read under a shard's lock about orders that exist.
package struct OrderReads: Sendable {
    package let lock: ShardLock
    package let orders: [OrderID: OrderState]
    package let accounts: [AccountID: AccountRecord]
    package let balances: [Balances.Key: Balance]

    /// The changes of this leg, to be filled.
    package func changes(at now: Int64) -> ShardChanges {
        ShardChanges(lock: lock, at: now, accounts: accounts, balances: balances)
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

/// What a look at messages of ours found that were sent long enough ago to be answered.
package struct SilentOrders: Sendable {
    /// A message's place in its session: numbers begin again with each generation.
    package struct Message: Sendable, Hashable {
        package let generation: Int64
        package let number: Int64

        package init(generation: Int64, number: Int64) {
            self.generation = generation
            self.number = number
        }
    }

    /// Orders that the venue has said nothing of, by shard.
    package fileprivate(set) var orders: [Int16: [OrderID]] = [:]
    /// The last message looked at, by session; empty when there was none to look at.
    package fileprivate(set) var lastWatched: [String: Message] = [:]
}

extension Database {
    /// Shards that have unsettled reports.
    package func shardsToSettle() throws(PostgresError) -> [Int16] { try run(SQL.readShardsToSettle).shards }

    /// Begins settling a shard: locks it and reads its next reports, in the order they were received. Ends the transaction when there are none.
    package func beginSettle(shard: Int16, limit: Int) throws(PostgresError) -> (lock: ShardLock, reports: [InboxReport]) {
        let rows = try begin { pipeline in
            pipeline.lock(shard)
            pipeline.add(SQL.readInbox) {
                $0.append(shard)
                $0.append(Int64(limit))
            }
        }
        let reports = rows[1].inboxReports
        if reports.isEmpty { rollback() }
        return (ShardLock(shard: shard, rows[0]), reports)
    }

    /// Reads, in the transaction at hand, the orders that reports speak of and the executions that are booked already.
    package func readForSettle(
        _ lock: ShardLock,
        orders: [OrderID],
        venue: String,
        executions: [ExecutionKey]
    ) throws(PostgresError) -> (reads: OrderReads, booked: [ExecutionKey: BookedExecution]) {
        let rows = try connection().pipeline { pipeline in
            pipeline.add(SQL.readExecutions) {
                $0.append(venue)
                $0.append(executions.map(\.tradeDate))
                $0.append(executions.map(\.execID))
                $0.append(boundsOf: executions.map(\.tradeDate))
            }
            pipeline.readOrders(orders)
        }
        return (try reads(lock, Array(rows.dropFirst())), rows[0].bookedExecutions)
    }

    /// Locks a shard and reads orders of it, with their accounts and balances.
    package func beginOrders(shard: Int16, orders: [OrderID]) throws(PostgresError) -> OrderReads {
        let rows = try begin { pipeline in
            pipeline.lock(shard)
            pipeline.readOrders(orders)
        }
        return try reads(ShardLock(shard: shard, rows[0]), Array(rows.dropFirst()))
    }

    /// The orders of this shard among `rows`, with everything that a change of them touches.
    func reads(_ lock: ShardLock, _ rows: [Rows]) throws(PostgresError) -> OrderReads {
        let orders = rows[0].orders.filter { $0.value.account.shard == lock.shard }
        let accounts = Array(Set(orders.values.map(\.account)))
        var wanted: Set<Balances.Key> = []
        for order in orders.values {
            for asset in [Asset.cash, .shares(order.terms.symbol)] {
                wanted.insert(Balances.Key(.customer(order.account), asset))
                wanted.insert(Balances.Key(.house(shard: lock.shard), asset))
            }
        }
        let more = try connection().pipeline { pipeline in
            pipeline.readAccounts(accounts)
            pipeline.readBalances(Array(wanted))
        }
        return OrderReads(lock: lock, orders: orders, accounts: more[0].accounts, balances: more[1].balances)
    }

    // MARK: Sweeps

    /// Orders that were not numbered for the venue by their deadline, by shard.
    package func overdueOrders(now: Int64, limit: Int) throws(PostgresError) -> [Int16: [OrderID]] {
        let rows = try run(SQL.readOverdueOrders) {
            $0.append(now)
            $0.append(Int64(limit))
        }
        var found: [Int16: [OrderID]] = [:]
        for row in 0..<rows.count { found[rows.int16(row, 0), default: []].append(rows.orderID(row, 1)) }
        return found
    }

    /// Looks at the next messages of each session, in the order of their numbers, that were sent before `before`: whose order is still ROUTED?
    ///
    /// - Parameter limit: messages of a session at most.
    package func silentOrders(sentBefore before: Int64, limit: Int) throws(PostgresError) -> SilentOrders {
        let rows = try run(SQL.readSilentOrders) {
            $0.append(before)
            $0.append(Int64(limit))
        }
        var found = SilentOrders()
        for row in 0..<rows.count {
            found.lastWatched[rows.text(row, 0)] = .init(generation: rows.int64(row, 1), number: rows.int64(row, 2))
            if let id = rows.optionalText(row, 4).flatMap(OrderID.init) { found.orders[rows.int16(row, 3), default: []].append(id) }
        }
        return found
    }

    /// The messages of these sessions up to there have been looked at: once what was silent is committed as UNKNOWN.
    package func advanceWatch(_ watched: [String: SilentOrders.Message]) throws(PostgresError) {
        for (session, message) in watched {
            _ = try run(SQL.advanceWatch) {
                $0.append(session)
                $0.append(message.generation)
                $0.append(message.number)
            }
        }
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
                pipeline.lock(shard)
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
    mutating func readOrders(_ orders: [OrderID]) { add(SQL.readOrdersByID) { $0.append(bounded: orders.map(\.text)) } }
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
            return InboxReport(inboxID: int64(row, 0), report: report)
        }
    }
}
