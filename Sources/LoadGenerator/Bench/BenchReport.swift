import Foundation

/// Everything that a bench has measured: the dated JSON, and the table for people.
struct BenchReport: Codable, Sendable {
    struct Machine: Codable, Sendable {
        let cores: Int
        let processor: String
        let memoryGB: Int
        let kernel: String
    }

    struct Setting: Codable, Sendable {
        let name: String
        let value: String
        let why: String
    }

    struct Phase: Codable, Sendable {
        let name: String
        let result: LoadResult
    }

    struct Verified: Codable, Sendable {
        let database: String
        let checks: Int
        /// Names of those that do not hold.
        let failed: [String]
    }

    struct FloorFigures: Codable, Sendable {
        /// Microseconds of processor time.
        var verification: Double?
        var emptyPost: EmptyPosts.Result?
        var desk: DeskAlone.Result?
    }

    let date: String
    let commit: String
    let machine: Machine
    var postgres = ""
    var settings: [Setting]
    var isQuick: Bool
    var floor = FloorFigures()
    var usualWay: UsualWay.Result?
    var phases: [Phase] = []
    var ledgers: [Verified] = []

    func phase(_ name: String) -> LoadResult? { phases.first { $0.name == name }?.result }

    /// The file's name without its ending.
    var name: String { "\(date.prefix(10))-\(commit)" }

    func write(to folder: String) throws -> String {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        let path = "\(folder)/\(name)"
        try encoder.encode(self).write(to: URL(filePath: path + ".json"), options: .atomic)
        try Data(markdown.utf8).write(to: URL(filePath: path + ".md"), options: .atomic)
        return path
    }
}

/// A figure that was aimed at.
struct Target: Sendable {
    let name: String
    let wanted: String
    let measured: String
    let isReached: Bool
}

extension BenchReport {
    /// Microseconds of processor time that an order cannot do without: verification, an empty request, and PostgreSQL's part of the desk alone.
    var floorPerOrder: Double? {
        guard let verification = floor.verification, let post = floor.emptyPost?.cpuPerPost, let desk = floor.desk?.postgresPerOrder else {
            return nil
        }
        return verification + post + desk
    }

    /// Only those whose figures were measured.
    var targets: [Target] {
        var targets: [Target] = []
        func aim(_ name: String, _ wanted: String, _ measured: Double?, unit: String = "", _ isReached: (Double) -> Bool) {
            guard let measured else { return }
            targets.append(Target(name: name, wanted: wanted, measured: Figures.short(measured) + unit, isReached: isReached(measured)))
        }
        let resting = phase("closed-resting")
        let circle = phase("closed-circle")
        // What was filled, settled and published, not what was accepted into a backlog.
        let whole = circle.map { min($0.acceptedPerSecond, $0.filledPerSecond) }
        aim("accept alone, closed loop", "≥ 6,000/s", resting?.acceptedPerSecond, unit: "/s") { $0 >= 6_000 }
        aim("whole circle, closed loop", "≥ 4,000/s", whole, unit: "/s") { $0 >= 4_000 }
        let open = phase("open-3000-circle")
        aim("whole circle at 3,000/s: p99 submission → venue", "< 75 ms", open?.toReceipt.p99, unit: " ms") { $0 < 75 }
        aim("whole circle at 3,000/s: p99.9 submission → venue", "< 250 ms", open?.toReceipt.p999, unit: " ms") { $0 < 250 }
        if let usualWay {
            aim("accept alone against the usual way", "≥ 5 ×", resting.map { $0.acceptedPerSecond / usualWay.ordersPerSecond }, unit: " ×") {
                $0 >= 5
            }
        }
        if let floorPerOrder {
            let allowed = Double(machine.cores) * 1e6 / floorPerOrder
            aim("accept alone against what the floor allows", "≥ 60 %", resting.map { $0.acceptedPerSecond / allowed * 100 }, unit: " %") { $0 >= 60 }
        }
        if let verification = floor.verification, let post = floor.emptyPost?.cpuPerPost {
            let ratio = (resting?.cpuPerOrder["router"]).map { $0 / (verification + post) }
            aim("the router's CPU an order against verification + empty POST", "≤ 1.5 ×", ratio, unit: " ×") { $0 <= 1.5 }
        }
        aim("backlog gone after the burst", "≤ 10 s", circle?.lastFillAfter.map { $0 / 1_000 }, unit: " s") { $0 <= 10 }
        let memory = phases.compactMap { $0.result.peakMemory["router"] }.max().map { Double($0) / 1_048_576 }
        aim("the router's peak memory", "< 200 MB", memory, unit: " MB") { $0 < 200 }
        return targets
    }

    var markdown: String {
        var text = "# Benchmark of \(date), commit \(commit)\(isQuick ? ", quick" : "")\n\n"
        text += "\(machine.cores) cores, \(machine.processor), \(machine.memoryGB) GB, \(machine.kernel), \(postgres). "
        text += "Router, PostgreSQL, venue and load share them.\n\n"
        text += Self.table(
            ["target", "wanted", "measured", ""],
            targets.map { [$0.name, $0.wanted, $0.measured, $0.isReached ? "reached" : "not reached"] }
        )
        text += "\n## Runs\n\nTimes in ms from the intended submission; CPU in µs for each accepted order.\n\n"
        text += Self.table(
            [
                "run", "accepted/s", "filled/s", "answer p50", "p99", "p99.9", "max", "venue p50", "p99", "p99.9", "max", "fill p50", "p99", "p99.9",
                "max",
                "last fill after", "router", "postgres", "venue", "load", "router MB", "accept batch", "other answers",
            ],
            phases.map { Self.row($0) }
        )
        text += "\n## Floor and comparison\n\n" + Self.table(["part alone", "figure"], floorRows)
        text += "\n## Ledger\n\n"
        text += Self.table(
            ["database", "checks", ""],
            ledgers.map { [$0.database, String($0.checks), $0.failed.isEmpty ? "all hold" : "FAILED: " + $0.failed.joined(separator: ", ")] }
        )
        text += "\n## Settings\n\n" + Self.table(["setting", "value", "why"], settings.map { [$0.name, $0.value, $0.why] })
        return text
    }

    private static func row(_ phase: Phase) -> [String] {
        let result = phase.result
        func times(_ latency: LoadResult.Latency) -> [String] {
            [latency.p50, latency.p99, latency.p999, latency.max].map { $0.map(Figures.short) ?? "" }
        }
        var others = result.answers.filter { $0.key != "201" }.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        if result.unsent > 0 { others.append("unsent \(result.unsent)") }
        let costs = ["router", "postgres", "venue", "load"].map { result.cpuPerOrder[$0].map(Figures.short) ?? "" }
        let memory = result.peakMemory["router"].map { String($0 >> 20) } ?? ""
        return [phase.name, String(Int(result.acceptedPerSecond)), String(Int(result.filledPerSecond))] + times(result.toAnswer)
            + times(result.toReceipt)
            + times(result.toFill) + [result.lastFillAfter.map { "\(Int($0))" } ?? ""] + costs
            + [memory, result.batchSizes["accept"].map(Figures.short) ?? "", others.joined(separator: ", ")]
    }

    private var floorRows: [[String]] {
        var rows: [[String]] = []
        if let verification = floor.verification {
            rows.append(["P-256 verification", "\(Figures.short(verification)) µs, \(Int(1e6 / verification))/s on one core"])
        }
        if let post = floor.emptyPost {
            rows.append(["empty POST", "\(Int(post.postsPerSecond))/s, \(post.cpuPerPost) µs of the server, \(post.loadPerPost) µs of the load"])
        }
        if let desk = floor.desk {
            rows.append([
                "desk alone",
                "\(Int(desk.ordersPerSecond))/s, \(Int(desk.postgresPerOrder)) µs of PostgreSQL, \(Int(desk.deskPerOrder)) µs of the desk",
            ])
        }
        if let floorPerOrder {
            rows.append([
                "verification + empty POST + PostgreSQL",
                "\(Figures.short(floorPerOrder)) µs: \(Int(Double(machine.cores) * 1e6 / floorPerOrder))/s on all cores",
            ])
        }
        if let usualWay {
            rows.append([
                "the usual way: six statements an order, 16 connections", "\(Int(usualWay.ordersPerSecond))/s, \(usualWay.latencyMilliseconds) ms",
            ])
        }
        return rows
    }

    private static func table(_ head: [String], _ rows: [[String]]) -> String {
        func line(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |\n" }
        return line(head) + line(head.map { _ in "---" }) + rows.map(line).joined()
    }
}

extension BenchReport.Machine {
    static func this() -> BenchReport.Machine {
        let information = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
        let model = information.split(separator: "\n").first { $0.hasPrefix("model name") }?.split(separator: ":").last
        let kernel = (try? String(contentsOfFile: "/proc/sys/kernel/osrelease", encoding: .utf8)) ?? ""
        return BenchReport.Machine(
            cores: ProcessInfo.processInfo.activeProcessorCount,
            processor: model.map { $0.trimmingCharacters(in: .whitespaces) } ?? "unknown processor",
            memoryGB: Int((ProcessInfo.processInfo.physicalMemory + (1 << 29)) >> 30),
            kernel: "Linux " + kernel.trimmingCharacters(in: .whitespacesAndNewlines)
        )
    }
}
