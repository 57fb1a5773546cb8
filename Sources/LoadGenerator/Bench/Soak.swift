import Foundation
import Postgres
import Storage
import Synchronization

extension Bench {
    private static let sampling: Duration = .seconds(30)

    /// What a router and its tables look like at one moment of a soak.
    private struct Sample: Sendable {
        let second: Int
        let memory: Int
        let backlog: Int64
        let tables: [TableSize]
    }

    private final class Samples: Sendable {
        let all = Mutex<[Sample]>([])
    }

    /// One long run of the whole circle at a steady rate.
    ///
    /// - Returns: whether the ledger holds and no answer contradicted another.
    func soak(_ duration: Int64, rate: Int) async throws -> Bool {
        let folder = try Self.newFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let cluster = try BenchCluster(in: folder, migrations: migrations)
        let town = try await BenchTown("soak", cluster, folder: folder + "/soak", accounts: accounts)
        var settings = LoadSettings()
        settings.port = town.port
        settings.traders = town.traders
        settings.connections = connections
        settings.receipts = town.receipts
        settings.watched = town.watched + [try cluster.process]
        settings.duration = duration
        settings.pace = .open(rate: Double(rate), isPoisson: true)
        let (result, samples, checks): (LoadResult, [Sample], [CheckResult])
        do {
            (result, samples) = try await sampled(settings, town)
            checks = try await DedicatedThread(name: "verify").run { try town.verify() }
        } catch {
            await town.stop()
            throw error
        }
        await town.stop()
        try cluster.stop()
        note(result.table)
        say(Self.table(samples))
        for check in checks where !check.holds { say("verify-ledger: \(check.name) does not hold") }
        return result.holds && checks.allSatisfy(\.holds)
    }

    private func sampled(_ settings: LoadSettings, _ town: BenchTown) async throws -> (LoadResult, [Sample]) {
        let begun = MonotonicClock.now
        let samples = Samples()
        return try await withThrowingTaskGroup(of: LoadResult?.self) { group in
            group.addTask { try await DedicatedThread(name: "load").run { try Run(settings).perform() } }
            group.addTask {
                while !Task.isCancelled {
                    let sample = try Self.sample(town, second: Int((MonotonicClock.now - begun) / 1_000_000_000))
                    samples.all.withLock { $0.append(sample) }
                    note("  " + Self.line(sample))
                    do { try await Task.sleep(for: Self.sampling) } catch { break }
                }
                return nil
            }
            var result: LoadResult?
            while let finished = try await group.next() {
                if let finished {
                    result = finished
                    group.cancelAll()
                }
            }
            guard let result else { throw LoadFailure("the run has no result") }
            return (result, samples.all.withLock { $0 })
        }
    }

    private static func sample(_ town: BenchTown, second: Int) throws -> Sample {
        let database = Database(PostgresOptions(url: town.databaseURL))
        defer { database.drop() }
        let backlog = try database.backlog()
        return Sample(
            second: second,
            memory: try ProcessUse.now(town.watched).memory["router"] ?? 0,
            backlog: backlog.unsentRows + backlog.unsettledReports,
            tables: try database.tableSizes()
        )
    }

    private static func line(_ sample: Sample) -> String {
        let tables = sample.tables.filter { $0.bytes >= 1 << 20 }.map { "\($0.name) \($0.bytes >> 20) MB/\($0.deadRows) dead" }
        return "\(sample.second) s: router \(sample.memory >> 20) MB, backlog \(sample.backlog); " + tables.joined(separator: ", ")
    }

    /// First, middle and last sample; the first is past the warm-up where there are enough.
    private static func table(_ samples: [Sample]) -> String {
        guard samples.count >= 3 else { return "Too short for three samples." }
        let chosen = [samples[1], samples[samples.count / 2], samples[samples.count - 1]]
        var text = "| | first | middle | last |\n|---|---|---|---|\n"
        func row(_ name: String, _ values: [String]) { text += "| \(name) | " + values.joined(separator: " | ") + " |\n" }
        row("second", chosen.map { String($0.second) })
        row("router MB", chosen.map { String($0.memory >> 20) })
        row("backlog", chosen.map { String($0.backlog) })
        // Small tables that do not change tell nothing.
        for table in samples[samples.count - 1].tables where table.bytes >= 1 << 20 || table.deadRows > 0 {
            row(
                table.name + " MB / dead rows",
                chosen.map { sample in sample.tables.first { $0.name == table.name }.map { "\($0.bytes >> 20) / \($0.deadRows)" } ?? "" }
            )
        }
        let (first, last) = (Double(chosen[0].memory), Double(chosen[2].memory))
        // A tenth: allocators keep what a burst needed.
        let isFlat = last <= first * 1.1
        return text + "\nThe router's memory is \(isFlat ? "flat" : "NOT flat"): \(Figures.short((last / first - 1) * 100)) % from first to last.\n"
    }
}
