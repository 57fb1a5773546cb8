package import Postgres
package import Trading

/// The FIX session's row, as its holder keeps it.
package struct SessionRecord: Sendable, Equatable {
    package let epoch: Int64
    package let generation: Int64
    package let nextOut: Int64
    package let nextIn: Int64
    /// When a Logon of the venue's had a number that it had used before, ms since the epoch; nil unless it has.
    package let lostAt: Int64?

    package init(epoch: Int64, generation: Int64, nextOut: Int64, nextIn: Int64, lostAt: Int64? = nil) {
        self.epoch = epoch
        self.generation = generation
        self.nextOut = nextOut
        self.nextIn = nextIn
        self.lostAt = lostAt
    }
}

/// A message that has its sequence number.
package struct SentMessage: Sendable {
    package let number: Int64
    package let type: String
    package let sentAt: Int64
    /// Past this time a resend is a gap fill, and the order is asked about instead.
    package let resendBy: Int64
    package let orderID: String
    package let shard: Int16
    /// The fields after the standard header.
    package let body: [UInt8]

    package init(number: Int64, type: String, sentAt: Int64, resendBy: Int64, orderID: String, shard: Int16, body: [UInt8]) {
        self.number = number
        self.type = type
        self.sentAt = sentAt
        self.resendBy = resendBy
        self.orderID = orderID
        self.shard = shard
        self.body = body
    }
}

/// A message received, decoded, with the whole of it as evidence.
package struct ReceivedReport: Sendable {
    package let number: Int64
    package let report: VenueReport
    /// RefSeqNum (tag 45) of a reject: the number of ours that it refuses.
    package let refusedNumber: Int64?
    package let message: [UInt8]

    package init(number: Int64, report: VenueReport, refusedNumber: Int64?, message: [UInt8]) {
        self.number = number
        self.report = report
        self.refusedNumber = refusedNumber
        self.message = message
    }
}

/// A row of the outbox: what happened to an order that may ask for a message.
package struct OutboxRow: Sendable {
    package let shard: Int16
    package let position: Int64
    package let type: OrderEventType
    package let orderID: OrderID
    package let account: AccountID
}

/// What the sender reads under its shards' locks. The session's row is locked last.
package struct SendReads: Sendable {
    package let orders: OrderReads
    package let rows: [OutboxRow]
    /// In force while the shards are locked: nothing is newly numbered under them (design section 6).
    package let halts: [Halt]

    /// The halt that covers an order which waits for its number.
    package func halt(on order: OrderState) -> Halt? { order.halt(among: halts) }
}

extension OrderState {
    fileprivate func halt(among halts: [Halt]) -> Halt? {
        guard status == .accepted || replaces.pending != nil else { return nil }
        let covering = halts.filter { $0.covers(account: account, symbol: terms.symbol) }
        return covering.first { $0.scope == .killSwitch } ?? covering.first
    }
}

extension Database {
    /// Takes or renews the venue session's lease; nil when another router holds it, or orders go by another session. A changed epoch means that it had run out in between.
    package func takeLease(session: String, holder: String, epoch: Int64, milliseconds: Int64) throws(PostgresError) -> SessionRecord? {
        let rows = try run(SQL.takeLease) {
            $0.append(session)
            $0.append(holder)
            $0.append(epoch)
            $0.append(milliseconds)
        }
        if rows.count == 0 { return nil }
        return SessionRecord(
            epoch: rows.int64(0, 0),
            generation: rows.int64(0, 1),
            nextOut: rows.int64(0, 2),
            nextIn: rows.int64(0, 3),
            lostAt: rows.optionalInt64(0, 4)
        )
    }

    /// Whether some router holds the session logged on.
    package func venueIsUp(_ session: String) throws(PostgresError) -> Bool {
        let rows = try run(SQL.readVenueUp) { $0.append(session) }
        return rows.count == 1 && rows.bool(0, 0)
    }

    package func releaseLease(session: String, epoch: Int64) throws(PostgresError) {
        _ = try run(SQL.releaseLease) {
            $0.append(session)
            $0.append(epoch)
        }
    }

    package func setLoggedOn(_ loggedOn: Bool, session: String, epoch: Int64) throws(PostgresError) {
        _ = try run(SQL.setLoggedOn) {
            $0.append(session)
            $0.append(epoch)
            $0.append(loggedOn)
        }
    }

    /// Commits what was received and the numbers, in one transaction (session-level messages of ours move `nextOut` too).
    ///
    /// Where nothing of ours was numbered, nobody waits for the disk: a commit that a crash of the server takes away is asked for again from the number
    /// that was expected before, and settle's own commit, which does wait, takes this one with it. A number that we have used must never be used again:
    /// it is flushed before the socket sees it.
    ///
    /// - Throws: a `notNull` violation (SQLSTATE 23502) when the lease is no longer this holder's: nothing is committed.
    package func commitReceived(
        session: String,
        record: SessionRecord,
        nextOut: Int64,
        nextIn: Int64,
        generation: Int64,
        reports: [ReceivedReport],
        at now: Int64
    ) throws(PostgresError) {
        let rows = try begin { $0.add(SQL.lockSession) { $0.append(session) } }
        guard rows[0].count == 1 else { preconditionFailure("The session's row exists while its lease is held.") }
        let firstInboxID = rows[0].int64(0, 3)
        do {
            try commit { pipeline in
                if nextOut == record.nextOut, generation == record.generation { pipeline.add(SQL.commitUnflushed) }
                if !reports.isEmpty {
                    pipeline.add(
                        SQL.insertInbox,
                        Self.inboxParameters(session: session, generation: generation, at: now, first: firstInboxID, reports)
                    )
                }
                pipeline.advance(
                    session,
                    epoch: record.epoch,
                    generation: generation,
                    nextOut: nextOut,
                    nextIn: nextIn,
                    received: reports.count,
                    at: now
                )
            }
        } catch {
            rollback()
            throw error
        }
    }

    private static func inboxParameters(session: String, generation: Int64, at now: Int64, first: Int64, _ reports: [ReceivedReport]) -> Parameters {
        var values = Parameters()
        values.append(session)
        values.append(generation)
        values.append(now)
        values.append(first)
        values.append(reports.map(\.number))
        values.append(reports.map(\.report.kind.rawValue))
        values.append(reports.map { $0.report.orderID?.storable })
        values.append(reports.map { $0.report.requestID?.storable })
        values.append(reports.map { $0.report.execID?.storable })
        values.append(reports.map { $0.report.tradeDate?.storable })
        values.append(reports.map { $0.report.execType?.storable })
        values.append(reports.map { $0.report.orderStatus?.storable })
        values.append(reports.map(\.report.lastQuantity))
        values.append(reports.map(\.report.lastPrice?.units))
        values.append(reports.map(\.report.cumulativeQuantity))
        values.append(reports.map(\.report.orderQuantity))
        values.append(reports.map(\.report.rejectReason))
        values.append(reports.map { $0.report.symbol?.storable })
        values.append(reports.map { $0.report.side?.storable })
        values.append(reports.map { $0.report.text?.storable })
        values.append(reports.map(\.refusedNumber))
        values.append(reports.map(\.message))
        // Whatever else a report names is no order of ours.
        values.append(boundsOf: reports.compactMap { $0.report.orderID.flatMap(OrderID.init)?.text })
        values.append(reports.map { $0.report.execRefID?.storable })
        values.append(reports.map { $0.report.statusQuestion?.storable })
        values.append(reports.map(\.report.isRepeated))
        return values
    }

    /// The next rows of every shard's log that the sender has not looked at, each shard's in order. Read before the shards are locked, so that the lock
    /// is held for two round trips alone: a row never changes, and `beginSend` leaves out what the sender is past by then.
    ///
    /// - Parameter limit: rows of each shard at most.
    package func outbox(limit: Int) throws(PostgresError) -> [OutboxRow] {
        let rows = try run(SQL.readOutbox) { $0.append(Int64(limit)) }
        return (0..<rows.count).map { row in
            guard let type = OrderEventType(rawValue: rows.int16(row, 2)) else { preconditionFailure("A stored event type is known.") }
            return OutboxRow(
                shard: rows.int16(row, 0),
                position: rows.int64(row, 1),
                type: type,
                orderID: rows.orderID(row, 3),
                account: rows.account(row, 4)
            )
        }
    }

    /// Begins sending rows of the outbox: locks their shards and reads the orders that they ask something for. Ends the transaction and returns nil when
    /// the sender is past all of them.
    ///
    /// - Parameters:
    ///   - now: what is past its route deadline then, or halted, may be cancelled: balances are read for those orders alone.
    ///   - opening: when the present period of the session's numbers began, where that is agreed upon.
    package func beginSend(_ outbox: [OutboxRow], at now: Int64, since opening: Int64? = nil) throws(PostgresError) -> SendReads? {
        let asking = outbox.filter(\.type.asksTheVenue)
        let rows = try begin { pipeline in
            pipeline.lock(Set(outbox.map(\.shard)).sorted())
            pipeline.add(SQL.readHalts)
            pipeline.readOrders(Array(Set(asking.map(\.orderID))))
            pipeline.readAccounts(Array(Set(asking.map(\.account))))
        }
        let locks = rows[0].shardLocks
        let sent = Dictionary(uniqueKeysWithValues: locks.map { ($0.shard, $0.sentLog) })
        let left = outbox.filter { $0.position > sent[$0.shard] ?? .max }
        if left.isEmpty {
            rollback()
            return nil
        }
        let (orders, halts) = (rows[2].orders, rows[1].halts)
        let ending = orders.values.filter { $0.isTooLate(at: now, since: opening) || $0.halt(among: halts) != nil }
        return SendReads(
            orders: OrderReads(locks: locks, orders: orders, accounts: rows[3].accounts, balances: try balances(touchedBy: ending)),
            rows: left,
            halts: halts
        )
    }

    /// Commits a sending leg: the shard's changes, the numbered messages and the session's numbers.
    ///
    /// - Throws: SQLSTATE 23502 when the lease is no longer this holder's: nothing is committed.
    package func commitSend(
        _ changes: ShardChanges,
        session: String,
        record: SessionRecord,
        nextOut: Int64,
        nextIn: Int64,
        messages: [SentMessage],
        sent: () -> Void = {}
    ) throws(PostgresError) {
        try commit(changes, sent: sent) { pipeline in
            if messages.isEmpty { return }
            pipeline.insertSent(messages, session: session, generation: record.generation)
            pipeline.advance(session, epoch: record.epoch, generation: record.generation, nextOut: nextOut, nextIn: nextIn, received: 0)
        }
    }

    /// Commits messages that belong to no change of an order (OrderStatusRequest), with the numbers, and notes that the orders were asked about.
    package func commitAsked(
        _ messages: [SentMessage],
        session: String,
        record: SessionRecord,
        nextOut: Int64,
        nextIn: Int64,
        at now: Int64
    ) throws(PostgresError) {
        _ = try begin { _ in }
        do {
            try commit { pipeline in
                pipeline.add(SQL.noteAsked) {
                    $0.append(bounded: messages.map(\.orderID))
                    $0.append(now)
                }
                pipeline.insertSent(messages, session: session, generation: record.generation)
                pipeline.advance(session, epoch: record.epoch, generation: record.generation, nextOut: nextOut, nextIn: nextIn, received: 0)
            }
        } catch {
            rollback()
            throw error
        }
    }

    /// UNKNOWN orders, and those with a cancel or replace request older than that, that were last asked about before `askedBefore` (or never).
    package func unknownOrders(askedBefore: Int64, limit: Int) throws(PostgresError) -> [OrderState] {
        let ids = try run(SQL.readUnknownOrders) {
            $0.append(askedBefore)
            $0.append(Int64(limit))
        }.orderIDs
        return try run(SQL.readOrdersByID) { $0.append(bounded: ids.map(\.text)) }.orders.values.sorted { $0.createdAt < $1.createdAt }
    }

    /// Orders as they stand, read without their shards' locks.
    package func orders(_ ids: [OrderID]) throws(PostgresError) -> [OrderID: OrderState] {
        if ids.isEmpty { return [:] }
        return try run(SQL.readOrdersByID) { $0.append(bounded: ids.map(\.text)) }.orders
    }

    /// Messages sent before, to be resent: the first ones with these numbers.
    package func sentMessages(
        session: String,
        generation: Int64,
        from: Int64,
        through: Int64,
        atMost most: Int
    ) throws(PostgresError) -> [SentMessage] {
        let rows = try run(SQL.readSent) {
            $0.append(session)
            $0.append(generation)
            $0.append(from)
            $0.append(through)
            $0.append(Int64(most))
        }
        return (0..<rows.count).map { row in
            SentMessage(
                number: rows.int64(row, 0),
                type: rows.text(row, 1),
                sentAt: rows.int64(row, 2),
                resendBy: rows.int64(row, 3),
                orderID: rows.text(row, 5),
                shard: rows.int16(row, 6),
                body: rows.bytes(row, 4)
            )
        }
    }
}

extension Pipeline {
    mutating func insertSent(_ messages: [SentMessage], session: String, generation: Int64) {
        add(SQL.insertSent) {
            $0.append(session)
            $0.append(generation)
            $0.append(messages.map(\.sentAt))
            $0.append(messages.map(\.number))
            $0.append(messages.map(\.type))
            $0.append(messages.map(\.orderID))
            $0.append(messages.map(\.shard))
            $0.append(messages.map(\.resendBy))
            $0.append(messages.map(\.body))
        }
    }

    /// - Parameter now: ms since the epoch; needed where the generation may be new.
    mutating func advance(
        _ session: String,
        epoch: Int64,
        generation: Int64,
        nextOut: Int64,
        nextIn: Int64,
        received: Int,
        at now: Int64? = nil
    ) {
        add(SQL.advanceSession) {
            $0.append(session)
            for value in [epoch, generation, nextOut, nextIn, Int64(received)] { $0.append(value) }
            $0.append(now)
        }
    }
}

extension String {
    /// PostgreSQL's text holds every character but NUL, which a venue can send: marked, so that the report is received all the same. The message
    /// itself is kept as bytes.
    fileprivate var storable: String { contains("\0") ? replacing("\0", with: "\u{FFFD}") : self }
}
