import ExchangeSimulator
import Foundation
import Gateway
import HTTPServer
import Identity
import JourneySupport
import MarketData
import OrderDesk
import Postgres
import Quotes
import Storage
import Synchronization
import TestSupport
import Trading

/// A clock that a test moves: the machine's own, and what was added to it; or one that stands still.
final class MovedClock: Sendable {
    private let stands: Int64?
    private let added = Atomic<Int64>(0)

    init(standingAt stands: Int64? = nil) { self.stands = stands }

    func move(by milliseconds: Int64) { added.add(milliseconds, ordering: .sequentiallyConsistent) }

    var now: Int64 { (stands ?? Town.now()) + added.load(ordering: .sequentiallyConsistent) }
}

/// A board, its instruments and its recorder on a database of their own, by a clock that the test moves.
final class MarketRoom {
    static let calendars = try! MarketCalendars(
        """
        exchange XNYS America/New_York
        hours PRE 04:00-09:30 OPEN 09:30-16:00 POST 16:00-20:00
        closed SAT SUN
        exchange SIM UTC
        hours OPEN 00:00-24:00
        """
    )

    let clock: MovedClock
    let database: TestDatabase
    let board: QuoteBoard
    let instruments: InstrumentBoard
    let recorder: CandleRecorder
    let dropped: Counter
    let troubles: Lines
    private var number: UInt32 = 0

    init(_ clock: MovedClock, database: TestDatabase, listed: [Instrument] = [], bufferLimit: Int = CandleRecorder.bufferLimit) throws {
        self.clock = clock
        self.database = database
        board = QuoteBoard(now: { clock.now })
        instruments = InstrumentBoard(calendars: Self.calendars, quotes: board, trouble: { print("instruments: \($0)") })
        instruments.replace(with: listed)
        var observer = RecorderObserver()
        let (dropped, troubles) = (Counter(), Lines())
        (self.dropped, self.troubles) = (dropped, troubles)
        observer.dropped = { dropped.add($0) }
        observer.trouble = { troubles.add($0) }
        recorder = CandleRecorder(
            database: try database.options,
            board: board,
            instruments: instruments,
            keptMilliseconds: 35 * 86_400_000,
            bufferLimit: bufferLimit,
            observer: observer,
            now: { clock.now }
        )
    }

    final class Counter: Sendable {
        private let count = Atomic<Int>(0)
        func add(_ more: Int) { count.add(more, ordering: .relaxed) }
        var value: Int { count.load(ordering: .relaxed) }
    }

    final class Lines: Sendable {
        private let lines = Mutex<[String]>([])
        func add(_ line: String) { lines.withLock { $0.append(line) } }
        var all: [String] { lines.withLock { $0 } }
    }

    /// A trade at this price, now.
    func trade(_ symbol: Symbol, at price: Int64, volume: Int64) {
        number += 1
        let number = number
        _ = board.update { book, now in
            let tick = Tick(
                place: book.place(adding: symbol),
                kind: .snapshot,
                number: number,
                bid: price,
                ask: price + 100,
                last: price,
                volume: volume
            )
            return book.apply(tick, at: now)
        }
    }

    func day(of symbol: Symbol) -> [Int64] {
        board.listing(of: symbol).map { [$0.day.open, $0.day.high, $0.day.low] } ?? []
    }
}
