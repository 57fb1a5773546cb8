import Cryptography
import ExchangeSimulator
import FIX
import Foundation
import JourneySupport
import Storage
import Synchronization
import Testing
import Trading
import Wire

/// One column of the matrix.
final class FaultMatrix: Sendable {
    /// What a phone was told.
    struct Told: Sendable {
        var accepted: [IdempotencyKey: String] = [:]
        var refused: Set<IdempotencyKey> = []
        /// Replace requests that were taken.
        var replaces = 0
    }

    private struct Processes {
        var blows = 0
        var router: RouterProcess?
        var simulator: RouterProcess?
        var random: SeededGenerator
    }

    private let town: Town
    private let blow: Blow
    private let venuePort: UInt16
    private let adminPort: UInt16
    private let state = FileManager.default.temporaryDirectory.appending(path: "order-router-matrix-\(UUID().uuidString)").path
    private let processes: Mutex<Processes>
    private let port = CurrentPort()
    private let told = Mutex<[Int: Told]>([:])
    private let isStruck = Mutex(false)

    /// Longer than a lease and a start on a busy machine.
    private static let patience: Duration = .seconds(90)
    private static let compID = "EXCH-SIM"

    init(_ town: Town, _ blow: Blow, seed: UInt64) throws {
        (self.town, self.blow) = (town, blow)
        venuePort = try Town.freePort()
        adminPort = try Town.freePort()
        processes = Mutex(Processes(random: SeededGenerator(seed: seed &+ UInt64(Blow.allCases.firstIndex(of: blow) ?? 0))))
    }

    /// Orders accepted, and blows dealt.
    var counts: (orders: Int, blows: Int) {
        (told.withLock { $0.values.map(\.accepted.count).reduce(0, +) }, processes.withLock(\.blows))
    }

    func removeState() { try? FileManager.default.removeItem(atPath: state) }

    private func dice(_ range: Range<Int>) -> Int { processes.withLock { Int.random(in: range, using: &$0.random) } }

    // MARK: Who runs

    func start() async throws {
        try startSimulator()
        try await startRouter()
    }

    private func startSimulator() throws {
        let started = try RouterProcess(
            [:],
            arguments: [
                "simulate", "--listen", "127.0.0.1:\(venuePort)", "--comp-id", Self.compID, "--state", state, "--frozen", "--lateness", "300",
                "--admin", "127.0.0.1:\(adminPort)",
            ]
        )
        processes.withLock { $0.simulator = started }
    }

    private func startRouter() async throws {
        let started = try town.router([
            "ORDER_ROUTER_VENUE": "127.0.0.1:\(venuePort)", "ORDER_ROUTER_TARGET_COMP_ID": Self.compID, "ORDER_ROUTER_SILENCE": "500ms",
            "ORDER_ROUTER_ASK_INTERVAL": "200ms",
        ])
        processes.withLock { $0.router = started }
        guard let ready = await started.ready() else { throw TimedOut(what: "a router that serves: \(started.log.suffix(20))") }
        port.set(ready)
    }

    private func strike() async throws {
        switch blow {
        case .nothing: return
        case .router:
            let router = processes.withLock { $0.router }
            port.set(nil)
            router?.signal(SIGKILL)
            await router?.ended()
            try await startRouter()
        case .simulator:
            let simulator = processes.withLock { $0.simulator }
            simulator?.signal(SIGKILL)
            await simulator?.ended()
            try startSimulator()
        }
        processes.withLock { $0.blows += 1 }
    }

    // MARK: One group of cells

    func run(_ cells: [Int]) async throws {
        isStruck.withLock { $0 = false }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for cell in cells {
                group.addTask {
                    var orders = 0
                    var isLast = false
                    // Until the blow has come, and once more.
                    while !isLast {
                        isLast = self.isStruck.withLock { $0 }
                        try await self.trade(cell, orders)
                        orders += 1
                    }
                }
            }
            // The moment of the blow, not a wait for anything.
            try await eventually("an order of each") { cells.allSatisfy { self.told.withLock { $0 }[$0] != nil } }
            try await Task.sleep(for: .milliseconds(dice(0..<250)))
            try await strike()
            isStruck.withLock { $0 = true }
            try await group.waitForAll()
        }
        try await settle()
    }

    /// An order that meets the quote and one that rests, which is replaced every other time, and cancelled.
    private func trade(_ cell: Int, _ round: Int) async throws {
        let symbol = "NVDA." + Scenario.allCases[cell].rawValue
        let quantity = Int64(1 + dice(0..<20))
        let meeting = round % 2 == 0 ? Circle.terms(.buy, quantity, symbol) : Circle.terms(.buy, quantity, symbol, .limit, limit: "126.00")
        _ = try await place(cell, meeting)
        guard let id = try await place(cell, Circle.terms(.buy, quantity, symbol, .limit, limit: "120.00")) else { return }
        if round % 2 == 0 {
            let (key, wanted) = (Circle.newKey(), Replacement(quantity: quantity + 2, limitPrice: Amount("121.00"), stopPrice: nil))
            let taken = try await definite("a replace of \(id)") { [town] port in
                try await town.phones[cell].replace(id, with: wanted, under: key, port: port)
            }
            if taken.status == 202 { told.withLock { $0[cell]?.replaces += 1 } }
        }
        // What becomes of a cancel that fails, the books say.
        if let port = port.now { _ = try? await town.phones[cell].send("DELETE", "/v1/trading/orders/\(id)", port: port) }
    }

    /// With one key until the answer is definite; nil where the order was refused for good.
    private func place(_ cell: Int, _ terms: OrderTerms) async throws -> String? {
        let key = Circle.newKey()
        let answer = try await definite("\(key) for \(terms.symbol)") { [town] port in
            try await town.phones[cell].place(terms, key: key, port: port)
        }
        guard answer.status == 201, let id = answer.member("order_id") else {
            told.withLock { _ = $0[cell, default: Told()].refused.insert(key) }
            return nil
        }
        told.withLock { $0[cell, default: Told()].accepted[key] = id }
        return id
    }

    /// Asks again and again until it is accepted, or refused for good, or the order has ended.
    private func definite(_ what: String, _ ask: @Sendable (UInt16) async throws -> Phone.Answer) async throws -> Phone.Answer {
        let giveUpAt = ContinuousClock.now + Self.patience
        while ContinuousClock.now < giveUpAt {
            guard let port = port.now, let answer = try? await ask(port) else {
                try await Task.sleep(for: .milliseconds(10))
                continue
            }
            #expect(answer.status != 500, "\(answer.text)")
            if (201...202).contains(answer.status) || answer.member("final") == "true" || answer.member("code") == "order_not_open" { return answer }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw TimedOut(what: "a definite answer to \(what)")
    }

    /// Waits until nothing is under way: what the venue withholds is released, for a cancel of it waits for its answer.
    private func settle() async throws {
        let last = Mutex<[String]>([])
        do {
            try await eventually("the end of orders under way") { [self] in
                _ = try? await Phone.exchange("POST", "/release", port: adminPort)
                let under = try await town.texts(Self.underWay)
                last.withLock { $0 = under }
                return under.isEmpty
            }
        } catch is TimedOut {
            throw TimedOut(what: "the end of orders under way: \(last.withLock { $0.prefix(8) })")
        }
    }

    private static let underWay = """
        SELECT order_id || ' ' || symbol || ' ' || status || ' ' || cancel_pending || ' ' || COALESCE(reason, '') FROM orders
        WHERE status IN (1, 2, 9) OR cancel_pending OR new_quantity IS NOT NULL
        UNION ALL SELECT 'inbox ' || s.shard FROM shards s JOIN inbox i ON i.shard = s.shard AND i.inbox_id > s.settled_inbox
        """
}

// MARK: What must hold

extension FaultMatrix {
    /// The simulator's own books, opened here once its process has ended; it goes on serving, so that what it has still to say is said.
    func verify() async throws -> [String] {
        let simulator = processes.withLock { $0.simulator }
        simulator?.signal(SIGTERM)
        await simulator?.ended()
        var configuration = SimulatedVenue.Configuration()
        configuration.compID = Self.compID
        configuration.port = venuePort
        configuration.stateDirectory = state
        configuration.frozen = true
        let venue = try SimulatedVenue(configuration, log: { _ in })
        _ = try venue.start()
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await venue.run() }
            // Parts that are still to be filled come with its ticks.
            try await eventually("the venue's last word") { [self] in
                try venue.releaseWithheld()
                let isOver = venue.orders.allSatisfy { !$0.isOpen || $0.symbol != "NVDA.PART" || $0.limitPrice == Amount("120.00") }
                guard isOver, venue.waitingReports(to: "ORDERS").isEmpty else { return false }
                return try await missing(venue).isEmpty
            }
            try await settle()
            let cells = try await examine(venue)
            try await town.readers.verify(venue)
            let router = processes.withLock { $0.router }
            router?.signal(SIGTERM)
            await router?.ended()
            group.cancelAll()
            try await group.waitForAll()
            return cells
        }
    }

    /// Executions of the venue that are not in our books, by ExecID, quantity and price.
    private func missing(_ venue: SimulatedVenue) async throws -> Set<String> {
        Set(fills(venue).values.flatMap { $0 }).subtracting(try await booked().values.flatMap { $0 })
    }

    /// By OrderID of the venue.
    private func fills(_ venue: SimulatedVenue) -> [String: Set<String>] {
        let reports = venue.sentReports(to: "ORDERS").filter { $0.string(.execType) == "F" }
        return Dictionary(grouping: reports) { $0.string(.orderID) ?? "" }.mapValues { reports in
            Set(reports.map { "\($0.string(.execID) ?? "") \($0.int(.lastQty) ?? 0) \($0.string(.lastPx).flatMap { Amount($0) }?.units ?? 0)" })
        }
    }

    /// By our order id.
    private func booked() async throws -> [String: Set<String>] {
        let rows = try await town.texts("SELECT order_id || '|' || exec_id || ' ' || quantity || ' ' || price FROM executions WHERE kind IS NULL")
        let pairs = rows.map { $0.split(separator: "|").map(String.init) }
        return Dictionary(grouping: pairs) { $0[0] }.mapValues { Set($0.map { $0[1] }) }
    }

    /// An order as our books have it.
    private struct Ours {
        let key: String
        let status: OrderStatus
        let quantity: Int64
        let filled: Int64
        let value: Int64
        let held: Int64
        let reason: String
    }

    private func ours() async throws -> [String: Ours] {
        let columns = ["order_id", "key", "status", "quantity", "filled_quantity", "filled_value", "held", "COALESCE(reason, '')"]
        let rows = try await town.texts("SELECT " + columns.joined(separator: " || '|' || ") + " FROM orders")
        var orders: [String: Ours] = [:]
        for row in rows {
            let parts = row.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
            let numbers = parts[2...6].compactMap { Int64($0) }
            try #require(numbers.count == 5, "\(row)")
            let status = try #require(OrderStatus(rawValue: Int16(numbers[0])))
            orders[parts[0]] = Ours(
                key: parts[1],
                status: status,
                quantity: numbers[1],
                filled: numbers[2],
                value: numbers[3],
                held: numbers[4],
                reason: parts[7]
            )
        }
        return orders
    }

    /// One line for each cell; what does not hold is an issue.
    private func examine(_ venue: SimulatedVenue) async throws -> [String] {
        let orders = try await ours()
        let (fills, booked, told) = (fills(venue), try await booked(), told.withLock { $0 })
        #expect(Set(booked.keys).isSubset(of: orders.keys))
        for order in venue.orders { #expect(orders[order.clOrdID] != nil, "the venue has \(order.clOrdID), which we have not") }
        #expect(Set(orders.keys) == Set(told.values.flatMap(\.accepted.values)), "an order for each key that was accepted, and no other")
        return Scenario.allCases.indices.map { cell in
            let (scenario, told) = (Scenario.allCases[cell], told[cell] ?? Told())
            var (ended, open, filled) = (0, 0, 0)
            for (key, id) in told.accepted {
                guard let order = orders[id] else { continue }
                let atVenue = venue.order(id)
                #expect(order.key == "\(key)", "\(id)")
                #expect(atVenue.map { fills[$0.orderID] ?? [] } ?? [] == booked[id] ?? [], "\(scenario) \(id)")
                if order.status.isOpen { open += 1 } else { ended += 1 }
                #expect(order.status.isOpen == (order.held > 0), "\(scenario) \(id)")
                filled += (booked[id] ?? []).count
                let sums: [Int64] = atVenue.map { [$0.cumQty, $0.turnover.units] } ?? [0, 0]
                #expect([order.filled, order.value] == sums, "\(scenario) \(id)")
                if let atVenue, order.status.isOpen { #expect(order.quantity == atVenue.quantity, "\(scenario) \(id)") }
                #expect(
                    agree(order.status, atVenue),
                    "\(scenario) \(id) is \(order.status) (\(order.reason)), at the venue \(atVenue?.status ?? "-")"
                )
            }
            #expect(!told.accepted.isEmpty && Set(told.accepted.keys).isDisjoint(with: told.refused), "\(scenario)")
            return "\(scenario.rawValue) × \(blow.rawValue): \(told.accepted.count) orders, \(told.replaces) replaces, \(filled) fills, "
                + "\(ended) ended, \(open) open"
        }
    }

    /// What we say of an order is what the venue says; one that it does not have is cancelled here.
    private func agree(_ status: OrderStatus, _ order: ExchangeOrder?) -> Bool {
        switch order?.status {
        case "0": status == .working
        case "1": status == .partiallyFilled
        case "2": status == .filled
        // A fill after the cancel may complete it: filled takes precedence over cancelled (FIX 4.4 volume 4, order state precedence).
        case "4": status == (order.map { $0.cumQty >= $0.quantity } == true ? .filled : .cancelled)
        case "8": status == .rejected
        default: status == .cancelled || status == .rejected
        }
    }
}

extension Phone {
    /// Asks for another quantity and limit price, signed at this moment.
    fileprivate func replace(_ order: String, with terms: Replacement, under orderKey: IdempotencyKey, port: UInt16) async throws -> Answer {
        let (id, now) = (try #require(OrderID(order)), Town.now())
        func request(_ signature: [UInt8]) -> ReplaceOrderRequest {
            let signed = SignedHeaders(key: orderKey, signature: signature, credentialID: nil, clientTimestamp: now, quoteReference: now)
            return ReplaceOrderRequest(account: account, orderID: id, terms: terms, signed: signed)
        }
        let signature = try key.sign(SignedForm.replaceWithFingerprintText(request([])).form)
        let headers = [
            PlaceOrderHeaders.Name.idempotencyKey: orderKey.description, PlaceOrderHeaders.Name.clientTimestamp: String(now),
            PlaceOrderHeaders.Name.quoteReferenceTimestamp: String(now),
            PlaceOrderHeaders.Name.signature: Data(signature).base64EncodedString(),
        ]
        let body = #"{"quantity":\#(terms.quantity),"limit_price":\#(terms.limitPrice?.description ?? "null")}"#
        return try await send("PATCH", "\(OrderPath.orders)/\(order)", port: port, headers: headers, body: Array(body.utf8))
    }
}
