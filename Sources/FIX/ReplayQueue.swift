/// What the counterparty has asked for again and not been sent yet, in order.
///
/// Bounded, whatever is asked: a range that waits already is not queued twice, and beyond the capacity ranges grow together.
struct ReplayQueue: Sendable {
    private var ranges: [ReplayRange] = []

    /// A counterparty in order asks once at a time; one that asks in small pieces has some under way.
    static let capacity = 16

    var isEmpty: Bool { ranges.isEmpty }

    mutating func add(_ range: ReplayRange) {
        if ranges.contains(where: { $0.from <= range.from && $0.through >= range.through }) { return }
        guard ranges.count >= Self.capacity, let last = ranges.popLast() else { return ranges.append(range) }
        ranges.append(ReplayRange(from: min(last.from, range.from), through: max(last.through, range.through)))
    }

    /// The next part to send: so many numbers at most.
    mutating func next(_ capacity: Int) -> ReplayRange? {
        guard let range = ranges.first else { return nil }
        let part = ReplayRange(from: range.from, through: min(range.through, range.from + capacity - 1))
        if part.through < range.through {
            ranges[0] = ReplayRange(from: part.through + 1, through: range.through)
        } else {
            ranges.removeFirst()
        }
        return part
    }

    mutating func removeAll() { ranges = [] }
}
