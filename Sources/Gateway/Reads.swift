package import Postgres
package import Storage

/// Where reads go. What is asked about orders, about prices and about history has connections of its own, each with a line of its own: whatever many people
/// look at holds up nobody who asks what became of an order.
package struct Reads: Sendable {
    /// Orders, keys, accounts and halts, and what operators and probes ask. Two connections answer some thousand reads a second: the last in line waits about
    /// one.
    package let orders: DatabasePool
    /// What prices need beside the board: halts, the close of the day before. Each is a row or a few; the line is as long as for orders, in proportion.
    package let prices: DatabasePool
    /// Stretches of candles, the only reads that take milliseconds. What many ask is read once (`HistoryShelf`); a line of other questions is a second's work.
    package let history: DatabasePool

    package init(_ database: PostgresOptions) {
        orders = DatabasePool("orders", database, count: 2, waitingLimit: 4_000)
        prices = DatabasePool("prices", database, count: 2, waitingLimit: 2_000)
        history = DatabasePool("history", database, count: 2, waitingLimit: 200)
    }

    package func stop() async { for pool in [orders, prices, history] { await pool.stop() } }
}
