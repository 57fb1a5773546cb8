import Testing
import Trading

@Suite struct `A trade that the venue takes back` {
    private let trade = Trade(quantity: 40, price: usd("9.50"))

    private func kinds(_ applied: Applied) -> [Alarm.Kind] {
        if case .changed(_, let alarms) = applied { alarms.map(\.kind) } else { [] }
    }

    @Test func `of an open order returns what it moved, and the order holds for it again`() {
        let before = Desk.standing(.working)
        var desk = Desk.standing(.partiallyFilled)
        let applied = desk.apply(.corrected(trade, to: nil, isLive: true))
        #expect(applied == .changed(.tradeCancelled, alarms: [Alarm(.tradeCancelled, "the venue took back 40 at 9.50")]))
        #expect(desk.order.status == .working && desk.order.filledQuantity == 0 && desk.order.filledValue == .zero)
        #expect(desk.order.held == before.order.held)
        for key in [cash, shares, houseCash, houseShares] {
            var (was, now) = (before.balance(key), desk.balance(key))
            (was.cost, now.cost) = (.zero, .zero)
            #expect(was == now)
        }
        #expect(desk.balances.journals.filter { !$0.isBalanced }.isEmpty)
    }

    @Test(arguments: [(true, OrderStatus.partiallyFilled), (false, .cancelled)])
    func `of a filled order leaves the rest to work where the venue says so, and cancelled otherwise`(_ isLive: Bool, _ status: OrderStatus) {
        var desk = Desk.standing(.working)
        desk.apply(.filled(quantity: 40, price: trade.price))
        desk.apply(.filled(quantity: 60, price: usd("9")))
        #expect(desk.order.status == .filled)
        desk.apply(.corrected(trade, to: nil, isLive: isLive))
        #expect(desk.order.status == status && desk.order.filledQuantity == 60)
        #expect(desk.order.held == (isLive ? usd("400") : .zero) && desk.balance(cash).held == desk.order.held)
        #expect(desk.order.reason == (isLive ? nil : "trade_cancelled"))
    }

    @Test func `whose shares were sold meanwhile is owed`() {
        var desk = Desk(terms(), cash: "2000", shares: 0)
        for event in [.routed, .acknowledged, .filled(quantity: 100, price: usd("9.50"))] as [OrderEvent] { desk.apply(event) }
        // All that it has is spoken for by a sale.
        let isHeld = desk.balances.hold(whole(100), of: .shares(symbol), for: account, order: orderID)
        #expect(isHeld)
        let applied = desk.apply(.corrected(Trade(quantity: 100, price: usd("9.50")), to: nil, isLive: false))
        #expect(kinds(applied) == [.tradeCancelled, .owes])
        #expect(desk.balance(shares).owed == whole(100) && desk.balance(cash).available == usd("2000"))
        #expect(desk.order.filledQuantity == 0 && desk.order.status == .cancelled)
    }

    @Test func `whose proceeds were spent meanwhile is owed, and whoever has them owes nothing`() {
        for (spent, expected) in [("950", [Alarm.Kind.tradeCancelled, .owes]), ("0", [.tradeCancelled])] {
            var desk = Desk(terms(.sell), cash: "0", shares: 100)
            for event in [.routed, .acknowledged, .filled(quantity: 100, price: usd("9.50"))] as [OrderEvent] { desk.apply(event) }
            let isHeld = desk.balances.hold(usd(spent), of: .cash, for: account, order: orderID)
            #expect(isHeld)
            let applied = desk.apply(.corrected(Trade(quantity: 100, price: usd("9.50")), to: nil, isLive: false))
            #expect(kinds(applied) == expected && desk.balance(cash).owed == usd(spent))
        }
    }

    @Test func `leaves no cost where no share is left, and gives shares that repay what is owed none`() {
        var desk = Desk(cash: "10000", shares: 0)
        // 100 at 10, 100 at 20, and 100 of them sold; the cheap ones go back, and the dear ones' cost would be left.
        desk.apply(.filled(quantity: 100, price: usd("10")))
        desk.apply(.filled(quantity: 100, price: usd("20")))
        let isSold = desk.balances.fill(
            side: .sell,
            symbol: symbol,
            quantity: 100,
            price: usd("15"),
            held: .zero,
            account: account,
            order: orderID
        )
        #expect(isSold && desk.balance(shares) == Balance(available: whole(100), cost: usd("1500")))
        desk.apply(.corrected(Trade(quantity: 100, price: usd("10")), to: nil, isLive: false))
        #expect(desk.balance(shares) == Balance())

        var sale = Desk(terms(.sell), cash: "0", shares: 100)
        sale.apply(.filled(quantity: 160, price: usd("10")))
        #expect(sale.balance(shares) == Balance(owed: whole(60)))
        sale.apply(.corrected(Trade(quantity: 160, price: usd("10")), to: nil, isLive: false))
        #expect(sale.balance(shares).available == whole(100) && sale.balance(shares).cost == usd("1000"))
    }

    @Test func `and corrected is booked with its new numbers`() {
        var desk = Desk.standing(.filled)
        let before = desk.balance(cash).available
        let applied = desk.apply(.corrected(Trade(quantity: 100, price: usd("9.50")), to: Trade(quantity: 100, price: usd("9")), isLive: false))
        guard case .changed(.tradeCorrected, _) = applied else {
            Issue.record("\(applied)")
            return
        }
        #expect(desk.order.status == .filled && desk.order.filledValue == usd("900") && desk.order.filledQuantity == 100)
        #expect(desk.balance(cash).available == Amount(units: before.units + usd("50").units))
        #expect(desk.balance(houseCash).settlement.units == desk.order.filledValue.units - usd("2000").units)
    }

    @Test func `of more than was filled is a contradiction`() {
        var desk = Desk.standing(.partiallyFilled)
        let before = desk.order
        guard case .contradiction = desk.apply(.corrected(Trade(quantity: 41, price: usd("9.50")), to: nil, isLive: true)) else {
            Issue.record("41 of 40 cannot be taken back")
            return
        }
        #expect(desk.order == before)
    }

    @Test(arguments: OrderStatus.allCases)
    func `is booked in every state that has fills`(_ status: OrderStatus) {
        var desk = Desk.standing(status)
        desk.apply(.filled(quantity: 40, price: trade.price))
        let was = desk.order.status
        desk.apply(.corrected(trade, to: Trade(quantity: 30, price: usd("9")), isLive: false))
        #expect(desk.order.filledQuantity == (status == .partiallyFilled ? 70 : status == .filled ? 130 : 30))
        #expect(desk.order.status.isOpen || desk.order.held == .zero)
        #expect(was.isOpen == desk.order.status.isOpen)
        #expect(desk.balances.journals.filter { !$0.isBalanced }.isEmpty)
    }
}
