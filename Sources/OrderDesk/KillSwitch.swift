package import Postgres
package import Storage
package import Trading

/// The kill switch: nothing new on any router, everything open cancelled at the venue.
///
/// On is a halt that commits through every shard: once `turnOn` has returned, nothing is accepted and nothing newly numbered anywhere, and what had been
/// accepted without a number ends. The cancels are requested after it, so that no order is missed between the two; turning it on again asks for what is
/// still open again.
package final class KillSwitch {
    /// Blocks of orders read at once: 8 MB, whose cancels are requested well within the time that the reading transaction may stand idle.
    private static let readPortion: Int64 = 1_024

    private let reading: Database
    private let database: Database
    private let whom: String
    private let now: @Sendable () -> Int64

    /// - Parameter whom: for the audit.
    package init(_ options: PostgresOptions, by whom: String, now: @escaping @Sendable () -> Int64) {
        reading = Database(options)
        database = Database(options)
        self.whom = whom
        self.now = now
    }

    package func turnOn(because reason: String) throws(PostgresError) {
        try database.halt(Halt(scope: .killSwitch, subject: "", reason: reason), by: whom, at: now())
    }

    /// False where it was off.
    package func turnOff() throws(PostgresError) -> Bool { try database.resume(.killSwitch, subject: "", by: whom, at: now()) }

    /// nil while it is off.
    package func state() throws(PostgresError) -> HaltDetails? { try database.haltDetails().first { $0.halt.scope == .killSwitch } }

    /// Requests a cancel of every order that is open, and says what became of each request. Reads all orders.
    package func cancelEverything(because reason: String) throws -> [CancelOnBehalf.Outcome] {
        let cancels = cancels(reason)
        var outcomes: [CancelOnBehalf.Outcome] = []
        try reading.openOrders(blocks: Self.readPortion) { portion in
            for (shard, orders) in portion.sorted(by: { $0.key < $1.key }) {
                for first in stride(from: 0, to: orders.count, by: CancelOnBehalf.portion) {
                    outcomes += try cancels.cancel(Array(orders[first..<min(first + CancelOnBehalf.portion, orders.count)]), of: shard)
                }
            }
        }
        // What ended between the look and the lock is not open.
        return outcomes.filter { $0.word != .notOpen }
    }

    /// Requests again what the venue has refused to cancel.
    package func cancelAgain(_ orders: [OrderState], because reason: String) throws(PostgresError) {
        _ = try cancels(reason).cancel(orders.filter { !$0.cancelPending }.map(\.id))
    }

    private func cancels(_ reason: String) -> CancelOnBehalf {
        CancelOnBehalf(database, by: whom, because: reason, told: Halt.killSwitchReason, now: now)
    }

    /// These orders as they stand.
    package func look(at ids: [OrderID]) throws(PostgresError) -> [OrderState] {
        var found: [OrderState] = []
        for first in stride(from: 0, to: ids.count, by: Self.lookPortion) {
            found += try database.orders(Array(ids[first..<min(first + Self.lookPortion, ids.count)])).values
        }
        return found.sorted { ($0.createdAt, $0.id.text) < ($1.createdAt, $1.id.text) }
    }

    /// Every order that is open, counted by status. Reads all orders.
    package func openOrders() throws -> [OrderStatus: Int] {
        var ids: [OrderID] = []
        try reading.openOrders(blocks: Self.readPortion) { portion in ids += portion.values.flatMap { $0 } }
        return Dictionary(grouping: try look(at: ids).filter(\.status.isOpen), by: \.status).mapValues(\.count)
    }

    /// Orders looked up by one statement.
    private static let lookPortion = 1_000

    package func venueIsUp(_ session: String) throws(PostgresError) -> Bool { try database.venueIsUp(session) }

    package func close() {
        reading.drop()
        database.drop()
    }
}
