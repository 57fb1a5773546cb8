import BinaryFeed
package import FIX
import Quotes
import Trading

/// A recorded feed, played again: the same frames in the same order, at the pace in which they came or a multiple of it. Times are those
/// of the replay: what was fresh then is fresh again. For tests and for looking at a bad day, never for trading.
package final class RecordedFeed: MarketFeed {
    private let records: [UInt8]
    private let symbols: [String]
    private let speed: Int64
    private let repeats: Bool
    private let board: QuoteBoard
    private let clock: SessionClock
    private let ended: @Sendable (String) -> Void
    package let status = FeedStatus(isReplay: true)

    /// Frames applied under one lock.
    private static let portion = 500

    /// - Parameters:
    ///   - speed: how many times as fast as it was recorded.
    ///   - repeats: begin again at the end, for ever.
    ///   - ended: told of each end.
    /// - Throws: `Recording.Wrong`.
    package init(
        path: String,
        symbols: [String],
        speed: Int,
        repeats: Bool,
        board: QuoteBoard,
        clock: SessionClock,
        ended: @escaping @Sendable (String) -> Void
    ) throws {
        precondition(speed > 0, "A replay goes forward.")
        records = try Recording.read(path)
        self.symbols = symbols
        self.speed = Int64(speed)
        self.repeats = repeats
        self.board = board
        self.clock = clock
        self.ended = ended
    }

    /// Plays until its end, or for ever; then waits to be cancelled.
    package func run() async throws {
        defer { status.setUp(false) }
        repeat {
            status.setUp(true)
            // Its numbers begin again with its first snapshots.
            board.update { book, _ in book.expectSnapshots() }
            var intake = FrameIntake(wanted: symbols == ["*"] ? nil : Set(symbols.compactMap { Symbol($0) }))
            try await play(into: &intake)
            ended("the recorded feed has come to its end after \(intake.counts.received) frames")
        } while repeats && !records.isEmpty
        status.setUp(false)
        while true { try await Task.sleep(for: .seconds(3_600)) }
    }

    private func play(into intake: inout FrameIntake) async throws {
        let begun = clock.monotonic()
        var next = 0
        while next < records.count {
            let played = (clock.monotonic() - begun) * speed
            var end = next
            while end < records.count, end - next < Self.portion * Recording.recordSize, time(at: end) <= played { end += Recording.recordSize }
            if end == next {
                try await Task.sleep(for: .milliseconds(max(1, (time(at: next) - played) / speed)))
                continue
            }
            let frames = next..<end
            var current = intake
            board.update { book, now in
                let bytes = self.frames(frames, at: now)
                current.take(unsafe bytes.span.bytes, into: &book, at: now)
            }
            intake = current
            status.heard(at: clock.monotonic(), intake.counts)
            next = end
        }
    }

    private func time(at record: Int) -> Int64 {
        var time: UInt64 = 0
        for byte in 0..<8 { time |= UInt64(records[record + byte]) << (8 * UInt64(byte)) }
        return Int64(bitPattern: time)
    }

    /// The frames of some records, made now.
    private func frames(_ range: Range<Int>, at now: Int64) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(range.count)
        let records = records
        let all = unsafe records.span.bytes
        for record in stride(from: range.lowerBound, to: range.upperBound, by: Recording.recordSize) {
            var frame = BinaryFrame(all, at: record + 8)
            if frame.ofDay != BinaryFrame.noTime { frame.ofDay = BinaryFrame.ofDay(now) }
            frame.append(to: &bytes)
        }
        return bytes
    }
}
