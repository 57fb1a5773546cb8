import FIX
import Gateway
import HTTPServer
import MarketData
import Postgres
import Quotes
import Storage
import Trading

/// Market data of this router: the board, and what is read beside the feed.
struct Market: Sendable {
    let board: QuoteBoard
    let conditions: Conditions
    let instruments: InstrumentBoard
    let prices: PriceStreams
    private let calendars: MarketCalendars

    /// How often halts are read for the quotes and streams, and pictures noted for delayed tokens: what a halted symbol may go on being shown as alive. Orders
    /// see halts at once.
    private static let interval: Duration = .seconds(1)

    /// Days before a calendar's end from which it is told of: exchanges announce their holidays years ahead, and whoever writes them in has two months.
    private static let calendarNotice = 60

    init(
        _ configuration: Configuration,
        board: QuoteBoard,
        calendars: MarketCalendars,
        trouble: @escaping @Sendable (String) -> Void
    ) {
        self.board = board
        self.calendars = calendars
        instruments = InstrumentBoard(calendars: calendars, quotes: board, trouble: trouble)
        conditions = Conditions(freshness: configuration.freshness, instruments: instruments)
        prices = PriceStreams(board: board, conditions: conditions, window: configuration.priceWindow, loops: configuration.http.streamLoops)
    }

    /// Runs until cancelled.
    func run(_ database: DatabasePool, trouble: @Sendable (String) -> Void) async throws {
        while true {
            board.noteForDelayed()
            do {
                conditions.setHalts(try await database.read { try $0.halts() })
            } catch {
                trouble("halts cannot be read for quotes and streams: \(error)")
            }
            try await Task.sleep(for: Self.interval)
        }
    }

    /// Tells of calendars that end soon.
    func tellEndings(_ log: Log, at now: Int64) {
        for ending in calendars.endings(at: now) where ending.daysLeft < Self.calendarNotice {
            log(
                .warning,
                "calendar_ends",
                ["exchange": "\(ending.exchange)", "last_day": ending.lastDay.description, "days_left": String(ending.daysLeft)]
            )
        }
    }

    /// Sets what is only looked at when somebody asks for metrics.
    func gauge(_ metrics: Metrics, at now: Int64) {
        for ending in calendars.endings(at: now) {
            metrics.set("order_router_calendar_days_left", [("exchange", "\(ending.exchange)")], to: Double(ending.daysLeft))
        }
        let counts = prices.counts
        metrics.set("order_router_price_clients", to: Double(counts.clients))
        metrics.set("order_router_price_events_sent", to: Double(counts.events))
        metrics.set("order_router_price_windows_missed", to: Double(counts.missed))
    }
}

/// Prices as accept trades on them.
struct TradedPrices: QuoteSource {
    let board: QuoteBoard
    let instruments: InstrumentBoard
    let mayTrade: @Sendable () -> Bool

    func listing(of symbol: Symbol) -> Listing? { board.listing(of: symbol) }
    func hours(of symbol: Symbol, at now: Int64) -> MarketHours? { instruments.marketHours(of: symbol, at: now) }
    var isForOrders: Bool { mayTrade() }
}

extension Serve {
    func calendars() throws(UsageError) -> MarketCalendars {
        do {
            return try MarketCalendars.load(configuration.calendars)
        } catch {
            throw UsageError(error.description)
        }
    }

    func recorder(_ database: PostgresOptions, _ market: Market) -> CandleRecorder {
        var observer = RecorderObserver()
        observer.trouble = trouble("record")
        observer.written = { [metrics] in metrics.count("order_router_candles_total", [("outcome", "written")], by: $0) }
        observer.dropped = { [metrics] in metrics.count("order_router_candles_total", [("outcome", "dropped")], by: $0) }
        return CandleRecorder(
            database: database,
            board: market.board,
            instruments: market.instruments,
            keptMilliseconds: configuration.candlesKept,
            observer: observer,
            now: now
        )
    }
}
