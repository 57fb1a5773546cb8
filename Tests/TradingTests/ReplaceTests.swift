import Testing
import Trading

@Suite struct `A replace` {
    /// BUY 100 at 10.00 of 2,000.00, 40 filled at 9.50 if it is in part; a replace of it is under way.
    private func asked(
        _ quantity: Int64,
        at price: String? = nil,
        _ side: Side = .buy,
        from status: OrderStatus = .partiallyFilled
    ) -> Desk {
        var desk = Desk.standing(status, terms(side))
        let isAsked = desk.ask(quantity, price)
        #expect(isAsked)
        desk.apply(.replaceRequested)
        return desk
    }

    @Test func `holds at once what the order may need, and only the venue's word lets go of it`() {
        // 60 left at 10.00 are held; 140 left at 11.00 may be needed.
        var desk = asked(180, at: "11")
        #expect(desk.order.held == usd("1540") && desk.balance(cash).held == usd("1540"))
        desk.apply(.replaceRejected(reason: "no"))
        #expect(desk.order.held == usd("600") && desk.order.terms.quantity == 100 && desk.order.reason == "no")
        #expect(desk.order.clOrdID == orderID.text && desk.order.replaces.pending == nil)
    }

    @Test func `is refused, and changes nothing, when what it needs is not there`() {
        var desk = Desk.standing(.working)
        let before = desk.order
        // 1,000.00 are held and 1,000.00 are left.
        let isBeyond = desk.ask(201, "10")
        #expect(!isBeyond)
        #expect(desk.order == before && desk.balance(cash).available == usd("1000"))
        let isAllThere = desk.ask(200, "10")
        #expect(isAllThere)
        #expect(desk.balance(cash) == Balance(available: .zero, held: usd("2000")))
    }

    @Test func `to a smaller total leaves the rest of it: 40 of 100 filled, replaced to 60, 20 left`() {
        var desk = asked(60)
        #expect(desk.order.held == usd("600"))
        desk.apply(.replaced(quantity: 60))
        #expect(desk.order.status == .partiallyFilled && desk.order.terms.quantity == 60 && desk.order.held == usd("200"))
        #expect(desk.order.clOrdID == orderID.text + "-r1" && desk.order.previousClOrdID == orderID.text + "-r1")
        #expect(desk.order.replaces.first == Replacement(quantity: 100, limitPrice: usd("10"), stopPrice: nil))
        desk.apply(.filled(quantity: 20, price: usd("10")))
        #expect(desk.order.status == .filled && desk.order.held == .zero && desk.balance(cash).held == .zero)
    }

    @Test func `of an order that the venue has not got yet leaves it its own id there`() {
        var desk = asked(120, at: "10", from: .accepted)
        desk.apply(.replaced(quantity: 120))
        #expect(desk.order.status == .accepted && desk.order.terms.quantity == 120)
        #expect(desk.order.clOrdID == orderID.text && desk.order.previousClOrdID == orderID.text)
        desk.apply(.routed)
        let isAsked = desk.ask(110, "10")
        #expect(isAsked && desk.order.replaceID == orderID.text + "-r2" && desk.order.clOrdID == orderID.text)
        desk.apply(.replaced(quantity: 110))
        #expect(desk.order.clOrdID == orderID.text + "-r2")
    }

    @Test func `in force does not bear why an earlier one was refused`() {
        var desk = asked(150)
        desk.apply(.replaceRejected(reason: "too fast"))
        #expect(desk.order.reason == "too fast")
        let isAskedAgain = desk.ask(160, nil)
        #expect(isAskedAgain)
        desk.apply(.replaceRequested)
        #expect(desk.order.reason == nil)
        // As it is read from what an earlier program has stored.
        desk.order.reason = "too fast"
        desk.apply(.replaced(quantity: 160))
        #expect(desk.order.reason == nil)
    }

    @Test func `of a sale holds shares`() {
        var desk = asked(150, at: "9", .sell)
        #expect(desk.order.held == whole(110) && desk.balance(shares).held == whole(110))
        desk.apply(.replaced(quantity: 150))
        desk.apply(.filled(quantity: 110, price: usd("9")))
        #expect(desk.order.status == .filled && desk.balance(shares) == Balance(available: whole(100), cost: desk.balance(shares).cost))
    }

    @Test func `that the venue took in part is in force with the venue's total`() {
        var desk = asked(300 - 120)
        desk.apply(.replaced(quantity: 90))
        #expect(desk.order.terms.quantity == 90 && desk.order.held == usd("500"))
    }

    @Test func `crossed by fills of the old total waits for the venue's word`() {
        var desk = asked(150, at: "10")
        desk.apply(.filled(quantity: 60, price: usd("10")))
        #expect(desk.order.status == .partiallyFilled && desk.order.filledQuantity == 100 && desk.order.held == usd("500"))
        var refused = desk
        refused.apply(.replaceRejected(reason: "too late"))
        #expect(refused.order.status == .filled && refused.order.held == .zero && refused.balance(cash).held == .zero)
        desk.apply(.replaced(quantity: 150))
        #expect(desk.order.status == .partiallyFilled && desk.order.held == usd("500"))
        desk.apply(.filled(quantity: 50, price: usd("10")))
        #expect(desk.order.status == .filled && desk.order.filledQuantity == 150)
    }

    @Test func `that is refused after fills that it would have allowed leaves an order filled beyond its quantity, and says so`() {
        var desk = asked(150, at: "10")
        guard case .changed(.fill, let alarms) = desk.apply(.filled(quantity: 70, price: usd("10"))) else {
            Issue.record("not booked")
            return
        }
        #expect(alarms.isEmpty && desk.order.status == .partiallyFilled && desk.order.filledQuantity == 110)
        guard case .changed(.replaceRejected, let late) = desk.apply(.replaceRejected(reason: "too late")) else {
            Issue.record("not refused")
            return
        }
        #expect(late.map(\.kind) == [.overfill] && desk.order.status == .filled)
    }

    @Test(arguments: ["5", "I"]) func `below what is filled is in force with what is filled, as the venue amends it`(_ type: String) {
        let order = asked(30).order
        var report = VenueReport(kind: .execution)
        (report.orderID, report.requestID, report.execType, report.orderStatus) = (order.id.text, order.replaceID, type, "2")
        (report.orderQuantity, report.cumulativeQuantity) = (40, 40)
        #expect(report.meaning(for: order) == .event(.replaced(quantity: 40)))
        report.orderQuantity = 39
        guard case .unbookable = report.meaning(for: order) else {
            Issue.record("more than was asked, and not what is filled")
            return
        }
    }

    @Test func `crossed by fills beyond the new total ends the order`() {
        var desk = asked(50)
        desk.apply(.filled(quantity: 30, price: usd("10")))
        #expect(desk.order.held == usd("300"))
        desk.apply(.replaced(quantity: 50))
        #expect(desk.order.status == .filled && desk.order.filledQuantity == 70 && desk.order.held == .zero)
    }

    @Test(arguments: [.cancelled(reason: "x"), .expired(reason: nil), .rejected(reason: nil)] as [OrderEvent])
    func `ends with its order`(_ end: OrderEvent) {
        var desk = asked(200, at: "10")
        desk.apply(end)
        #expect(!desk.order.status.isOpen && desk.order.replaces.pending == nil && desk.balance(cash).held == .zero)
        let late = [desk.apply(.replaced(quantity: 200)), desk.apply(.replaceRejected(reason: "late"))]
        #expect(late == [.nothing, .nothing])
    }

    @Test func `names the newest id that the venue was not seen to refuse`() {
        var desk = asked(120, at: "10", from: .working)
        #expect(desk.order.clOrdID == orderID.text && desk.order.previousClOrdID == orderID.text + "-r1")
        desk.apply(.replaceRejected(reason: nil))
        #expect(desk.order.previousClOrdID == orderID.text)
        let isAskedAgain = desk.ask(130, "10")
        #expect(isAskedAgain)
        desk.apply(.replaceRequested)
        desk.apply(.replaced(quantity: 130))
        #expect(desk.order.clOrdID == orderID.text + "-r2" && desk.order.replaceID == orderID.text + "-r2")
    }

    @Test(arguments: [11, 12, 13, 14, 15, 16, 17, 18, 19, 20] as [UInt64])
    func `holds what is needed and no more, whatever comes in whatever order`(_ seed: UInt64) {
        var random = Seeded(seed)
        for _ in 0..<200 {
            var desk = Desk(terms(Bool.random(using: &random) ? .buy : .sell), cash: "5000", shares: 600)
            desk.apply(.routed)
            desk.apply(.acknowledged)
            for _ in 0..<12 where desk.order.status.isOpen {
                switch Int.random(in: 0..<6, using: &random) {
                case 0, 1:
                    let wanted = desk.order.filledQuantity + Int64.random(in: 1...120, using: &random)
                    if desk.order.replaces.pending == nil, desk.ask(wanted, "\(Int.random(in: 8...14, using: &random))") {
                        desk.apply(.replaceRequested)
                    }
                case 2: desk.apply(.filled(quantity: Int64.random(in: 1...40, using: &random), price: usd("8")))
                case 3: desk.apply(.replaceRejected(reason: nil))
                case 4: if let pending = desk.order.replaces.pending { desk.apply(.replaced(quantity: pending.terms.quantity)) }
                default: desk.apply(.doubted(reason: "drill"))
                }
                let order = desk.order
                func needed(_ quantity: Int64, _ price: Amount) -> Int64 {
                    max(0, quantity - order.filledQuantity) * (order.terms.side == .buy ? price.units : Amount.unitsPerOne)
                }
                let now = needed(order.terms.quantity, order.holdPrice)
                let later = order.replaces.pending.map { needed($0.terms.quantity, $0.holdPrice) } ?? 0
                #expect(order.held.units == (order.status.isOpen ? max(now, later) : 0), "seed \(seed)")
                #expect(desk.balance(order.terms.side == .buy ? cash : shares).held == order.held)
                let all = [cash, shares, houseCash, houseShares].map(desk.balance)
                #expect(all.allSatisfy { $0.available >= .zero && $0.held >= .zero })
            }
        }
    }
}

extension Desk {
    fileprivate mutating func ask(_ quantity: Int64, _ price: String?) -> Bool {
        let limit = price.map(usd) ?? order.terms.limitPrice
        let pending = Replaces.Pending(
            terms: Replacement(quantity: quantity, limitPrice: limit, stopPrice: nil),
            holdPrice: order.terms.side == .buy ? limit! : .zero
        )
        return order.requestReplace(pending, balances: &balances)
    }
}
