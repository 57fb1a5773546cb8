package import Postgres

/// What must hold in a database between any two commits, asked in plain SQL: a second pair of eyes that shares no code with the ledger.
package enum Invariants {
    /// Sentences about what is wrong; empty where everything holds.
    package static func faults(_ connection: PostgresConnection) throws -> [String] {
        var faults: [String] = []
        for (rule, sql) in rules {
            let rows = try connection.query(sql)
            for row in 0..<rows.count { faults.append("\(rule): \(rows.text(row, 0))") }
        }
        return faults
    }

    /// Each query returns one text for each violation.
    private static let rules: [(String, String)] = [
        (
            "a journal's entries sum to zero for each asset",
            """
            SELECT format('%s/%s %s', shard, journal, asset) FROM ledger_entries GROUP BY shard, journal, asset
            HAVING sum(CASE direction WHEN 2 THEN amount::numeric ELSE -amount::numeric END) <> 0
            """
        ),
        (
            "a balance is the sum of its entries",
            """
            WITH written AS (
                SELECT account_id, asset,
                    sum(CASE WHEN bucket = 1 THEN CASE direction WHEN 2 THEN amount ELSE -amount END ELSE 0 END) AS available,
                    sum(CASE WHEN bucket = 2 THEN CASE direction WHEN 2 THEN amount ELSE -amount END ELSE 0 END) AS held,
                    sum(CASE WHEN bucket = 3 THEN CASE direction WHEN 1 THEN amount ELSE -amount END ELSE 0 END) AS owed,
                    sum(CASE WHEN bucket = 4 THEN CASE direction WHEN 2 THEN amount ELSE -amount END ELSE 0 END) AS settlement
                FROM ledger_entries GROUP BY account_id, asset)
            SELECT format('%s %s', COALESCE(w.account_id, b.account_id), COALESCE(w.asset, b.asset))
            FROM written w FULL JOIN balances b ON b.account_id = w.account_id AND b.asset = w.asset
            WHERE (COALESCE(w.available, 0), COALESCE(w.held, 0), COALESCE(w.owed, 0), COALESCE(w.settlement, 0))
                <> (COALESCE(b.available, 0), COALESCE(b.held, 0), COALESCE(b.owed, 0), COALESCE(b.settlement, 0))
            """
        ),
        (
            "what is held is what the open orders hold",
            """
            WITH needed AS (
                SELECT account_id, CASE side WHEN 1 THEN '$' ELSE symbol END AS asset, sum(held) AS held FROM orders GROUP BY 1, 2)
            SELECT format('%s %s', COALESCE(n.account_id, b.account_id), COALESCE(n.asset, b.asset))
            FROM needed n FULL JOIN balances b ON b.account_id = n.account_id AND b.asset = n.asset
            WHERE COALESCE(n.held, 0) <> COALESCE(b.held, 0)
            """
        ),
        (
            "an order's fills are its executions",
            """
            SELECT o.order_id FROM orders o
            LEFT JOIN (SELECT order_id, sum(quantity) AS quantity, sum(quantity * price) AS value FROM executions GROUP BY order_id) e
                ON e.order_id = o.order_id
            WHERE o.filled_quantity <> COALESCE(e.quantity, 0) OR o.filled_value <> COALESCE(e.value, 0)
            """
        ),
        (
            "an order filled beyond its quantity is alarmed",
            """
            SELECT o.order_id FROM orders o WHERE o.filled_quantity > o.quantity
                AND NOT EXISTS (SELECT FROM alarms a WHERE a.order_id = o.order_id AND a.kind = 'overfill')
            """
        ),
        (
            "an accepted key has its order and an order its key",
            """
            SELECT COALESCE(k.order_id, o.order_id) FROM (SELECT * FROM idempotency_keys WHERE outcome = 1) k
            FULL JOIN orders o ON o.account_id = k.account_id AND o.key = k.key AND o.order_id = k.order_id
            WHERE o.order_id IS NULL OR k.order_id IS NULL
            """
        ),
        (
            "an account's events have no gap",
            """
            SELECT a.account_id FROM accounts a LEFT JOIN log l ON l.account_id = a.account_id GROUP BY a.account_id
            HAVING count(l.event_number) <> a.last_event - a.oldest_event + 1 OR COALESCE(max(l.event_number), 0) <> a.last_event
            """
        ),
        (
            "a shard's log has no gap and its order is the account's order",
            """
            SELECT format('%s/%s', shard, position) FROM (
                SELECT shard, position, event_number, lag(position) OVER (PARTITION BY shard ORDER BY position) AS before,
                    lag(event_number) OVER (PARTITION BY account_id ORDER BY position) AS event_before FROM log) l
            WHERE position <> before + 1 OR event_number <> event_before + 1
            """
        ),
        (
            "a shard's counters are past what they count",
            """
            SELECT s.shard::text FROM shards s
            WHERE next_log <= (SELECT COALESCE(max(position), 0) FROM log l WHERE l.shard = s.shard)
                OR next_journal <= (SELECT COALESCE(max(journal), 0) FROM ledger_entries e WHERE e.shard = s.shard) OR sent_log >= next_log
            """
        ),
    ]
}
