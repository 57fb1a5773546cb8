import ExchangeSimulator
import Foundation
import JourneySupport
import Postgres
import Storage
import TestSupport
import Testing
import Trading
import Wire

extension Faults {
    /// The database is lost and comes back as it was a while ago; the venue remembers all.
    @Suite struct `A restore from a backup` {
        /// What a client sent, to be sent again.
        private struct Sent: Sendable {
            let phone: Phone
            let key: IdempotencyKey
            let terms: OrderTerms
            let answer: Phone.Answer

            var id: String { answer.member("order_id") ?? "none" }
        }

        private static func send(_ phone: Phone, _ terms: OrderTerms, port: UInt16, key: IdempotencyKey = Circle.newKey()) async throws -> Sent {
            Sent(phone: phone, key: key, terms: terms, answer: try await phone.place(terms, key: key, port: port))
        }

        /// Sends the same order again until the answer is definite.
        private static func again(_ sent: Sent, port: UInt16) async throws -> Phone.Answer {
            for _ in 0..<600 {
                let answer = try await sent.phone.place(sent.terms, key: sent.key, port: port)
                if answer.member("code") != "recovering" { return answer }
                #expect(answer.status == 503 && answer.member("outcome") == "unknown" && answer.member("final") == "false")
                try await Task.sleep(for: .milliseconds(50))
            }
            throw TimedOut(what: "a definite answer to \(sent.key)")
        }

        private static let resting = Circle.terms(.buy, 10, "NVDA", .limit, .goodTillCancel, limit: "120.00")
        private static let filling = Circle.terms(.buy, 10, "NVDA", .limit, limit: "126.00")

        @Test func `gives each key of before its one order, sends none twice, and books what was lost`() async throws {
            let town = try await Town(accounts: 2)
            try await town.run { town in
                let (one, two) = (town.phones[0], town.phones[1])
                let first = try town.router()
                var port = try #require(await first.ready(), "\(first.log)")
                // Before the backup: one fills, one rests.
                let kept = [try await Self.send(one, Self.filling, port: port), try await Self.send(two, Self.resting, port: port)]
                try await town.quiet()
                first.signal(SIGTERM)
                await first.ended()
                let copy = try TestDatabase(copying: town.database)

                // After it: orders that fill, rest, and are refused for good; an old one is cancelled. Then the database is gone.
                let second = try town.router()
                port = try #require(await second.ready(), "\(second.log)")
                let lost = [
                    try await Self.send(one, Self.filling, port: port), try await Self.send(one, Self.resting, port: port),
                    try await Self.send(two, Circle.terms(.sell, 10, "NVDA", .limit, limit: "120.00"), port: port),
                ]
                for sent in kept + lost { #expect(sent.answer.status == 201, "\(sent.answer.text)") }
                let refused = try await Self.send(one, Circle.terms(.buy, 1_000_000, "NVDA", .limit, limit: "126.00"), port: port)
                #expect(refused.answer.status == 422 && refused.answer.member("final") == "true", "\(refused.answer.text)")
                #expect(try await two.send("DELETE", "/v1/trading/orders/\(kept[1].id)", port: port).status == 202)
                try await town.quiet()
                second.signal(SIGKILL)
                await second.ended()
                let never = Circle.newKey()

                let restored = DatabasePool("readers", try copy.options, count: 1, waitingLimit: 1_000)
                let environment = ["ORDER_ROUTER_DATABASE_URL": copy.url, "ORDER_ROUTER_MIGRATIONS": TestDatabase.migrations]
                let generation = try await restored.texts("SELECT generation::text FROM event_generation")
                let recovered = try await OperatorCommand(["recover", "--by", "ann"], environment)
                #expect(recovered.status == 0 && recovered.text.contains("1 open orders are UNKNOWN"), "\(recovered.text)")
                #expect(try await restored.texts("SELECT generation::text FROM event_generation") != generation)

                let third = try town.router(["ORDER_ROUTER_DATABASE_URL": copy.url, "ORDER_ROUTER_ASK_INTERVAL": "1s"])
                port = try #require(await third.ready(), "\(third.log)")
                // What the backup has is answered as ever, and learns what became of it.
                for sent in kept { #expect(try await Self.again(sent, port: port).body == sent.answer.body) }
                try await eventually("the lost cancel") {
                    let now = try await restored.texts("SELECT status::text FROM orders WHERE order_id = '\(kept[1].id)'")
                    return now == [String(OrderStatus.cancelled.rawValue)]
                }
                // A key of before may not be given up while the venue was not asked about its order.
                let fence = try await one.send("POST", "/v1/trading/orders/by-key/\(lost[0].key)/fence", port: port)
                #expect(fence.status == 503 && fence.member("outcome") == "unknown", "\(fence.text)")
                // What it has not: the same order, adopted.
                for sent in lost {
                    let answer = try await Self.again(sent, port: port)
                    #expect(answer.status == 201 && answer.member("order_id") == sent.id, "\(answer.text)")
                    #expect(try await Self.again(sent, port: port).body == answer.body)
                }
                // What never became an order there never does; nor does what was never sent before the restore.
                #expect(try await Self.again(refused, port: port).member("code") == "key_fenced")
                let unsent = try await Self.again(Sent(phone: one, key: never, terms: Self.filling, answer: refused.answer), port: port)
                #expect(unsent.status == 409 && unsent.member("code") == "key_fenced" && unsent.member("outcome") == "not_accepted", "\(unsent.text)")

                try await Self.checkEnd(town, restored, kept.map(\.id) + lost.map(\.id), filled: [lost[0].id, lost[2].id], resting: lost[1].id)
                let compared = try await OperatorCommand(["reconcile"], environment)
                #expect(compared.status == 0, "\(compared.text)")
                // New keys are as ever.
                let fresh = try await Self.send(two, Self.filling, port: port, key: Self.key(at: Town.now() + 29_000))
                #expect(fresh.answer.member("code") == "recovering" || fresh.answer.status == 201, "\(fresh.answer.text)")
                try await restored.verify(town.venue)
                await restored.stop()
            }
        }

        private static func key(at time: Int64) -> IdempotencyKey {
            IdempotencyKey(high: UInt64(time) << 16 | 0x7000 | UInt64.random(in: 0..<0x1000), low: 1 << 63 | UInt64.random(in: 0..<(1 << 62)))!
        }

        private static func checkEnd(_ town: Town, _ restored: DatabasePool, _ ids: [String], filled: [String], resting: String) async throws {
            for id in filled {
                try await eventually("the lost fills of \(id)") {
                    try await restored.texts("SELECT status || ' ' || filled_quantity FROM orders WHERE order_id = '\(id)'") == ["5 10"]
                }
            }
            try await eventually("the venue's word on \(resting)") {
                try await restored.texts("SELECT status::text FROM orders WHERE order_id = '\(resting)'") == [String(OrderStatus.working.rawValue)]
            }
            try await restored.quiet()
            #expect(ids.allSatisfy { town.venue.ordersSeen($0) == 1 })
            #expect(town.venue.doubles == [])
            #expect(try await restored.texts("SELECT order_id FROM orders ORDER BY 1") == ids.sorted())
            #expect(try await restored.texts("SELECT why FROM parked_reports WHERE resolved_at IS NULL") == [])
            try await restored.verify(town.venue)
        }

        @Test func `does not send what waited in the backup for its number, and is refused while a router runs`() async throws {
            let town = try await Town(accounts: 1)
            try await town.run { town in
                let phone = town.phones[0]
                let first = try town.router()
                var port = try #require(await first.ready(), "\(first.log)")
                let early = try await town.operate("recover")
                #expect(early.status == 1 && early.text.contains("a router speaks"), "\(early.text)")
                let sent = try await Self.send(phone, Self.resting, port: port)
                try await town.quiet()
                first.signal(SIGTERM)
                await first.ended()
                // As the backup of a moment before would have it: accepted, held, without a number.
                let copy = try TestDatabase(copying: town.database)
                let restored = DatabasePool("readers", try copy.options, count: 1, waitingLimit: 1_000)
                try await Self.unnumber(restored, sent.id)
                let environment = ["ORDER_ROUTER_DATABASE_URL": copy.url, "ORDER_ROUTER_MIGRATIONS": TestDatabase.migrations]
                #expect(try await OperatorCommand(["recover"], environment).status == 0)
                #expect(try await OperatorCommand(["recover"], environment).status == 0)
                let second = try town.router(["ORDER_ROUTER_DATABASE_URL": copy.url])
                port = try #require(await second.ready(), "\(second.log)")
                try await eventually("the venue's word") {
                    try await restored.texts("SELECT status::text FROM orders") == [String(OrderStatus.working.rawValue)]
                }
                // Its first cancel may have been sent in what was lost: the number of the next one is beyond.
                let cancel = try await phone.send("DELETE", "/v1/trading/orders/\(sent.id)", port: port)
                #expect(cancel.status == 202 && cancel.member("cancel_id") != "\(sent.id)-c1", "\(cancel.text)")
                try await restored.quiet()
                #expect(town.venue.ordersSeen(sent.id) == 1 && town.venue.doubles == [])
                try await restored.verify(town.venue)
                await restored.stop()
            }
        }

        /// Takes an order and its shard back to where accepting left them.
        private static func unnumber(_ restored: DatabasePool, _ id: String) async throws {
            for sql in [
                "UPDATE orders SET status = 1, routed_at = NULL WHERE order_id = '\(id)'", "DELETE FROM fix_sent WHERE order_id = '\(id)'",
                "DELETE FROM log WHERE order_id = '\(id)' AND type > 1", "DELETE FROM inbox",
                "UPDATE accounts SET last_event = 1 WHERE account_id = 'acc_0'",
                "UPDATE shards s SET next_log = 2, sent_log = 0 FROM accounts a WHERE a.account_id = 'acc_0' AND a.shard = s.shard",
                "UPDATE fix_sessions SET next_out = 2, next_in = 2",
            ] {
                _ = try await restored.read { _ = try $0.connection().query(sql) }
            }
        }
    }
}
