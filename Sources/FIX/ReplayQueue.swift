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

    /// What is to be sent next.
    var first: ReplayRange? { ranges.first }

    /// The first range is sent as far as this number.
    mutating func removeFirst(through number: Int) {
        guard let range = ranges.first else { return }
        if number < range.through {
            ranges[0] = ReplayRange(from: number + 1, through: range.through)
        } else {
            ranges.removeFirst()
        }
    }

    mutating func removeAll() { ranges = [] }
}
