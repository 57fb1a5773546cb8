import OrderDesk
import Postgres
import Storage
import TestSupport
import Testing
import Trading

extension `On PostgreSQL, the desk` {
    /// What is read out of the venue's answer to an OrderMassStatusRequest, and what is not done with it.
    @Suite struct `compared with the venue` {
        let room: Room
        let storage: Database
        let id: Int64

        init() throws {
            room = try Room()
            storage = room.storage()
            id = try storage.requestReconciliation(of: session, by: "ann", at: now)
        }

        /// Numbers the request, as the venue's session does.
        private func ask(as number: Int64 = 1) throws {
            try storage.commitMassStatus(
                SentMessage(number: number, type: "AF", sentAt: now + 1, resendBy: now, orderID: "", shard: 0, body: []),
                of: id,
                session: session,
                record: SessionRecord(epoch: 1, generation: 1, nextOut: number, nextIn: 1),
                nextOut: number + 1,
                nextIn: 1
            )
        }

        private func receive(_ reports: [ReceivedReport], nextOut: Int64 = 2, from nextIn: Int64 = 1) throws {
            try storage.commitReceived(
                session: session,
                record: SessionRecord(epoch: 1, generation: 1, nextOut: nextOut, nextIn: nextIn),
                nextOut: nextOut,
                nextIn: nextIn + Int64(reports.count),
                generation: 1,
                reports: reports,
                at: now + 2
            )
        }

        /// A status that answers the request; `last` as tag 912 says.
        private func status(
            _ number: Int64,
            of order: OrderID,
            _ ordStatus: String,
            filled: Int64 = 0,
            total: Int,
            last: Bool,
            _ change: (inout VenueReport) -> Void = { _ in }
        ) -> ReceivedReport {
            var report = VenueReport(kind: .execution)
            (report.orderID, report.execType, report.orderStatus, report.cumulativeQuantity) = (order.text, "I", ordStatus, filled)
            change(&report)
            let fields = ["", "584=R\(id)", "911=\(total)", last ? "912=Y" : "912=N", ""]
            return ReceivedReport(number: number, report: report, refusedNumber: nil, message: Array(fields.joined(separator: "\u{1}").utf8))
        }

        @Test func `lists what is not here and what has ended here alone, once all of the answer is settled`() async throws {
            let (one, two) = (queue(), queue())
            let order = identity(account, key(1))
            #expect(try await room.withLanes(1, on: one) { await one.decide(.place(submission(1))) }.word == "accepted")
            #expect(try await room.withLanes(1, on: two) { await two.decide(.cancel(order, of: account)) }.word == "cancelRequested")
            let stranger = identity(neighbour, key(2))
            try ask()
            try receive([status(1, of: order, "0", total: 2, last: false)])
            #expect(try !storage.answer(to: id).isComplete)
            try storage.commitReceived(
                session: session,
                record: SessionRecord(epoch: 1, generation: 1, nextOut: 2, nextIn: 2),
                nextOut: 2,
                nextIn: 3,
                generation: 1,
                reports: [status(2, of: stranger, "1", filled: 3, total: 2, last: true)],
                at: now + 2
            )
            let waiting = try storage.answer(to: id)
            #expect(waiting.isComplete && !waiting.isSettled && waiting.reports == 2 && waiting.refusal == nil)
            try room.settle()
            #expect(try storage.answer(to: id).isSettled)
            let found = try storage.compare(id, open: [], venue: "VENUE")
            #expect(Set(found.map { "\($0.orderID) \($0.what)" }) == ["\(order) open_at_venue", "\(stranger) not_ours"])
            try storage.end(id, .differs, reports: 2, differences: found, at: now + 3)
            #expect(try storage.differences(of: id).count == 2 && storage.differenceCount() == 2)
            #expect(try room.text("SELECT string_agg(kind, ' ') FROM alarms") == "reconciliation")
            // A status books nothing, and is not parked.
            #expect(try room.value("SELECT count(*) FROM parked_reports") == 0)
            #expect(try room.status(order) == .cancelled)
            try room.check()
        }

        @Test func `lists an open order that the venue has with other numbers, by total or by name`() async throws {
            for number in 1...3 {
                let one = queue()
                #expect(try await room.withLanes(1, on: one) { await one.decide(.place(submission(number))) }.word == "accepted")
            }
            try room.connect().execute("UPDATE orders SET status = 3, routed_at = 1")
            let orders = [1, 2, 3].map { identity(account, key($0)) }
            try ask()
            try receive([
                status(1, of: orders[0], "0", total: 3, last: false) { $0.orderQuantity = 10 },
                status(2, of: orders[1], "0", total: 3, last: false) { $0.orderQuantity = 11 },
                status(3, of: orders[2], "0", total: 3, last: true) { ($0.orderQuantity, $0.requestID) = (10, "\(orders[2])-r1") },
            ])
            // In doubt by now, and asked about by itself: what says the same once more does not make them agree.
            let later = status(4, of: orders[1], "0", total: 1, last: true) { $0.orderQuantity = 11 }
            try receive([ReceivedReport(number: 4, report: later.report, refusedNumber: nil, message: [])], from: 4)
            try room.settle()
            let found = try storage.compare(id, open: orders, venue: "VENUE")
            #expect(Set(found.map { "\($0.orderID) \($0.what)" }) == ["\(orders[1]) terms", "\(orders[2]) terms"])
            try storage.end(id, .differs, reports: 3, differences: found, at: now + 3)
            for (order, expected) in zip(orders, [OrderStatus.working, .unknown, .unknown]) { #expect(try room.status(order) == expected) }
        }

        @Test func `notes the words in which the venue refuses to answer`() throws {
            try ask()
            var reject = VenueReport(kind: .other)
            (reject.text, reject.rejectReason) = ("unsupported message type", 3)
            try receive([ReceivedReport(number: 1, report: reject, refusedNumber: 1, message: Array("\u{1}45=1\u{1}".utf8))])
            try room.settle()
            let answer = try storage.answer(to: id)
            #expect(!answer.isComplete && answer.refusal == "unsupported message type")
            #expect(try room.value("SELECT count(*) FROM parked_reports") == 0)
            try storage.end(id, .refused, reports: 0, detail: answer.refusal, at: now + 3)
            #expect(try storage.openReconciliations(of: session).isEmpty && storage.differenceCount() == nil)
        }
    }
}
