package import Postgres
package import Trading

/// A report waiting in the inbox.
package struct InboxReport: Sendable {
    package let inboxID: Int64
    package let shard: Int16
    package let report: VenueReport
    /// Whose order it speaks of, and of which symbol; nil where no order of ours has this ClOrdID.
    package let order: (account: AccountID, symbol: Symbol)?

    package init(inboxID: Int64, shard: Int16, report: VenueReport, order: (account: AccountID, symbol: Symbol)? = nil) {
        self.inboxID = inboxID
        self.shard = shard
        self.report = report
        self.order = order
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
    package let trade: Trade
    /// Of a trade cancel or correction: what it is, and what it reverses.
    package let correction: Correction?

    package init(orderID: OrderID, trade: Trade, correction: Correction? = nil) {
        self.orderID = orderID
        self.trade = trade
        self.correction = correction
    }
}

/// A trade cancel or correction of an execution, by its ExecID. Raw values of the kind are stored.
package struct Correction: Hashable, Sendable {
    package enum Kind: Int16, Sendable {
        case cancel = 2
        case correct = 3
    }

    package let kind: Kind
    package let reverses: String

    package init(kind: Kind, reverses: String) {
        self.kind = kind
        self.reverses = reverses
    }
}

/// Executions that are booked, and those of them that the venue has taken back.
package struct BookedExecutions: Sendable {
    package var found: [ExecutionKey: BookedExecution] = [:]
    package var reversed: Set<ExecutionKey> = []

    package init() {}
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

extension VenueReport {
    package var executionKey: ExecutionKey? {
        guard let tradeDate, let execID else { return nil }
        return ExecutionKey(tradeDate: tradeDate, execID: execID)
    }

    /// What a trade cancel or correction speaks of: of the same trade date.
    package var reversedKey: ExecutionKey? {
        guard let tradeDate, let execRefID else { return nil }
        return ExecutionKey(tradeDate: tradeDate, execID: execRefID)
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
    /// The generation of the session's numbers in which each was sent.
    package fileprivate(set) var sentIn: [OrderID: Int64] = [:]
    /// By session, the last message up to which all were old enough to be looked at; empty when there was none.
    package fileprivate(set) var lastWatched: [String: Message] = [:]
}

/// What settle reads under its shards' locks, in one round trip.
package struct SettleReads: Sendable {
    package let orders: OrderReads
    /// Those of the executions that are booked already, or that a correction speaks of.
    package let booked: BookedExecutions
    /// Without those that were settled before the lock was had.
    package let reports: [InboxReport]
}

extension Database {
    /// The next unsettled reports of every shard, each shard's in the order they were received. Read before the shards are locked, so that the lock is
    /// held for two round trips alone: a report never changes, and `beginSettle` leaves out what was settled meanwhile.
    ///
    /// - Parameters:
    ///   - limit: reports of each shard at most.
    ///   - session: none while orders go by another one than this.
    package func unsettledReports(limit: Int, by session: String) throws(PostgresError) -> [InboxReport] {
        try run(SQL.readInbox) {
            $0.append(Int64(limit))
            $0.append(session)
        }.inboxReports
    }

    /// Begins settling reports: locks their shards and reads the orders that they speak of, with everything that a change of them touches, and the
    /// executions that are booked already.
    package func beginSettle(_ reports: [InboxReport], venue: String) throws(PostgresError) -> SettleReads {
        let executions = Array(Set(reports.flatMap { [$0.report.executionKey, $0.report.reversedKey].compactMap(\.self) }))
        let owners = reports.compactMap(\.order)
        let rows = try begin { pipeline in
            pipeline.lock(Set(reports.map(\.shard)).sorted())
            pipeline.readOrders(Array(Set(reports.compactMap { $0.report.orderID.flatMap(OrderID.init) })))
            pipeline.readAccounts(Array(Set(owners.map(\.account))))
            pipeline.readBalances(Array(Set(owners.flatMap { Balances.Key.touched(by: $0.account, $0.symbol) })))
            pipeline.add(SQL.readExecutions) {
                $0.append(venue)
                $0.append(executions.map(\.tradeDate))
                $0.append(executions.map(\.execID))
                $0.append(boundsOf: executions.map(\.tradeDate))
            }
        }
        let locks = rows[0].shardLocks
        let orders = rows[1].orders(of: locks)
        let reads = OrderReads(locks: locks, orders: orders, accounts: rows[2].accounts, balances: rows[3].balances)
        let settled = Dictionary(uniqueKeysWithValues: reads.locks.map { ($0.shard, $0.settledInbox) })
        // An order that was committed between the two reads: its shard's reports from there on are left for the next look, which knows whose it is.
        var unknown: Set<Int16> = []
        let left = reports.filter { report in
            if report.order == nil, report.report.orderID.flatMap(OrderID.init).map({ orders[$0] != nil }) == true { unknown.insert(report.shard) }
            return report.inboxID > settled[report.shard] ?? .max && !unknown.contains(report.shard)
        }
        if left.isEmpty { rollback() }
        return SettleReads(orders: reads, booked: rows[4].bookedExecutions, reports: left)
    }

    /// Locks shards and reads orders of them, with their accounts and balances.
    package func beginOrders(shards: [Int16], orders: [OrderID]) throws(PostgresError) -> OrderReads {
        let rows = try begin { pipeline in
            pipeline.lock(shards)
            pipeline.readOrders(orders)
        }
        return try reads(rows[0].shardLocks, Array(rows.dropFirst()))
    }

    /// Orders that have been UNKNOWN for long and asked about without an answer; each with the position in the inbox up to which its shard was settled when
    /// that was so. Without a lock: it reads all messages that are kept, which can take seconds.
    ///
    /// - Parameter time: since when at least, in milliseconds.
    package func unanswered(_ orders: [OrderID], since time: Int64) throws(PostgresError) -> [OrderID: Int64] {
        if orders.isEmpty { return [:] }
        let rows = try run(SQL.readUnansweredOrders) {
            $0.append(bounded: orders.map(\.text))
            $0.append(time)
        }
        return Dictionary(uniqueKeysWithValues: (0..<rows.count).map { (rows.orderID($0, 0), rows.int64($0, 1)) })
    }

    /// In the transaction at hand, under the shard's lock: orders of it that the venue has reported on behind this position of the inbox.
    package func reports(on orders: [OrderID], behind position: Int64, _ lock: ShardLock) throws(PostgresError) -> Set<OrderID> {
        let rows = try run(SQL.readWaitingOrders) {
            $0.append(lock.shard)
            $0.append(position)
            $0.append(orders.map(\.text))
        }
        return Set(rows.orderIDs)
    }

    /// The orders of these shards among `rows`, with everything that a change of them touches.
    func reads(_ locks: [ShardLock], _ rows: [Rows]) throws(PostgresError) -> OrderReads {
        let orders = rows[0].orders(of: locks)
        let accounts = Array(Set(orders.values.map(\.account)))
        var wanted: Set<Balances.Key> = []
        for order in orders.values { wanted.formUnion(Balances.Key.touched(by: order.account, order.terms.symbol)) }
        let more = try connection().pipeline { pipeline in
            pipeline.readAccounts(accounts)
            pipeline.readBalances(Array(wanted))
        }
        return OrderReads(locks: locks, orders: orders, accounts: more[0].accounts, balances: more[1].balances)
    }

    /// In the transaction at hand: what a change of these orders can move.
    func balances(touchedBy orders: [OrderState]) throws(PostgresError) -> [Balances.Key: Balance] {
        if orders.isEmpty { return [:] }
        do {
            return try connection().pipeline { pipeline in
                pipeline.readBalances(Array(Set(orders.flatMap { Balances.Key.touched(by: $0.account, $0.terms.symbol) })))
            }[0].balances
        } catch {
            rollback()
            throw error
        }
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
            if rows.bool(row, 5) { found.lastWatched[rows.text(row, 0)] = .init(generation: rows.int64(row, 1), number: rows.int64(row, 2)) }
            if let id = rows.optionalText(row, 4).flatMap(OrderID.init) {
                found.orders[rows.int16(row, 3), default: []].append(id)
                found.sentIn[id] = max(found.sentIn[id] ?? 0, rows.int64(row, 1))
            }
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

extension Balances.Key {
    /// What a change of an order can move: cash and shares of the account, and of its shard's house.
    static func touched(by account: AccountID, _ symbol: Symbol) -> [Balances.Key] {
        [Asset.cash, .shares(symbol)].flatMap { [Balances.Key(.customer(account), $0), Balances.Key(.house(shard: account.shard), $0)] }
    }
}

extension Pipeline {
    mutating func readOrders(_ orders: [OrderID]) { add(SQL.readOrdersByID) { $0.append(bounded: orders.map(\.text)) } }
}

extension Rows {
    var shards: [Int16] { (0..<count).map { int16($0, 0) } }

    var orderIDs: [OrderID] { (0..<count).map { orderID($0, 0) } }

    fileprivate var bookedExecutions: BookedExecutions {
        var booked = BookedExecutions()
        for row in 0..<count {
            let key = ExecutionKey(tradeDate: text(row, 0), execID: text(row, 1))
            booked.found[key] = BookedExecution(
                orderID: orderID(row, 2),
                trade: Trade(quantity: int64(row, 3), price: amount(row, 4)),
                correction: correction(row, 5)
            )
            if bool(row, 7) { booked.reversed.insert(key) }
        }
        return booked
    }

    private func correction(_ row: Int, _ column: Int) -> Correction? {
        guard let stored = optionalInt16(row, column), let reverses = optionalText(row, column + 1) else { return nil }
        guard let kind = Correction.Kind(rawValue: stored) else { preconditionFailure("A stored correction is of a known kind.") }
        return Correction(kind: kind, reverses: reverses)
    }

    fileprivate var inboxReports: [InboxReport] {
        (0..<count).map { row in
            guard let kind = VenueReport.Kind(rawValue: int16(row, 1)) else { preconditionFailure("A stored report's kind is known.") }
            var report = VenueReport(kind: kind)
            report.orderID = optionalText(row, 2)
            report.requestID = optionalText(row, 3)
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
            report.execRefID = optionalText(row, 19)
            report.statusQuestion = optionalText(row, 20)
            report.receivedIn = int64(row, 21)
            report.isRepeated = bool(row, 22)
            let symbol = isNull(row, 18) ? nil : Symbol(text(row, 18))
            return InboxReport(inboxID: int64(row, 0), shard: int16(row, 16), report: report, order: symbol.map { (account(row, 17), $0) })
        }
    }
}
