import Postgres
package import Trading

/// Everything that one leg changes in the shards that it has locked: the only way into orders, balances, ledger, log and keys (one write funnel).
///
/// Filled by the pure decision of a station, written by `Database.commit` in one pipeline that ends in COMMIT.
package struct ShardChanges: Sendable {
    /// A new order with what only its first row needs.
    package struct NewOrder: Sendable {
        package let state: OrderState
        package let clientTimestamp: Int64
        package let quoteReference: Int64
        package let credentialID: String

        package init(state: OrderState, clientTimestamp: Int64, quoteReference: Int64, credentialID: String) {
            self.state = state
            self.clientTimestamp = clientTimestamp
            self.quoteReference = quoteReference
            self.credentialID = credentialID
        }
    }

    /// A fill that was booked, or what corrects one; unique by venue, trade date and ExecID.
    package struct Execution: Sendable {
        package let venue: String
        package let key: ExecutionKey
        package let content: BookedExecution
        package let order: OrderState
        package let inboxID: Int64

        package init(venue: String, key: ExecutionKey, content: BookedExecution, order: OrderState, inboxID: Int64) {
            self.venue = venue
            self.key = key
            self.content = content
            self.order = order
            self.inboxID = inboxID
        }
    }

    struct Event: Sendable {
        let position: Int64
        let number: Int64
        let type: OrderEventType
        let order: OrderState
        let lastQuantity: Int64?
        let lastPrice: Amount?
    }

    /// How far this leg has moved a shard on.
    private struct Counters {
        var sentLog: Int64
        var settledInbox: Int64
        var events: Int64 = 0
        var replays: Int64 = 0
    }

    struct RaisedAlarm: Sendable {
        let alarm: Alarm
        let account: AccountID?
        let orderID: String?
    }

    /// Ascending.
    package let locks: [ShardLock]
    /// Time of this leg, ms since the epoch.
    package let at: Int64
    package var balances: Balances
    private var counters: [Counters]
    package private(set) var newKeys: [KeyRecord] = []
    package private(set) var newOrders: [NewOrder] = []
    package private(set) var changedOrders: [OrderID: OrderState] = [:]
    package private(set) var executions: [Execution] = []
    package private(set) var parked: [(shard: Int16, inboxID: Int64, why: String)] = []
    private(set) var alarms: [RaisedAlarm] = []
    private(set) var events: [Event] = []
    private(set) var eventBase: [AccountID: Int64]
    private(set) var eventNow: [AccountID: Int64] = [:]
    private let balancesRead: [Balances.Key: Balance]

    /// - Parameter locks: of distinct shards, ascending.
    package init(locks: [ShardLock], at: Int64, accounts: [AccountID: AccountRecord], balances: [Balances.Key: Balance]) {
        self.locks = locks
        self.at = at
        self.balances = Balances(balances)
        balancesRead = balances
        eventBase = accounts.mapValues(\.lastEvent)
        counters = locks.map { Counters(sentLog: $0.sentLog, settledInbox: $0.settledInbox) }
    }

    // MARK: Counters

    private func place(_ shard: Int16) -> Int {
        guard let place = locks.firstIndex(where: { $0.shard == shard }) else { preconditionFailure("A leg changes the shards that it has locked.") }
        return place
    }

    /// The sender has looked at the shard's log up to this position.
    package mutating func sent(through position: Int64, of shard: Int16) { counters[place(shard)].sentLog = position }

    /// The shard's reports are settled up to this one.
    package mutating func settled(through inboxID: Int64, of shard: Int16) { counters[place(shard)].settledInbox = inboxID }

    /// An answer is given again: it must be as durable as the first one was.
    package mutating func replayed(in shard: Int16) { counters[place(shard)].replays += 1 }

    // MARK: Rows

    package mutating func claim(_ key: KeyRecord) { newKeys.append(key) }

    package mutating func insert(_ order: NewOrder) { newOrders.append(order) }

    package mutating func update(_ order: OrderState) { changedOrders[order.id] = order }

    package mutating func book(_ execution: Execution) { executions.append(execution) }

    package mutating func park(inboxID: Int64, of shard: Int16, why: String) { parked.append((shard, inboxID, why)) }

    package mutating func raise(_ alarm: Alarm, account: AccountID?, orderID: String?) {
        alarms.append(RaisedAlarm(alarm: alarm, account: account, orderID: orderID))
    }

    /// Writes the next row of the log: the account's next event, at the shard's next position.
    package mutating func tell(_ type: OrderEventType, of order: OrderState, lastQuantity: Int64? = nil, lastPrice: Amount? = nil) {
        guard let base = eventBase[order.account] else { preconditionFailure("The account of an event was read under the lock.") }
        let number = (eventNow[order.account] ?? base) + 1
        eventNow[order.account] = number
        let place = place(order.account.shard)
        let position = locks[place].nextLog + counters[place].events
        counters[place].events += 1
        events.append(
            Event(
                position: position,
                number: number,
                type: type,
                order: order,
                lastQuantity: lastQuantity,
                lastPrice: lastPrice
            )
        )
    }

    /// Requests an order's cancel and tells of it. What the venue has never been numbered for ends by our own commit.
    ///
    /// - Returns: the order as it was requested; nil, and nothing changed, when it is not open.
    @discardableResult
    package mutating func requestCancel(of order: inout OrderState) -> OrderState? {
        guard case .changed(let requested, _) = order.apply(.cancelRequested, balances: &balances, at: at) else { return nil }
        tell(requested, of: order)
        let answer = order
        if order.status == .accepted, case .changed(let ended, _) = order.apply(.cancelled(reason: nil), balances: &balances, at: at) {
            tell(ended, of: order)
        }
        update(order)
        return answer
    }

    package var eventCount: Int { events.count }

    /// What the shards' rows become, in the order of `locks`.
    var advances: [ShardAdvance] {
        var journals = locks.map(\.nextJournal)
        for journal in balances.journals { journals[place(journal.shard)] += 1 }
        return zip(zip(locks, counters), journals).map { shard, nextJournal in
            let (lock, counters) = shard
            return ShardAdvance(
                lock: lock,
                nextLog: lock.nextLog + counters.events,
                nextJournal: nextJournal,
                sentLog: sentLogAfter(lock, counters),
                settledInbox: counters.settledInbox,
                replays: counters.replays
            )
        }
    }

    /// The sender's cursor after this leg: where the sender is up to date, it need not look at rows that ask nothing of the venue.
    private func sentLogAfter(_ lock: ShardLock, _ counters: Counters) -> Int64 {
        guard counters.sentLog == lock.nextLog - 1 else { return counters.sentLog }
        return counters.sentLog + Int64(events.lazy.filter { $0.order.account.shard == lock.shard }.prefix { !$0.type.asksTheVenue }.count)
    }

    /// Balances as differences from what was read, and those that are new.
    var balanceChanges: (changed: [(Balances.Key, Balance)], opened: [(Balances.Key, Balance)]) {
        var changed: [(Balances.Key, Balance)] = []
        var opened: [(Balances.Key, Balance)] = []
        for key in balances.changed {
            let now = balances.balance(key.account, key.asset)
            guard let before = balancesRead[key] else {
                opened.append((key, now))
                continue
            }
            changed.append((key, now.difference(from: before)))
        }
        return (changed, opened)
    }
}

/// A shard's row after a leg.
struct ShardAdvance {
    let lock: ShardLock
    let nextLog: Int64
    let nextJournal: Int64
    let sentLog: Int64
    let settledInbox: Int64
    let replays: Int64
}

extension Balance {
    /// Both lie within Int64, and so do the amounts that were moved between them.
    fileprivate func difference(from before: Balance) -> Balance {
        func less(_ part: KeyPath<Balance, Amount>) -> Amount { Amount(units: self[keyPath: part].units - before[keyPath: part].units) }
        return Balance(
            available: less(\.available),
            held: less(\.held),
            owed: less(\.owed),
            settlement: less(\.settlement),
            cost: less(\.cost)
        )
    }
}
