/// The journals of design section 5: what each event writes. Pure: an order and balances in, balances and the order's hold out.
extension Balances {
    /// accept, replace: the hold moves from available to held. The caller has checked that it is there.
    package mutating func hold(_ amount: Amount, of asset: Asset, for account: AccountID, order: OrderID, cause: Journal.Cause = .accept) -> Bool {
        var journal = Journal(cause: cause, shard: account.shard, orderID: order)
        journal.write(.customer(account), asset, .available, .debit, amount)
        journal.write(.customer(account), asset, .held, .credit, amount)
        return post(journal)
    }

    /// cancel, expire, reject: what is left of the hold returns to available, after what the account owes.
    package mutating func release(_ amount: Amount, of asset: Asset, for account: AccountID, order: OrderID) -> Bool {
        var journal = Journal(cause: .release, shard: account.shard, orderID: order)
        journal.write(.customer(account), asset, .held, .debit, amount)
        give(amount, of: asset, to: account, in: &journal)
        return post(journal)
    }

    /// deposit: from the house's settlement to the customer.
    package mutating func deposit(_ amount: Amount, of asset: Asset, to account: AccountID) -> Bool {
        var journal = Journal(cause: .deposit, shard: account.shard, orderID: nil)
        journal.write(.house(shard: account.shard), asset, .settlement, .debit, amount)
        give(amount, of: asset, to: account, in: &journal)
        return post(journal)
    }

    /// fill: a fact that always books: from the hold, then from available, then as owed.
    ///
    /// - Parameter held: what the order still holds for these shares (cash for a BUY, shares for a SELL); all of it is used up or returned.
    /// - Returns: false when a number would leave the range: the report is parked then, never half booked.
    package mutating func fill(
        side: Side,
        symbol: Symbol,
        quantity: Int64,
        price: Amount,
        held: Amount,
        account: AccountID,
        order: OrderID
    ) -> Bool {
        guard let value = price.times(quantity), let shares = Amount(whole: quantity) else { return false }
        var journal = Journal(cause: .fill, shard: account.shard, orderID: order)
        let house = LedgerAccount.house(shard: account.shard)
        let (given, gained, paid, received) =
            side == .buy ? (Asset.cash, Asset.shares(symbol), value, shares) : (Asset.shares(symbol), Asset.cash, shares, value)
        take(paid, of: given, held: held, from: account, in: &journal)
        journal.write(house, given, .settlement, .credit, paid)
        journal.write(house, gained, .settlement, .debit, received)
        give(received, of: gained, to: account, in: &journal)
        guard journal.isBalanced, let cost = costAfterFill(side: side, symbol: symbol, shares: shares, value: value, account: account), post(journal)
        else { return false }
        setCost(cost, of: .customer(account), .shares(symbol))
        return true
    }

    /// bust: what a fill moved goes back, as a fact that always books: what the customer has to return comes from available, then as owed.
    package mutating func reverse(side: Side, symbol: Symbol, _ trade: Trade, account: AccountID, order: OrderID) -> Bool {
        guard let value = trade.price.times(trade.quantity), let shares = Amount(whole: trade.quantity) else { return false }
        var journal = Journal(cause: .bust, shard: account.shard, orderID: order)
        let house = LedgerAccount.house(shard: account.shard)
        let (given, gained, paid, received) =
            side == .buy ? (Asset.cash, Asset.shares(symbol), value, shares) : (Asset.shares(symbol), Asset.cash, shares, value)
        journal.write(house, given, .settlement, .debit, paid)
        give(paid, of: given, to: account, in: &journal)
        take(received, of: gained, held: .zero, from: account, in: &journal)
        journal.write(house, gained, .settlement, .credit, received)
        let position = balance(.customer(account), .shares(symbol))
        // What a sale's shares cost before it is not kept: they come back at its price, but for those that only repay what is owed.
        let kept = value.part(shares.units - min(position.owed.units, shares.units), of: shares.units)
        let cost = side == .buy ? Amount(units: max(0, position.cost.units - value.units)) : position.cost.adding(kept)
        guard journal.isBalanced, let cost, post(journal) else { return false }
        let left = balance(.customer(account), .shares(symbol))
        // Others may have cost more than the ones that went back: where none is left, nothing has cost anything.
        setCost(left.available == .zero && left.held == .zero ? .zero : cost, of: .customer(account), .shares(symbol))
        return true
    }

    /// bust: what an open order needs again is held again, from available, then as owed.
    package mutating func reserve(_ amount: Amount, of asset: Asset, for account: AccountID, order: OrderID) -> Bool {
        var journal = Journal(cause: .bust, shard: account.shard, orderID: order)
        take(amount, of: asset, held: .zero, from: account, in: &journal)
        journal.write(.customer(account), asset, .held, .credit, amount)
        return post(journal)
    }

    /// Takes `amount`: first from `held`, whose surplus returns in the same journal, then from available, then as owed.
    private func take(_ amount: Amount, of asset: Asset, held: Amount, from account: AccountID, in journal: inout Journal) {
        let customer = LedgerAccount.customer(account)
        journal.write(customer, asset, .held, .debit, held)
        if amount <= held {
            give(Amount(units: held.units - amount.units), of: asset, to: account, in: &journal)
            return
        }
        let missing = amount.units - held.units
        let available = min(balance(customer, asset).available.units, missing)
        journal.write(customer, asset, .available, .debit, Amount(units: available))
        journal.write(customer, asset, .owed, .debit, Amount(units: missing - available))
    }

    /// Gives `amount`: first against what the account owes of it, the rest to available.
    private func give(_ amount: Amount, of asset: Asset, to account: AccountID, in journal: inout Journal) {
        let customer = LedgerAccount.customer(account)
        let repaid = min(balance(customer, asset).owed.units, amount.units)
        journal.write(customer, asset, .owed, .credit, Amount(units: repaid))
        journal.write(customer, asset, .available, .credit, Amount(units: amount.units - repaid))
    }

    /// The position's cost after a fill: a BUY adds what its shares cost, less those that only repay what is owed; a SELL takes its share of the
    /// average away.
    private func costAfterFill(side: Side, symbol: Symbol, shares: Amount, value: Amount, account: AccountID) -> Amount? {
        let position = balance(.customer(account), .shares(symbol))
        if side == .buy {
            let kept = shares.units - min(position.owed.units, shares.units)
            return position.cost.adding(value.part(kept, of: shares.units))
        }
        guard let owned = position.available.adding(position.held), owned.units > shares.units else { return .zero }
        return position.cost.part(owned.units - shares.units, of: owned.units)
    }
}

extension Amount {
    /// This amount × part / whole, exact in between and rounded down; `part` lies in 0...whole.
    fileprivate func part(_ part: Int64, of whole: Int64) -> Amount {
        Amount(units: whole.dividingFullWidth(units.multipliedFullWidth(by: part)).quotient)
    }
}
