package import Postgres
package import Trading

/// What accept reads under its shards' locks, in one round trip.
package struct AcceptReads: Sendable {
    package let locks: [ShardLock]
    package let halts: [Halt]
    package let venueIsUp: Bool
    package let accounts: [AccountID: AccountRecord]
    package let balances: [Balances.Key: Balance]
    package let keys: [KeyID: KeyRecord]
    package let credentials: [CredentialKey: CredentialState]
    /// Orders of these shards that are to be cancelled or replaced.
    package let orders: [OrderID: OrderState]
    /// Open orders, oldest first, of the accounts whose orders are all to be cancelled.
    package let open: [OrderID]
}

extension Database {
    /// Open orders of an account that one transaction cancels at most: it holds the shard no longer than a batch does.
    package static let cancelAllCap = 256

    /// Begins the accepting transaction: locks the shards and reads everything that the decision on `keys` can need. Every list is distinct.
    package func beginAccept(
        shards: [Int16],
        venueSession: String,
        accounts: [AccountID],
        balances: [Balances.Key],
        keys: [KeyID],
        credentials: [CredentialKey],
        orders: [OrderID],
        allOf: [AccountID] = []
    ) throws(PostgresError) -> AcceptReads {
        let rows = try begin { pipeline in
            pipeline.lock(shards)
            pipeline.add(SQL.readHalts)
            pipeline.add(SQL.readVenueUp) { $0.append(venueSession) }
            pipeline.readAccounts(accounts)
            pipeline.readBalances(balances)
            pipeline.add(SQL.readKeys) {
                $0.append(keys.map(\.account.text))
                $0.append(keys.map(\.bits))
                // A key of a time that no date has eight digits for was never accepted.
                let times = keys.map(\.key.milliseconds).filter { $0 <= OrderID.lastDatedMilliseconds }
                $0.append(times.min().map { OrderID.bound(from: $0) })
                $0.append(times.max().map { OrderID.bound(through: $0) })
            }
            pipeline.add(SQL.readCredentialStates) {
                $0.append(credentials.map(\.account.text))
                $0.append(credentials.map(\.credentialID))
            }
        }
        let locks = rows[0].shardLocks
        let open = try openOrders(of: allOf)
        let found = try ordersOf(locks, named: Array(Set(orders).union(open)))
        return AcceptReads(
            locks: locks,
            halts: rows[1].halts,
            venueIsUp: rows[2].count == 1 && rows[2].bool(0, 0),
            accounts: rows[3].accounts.merging(found?.accounts ?? [:]) { first, _ in first },
            balances: rows[4].balances.merging(found?.balances ?? [:]) { first, _ in first },
            keys: rows[5].keys,
            credentials: rows[6].credentialStates,
            orders: found?.orders ?? [:],
            open: open
        )
    }

    /// The orders of cancels and replaces, with what these change: a second round trip, which a batch of new orders does without.
    private func ordersOf(_ locks: [ShardLock], named orders: [OrderID]) throws(PostgresError) -> OrderReads? {
        if orders.isEmpty { return nil }
        do {
            return try reads(locks, [try run(SQL.readOrdersByID) { $0.append(bounded: orders.map(\.text)) }])
        } catch {
            rollback()
            throw error
        }
    }

    /// Open orders without a cancel under way, at most `cancelAllCap` of each account, oldest first. In the transaction at hand.
    func openOrders(of accounts: [AccountID]) throws(PostgresError) -> [OrderID] {
        if accounts.isEmpty { return [] }
        do {
            return try run(SQL.readOpenOrders) {
                $0.append(accounts.map(\.text))
                $0.append(Int64(Self.cancelAllCap))
            }.orderIDs
        } catch {
            rollback()
            throw error
        }
    }
}

extension Rows {
    fileprivate var credentialStates: [CredentialKey: CredentialState] {
        var found: [CredentialKey: CredentialState] = [:]
        for row in 0..<count {
            guard let state = CredentialState(rawValue: int16(row, 2)) else { preconditionFailure("A stored credential state is known.") }
            found[CredentialKey(account(row, 0), text(row, 1))] = state
        }
        return found
    }
}
