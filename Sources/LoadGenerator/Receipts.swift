import Foundation

/// When orders came to the venue, as `order-router simulate --receipts` writes it: a line each, ClOrdID and microseconds since the epoch.
struct Receipts {
    private let path: String
    /// Bytes that were read already.
    private var offset: UInt64 = 0

    /// The simulator writes each second.
    private static let pause: TimeInterval = 0.2

    /// - Parameter path: what is in the file already is of an earlier run.
    init(_ path: String) {
        self.path = path
        offset = (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? UInt64) ?? 0
    }

    /// Reads until every accepted order has its receipt, or patience is over (monotonic nanoseconds).
    mutating func join(_ run: LoadRun, until giveUpAt: Int64) throws(LoadFailure) {
        let offsetOfClock = WallClock.offset
        var missing = run.records.count { $0.answeredAt > 0 && $0.receivedAt == 0 }
        while missing > 0 {
            for (digest, microseconds) in try next() {
                guard let order = run.index[digest] else { continue }
                guard run.records[order].receivedAt == 0 else {
                    run.receivedTwice += 1
                    continue
                }
                run.records[order].receivedAt = microseconds * 1_000 - offsetOfClock
                if run.records[order].answeredAt > 0 { missing -= 1 }
            }
            guard missing > 0, MonotonicClock.now < giveUpAt else { return }
            Thread.sleep(forTimeInterval: Self.pause)
        }
    }

    /// What has been written since, whole lines.
    private mutating func next() throws(LoadFailure) -> [(UInt64, Int64)] {
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw LoadFailure("\(path) cannot be read: is it what simulate --receipts writes?")
        }
        let bytes: [UInt8]
        do {
            try file.seek(toOffset: offset)
            bytes = [UInt8](try file.readToEnd() ?? Data())
            try file.close()
        } catch {
            throw LoadFailure("\(path) cannot be read: \(error.localizedDescription)")
        }
        var found: [(UInt64, Int64)] = []
        var line = 0
        for (place, byte) in bytes.enumerated() where byte == 0x0A {
            if let digest = OrderDigest.read(bytes, line, place), place - line > OrderDigest.textCount + 1 {
                let time = bytes[line + OrderDigest.textCount + 1..<place].reduce(Int64(0)) { $0 * 10 + Int64($1) - 0x30 }
                found.append((digest, time))
            }
            line = place + 1
        }
        offset += UInt64(line)
        return found
    }
}
