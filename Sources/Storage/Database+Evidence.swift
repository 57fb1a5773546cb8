package import Postgres
package import Trading

/// An order that the venue has left open, with the evidence that there is. Times in ms since the epoch.
package struct DoubtedOrder: Sendable {
    /// A message's place in the venue's session.
    package struct Place: Sendable {
        package let generation: Int64
        package let number: Int64
    }

    /// The newest message of ours about it.
    package struct Sent: Sendable {
        package let session: String
        /// FIX tag 35.
        package let type: String
        package let place: Place
        package let at: Int64
    }

    /// The newest report about it.
    package struct Received: Sendable {
        package let place: Place
        package let at: Int64
        /// FIX tag 150.
        package let execType: String?
        /// FIX tag 39.
        package let orderStatus: String?
        /// FIX tag 14.
        package let cumulativeQuantity: Int64?
        package let text: String?
    }

    package let id: OrderID
    package let account: AccountID
    package let symbol: Symbol
    package let side: Side
    package let status: OrderStatus
    package let quantity: Int64
    package let filledQuantity: Int64
    package let held: Amount
    package let cancelPending: Bool
    package let replacePending: Bool
    package let reason: String?
    /// UNKNOWN, or its cancel or replace requested, since then.
    package let since: Int64
    /// When the venue was last asked about it; nil: not yet.
    package let askedAt: Int64?
    /// The NewOrderSingle; nil: not kept any more, or never numbered.
    package let newOrder: Place?
    package let sent: Sent?
    package let received: Received?
}

/// A part of what is kept about an order: a heading, columns and rows as text; nil where there is nothing.
package struct EvidenceSection: Sendable {
    package let title: String
    package let columns: [String]
    package let rows: [[String?]]
}

/// What is known of orders, for people: reads what no leg needs, some of it whole.
extension Database {
    /// Reading sent messages and reports of days takes seconds.
    private static let evidenceDeadline: Duration = .seconds(300)

    /// Runs reads on what is committed at one moment, with whole tables allowed.
    private func atOneMoment<Value>(_ body: (PostgresConnection) throws(PostgresError) -> Value) throws(PostgresError) -> Value {
        let connection = try connection()
        do {
            try connection.run(SQL.beginVerify)
            try connection.run(SQL.readWholeTables)
            let value = try body(connection)
            try connection.commit()
            return value
        } catch {
            rollback()
            throw error
        }
    }

    /// UNKNOWN orders and unanswered cancels and replaces, in doubt for longest first.
    package func doubtedOrders(limit: Int) throws(PostgresError) -> [DoubtedOrder] {
        try atOneMoment { connection throws(PostgresError) in
            var values = Parameters()
            values.append(Int64(limit))
            let rows = try connection.run(SQL.readOrdersInDoubt, values, within: Self.evidenceDeadline)
            return (0..<rows.count).map { rows.doubtedOrder($0) }
        }
    }

    /// Everything that is kept about an order; empty where there is none of this id.
    package func evidence(of order: OrderID) throws(PostgresError) -> [EvidenceSection] {
        let sections: [(String, Statement)] = [
            ("order", SQL.showOrder), ("events", SQL.showOrderEvents), ("messages sent", SQL.showOrderSent),
            ("messages received", SQL.showOrderReceived), ("executions", SQL.showOrderExecutions), ("ledger entries", SQL.showOrderEntries),
            ("alarms and operators", SQL.showOrderAlarms),
        ]
        return try atOneMoment { connection throws(PostgresError) in
            var values = Parameters()
            values.append(order.text)
            var found: [EvidenceSection] = []
            for (title, statement) in sections {
                let rows = try connection.run(statement, values, within: Self.evidenceDeadline)
                if title == "order", rows.count == 0 { return [] }
                found.append(rows.section(title))
            }
            return found
        }
    }
}

extension Rows {
    fileprivate func place(_ row: Int, _ column: Int) -> DoubtedOrder.Place? {
        isNull(row, column) ? nil : DoubtedOrder.Place(generation: int64(row, column), number: int64(row, column + 1))
    }

    /// In the column order of `read_orders_in_doubt.sql`.
    fileprivate func doubtedOrder(_ row: Int) -> DoubtedOrder {
        guard let symbol = Symbol(text(row, 2)), let side = Side(rawValue: int16(row, 3)) else {
            preconditionFailure("A stored order has valid terms.")
        }
        return DoubtedOrder(
            id: orderID(row, 0),
            account: account(row, 1),
            symbol: symbol,
            side: side,
            status: status(row, 4),
            quantity: int64(row, 5),
            filledQuantity: int64(row, 6),
            held: amount(row, 7),
            cancelPending: bool(row, 8),
            replacePending: bool(row, 9),
            reason: optionalText(row, 10),
            since: int64(row, 11),
            askedAt: optionalInt64(row, 12),
            newOrder: place(row, 14),
            sent: place(row, 17).map { DoubtedOrder.Sent(session: text(row, 13), type: text(row, 16), place: $0, at: int64(row, 19)) },
            received: place(row, 20).map {
                DoubtedOrder.Received(
                    place: $0,
                    at: int64(row, 22),
                    execType: optionalText(row, 23),
                    orderStatus: optionalText(row, 24),
                    cumulativeQuantity: optionalInt64(row, 25),
                    text: optionalText(row, 26)
                )
            }
        )
    }

    /// Raw values of `status` and `event` columns in words.
    fileprivate func section(_ title: String) -> EvidenceSection {
        let columns = (0..<columnCount).map { columnName($0) }
        let rows = (0..<count).map { row in
            columns.enumerated().map { column, name in
                let text = optionalText(row, column)
                return switch name {
                case "status": text.flatMap { Int16($0) }.flatMap(OrderStatus.init(rawValue:))?.text ?? text
                case "event": text.flatMap { Int16($0) }.flatMap(OrderEventType.init(rawValue:))?.text ?? text
                default: text
                }
            }
        }
        return EvidenceSection(title: title, columns: columns, rows: rows)
    }
}
