import ExchangeSimulator
import Trading

/// What to send next: drawn from a seed, so that two runs send the same orders but for keys and times.
struct OrderPlan {
    /// What the router must answer.
    enum Expected: UInt8, Sendable, CaseIterable {
        case accepted
        case unknownSymbol
        case priceCollar
        case signatureInvalid

        /// The `code` of the problem.
        var code: String {
            switch self {
            case .accepted: ""
            case .unknownSymbol: "unknown_symbol"
            case .priceCollar: "price_collar"
            case .signatureInvalid: "signature_invalid"
            }
        }
    }

    struct Planned {
        let trader: Int
        let terms: OrderTerms
        let expected: Expected
    }

    /// A symbol's prices when the orders were drawn.
    struct Price: Sendable {
        let symbol: Symbol
        let bid: Amount
        let ask: Amount
    }

    private var random: SeededGenerator
    private let settings: LoadSettings
    /// Nobody lists it.
    private static let unlisted = Symbol("ZZZZ")!

    init(_ settings: LoadSettings) {
        self.settings = settings
        random = SeededGenerator(seed: settings.seed)
    }

    mutating func next(_ prices: [Price]) -> Planned {
        let isHot = chance(settings.hotShare)
        let trader = isHot ? 0 : Int.random(in: 0..<settings.traders.count, using: &random)
        let price = prices[Int.random(in: 0..<prices.count, using: &random)]
        let side: Side = Bool.random(using: &random) ? .buy : .sell
        let quantity = Int64.random(in: 1...100, using: &random)
        let expected = chance(settings.refusals) ? Expected(rawValue: UInt8.random(in: 1...3, using: &random)) ?? .unknownSymbol : .accepted
        let terms = OrderTerms(
            symbol: expected == .unknownSymbol ? Self.unlisted : price.symbol,
            side: side,
            type: .limit,
            timeInForce: .day,
            quantity: quantity,
            limitPrice: limit(side, price, isCollared: expected == .priceCollar),
            stopPrice: nil
        )
        return Planned(trader: trader, terms: terms, expected: expected)
    }

    /// Marketable: one percent beyond the quote, so that a price which has moved since is still met. Resting: half or double, on the side that the
    /// collar leaves alone. Collared: half or double, on the side that it does not.
    private func limit(_ side: Side, _ price: Price, isCollared: Bool) -> Amount {
        let isLow = isCollared ? side == .sell : side == .buy
        let (low, high) = (price.bid.units / 20_000 * 10_000, price.ask.units * 2)
        if isCollared || settings.isResting { return Amount(units: isLow ? low : high) }
        // Whole cents, as prices are.
        let cents = side == .buy ? price.ask.units / 100 * 101 / 100 : price.bid.units / 100 * 99 / 100
        return Amount(units: cents * 100)
    }

    private mutating func chance(_ share: Double) -> Bool { share > 0 && Double.random(in: 0..<1, using: &random) < share }
}

/// When orders are to be sent, in nanoseconds from the first on.
struct Arrivals {
    private var random: SeededGenerator
    private let mean: Double
    private let isPoisson: Bool
    private var last = 0.0

    /// - Parameter rate: a second.
    init(rate: Double, isPoisson: Bool, seed: UInt64) {
        random = SeededGenerator(seed: seed &+ 0x5EED)
        mean = 1e9 / rate
        self.isPoisson = isPoisson
    }

    mutating func next() -> Int64 {
        last += isPoisson ? -mean * logarithm(1 - Double.random(in: 0..<1, using: &random)) : mean
        return Int64(last)
    }
}
