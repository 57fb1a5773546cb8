import OrderDesk
import Postgres
import Storage
import TestSupport
import Testing
import Trading

extension `On PostgreSQL, the desk` {
    /// Orders go to the venue by one session at a time.
    @Suite struct `given another session` {
        let room: Room
        let other = "ROUTER->OTHER"

        init() throws { room = try Room() }

        private func change(to new: String, at time: Int64 = now) throws -> ChangeSession.Outcome {
            try ChangeSession(PostgresOptions(url: room.url), by: "ann", now: { time }).change(to: new)
        }

        private func release() throws { try room.connect().execute("UPDATE fix_sessions SET lease_until = 0") }

        private func accept(_ number: Int) async throws -> OrderID {
            let own = queue()
            #expect(try await room.withLanes(1, on: own) { await own.decide(.place(submission(number))) }.word == "accepted")
            return identity(account, key(number))
        }

        private func report(_ order: OrderID, _ execType: String, _ change: (inout VenueReport) -> Void = { _ in }) -> VenueReport {
            var report = VenueReport(kind: .execution)
            (report.orderID, report.execType, report.execID, report.tradeDate) = (order.text, execType, "e", "20260316")
            change(&report)
            return report
        }

        private var inForce: String { get throws { try room.text("SELECT session_id FROM fix_sessions WHERE ended_at IS NULL") } }

        @Test func `is not changed while a router speaks, an order is open or a report waits`() async throws {
            #expect(throws: ChangeSession.Obstacle.routerSpeaks(for: session)) { try change(to: other) }
            #expect(try change(to: session) == .unchanged)
            let order = try await accept(1)
            try release()
            #expect(throws: ChangeSession.Obstacle.ordersOpen([.accepted: 1], of: session)) { try change(to: other) }
            try room.connect().execute("UPDATE fix_sessions SET lease_until = 99999999999999")
            try room.route()
            try room.receive([report(order, "4")])
            try release()
            #expect(throws: ChangeSession.Obstacle.ordersOpen([.routed: 1], of: session)) { try change(to: other) }
            try room.settle()
            #expect(try room.status(order) == .cancelled)
            // A fill that comes late still belongs to the venue of before.
            try room.connect().execute("UPDATE fix_sessions SET lease_until = 99999999999999")
            try room.receive([report(order, "F") { ($0.lastQuantity, $0.lastPrice) = (1, usd("99")) }], from: 2)
            try release()
            #expect(throws: ChangeSession.Obstacle.reportsWait(1, of: session)) { try change(to: other) }
            try room.settle()
            #expect(try inForce == session && room.value("SELECT count(*) FROM operator_audit WHERE action = 'session_changed'") == 0)
            #expect(try change(to: other) == .changed(from: session))
            #expect(try inForce == other)
            let audited = "SELECT by_whom || ' ' || detail FROM operator_audit WHERE action = 'session_changed'"
            #expect(try room.text(audited) == "ann \(session) to \(other)")
            try room.check()
        }

        @Test func `is not changed for a day after a recovery, while keys of before are looked up`() throws {
            try release()
            try room.connect().execute("INSERT INTO recoveries (at, by_whom) VALUES (\(now), 'ann')")
            let until = now + 86_400_000 + 30_000
            #expect(throws: ChangeSession.Obstacle.recovered(until: until, of: session)) { try change(to: other, at: until - 1) }
            #expect(try change(to: other, at: until) == .changed(from: session))
        }

        @Test func `settles its reports behind those of the session before, and goes on with its numbers when it is changed back to`() async throws {
            let first = try await accept(1)
            try room.route()
            try room.receive([report(first, "0"), report(first, "4")])
            try room.settle()
            try release()
            #expect(try change(to: other) == .changed(from: session))
            #expect(try room.storage().takeLease(session: session, holder: "old", epoch: 0, milliseconds: 1_000) == nil)
            let taken = try room.storage().takeLease(session: other, holder: "new", epoch: 0, milliseconds: 3_600_000)
            #expect(taken == SessionRecord(epoch: 1, generation: 1, nextOut: 1, nextIn: 1))
            #expect(try room.value("SELECT next_inbox FROM fix_sessions WHERE session_id = '\(other)'") == 3)
            // The same numbers of another venue.
            let late = report(first, "F") { ($0.lastQuantity, $0.lastPrice, $0.execID) = (1, usd("99"), "x") }
            try room.storage().commitReceived(
                session: other,
                record: taken!,
                nextOut: 1,
                nextIn: 2,
                generation: 1,
                reports: [ReceivedReport(number: 1, report: late, refusedNumber: nil, message: [])],
                at: now
            )
            // A router of before that still runs: it would book them under its own venue's name, where the next venue's ExecIDs mean something else.
            try room.settle()
            #expect(try room.value("SELECT filled_quantity FROM orders") == 0)
            var next = rules
            (next.venue, next.venueSession) = ("OTHER", other)
            try room.settle(by: next)
            #expect(try room.value("SELECT filled_quantity FROM orders") == 1)
            #expect(try room.text("SELECT string_agg(venue || ' ' || exec_id, ',') FROM executions") == "OTHER x")
            try release()
            #expect(try change(to: session) == .changed(from: other))
            let again = try room.storage().takeLease(session: session, holder: "old", epoch: 0, milliseconds: 1_000)
            #expect(again?.nextOut == 2 && again?.nextIn == 3)
            #expect(try room.value("SELECT next_inbox FROM fix_sessions WHERE session_id = '\(session)'") == 4)
            try room.check()
        }

        @Test func `is one also where two begin at once on a new database`() async throws {
            let fresh = try TestDatabase()
            let threads = (0..<2).map { DedicatedThread(name: "router-\($0)") }
            defer { for thread in threads { thread.stop() } }
            let url = fresh.url
            for round in 0..<10 {
                try fresh.connect().execute("DELETE FROM fix_sessions")
                let found = try await withThrowingTaskGroup(of: String.self) { group in
                    for (place, thread) in threads.enumerated() {
                        group.addTask {
                            try await thread.run {
                                let database = Database(PostgresOptions(url: url))
                                defer { database.drop() }
                                return try database.sessionInForce(elseBeginning: "ROUTER\(place)->VENUE").id
                            }
                        }
                    }
                    var all: [String] = []
                    for try await one in group { all.append(one) }
                    return all
                }
                #expect(found.count == 2 && Set(found).count == 1, "round \(round): \(found)")
                let count = try fresh.connect().query("SELECT count(*) FROM fix_sessions").int64(0, 0)
                #expect(count == 1)
            }
            #expect(try ChangeSession(PostgresOptions(url: url), by: "ann", now: { now }).change(to: "ROUTER9->VENUE") != .begun)
        }
    }
}
