import ExchangeSimulator
import FIX
import JourneySupport
import Storage
import Synchronization
import Testing
import Trading
import Venue

extension Faults {
    /// A session with hours begins its numbers again in each period.
    @Suite struct `The end of the session's hours` {
        @Test func `begins the numbers again also where messages come across it`() async throws {
            let ahead = Mutex<Int64>(0)
            let begun = SessionClock.system.wall()
            var times = Circle.Times()
            (times.silence, times.ask) = (60_000, 100)
            // One long day, which is over an hour from now: as soon as the order has its number.
            let hour = (begun + 3_600_000) % 86_400_000
            times.agree = { $0.schedule = SessionSchedule(opens: hour, closes: hour) }
            times.clock = SessionClock(wall: { SessionClock.system.wall() + ahead.withLock { $0 } }, monotonic: SessionClock.system.monotonic)
            times.step = { step in if step == .sendCommitted { ahead.withLock { $0 = 3_600_000 } } }
            try await Circle(times).run { circle in
                let account = try await circle.account("acc_hours", cash: 100_000)
                try await circle.ready()
                let id = try await circle.accepted(account, Circle.terms(.buy, 10, "NVDA", .limit, .goodTillCancel, limit: "120.00"))
                let events = try await circle.events(of: account, id) { $0.status == .unknown }
                #expect(events.last?.order.reason == "sequence_reset")
                _ = try await circle.events(of: account) { $0.order.id == id && $0.type == .working && $0.number > events.last?.number ?? .max }
                let numbers = try await circle.texts("SELECT generation || ' ' || (began_at > \(begun) + 3600000) FROM fix_sessions")
                #expect(numbers == ["2 true"])
                // In the old numbers, past their end: the venue's word came while the session was being left.
                #expect(
                    try await circle.texts(
                        "SELECT exec_type FROM inbox WHERE generation = 1 AND order_id = '\(id)' AND received_at > \(begun) + 3600000"
                    )
                        == ["0"]
                )
                #expect(circle.venue.ordersSeen(id.text) == 1)
                try await circle.quiet()
                try await circle.verify()
            }
        }
    }
}
