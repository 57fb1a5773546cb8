import OrderDesk
import Postgres
import Storage
import TestSupport
import Testing
import Trading

extension `On PostgreSQL, the desk` {
    /// What a person reads of orders and of the ledger.
    @Suite struct `shown to an operator` {
        let room: Room

        init() throws { room = try Room() }

        @Test func `says why each journal was written, in a word of its own`() throws {
            for cause in Journal.Cause.allCases {
                try room.connect().execute(
                    """
                    INSERT INTO ledger_entries (at, shard, journal, line, cause, account_id, asset, bucket, direction, amount)
                    VALUES (1, 7, \(1_000 + cause.rawValue), 0, \(cause.rawValue), 'a', '$', 1, 1, 1), (1, 7, \(1_000 + cause.rawValue), 1, \(cause.rawValue), 'a', '$', 2, 2, 1)
                    """
                )
                #expect(try room.text("SELECT string_agg(cause, ' ') FROM ledger WHERE journal = \(1_000 + cause.rawValue)") == "\(cause) \(cause)")
            }
        }

        @Test func `says when the venue was last asked, also with the question that a doubt begins with`() async throws {
            let own = queue()
            #expect(try await room.withLanes(1, on: own) { await own.decide(.place(submission(1))) }.word == "accepted")
            try room.route()
            let order = identity(account, key(1))
            try room.connect().execute("UPDATE orders SET status = 9, in_doubt = true, reason = 'venue_silent'")
            let storage = room.storage()
            defer { storage.drop() }
            #expect(try storage.doubtedOrders(limit: 9).map(\.askedAt) == [nil])
            // Sent by the log's own row: nothing notes it in the order.
            try room.connect().execute(
                """
                INSERT INTO fix_sent (generation, number, sent_at, resend_by, shard, session_id, msg_type, order_id, body)
                VALUES (1, 999, \(now + 5), \(now + 5), \(account.shard), '\(session)', 'H', '\(order)', '')
                """
            )
            #expect(try storage.doubtedOrders(limit: 9).map(\.askedAt) == [now + 5])
            try room.ask(about: order, at: now + 9)
            #expect(try storage.doubtedOrders(limit: 9).map(\.askedAt) == [now + 9])
        }
    }
}
