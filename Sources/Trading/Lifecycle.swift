/// What can happen to an order (design section 4.5).
package enum OrderEvent: Hashable, Sendable {
    /// Its FIX sequence number is committed.
    case routed
    /// The venue took it.
    case acknowledged
    case filled(quantity: Int64, price: Amount)
    case cancelRequested
    case cancelRejected(reason: String?)
    case cancelled(reason: String?)
    case expired(reason: String?)
    case rejected(reason: String?)
    /// Asked of the venue: its hold has grown already (`requestReplace`).
    case replaceRequested
    /// In force at the venue, with so many shares in all.
    case replaced(quantity: Int64)
    case replaceRejected(reason: String?)
    /// The venue takes a booked trade back (`to` is nil) or corrects it; `isLive`: it says that the order goes on.
    case corrected(Trade, to: Trade?, isLive: Bool)
    /// The venue has lost it in a reset of the sequence numbers: it is ours alone again, and to be sent once more.
    case lostInReset
    /// The venue is silent, or says something that cannot be booked.
    ///
    /// - Parameter sentIn: the generation of the session's numbers in which the order was numbered, or a later one; nil where that is of no interest.
    case doubted(reason: String, sentIn: Int64? = nil)

    /// The venue never had it: cancelled by our own commit past its route deadline, or because the venue says that it never heard of it.
    package static let notRouted = OrderEvent.cancelled(reason: "not_routed")
}

/// Shares and price of an execution.
package struct Trade: Hashable, Sendable {
    package let quantity: Int64
    package let price: Amount

    package init(quantity: Int64, price: Amount) {
        self.quantity = quantity
        self.price = price
    }
}

/// What an event does to an order's status.
package enum Transition: Hashable, Sendable {
    /// The order moves (or stays) and the event is told to the client.
    case move(to: OrderStatus, tell: OrderEventType)
    /// Already known: a repeated or overtaken report. Nothing changes, nothing is told.
    case known
    /// Cannot be: the report is parked and the order doubted.
    case contradiction
}

extension OrderState {
    /// The one table of state × event. Every pair is here; what a fill does depends on what is then filled.
    package func transition(on event: OrderEvent) -> Transition {
        switch (status, event) {
        case (_, .filled(let quantity, _)):
            // A fill is a fact in every state: also after a cancel, also beyond the quantity.
            let complete = filledQuantity.addingReportingOverflow(quantity)
            if complete.overflow { return .contradiction }
            if complete.partialValue >= largestQuantity { return .move(to: .filled, tell: .fill) }
            return .move(to: status.isOpen ? .partiallyFilled : status, tell: .fill)

        case (.accepted, .routed): return .move(to: .routed, tell: .routed)
        case (_, .routed): return .known

        case (.accepted, .acknowledged), (.routed, .acknowledged), (.unknown, .acknowledged):
            return .move(to: filledQuantity > 0 ? .partiallyFilled : .working, tell: .working)
        case (_, .acknowledged): return .known

        case (_, .cancelRequested): return status.isOpen ? .move(to: status, tell: .cancelRequested) : .contradiction
        case (_, .cancelRejected): return cancelPending ? .move(to: status, tell: .cancelRejected) : .known

        case (.filled, .cancelled), (.filled, .expired): return .known
        case (.cancelled, .cancelled), (.expired, .expired), (.rejected, .rejected): return .known
        case (.cancelled, .expired), (.expired, .cancelled): return .known
        case (.rejected, .cancelled), (.rejected, .expired): return .contradiction
        case (.filled, .rejected), (.cancelled, .rejected), (.expired, .rejected): return .contradiction
        case (_, .cancelled): return .move(to: .cancelled, tell: .cancelled)
        case (_, .expired): return .move(to: .expired, tell: .expired)
        case (_, .rejected): return .move(to: .rejected, tell: .rejected)

        case (_, .replaceRequested): return status.isOpen ? .move(to: status, tell: .replaceRequested) : .contradiction
        // Without a request under way both are told again, or come after the order's end.
        case (_, .replaced(let quantity)):
            return replaces.pending == nil ? .known : .move(to: standing(filled: filledQuantity, of: quantity), tell: .replaced)
        case (_, .replaceRejected):
            if replaces.pending == nil { return .known }
            return .move(to: filledQuantity >= terms.quantity ? .filled : status, tell: .replaceRejected)
        case (_, .corrected(let old, let new, let isLive)): return correction(old, new, isLive)

        case (.unknown, .lostInReset): return .move(to: .accepted, tell: .accepted)
        case (_, .lostInReset): return .known

        case (.unknown, .doubted): return .known
        case (_, .doubted): return status.isOpen ? .move(to: .unknown, tell: .unknown) : .known
        }
    }

    /// Where an open order stands that the venue has: filled, in part, or not at all.
    private func standing(filled: Int64, of quantity: Int64) -> OrderStatus {
        if filled >= quantity { return .filled }
        if status == .accepted { return .accepted }
        return filled > 0 ? .partiallyFilled : .working
    }

    /// A correction is a fact in every state. Where it leaves less filled than a filled order had, the venue's word tells whether the rest still works.
    private func correction(_ old: Trade, _ new: Trade?, _ isLive: Bool) -> Transition {
        let (filled, overflow) = (filledQuantity - old.quantity).addingReportingOverflow(new?.quantity ?? 0)
        if overflow || filledQuantity < old.quantity { return .contradiction }
        let tell: OrderEventType = new == nil ? .tradeCancelled : .tradeCorrected
        switch status {
        case .filled where filled < terms.quantity && !isLive: return .move(to: .cancelled, tell: tell)
        case .filled: return .move(to: standing(filled: filled, of: terms.quantity), tell: tell)
        case .working, .partiallyFilled: return .move(to: standing(filled: filled, of: largestQuantity), tell: tell)
        default: return .move(to: status, tell: tell)
        }
    }

    /// Applies an event: status, fills, hold and balances together.
    ///
    /// - Returns: what to tell the client; nil when nothing changed; `contradiction` parks the report.
    package mutating func apply(_ event: OrderEvent, balances: inout Balances, at now: Int64) -> Applied {
        switch transition(on: event) {
        case .known: return .nothing
        case .contradiction: return .contradiction("\(event.name) does not fit an order that is \(status.text)")
        case .move(let next, let tell):
            var alarms: [Alarm] = []
            let wasWithin = filledQuantity <= largestQuantity
            switch event {
            case .filled(let quantity, let price):
                guard let booked = book(quantity: quantity, price: price, balances: &balances) else {
                    return .contradiction("the fill of \(quantity) at \(price) leaves the range of the ledger")
                }
                alarms = booked
            case .corrected(let old, let new, _):
                guard let booked = correct(old, to: new, staysOpen: next.isOpen, balances: &balances) else {
                    return .contradiction("the correction of \(old.quantity) at \(old.price) leaves the range of the ledger")
                }
                alarms = booked
            case .replaced(let quantity): endReplace(inForceWith: quantity, balances: &balances)
            case .replaceRejected: endReplace(inForceWith: nil, balances: &balances)
            default: break
            }
            if !next.isOpen, held.units > 0 {
                let released = balances.release(held, of: heldAsset, for: account, order: id)
                precondition(released, "What is held fits where it came from.")
                held = .zero
            }
            note(event, becoming: next)
            // What a replace under way would have allowed is beyond the order once that is refused.
            if wasWithin, filledQuantity > largestQuantity, !alarms.contains(where: { $0.kind == .overfill }) {
                alarms.append(Alarm(.overfill, "\(filledQuantity) of \(terms.quantity) filled"))
            }
            updatedAt = now
            return .changed(tell, alarms: alarms)
        }
    }

    /// While it is UNKNOWN its reason is that of its doubt: why a request of the client's was refused is of that event alone.
    private mutating func note(_ event: OrderEvent, becoming next: OrderStatus) {
        switch event {
        case .cancelRequested:
            // Past the last number the venue sees one again and refuses it.
            cancels = cancels == .max ? .max : cancels + 1
            cancelPending = true
            forgetRefusal()
        case .cancelRejected(let why):
            cancelPending = false
            if next != .unknown { reason = why ?? reason }
        // The end has its own reason or none: not that of an earlier doubt or of a cancel that was refused.
        case .cancelled(let why), .expired(let why), .rejected(let why): reason = why
        case .doubted(let why, let sentIn):
            reason = why
            // What it was says whether the venue has spoken of it: UNKNOWN does not.
            if wasHeardOf { unansweredIn = 0 } else if status == .routed { unansweredIn = unansweredIn ?? sentIn }
        case .lostInReset: (resends, reason) = (resends + 1, "lost_in_reset")
        // What was sent again is on its way as any other.
        case .routed where resends > 0: (reason, unansweredIn) = (nil, nil)
        case .replaceRejected(let why): if next != .unknown { reason = why ?? reason }
        case .corrected where status == .filled && next == .cancelled: reason = "trade_cancelled"
        case .replaceRequested: forgetRefusal()
        case .acknowledged where isInQuestion, .filled where isInQuestion, .replaced: reason = nil
        case .routed, .acknowledged, .filled, .corrected: break
        }
        if !next.isOpen { (cancelPending, replaces.pending, unansweredIn) = (false, nil, nil) }
        status = next
    }

    /// Why an earlier request was refused says nothing of the next one. The reason of a doubt stays: it is evidence.
    private mutating func forgetRefusal() {
        if !isInQuestion { reason = nil }
    }

    /// In doubt, or taken for lost in a reset: the venue's word that it has it is the end of that.
    private var isInQuestion: Bool { status == .unknown || status == .accepted }

    /// Books a fill; nil when a number would leave the range.
    private mutating func book(quantity: Int64, price: Amount, balances: inout Balances) -> [Alarm]? {
        guard let value = price.times(quantity), let total = filledValue.adding(value) else { return nil }
        let used = heldFor(fillOf: quantity)
        let owedBefore = owed(heldAsset, in: balances)
        guard
            balances.fill(
                side: terms.side,
                symbol: terms.symbol,
                quantity: quantity,
                price: price,
                held: used,
                account: account,
                order: id
            )
        else { return nil }
        held = Amount(units: held.units - used.units)
        let late = !status.isOpen
        filledQuantity += quantity
        filledValue = total
        var alarms: [Alarm] = []
        if filledQuantity > largestQuantity { alarms.append(Alarm(.overfill, "\(filledQuantity) of \(terms.quantity) filled")) }
        if late { alarms.append(Alarm(.fillAfterEnd, "\(quantity) at \(price) after the order was \(status.text)")) }
        let owes = owed(heldAsset, in: balances)
        if owes > owedBefore { alarms.append(Alarm(.owes, "owes \(owes) of \(heldAsset.text) after a fill of \(quantity) at \(price)")) }
        return alarms
    }

    /// Takes a booked trade back, by journals of its own, and books what stands in its place; nil, and nothing changed, when a number would leave the range.
    private mutating func correct(_ old: Trade, to new: Trade?, staysOpen: Bool, balances: inout Balances) -> [Alarm]? {
        let before = (self, balances)
        let owedBefore = assets.map { owed($0, in: balances) }
        var alarms = [Alarm(new == nil ? .tradeCancelled : .tradeCorrected, "the venue took back \(old.quantity) at \(old.price)")]
        guard let value = old.price.times(old.quantity), let rest = filledValue.subtracting(value), rest >= .zero,
            balances.reverse(side: terms.side, symbol: terms.symbol, old, account: account, order: id)
        else { return nil }
        filledQuantity -= old.quantity
        filledValue = rest
        if let new {
            guard let booked = book(quantity: new.quantity, price: new.price, balances: &balances) else {
                (self, balances) = before
                return nil
            }
            alarms += booked.filter { $0.kind == .overfill }
        }
        // What is not filled any more has to be held again, as long as it can still be filled.
        let missing = Amount(units: max(0, neededHold(filled: filledQuantity).units - held.units))
        if staysOpen, missing > .zero {
            guard balances.reserve(missing, of: heldAsset, for: account, order: id), let held = held.adding(missing) else {
                (self, balances) = before
                return nil
            }
            self.held = held
        }
        // Either may be missing: what the trade had brought, spent or sold since, and what has to be held again.
        for (asset, before) in zip(assets, owedBefore) where owed(asset, in: balances) > before {
            alarms.append(Alarm(.owes, "owes \(owed(asset, in: balances)) of \(asset.text) after the venue took back a trade"))
        }
        return alarms
    }

    /// What its trades move.
    private var assets: [Asset] { [.cash, .shares(terms.symbol)] }

    private func owed(_ asset: Asset, in balances: Balances) -> Amount { balances.balance(.customer(account), asset).owed }
}

/// What applying an event came to.
package enum Applied: Hashable, Sendable {
    case nothing
    case changed(OrderEventType, alarms: [Alarm])
    case contradiction(String)
}

/// Something that a person has to look at; booked all the same.
package struct Alarm: Hashable, Sendable {
    package enum Kind: String, Sendable {
        case overfill
        case fillAfterEnd = "fill_after_end"
        case owes
        case parked
        case cumulativeQuantityDiffers = "cum_qty_differs"
        /// The venue does not know an order any more that it had.
        case forgottenByVenue = "forgotten_by_venue"
        case reconciliation
        case tradeCancelled = "trade_cancelled"
        case tradeCorrected = "trade_corrected"
    }

    package let kind: Kind
    package let detail: String

    package init(_ kind: Kind, _ detail: String) {
        self.kind = kind
        self.detail = detail
    }
}

extension OrderEvent {
    /// What its client is told as the last quantity and price: the fill, the correction, or what was taken back.
    package var trade: Trade? {
        switch self {
        case .filled(let quantity, let price): Trade(quantity: quantity, price: price)
        case .corrected(let old, let new, _): new ?? old
        default: nil
        }
    }

    /// Why the venue refuses a request of the client's.
    package var refusal: String? {
        switch self {
        case .cancelRejected(let why), .replaceRejected(let why): why
        default: nil
        }
    }

    var name: String {
        switch self {
        case .routed: "routed"
        case .acknowledged: "acknowledged"
        case .filled: "filled"
        case .cancelRequested: "cancel requested"
        case .cancelRejected: "cancel rejected"
        case .cancelled: "cancelled"
        case .expired: "expired"
        case .rejected: "rejected"
        case .replaceRequested: "replace requested"
        case .replaced: "replaced"
        case .replaceRejected: "replace rejected"
        case .corrected(_, let new, _): new == nil ? "trade cancelled" : "trade corrected"
        case .lostInReset: "lost in a reset"
        case .doubted: "doubted"
        }
    }
}
