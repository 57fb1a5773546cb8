import Postgres
package import Trading

/// Everything that one leg changes in one shard: the only way into orders, balances, ledger, log and keys (one write funnel).
///
/// Filled by the pure decision of a station, written by `Shard.commit` in one pipeline that ends in COMMIT.
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

    /// A fill that was booked; unique by venue, trade date and ExecID.
    package struct Execution: Sendable {
        package let venue: String
        package let tradeDate: String
        package let execID: String
        package let order: OrderState
        package let quantity: Int64
        package let price: Amount
        package let inboxID: Int64

        package init(venue: String, tradeDate: String, execID: String, order: OrderState, quantity: Int64, price: Amount, inboxID: Int64) {
            self.venue = venue
            self.tradeDate = tradeDate
            self.execID = execID
            self.order = order
            self.quantity = quantity
            self.price = price
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

    struct RaisedAlarm: Sendable {
        let alarm: Alarm
        let account: AccountID?
        let orderID: String?
    }

    package let lock: ShardLock
    /// Time of this leg, ms since the epoch.
    package let at: Int64
    package var balances: Balances
    package var sentLog: Int64
    package var settledInbox: Int64
    package var replays: Int64 = 0
    package private(set) var newKeys: [KeyRecord] = []
    package private(set) var newOrders: [NewOrder] = []
    package private(set) var changedOrders: [OrderID: OrderState] = [:]
    package private(set) var executions: [Execution] = []
    package private(set) var parked: [(inboxID: Int64, why: String)] = []
    private(set) var alarms: [RaisedAlarm] = []
    private(set) var events: [Event] = []
    private(set) var eventBase: [AccountID: Int64]
    private(set) var eventNow: [AccountID: Int64] = [:]
    private let balancesRead: [Balances.Key: Balance]

    package init(lock: ShardLock, at: Int64, accounts: [AccountID: AccountRecord], balances: [Balances.Key: Balance]) {
        self.lock = lock
        self.at = at
        self.balances = Balances(balances)
        balancesRead = balances
        eventBase = accounts.mapValues(\.lastEvent)
        sentLog = lock.sentLog
        settledInbox = lock.settledInbox
    }

    package mutating func claim(_ key: KeyRecord) { newKeys.append(key) }

    package mutating func insert(_ order: NewOrder) { newOrders.append(order) }

    package mutating func update(_ order: OrderState) { changedOrders[order.id] = order }

    package mutating func book(_ execution: Execution) { executions.append(execution) }

    package mutating func park(inboxID: Int64, why: String) { parked.append((inboxID, why)) }

    package mutating func raise(_ alarm: Alarm, account: AccountID?, orderID: String?) {
        alarms.append(RaisedAlarm(alarm: alarm, account: account, orderID: orderID))
    }

    /// Writes the next row of the log: the account's next event, at the shard's next position.
    package mutating func tell(_ type: OrderEventType, of order: OrderState, lastQuantity: Int64? = nil, lastPrice: Amount? = nil) {
        guard let base = eventBase[order.account] else { preconditionFailure("The account of an event was read under the lock.") }
        let number = (eventNow[order.account] ?? base) + 1
        eventNow[order.account] = number
        events.append(
            Event(
                position: lock.nextLog + Int64(events.count),
                number: number,
                type: type,
                order: order,
                lastQuantity: lastQuantity,
                lastPrice: lastPrice
            )
        )
    }

    package var eventCount: Int { events.count }

    var nextLog: Int64 { lock.nextLog + Int64(events.count) }
    var nextJournal: Int64 { lock.nextJournal + Int64(balances.journals.count) }

    /// The sender's cursor after this leg: where the sender is up to date, it need not look at rows that ask nothing of the venue.
    var sentLogAfter: Int64 {
        guard sentLog == lock.nextLog - 1 else { return sentLog }
        return sentLog + Int64(events.prefix { !$0.type.asksTheVenue }.count)
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
