import OrderDesk
import Postgres
import Storage
import TestSupport
import Testing
import Trading

extension `On PostgreSQL, the desk` {
    /// An operator has the word of the venue's people on orders that its session does not know any more.
    @Suite struct `on the word of the venue's people` {
        let room: Room
        let storage: Database

        init() async throws {
            room = try Room()
            storage = room.storage()
            let own = queue()
            let room = room
            let verdicts = try await room.withLanes(1, on: own) { await decide((1...3).map { (own, .place(submission($0))) }) }
            #expect(verdicts.allSatisfy { $0.word == "accepted" }, "\(words(verdicts))")
            try room.route()
        }

        private func id(_ number: Int) -> OrderID { identity(account, key(number)) }

        private func report(_ number: Int, _ execType: String, _ change: (inout VenueReport) -> Void = { _ in }) -> VenueReport {
            var report = VenueReport(kind: .execution)
            (report.orderID, report.execType, report.execID, report.tradeDate) = (id(number).text, execType, "e\(execType)\(number)", "20260316")
            change(&report)
            return report
        }

        private func unknownOrder(_ number: Int) -> VenueReport { report(number, "I") { ($0.orderStatus, $0.rejectReason) = ("8", 5) } }

        private func end(_ numbers: [Int], filled: Int64, at time: Int64 = now) throws -> [EndUnknown.Outcome] {
            try EndUnknown(storage, by: "ann", venueSays: "bob of the desk, 10:15: out", now: { time }).end(numbers.map(id), filled: filled)
        }

        private var held: Int64 { get throws { try room.value("SELECT held FROM balances WHERE account_id = 'acc_1' AND asset = '$'") } }

        private var audited: String {
            get throws {
                try room.text("SELECT COALESCE(string_agg(by_whom || ' ' || detail, ','), '') FROM operator_audit WHERE action = 'order_ended'")
            }
        }

        @Test func `ends an order with what is booked, frees its hold, tells its client, and is audited`() throws {
            let fill = report(2, "F") { ($0.lastQuantity, $0.lastPrice) = (4, usd("99")) }
            try room.receive([report(1, "0"), fill, report(3, "0"), unknownOrder(1), unknownOrder(2)])
            try room.settle()
            #expect(try held == usd("2600").units)
            #expect(try room.value("SELECT count(*) FROM alarms WHERE kind = 'forgotten_by_venue'") == 2)
            // Other than is booked, and what nobody doubts.
            #expect(try end([1], filled: 4).map(\.word) == [.fillsDiffer])
            #expect(try end([2], filled: 0).map(\.word) == [.fillsDiffer])
            #expect(try end([3, 9], filled: 0).map(\.word) == [.notUnknown, .notFound])
            #expect(try held == usd("2600").units && audited == "")

            let ended = try end([2], filled: 4)
            #expect(ended.map(\.word) == [.ended] && ended[0].released == usd("600") && ended[0].order?.status == .cancelled)
            #expect(try held == usd("2000").units)
            #expect(try room.text("SELECT reason FROM orders WHERE order_id = '\(id(2))'") == "ended_by_operator")
            #expect(try room.text("SELECT string_agg(type::text, ' ' ORDER BY event_number) FROM log WHERE order_id = '\(id(2))'") == "1 2 4 10 7")
            #expect(try audited == "ann \(id(2)): 4 filled, 600.00 released; the venue: bob of the desk, 10:15: out")
            #expect(try end([2], filled: 4).map(\.word) == [.notOpen])
            try room.check()
        }

        @Test func `ends nothing that the venue has reported on meanwhile, nor what it has again`() throws {
            try room.receive([report(1, "0"), report(2, "0"), unknownOrder(1), unknownOrder(2)])
            try room.settle()
            try room.receive([report(1, "F") { ($0.lastQuantity, $0.lastPrice) = (4, usd("99")) }, report(2, "I") { $0.orderStatus = "6" }], from: 5)
            #expect(try end([1, 2], filled: 0).map(\.word) == [.reportWaits, .reportWaits])
            try room.settle()
            #expect(try end([1, 2], filled: 0).map(\.word) == [.notUnknown, .stillAsked])
            #expect(try room.status(id(1)) == .partiallyFilled && room.status(id(2)) == .unknown)
            #expect(try held == usd("2600").units && audited == "")
            try room.check()
        }

        @Test func `ends an order whose later fill books and alarms`() throws {
            try room.receive([report(1, "0"), unknownOrder(1)])
            try room.settle()
            #expect(try end([1], filled: 0).map(\.word) == [.ended])
            try room.receive([report(1, "F") { ($0.lastQuantity, $0.lastPrice) = (4, usd("99")) }], from: 3)
            try room.settle()
            #expect(try room.text("SELECT string_agg(kind, ' ' ORDER BY alarm_id) FROM alarms") == "forgotten_by_venue fill_after_end")
            #expect(try room.value("SELECT filled_quantity FROM orders WHERE order_id = '\(id(1))'") == 4)
            try room.check()
        }

        @Test func `ends what the venue was asked about for ten minutes and says nothing of`() throws {
            let (unknown, asked) = (now + 10_001, now + 15_000)
            try room.sweep(at: unknown)
            let late = asked + EndUnknown.answersWithin
            #expect(try end([1, 2, 3], filled: 0, at: late).map(\.word) == [.stillAsked, .stillAsked, .stillAsked], "nobody asked")
            for number in [1, 2] { try room.ask(about: id(number), at: asked) }
            try room.ask(about: id(3), at: asked + 1)
            #expect(try end([1, 2], filled: 0, at: late - 1).map(\.word) == [.stillAsked, .stillAsked])
            // It takes no questions of this kind; of the second it has spoken, though that tells nothing new.
            var refused = VenueReport(kind: .statusRefused)
            refused.orderID = id(1).text
            try room.receive([refused, report(2, "I") { $0.orderStatus = "A" }], at: asked + 5)
            #expect(try end([1, 2], filled: 0, at: late).map(\.word) == [.reportWaits, .reportWaits])
            try room.settle()
            #expect(try end([1], filled: 5, at: late).map(\.word) == [.fillsDiffer])
            #expect(try end([1, 2, 3], filled: 0, at: late).map(\.word) == [.ended, .stillAsked, .stillAsked])
            #expect(try room.status(id(1)) == .cancelled && room.status(id(2)) == .unknown && held == usd("2000").units)
            try room.check()
        }

        @Test func `ends nothing of which the venue has sent what could not be booked`() throws {
            try room.receive([report(1, "0"), report(1, "F") { ($0.lastQuantity, $0.lastPrice, $0.execID) = (4, usd("99"), nil) }])
            try room.settle()
            #expect(try room.status(id(1)) == .unknown)
            try room.ask(about: id(1), at: now + 1)
            #expect(try end([1], filled: 0, at: now + 1 + EndUnknown.answersWithin).map(\.word) == [.stillAsked])
            try room.check()
        }

        /// Whichever comes first: a fill is booked once, and an order has one end.
        @Test func `ends an order beside the reports that arrive in the same moment, and loses and doubles none of them`() async throws {
            let threads = ["end", "settle"].map { DedicatedThread(name: $0) }
            defer { for thread in threads { thread.stop() } }
            try room.receive((1...3).flatMap { [report($0, "0"), unknownOrder($0)] })
            try room.settle()
            for number in [1, 2, 3] {
                let (room, order, at) = (room, id(number), Int64(7 + (number - 1) * 3))
                let fill = report(number, "F") { ($0.lastQuantity, $0.lastPrice) = (4, usd("99")) }
                let cancelled = report(number, "4")
                async let outcomes = threads[0].run {
                    let own = room.storage()
                    defer { own.drop() }
                    return try EndUnknown(own, by: "ann", venueSays: "bob of the desk, 10:15: out", now: { now }).end([order], filled: 0)
                }
                try await threads[1].run {
                    // The fill, the same again as a session repeats it, and what the venue's desk has done about the order.
                    try room.receive([fill], from: at)
                    try room.settle()
                    var again = fill
                    again.isRepeated = true
                    try room.receive([again, cancelled], from: at + 1)
                    try room.settle()
                }
                let word = try await outcomes[0].word
                #expect([.ended, .reportWaits, .notUnknown, .notOpen].contains(word))
                let state = "SELECT status || ' ' || filled_quantity || ' ' || held FROM orders WHERE order_id = '\(id(number))'"
                #expect(try room.text(state) == "6 4 0", "\(word)")
                let reason = "SELECT COALESCE(reason, '') FROM orders WHERE order_id = '\(id(number))'"
                #expect(try room.text(reason) == (word == .ended ? "ended_by_operator" : ""), "\(word)")
                let ends = "SELECT string_agg(type::text, ' ' ORDER BY event_number) FROM log WHERE order_id = '\(id(number))' AND type IN (4, 7)"
                #expect(try room.text(ends) == (word == .ended ? "7 4" : "4 7"), "\(word)")
                let alarmed = "SELECT count(*) FROM alarms WHERE kind = 'fill_after_end' AND order_id = '\(id(number))'"
                #expect(try room.value(alarmed) == (word == .ended ? 1 : 0), "\(word)")
            }
            #expect(try held == 0)
            try room.check()
        }

        @Test func `ends nothing that the venue never spoke of: its session's word does`() throws {
            try room.sweep(at: now + 10_001)
            #expect(try room.status(id(1)) == .unknown)
            #expect(try end([1], filled: 0).map(\.word) == [.stillAsked])
            try room.receive([unknownOrder(1)])
            try room.settle()
            #expect(try room.text("SELECT reason FROM orders WHERE order_id = '\(id(1))'") == "not_routed")
            #expect(try room.value("SELECT count(*) FROM alarms") == 0)
            try room.check()
        }
    }
}
