import Storage
import Trading

/// What a batch of reports does: a pure function of the reports and of what was read under the shards' locks.
struct Settlement {
    var changes: ShardChanges
    private(set) var alarms: [(Alarm, String?)] = []
    private var orders: [OrderID: OrderState]
    private var booked: [ExecutionKey: BookedExecution]
    private let venue: String
    private let now: Int64

    init(reads: OrderReads, booked: [ExecutionKey: BookedExecution], venue: String, now: Int64) {
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
            if item.report.kind == .execution, let id = item.report.orderID.flatMap(OrderID.init) {
                changes.venueKnows(id, !item.report.saysUnknownOrder)
            }
            // The answer to a question books nothing; what it says of orders that are not ours is compared by reconcile.
            if item.report.answersAQuestion { return }
            park(item, why: "no order of ours has this ClOrdID")
            return
        }
        switch item.report.meaning(for: order) {
        case .nothing: break
        case .unbookable(let why): doubt(order, item, why)
        case .event(.filled(let quantity, let price)): fill(order, item, quantity: quantity, price: price)
        case .event(let event): apply(event, to: order, item)
        }
    }

    /// Gives up on a report that the database refuses even alone: parked, its order UNKNOWN.
    mutating func giveUp(_ item: InboxReport, why: String) {
        changes.settled(through: item.inboxID, of: item.shard)
        if var order = item.report.orderID.flatMap(OrderID.init).flatMap({ orders[$0] }),
            case .changed(let type, _) = order.apply(.doubted(reason: "report_not_booked"), balances: &changes.balances, at: now)
        {
            keep(order, type)
        }
        park(item, why: why)
    }

    /// Keeps a report that cannot be booked. Never dropped, always alarmed.
    private mutating func park(_ item: InboxReport, why: String) {
        changes.park(inboxID: item.inboxID, of: item.shard, why: why)
        raise(Alarm(.parked, why), order: item.report.orderID.flatMap(OrderID.init).flatMap { orders[$0] }, id: item.report.orderID)
    }

    private mutating func fill(_ order: OrderState, _ item: InboxReport, quantity: Int64, price: Amount) {
        guard let key = item.report.executionKey else { preconditionFailure("A fill without ExecID and trade date is unbookable.") }
        let content = BookedExecution(orderID: order.id, quantity: quantity, price: price)
        if let before = booked[key] {
            if before != content { doubt(order, item, "ExecID \(key.execID) of \(key.tradeDate) was booked with other content") }
            return
        }
        guard apply(.filled(quantity: quantity, price: price), to: order, item), let after = orders[order.id] else { return }
        booked[key] = content
        changes.book(
            .init(
                venue: venue,
                tradeDate: key.tradeDate,
                execID: key.execID,
                order: after,
                quantity: quantity,
                price: price,
                inboxID: item.inboxID
            )
        )
    }

    /// True when the event was applied or already known.
    @discardableResult
    private mutating func apply(_ event: OrderEvent, to order: OrderState, _ item: InboxReport) -> Bool {
        var order = order
        switch order.apply(event, balances: &changes.balances, at: now) {
        case .nothing: return true
        case .contradiction(let why):
            doubt(order, item, why)
            return false
        case .changed(let type, let raised):
            if case .filled(let quantity, let price) = event {
                keep(order, type, lastQuantity: quantity, lastPrice: price)
            } else {
                keep(order, type)
            }
            for alarm in raised { raise(alarm, order: order, id: order.id.text) }
            compareCumulative(item.report, order)
            return true
        }
    }

    /// CumQty that differs from our sum: something is missing or doubled between us and the venue; a person looks, nothing is invented.
    private mutating func compareCumulative(_ report: VenueReport, _ order: OrderState) {
        guard let cumulative = report.cumulativeQuantity, cumulative != order.filledQuantity else { return }
        raise(
            Alarm(.cumulativeQuantityDiffers, "the venue says CumQty (14) \(cumulative), booked are \(order.filledQuantity)"),
            order: order,
            id: order.id.text
        )
    }

    /// The report cannot be booked: it is parked and its order doubted. An answer to a status request is asked for again anyway: it is not kept,
    /// and alarmed once for as long as the venue says the same.
    private mutating func doubt(_ order: OrderState, _ item: InboxReport, _ why: String) {
        var doubted = order
        let isStatus = item.report.execType == "I"
        if case .changed(let type, _) = doubted.apply(.doubted(reason: why), balances: &changes.balances, at: now) {
            keep(doubted, type)
        } else if isStatus {
            guard doubted.reason != why else { return }
            doubted.reason = why
            orders[doubted.id] = doubted
            changes.update(doubted)
        }
        if isStatus {
            raise(Alarm(.cumulativeQuantityDiffers, why), order: order, id: order.id.text)
        } else {
            park(item, why: why)
        }
    }

    private mutating func keep(_ order: OrderState, _ type: OrderEventType, lastQuantity: Int64? = nil, lastPrice: Amount? = nil) {
        orders[order.id] = order
        changes.update(order)
        changes.tell(type, of: order, lastQuantity: lastQuantity, lastPrice: lastPrice)
    }

    private mutating func raise(_ alarm: Alarm, order: OrderState?, id: String?) {
        changes.raise(alarm, account: order?.account, orderID: id)
        alarms.append((alarm, id))
    }
}
