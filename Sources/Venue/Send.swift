import FIX
import Storage
import Trading

/// send: log to exchange. Log rows become FIX messages with their sequence numbers in a commit, before the socket sees a byte; their orders are ROUTED
/// in the same commit. After a crash the session's own resend brings the venue up to date: nothing is ever sent as new twice.
extension VenueSession {
    /// Shards per transaction: a commit costs the same for one as for several, and the other half is free for accepting meanwhile.
    static let shardsAtOnce = Int(AccountID.shardCount) / 2
    /// Messages per transaction: enough to fill a commit, also where one account has them all, and few enough that the shards are soon free for accepting
    /// again.
    static let sendCap = 256
    /// Log rows of each shard that are looked at for them: where the sender is behind, three of four rows tell of what it sent before, and ask for nothing.
    static let rowCap = 1_024
    /// Orders asked about at once.
    static let askCap = 100
    /// How long a status request or cancel may still be resent, ms: a question does not grow old within a session's day.
    static let resendable: Int64 = 86_400_000

    /// The next shards' messages, numbered and committed; empty when no log row asks for one. Shards take turns: busy ones do not keep the others
    /// waiting, and each has gathered a batch by the time that its turn comes.
    func send(_ session: inout SessionState, at wall: Int64) throws -> [OutgoingMessage] {
        let waiting = Dictionary(grouping: try database.outbox(limit: Self.rowCap), by: \.shard).mapValues { $0.through(asking: Self.sendCap) }
        let shards = waiting.keys.sorted()
        let order = shards.filter { $0 > lastShard } + shards.filter { $0 <= lastShard }
        let counts = order.map { shard in (shard, waiting[shard]?.count { $0.type.asksTheVenue } ?? 0) }
        for turn in turns(counts, shards: Self.shardsAtOnce, cap: Self.sendCap) {
            lastShard = turn.last ?? lastShard
            let begun = ContinuousClock.now
            guard let reads = try database.beginSend(turn.flatMap { waiting[$0] ?? [] }, at: wall, since: opening(at: wall)) else { continue }
            let outgoing = try number(reads, &session, at: wall)
            observer.committed()
            guard !outgoing.isEmpty else { continue }
            observer.step(.sendCommitted)
            observer.batch("send", outgoing.count, .now - begun)
            return outgoing
        }
        return []
    }

    /// When the present period of the session's numbers began.
    func opening(at wall: Int64) -> Int64? { settings.session.schedule?.opening(at: wall) }

    private func number(_ reads: SendReads, _ session: inout SessionState, at wall: Int64) throws -> [OutgoingMessage] {
        do {
            let record = try held()
            var changes = reads.orders.changes(at: wall)
            var orders = reads.orders.orders
            var outgoing: [OutgoingMessage] = []
            var kept: [SentMessage] = []
            for row in reads.rows {
                changes.sent(through: row.position, of: row.shard)
                guard row.type.asksTheVenue, var order = orders[row.orderID] else { continue }
                if let end = reads.end(of: order, asking: row.type, at: wall, since: opening(at: wall)) {
                    guard case .changed(let type, _) = order.apply(end, balances: &changes.balances, at: wall) else { continue }
                    orders[order.id] = order
                    changes.update(order)
                    changes.tell(type, of: order)
                    continue
                }
                guard let message = order.message(for: row.type, in: record.generation, at: wall) else { continue }
                let numbered = session.send(message, at: wall)
                outgoing.append(numbered)
                kept.append(
                    numbered.kept(
                        at: wall,
                        resendBy: row.type == .accepted ? order.routeBy : wall + Self.resendable,
                        orderID: order.id.text,
                        shard: row.shard
                    )
                )
                if row.type == .accepted, case .changed(let type, _) = order.apply(.routed, balances: &changes.balances, at: wall) {
                    orders[order.id] = order
                    changes.update(order)
                    changes.tell(type, of: order)
                }
            }
            try database.commitSend(
                changes,
                session: settings.sessionID,
                record: record,
                nextOut: Int64(session.numbers.nextOut),
                nextIn: Int64(session.numbers.nextIn),
                messages: kept,
                sent: { observer.step(.sendNumbered) }
            )
            if !kept.isEmpty { try committed(session.numbers) }
            return outgoing
        } catch {
            database.rollback()
            throw error
        }
    }

    /// OrderStatusRequests for orders that are UNKNOWN, or whose cancel request stays unanswered, and that were not asked about lately; before them what
    /// comparisons with the venue ask for.
    func ask(_ session: inout SessionState, at wall: Int64) throws -> [OutgoingMessage] {
        guard wall >= askDue else { return [] }
        askDue = wall + settings.askInterval
        let asked = try reconcile(&session, at: wall) + askForKeys(&session, at: wall)
        let orders = try database.unknownOrders(askedBefore: wall - settings.askInterval, limit: Self.askCap)
        if orders.isEmpty { return asked }
        let record = try held()
        let outgoing = orders.map { session.send($0.orderStatusRequest(in: record.generation), at: wall) }
        let kept = zip(orders, outgoing).map { order, message in
            message.kept(at: wall, resendBy: wall + Self.resendable, orderID: order.id.text, shard: order.account.shard)
        }
        try database.commitAsked(
            kept,
            session: settings.sessionID,
            record: record,
            nextOut: Int64(session.numbers.nextOut),
            nextIn: Int64(session.numbers.nextIn),
            at: wall
        )
        try committed(session.numbers)
        return asked + outgoing
    }
}

extension VenueSession {
    /// OrderStatusRequests for the orders that keys of before a recovery may have become.
    private func askForKeys(_ session: inout SessionState, at wall: Int64) throws -> [OutgoingMessage] {
        let questions = try database.keysToAsk(askedBefore: wall - settings.askInterval, limit: Self.askCap)
        if questions.isEmpty { return [] }
        let record = try held()
        let outgoing = questions.map { session.send($0.orderStatusRequest, at: wall) }
        let kept = zip(questions, outgoing).map { question, message in
            message.kept(at: wall, resendBy: wall + Self.resendable, orderID: question.orderID.text, shard: question.id.account.shard)
        }
        try database.commitKeysAsked(
            kept,
            session: settings.sessionID,
            record: record,
            nextOut: Int64(session.numbers.nextOut),
            nextIn: Int64(session.numbers.nextIn),
            at: wall
        )
        try committed(session.numbers)
        return outgoing
    }
}

extension OutgoingMessage {
    /// As it is kept for resending.
    func kept(at wall: Int64, resendBy: Int64, orderID: String, shard: Int16) -> SentMessage {
        SentMessage(
            number: Int64(number),
            type: type.rawValue,
            sentAt: wall,
            resendBy: resendBy,
            orderID: orderID,
            shard: shard,
            body: body
        )
    }
}

extension [OutboxRow] {
    /// The rows up to the n-th that asks for a message, it included.
    fileprivate func through(asking most: Int) -> ArraySlice<OutboxRow> {
        let asking = indices.filter { self[$0].type.asksTheVenue }
        return asking.count > most ? self[...asking[most - 1]] : self[...]
    }
}

extension SendReads {
    /// Why what waits for its number never gets one, and what was held for it is free: halted before, or an order past its route deadline, or one that was to
    /// be sent again and may not be any more.
    fileprivate func end(of order: OrderState, asking type: OrderEventType, at now: Int64, since opening: Int64?) -> OrderEvent? {
        switch type {
        case .accepted: halt(on: order).map { .cancelled(reason: $0.endsAs) } ?? (order.isTooLate(at: now, since: opening) ? .notRouted : nil)
        case .replaceRequested: halt(on: order).map { .replaceRejected(reason: $0.endsAs) }
        default: nil
        }
    }
}

extension OrderState {
    /// What a log row asks of the venue, as the order stands now under its shard's lock; nil when that is past: cancelled by us, or no longer in doubt.
    fileprivate func message(for type: OrderEventType, in generation: Int64, at now: Int64) -> FIXMessage? {
        switch type {
        case .accepted: status == .accepted ? newOrderSingle(at: now) : nil
        case .cancelRequested: cancelPending ? orderCancelRequest(at: now) : nil
        case .replaceRequested: orderCancelReplaceRequest(at: now)
        case .unknown: status == .unknown ? orderStatusRequest(in: generation) : nil
        default: nil
        }
    }
}
