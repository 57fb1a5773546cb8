package import ExchangeSimulator
import Foundation
import Postgres
package import Storage
import Synchronization

/// Looks again and again until what is awaited is so. The deadline guards alone: it comes within moments, on a busy machine within seconds.
package func eventually(_ what: String, within patience: Duration = .seconds(60), _ isSo: @Sendable () async throws -> Bool) async throws {
    let deadline = ContinuousClock.now + patience
    while ContinuousClock.now < deadline {
        if try await isSo() { return }
        try await Task.sleep(for: .milliseconds(10))
    }
    throw TimedOut(what: what)
}

extension DatabasePool {
    /// The first column of a query, as text.
    package func texts(_ sql: String) async throws -> [String] {
        try await read { database in
            let rows = try database.connection().query(sql)
            return (0..<rows.count).map { rows.text($0, 0) }
        }
    }

    /// Waits until no order is under way any more: everything has its verdict or rests at the venue.
    package func quiet() async throws {
        let last = Mutex<[String]>([])
        do {
            try await eventually("the end of orders under way") {
                let under = try await self.texts(
                    """
                    SELECT order_id || ' ' || status || ' ' || in_doubt FROM orders WHERE status IN (1, 2, 9) OR in_doubt
                    UNION ALL SELECT 'inbox ' || s.shard FROM shards s JOIN inbox i ON i.shard = s.shard AND i.inbox_id > s.settled_inbox
                    """
                )
                last.withLock { $0 = under }
                return under.isEmpty
            }
        } catch is TimedOut {
            throw TimedOut(what: "the end of orders under way: \(last.withLock { $0.prefix(5) })")
        }
    }

    /// Every invariant of the ledger, and one order at the venue for each ClOrdID. Throws what does not hold.
    package func verify(_ venue: SimulatedVenue) async throws {
        let results = try await read { try $0.verifyLedger(limit: 5) }
        var faults = results.filter { !$0.holds }.map { "\($0.name): \($0.proves) \($0.columns) \($0.offending)" }
        if results.count <= 10 { faults.append("only \(results.count) checks of the ledger were made") }
        faults += venue.doubles.map { "\($0) came twice to the venue" }
        if !faults.isEmpty { throw Unsound(faults: faults) }
    }
}
