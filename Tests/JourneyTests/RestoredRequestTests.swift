import ExchangeSimulator
import FIX
import Foundation
import JourneySupport
import Storage
import Synchronization
import TestSupport
import Testing
import Trading

extension Faults {
    /// The backup was made while something was under way between us and the venue; the time between backup and loss went on without it.
    @Suite struct `A restore to the middle of` {
        private static let settings = ["ORDER_ROUTER_SILENCE": "60s", "ORDER_ROUTER_ASK_INTERVAL": "100ms"]

        /// The database as it was at some moment.
        private final class Backup: Sendable {
            private let made = Mutex<TestDatabase?>(nil)

            /// The first counts.
            func make(of town: Town) { made.withLock { $0 = $0 ?? (try? TestDatabase(copying: town.database)) } }

            var database: TestDatabase? { made.withLock { $0 } }
        }

        private static func through(_ line: FIXLine, _ town: Town) -> [String: String] {
            settings.merging(["ORDER_ROUTER_VENUE": "127.0.0.1:\(line.port)", "ORDER_ROUTER_MARKET_DATA": "127.0.0.1:\(town.venuePort)"]) { $1 }
        }

        private static func place(_ symbol: String, _ town: Town, port: UInt16) async throws -> String {
            let terms = Circle.terms(.buy, 10, symbol, .limit, limit: "120.00")
            return try #require(try await town.phones[0].place(terms, key: Circle.newKey(), port: port).member("order_id"))
        }

        /// Made when the line first carries what is awaited; the router, which is cut off from the database for a moment, goes on.
        private static func backup(
            of town: Town,
            at line: FIXLine,
            when isMoment: @escaping @Sendable (FIXLine.Direction, FIXMessage) -> Bool
        ) -> Backup {
            let backup = Backup()
            line.judge { direction, message in
                if isMoment(direction, message) { backup.make(of: town) }
                return .pass
            }
            return backup
        }

        /// The lost database's router is gone; another begins on the copy, which must have this state.
        private static func restore(
            _ backup: Backup,
            _ town: Town,
            _ settings: [String: String],
            having state: String,
            as sql: String
        ) async throws -> DatabasePool {
            let copy = try #require(backup.database)
            let restored = DatabasePool("readers", try copy.options, count: 1, waitingLimit: 1_000)
            #expect(try await restored.texts(sql) == [state])
            let environment = ["ORDER_ROUTER_DATABASE_URL": copy.url, "ORDER_ROUTER_MIGRATIONS": TestDatabase.migrations]
            // The lease in it is that of the router that was lost.
            try await eventually("the recovery") { try await OperatorCommand(["recover", "--by", "ann"], environment).status == 0 }
            let router = try town.router(settings.merging(["ORDER_ROUTER_DATABASE_URL": copy.url]) { $1 })
            _ = try #require(await router.ready(), "\(router.log)")
            try await restored.quiet()
            return restored
        }

        enum Moment: CaseIterable {
            case accepted
            case numbered
            case taken
        }

        @Test(arguments: Moment.allCases) func `a replace takes the venue's word on it`(_ moment: Moment) async throws {
            let town = try await Town(accounts: 1)
            let line = try FIXLine(to: town.venuePort)
            defer { line.end() }
            try await town.run { town in
                let settings = Self.through(line, town)
                var router = try town.router(settings)
                var port = try #require(await router.ready(), "\(router.log)")
                // A fill of half comes with the request.
                let id = try await Self.place("NVDA.CROSS", town, port: port)
                try await eventually("the order at the venue") { try await town.texts("SELECT status::text FROM orders") == ["3"] }
                let backup = Self.backup(of: town, at: line) { direction, message in
                    switch moment {
                    case .accepted: false
                    case .numbered: direction == .toVenue && message.type == .orderCancelReplaceRequest
                    case .taken: direction == .toRouter && message.string(.execType) == "F"
                    }
                }
                if moment == .accepted {
                    router.signal(SIGKILL)
                    await router.ended()
                    router = try town.router(settings.merging(["ORDER_ROUTER_CRASH_AT": "accept-committed:1"]) { $1 })
                    port = try #require(await router.ready(), "\(router.log)")
                }
                let wanted = Replacement(quantity: 20, limitPrice: Amount("121.00"), stopPrice: nil)
                _ = try? await town.phones[0].replace(try #require(OrderID(id)), by: wanted, key: Circle.newKey(), port: port)
                if moment == .accepted {
                    await router.ended()
                    backup.make(of: town)
                    router = try town.router(settings)
                }
                // Nobody may read while the backup is made.
                try await eventually("the replace in the time that will be lost") {
                    (try? await town.texts("SELECT quantity || ' ' || filled_quantity FROM orders WHERE new_quantity IS NULL AND status = 4")) == [
                        "20 5"
                    ]
                }
                router.signal(SIGKILL)
                await router.ended()
                let restored = try await Self.restore(
                    backup,
                    town,
                    settings,
                    having: "20 0",
                    as: "SELECT new_quantity || ' ' || filled_quantity FROM orders"
                )
                #expect(
                    try await restored.texts("SELECT status || ' ' || quantity || ' ' || filled_quantity || ' ' || held / 10000 FROM orders") == [
                        "4 20 5 1815"
                    ]
                )
                #expect(try await restored.texts("SELECT kind FROM alarms") == [])
                try await restored.verify(town.venue)
                await restored.stop()
            }
        }

        @Test func `sending an order again does not take the venue's word of before for its word`() async throws {
            let town = try await Town(accounts: 1)
            let line = try FIXLine(to: town.venuePort)
            defer { line.end() }
            try await town.run { town in
                let settings = Self.through(line, town)
                let router = try town.router(settings)
                let port = try #require(await router.ready(), "\(router.log)")
                let id = try await Self.place("NVDA.LOST", town, port: port)
                try await eventually("the order at the venue") { town.venue.receipts.contains { $0.clOrdID == id } }
                // It is about to say that it does not know the order; then it gets it again, and has it.
                let backup = Self.backup(of: town, at: line) { direction, message in
                    direction == .toRouter && message.int(.ordRejReason) == 5 && message.string(.clOrdID) == id
                }
                #expect(try await town.operate("reset-session").status == 0)
                try await eventually("the order at the venue, in the time that will be lost") {
                    (try? await town.texts("SELECT status || ' ' || COALESCE(resends, 0) FROM orders")) == ["3 1"]
                }
                router.signal(SIGKILL)
                await router.ended()
                let restored = try await Self.restore(
                    backup,
                    town,
                    settings,
                    having: "9 0",
                    as: "SELECT status || ' ' || COALESCE(resends, 0) FROM orders"
                )
                #expect(try await restored.texts("SELECT status || ' ' || COALESCE(resends, 0) FROM orders") == ["3 0"])
                #expect(town.venue.order(id)?.isOpen == true && town.venue.receipts.count { $0.clOrdID == id && $0.type == "D" } == 2)
                #expect(try await restored.texts("SELECT kind FROM alarms") == [])
                try await restored.verify(town.venue)
                await restored.stop()
            }
        }

        enum Sent: CaseIterable {
            case numbered
            case accepted
        }

        /// It was filled since, the numbers have begun again since, and the venue keeps no order that is over: none of its words tells of that fill any more.
        @Test(arguments: Sent.allCases) func `an order's way does not end it for a venue that has forgotten it`(_ sent: Sent) async throws {
            let town = try await Town(accounts: 1)
            let line = try FIXLine(to: town.venuePort)
            defer { line.end() }
            try await town.run { town in
                let settings = Self.through(line, town)
                let backup = Self.backup(of: town, at: line) { direction, message in
                    sent == .numbered && direction == .toVenue && message.type == .newOrderSingle
                }
                let first = try town.router(settings.merging(sent == .accepted ? ["ORDER_ROUTER_CRASH_AT": "accept-committed:1"] : [:]) { $1 })
                let port = try #require(await first.ready(), "\(first.log)")
                let terms = Circle.terms(.buy, 10, "NVDA", .limit, limit: "126.00")
                _ = try? await town.phones[0].place(terms, key: Circle.newKey(), port: port)
                if sent == .accepted {
                    await first.ended()
                    backup.make(of: town)
                }
                let last = sent == .accepted ? try town.router(settings) : first
                // Nobody may read while the backup is made.
                try await eventually("the fill that will be lost") { (try? await town.texts("SELECT status::text FROM orders")) == ["5"] }
                let id = try await town.texts("SELECT order_id FROM orders")[0]
                #expect(try await town.operate("reset-session").status == 0)
                try await eventually("the numbers that begin again") {
                    try await town.texts("SELECT session_id FROM fix_sessions WHERE generation > 1 AND logged_on").count == 1
                }
                last.signal(SIGKILL)
                await last.ended()
                try town.venue.forget(id)

                let copy = try #require(backup.database)
                let restored = DatabasePool("readers", try copy.options, count: 1, waitingLimit: 1_000)
                #expect(try await restored.texts("SELECT status::text FROM orders") == [sent == .numbered ? "2" : "1"])
                let environment = ["ORDER_ROUTER_DATABASE_URL": copy.url, "ORDER_ROUTER_MIGRATIONS": TestDatabase.migrations]
                try await eventually("the recovery") { try await OperatorCommand(["recover", "--by", "ann"], environment).status == 0 }
                #expect(try await OperatorCommand(["reset-session"], environment).status == 0)
                let second = try town.router(settings.merging(["ORDER_ROUTER_DATABASE_URL": copy.url]) { $1 })
                _ = try #require(await second.ready(), "\(second.log)")
                try await eventually("the venue's word") {
                    try await !restored.texts("SELECT kind FROM alarms WHERE kind = 'forgotten_by_venue'").isEmpty
                }
                let standing = "SELECT status || ' ' || reason || ' ' || held / 10000 FROM orders"
                #expect(try await restored.texts(standing) == ["9 forgotten_by_venue 1260"])
                let said = ["--filled", "0", "--venue-says", "bob: filled, and given up by phone", "--by", "ann"]
                try await eventually("the end") { try await OperatorCommand(["orders", "end", id] + said, environment).status == 0 }
                #expect(try await restored.texts(standing) == ["6 ended_by_operator 0"])
                #expect(town.venue.receipts.count { $0.type == "D" } == 1)
                let ledger = try await OperatorCommand(["verify-ledger"], environment)
                #expect(ledger.status == 0, "\(ledger.text)")
                await restored.stop()
            }
        }

        /// Lets nothing through while it is shut, and shuts when it sees what it waits for.
        private final class Gate: Sendable {
            private let state = Mutex<(isShut: Bool, shuts: @Sendable (FIXMessage) -> Bool)>((true, { _ in false }))

            func judge(_ message: FIXMessage) -> FIXLine.Verdict {
                state.withLock { state in
                    if !state.isShut { state.isShut = state.shuts(message) }
                    return state.isShut ? .cut : .pass
                }
            }

            func open(until shuts: @escaping @Sendable (FIXMessage) -> Bool = { _ in false }) { state.withLock { $0 = (false, shuts) } }
        }

        @Test func `before an order that was sent again gives its key that order, and never up for a word of before`() async throws {
            let town = try await Town(accounts: 1)
            let line = try FIXLine(to: town.venuePort)
            defer { line.end() }
            try await town.run { town in
                let settings = Self.through(line, town)
                // Of the moment of the logon: the venue's first word in its later numbers will be asked for again.
                let backup = Self.backup(of: town, at: line) { direction, message in direction == .toRouter && message.type == .executionReport }
                let first = try town.router(settings)
                let lost = try #require(await first.ready(), "\(first.log)")
                // In the time that will be lost: swallowed, asked about, unknown, sent again, and there.
                let (key, terms) = (Circle.newKey(), Circle.terms(.buy, 10, "NVDA.LOST", .limit, limit: "120.00"))
                try await eventually("an order") { (try? await town.phones[0].place(terms, key: key, port: lost))?.status == 201 }
                try await eventually("the order at the venue") { town.venue.receipts.contains { $0.type == "D" } }
                #expect(try await town.operate("reset-session").status == 0)
                try await eventually("the order at the venue again") { try await town.texts("SELECT status::text FROM orders") == ["3"] }
                let id = try await town.texts("SELECT order_id FROM orders")[0]
                first.signal(SIGKILL)
                await first.ended()

                let copy = try #require(backup.database)
                let restored = DatabasePool("readers", try copy.options, count: 1, waitingLimit: 1_000)
                let environment = ["ORDER_ROUTER_DATABASE_URL": copy.url, "ORDER_ROUTER_MIGRATIONS": TestDatabase.migrations]
                try await eventually("the recovery") { try await OperatorCommand(["recover", "--by", "ann"], environment).status == 0 }
                let gate = Gate()
                line.judge { _, message in gate.judge(message) }
                let second = try town.router(settings.merging(["ORDER_ROUTER_DATABASE_URL": copy.url]) { $1 })
                try await eventually("a router that listens") { second.listenPort != nil }
                let port = try #require(second.listenPort)
                let phone = town.phones[0]
                try await eventually("the question") { (try? await phone.place(terms, key: key, port: port))?.member("code") == "recovering" }
                // The venue's first word of before is here, its second is not. A cut can take also what was passed on just before.
                try await eventually("the word of before") {
                    gate.open { $0.flag(.possDupFlag) == true && $0.string(.execType) == "0" && $0.string(.clOrdID) == id }
                    return try await !restored.texts(
                        """
                        SELECT i.order_id FROM inbox i JOIN shards s ON s.shard = i.shard AND s.settled_inbox >= i.inbox_id
                        WHERE i.order_id = '\(id)' AND i.reject_reason = 5
                        """
                    ).isEmpty
                }
                let meanwhile = try await phone.place(terms, key: key, port: port)
                #expect(meanwhile.status == 503 && meanwhile.member("outcome") == "unknown", "\(meanwhile.text)")
                gate.open()
                try await eventually("the order") { try await phone.place(terms, key: key, port: port).status == 201 }
                try await restored.quiet()
                #expect(try await restored.texts("SELECT order_id || ' ' || status FROM orders") == ["\(id) 3"])
                try await restored.verify(town.venue)
                await restored.stop()
            }
        }
    }
}
