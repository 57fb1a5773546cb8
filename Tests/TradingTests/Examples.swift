import Testing
import Trading

/// The account, symbol and order of the examples in these tests.
let account = AccountID("acc_1")!
let symbol = Symbol("NVDA")!
let key = IdempotencyKey("018e3d2a-7f12-7000-8000-123456789abc")!
let orderID = OrderID(key: key, digest: Array(repeating: 1, count: 32))
let cash = Balances.Key(.customer(account), .cash)
let shares = Balances.Key(.customer(account), .shares(symbol))
let houseCash = Balances.Key(.house(shard: account.shard), .cash)
let houseShares = Balances.Key(.house(shard: account.shard), .shares(symbol))

func usd(_ text: String) -> Amount { Amount(text)! }

func whole(_ shares: Int64) -> Amount { Amount(whole: shares)! }

func terms(
    _ side: Side = .buy,
    _ type: OrderType = .limit,
    _ force: TimeInForce = .day,
    quantity: Int64 = 100,
    limit: String? = nil,
    stop: String? = nil
) -> OrderTerms {
    OrderTerms(
        symbol: symbol,
        side: side,
        type: type,
        timeInForce: force,
        quantity: quantity,
        limitPrice: type.hasLimitPrice ? usd(limit ?? "10") : nil,
        stopPrice: type.hasStopPrice ? usd(stop ?? "10") : nil
    )
}

/// An order with its hold, and the balances that it was taken from.
struct Desk {
    var order: OrderState
    var balances: Balances

    /// BUY 100 at 10.00 from 2,000.00, or SELL 100 from 250 shares, already held.
    init(_ terms: OrderTerms = terms(), cash funds: String = "2000", shares owned: Int64 = 250, status: OrderStatus = .accepted) {
        balances = Balances([:])
        _ = balances.deposit(usd(funds), of: .cash, to: account)
        _ = balances.deposit(whole(owned), of: .shares(symbol), to: account)
        let price = terms.side == .buy ? terms.limitPrice ?? usd("10") : .zero
        let held = terms.side == .buy ? price.times(terms.quantity)! : whole(terms.quantity)
        order = OrderState(
            id: orderID,
            account: account,
            key: key,
            terms: terms,
            holdPrice: price,
            createdAt: 1,
            routeBy: 1_000,
            status: status,
            held: held,
            updatedAt: 1
        )
        precondition(balances.hold(held, of: order.heldAsset, for: account, order: orderID))
    }

    @discardableResult
    mutating func apply(_ event: OrderEvent, at now: Int64 = 2) -> Applied { order.apply(event, balances: &balances, at: now) }

    /// Puts the order into a state by the events that lead there.
    static func standing(_ status: OrderStatus, _ terms: OrderTerms = terms()) -> Desk {
        var desk = Desk(terms)
        let path: [OrderEvent] =
            switch status {
            case .accepted: []
            case .routed: [.routed]
            case .working: [.routed, .acknowledged]
            case .partiallyFilled: [.routed, .acknowledged, .filled(quantity: 40, price: usd("9.50"))]
            case .filled: [.routed, .acknowledged, .filled(quantity: 100, price: usd("9.50"))]
            case .cancelled: [.routed, .acknowledged, .cancelled(reason: "by the test")]
            case .expired: [.routed, .acknowledged, .expired(reason: "by the test")]
            case .rejected: [.routed, .rejected(reason: "by the test")]
            case .unknown: [.routed, .doubted(reason: "by the test")]
            }
        for event in path { desk.apply(event) }
        precondition(desk.order.status == status)
        return desk
    }

    func balance(_ key: Balances.Key) -> Balance { balances.balance(key.account, key.asset) }
}

/// SplitMix64: the sequence of a printed seed, the same on every machine.
struct Seeded: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
