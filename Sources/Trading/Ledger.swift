/// What an account can have: cash, or the shares of one symbol.
package enum Asset: Hashable, Sendable, Comparable {
    case cash
    case shares(Symbol)

    /// As stored: '$' cannot be a symbol, while 'USD' is one.
    package var text: String {
        switch self {
        case .cash: "$"
        case .shares(let symbol): symbol.text
        }
    }

    package init?(text: String) {
        if text == "$" {
            self = .cash
        } else if let symbol = Symbol(text) {
            self = .shares(symbol)
        } else {
            return nil
        }
    }

    package static func < (left: Asset, right: Asset) -> Bool { left.text < right.text }
}

/// Whose entry it is: a customer, or the house account of a shard.
package enum LedgerAccount: Hashable, Sendable, CustomStringConvertible {
    case customer(AccountID)
    case house(shard: Int16)

    package var description: String {
        switch self {
        case .customer(let account): account.text
        case .house(let shard): "~house-\(shard)"
        }
    }
}

/// One line of a journal. Raw values are stored.
package struct Entry: Hashable, Sendable {
    package enum Bucket: Int16, Sendable {
        case available = 1
        case held = 2
        case owed = 3
        case settlement = 4
    }

    package enum Direction: Int16, Sendable {
        case debit = 1
        case credit = 2
    }

    package let account: LedgerAccount
    package let asset: Asset
    package let bucket: Bucket
    package let direction: Direction
    /// Greater than zero.
    package let amount: Amount
}

/// Entries that sum to zero per asset, written in the transaction that causes them. Raw values of the cause are stored.
package struct Journal: Sendable {
    package enum Cause: Int16, Sendable, CaseIterable {
        case deposit = 1
        case accept = 2
        case fill = 3
        case release = 4
        /// A replace that needs more than the order held.
        case replace = 5
        /// A trade that the venue took back.
        case bust = 6
    }

    package let cause: Cause
    /// The shard of the customer whom it is about: journals are numbered within a shard.
    package let shard: Int16
    package let orderID: OrderID?
    package private(set) var entries: [Entry] = []

    package init(cause: Cause, shard: Int16, orderID: OrderID?) {
        self.cause = cause
        self.shard = shard
        self.orderID = orderID
    }

    mutating func write(_ account: LedgerAccount, _ asset: Asset, _ bucket: Entry.Bucket, _ direction: Entry.Direction, _ amount: Amount) {
        precondition(amount.units >= 0, "An entry's amount is not negative.")
        if amount.units == 0 { return }
        entries.append(Entry(account: account, asset: asset, bucket: bucket, direction: direction, amount: amount))
    }

    /// True when debits equal credits for each asset; the database refuses the journal otherwise (`journal_debits_equal_credits`).
    package var isBalanced: Bool {
        var sums: [Asset: Int64] = [:]
        for entry in entries {
            let signed = entry.direction == .credit ? entry.amount.units : -entry.amount.units
            let (sum, overflow) = sums[entry.asset, default: 0].addingReportingOverflow(signed)
            if overflow { return false }
            sums[entry.asset] = sum
        }
        return sums.values.allSatisfy { $0 == 0 }
    }
}

/// What an account has of one asset. Changes only by journals.
package struct Balance: Hashable, Sendable {
    package var available: Amount
    package var held: Amount
    package var owed: Amount
    package var settlement: Amount
    /// What the position's shares cost in all; for its average price.
    package var cost: Amount

    package init(available: Amount = .zero, held: Amount = .zero, owed: Amount = .zero, settlement: Amount = .zero, cost: Amount = .zero) {
        self.available = available
        self.held = held
        self.owed = owed
        self.settlement = settlement
        self.cost = cost
    }

    /// This balance after an entry; nil when it leaves the range.
    func after(_ entry: Entry) -> Balance? {
        let bucket: WritableKeyPath<Balance, Amount> =
            switch entry.bucket {
            case .available: \.available
            case .held: \.held
            case .owed: \.owed
            case .settlement: \.settlement
            }
        let raises = (entry.direction == .credit) != (entry.bucket == .owed)
        guard let amount = raises ? self[keyPath: bucket].adding(entry.amount) : self[keyPath: bucket].subtracting(entry.amount) else { return nil }
        precondition(amount.units >= 0 || entry.bucket == .settlement, "A customer's balance is never negative.")
        var next = self
        next[keyPath: bucket] = amount
        return next
    }
}

/// The balances of a batch while it is decided: read under the shard's lock, changed by journals, written as differences.
package struct Balances: Sendable {
    package struct Key: Hashable, Sendable {
        package let account: LedgerAccount
        package let asset: Asset

        package init(_ account: LedgerAccount, _ asset: Asset) {
            self.account = account
            self.asset = asset
        }
    }

    package private(set) var now: [Key: Balance]
    package private(set) var changed: Set<Key> = []
    package private(set) var journals: [Journal] = []

    package init(_ read: [Key: Balance]) {
        now = read
    }

    package func balance(_ account: LedgerAccount, _ asset: Asset) -> Balance { now[Key(account, asset)] ?? Balance() }

    /// Writes one journal: applies its entries and keeps it for the database. False (and nothing changed) if a balance would overflow.
    package mutating func post(_ journal: Journal) -> Bool {
        precondition(journal.isBalanced, "A journal's debits equal its credits.")
        if journal.entries.isEmpty { return true }
        var undo: [(Key, Balance?)] = []
        for entry in journal.entries {
            let key = Key(entry.account, entry.asset)
            undo.append((key, now[key]))
            guard let balance = (now[key] ?? Balance()).after(entry) else {
                for (key, balance) in undo.reversed() { now[key] = balance }
                return false
            }
            now[key] = balance
        }
        changed.formUnion(journal.entries.map { Key($0.account, $0.asset) })
        journals.append(journal)
        return true
    }

    package mutating func setCost(_ cost: Amount, of account: LedgerAccount, _ asset: Asset) {
        let key = Key(account, asset)
        now[key, default: Balance()].cost = cost
        changed.insert(key)
    }
}
