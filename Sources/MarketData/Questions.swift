import BinaryFeed

/// What a feed is asked for, and when: a gap at once, whatever stays unanswered again each second, and for the sake of drift every symbol in its turn.
struct Questions: Sendable {
    /// Between two questions about the same symbol: an answer takes a round trip, and a feed in trouble must not be asked to death.
    static let interval: Int64 = 1_000
    /// Symbols asked for one by one; of more the feed is asked for all, with one frame.
    static let oneByOne = 1_000

    private var askedAt: Int64?
    private var rounds: DriftRounds

    init(driftInterval: Int64?) { rounds = DriftRounds(interval: driftInterval) }

    /// A line to ask on is there: everything before is forgotten, and everything asked for.
    mutating func begin(at monotonic: Int64) -> [BinaryFrame] {
        askedAt = monotonic
        rounds.begin(at: monotonic)
        return Self.everything
    }

    private static let everything = [
        BinaryFrame.request(.definitionRequest, of: BinaryFrame.everySymbol), BinaryFrame.request(.snapshotRequest, of: BinaryFrame.everySymbol),
    ]

    /// When to look again, at the latest.
    func due(at monotonic: Int64) -> Int64 { askedAt.map { max(0, $0 + Self.interval - monotonic) } ?? Self.interval }

    /// What has to be asked for now.
    ///
    /// - Parameters:
    ///   - monotonic: milliseconds.
    ///   - symbols: how many places the book has.
    ///   - waiting: the places that wait for a snapshot; called once a second at most.
    mutating func ask(_ intake: inout FrameIntake, symbols: Int, at monotonic: Int64, waiting: () -> [Int]) -> [BinaryFrame] {
        defer { intake.forgetNotes() }
        if intake.hasBegun { return begin(at: monotonic) }
        var frames = intake.gaps.map { BinaryFrame.request(.snapshotRequest, of: $0) }
        guard let askedAt, monotonic - askedAt >= Self.interval else {
            if askedAt == nil { return begin(at: monotonic) }
            return frames
        }
        self.askedAt = monotonic
        if intake.session == nil { return Self.everything }
        let ids = waiting().compactMap { intake.id(at: $0) } + rounds.take(of: symbols, at: monotonic).compactMap { intake.id(at: $0) }
        if ids.count > Self.oneByOne {
            frames.append(.request(.snapshotRequest, of: BinaryFrame.everySymbol))
        } else {
            frames += ids.map { .request(.snapshotRequest, of: $0) }
        }
        if intake.unknown.count == FrameIntake.noteCapacity {
            frames.append(.request(.definitionRequest, of: BinaryFrame.everySymbol))
        } else {
            frames += intake.unknown.map { .request(.definitionRequest, of: $0) }
        }
        return frames
    }
}

/// Which symbols are compared with the feed's own picture now: each once in an interval, a slice at a time, so that many do not come at once.
struct DriftRounds: Sendable {
    /// Milliseconds for all symbols; nil = never.
    private let interval: Int64?
    private var next = 0
    private var takenAt: Int64 = 0

    init(interval: Int64?) { self.interval = interval }

    mutating func begin(at monotonic: Int64) { takenAt = monotonic }

    /// The places whose turn has come since it was last asked.
    mutating func take(of count: Int, at monotonic: Int64) -> [Int] {
        guard let interval, count > 0 else { return [] }
        let elapsed = min(interval, max(0, monotonic - takenAt))
        let share = Int(Int64(count) * elapsed / interval)
        // Time that is not worth a symbol yet is kept.
        if share == 0 { return [] }
        takenAt = monotonic
        let places = (0..<share).map { (next + $0) % count }
        next = (next + share) % count
        return places
    }
}
