import Foundation
import Glibc

/// What processes have used, from /proc.
struct ProcessUse: Sendable {
    /// Seconds of processor time by name: of PostgreSQL that of all its processes, ended ones too.
    var cpu: [String: Double] = [:]
    /// Bytes: the most that was resident at once (VmHWM).
    var peakMemory: [String: Int] = [:]
    /// Bytes resident now (VmRSS).
    var memory: [String: Int] = [:]

    static func now(_ watched: [WatchedProcess]) throws(LoadFailure) -> ProcessUse {
        var use = ProcessUse()
        for process in watched {
            guard let main = Status(process.id) else { throw LoadFailure("there is no process \(process.id) (\(process.name))") }
            var ticks = main.ticks
            if process.name == "postgres" {
                // The postmaster counts its children once they have ended; those that live are counted one by one.
                ticks += main.childTicks
                for child in children(of: process.id) { ticks += Status(child)?.ticks ?? 0 }
            }
            use.cpu[process.name] = Double(ticks) / Double(sysconf(Int32(_SC_CLK_TCK)))
            use.peakMemory[process.name] = memory(process.id, "VmHWM")
            use.memory[process.name] = memory(process.id, "VmRSS")
        }
        return use
    }

    /// Fields of /proc/<pid>/stat (proc(5)).
    private struct Status {
        let parent: Int32
        let ticks: Int
        let childTicks: Int

        init?(_ id: Int32) {
            guard let text = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8), let name = text.lastIndex(of: ")") else { return nil }
            // Behind the name, which may hold anything: state is field 3.
            let fields = text[text.index(after: name)...].split(separator: " ").map { Int($0) ?? 0 }
            guard fields.count > 14 else { return nil }
            parent = Int32(truncatingIfNeeded: fields[1])
            ticks = fields[11] + fields[12]
            childTicks = fields[13] + fields[14]
        }
    }

    private static func children(of parent: Int32) -> [Int32] {
        let entries = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return entries.compactMap { Int32($0) }.filter { Status($0)?.parent == parent }
    }

    private static func memory(_ id: Int32, _ field: String) -> Int? {
        guard let text = try? String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix(field + ":") })
        else { return nil }
        return line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) }.map { $0 * 1_024 }
    }
}
