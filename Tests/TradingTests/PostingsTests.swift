import Testing
import Trading

/// A market of random orders on one account: what the desk does, and next to it what must be true, computed from the entries alone.
private struct RandomDesk {
    var random: Seeded
    var balances = Balances([:])
    var orders: [OrderState] = []
    /// What is booked of each, and not taken back.
    private var trades: [OrderID: [Trade]] = [:]
    let symbols = [symbol, Symbol("USD")!]
    private var made = 0

    init(seed: UInt64) { random = Seeded(seed) }

    mutating func number(_ range: ClosedRange<Int64>) -> Int64 { Int64.random(in: range, using: &random) }

    mutating func step() {
        switch number(0...9) {
        case 0: _ = balances.deposit(Amount(units: number(0...50_000_000)), of: .cash, to: account)
        case 1: _ = balances.deposit(whole(number(0...300)), of: .shares(symbols[Int(number(0...1))]), to: account)
        case 2, 3, 4: place()
        case 5: replace()
        default: happen()
        }
    }

    private mutating func place() {
        let side: Side = number(0...1) == 0 ? .buy : .sell
        let quantity = number(1...200)
        let terms = OrderTerms(
            symbol: symbols[Int(number(0...1))],
            side: side,
            type: .market,
            timeInForce: .day,
            quantity: quantity,
            limitPrice: nil,
            stopPrice: nil
        )
        let price = side == .buy ? Amount(units: number(1...300_000)) : .zero
        let held = side == .buy ? price.times(quantity)! : whole(quantity)
        made += 1
        let digest = (0..<32).map { UInt8(truncatingIfNeeded: made >> ($0 % 4 * 8)) }
        let order = OrderState(
            id: OrderID(key: key, digest: digest),
            account: account,
            key: key,
            terms: terms,
            holdPrice: price,
            createdAt: 0,
            routeBy: 0,
            held: held,
            updatedAt: 0
        )
        guard balances.balance(.customer(account), order.heldAsset).available >= held else { return }
        precondition(balances.hold(held, of: order.heldAsset, for: account, order: order.id))
        orders.append(order)
    }

    /// Other numbers for an order, more or fewer than are filled; a second one where one is under way takes its place.
    private mutating func replace() {
        guard !orders.isEmpty else { return }
        let place = Int(number(0...Int64(orders.count - 1)))
        guard orders[place].status.isOpen, orders[place].replaces.pending == nil else { return }
        let price = orders[place].terms.side == .buy ? Amount(units: number(1...300_000)) : .zero
        let numbers = Replacement(quantity: number(1...300), limitPrice: nil, stopPrice: nil)
        _ = orders[place].requestReplace(Replaces.Pending(terms: numbers, holdPrice: price), balances: &balances)
    }

    /// A trade that was booked is taken back or corrected, whatever has become of its order, and once.
    private mutating func correction(of order: OrderState) -> OrderEvent? {
        guard let booked = trades[order.id], !booked.isEmpty else { return nil }
        let new = Trade(quantity: number(1...60), price: Amount(units: number(1...400_000)))
        return .corrected(
            booked[Int(number(0...Int64(booked.count - 1)))],
            to: number(0...2) == 0 ? new : nil,
            isLive: number(0...1) == 0
        )
    }

    private mutating func note(_ event: OrderEvent, of order: OrderID) {
        if case .corrected(let old, _, _) = event, let place = trades[order]?.firstIndex(of: old) { trades[order]?.remove(at: place) }
        switch event {
        case .filled(let quantity, let price): trades[order, default: []].append(Trade(quantity: quantity, price: price))
        case .corrected(_, let new?, _): trades[order, default: []].append(new)
        default: break
        }
    }

    /// Anything to any order, also after its end; fills of any size, at prices on both sides of what was held.
    private mutating func happen() {
        guard !orders.isEmpty else { return }
        let place = Int(number(0...Int64(orders.count - 1)))
        let events: [OrderEvent] = [
            .filled(quantity: number(1...orders[place].terms.quantity + 20), price: Amount(units: number(1...400_000))),
            .filled(quantity: number(1...20), price: Amount(units: number(1...400_000))),
            .cancelled(reason: nil), .expired(reason: nil), .rejected(reason: nil), .acknowledged, .doubted(reason: "?"),
            .replaced(quantity: number(1...(orders[place].replaces.pending?.terms.quantity ?? 1))), .replaceRejected(reason: nil),
        ]
        let chosen = events[Int(number(0...Int64(events.count - 1)))]
        let event = number(0...3) == 0 ? correction(of: orders[place]) ?? chosen : chosen
        let before = orders[place]
        let (customer, asset) = (LedgerAccount.customer(account), before.heldAsset)
        let written = balances.journals.count
        let worth = net(customer, .cash)
        let owned = net(customer, .shares(before.terms.symbol))
        let held = balances.balance(customer, asset).held
        let applied = orders[place].apply(event, balances: &balances, at: 1)
        let after = orders[place]
        if case .changed = applied { note(event, of: after.id) }
        switch (event, applied) {
        case (.corrected(let old, let new, _), .changed):
            // As if the old one had never been, and the new one were instead.
            let sign: Int64 = before.terms.side == .buy ? 1 : -1
            let (value, quantity) = ((new?.value ?? 0) - old.value, (new?.quantity ?? 0) - old.quantity)
            #expect(net(customer, .cash) - worth == -sign * value)
            #expect(net(customer, .shares(before.terms.symbol)) - owned == sign * quantity * Amount.unitsPerOne)
            #expect(after.filledQuantity - before.filledQuantity == quantity && after.filledValue.units - before.filledValue.units == value)
        case (.replaced, .changed), (.replaceRejected, .changed):
            #expect(net(customer, .cash) == worth && net(customer, .shares(before.terms.symbol)) == owned)
        case (.filled(let quantity, let price), .changed):
            // A fill is a fact: exactly its value and its shares change hands, wherever they come from.
            let sign: Int64 = before.terms.side == .buy ? 1 : -1
            #expect(net(customer, .cash) - worth == -sign * price.units * quantity)
            #expect(net(customer, .shares(before.terms.symbol)) - owned == sign * quantity * Amount.unitsPerOne)
            #expect(balances.journals[written...].filter { $0.cause == .fill }.count == 1)
        case (_, .changed) where !after.status.isOpen:
            // An end gives back exactly what is left, in one journal, and nothing else changes.
            #expect(net(customer, .cash) == worth && net(customer, .shares(before.terms.symbol)) == owned)
            #expect(held.units - balances.balance(customer, asset).held.units == before.held.units)
            #expect(balances.journals.count - written == (before.held.units > 0 ? 1 : 0))
        default: #expect(balances.journals.count == written)
        }
    }

    private func net(_ account: LedgerAccount, _ asset: Asset) -> Int64 {
        let balance = balances.balance(account, asset)
        return balance.available.units + balance.held.units - balance.owed.units
    }

    /// Everything that must hold after any step.
    func check() {
        for order in orders {
            // What it is and what it may become, whichever needs more.
            let numbers = [(order.terms.quantity, order.holdPrice)] + (order.replaces.pending.map { [($0.terms.quantity, $0.holdPrice)] } ?? [])
            let needed = numbers.map { quantity, price in
                max(0, quantity - order.filledQuantity) * (order.terms.side == .buy ? price.units : Amount.unitsPerOne)
            }
            #expect(order.held.units == (order.status.isOpen ? needed.max() : 0), "\(order)")
            let booked = trades[order.id] ?? []
            #expect(order.filledQuantity == booked.reduce(0) { $0 + $1.quantity } && order.filledValue.units == booked.reduce(0) { $0 + $1.value })
        }
        var sums: [Balances.Key: Balance] = [:]
        for journal in balances.journals {
            var perAsset: [Asset: Int64] = [:]
            for entry in journal.entries {
                #expect(entry.amount.units > 0)
                let signed = entry.direction == .credit ? entry.amount.units : -entry.amount.units
                perAsset[entry.asset, default: 0] += signed
                let key = Balances.Key(entry.account, entry.asset)
                switch entry.bucket {
                case .available: sums[key, default: Balance()].available.units += signed
                case .held: sums[key, default: Balance()].held.units += signed
                case .owed: sums[key, default: Balance()].owed.units -= signed
                case .settlement: sums[key, default: Balance()].settlement.units += signed
                }
            }
            #expect(perAsset.values.allSatisfy { $0 == 0 })
        }
        for (key, balance) in balances.now {
            let sum = sums[key] ?? Balance()
            #expect(
                balance.available == sum.available && balance.held == sum.held && balance.owed == sum.owed && balance.settlement == sum.settlement
            )
            guard case .customer = key.account else { continue }
            #expect(balance.available.units >= 0 && balance.held.units >= 0 && balance.owed.units >= 0 && balance.settlement == .zero)
            // Owed is what is left when nothing is available, and every credit goes there first.
            #expect(balance.owed == .zero || balance.available == .zero)
            #expect(orders.filter { $0.heldAsset == key.asset }.reduce(0) { $0 + $1.held.units } == balance.held.units)
            #expect(balance.cost.units >= 0)
            #expect(balance.available.units + balance.held.units > 0 || balance.cost == .zero)
        }
    }
}

extension Trade {
    fileprivate var value: Int64 { price.units * quantity }
}

@Suite struct `The ledger` {
    @Test(arguments: [UInt64(20_260_916), UInt64.random(in: 0...UInt64.max)])
    func `balances whatever happens to any order, in any order`(_ seed: UInt64) {
        print("seed of the ledger's random orders: \(seed)")
        for run in 0..<40 {
            var desk = RandomDesk(seed: seed &+ UInt64(run))
            for _ in 0..<80 { desk.step() }
            desk.check()
        }
    }

    @Test func `holds a BUY's cash and a SELL's shares`() {
        #expect(Desk(terms(.buy)).balance(cash) == Balance(available: usd("1000"), held: usd("1000")))
        #expect(Desk(terms(.sell)).balance(shares) == Balance(available: whole(150), held: whole(100)))
    }

    @Test func `returns a BUY fill's surplus in the same journal`() {
        var desk = Desk()
        desk.apply(.filled(quantity: 40, price: usd("9.50")))
        #expect(desk.balance(cash) == Balance(available: usd("1020"), held: usd("600")))
        #expect(desk.balance(shares) == Balance(available: whole(290), cost: usd("380")))
        #expect(desk.balance(houseCash).settlement.units == usd("380").units - usd("2000").units)
        #expect(desk.balance(houseShares).settlement.units == -whole(290).units)
        let entries = desk.balances.journals.last!.entries.map { "\($0.bucket) \($0.direction) \($0.amount)" }
        #expect(
            entries == [
                "held debit 400.00", "available credit 20.00", "settlement credit 380.00", "settlement debit 40.00", "available credit 40.00",
            ]
        )
    }

    @Test func `pays a SELL fill from the shares held`() {
        var desk = Desk(terms(.sell))
        desk.apply(.filled(quantity: 40, price: usd("12")))
        #expect(desk.balance(cash) == Balance(available: usd("2480")))
        #expect(desk.balance(shares).available == whole(150) && desk.balance(shares).held == whole(60))
        desk.apply(.cancelled(reason: nil))
        #expect(desk.balance(shares).available == whole(210) && desk.balance(shares).held == .zero)
    }

    @Test func `takes a fill above the hold from available, then owes`() {
        var desk = Desk(cash: "1100")
        desk.apply(.filled(quantity: 50, price: usd("11")))
        #expect(desk.balance(cash) == Balance(available: usd("50"), held: usd("500")))
        desk.apply(.filled(quantity: 50, price: usd("13")))
        #expect(desk.balance(cash) == Balance(owed: usd("100")))
    }

    @Test func `repays what is owed before anything becomes available`() {
        var desk = Desk(cash: "1000")
        desk.apply(.filled(quantity: 100, price: usd("15")))
        #expect(desk.balance(cash) == Balance(owed: usd("500")))
        _ = desk.balances.deposit(usd("200"), of: .cash, to: account)
        #expect(desk.balance(cash) == Balance(owed: usd("300")))
        _ = desk.balances.deposit(usd("301"), of: .cash, to: account)
        #expect(desk.balance(cash) == Balance(available: usd("1")))
    }

    @Test func `keeps the cost of a position: buys add, sells take their share, owed shares have none`() {
        var desk = Desk(terms(.buy, quantity: 300, limit: "20"), cash: "6000", shares: 0)
        desk.apply(.filled(quantity: 100, price: usd("10")))
        desk.apply(.filled(quantity: 100, price: usd("20")))
        #expect(desk.balance(shares).cost == usd("3000"))
        var sold = Desk(terms(.sell, quantity: 50), shares: 50)
        sold.balances.setCost(usd("100.0001"), of: .customer(account), .shares(symbol))
        sold.apply(.filled(quantity: 30, price: usd("9")))
        #expect(sold.balance(shares).cost == usd("40"))
        sold.apply(.filled(quantity: 20, price: usd("9")))
        #expect(sold.balance(shares).cost == .zero)
        // Sold 60 beyond what was there: of the next 100 bought, 60 repay and only 40 are a position.
        sold.apply(.filled(quantity: 60, price: usd("9")))
        #expect(sold.balance(shares) == Balance(owed: whole(60)))
        let isBooked = sold.balances.fill(
            side: .buy,
            symbol: symbol,
            quantity: 100,
            price: usd("10"),
            held: .zero,
            account: account,
            order: orderID
        )
        #expect(isBooked)
        #expect(sold.balance(shares) == Balance(available: whole(40), cost: usd("400")))
    }

    @Test func `refuses what would leave the range and changes nothing`() {
        var desk = Desk()
        let (now, journals) = (desk.balances.now, desk.balances.journals.count)
        let deposited = desk.balances.deposit(Amount(units: .max), of: .cash, to: account)
        #expect(!deposited)
        let isBooked = desk.balances.fill(
            side: .sell,
            symbol: symbol,
            quantity: 1,
            price: Amount(units: .max),
            held: .zero,
            account: account,
            order: orderID
        )
        #expect(!isBooked)
        #expect(desk.balances.now == now && desk.balances.journals.count == journals)
    }

    @Test func `names its accounts and assets as they are stored`() {
        #expect(LedgerAccount.customer(account).description == "acc_1")
        #expect(LedgerAccount.house(shard: 3).description == "~house-3")
        #expect(AccountID("~house-3") == nil)
        #expect(Asset(text: "$") == .cash && Asset(text: "USD") == .shares(Symbol("USD")!) && Asset(text: "us d") == nil)
        #expect(Asset.cash.text == "$" && Asset.shares(symbol).text == "NVDA")
    }
}
