import Postgres
import Storage
import TestSupport
import Testing
import Trading

extension `On PostgreSQL, storage` {
    @Suite struct `The venue session's lease` {
        let store: Store
        let long: Int64 = 600_000

        init() throws { store = try Store() }

        private func take(_ storage: Database, _ holder: String, _ epoch: Int64 = 0) throws -> SessionRecord? {
            try storage.takeLease(session: venueSession, holder: holder, epoch: epoch, milliseconds: long)
        }

        private func runOut() throws { try store.database.connect().execute("UPDATE fix_sessions SET lease_until = 1") }

        private func venueIsUp(_ storage: Database) throws -> Bool {
            defer { storage.rollback() }
            return try storage.beginAccept(
                shards: [0],
                venueSession: venueSession,
                accounts: [],
                balances: [],
                keys: [],
                credentials: [],
                orders: []
            ).venueIsUp
        }

        @Test func `has one holder at a time, whose epoch grows with each change`() throws {
            let (first, second) = (try store.storage(), try store.storage())
            #expect(try take(first, "a") == SessionRecord(epoch: 1, generation: 1, nextOut: 1, nextIn: 1))
            #expect(try take(second, "b") == nil)
            #expect(try take(first, "a", 1)?.epoch == 1)
            // After its connection was lost the holder need not wait for itself; what the old connection has yet to commit is fenced by the epoch.
            #expect(try take(first, "a", 0)?.epoch == 2)
            #expect(try take(second, "b", 2) == nil)
            try runOut()
            #expect(try take(second, "b")?.epoch == 3)
            #expect(try take(first, "a", 2) == nil)
            try runOut()
            // Run out and taken again by the same holder: a new epoch tells it that there was a gap.
            #expect(try take(second, "b", 3)?.epoch == 4)
        }

        @Test func `is given up only by its holder`() throws {
            let storage = try store.storage()
            _ = try take(storage, "a")
            try storage.releaseLease(session: venueSession, epoch: 7)
            #expect(try take(storage, "b") == nil)
            try storage.releaseLease(session: venueSession, epoch: 1)
            #expect(try take(storage, "b")?.epoch == 2)
        }

        /// Commits numbers that the session itself has used, without a report.
        private func use(_ storage: Database, _ record: SessionRecord, _ generation: Int64, _ next: Int64, at now: Int64) throws {
            try storage.commitReceived(
                session: venueSession,
                record: record,
                nextOut: next,
                nextIn: next,
                generation: generation,
                reports: [],
                at: now
            )
        }

        @Test func `knows since when its numbers are used, which no later use changes`() throws {
            let storage = try store.storage()
            let record = try #require(try take(storage, "a"))
            #expect(try storage.sessionBegan(venueSession, generation: 1) == nil)
            try use(storage, record, 1, 2, at: 50)
            try use(storage, record, 1, 3, at: 900)
            #expect(try storage.sessionBegan(venueSession, generation: 1) == 50)
            try use(storage, record, 2, 2, at: 1_000)
            #expect(try storage.sessionBegan(venueSession, generation: 2) == 1_000)
            #expect(try storage.sessionBegan(venueSession, generation: 1) == nil)
        }

        @Test func `keeps in mind that the venue has lost its numbers, until they begin again`() throws {
            let storage = try store.storage()
            let record = try #require(try take(storage, "a"))
            #expect(record.lostAt == nil)
            try storage.noteNumbersLost(by: venueSession, epoch: record.epoch + 1, at: 70)
            #expect(try take(storage, "a", record.epoch)?.lostAt == nil, "another holder's word")
            try storage.noteNumbersLost(by: venueSession, epoch: record.epoch, at: 70)
            #expect(try take(storage, "a", record.epoch)?.lostAt == 70)
            try runOut()
            #expect(try take(storage, "b")?.lostAt == 70)
            #expect(try storage.resetSession(venueSession, by: "ann", at: 80) == 2)
            let reset = try #require(try take(storage, "b"))
            #expect(reset.lostAt == nil)
            // As they do by what was agreed upon, without an operator.
            try storage.noteNumbersLost(by: venueSession, epoch: reset.epoch, at: 90)
            try use(storage, reset, 2, 3, at: 95)
            #expect(try take(storage, "b", reset.epoch)?.lostAt == 90)
            try use(storage, reset, 3, 2, at: 100)
            #expect(try take(storage, "b", reset.epoch)?.lostAt == nil)
        }

        @Test func `lets new orders in only while its holder is logged on`() throws {
            let storage = try store.storage()
            #expect(try !venueIsUp(storage))
            _ = try take(storage, "a")
            #expect(try !venueIsUp(storage))
            try storage.setLoggedOn(true, session: venueSession, epoch: 9)
            #expect(try !venueIsUp(storage))
            try storage.setLoggedOn(true, session: venueSession, epoch: 1)
            #expect(try venueIsUp(storage))
            _ = try take(storage, "a", 1)
            #expect(try venueIsUp(storage))
            try runOut()
            #expect(try !venueIsUp(storage))
            _ = try take(storage, "b")
            #expect(try !venueIsUp(storage))
        }

        private func report(_ kind: VenueReport.Kind = .execution, _ order: OrderState? = nil, text: String? = nil) -> VenueReport {
            var report = VenueReport(kind: kind)
            report.orderID = order?.id.text
            report.text = text
            return report
        }

        private func receive(_ storage: Database, _ record: SessionRecord, _ reports: [ReceivedReport], nextIn: Int64) throws(PostgresError) {
            try storage.commitReceived(
                session: venueSession,
                record: record,
                nextOut: 1,
                nextIn: nextIn,
                generation: 1,
                reports: reports,
                at: 50
            )
        }

        @Test func `commits reports and the next number together`() throws {
            let storage = try store.storage()
            try Store.accept(storage, [1])
            let record = try #require(try take(storage, "a"))
            let reports = [
                ReceivedReport(number: 1, report: report(.execution, Store.order(1), text: "nul \0 inside"), refusedNumber: nil, message: [0, 1]),
                ReceivedReport(number: 2, report: report(.execution), refusedNumber: nil, message: [2]),
            ]
            try receive(storage, record, reports, nextIn: 3)
            #expect(
                try store.text("SELECT string_agg(format('%s:%s:%s', inbox_id, number, shard), ' ' ORDER BY inbox_id) FROM inbox")
                    == "1:1:\(account.shard) 2:2:0"
            )
            #expect(try store.text("SELECT text FROM inbox WHERE inbox_id = 1") == "nul \u{FFFD} inside")
            // The same number again: nothing of it is committed.
            let state = sqlState { () throws(PostgresError) in
                try receive(
                    storage,
                    record,
                    [
                        ReceivedReport(number: 3, report: report(), refusedNumber: nil, message: []),
                        ReceivedReport(number: 2, report: report(), refusedNumber: nil, message: []),
                    ],
                    nextIn: 9
                )
            }
            #expect(state == "23505")
            #expect(try store.text("SELECT format('%s %s', next_in, next_inbox) FROM fix_sessions") == "3 3")
            try receive(storage, record, [ReceivedReport(number: 3, report: report(), refusedNumber: nil, message: [])], nextIn: 4)
            #expect(try store.value("SELECT max(inbox_id) FROM inbox") == 3)
        }

        private func sent(_ number: Int64, _ type: String, _ order: OrderState) -> SentMessage {
            SentMessage(number: number, type: type, sentAt: 20, resendBy: 5_000, orderID: order.id.text, shard: account.shard, body: [UInt8(number)])
        }

        /// Numbers order 1 as message `number` and marks it routed.
        private func send(_ storage: Database, _ record: SessionRecord, _ number: Int64) throws(PostgresError) {
            guard let reads = try storage.beginSend(try storage.outbox(limit: 100), at: 0) else { return }
            var changes = reads.orders.changes(at: 20)
            for row in reads.rows { changes.sent(through: row.position, of: row.shard) }
            var order = Store.order(1)
            guard case .changed(let type, _) = order.apply(.routed, balances: &changes.balances, at: 20) else { return }
            changes.update(order)
            changes.tell(type, of: order)
            do {
                try storage.commitSend(
                    changes,
                    session: venueSession,
                    record: record,
                    nextOut: number + 1,
                    nextIn: 1,
                    messages: [sent(number, "D", order)]
                )
            } catch {
                storage.rollback()
                throw error
            }
        }

        @Test func `commits messages, numbers, orders and the cursor together`() throws {
            let storage = try store.storage()
            try Store.accept(storage, [1])
            let record = try #require(try take(storage, "a"))
            #expect(Set(try storage.outbox(limit: 100).map(\.shard)) == [account.shard])
            try send(storage, record, 1)
            #expect(try storage.outbox(limit: 100).isEmpty)
            #expect(try storage.beginSend(try storage.outbox(limit: 100), at: 0) == nil)
            #expect(try storage.order(Store.order(1).id, of: account)?.status == .routed)
            #expect(try store.value("SELECT routed_at FROM orders") == 20)
            #expect(try store.text("SELECT format('%s %s', next_out, next_in) FROM fix_sessions") == "2 1")
            let messages = try storage.sentMessages(session: venueSession, generation: 1, from: 1, through: 9, atMost: 9)
            #expect(messages.map(\.number) == [1] && messages[0].body == [1] && messages[0].resendBy == 5_000 && messages[0].type == "D")
            #expect(try store.faults() == [])
        }

        @Test func `shows the sender the halts in force, which concern what is not numbered yet`() throws {
            let storage = try store.storage()
            try Store.accept(storage, [1])
            try storage.halt(Halt(scope: .symbol, subject: "NVDA", reason: "drill"), by: "test", at: 5)
            let reads = try #require(try storage.beginSend(try storage.outbox(limit: 100), at: 0))
            storage.rollback()
            var order = Store.order(1)
            #expect(reads.halts.count == 1 && reads.halt(on: order)?.endsAs == "halted")
            order.status = .routed
            #expect(reads.halt(on: order) == nil)
        }

        @Test func `that another holds now commits nothing for the old holder`() throws {
            let (old, new) = (try store.storage(), try store.storage())
            try Store.accept(old, [1])
            let stale = try #require(try take(old, "a"))
            try runOut()
            // Run out, whoever holds it next.
            #expect(sqlState { () throws(PostgresError) in try send(old, stale, 1) } == "23502")
            _ = try take(new, "b")
            #expect(sqlState { () throws(PostgresError) in try send(old, stale, 1) } == "23502")
            let received = [ReceivedReport(number: 1, report: report(), refusedNumber: nil, message: [])]
            #expect(sqlState { () throws(PostgresError) in try receive(old, stale, received, nextIn: 2) } == "23502")
            let asked = [sent(1, "H", Store.order(1))]
            #expect(
                sqlState { () throws(PostgresError) in
                    try old.commitAsked(asked, session: venueSession, record: stale, nextOut: 2, nextIn: 1, at: 9)
                } == "23502"
            )
            #expect(try store.value("SELECT (SELECT count(*) FROM fix_sent) + (SELECT count(*) FROM inbox)") == 0)
            #expect(try old.order(Store.order(1).id, of: account)?.status == .accepted)
            #expect(try store.text("SELECT format('%s %s', next_out, next_in) FROM fix_sessions") == "1 1")
            #expect(try store.faults() == [])
        }

        @Test(arguments: [("D", VenueReport.Kind.orderRefused), ("F", .cancelRefused), ("H", .statusRefused), ("5", .other)])
        func `matches a session's reject to the message that it refuses`(_ type: String, _ kind: VenueReport.Kind) throws {
            let storage = try store.storage()
            try Store.accept(storage, [1])
            let record = try #require(try take(storage, "a"))
            try storage.commitAsked([sent(4, type, Store.order(1))], session: venueSession, record: record, nextOut: 5, nextIn: 1, at: 9)
            let rejects = [
                ReceivedReport(number: 1, report: report(.other), refusedNumber: 4, message: []),
                ReceivedReport(number: 2, report: report(.other), refusedNumber: 3, message: []),
            ]
            try receive(storage, record, rejects, nextIn: 3)
            #expect(try store.value("SELECT kind FROM inbox WHERE number = 1") == Int64(kind.rawValue))
            #expect(try store.text("SELECT order_id FROM inbox WHERE number = 1") == Store.order(1).id.text)
            #expect(try store.value("SELECT shard FROM inbox WHERE number = 1") == Int64(account.shard))
            #expect(try store.value("SELECT kind FROM inbox WHERE number = 2") == Int64(VenueReport.Kind.other.rawValue))
        }
    }
}
