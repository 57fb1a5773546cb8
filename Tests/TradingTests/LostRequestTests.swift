import Testing

@testable import Trading

/// Requests whose answer, or which themselves, were lost: in a reset of the sequence numbers, or in a restore.
@Suite struct `A lost request` {
    /// A working order with a replace by 150 at 10 under way, its `-r1`.
    private static func replacing(_ status: OrderStatus = .working) -> Desk {
        var desk = Desk.standing(.working)
        let terms = Replacement(quantity: 150, limitPrice: usd("10"), stopPrice: nil)
        precondition(desk.order.requestReplace(Replaces.Pending(terms: terms, holdPrice: usd("10")), balances: &desk.balances))
        desk.apply(.replaceRequested)
        if status == .unknown { desk.apply(.doubted(reason: "sequence_reset", sentIn: 1)) }
        return desk
    }

    /// An answer to OrderStatusRequest.
    private static func status(_ ordStatus: String, named request: String?, _ question: String? = nil, quantity: Int64 = 100) -> VenueReport {
        var report = VenueReport(kind: .execution)
        (report.orderID, report.requestID, report.execType, report.orderStatus) = (orderID.text, request, "I", ordStatus)
        (report.cumulativeQuantity, report.orderQuantity, report.statusQuestion) = (0, quantity, question)
        report.receivedIn = 4
        if ordStatus == "8" { (report.rejectReason, report.orderQuantity) = (5, nil) }
        return report
    }

    private static let first = orderID.text + "-r1"

    @Test(
        arguments: [
            ([], true, true), ([.cancelRequested], false, true), ([.replaceRequested], true, false),
            ([.cancelRequested, .replaceRequested], false, false),
        ] as [(Set<OrderEventType>, Bool, Bool)]
    )
    func `that had its number may be lost, and one that waits for it is not`(_ waiting: Set<OrderEventType>, _ isAskedAgain: Bool, _ isLost: Bool) {
        var desk = Self.replacing()
        desk.apply(.cancelRequested)
        let event = desk.order.loseRequests(in: 3, waiting: waiting)
        #expect(event == (isAskedAgain ? .cancelRequested : nil))
        #expect(desk.order.replaces.pending?.lostIn == (isLost ? 3 : nil))
        if let event { desk.apply(event) }
        #expect(desk.order.cancelID == orderID.text + (isAskedAgain ? "-c2" : "-c1") && desk.order.cancelPending)
    }

    @Test func `is none where nothing was asked for`() {
        var desk = Desk.standing(.working)
        let before = desk.order
        let event = desk.order.loseRequests(in: 3, waiting: [])
        #expect(event == nil && desk.order == before && !desk.order.hasRequestUnderWay)
    }

    @Test func `to replace ends the replace where the venue does not know it, and never the order, however often it says so`() {
        var desk = Self.replacing(.unknown)
        let unheard = Self.status("8", named: Self.first, "2.0")
        #expect(unheard.meaning(for: desk.order) == .event(.replaceRejected(reason: "not_routed")))
        desk.apply(.replaceRejected(reason: "not_routed"))
        // The second question was asked before the first was answered.
        #expect(unheard.meaning(for: desk.order) == .nothing)
        desk.order.replaces.taken = 1
        #expect(unheard.meaning(for: desk.order) != .nothing, "of the id by which it has the order it is the order's")
    }

    @Test(
        arguments: [
            // Asked in later numbers than were lost, it has the order by its former id.
            ("0", nil, "4.0", true), ("1", nil, "4.0", true),
            // It tells where the replace stands.
            ("E", nil, "4.0", false),
            // Asked before, or nobody knows when.
            ("0", nil, "3.0", false), ("0", nil, nil, false),
            // Of numbers that had not begun: asked in a time that a restore has lost.
            ("0", nil, "5.0", false),
        ] as [(String, String?, String?, Bool)]
    )
    func `to replace was refused where the venue works on under the former id`(_ status: String, _ name: String?, _ question: String?, _ isOver: Bool)
    {
        var desk = Self.replacing(.unknown)
        let report = Self.status(status, named: name, question)
        #expect(report.meaning(for: desk.order) != .event(.replaceRejected(reason: "replace_rejected")), "nothing was lost")
        desk.order.replaces.pending?.lostIn = 3
        #expect((report.meaning(for: desk.order) == .event(.replaceRejected(reason: "replace_rejected"))) == isOver)
        var repeated = report
        repeated.isRepeated = true
        #expect(repeated.meaning(for: desk.order) != .event(.replaceRejected(reason: "replace_rejected")))
    }

    @Test func `to replace is answered by its own number, whatever numbers a restore has passed over`() {
        var desk = Self.replacing(.unknown)
        desk.order.replaces.requests += 100
        #expect(desk.order.replaceID == Self.first && desk.order.previousClOrdID == Self.first)
        #expect(Self.status("0", named: Self.first, quantity: 150).meaning(for: desk.order) == .event(.replaced(quantity: 150)))
        var refusal = VenueReport(kind: .cancelReject)
        (refusal.orderID, refusal.requestID, refusal.text) = (orderID.text, Self.first, "too late")
        #expect(refusal.meaning(for: desk.order) == .event(.replaceRejected(reason: "too late")))
        // What was asked for in the time that is lost is not in force here, and is told.
        guard case .unbookable = Self.status("0", named: orderID.text + "-r2", quantity: 170).meaning(for: desk.order) else {
            Issue.record("a replace that is not known here")
            return
        }
        desk.apply(.replaced(quantity: 150))
        #expect(desk.order.clOrdID == Self.first && desk.order.terms.quantity == 150)
        let terms = Replacement(quantity: 160, limitPrice: usd("10"), stopPrice: nil)
        let isAsked = desk.order.requestReplace(Replaces.Pending(terms: terms, holdPrice: usd("10")), balances: &desk.balances)
        #expect(isAsked && desk.order.replaceID == orderID.text + "-r102")
    }

    @Test func `is no answer of before: an order that was unknown then may have come since`() {
        var desk = Desk.standing(.unknown)
        desk.order.unansweredIn = 1
        var unknown = Self.status("8", named: nil, "2.0")
        #expect(unknown.meaning(for: desk.order) == .lostInReset)
        unknown.isRepeated = true
        #expect(unknown.meaning(for: desk.order) == .nothing)
        desk.order.unansweredIn = nil
        #expect(unknown.meaning(for: desk.order) == .nothing)
    }
}
