import Foundation
import Postgres
import Storage

extension Command {
    static let bench = Command(
        "bench",
        "Runs a PostgreSQL, a venue and a router of its own and measures them: closed and open loops, the hot account, duplicates, the usual way and the floor.",
        flags: [
            Flag("quick", "Short runs, open loops at one rate alone: an impression within 90 s."),
            Flag("phases", "list", .optional, "Only these: \(Bench.Part.allCases.map(\.rawValue).joined(separator: ", "))."),
            Flag("out", "folder", .optional, "Where the dated JSON and table go; .bench without it."),
            Flag("accounts", "n", .optional, "How many trade; 200 without it."),
            Flag("connections", "n", .optional, "Of closed loops; 256 without it."),
            Flag("migrations", "folder", .optional, "The router's migrations; migrations without it."),
            Flag("soak", "time", .optional, "In place of all that: one run of the whole circle for so long, with memory and tables every 30 s."),
            Flag("rate", "n", .optional, "Orders a second of the soak; 2000 without it."),
        ],
        details: "Run it as scripts/bench, which builds the programs. It fails where the ledger does not hold, never for a figure."
    ) { arguments in
        let parts = try arguments.parsed("phases", "a list of \(Bench.Part.allCases.map(\.rawValue).joined(separator: ", "))") { text in
            let parts = text.split(separator: ",").map { Bench.Part(rawValue: String($0)) }
            return parts.contains { $0 == nil } ? nil : Set(parts.compactMap { $0 })
        }
        let bench = Bench(
            isQuick: arguments.has("quick"),
            parts: parts ?? Set(Bench.Part.allCases),
            accounts: try arguments.number("accounts", 1...10_000) ?? 200,
            connections: try arguments.number("connections", 1...800) ?? 256,
            migrations: arguments.value("migrations") ?? "migrations"
        )
        if let duration = try arguments.time("soak") {
            return try await bench.soak(duration, rate: try arguments.number("rate", 1...100_000) ?? 2_000) ? .ok : .failed
        }
        return try await bench.run(writingTo: arguments.value("out") ?? ".bench") ? .ok : .failed
    }
}

/// All measurements in one go, one after another on the same machine.
struct Bench: Sendable {
    enum Part: String, CaseIterable, Sendable {
        case floor
        case usualWay = "usual-way"
        case closed
        case open
        case hot
        case duplicates
    }

    let isQuick: Bool
    let parts: Set<Part>
    let accounts: Int
    let connections: Int
    let migrations: String

    private var warmUp: Int64 { isQuick ? 1_000_000_000 : 2_000_000_000 }
    private var duration: Int64 { isQuick ? 3_000_000_000 : 10_000_000_000 }
    private var rates: [Int] { isQuick ? [3_000] : [1_000, 3_000, 5_000] }
    private var seconds: Double { Double(duration) / 1e9 }

    /// Before the first run, what a closed loop may reach: so many orders are signed ahead.
    private static let firstGuess = 9_000.0

    /// - Returns: whether every ledger holds and no answer contradicted another.
    func run(writingTo out: String) async throws -> Bool {
        let folder = try Self.newFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var report = try Self.newReport(isQuick: isQuick)
        let cluster = try BenchCluster(in: folder, migrations: migrations)
        report.postgres = try Child.output(cluster.programs + "/postgres", ["--version"]).trimmingCharacters(in: .whitespacesAndNewlines)
        if parts.contains(.floor) { try await measureFloor(&report, cluster, folder) }
        if parts.contains(.usualWay) {
            note("The usual way: six statements an order …")
            report.usualWay = try await UsualWay(cluster: cluster, folder: folder, accounts: accounts).run(seconds: Int(seconds))
        }
        if !parts.isDisjoint(with: [.closed, .open]) { try await measure(restingRuns, "resting", &report, cluster, folder) }
        if !parts.isDisjoint(with: [.closed, .open, .hot, .duplicates]) { try await measure(circleRuns, "circle", &report, cluster, folder) }
        try cluster.stop()
        let path = try report.write(to: out)
        say(report.markdown)
        say("Written to \(path).json and \(path).md.")
        return report.ledgers.allSatisfy(\.failed.isEmpty) && report.phases.allSatisfy { $0.result.holds }
    }

    private func measureFloor(_ report: inout BenchReport, _ cluster: BenchCluster, _ folder: String) async throws {
        note("The floor: verifications, empty requests, the desk alone …")
        let time = isQuick ? 1.0 : 2.0
        report.floor.verification = try await DedicatedThread(name: "floor").run { try Floor.verification(seconds: time) }
        report.floor.emptyPost = try await EmptyPosts(connections: connections, folder: folder).run(seconds: 1.5 * time)
        report.floor.desk = try await DeskAlone(cluster: cluster, folder: folder, accounts: accounts).run(seconds: 2 * time)
    }

    // MARK: Runs of load

    private struct Planned: Sendable {
        let name: String
        let change: @Sendable (inout LoadSettings) -> Void
    }

    private var restingRuns: [Planned] {
        var runs: [Planned] = []
        if parts.contains(.closed) { runs.append(Planned(name: "closed-resting") { $0.isResting = true }) }
        if parts.contains(.open) {
            runs += rates.map { rate in
                Planned(name: "open-\(rate)-resting") {
                    $0.isResting = true
                    $0.pace = .open(rate: Double(rate), isPoisson: true)
                }
            }
        }
        return runs
    }

    private var circleRuns: [Planned] {
        var runs: [Planned] = []
        if parts.contains(.closed) { runs.append(Planned(name: "closed-circle") { _ in }) }
        if parts.contains(.open) {
            runs += rates.map { rate in Planned(name: "open-\(rate)-circle") { $0.pace = .open(rate: Double(rate), isPoisson: true) } }
        }
        if parts.contains(.hot) { runs.append(Planned(name: "hot-account") { $0.hotShare = 0.5 }) }
        if parts.contains(.duplicates) { runs.append(Planned(name: "duplicates") { $0.duplicates = 0.2 }) }
        return runs
    }

    private func measure(_ runs: [Planned], _ name: String, _ report: inout BenchReport, _ cluster: BenchCluster, _ folder: String) async throws {
        if runs.isEmpty { return }
        let town = try await BenchTown(name, cluster, folder: "\(folder)/\(name)", accounts: accounts)
        let thread = DedicatedThread(name: "load")
        var rate = Self.firstGuess
        do {
            for (number, planned) in runs.enumerated() {
                note("\(planned.name) …")
                let settings = try self.settings(planned, town, cluster, number, expecting: rate)
                let result = try await thread.run { try Run(settings).perform() }
                note(result.table)
                // The next closed loop will not be twice as fast.
                if case .closed = settings.pace { rate = max(2_000, result.acceptedPerSecond * 1.5) }
                report.phases.append(BenchReport.Phase(name: planned.name, result: result))
            }
            note("verify-ledger of \(name) …")
            let checks = try await thread.run { try town.verify() }
            report.ledgers.append(BenchReport.Verified(database: name, checks: checks.count, failed: checks.filter { !$0.holds }.map(\.name)))
        } catch {
            await town.stop()
            throw error
        }
        await town.stop()
    }

    /// All is signed before a run begins: then the signer takes nothing from what is measured.
    private func settings(
        _ planned: Planned,
        _ town: BenchTown,
        _ cluster: BenchCluster,
        _ number: Int,
        expecting rate: Double
    ) throws -> LoadSettings {
        var settings = LoadSettings()
        settings.port = town.port
        settings.traders = town.traders
        settings.connections = connections
        settings.receipts = town.receipts
        settings.watched = town.watched + [try cluster.process]
        settings.warmUp = warmUp
        settings.duration = duration
        settings.seed = UInt64(number + 1)
        planned.change(&settings)
        let time = Double(warmUp + duration) / 1e9
        // Arrivals of a seed differ from their mean by a few in a hundred at most.
        if case .open(let rate, _) = settings.pace { settings.orders = Int(rate * time * 1.05) } else { settings.orders = Int(rate * time) }
        settings.ahead = settings.orders ?? settings.ahead
        return settings
    }

    // MARK: Surroundings

    /// In /var/tmp, where the user postgres may go and which lies on a disk: /tmp may be memory, and then a commit costs nothing.
    static func newFolder() throws -> String {
        let folder = "/var/tmp/order-router-bench-\(UUID().uuidString.prefix(8).lowercased())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return folder
    }

    private static func newReport(isQuick: Bool) throws -> BenchReport {
        // What is not committed is said.
        let describe = ["git", "describe", "--always", "--dirty", "--exclude", "*"]
        let commit = (try? Child.output("/usr/bin/env", describe).trimmingCharacters(in: .whitespacesAndNewlines)) ?? "unknown"
        let settings =
            BenchCluster.settings.map { BenchReport.Setting(name: $0.name, value: $0.value, why: $0.why) }
            + BenchTown.routerSettings.map { BenchReport.Setting(name: "router --" + $0.flag, value: $0.value, why: $0.why) }
        return BenchReport(date: Date().formatted(.iso8601), commit: commit, machine: .this(), settings: settings, isQuick: isQuick)
    }
}
