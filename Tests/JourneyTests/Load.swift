import ExchangeSimulator
import Foundation
import JourneySupport
import Synchronization
import Testing
import Trading
import Wire

/// Clients that place orders at whichever router serves, each order with the same key until its answer is definite. That is all that a client has to
/// do; what they were told is kept.
final class Load: Sendable {
    struct Told: Sendable {
        /// Order ids of 201 answers.
        var accepted: [IdempotencyKey: String] = [:]
        /// Codes of final refusals.
        var refused: [IdempotencyKey: String] = [:]
        /// Replace requests that were taken: each key's id of the request.
        var replaces: [IdempotencyKey: String] = [:]
        /// Statuses of all answers.
        var statuses: [Int: Int] = [:]
    }

    /// No fault here lasts as long: a client without an answer by then has met one that does not end.
    private static let patience: Duration = .seconds(90)

    private let ports = Mutex<[UInt16]>([])
    private let over = Mutex(false)
    private let told = Mutex(Told())

    func serve(at ports: [UInt16]) { self.ports.withLock { $0 = ports } }

    /// The clients finish what they have begun and end.
    func end() { over.withLock { $0 = true } }

    var now: Told { told.withLock { $0 } }

    /// Waits until so many more orders were accepted.
    func progress(_ count: Int) async throws {
        let begun = now.accepted.count
        try await eventually("\(count) more orders, statuses \(now.statuses)") { self.now.accepted.count >= begun + count }
    }

    /// Runs `body` while each phone trades in so many threads, then waits for the clients' last answers.
    func during(_ town: Town, threads: Int, seed: UInt64, _ mix: Mix = .plain, _ body: @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, phone) in town.phones.enumerated() {
                for thread in 0..<threads {
                    let seed = seed &+ UInt64(number * threads + thread)
                    group.addTask { try await self.trade(phone, seed, mix) }
                }
            }
            do {
                try await body()
            } catch {
                end()
                group.cancelAll()
                throw error
            }
            end()
            try await group.waitForAll()
        }
    }

    private func trade(_ phone: Phone, _ seed: UInt64, _ mix: Mix) async throws {
        var random = SeededGenerator(seed: seed)
        while !over.withLock({ $0 }) {
            let key = Circle.newKey()
            let terms = mix.terms(&random)
            let orderID = try await place(phone, terms, key, &random)
            guard let orderID else { continue }
            let dice = random.next() % 8
            if dice == 0 {
                // Again, as from a client that never read its answer: the same order.
                let again = try await place(phone, terms, key, &random)
                #expect(again == orderID)
            } else if dice == 3, let id = OrderID(orderID) {
                try await replace(phone, id, terms, &random)
            } else if dice < 3, let port = ports.withLock({ $0.randomElement(using: &random) }) {
                _ = try? await phone.send("DELETE", "/v1/trading/orders/\(orderID)", port: port)
            }
        }
    }

    /// Asks for other numbers until the answer is definite, then once more: the same answer.
    private func replace(_ phone: Phone, _ id: OrderID, _ terms: OrderTerms, _ random: inout SeededGenerator) async throws {
        let key = Circle.newKey()
        let wanted = Replacement(
            quantity: Int64(1 + random.next() % 40),
            limitPrice: terms.limitPrice,
            stopPrice: terms.stopPrice
        )
        var first: String?
        for _ in 0..<2 {
            guard let answer = try await definite({ try await phone.replace(id, by: wanted, key: key, port: $0) }, &random) else { return }
            guard answer.status == 202, let replaceID = answer.member("replace_id") else {
                if first != nil { Issue.record("a replace that was taken is answered with \(answer.text)") }
                return
            }
            if let first { #expect(replaceID == first) }
            first = replaceID
            told.withLock { $0.replaces[key] = replaceID }
        }
    }

    /// An answer that says what happened; nil where the request was refused as things stand.
    private func definite(
        _ ask: (UInt16) async throws -> Phone.Answer,
        _ random: inout SeededGenerator
    ) async throws -> Phone.Answer? {
        let giveUpAt = ContinuousClock.now + Self.patience
        while ContinuousClock.now < giveUpAt {
            guard let port = ports.withLock({ $0.randomElement(using: &random) }), let answer = try? await ask(port) else {
                try await Task.sleep(for: .milliseconds(10))
                continue
            }
            #expect(answer.status != 500, "\(answer.text)")
            if answer.status == 202 || answer.member("final") == "true" { return answer }
            if answer.member("outcome") != "unknown" { return nil }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw TimedOut(what: "a definite answer to a replace")
    }

    /// Asks until the answer is definite; nil where the order was refused for good.
    private func place(_ phone: Phone, _ terms: OrderTerms, _ key: IdempotencyKey, _ random: inout SeededGenerator) async throws -> String? {
        let giveUpAt = ContinuousClock.now + Self.patience
        while ContinuousClock.now < giveUpAt {
            guard let port = ports.withLock({ $0.randomElement(using: &random) }), let answer = try? await phone.place(terms, key: key, port: port)
            else {
                // Nobody serves: a client waits a little, as this one does.
                try await Task.sleep(for: .milliseconds(10))
                continue
            }
            #expect(answer.status != 500, "\(answer.text)")
            told.withLock { $0.statuses[answer.status, default: 0] += 1 }
            if answer.status == 201, let orderID = answer.member("order_id") {
                told.withLock { $0.accepted[key] = orderID }
                return orderID
            }
            if answer.member("final") == "true" {
                told.withLock { $0.refused[key] = answer.member("code") }
                return nil
            }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw TimedOut(what: "a definite answer to \(key)")
    }

    /// Every order that a client was told of exists, and none that was refused; the venue saw none twice; the ledger is whole.
    func verify(_ town: Town) async throws {
        try await town.quiet()
        let stored = Set(try await town.texts("SELECT order_id FROM orders"))
        let told = now
        #expect(told.accepted.count > 10)
        #expect(Set(told.accepted.values).isSubset(of: stored))
        #expect(Set(told.accepted.values).count == told.accepted.count)
        #expect(Set(told.accepted.keys).isDisjoint(with: told.refused.keys))
        let keys = Set(try await town.texts("SELECT key::text FROM orders"))
        #expect(keys.isDisjoint(with: told.refused.keys.map { String(describing: $0) }))
        #expect(Set(told.replaces.values).count == told.replaces.count)
        let requested = Set(try await town.texts("SELECT key::text FROM idempotency_keys WHERE outcome = 4"))
        #expect(Set(told.replaces.keys.map { String(describing: $0) }).isSubset(of: requested))
        for id in stored where town.venue.ordersSeen(id) > 1 { Issue.record("\(id) came to the venue \(town.venue.ordersSeen(id)) times") }
        try await town.verify()
    }
}

/// What the clients ask for.
struct Mix: Sendable {
    let terms: @Sendable (inout SeededGenerator) -> OrderTerms

    /// Orders that fill, rest or are filled in parts.
    static let plain = Mix { random in
        let quantity = Int64(1 + random.next() % 20)
        let symbol = random.next() % 5 == 0 ? "NVDA.PART" : "NVDA"
        switch random.next() % 4 {
        case 0: return Circle.terms(.buy, quantity, symbol)
        case 1: return Circle.terms(.buy, quantity, symbol, .limit, limit: "120.00")
        case 2: return Circle.terms(.sell, quantity, "NVDA", .limit, limit: "120.00")
        default: return Circle.terms(.buy, quantity, symbol, .limit, limit: "130.00")
        }
    }

    /// Every type, every time in force, every scenario. A venue that breaks the line over each such order would do nothing else: it is rare.
    static let everything = Mix { random in
        let quantity = Int64(1 + random.next() % 20)
        let side: Side = random.next() % 3 == 0 ? .sell : .buy
        let scenarios = ["", "", "", "", ".PART", ".DUP", ".LATE", ".REJ", ".OVER", ".GAP", ".LATEFILL", ".NOCXL", ".MUTE"]
        var symbol = side == .sell ? "NVDA" : "NVDA" + scenarios.randomElement(using: &random)!
        if random.next() % 60 == 0, side == .buy { symbol = "NVDA.DROP" }
        let timeInForce = TimeInForce.allCases.randomElement(using: &random)!
        let near = side == .buy ? "127.00" : "124.00"
        switch random.next() % 5 {
        case 0: return Circle.terms(side, quantity, symbol, .market, timeInForce)
        case 1: return Circle.terms(side, quantity, symbol, .limit, timeInForce, limit: near)
        case 2: return Circle.terms(side, quantity, symbol, .limit, timeInForce, limit: side == .buy ? "123.00" : "128.00")
        case 3: return Circle.terms(side, quantity, symbol, .stop, timeInForce, stop: side == .buy ? "126.00" : "125.00")
        default:
            return Circle.terms(side, quantity, symbol, .stopLimit, timeInForce, limit: near, stop: side == .buy ? "126.00" : "125.00")
        }
    }
}
