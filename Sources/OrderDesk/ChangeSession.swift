package import Postgres
import Storage
package import Trading

/// change session: orders go to the venue by another session from now on: another venue, or another CompID at the same one.
///
/// What was sent by the session of before is known there alone: whoever asks the next one about it hears that there is no such order, and believes it. So
/// nothing may be left there: no order is open, every report is settled, and no key waits for the venue's word.
package final class ChangeSession {
    package enum Outcome: Sendable, Equatable {
        /// There was none before.
        case begun
        case unchanged
        case changed(from: String)
    }

    /// Why it may not be changed.
    package enum Obstacle: Error, Sendable, Equatable {
        /// A router speaks for the session, or has since it was looked at.
        case routerSpeaks(for: String)
        /// By status.
        case ordersOpen([OrderStatus: Int], of: String)
        case reportsWait(Int64, of: String)
        /// Keys of before the recovery are looked up at the venue that has their orders; ms since the epoch, from when on none can come any more.
        case recovered(until: Int64, of: String)
    }

    private let options: PostgresOptions
    private let database: Database
    private let whom: String
    private let now: @Sendable () -> Int64

    /// - Parameter whom: for the audit.
    package init(_ options: PostgresOptions, by whom: String, now: @escaping @Sendable () -> Int64) {
        self.options = options
        database = Database(options)
        self.whom = whom
        self.now = now
    }

    /// - Parameter new: `<SenderCompID>-><TargetCompID>`.
    /// - Throws: `Obstacle` where something is left at the venue; nothing is changed then.
    package func change(to new: String) throws -> Outcome {
        defer { database.drop() }
        guard let old = try database.sessionInForce() else {
            let begun = try database.sessionInForce(elseBeginning: new)
            guard begun.id == new else { throw Obstacle.routerSpeaks(for: begun.id) }
            return .begun
        }
        if old.id == new { return .unchanged }
        if old.isHeld { throw Obstacle.routerSpeaks(for: old.id) }
        // From here on nothing is accepted: that takes a router which speaks for the session, whose epoch is another one then.
        if let recoveredAt = old.recoveredAt {
            let until = recoveredAt + DeskRules.keyMaximumAge + DeskRules.clockTolerance
            if now() < until { throw Obstacle.recovered(until: until, of: old.id) }
        }
        let open = try openOrders()
        if !open.isEmpty { throw Obstacle.ordersOpen(open, of: old.id) }
        let waiting = try database.backlog().unsettledReports
        if waiting > 0 { throw Obstacle.reportsWait(waiting, of: old.id) }
        guard try database.changeSession(from: old, to: new, by: whom, at: now()) else { throw Obstacle.routerSpeaks(for: old.id) }
        return .changed(from: old.id)
    }

    private func openOrders() throws -> [OrderStatus: Int] {
        let all = KillSwitch(options, by: whom, now: now)
        defer { all.close() }
        return try all.openOrders()
    }
}
