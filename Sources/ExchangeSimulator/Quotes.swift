package import Trading

/// The best bid and ask of a symbol.
package struct Quote: Hashable, Sendable {
    package let bid: Amount
    package let ask: Amount

    package init(bid: Amount, ask: Amount) {
        precondition(bid.units > 0 && bid < ask, "A quote's bid is above zero and below its ask.")
        self.bid = bid
        self.ask = ask
    }
}

/// The symbols of the venue and where their prices begin, in cents.
package enum Listing {
    static let startCents: [(symbol: String, cents: Int64)] = [
        ("NVDA", 12_550), ("AAPL", 22_710), ("MSFT", 41_560), ("AMZN", 18_640), ("GOOGL", 17_390), ("META", 56_230), ("TSLA", 24_880),
        ("AVGO", 17_120), ("BRK.B", 45_910), ("JPM", 21_340), ("LLY", 89_240), ("V", 28_170), ("UNH", 58_430), ("XOM", 11_780),
        ("MA", 49_350), ("COST", 89_120), ("HD", 39_860), ("PG", 17_240), ("JNJ", 16_150), ("NFLX", 70_910), ("BAC", 4_020),
        ("CRM", 27_330), ("ABBV", 19_480), ("KO", 7_110), ("AMD", 16_440), ("ORCL", 17_030), ("MRK", 11_320), ("PEP", 17_150),
        ("WMT", 8_090), ("DIS", 9_580), ("INTC", 2_290), ("CSCO", 5_320), ("NKE", 8_260), ("BA", 15_570), ("GE", 18_820), ("F", 1_060),
        ("T", 2_190), ("PFE", 2_890), ("UBER", 7_540), ("PLTR", 3_720),
    ]

    /// Symbols whose scenario variants are quoted as well.
    static let withVariants = ["NVDA", "AAPL"]

    /// Everything that a subscription to `*` brings.
    static let all: [String] =
        startCents.map(\.symbol) + withVariants.flatMap { base in Scenario.allCases.map { base + "." + $0.rawValue } }

    /// S00001 and on.
    package static func madeUp(_ number: Int) -> String {
        let digits = String(number)
        return "S" + String(repeating: "0", count: max(0, 5 - digits.count)) + digits
    }

    /// From 10 to 500 dollars, spread evenly.
    static func madeUpQuote(_ number: Int) -> Quote {
        let cents = 1_000 + Int64(number) * 7_919 % 49_000
        return Quote(bid: Amount(units: cents * 100), ask: Amount(units: (cents + 2) * 100))
    }

    static let start: [String: Quote] = Dictionary(
        uniqueKeysWithValues: startCents.map { symbol, cents in
            (symbol, Quote(bid: Amount(units: cents * 100), ask: Amount(units: (cents + 2) * 100)))
        }
    )
}

extension SimulatedVenue {
    /// The symbols without a scenario, and the bids with which they begin.
    package static var startPrices: [(symbol: Symbol, price: Amount)] {
        Listing.startCents.compactMap { text, cents in Symbol(text).map { ($0, Amount(units: cents * 100)) } }
    }
}

/// A seeded random walk: the same seed gives the same prices for ever.
struct QuoteWalk: Sendable {
    private var generator: SeededGenerator

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    /// Moves by at most three cents, two times in three; spread of one to five cents; never below a dollar.
    mutating func next(after quote: Quote) -> Quote? {
        let move = Int64.random(in: -3...3, using: &generator)
        let spread = Int64.random(in: 1...5, using: &generator)
        guard Int.random(in: 0..<3, using: &generator) > 0 else { return nil }
        let bid = max(100, quote.bid.units / 100 + move)
        return Quote(bid: Amount(units: bid * 100), ask: Amount(units: (bid + spread) * 100))
    }
}

/// SplitMix64: the same numbers for the same seed, everywhere.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
