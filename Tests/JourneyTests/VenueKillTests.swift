import ExchangeSimulator
import FIX
import Foundation
import JourneySupport
import Storage
import Synchronization
import Testing
import Trading

extension Faults {
    /// The venue, a process of its own, dies while it is asked about an order that it has lost, and while it gets that order again.
    @Suite struct `A venue that is killed` {
        private static let compID = "EXCH-SIM"

        /// Where in the conversation about a lost order the venue dies: before it reads the message, or with its own word unread.
        private struct Death: Sendable, CustomTestStringConvertible {
            let direction: FIXLine.Direction
            let type: MessageType
            /// ExecType of a report of the venue's.
            var execType: String?
            /// It reads the message before it dies; what it did with it nobody knows.
            var isBehind = false

            var testDescription: String { "\(direction) \(type) \(execType ?? "")\(isBehind ? " read" : "")" }

            func meets(_ direction: FIXLine.Direction, _ message: FIXMessage, of order: String?) -> Bool {
                guard direction == self.direction, message.type == type, execType == nil || message.string(.execType) == execType else {
                    return false
                }
                return type == .logon || message.string(.clOrdID) == order
            }
        }

        private static let deaths = [
            Death(direction: .toVenue, type: .logon, isBehind: true), Death(direction: .toRouter, type: .logon),
            Death(direction: .toVenue, type: .orderStatusRequest), Death(direction: .toRouter, type: .executionReport, execType: "I"),
            Death(direction: .toVenue, type: .newOrderSingle), Death(direction: .toVenue, type: .newOrderSingle, isBehind: true),
            Death(direction: .toRouter, type: .executionReport, execType: "0"),
        ]

        private final class Venue: Sendable {
            let port: UInt16
            private let state = FileManager.default.temporaryDirectory.appending(path: "order-router-venue-\(UUID().uuidString)").path
            private let process = Mutex<RouterProcess?>(nil)

            init() throws {
                port = try Town.freePort()
                try start()
            }

            func start() throws {
                let started = try RouterProcess(
                    [:],
                    arguments: ["simulate", "--listen", "127.0.0.1:\(port)", "--comp-id", compID, "--state", state, "--frozen"]
                )
                process.withLock { $0 = started }
            }

            func kill() { process.withLock { $0 }?.signal(SIGKILL) }

            func restart() async throws {
                kill()
                await process.withLock { $0 }?.ended()
                try start()
            }

            /// Its books, opened here once its process has ended.
            func books() async throws -> SimulatedVenue {
                kill()
                await process.withLock { $0 }?.ended()
                var configuration = SimulatedVenue.Configuration()
                (configuration.compID, configuration.stateDirectory) = (compID, state)
                return try SimulatedVenue(configuration, log: { _ in })
            }

            func remove() { try? FileManager.default.removeItem(atPath: state) }
        }

        /// What the line has carried, and which deaths are to come.
        private struct Plan: Sendable {
            var order: String?
            var deaths: [Death] = []
            var isDead = false
            /// NewOrderSingles, by ClOrdID: whether each said PossResend.
            var sent: [String: [Bool]] = [:]

            mutating func judge(_ direction: FIXLine.Direction, _ message: FIXMessage) -> FIXLine.Verdict {
                if message.type == .newOrderSingle, let id = message.string(.clOrdID), message.flag(.possDupFlag) != true {
                    sent[id, default: []].append(message.flag(.possResend) == true)
                }
                guard let order, let death = deaths.first, death.meets(direction, message, of: order) else { return .pass }
                deaths.removeFirst()
                isDead = true
                return death.isBehind ? .cutBehind : .cut
            }
        }

        private static func place(_ town: Town, port: UInt16) async throws -> String {
            let terms = Circle.terms(.buy, 10, "NVDA.LOST", .limit, limit: "120.00")
            let key = Circle.newKey()
            let answered = Mutex<String?>(nil)
            // The venue was killed a moment ago: until it is back nothing new is taken.
            try await eventually("an order") {
                let id = try await town.phones[0].place(terms, key: key, port: port).member("order_id")
                answered.withLock { $0 = id }
                return id != nil
            }
            return try #require(answered.withLock { $0 })
        }

        /// One order, which the venue swallows; then the line breaks, with which the numbers begin again, and the venue dies as often as it is to.
        private static func round(_ deaths: [Death], _ town: Town, _ venue: Venue, _ line: FIXLine, port: UInt16) async throws -> [Bool] {
            let plan = Mutex(Plan())
            line.judge { direction, message in
                plan.withLock { plan in
                    let verdict = plan.judge(direction, message)
                    // Before it reads what it is not to read.
                    if verdict == .cut { venue.kill() }
                    return verdict
                }
            }
            let id = try await place(town, port: port)
            try await eventually("the order at the venue") { plan.withLock { $0.sent[id] != nil } }
            plan.withLock { ($0.order, $0.deaths) = (id, deaths) }
            line.cut()
            try await eventually("the venue's word on \(id) after \(deaths)") {
                let isDead = plan.withLock { plan in
                    defer { plan.isDead = false }
                    return plan.isDead
                }
                if isDead { try await venue.restart() }
                let open = try await town.texts("SELECT order_id FROM orders WHERE order_id = '\(id)' AND status IN (1, 2, 9)")
                return plan.withLock { $0.deaths.isEmpty } && open.isEmpty
            }
            return plan.withLock { $0.sent[id] ?? [] }
        }

        @Test func `at each step of its question has the order once, or never, and says so`() async throws {
            let town = try await Town(accounts: 1)
            let venue = try Venue()
            defer { venue.remove() }
            let line = try FIXLine(to: venue.port)
            defer { line.end() }
            try await town.run { town in
                let router = try town.router([
                    "ORDER_ROUTER_VENUE": "127.0.0.1:\(line.port)", "ORDER_ROUTER_MARKET_DATA": "127.0.0.1:\(town.venuePort)",
                    "ORDER_ROUTER_TARGET_COMP_ID": Self.compID, "ORDER_ROUTER_MARKET_DATA_TARGET_COMP_ID": "EXCH",
                    "ORDER_ROUTER_VENUE_RESETS": "logon", "ORDER_ROUTER_ASK_INTERVAL": "100ms", "ORDER_ROUTER_SILENCE": "60s",
                ])
                let port = try #require(await router.ready(), "\(router.log)")
                for death in Self.deaths {
                    let sent = try await Self.round([death], town, venue, line, port: port)
                    #expect((2...3).contains(sent.count) && sent.count { !$0 } == 1, "\(death): \(sent)")
                }
                // It is given up when it was sent again twice and has never come.
                let unread = Death(direction: .toVenue, type: .newOrderSingle)
                #expect(try await Self.round([unread, unread], town, venue, line, port: port) == [false, true, true])
                try await town.quiet()
                let books = try await venue.books()
                let rows = try await town.texts("SELECT order_id || ' ' || status || ' ' || COALESCE(reason, '') FROM orders ORDER BY created_at")
                for row in rows.dropLast() {
                    let parts = row.split(separator: " ", omittingEmptySubsequences: false)
                    #expect(parts[1] == "3" && books.order(String(parts[0]))?.isOpen == true, "\(row)")
                }
                let last = try #require(rows.last?.split(separator: " "))
                #expect(last[1...] == ["6", "not_routed"] && books.order(String(last[0])) == nil)
                #expect(rows.count == Self.deaths.count + 1 && books.orders.count == Self.deaths.count)
                try await town.readers.verify(books)
            }
        }
    }
}
