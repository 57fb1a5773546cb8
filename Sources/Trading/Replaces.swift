/// The numbers of an order that a replace changes: all of them, so that what is signed is what the order becomes.
package struct Replacement: Hashable, Sendable {
    /// The order's total: what is filled counts.
    package let quantity: Int64
    /// Present exactly when the order's type has one.
    package let limitPrice: Amount?
    package let stopPrice: Amount?

    package init(quantity: Int64, limitPrice: Amount?, stopPrice: Amount?) {
        self.quantity = quantity
        self.limitPrice = limitPrice
        self.stopPrice = stopPrice
    }

    package init(of terms: OrderTerms) {
        self.init(quantity: terms.quantity, limitPrice: terms.limitPrice, stopPrice: terms.stopPrice)
    }
}

/// Where an order stands with its replace requests (FIX OrderCancelReplaceRequest, 35=G). One at a time is under way.
package struct Replaces: Hashable, Sendable {
    package struct Pending: Hashable, Sendable {
        /// n in `<order_id>-r<n>`: the venue answers by this name. The newest request's, but after a restore, which numbers later ones past those that were
        /// lost.
        package internal(set) var number: Int16 = 0
        package let terms: Replacement
        /// Cash to hold for each share of a BUY, zero for a SELL.
        package let holdPrice: Amount
        /// The generation of the session's numbers in which messages between us and the venue were lost, and with them perhaps the request or its answer; nil
        /// while all that was sent comes.
        package var lostIn: Int64?

        package init(terms: Replacement, holdPrice: Amount) {
            self.terms = terms
            self.holdPrice = holdPrice
        }

        /// As it was stored.
        package init(number: Int16, terms: Replacement, holdPrice: Amount, lostIn: Int64?) {
            self.number = number
            self.terms = terms
            self.holdPrice = holdPrice
            self.lostIn = lostIn
        }
    }

    /// Requests made so far, or passed over after a restore: n of the newest in `<order_id>-r<n>`.
    package var requests: Int16 = 0
    /// n of the request that the venue took last; 0 before the first.
    package var taken: Int16 = 0
    package var pending: Pending?
    /// What the order was accepted with, once that has changed: earlier events speak of it.
    package var first: Replacement?

    package init() {}
}

extension OrderTerms {
    /// These terms with other numbers.
    package func with(_ replacement: Replacement) -> OrderTerms {
        OrderTerms(
            symbol: symbol,
            side: side,
            type: type,
            timeInForce: timeInForce,
            quantity: replacement.quantity,
            limitPrice: replacement.limitPrice,
            stopPrice: replacement.stopPrice
        )
    }
}

extension OrderState {
    /// Takes a replace under way: its hold grows to what the order may need now, before the request leaves.
    ///
    /// - Returns: false when what the hold lacks is not available; nothing changed then.
    package mutating func requestReplace(_ pending: Replaces.Pending, balances: inout Balances) -> Bool {
        var next = self
        next.replaces.pending = pending
        let needed = next.neededHold(filled: filledQuantity)
        let missing = Amount(units: max(0, needed.units - held.units))
        guard missing <= balances.balance(.customer(account), heldAsset).available,
            balances.hold(missing, of: heldAsset, for: account, order: id, cause: .replace)
        else { return false }
        next.held = Amount(units: held.units + missing.units)
        next.replaces.requests = replaces.requests == .max ? .max : replaces.requests + 1
        next.replaces.pending?.number = next.replaces.requests
        self = next
        return true
    }

    /// The venue's word on the replace under way: in force with so many shares in all, or refused. The hold shrinks to what is needed from now on.
    mutating func endReplace(inForceWith quantity: Int64?, balances: inout Balances) {
        guard let pending = replaces.pending else { preconditionFailure("Only a replace that is under way ends.") }
        if let quantity {
            replaces.first = replaces.first ?? Replacement(of: terms)
            terms = terms.with(Replacement(quantity: quantity, limitPrice: pending.terms.limitPrice, stopPrice: pending.terms.stopPrice))
            holdPrice = pending.holdPrice
            // Before the order has its number the venue was asked nothing: it gets the order with these numbers, under its own id.
            if status != .accepted { replaces.taken = pending.number }
        }
        replaces.pending = nil
        let surplus = Amount(units: max(0, held.units - neededHold(filled: filledQuantity).units))
        let released = balances.release(surplus, of: heldAsset, for: account, order: id)
        precondition(released, "What is held fits where it came from.")
        held = Amount(units: held.units - surplus.units)
    }
}
