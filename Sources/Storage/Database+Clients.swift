package import Postgres
package import Trading

/// Which of an account's orders to list.
package struct OrderFilter: Sendable {
    package var status: OrderStatus?
    package var symbol: Symbol?
    /// Orders older than this one (creation time and id of the last one seen).
    package var after: (createdAt: Int64, orderID: String)?
    package var limit: Int
    package var offset: Int

    package init(status: OrderStatus? = nil, symbol: Symbol? = nil, after: (createdAt: Int64, orderID: String)? = nil, limit: Int, offset: Int = 0) {
        self.status = status
        self.symbol = symbol
        self.after = after
        self.limit = limit
        self.offset = offset
    }
}

/// An account's event: a row of the log with the order as it stood then.
package struct EventRecord: Sendable {
    package let account: AccountID
    /// Grows by one within the account, without gaps.
    package let number: Int64
    package let at: Int64
    package let type: OrderEventType
    package let lastQuantity: Int64?
    package let lastPrice: Amount?
    package let order: OrderState
}

/// Orders that events spoke of lately, for what does not change of them. An order's events come within seconds of one another: the oldest half goes when
/// there are too many.
package struct KnownOrders: Sendable {
    /// Of each half, in orders.
    private let capacity: Int
    private var young: [OrderID: OrderState] = [:]
    private var old: [OrderID: OrderState] = [:]

    /// - Parameter capacity: of each half, in orders; without it some seconds of a busy router, 5 MB.
    package init(capacity: Int = 8_192) { self.capacity = capacity }

    subscript(_ id: OrderID) -> OrderState? { young[id] ?? old[id] }

    mutating func add(_ orders: [OrderID: OrderState]) {
        if young.count + orders.count > capacity { (young, old) = ([:], young) }
        young.merge(orders) { _, new in new }
    }
}

/// A portion of the log of some shards, as it was committed.
package struct LogPortion: Sendable {
    fileprivate let rows: Rows
    /// Whose each row is, in the order of the rows.
    fileprivate let accounts: [AccountID]
    /// The position of the last row of each shard that has any.
    package private(set) var ends: [Int16: Int64] = [:]
    /// The number of the last event of each account that has any.
    package private(set) var newest: [AccountID: Int64] = [:]

    fileprivate init(rows: Rows) {
        self.rows = rows
        accounts = (0..<rows.count).map { rows.account($0, 1) }
        for row in 0..<rows.count {
            ends[rows.int16(row, 16)] = rows.int64(row, 0)
            newest[accounts[row]] = rows.int64(row, 2)
        }
    }
}

/// What event ids an account can be resumed from.
package struct EventBounds: Sendable {
    package let generation: Int64
    package let oldest: Int64
    package let latest: Int64
}

/// Reads for clients: outside any leg, of what is committed.
extension Database {
    /// An order of this account; nil where it has none of this id.
    package func order(_ id: OrderID, of account: AccountID) throws(PostgresError) -> OrderState? {
        let rows = try run(SQL.orderByID) {
            $0.append(account.text)
            $0.append(id.text)
        }
        return rows.count == 0 ? nil : rows.order(0)
    }

    /// Orders of an account, newest first.
    package func orders(of account: AccountID, _ filter: OrderFilter) throws(PostgresError) -> [OrderState] {
        let rows = try run(SQL.listOrders) {
            $0.append(account.text)
            $0.append(filter.status?.rawValue)
            $0.append(filter.symbol?.text)
            $0.append(filter.after?.createdAt)
            $0.append(filter.after?.orderID)
            $0.append(Int64(filter.limit))
            $0.append(Int64(filter.offset))
        }
        return (0..<rows.count).map { rows.order($0) }
    }

    /// What a key was answered; nil where it was never used.
    package func key(_ id: KeyID) throws(PostgresError) -> KeyRecord? {
        try run(SQL.readKey) {
            $0.append(id.account.text)
            $0.append(id.bits)
        }.keys[id]
    }

    /// nil where the account does not exist.
    package func eventBounds(of account: AccountID) throws(PostgresError) -> EventBounds? {
        let rows = try run(SQL.readEventBounds) { $0.append(account.text) }
        return rows.count == 0 ? nil : EventBounds(generation: rows.int64(0, 0), oldest: rows.int64(0, 1), latest: rows.int64(0, 2))
    }

    /// The position of the last row of each shard's log.
    package func logEnds() throws(PostgresError) -> [Int16: Int64] {
        let rows = try run(SQL.readLogEnds)
        return Dictionary(uniqueKeysWithValues: (0..<rows.count).map { (rows.int16($0, 0), rows.int64($0, 1)) })
    }

    /// The log after these positions, at most `limit` rows of each shard.
    package func log(after positions: [Int16: Int64], limit: Int) throws(PostgresError) -> LogPortion {
        let places = Array(positions)
        return LogPortion(
            rows: try run(SQL.readLog) {
                $0.append(places.map(\.key))
                $0.append(places.map(\.value))
                $0.append(Int64(limit))
            }
        )
    }

    /// The events of these accounts in a portion of the log, in order.
    ///
    /// - Parameter known: orders that events spoke of lately; the others are read, once for all their events. An event whose order is in a detached part
    ///   is left out.
    package func events(
        of accounts: Set<AccountID>,
        in portion: LogPortion,
        known: inout KnownOrders
    ) throws(PostgresError) -> [AccountID: [EventRecord]] {
        let wanted = portion.accounts.indices.filter { accounts.contains(portion.accounts[$0]) }
        return Dictionary(grouping: try events(portion.rows, wanted, &known).map(\.event), by: \.account)
    }

    /// For each cursor the account's events after that number, in order, at most `limit`; `known` as above.
    package func events(
        after cursors: [(account: AccountID, number: Int64)],
        limit: Int,
        known: inout KnownOrders
    ) throws(PostgresError) -> [[EventRecord]] {
        let rows = try run(SQL.readEvents) {
            $0.append(cursors.map(\.account.text))
            $0.append(cursors.map(\.number))
            $0.append(Int64(limit))
        }
        var found: [[EventRecord]] = Array(repeating: [], count: cursors.count)
        for (row, event) in try events(rows, Array(0..<rows.count), &known) { found[Int(rows.int64(row, 0)) - 1].append(event) }
        return found
    }

    /// The events in some rows of an answer, each with its order.
    private func events(_ rows: Rows, _ wanted: [Int], _ known: inout KnownOrders) throws(PostgresError) -> [(row: Int, event: EventRecord)] {
        let ids = wanted.map { rows.orderID($0, 12) }
        var orders: [OrderID: OrderState] = [:]
        for id in ids { orders[id] = known[id] }
        let unknown = try self.orders(Array(Set(ids).subtracting(orders.keys)))
        known.add(unknown)
        orders.merge(unknown) { first, _ in first }
        return zip(wanted, ids).compactMap { row, id in orders[id].map { (row, rows.event(row, of: $0)) } }
    }

    /// Everything an account has; nil where it does not exist.
    package func balances(of account: AccountID) throws(PostgresError) -> [(asset: Asset, balance: Balance)]? {
        let known = try run(SQL.readAccounts) { $0.append([account.text]) }
        if known.count == 0 { return nil }
        return try run(SQL.readAllBalances) { $0.append(account.text) }.balances.map { ($0.key.asset, $0.value) }.sorted { $0.asset < $1.asset }
    }
}

extension Rows {
    /// An event in the column order of `read_events.sql` and `read_log.sql`: the order as it stood then.
    fileprivate func event(_ row: Int, of order: OrderState) -> EventRecord {
        guard let type = OrderEventType(rawValue: int16(row, 4)) else { preconditionFailure("A stored event type is known.") }
        var order = order
        // Where no replace was asked for until then, the order stood as it was accepted.
        if let terms = replacement(row, 13) ?? order.replaces.first { order.terms = order.terms.with(terms) }
        order.status = status(row, 5)
        order.filledQuantity = int64(row, 6)
        order.filledValue = amount(row, 7)
        order.held = amount(row, 8)
        order.reason = optionalText(row, 9)
        order.updatedAt = int64(row, 3)
        return EventRecord(
            account: account(row, 1),
            number: int64(row, 2),
            at: int64(row, 3),
            type: type,
            lastQuantity: optionalInt64(row, 10),
            lastPrice: optionalAmount(row, 11),
            order: order
        )
    }
}
