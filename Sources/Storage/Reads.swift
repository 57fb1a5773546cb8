import Postgres
package import Trading

/// A shard, locked in the transaction at hand, with the counters that the leg moves on.
package struct ShardLock: Sendable {
    package let shard: Int16
    package let nextLog: Int64
    package let nextJournal: Int64
    package let sentLog: Int64
    package let settledInbox: Int64

    /// Rows of its log that the venue's sender has not looked at.
    package var unsentRows: Int64 { nextLog - 1 - sentLog }
}

/// Shards in turns, in the order given: those of a turn share one commit. So many shards at most, and once `cap` pieces are together no further one; a
/// shard with more than that has a turn of its own.
package func turns(_ waiting: [(shard: Int16, pieces: Int)], shards most: Int, cap: Int) -> [[Int16]] {
    var turns: [[Int16]] = []
    var pieces = 0
    for (shard, count) in waiting {
        if let turn = turns.last, turn.count < most, pieces + count <= cap {
            turns[turns.count - 1].append(shard)
            pieces += count
        } else {
            turns.append([shard])
            pieces = count
        }
    }
    return turns
}

extension Rows {
    /// Locked shards in the column order of `lock_shards.sql`, ascending.
    var shardLocks: [ShardLock] {
        (0..<count).map { row in
            ShardLock(
                shard: int16(row, 0),
                nextLog: int64(row, 1),
                nextJournal: int64(row, 2),
                sentLog: int64(row, 3),
                settledInbox: int64(row, 4)
            )
        }
    }
}

/// An account's idempotency key.
package struct KeyID: Hashable, Sendable {
    package let account: AccountID
    package let key: IdempotencyKey

    package init(_ account: AccountID, _ key: IdempotencyKey) {
        self.account = account
        self.key = key
    }

    var bits: UUIDBits { UUIDBits(high: key.high, low: key.low) }
}

/// An unseen key whose order the venue may know (see `Database+Recover.swift`), with what a question about it names.
package struct KeyQuestion: Sendable {
    package let id: KeyID
    package let orderID: OrderID
    package let symbol: Symbol
    package let side: Side

    package init(id: KeyID, orderID: OrderID, symbol: Symbol, side: Side) {
        self.id = id
        self.orderID = orderID
        self.symbol = symbol
        self.side = side
    }
}

/// What a used key was answered, for ever.
package struct KeyRecord: Sendable {
    /// Raw values are stored.
    package enum Outcome: Int16, Sendable {
        case accepted = 1
        case refused = 2
        case fenced = 3
        /// Of a replace: requested, its order's id with it.
        case replaceRequested = 4
    }

    package let id: KeyID
    package let outcome: Outcome
    /// SHA-256 of the signed form without its timestamps; nil for a fenced key, as are the answer and its status.
    package let fingerprint: [UInt8]?
    package let orderID: OrderID?
    package let httpStatus: Int?
    package let answer: [UInt8]?
    /// Where the order stands now.
    package let statusNow: OrderStatus?
    package let createdAt: Int64

    package init(
        id: KeyID,
        outcome: Outcome,
        fingerprint: [UInt8]?,
        orderID: OrderID?,
        httpStatus: Int?,
        answer: [UInt8]?,
        statusNow: OrderStatus?,
        createdAt: Int64
    ) {
        self.id = id
        self.outcome = outcome
        self.fingerprint = fingerprint
        self.orderID = orderID
        self.httpStatus = httpStatus
        self.answer = answer
        self.statusNow = statusNow
        self.createdAt = createdAt
    }
}

extension KeyRecord {
    /// The same record, with where its order stands now.
    package func standing(_ status: OrderStatus) -> KeyRecord {
        KeyRecord(
            id: id,
            outcome: outcome,
            fingerprint: fingerprint,
            orderID: orderID,
            httpStatus: httpStatus,
            answer: answer,
            statusNow: status,
            createdAt: createdAt
        )
    }
}

/// An account as a leg reads it under its shard's lock.
package struct AccountRecord: Sendable {
    package let lastEvent: Int64
    package let owes: Bool
}

package enum CredentialState: Int16, Sendable {
    case pendingPairing = 1
    case active = 2
    case invalidated = 3

    package var text: String {
        switch self {
        case .pendingPairing: "PENDING_PAIRING"
        case .active: "ACTIVE"
        case .invalidated: "INVALIDATED"
        }
    }
}

/// An account's credential, by account and id.
package struct CredentialKey: Hashable, Sendable {
    package let account: AccountID
    package let credentialID: String

    package init(_ account: AccountID, _ credentialID: String) {
        self.account = account
        self.credentialID = credentialID
    }
}

extension Parameters {
    /// Keys that a partitioned table is cut by, the least and the greatest of them: the bounds leave out parts before anything is opened. By bytes, as the
    /// column's collation is.
    mutating func append(bounded keys: [String]) {
        append(keys)
        append(boundsOf: keys)
    }

    mutating func append(boundsOf keys: [String]) {
        append(leastOf: keys)
        append(keys.max { $0.utf8.lexicographicallyPrecedes($1.utf8) })
    }

    mutating func append(leastOf keys: [String]) { append(keys.min { $0.utf8.lexicographicallyPrecedes($1.utf8) }) }
}

// MARK: Rows as values. A row that is not a valid value is a fault: the constraints of the schema say that it cannot be.

extension Rows {
    func account(_ row: Int, _ column: Int) -> AccountID {
        guard let account = AccountID(text(row, column)) else { preconditionFailure("A stored account id is valid.") }
        return account
    }

    func orderID(_ row: Int, _ column: Int) -> OrderID {
        guard let id = OrderID(text(row, column)) else { preconditionFailure("A stored order id is valid.") }
        return id
    }

    func key(_ row: Int, _ column: Int) -> IdempotencyKey {
        let bits = uuid(row, column)
        guard let key = IdempotencyKey(high: bits.high, low: bits.low) else { preconditionFailure("A stored key is a UUIDv7.") }
        return key
    }

    func amount(_ row: Int, _ column: Int) -> Amount { Amount(units: int64(row, column)) }

    func optionalAmount(_ row: Int, _ column: Int) -> Amount? { optionalInt64(row, column).map { Amount(units: $0) } }

    func status(_ row: Int, _ column: Int) -> OrderStatus {
        guard let status = OrderStatus(rawValue: int16(row, column)) else { preconditionFailure("A stored status is known.") }
        return status
    }

    /// The terms in the columns symbol, side, order_type, time_in_force, quantity, limit_price, stop_price from `column` on.
    func terms(_ row: Int, _ column: Int) -> OrderTerms {
        guard let symbol = Symbol(text(row, column)), let side = Side(rawValue: int16(row, column + 1)),
            let type = OrderType(rawValue: int16(row, column + 2)), let force = TimeInForce(rawValue: int16(row, column + 3))
        else { preconditionFailure("A stored order has valid terms.") }
        return OrderTerms(
            symbol: symbol,
            side: side,
            type: type,
            timeInForce: force,
            quantity: int64(row, column + 4),
            limitPrice: optionalAmount(row, column + 5),
            stopPrice: optionalAmount(row, column + 6)
        )
    }

    /// An order in the column order of `read_orders_by_id.sql`.
    func order(_ row: Int) -> OrderState {
        OrderState(
            id: orderID(row, 0),
            account: account(row, 1),
            key: key(row, 2),
            terms: terms(row, 3),
            holdPrice: amount(row, 10),
            createdAt: int64(row, 11),
            routeBy: int64(row, 12),
            status: status(row, 13),
            held: amount(row, 14),
            filledQuantity: int64(row, 15),
            filledValue: amount(row, 16),
            cancels: int16(row, 17),
            cancelPending: bool(row, 18),
            replaces: replaces(row, 21, pending: 32),
            resends: optionalInt16(row, 30) ?? 0,
            unansweredIn: optionalInt64(row, 31),
            reason: optionalText(row, 19),
            updatedAt: int64(row, 20)
        )
    }

    /// From the columns replaces to first_stop_price, and new_replace and new_lost_in.
    private func replaces(_ row: Int, _ column: Int, pending: Int) -> Replaces {
        var replaces = Replaces()
        guard let requests = optionalInt16(row, column) else { return replaces }
        replaces.requests = requests
        replaces.taken = optionalInt16(row, column + 1) ?? 0
        replaces.pending = replacement(row, column + 2).map {
            .init(number: int16(row, pending), terms: $0, holdPrice: amount(row, column + 5), lostIn: optionalInt64(row, pending + 1))
        }
        replaces.first = replacement(row, column + 6)
        return replaces
    }

    /// From three columns: quantity, limit price, stop price; absent without a quantity.
    func replacement(_ row: Int, _ column: Int) -> Replacement? {
        optionalInt64(row, column).map {
            Replacement(quantity: $0, limitPrice: optionalAmount(row, column + 1), stopPrice: optionalAmount(row, column + 2))
        }
    }

    var orders: [OrderID: OrderState] {
        var found: [OrderID: OrderState] = [:]
        for row in 0..<count {
            let order = order(row)
            found[order.id] = order
        }
        return found
    }

    /// Those of them that a leg may change.
    func orders(of locks: [ShardLock]) -> [OrderID: OrderState] {
        orders.filter { order in locks.contains { $0.shard == order.value.account.shard } }
    }

    /// Balances in the column order of `read_balances.sql`.
    var balances: [Balances.Key: Balance] {
        var found: [Balances.Key: Balance] = [:]
        for row in 0..<count {
            found[balanceKey(row)] = Balance(
                available: amount(row, 2),
                held: amount(row, 3),
                owed: amount(row, 4),
                settlement: amount(row, 5),
                cost: amount(row, 6)
            )
        }
        return found
    }

    private func balanceKey(_ row: Int) -> Balances.Key {
        guard let asset = Asset(text: text(row, 1)) else { preconditionFailure("A stored asset is cash or a symbol.") }
        let owner = text(row, 0)
        if owner.hasPrefix("~house-"), let shard = Int16(owner.dropFirst("~house-".count)) { return Balances.Key(.house(shard: shard), asset) }
        return Balances.Key(.customer(account(row, 0)), asset)
    }

    /// Keys in the column order of `read_keys.sql`.
    var keys: [KeyID: KeyRecord] {
        var found: [KeyID: KeyRecord] = [:]
        for row in 0..<count {
            guard let outcome = KeyRecord.Outcome(rawValue: int16(row, 2)) else { preconditionFailure("A stored key's outcome is known.") }
            let id = KeyID(account(row, 0), key(row, 1))
            found[id] = KeyRecord(
                id: id,
                outcome: outcome,
                fingerprint: optionalBytes(row, 3),
                orderID: isNull(row, 4) ? nil : orderID(row, 4),
                httpStatus: optionalInt16(row, 5).map(Int.init),
                answer: optionalBytes(row, 6).map { PackedAnswer.unpack($0, orderID: optionalText(row, 4)) },
                statusNow: isNull(row, 7) ? nil : status(row, 7),
                createdAt: int64(row, 8)
            )
        }
        return found
    }

    var halts: [Halt] {
        (0..<count).compactMap { row in
            Halt.Scope(rawValue: text(row, 0)).map { Halt(scope: $0, subject: text(row, 1), reason: text(row, 2)) }
        }
    }

    var accounts: [AccountID: AccountRecord] {
        var found: [AccountID: AccountRecord] = [:]
        for row in 0..<count { found[account(row, 0)] = AccountRecord(lastEvent: int64(row, 1), owes: bool(row, 2)) }
        return found
    }
}
