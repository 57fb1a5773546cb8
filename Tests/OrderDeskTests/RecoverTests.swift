import OrderDesk
import Postgres
import Storage
import TestSupport
import Testing
import Trading

extension `On PostgreSQL, the desk` {
    /// What a recovery does to the orders that a database knows; the journeys show what the venue makes of it.
    @Suite struct `asked to recover` {
        let room: Room

        init() throws { room = try Room() }

        private func recover(_ name: String = session, nextOut: Int64? = nil) throws -> (recovered: Recovered, doubted: Int) {
            try Recover(PostgresOptions(url: room.url), session: name, by: "ann", now: { now }).run(nextOut: nextOut)
        }

        private func release() throws { try room.connect().execute("UPDATE fix_sessions SET lease_until = 0") }

        /// All that a recovery changes.
        private var standing: [String] {
            get throws {
                try [
                    "SELECT string_agg(order_id || status || COALESCE(reason, '') || cancels, ' ' ORDER BY order_id) FROM orders",
                    "SELECT string_agg(next_log || ' ' || sent_log, ', ' ORDER BY shard) FROM shards", "SELECT generation FROM event_generation",
                    "SELECT next_out || ' ' || next_in || ' ' || lease_epoch FROM fix_sessions", "SELECT count(*) FROM recoveries",
                ].map { try room.text($0) }
            }
        }

        private func accept() async throws -> OrderID {
            let own = queue()
            #expect(try await room.withLanes(1, on: own) { await own.decide(.place(submission(1))) }.word == "accepted")
            try room.route()
            return identity(account, key(1))
        }

        @Test func `refuses what cannot be recovered before it has changed anything, and says why`() async throws {
            let order = try await accept()
            let before = try standing
            #expect(throws: Recover.Obstacle.routerSpeaks) { try recover() }
            // A wrong name is told as such also while the right one is spoken for: its routers must not find every order UNKNOWN.
            #expect(throws: Recover.Obstacle.ordersGoBy(session)) { try recover("ROUTER->TYPO") }
            try release()
            #expect(throws: Recover.Obstacle.ordersGoBy(session)) { try recover("ROUTER->TYPO") }
            #expect(throws: Recover.Obstacle.numberLiesBack(nextOut: 2)) { try recover(nextOut: 1) }
            #expect(try standing == before)
            #expect(try room.status(order) == .routed)
            let recovered = try recover(nextOut: 2)
            #expect(recovered.doubted == 1 && recovered.recovered.nextOut == 2)
            #expect(try room.status(order) == .unknown)
            try room.check()
        }

        @Test func `says of a database on which no router has ever run that there is nothing to recover`() throws {
            let database = try TestDatabase()
            let fresh = Recover(PostgresOptions(url: database.url), session: session, by: "ann", now: { now })
            #expect(throws: Recover.Obstacle.noSession) { try fresh.run(nextOut: nil) }
        }
    }
}
