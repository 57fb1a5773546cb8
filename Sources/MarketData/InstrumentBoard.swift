import Foundation
package import Quotes
package import Storage
import Synchronization
package import Trading

/// What this router knows of its instruments: the operator's table, read again each minute, the symbols of the feed that nobody has named, and the
/// calendars of their exchanges.
package final class InstrumentBoard: InstrumentSource {
    private struct State {
        /// As in the table.
        var listed: [Instrument] = []
        /// Symbols of the feed when the index was made.
        var feedSymbols = 0
        var bySymbol: [Symbol: Instrument] = [:]
        var index = InstrumentIndex([])
        /// By exchange, until they change.
        var hours: [ExchangeCode?: MarketHours] = [:]
        /// Exchanges without a calendar that were told of.
        var strange: Set<ExchangeCode> = []
    }

    /// Between two looks at the table: an operator waits so long at most until what was loaded shows.
    private static let readInterval: Duration = .seconds(60)
    /// Between two looks whether the feed has brought new symbols.
    private static let lookInterval: Duration = .seconds(1)

    private let calendars: MarketCalendars
    private let quotes: QuoteBoard
    private let trouble: @Sendable (String) -> Void
    private let state = Mutex(State())

    /// - Parameter trouble: told of exchanges that have no calendar, and of a table that cannot be read.
    package init(calendars: MarketCalendars, quotes: QuoteBoard, trouble: @escaping @Sendable (String) -> Void) {
        self.calendars = calendars
        self.quotes = quotes
        self.trouble = trouble
    }

    // MARK: Answers

    package func instrument(of symbol: Symbol) -> Instrument? {
        if let known = state.withLock({ $0.bySymbol[symbol] }) { return known }
        return quotes.read { $0.place(of: symbol) } == nil ? nil : Instrument(unnamed: symbol)
    }

    package func calendar(of symbol: Symbol) -> MarketCalendar { calendar(state.withLock { $0.bySymbol[symbol]?.exchange }) }

    private func calendar(_ exchange: ExchangeCode?) -> MarketCalendar { exchange.flatMap { calendars[$0] } ?? .alwaysOpen }

    package func marketHours(of symbol: Symbol, at now: Int64) -> MarketHours {
        let (exchange, kept) = state.withLock { state in
            let exchange = state.bySymbol[symbol]?.exchange
            return (exchange, state.hours[exchange])
        }
        if let kept, kept.from <= now, now < kept.until { return kept }
        let hours = calendar(exchange).hours(at: now)
        state.withLock { $0.hours[exchange] = hours }
        return hours
    }

    package func instruments(matching query: String, limit: Int) -> [Instrument] {
        // The index is a value: it is searched outside of the lock.
        state.withLock { $0.index }.matches(query, limit: limit)
    }

    // MARK: Keeping it

    /// Reads the table again and again, until cancelled.
    package func run(_ database: DatabasePool) async throws {
        var readDue = ContinuousClock.now + Self.readInterval
        while true {
            try await Task.sleep(for: Self.lookInterval)
            if ContinuousClock.now >= readDue {
                readDue = .now + Self.readInterval
                do {
                    replace(with: try await database.read { try $0.instruments() })
                } catch {
                    if error is CancellationError { throw error }
                    trouble("the instruments cannot be read again: \(error)")
                }
            }
            addUnnamed()
        }
    }

    /// Takes the table as it stands now.
    package func replace(with listed: [Instrument]) {
        guard listed != state.withLock({ $0.listed }) else { return }
        rebuild(listed)
        let strange = Set(listed.compactMap(\.exchange)).filter { calendars[$0] == nil }
        let new = state.withLock { state in
            defer { state.strange = strange }
            return strange.subtracting(state.strange)
        }
        for exchange in new.sorted() { trouble("the exchange \(exchange) has no calendar: it counts as always open; see --calendars") }
    }

    /// Takes symbols in that the feed has brought since.
    package func addUnnamed() {
        let count = quotes.read { $0.symbols.count }
        let (listed, known) = state.withLock { ($0.listed, $0.feedSymbols) }
        if count != known { rebuild(listed) }
    }

    private func rebuild(_ listed: [Instrument]) {
        let symbols = quotes.read { $0.symbols }
        var bySymbol = Dictionary(listed.map { ($0.symbol, $0) }) { $1 }
        for symbol in symbols where bySymbol[symbol] == nil { bySymbol[symbol] = Instrument(unnamed: symbol) }
        let index = InstrumentIndex(Array(bySymbol.values))
        state.withLock { state in
            state.listed = listed
            state.feedSymbols = symbols.count
            state.bySymbol = bySymbol
            state.index = index
        }
    }
}

extension MarketCalendars {
    /// A file that holds no calendars, for whoever wrote it: its name, the line, and what to write there.
    package struct Unreadable: Error, Hashable, Sendable, CustomStringConvertible {
        package let description: String
    }

    /// - Parameter file: nil: the calendars that come with the program.
    package static func load(_ file: String?) throws(Unreadable) -> MarketCalendars {
        let shipped = "exchange-calendars.txt"
        let path = file ?? Bundle.module.path(forResource: "exchange-calendars", ofType: "txt") ?? shipped
        let text: String
        do {
            text = try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            throw Unreadable(description: "the calendars \(path) cannot be read: \(error.localizedDescription)")
        }
        do {
            return try MarketCalendars(text)
        } catch {
            throw Unreadable(description: "\(path), line \(error.line): \(error.message)")
        }
    }
}
