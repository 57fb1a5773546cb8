import ExchangeSimulator
import Foundation
import JourneySupport
import Synchronization
import Testing

/// What happens in the middle of a fault.
enum Blow: String, CaseIterable, Sendable {
    case nothing
    case router = "kill -9 of the router"
    case simulator = "kill -9 of the simulator"
}

extension Faults {
    /// Each scenario of the simulator, times each kill in its middle: a cell. The router and the venue are processes of their own; scenarios run in groups,
    /// a phone for each, which places and cancels orders until the blow has come, and one more afterwards.
    ///
    /// `SEED` replays the moments, `ORDER_ROUTER_TEST_MATRIX_GROUP` says how many scenarios share a blow (1 = each has its own),
    /// `ORDER_ROUTER_TEST_MATRIX_ROUNDS` how often each group gets it.
    @Suite struct `Each fault of the venue` {
        @Test(arguments: Blow.allCases)
        func `loses, doubles and misbooks nothing, whoever is killed in its middle`(_ blow: Blow) async throws {
            let seed = setting("SEED").map { UInt64($0) } ?? UInt64.random(in: 1...1_000_000)
            print("SEED=\(seed)")
            let begun = ContinuousClock.now
            let town = try await Town(accounts: Scenario.allCases.count)
            let matrix = try FaultMatrix(town, blow, seed: seed)
            defer { matrix.removeState() }
            let cells = try await town.run(collecting: { town in
                let size = setting("ORDER_ROUTER_TEST_MATRIX_GROUP") ?? 5
                let count = (Scenario.allCases.count + size - 1) / size
                try await matrix.start()
                for _ in 0..<(setting("ORDER_ROUTER_TEST_MATRIX_ROUNDS") ?? 1) {
                    // Neighbours in the list do the same kind of harm: they are spread over the groups.
                    for group in 0..<count {
                        try await matrix.run(Scenario.allCases.indices.filter { $0 % count == group })
                    }
                }
                return try await matrix.verify()
            })
            for cell in cells { print("cell \(cell)") }
            let (orders, blows) = matrix.counts
            let took = ContinuousClock.now - begun
            print("matrix with \(blow.rawValue): \(cells.count) cells, \(orders) orders, \(blows) blows, seed \(seed), in \(took)")
            #expect(cells.count == Scenario.allCases.count)
        }

        private func setting(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap { Int($0) } }
    }
}

extension Town {
    fileprivate func run<Result: Sendable>(collecting body: @Sendable (Town) async throws -> Result) async throws -> Result {
        let result = Mutex<Result?>(nil)
        try await run { town in
            let made = try await body(town)
            result.withLock { $0 = made }
        }
        return try #require(result.withLock { $0 })
    }
}
