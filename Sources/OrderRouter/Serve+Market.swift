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

    /// How often halts are read for the quotes and streams, and pictures noted for delayed tokens: what a halted symbol may go on being shown as alive. Orders
    /// see halts at once.
    private static let interval: Duration = .seconds(1)

    init(
        _ configuration: Configuration,
        board: QuoteBoard,
        calendars: MarketCalendars,
        trouble: @escaping @Sendable (String) -> Void
    ) {
        self.board = board
        instruments = InstrumentBoard(calendars: calendars, quotes: board, trouble: trouble)
        conditions = Conditions(freshness: configuration.freshness, instruments: instruments)
        prices = PriceStreams(board: board, conditions: conditions, window: configuration.priceWindow, loops: configuration.http.streamLoops)
    }

    /// Runs until cancelled.
    func run(_ readers: Readers, trouble: @Sendable (String) -> Void) async throws {
        while true {
            board.noteForDelayed()
            do {
                conditions.setHalts(try await readers.read { try $0.halts() })
            } catch {
                trouble("halts cannot be read for quotes and streams: \(error)")
            }
            try await Task.sleep(for: Self.interval)
        }
    }

    /// Sets what is only looked at when somebody asks for metrics.
    func gauge(_ metrics: Metrics) {
        let counts = prices.counts
        metrics.set("order_router_price_clients", to: Double(counts.clients))
        metrics.set("order_router_price_events_sent", to: Double(counts.events))
        metrics.set("order_router_price_windows_missed", to: Double(counts.missed))
    }
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
