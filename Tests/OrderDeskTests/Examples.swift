import Quotes
import Storage
import Synchronization
import Trading

@testable import OrderDesk

let symbol = Symbol("NVDA")!
let account = AccountID("acc_1")!
/// In the same shard as `account`.
let neighbour = AccountID("acc_9")!
let now: Int64 = 1_773_648_000_000
let session = "ROUTER->VENUE"

func usd(_ text: String) -> Amount { Amount(text)! }

func whole(_ shares: Int64) -> Amount { Amount(whole: shares)! }

let rules = DeskRules(
    limits: RiskLimits(maximumQuantity: 1_000, maximumNotional: usd("100000"), collarBasisPoints: 500),
    freshness: Freshness(),
    deadlines: RouteDeadlines(immediateMilliseconds: 5_000, sessionMilliseconds: 60_000),
    venue: "VENUE",
    venueSession: session
)

/// A market that stands still: bid 99, ask 100.
struct StillMarket: QuoteSource {
    var listings: [Symbol: Listing] = [symbol: Listing(symbol: symbol, quote: quote())]
    var hours: MarketHours?
    var isForOrders = true

    static func quote(age: Int64 = 0) -> Quote {
        Quote(symbol: symbol, bid: usd("99"), ask: usd("100"), last: usd("99.50"), volume: 0, sequence: 1, changedAt: now - age, vouchedAt: now - age)
    }

    func listing(of symbol: Symbol) -> Listing? { listings[symbol] }
    func hours(of symbol: Symbol, at now: Int64) -> MarketHours? { hours }
}

func key(_ number: Int, at time: Int64 = now) -> IdempotencyKey {
    IdempotencyKey(high: UInt64(time) << 16 | 0x7000, low: 1 << 63 | UInt64(number))!
}

func terms(_ side: Side = .buy, quantity: Int64 = 10, limit: String = "100") -> OrderTerms {
    OrderTerms(symbol: symbol, side: side, type: .limit, timeInForce: .day, quantity: quantity, limitPrice: usd(limit), stopPrice: nil)
}

/// The identity that account and key alone give; a digest of these tests, not SHA-256.
func identity(_ owner: AccountID, _ key: IdempotencyKey) -> OrderID {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    let digest = (0..<32).map { round -> UInt8 in
        for byte in "\(round)/\(owner)/\(key)".utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return UInt8(truncatingIfNeeded: hash >> 32)
    }
    return OrderID(key: key, digest: digest)
}

func submission(
    _ number: Int,
    of owner: AccountID = account,
    _ terms: OrderTerms = terms(),
    fingerprint: UInt8 = 1,
    keyTime: Int64 = now,
    orderID: OrderID? = nil,
    credentialID: String = "c1"
) -> Submission {
    let key = key(number, at: keyTime)
    return Submission(
        account: owner,
        key: key,
        orderID: orderID ?? identity(owner, key),
        terms: terms,
        fingerprint: [fingerprint],
        credentialID: credentialID,
        clientTimestamp: now,
        quoteReference: now,
        receivedAt: now
    )
}

extension Verdict {
    /// In a word, for comparing.
    var word: String {
        switch self {
        case .accepted: "accepted"
        case .refusedForGood: "refusedForGood"
        case .replayed: "replayed"
        case .refused(let refusal): String("\(refusal)".prefix { $0 != "(" })
        case .key(let record): "key \(record.outcome)"
        case .cancelRequested: "cancelRequested"
        case .allCancelRequested(let orders): "allCancelRequested \(orders.count)"
        case .orderNotOpen: "orderNotOpen"
        case .orderNotFound: "orderNotFound"
        case .accountUnknown: "accountUnknown"
        case .busy: "busy"
        case .outcomeUnknown: "outcomeUnknown"
        case .failed: "failed"
        }
    }

    var refusal: Refusal? {
        guard case .refused(let refusal) = self else { return nil }
        return refusal
    }

    var record: KeyRecord? {
        switch self {
        case .accepted(let record), .refusedForGood(let record), .replayed(let record), .key(let record): record
        default: nil
        }
    }

    var order: OrderState? {
        switch self {
        case .cancelRequested(let order), .orderNotOpen(let order): order
        default: nil
        }
    }
}
