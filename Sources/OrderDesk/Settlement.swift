import Storage
import Trading

/// What a batch of reports does: a pure function of the reports and of what was read under the shards' locks.
struct Settlement {
    var changes: ShardChanges
    private(set) var alarms: [(Alarm, String?)] = []
    private var orders: [OrderID: OrderState]
    private var booked: BookedExecutions
    private let venue: String
    private let now: Int64
    private let sendsAgain: Bool

    /// - Parameter sendsAgain: whether an order that was lost in a reset of the sequence numbers is sent again.
    init(reads: OrderReads, booked: BookedExecutions, venue: String, now: Int64, sendsAgain: Bool = true) {
        self.sendsAgain = sendsAgain
        changes = reads.changes(at: now)
        orders = reads.orders
        self.booked = booked
        self.venue = venue
        self.now = now
    }

    /// Books a report, or parks it; the batch goes on in any case.
    mutating func settle(_ item: InboxReport) {
        changes.settled(through: item.inboxID, of: item.shard)
        guard let id = item.report.orderID.flatMap(OrderID.init), let order = orders[id] else {
            let isUnknown = item.report.saysUnknownOrder || item.report.rejectsAsUnknown
            // That it did not know the order when it was asked before is no answer to what it is asked now.
            if item.report.kind == .execution, !(isUnknown && item.report.isRepeated), let id = item.report.orderID.flatMap(OrderID.init) {
                changes.venueKnows(id, !isUnknown)
            }
            // The answer to a question books nothing; what it says of orders that are not ours is compared by reconcile.
            if item.report.answersAQuestion || isUnknown { return }
            park(item, why: "no order of ours has this ClOrdID")
            return
        }
        settle(item.report.meaning(for: order), of: order, item)
        hear(item.report, of: id)
    }

    /// Whatever a report came to, it may say that the venue has the order.
    private mutating func hear(_ report: VenueReport, of id: OrderID) {
        guard var order = orders[id], order.heard(report) else { return }
        orders[id] = order
        changes.update(order)
    }

    private mutating func settle(_ meaning: ReportMeaning, of order: OrderState, _ item: InboxReport) {
        switch meaning {
        // It waits to be sent again, and the venue speaks of it: it has come, whatever was said before.
        case .nothing where order.status == .accepted && order.resends > 0 && item.report.saysThatItCame:
            apply(.doubted(reason: "venue_has_it_after_all"), to: order, item)
        case .nothing: break
        case .lostInReset:
            let goesAgain = sendsAgain && order.resends < OrderState.resendsAtMost && order.maySendAgain(at: now)
            apply(goesAgain ? .lostInReset : .notRouted, to: order, item)
        case .forgotten: forget(order, item.report)
        case .unbookable(let why): doubt(order, item, why)
        case .event(.filled(let quantity, let price)): fill(order, item, Trade(quantity: quantity, price: price))
        case .correction(let trade): correct(order, item, to: trade)
        case .event(let event):
            apply(event, to: order, item)
            // It has ended there, or is not known there, and its end has not come here: asked about, instead of open for ever.
            if let why = item.report.doubtOfRefusal, let after = orders[order.id] { apply(.doubted(reason: why), to: after, item) }
        }
    }

    /// Gives up on a report that the database refuses even alone: parked, its order UNKNOWN.
    mutating func giveUp(_ item: InboxReport, why: String) {
        changes.settled(through: item.inboxID, of: item.shard)
        if let id = item.report.orderID.flatMap(OrderID.init), var order = orders[id] {
            let applied = order.apply(.doubted(reason: "report_not_booked"), balances: &changes.balances, at: now)
            if case .changed(let type, _) = applied { keep(order, type) }
            hear(item.report, of: id)
        }
        park(item, why: why)
    }

    /// Keeps a report that cannot be booked. Never dropped, always alarmed.
    private mutating func park(_ item: InboxReport, why: String) {
        changes.park(inboxID: item.inboxID, of: item.shard, why: why)
        raise(Alarm(.parked, why), order: item.report.orderID.flatMap(OrderID.init).flatMap { orders[$0] }, id: item.report.orderID)
    }

    private mutating func fill(_ order: OrderState, _ item: InboxReport, _ trade: Trade) {
        book(BookedExecution(orderID: order.id, trade: trade), .filled(quantity: trade.quantity, price: trade.price), of: order, item)
    }

    /// A trade cancel or correction reverses what was booked under ExecRefID, by journals of its own: no row changes.
    private mutating func correct(_ order: OrderState, _ item: InboxReport, to trade: Trade?) {
        guard let key = item.report.reversedKey else { preconditionFailure("A correction without ExecRefID and trade date is unbookable.") }
        let correction = Correction(kind: trade == nil ? .cancel : .correct, reverses: key.execID)
        guard let old = booked.found[key], old.orderID == order.id, old.correction?.kind != .cancel else {
            doubt(order, item, "ExecRefID (19) \(key.execID) of \(key.tradeDate) names no booked execution of this order")
            return
        }
        let content = BookedExecution(orderID: order.id, trade: trade ?? old.trade, correction: correction)
        if item.report.executionKey.map({ booked.found[$0] == nil }) == true, booked.reversed.contains(key) {
            doubt(order, item, "ExecRefID (19) \(key.execID) of \(key.tradeDate) was taken back before")
            return
        }
        if book(content, .corrected(old.trade, to: trade, isLive: item.report.isLive), of: order, item) { booked.reversed.insert(key) }
    }

    /// Books an execution once: told again it is known, told otherwise it is parked. True when it was booked now.
    @discardableResult
    private mutating func book(_ content: BookedExecution, _ event: OrderEvent, of order: OrderState, _ item: InboxReport) -> Bool {
        guard let key = item.report.executionKey else { preconditionFailure("An execution without ExecID and trade date is unbookable.") }
        if let before = booked.found[key] {
            if before != content { doubt(order, item, "ExecID \(key.execID) of \(key.tradeDate) was booked with other content") }
            return false
        }
        guard apply(event, to: order, item), let after = orders[order.id] else { return false }
        booked.found[key] = content
        changes.book(.init(venue: venue, key: key, content: content, order: after, inboxID: item.inboxID))
        return true
    }

    /// True when the event was applied or already known.
    @discardableResult
    private mutating func apply(_ event: OrderEvent, to order: OrderState, _ item: InboxReport) -> Bool {
        let before = order
        var order = order
        switch order.apply(event, balances: &changes.balances, at: now) {
        case .nothing: return true
        case .contradiction(let why):
            doubt(order, item, why)
            return false
        case .changed(let type, let raised):
            keep(order, type, of: event)
            follow(before, order, after: type)
            for alarm in raised { raise(alarm, order: order, id: order.id.text) }
            compareCumulative(item.report, order)
            return true
        }
    }

    /// What the end of a request brings with it. An order that ends takes its replace along, and a cancel that came too late is told as refused: whatever
    /// becomes of a request, its client is told once. A cancel that was asked for while a replace was under way named its ClOrdID, which the venue does not know
    /// once it has refused the replace: the cancel is asked for again.
    private mutating func follow(_ before: OrderState, _ now: OrderState, after type: OrderEventType) {
        if before.replaces.pending != nil, now.replaces.pending == nil, type != .replaced {
            if type != .replaceRejected {
                changes.tell(.replaceRejected, of: now)
            } else if now.cancelPending {
                var order = now
                if case .changed(let again, _) = order.apply(.cancelRequested, balances: &changes.balances, at: self.now) { keep(order, again) }
            }
        }
        if before.cancelPending, !now.status.isOpen, now.status != .cancelled {
            var told = now
            told.reason = Self.tooLate
            changes.tell(.cancelRejected, of: told)
        }
    }

    /// Why a cancel is refused that was under way when its order was filled, or ended otherwise. What the venue says of it itself comes after that.
    static let tooLate = "too_late"

    /// CumQty that differs from our sum: something is missing or doubled between us and the venue; a person looks, nothing is invented.
    private mutating func compareCumulative(_ report: VenueReport, _ order: OrderState) {
        // Of what it does not know it says CumQty 0.
        guard let cumulative = report.cumulativeQuantity, cumulative != order.filledQuantity, !report.saysUnknownOrder else { return }
        raise(
            Alarm(.cumulativeQuantityDiffers, "the venue says CumQty (14) \(cumulative), booked are \(order.filledQuantity)"),
            order: order,
            id: order.id.text
        )
    }

    /// The report cannot be booked: it is parked and its order doubted. An answer to a status request is asked for again anyway: it is not kept.
    private mutating func doubt(_ order: OrderState, _ item: InboxReport, _ why: String) {
        if item.report.execType == "I" { return disbelieve(order, why, Alarm(.cumulativeQuantityDiffers, why)) }
        var doubted = order
        if case .changed(let type, _) = doubted.apply(.doubted(reason: why), balances: &changes.balances, at: now) { keep(doubted, type) }
        park(item, why: why)
    }

    /// The venue does not know an order that it had, or may have had: what it has done with it is known to nobody here, so its hold stays.
    private mutating func forget(_ order: OrderState, _ report: VenueReport) {
        let words = report.text.map { " (\($0))" } ?? ""
        let had = order.wasHeardOf ? "had" : "may have had in the time that a restore has lost"
        let detail = "the venue says unknown order\(words) of one that it \(had); here are \(order.filledQuantity) of \(order.terms.quantity) filled"
        disbelieve(order, OrderState.forgottenByVenue, Alarm(.forgottenByVenue, detail))
    }

    /// A status cannot be true: its order is UNKNOWN, and alarmed once for as long as the venue says the same.
    private mutating func disbelieve(_ order: OrderState, _ why: String, _ alarm: Alarm) {
        var doubted = order
        if case .changed(let type, _) = doubted.apply(.doubted(reason: why), balances: &changes.balances, at: now) {
            keep(doubted, type)
        } else {
            guard doubted.reason != why else { return }
            doubted.reason = why
            orders[doubted.id] = doubted
            changes.update(doubted)
        }
        raise(alarm, order: order, id: order.id.text)
    }

    private mutating func keep(_ order: OrderState, _ type: OrderEventType, of event: OrderEvent? = nil) {
        orders[order.id] = order
        changes.update(order)
        var told = order
        // Its client is told why his request is refused, also where the order keeps the reason of its doubt.
        if let refusal = event?.refusal { told.reason = refusal }
        changes.tell(type, of: told, lastQuantity: event?.trade?.quantity, lastPrice: event?.trade?.price)
    }

    private mutating func raise(_ alarm: Alarm, order: OrderState?, id: String?) {
        changes.raise(alarm, account: order?.account, orderID: id)
        alarms.append((alarm, id))
    }
}
