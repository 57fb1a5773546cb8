package import Postgres
package import Quotes
import Storage
import Trading

/// What the recorder tells: called on its thread, must not block.
package struct RecorderObserver: Sendable {
    package var trouble: @Sendable (String) -> Void = { _ in }
    /// Candles written, and those that found no room while the database was away.
    package var written: @Sendable (Int) -> Void = { _ in }
    package var dropped: @Sendable (Int) -> Void = { _ in }

    package init() {}
}

/// record: board to candles. Each minute it takes the candles that are over and writes them, all in a few statements; ticks are never written one by one.
/// Several routers write the same minutes, which the database merges. When a regular session is over its minutes are rolled up to the day's candle.
///
/// The board is held for moments only, and a database that is away costs history alone: minutes wait, the oldest are dropped beyond a bound.
package final class CandleRecorder {
    /// After a minute's end: ticks that are still under way from the feed.
    package static let grace: Int64 = 2_000
    /// Rows of one statement.
    static let portion = 5_000
    /// Minutes that wait while the database is away: 25 of 10,000 symbols, some 25 MB.
    package static let bufferLimit = 250_000
    /// Between two tries on a database that failed, ms.
    package static let retryInterval: Int64 = 5_000
    /// Portions of old minutes deleted each minute: twice what 10,000 symbols bring in one.
    static let deletePortions = 4
    /// Between two looks: how late a session's end is noticed.
    private static let interval: Duration = .milliseconds(500)

    let database: Database
    let board: QuoteBoard
    let instruments: any InstrumentSource
    let observer: RecorderObserver
    var days = RecordedDays()
    private let keptMilliseconds: Int64
    private let bufferLimit: Int
    private let now: @Sendable () -> Int64
    /// Oldest first.
    private var waiting: [SeenMinute] = []
    /// Candles of minutes before this one were taken.
    private var takenBefore: Int64 = 0
    private var retryAt: Int64 = 0

    /// - Parameter keptMilliseconds: how long minutes are kept.
    package init(
        database: PostgresOptions,
        board: QuoteBoard,
        instruments: any InstrumentSource,
        keptMilliseconds: Int64,
        bufferLimit: Int = CandleRecorder.bufferLimit,
        observer: RecorderObserver,
        now: @escaping @Sendable () -> Int64
    ) {
        self.database = Database(database)
        self.board = board
        self.instruments = instruments
        self.keptMilliseconds = keptMilliseconds
        self.bufferLimit = bufferLimit
        self.observer = observer
        self.now = now
    }

    /// Runs on a thread of its own until cancelled; then writes what there is, the minute at hand included.
    package func run() async throws {
        while !Task.isCancelled {
            record()
            try? await Task.sleep(for: Self.interval)
        }
        take(before: .max)
        do {
            _ = try flush()
        } catch {
            observer.trouble("the last \(waiting.count) candles are lost: \(error.description)")
            observer.dropped(waiting.count)
        }
        database.drop()
    }

    /// Minutes that wait to be written.
    package var backlog: Int { waiting.count }

    /// One look: takes what is over, writes what waits, and does what a day's begin or end asks for.
    package func record() {
        let now = now()
        let minute = (now - Self.grace) / Candle.millisecondsPerMinute
        let isNewMinute = minute > takenBefore
        if isNewMinute {
            takenBefore = minute
            take(before: minute)
        }
        turnDays(at: now, isNewMinute: isNewMinute)
        guard now >= retryAt else { return }
        do {
            if let oldest = try flush() { days.expectRollUps(ofMinutesFrom: oldest, at: now) }
            try restoreDays(at: now)
            try rollUpDays(at: now)
            if isNewMinute { try deleteOld(at: now) }
        } catch {
            observer.trouble("\(waiting.count) candles wait: \(error.description)")
            database.drop()
            retryAt = now + Self.retryInterval
        }
    }

    private func take(before minute: Int64) {
        let (taken, symbols) = board.keep { ($0.takeCandles(before: minute), $0.symbols) }
        waiting += taken.map { SeenMinute(symbol: symbols[$0.place], candle: $0.candle) }
        let excess = waiting.count - bufferLimit
        guard excess > 0 else { return }
        waiting.removeFirst(excess)
        observer.dropped(excess)
    }

    /// - Returns: the earliest minute that was written; nil of none.
    private func flush() throws(PostgresError) -> Int64? {
        var oldest: Int64?
        while !waiting.isEmpty {
            let portion = Array(waiting.prefix(Self.portion))
            try database.merge(portion)
            // Written: only now they are forgotten. Written twice they are the same.
            waiting.removeFirst(portion.count)
            observer.written(portion.count)
            oldest = portion.map(\.candle.minute).reduce(oldest ?? .max) { min($0, $1) }
        }
        return oldest
    }

    private func deleteOld(at now: Int64) throws(PostgresError) {
        let before = (now - keptMilliseconds) / Candle.millisecondsPerMinute
        for _ in 0..<Self.deletePortions {
            if try database.deleteMinutes(before: before, portion: Int32(Self.portion)) < Self.portion { return }
        }
    }
}
