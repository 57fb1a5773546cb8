import ExchangeSimulator
import Foundation
import JourneySupport
import Postgres
import Storage
import Synchronization
import Testing
import Trading
import Wire

/// The port of the router that serves now, for clients that try again until it does.
final class CurrentPort: Sendable {
    private let port = Mutex<UInt16?>(nil)
    let isOver = Mutex(false)

    func set(_ port: UInt16?) { self.port.withLock { $0 = port } }
    var now: UInt16? { port.withLock { $0 } }
}

@Suite(.serialized) struct `A router that is killed` {
    static let steps = [
        "accept-claimed", "accept-committed", "send-numbered", "send-committed", "send-writing", "receive-read", "receive-committed",
        "settle-decided", "settle-committed",
    ]

    /// Orders that each phone places over all rounds.
    private static func trade(_ phone: Phone, seed: UInt64, port: CurrentPort, town: Town) async throws -> [IdempotencyKey: String] {
        var random = SeededGenerator(seed: seed)
        var accepted: [IdempotencyKey: String] = [:]
        while !port.isOver.withLock({ $0 }) {
            let terms = terms(&random)
            let key = Circle.newKey()
            var orderID: String?
            // With the same key until the answer is definite: that is all a client has to do.
            while true {
                guard let now = port.now, let answer = try? await phone.place(terms, key: key, port: now) else {
                    try await Task.sleep(for: .milliseconds(10))
                    continue
                }
                #expect(answer.status != 500, "\(answer.text)")
                if answer.status == 201 {
                    orderID = answer.member("order_id")
                    break
                }
                if answer.member("final") == "true" { break }
                try await Task.sleep(for: .milliseconds(10))
            }
            if let orderID {
                accepted[key] = orderID
                if random.next() % 4 == 0, let now = port.now { _ = try? await phone.send("DELETE", "/v1/trading/orders/\(orderID)", port: now) }
            }
        }
        return accepted
    }

    private static func terms(_ random: inout SeededGenerator) -> OrderTerms {
        let quantity = Int64(1 + random.next() % 20)
        let side: Side = random.next() % 2 == 0 ? .buy : .sell
        let symbol = random.next() % 5 == 0 ? "NVDA.PART" : "NVDA"
        switch random.next() % 3 {
        case 0:
            return OrderTerms(
                symbol: Symbol(symbol)!,
                side: side,
                type: .market,
                timeInForce: .day,
                quantity: quantity,
                limitPrice: nil,
                stopPrice: nil
            )
        // Far enough to rest, near enough for the collar.
        case 1: return Circle.limit(.buy, quantity, "100.00", symbol: symbol)
        default: return Circle.limit(side, quantity, side == .buy ? "130.00" : "120.00", symbol: symbol)
        }
    }

    @Test func `at each named step and at random moments under load loses nothing and doubles nothing`() async throws {
        let seed = ProcessInfo.processInfo.environment["SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 1...1_000_000)
        print("SEED=\(seed)")
        let kills = ProcessInfo.processInfo.environment["ORDER_ROUTER_TEST_KILLS"].flatMap { Int($0) } ?? 20
        // Means that hundreds of kills do not use up: a step that is never reached any more would be waited for in vain.
        let town = try await Town(accounts: 4, cash: 10_000_000_000, shares: 1_000_000_000)
        try await town.run { town in
            var random = SeededGenerator(seed: seed)
            let port = CurrentPort()
            try await withThrowingTaskGroup(of: [IdempotencyKey: String].self) { group in
                for (number, phone) in town.phones.enumerated() {
                    for thread in 0..<3 {
                        let seed = seed &+ UInt64(number * 3 + thread)
                        group.addTask { try await Self.trade(phone, seed: seed, port: port, town: town) }
                    }
                }
                for round in 0..<kills {
                    let step = round < Self.steps.count ? Self.steps[round] : random.next() % 2 == 0 ? Self.steps.randomElement(using: &random) : nil
                    let crash = step.map { ["ORDER_ROUTER_CRASH_AT": "\($0):\(1 + random.next() % 40)"] } ?? [:]
                    let router = try town.router(crash)
                    port.set(await router.ready())
                    if step == nil {
                        try await Task.sleep(for: .milliseconds(Int(50 + random.next() % 600)))
                        router.signal(SIGKILL)
                    }
                    await Self.crash(of: router, at: step)
                    port.set(nil)
                }
                let last = try town.router()
                let served = try #require(await last.ready(), "\(last.log)")
                port.set(served)
                port.isOver.withLock { $0 = true }
                var accepted: [IdempotencyKey: String] = [:]
                for try await more in group { accepted.merge(more) { first, _ in first } }
                try await town.quiet()
                try await Self.check(accepted, town)
                print("kills survived: \(kills), orders acknowledged: \(accepted.count)")
                last.signal(SIGTERM)
                await last.ended()
            }
        }
    }

    /// Waits for the router's end, which a step that is not reached within a minute must not keep waiting.
    private static func crash(of router: RouterProcess, at step: String?) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await router.ended() }
            group.addTask {
                guard (try? await Task.sleep(for: .seconds(60))) != nil else { return }
                Issue.record("\(step ?? "the kill") was not reached")
                router.signal(SIGKILL)
            }
            await group.next()
            group.cancelAll()
        }
    }

    private static func check(_ accepted: [IdempotencyKey: String], _ town: Town) async throws {
        #expect(accepted.count > 10)
        for (_, orderID) in accepted {
            #expect(town.venue.ordersSeen(orderID) <= 1, "\(orderID) was seen twice")
        }
        let stored = try await town.readers.read { database in
            let rows = try database.connection().query("SELECT order_id FROM orders")
            return Set((0..<rows.count).map { rows.text($0, 0) })
        }
        #expect(Set(accepted.values).isSubset(of: stored))
        try await town.verify()
    }
}
