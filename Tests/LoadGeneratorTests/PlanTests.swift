import Cryptography
import Testing
import Trading

@testable import LoadGenerator

@Suite struct `The plan of a load` {
    private let price = OrderPlan.Price(symbol: Symbol("NVDA")!, bid: Amount("125.50")!, ask: Amount("125.52")!)

    private func plan(_ change: (inout LoadSettings) -> Void) throws -> [OrderPlan.Planned] {
        var settings = LoadSettings()
        let key = try P256PrivateKey()
        settings.traders = (0..<10).map { Trader(account: AccountID("acc_\($0)")!, credential: "c", token: "t", key: key) }
        change(&settings)
        var plan = OrderPlan(settings)
        return (0..<2_000).map { _ in plan.next([price]) }
    }

    @Test func `is the same for the same seed`() throws {
        let (first, second, other) = (try plan { _ in }, try plan { _ in }, try plan { $0.seed = 2 })
        #expect(first.map(\.terms) == second.map(\.terms))
        #expect(first.map(\.terms) != other.map(\.terms))
    }

    @Test func `sends its share through the hot account`() throws {
        let hot = try plan { $0.hotShare = 0.5 }.count { $0.trader == 0 }
        #expect((1_000...1_200).contains(hot))
    }

    @Test func `meets the quote on both sides, within the collar`() throws {
        for planned in try plan({ _ in }) {
            let limit = try #require(planned.terms.limitPrice)
            #expect(planned.terms.side == .buy ? limit > price.ask : limit < price.bid)
            #expect(abs(limit.units - price.ask.units) < price.ask.units / 20)
            #expect(limit.units % 100 == 0)
        }
    }

    @Test func `rests where nothing fills and no collar is`() throws {
        for planned in try plan({ $0.isResting = true }) {
            let limit = try #require(planned.terms.limitPrice)
            #expect(planned.terms.side == .buy ? limit.units < price.bid.units / 10 * 6 : limit > price.ask)
        }
    }

    @Test func `draws every refusal with what must be answered`() throws {
        let plan = try plan { $0.refusals = 0.3 }
        for expected in OrderPlan.Expected.allCases { #expect(plan.count { $0.expected == expected } > 100) }
        for planned in plan where planned.expected == .priceCollar {
            let limit = try #require(planned.terms.limitPrice)
            #expect(planned.terms.side == .buy ? limit.units > price.ask.units / 10 * 11 : limit.units < price.bid.units / 10 * 9)
        }
    }

    @Test(arguments: [true, false])
    func `lets orders arrive at their rate`(_ isPoisson: Bool) {
        var arrivals = Arrivals(rate: 1_000, isPoisson: isPoisson, seed: 3)
        let times = (0..<10_000).map { _ in arrivals.next() }
        #expect(times == times.sorted())
        // Ten seconds, give or take three standard deviations of the sum.
        #expect(abs(times[9_999] - 10_000_000_000) < 300_000_000)
        let gaps = Set(zip(times, times.dropFirst()).map { $1 - $0 })
        #expect(isPoisson ? gaps.count > 1_000 : gaps.count <= 2)
    }
}

@Suite struct `The command line of the load generator` {
    @Test func `names what is wrong`() throws {
        let command = Command.run
        #expect(throws: UsageError.self) { try Arguments(["--directory"], of: command) }
        #expect(throws: UsageError.self) { try Arguments(["--unknown", "1"], of: command) }
        #expect(throws: UsageError.self) { try Arguments(["--connections", "2"], of: command) }
        let arguments = try Arguments(["--directory=d", "--duration", "2m", "--hot-share", "1.5", "--resting"], of: command)
        #expect(try arguments.time("duration") == 120_000_000_000)
        #expect(throws: UsageError.self) { try arguments.share("hot-share") }
        #expect(arguments.has("resting") && arguments.value("directory") == "d")
    }

    @Test func `shows every flag in its help`() {
        for command in LoadGeneratorCommand.all {
            let help = Help.text(command)
            for flag in command.flags { #expect(help.contains("--\(flag.name)")) }
        }
    }

    @Test func `reads which process to watch`() {
        #expect(WatchedProcess("router=12") == WatchedProcess("router", 12))
        for text in ["router", "router=", "router=-1", "shell=12", "router=1=2"] { #expect(WatchedProcess(text) == nil) }
    }

    @Test func `reads batch sizes of a router's metrics`() {
        let text =
            "order_router_batch_size_bucket{leg=\"accept\",le=\"1\"} 3\norder_router_batch_size_sum{leg=\"accept\"} 120.0\norder_router_batch_size_count{leg=\"accept\"} 8\n"
        #expect(BatchCount.read(text)["accept"]?.mean == 15)
    }
}
