import ExchangeSimulator
import Foundation
import JourneySupport
import Storage
import TestSupport
import Testing
import Trading

extension Faults {
    /// The whole circle, with all types, all scenarios and all faults, drawn from a seed. `SEED` in the environment replays one;
    /// `ORDER_ROUTER_TEST_SEEDS` and `ORDER_ROUTER_TEST_STEPS` make it longer.
    @Suite struct `A journey` {
        private static func setting(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap { Int($0) } }

        private static var seeds: [UInt64] {
            if let given = setting("SEED") { return [UInt64(given)] }
            return (0..<(setting("ORDER_ROUTER_TEST_SEEDS") ?? 3)).map { _ in UInt64.random(in: 1...1_000_000) }
        }

        @Test(arguments: Self.seeds) func `from a seed, with a fault at every step, ends with every order accounted for`(seed: UInt64) async throws {
            print("SEED=\(seed)")
            let begun = ContinuousClock.now
            let town = try await Town(accounts: 4, cash: 10_000_000, shares: 100_000)
            let proxy = try PostgresProxy(to: town.database.url)
            defer { proxy.stop() }
            try await town.run { town in
                let load = Load()
                let chaos = Chaos(town: town, proxy: proxy, load: load, seed: seed)
                try await load.during(town, threads: 2, seed: seed, .everything) {
                    let steps = try await chaos.run(steps: Self.setting("ORDER_ROUTER_TEST_STEPS") ?? 14)
                    print("seed \(seed): \(steps.joined(separator: ", "))")
                }
                try await chaos.calm()
                try await load.verify(town)
                let told = load.now
                print(
                    "seed \(seed): accepted \(told.accepted.count), refused \(told.refused.count), replaced \(told.replaces.count), in \(ContinuousClock.now - begun)"
                )
            }
        }
    }
}

/// Faults, one after the other, each followed by some orders that get through.
private actor Chaos {
    private let town: Town
    private let proxy: PostgresProxy
    private let load: Load
    private var random: SeededGenerator
    private var router: RouterProcess?

    /// Orders that must get through between two faults.
    private static let breath = 8

    init(town: Town, proxy: PostgresProxy, load: Load, seed: UInt64) {
        (self.town, self.proxy, self.load) = (town, proxy, load)
        random = SeededGenerator(seed: seed ^ 0xC4A0_5000)
    }

    /// Returns the names of the faults.
    func run(steps: Int) async throws -> [String] {
        try await start()
        var names: [String] = []
        for _ in 0..<steps {
            try await load.progress(Self.breath)
            names.append(try await fault())
        }
        try await load.progress(Self.breath)
        return names
    }

    /// The venue takes back what it does wrong; what is open ends or rests.
    func calm() async throws {
        town.venue.setMute(false)
        try town.venue.releaseWithheld()
        try quotes(bid: "125.50", ask: "125.52")
    }

    private func start(_ crash: [String: String] = [:]) async throws {
        var settings = ["ORDER_ROUTER_DATABASE_URL": proxy.url, "ORDER_ROUTER_SILENCE": "500ms", "ORDER_ROUTER_ASK_INTERVAL": "200ms"]
        settings.merge(crash) { _, new in new }
        let started = try town.router(settings)
        router = started
        if let port = await started.ready() { load.serve(at: [port]) }
    }

    private func fault() async throws -> String {
        switch random.next() % 12 {
        case 0:
            town.venue.disconnectAll()
            return "disconnect"
        case 1:
            try town.venue.resendLast(Int(1 + random.next() % 40), to: "ORDERS")
            return "reports again"
        case 2:
            try town.venue.replayReports(to: "ORDERS")
            return "all reports again"
        case 3:
            proxy.cutAll()
            return "database lines cut"
        case 4, 5:
            let leg = Faults.`A database`.legs.randomElement(using: &random)!
            let cut = random.next() % 2 == 0 ? PostgresProxy.Cut.beforeServer : .afterServer
            let cuts = proxy.cuts
            proxy.cut(cut, at: leg)
            try await eventually("the cut at \(leg)") { self.proxy.cuts > cuts }
            return "\(leg) cut \(cut)"
        case 6, 7:
            router?.signal(SIGKILL)
            await router?.ended()
            try await start()
            return "kill"
        case 8:
            let step = `A router that is killed`.steps.randomElement(using: &random)!
            router?.signal(SIGTERM)
            await router?.ended()
            try await start(["ORDER_ROUTER_CRASH_AT": "\(step):\(1 + random.next() % 20)"])
            // It may have reached the step before it served.
            try await eventually("the crash at \(step)") { [router] in router?.hasEnded != false }
            try await start()
            return "crash at \(step)"
        case 9:
            town.venue.setMute(true)
            try await load.progress(Self.breath)
            town.venue.setMute(false)
            return "silence"
        case 10: return try await takeBack()
        default:
            try quotes(bid: "124.60", ask: "124.62")
            try quotes(bid: "126.40", ask: "126.42")
            if random.next() % 3 == 0 { try town.venue.endDay() }
            try quotes(bid: "125.50", ask: "125.52")
            return "the market moves"
        }
    }

    /// The venue takes a trade of the last orders back, or corrects it.
    private func takeBack() async throws -> String {
        let ids = try await town.texts("SELECT order_id FROM orders WHERE filled_quantity > 0 ORDER BY created_at DESC LIMIT 20")
        guard let id = ids.randomElement(using: &random), let trade = town.venue.trades(of: id).randomElement(using: &random) else {
            return "no trade"
        }
        if random.next() % 2 == 0 {
            try town.venue.bust(trade.execID)
            return "a trade taken back"
        }
        try town.venue.correct(trade.execID, quantity: max(1, trade.quantity - 1), price: Amount("125.00")!)
        return "a trade corrected"
    }

    private func quotes(bid: String, ask: String) throws { try town.venue.setQuote("NVDA", bid: Amount(bid)!, ask: Amount(ask)!) }
}
