package import Trading

/// What a symbol stands for.
package struct Instrument: Hashable, Sendable {
    package let symbol: Symbol
    package let name: String
    /// nil: nobody has told; it counts as always open.
    package let exchange: ExchangeCode?

    /// Longest name, in bytes: the longest of the US exchanges have some 120.
    package static let nameLimitBytes = 200

    package init(symbol: Symbol, name: String, exchange: ExchangeCode?) {
        self.symbol = symbol
        self.name = name
        self.exchange = exchange
    }

    /// A symbol that the feed has and nobody has named.
    package init(unnamed symbol: Symbol) { self.init(symbol: symbol, name: symbol.text, exchange: nil) }
}

/// Where routes and streams look up what a symbol stands for and when its market trades. Costs a look into a dictionary: hours are kept until they change.
package protocol InstrumentSource: Sendable {
    /// nil: neither the operator's table nor the feed has it.
    func instrument(of symbol: Symbol) -> Instrument?
    func calendar(of symbol: Symbol) -> MarketCalendar
    /// By the calendar alone; see `MarketHours.halted(if:)`.
    func marketHours(of symbol: Symbol, at now: Int64) -> MarketHours
    /// The best first.
    func instruments(matching query: String, limit: Int) -> [Instrument]
}

extension InstrumentSource {
    package func marketState(of symbol: Symbol, at now: Int64) -> MarketState { marketHours(of: symbol, at: now).state }

    /// The symbol itself where it has no name.
    package func name(of symbol: Symbol) -> String { instrument(of: symbol)?.name ?? symbol.text }

    package func exchange(of symbol: Symbol) -> ExchangeCode? { instrument(of: symbol)?.exchange }
}
