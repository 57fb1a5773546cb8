import FIX
import Storage
import Trading

/// doubt: what may have been lost between us and the venue is asked about, and what was asked of the venue is asked again.
extension VenueSession {
    /// Orders doubted per transaction: short enough that accepting need not wait.
    private static let doubtPortion = 256
    /// Blocks of orders read at once: 128 MB, well within a second, so that the lease is renewed in time.
    private static let readPortion: Int64 = 16_384

    /// After a reset of the numbers, or a skip by the venue, nobody resends what one side has missed: each order that the venue may have is asked about.
    ///
    /// They are found on a connection of their own, as of one moment; an order that is numbered later is not concerned. All of it can take longer than
    /// the lease lasts, so the lease is renewed between.
    func doubtAll(reason: String) throws {
        let reading = Database(options)
        defer { reading.drop() }
        try doubt(try reading.ordersAtVenue(blocks: Self.readPortion, renewIfDue), reason: reason, losesRequests: true)
    }

    /// What is open here and was numbered, on a connection of its own, and what differs from the venue's answer.
    func compare(_ reconciliation: Reconciliation) throws -> [Difference] {
        let reading = Database(options)
        defer { reading.drop() }
        let open = try reading.ordersAtVenue(blocks: Self.readPortion, renewIfDue)
        return try reading.compare(reconciliation.id, open: open.values.flatMap { $0 }, venue: settings.session.targetCompID)
    }

    /// Orders by shard, a portion per transaction.
    ///
    /// - Parameter losesRequests: cancels and replaces that had their number may be lost, or their answers.
    func doubt(_ open: [Int16: [OrderID]], reason: String, losesRequests: Bool = false) throws {
        for (shard, orders) in open.sorted(by: { $0.key < $1.key }) {
            for first in stride(from: 0, to: orders.count, by: Self.doubtPortion) {
                let portion = Array(orders[first..<min(first + Self.doubtPortion, orders.count)])
                try doubt(portion, shard: shard, in: [.routed, .working, .partiallyFilled], reason: reason, losesRequests: losesRequests)
                try renewIfDue()
            }
        }
    }

    /// Orders that are in one of these states under their shard's lock become UNKNOWN.
    func doubt(_ orders: [OrderID], shard: Int16, in states: Set<OrderStatus>, reason: String, losesRequests: Bool = false) throws {
        if orders.isEmpty { return }
        do {
            // Numbered in this generation or in an earlier one.
            let generation = try held().generation
            let reads = try database.beginOrders(shards: [shard], orders: orders)
            var changes = reads.changes(at: now)
            let asking = losesRequests ? reads.orders.values.filter(\.hasRequestUnderWay).map(\.id) : []
            let waiting = try database.waitingRequests(of: asking, in: reads.locks)
            for var order in reads.orders.values {
                if states.contains(order.status) { changes.apply(.doubted(reason: reason, sentIn: generation), to: &order) }
                if losesRequests, let event = order.loseRequests(in: generation, waiting: waiting[order.id] ?? []) {
                    changes.apply(event, to: &order)
                }
                if order != reads.orders[order.id] { changes.update(order) }
            }
            try database.commit(changes)
            observer.committed()
        } catch {
            database.rollback()
            throw error
        }
    }
}

extension ShardChanges {
    fileprivate mutating func apply(_ event: OrderEvent, to order: inout OrderState) {
        if case .changed(let type, _) = order.apply(event, balances: &balances, at: at) { tell(type, of: order) }
    }
}

extension SessionStep {
    /// Why messages between us and the venue may never arrive, where this step brings that about.
    var lossOfReports: String? {
        if newGeneration != nil { return "sequence_reset" }
        let skips = events.contains { event in
            if case .inboundSkipped = event { true } else { false }
        }
        return skips ? "messages_skipped" : nil
    }
}
