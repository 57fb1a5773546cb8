import Quotes
import Storage
import Trading
import Wire

/// Keys of before a recovery: one key is one order for ever, also where the database has forgotten which.
extension Decision {
    /// An unseen key that may have been accepted in what was lost. Never accepted as new: the venue says whether it has the order that the key gives.
    /// Known: the order is made from the signed request, without sending it. Unknown: the key is fenced.
    mutating func recover(_ submission: Submission) -> Verdict {
        let id = KeyID(submission.account, submission.key)
        guard let answered = reads.recoveredKeys[id] else {
            if !questions.contains(id) {
                changes.ask(
                    about: KeyQuestion(id: id, orderID: submission.orderID, symbol: submission.terms.symbol, side: submission.terms.side)
                )
                questions.insert(id)
            }
            return .refused(.keyRecovering)
        }
        switch answered {
        case nil: return .refused(.keyRecovering)
        case false?:
            _ = fence(id)
            return .refused(.keyFenced)
        case true?: return adopt(submission)
        }
    }

    /// The order as it was accepted once: its funds held, its key claimed, UNKNOWN until the venue has said where it stands. What the venue has reported of
    /// it before attaches. An account that cannot hold it waits: nothing is booked half. So does every one while the kill switch is on.
    private mutating func adopt(_ submission: Submission) -> Verdict {
        let terms = submission.terms
        // It would be open: the kill switch has answered that nothing is.
        if reads.halts.contains(where: { $0.scope == .killSwitch }) { return .refused(.keyRecovering) }
        guard let holdPrice = holdPrice(of: terms), let funds = holdPrice.times(terms.quantity), let shares = Amount(whole: terms.quantity) else {
            return .refused(.keyRecovering)
        }
        let (asset, needed) = terms.side == .buy ? (Asset.cash, funds) : (Asset.shares(terms.symbol), shares)
        guard needed <= changes.balances.balance(.customer(submission.account), asset).available,
            changes.balances.hold(needed, of: asset, for: submission.account, order: submission.orderID)
        else { return .refused(.keyRecovering) }
        var order = insert(submission, holdPrice: holdPrice, held: needed, routeBy: now)
        for event in [OrderEvent.routed, .doubted(reason: "adopted_after_restore")] {
            guard case .changed(let type, _) = order.apply(event, balances: &changes.balances, at: now) else { continue }
            changes.tell(type, of: order)
        }
        changes.update(order)
        changes.adopt(order, session: rules.venueSession)
        orders[order.id] = order
        return accepted(submission, order, reserved: needed)
    }

    /// nil for an order without a limit while its symbol has no price.
    private func holdPrice(of terms: OrderTerms) -> Amount? {
        guard let ask = market.listing(of: terms.symbol)?.quote?.ask ?? terms.limitPrice ?? terms.stopPrice else { return nil }
        return rules.limits.holdPrice(of: terms, ask: ask)
    }
}
