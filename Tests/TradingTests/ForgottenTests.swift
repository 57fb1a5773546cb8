import Testing
import Trading

@Suite struct `An order that the venue had and does not know any more` {
    private func unknownOrder(_ change: (inout VenueReport) -> Void = { _ in }) -> VenueReport {
        var report = VenueReport(kind: .execution)
        (report.orderID, report.execType, report.orderStatus, report.rejectReason) = (orderID.text, "I", "8", 5)
        change(&report)
        return report
    }

    private func report(_ kind: VenueReport.Kind = .execution, _ change: (inout VenueReport) -> Void = { _ in }) -> VenueReport {
        var report = VenueReport(kind: kind)
        report.orderID = orderID.text
        change(&report)
        return report
    }

    /// UNKNOWN, with what happened to it before.
    private func doubted(after events: [OrderEvent]) -> Desk {
        var desk = Desk()
        for event in events { desk.apply(event) }
        desk.apply(.doubted(reason: "sequence_reset", sentIn: 1))
        return desk
    }

    @Test(
        arguments: [
            ([.routed, .acknowledged], true), ([.routed, .filled(quantity: 40, price: usd("9.50"))], true),
            ([.routed, .acknowledged, .filled(quantity: 40, price: usd("9.50"))], true),
            // Taken back, and acknowledged all the same.
            (
                [
                    .routed, .filled(quantity: 40, price: usd("9.50")),
                    .corrected(Trade(quantity: 40, price: usd("9.50")), to: nil, isLive: true),
                ], true
            ),
            ([.routed, .doubted(reason: "venue_silent", sentIn: 1), .acknowledged], true),
            // The venue never spoke of these: it never had them.
            ([.routed], false), ([], false), ([.routed, .cancelRequested], false),
        ] as [([OrderEvent], Bool)]
    )
    func `is told by what happened before the doubt`(_ events: [OrderEvent], _ wasHeardOf: Bool) {
        let desk = doubted(after: events)
        #expect(desk.order.status == .unknown && desk.order.wasHeardOf == wasHeardOf)
        #expect(unknownOrder().meaning(for: desk.order) == (wasHeardOf ? .forgotten : .event(.notRouted)))
    }

    @Test(arguments: OrderStatus.allCases) func `is told by its status while it is in none`(_ status: OrderStatus) {
        let meaning = unknownOrder().meaning(for: Desk.standing(status).order)
        switch status {
        case .working, .partiallyFilled: #expect(meaning == .forgotten)
        case .routed, .unknown: #expect(meaning == .event(.notRouted))
        // Ours alone, or ended: what is over a venue may forget.
        case .accepted, .filled, .cancelled, .expired, .rejected: #expect(meaning == .nothing)
        }
    }

    @Test func `is told by any other word of the venue's, in whatever state it finds the order`() {
        let words: [(VenueReport, Bool)] = [
            (report { ($0.execType, $0.orderStatus) = ("A", "A") }, true), (report { ($0.execType, $0.orderStatus) = ("I", "6") }, true),
            (report { ($0.execType, $0.orderStatus, $0.rejectReason) = ("8", "8", 6) }, true), (report { $0.execType = "F" }, true),
            (report(.other), true),
            // A refused cancel says where the order stands, but for one that is not known, or was rejected.
            (report(.cancelReject) { $0.orderStatus = "0" }, true), (report(.cancelReject) { $0.orderStatus = "2" }, true),
            (report(.cancelReject) { ($0.orderStatus, $0.rejectReason) = ("8", 1) }, false),
            (report(.cancelReject) { ($0.orderStatus, $0.rejectReason) = ("4", 1) }, false),
            (report(.cancelReject) { $0.orderStatus = "8" }, false), (report(.cancelReject), false),
            // These refuse a message of ours: the session does, or a part of the venue that has not looked at the order.
            (unknownOrder(), false), (report(.orderRefused), false), (report(.cancelRefused), false), (report(.statusRefused), false),
            (report(.replaceRefused), false),
        ]
        for (word, isHeard) in words {
            for status in [OrderStatus.routed, .unknown] {
                var order = Desk.standing(status).order
                let isNew = order.heard(word)
                #expect(isNew == isHeard && order.wasHeardOf == isHeard, "\(word) of an order that is \(status)")
                // Once.
                let isNewAgain = order.heard(word)
                #expect(!isNewAgain)
            }
            // On an order's normal way its status says so, and its row stays as short as it is.
            for status in [OrderStatus.working, .partiallyFilled, .filled, .cancelled] {
                var order = Desk.standing(status).order
                let isNew = order.heard(word)
                #expect(!isNew && order.unansweredIn == nil)
            }
        }
    }

    @Test func `is rejected as unknown by no venue that had it`() {
        let rejected = report { ($0.execType, $0.orderStatus, $0.rejectReason) = ("8", "8", 5) }
        for status in [OrderStatus.working, .partiallyFilled] {
            guard case .unbookable = rejected.meaning(for: Desk.standing(status).order) else {
                Issue.record("an order that is \(status) is rejected")
                continue
            }
        }
        // Where it is UNKNOWN already it was asked about, and is not parked again and again. What the venue repeats is of before.
        for status in [OrderStatus.working, .partiallyFilled] {
            var desk = Desk.standing(status)
            desk.apply(.doubted(reason: "sequence_reset"))
            #expect(rejected.meaning(for: desk.order) == .forgotten && !rejected.saysThatItCame)
            var repeated = rejected
            repeated.isRepeated = true
            #expect(repeated.meaning(for: desk.order) == .nothing)
        }
        // Of one that it never spoke of it is a rejection as any other; and any order may be rejected for another reason after it was acknowledged.
        #expect(rejected.meaning(for: Desk.standing(.routed).order) == .event(.rejected(reason: "rejected_by_venue (5)")))
        let other = report { ($0.execType, $0.orderStatus, $0.rejectReason) = ("8", "8", 99) }
        #expect(other.meaning(for: Desk.standing(.working).order) == .event(.rejected(reason: "rejected_by_venue (99)")))
    }

    @Test func `or may have had it in a time that a restore has lost, keeps its hold whatever is asked, until it speaks of it`() {
        var desk = Desk.standing(.unknown)
        desk.order.unansweredIn = OrderState.lostInRestore
        #expect(!desk.order.wasHeardOf && desk.order.mayHaveBeenHeardOf && !desk.order.maySendAgain(at: 2))
        for question in [nil, "1.0", "2.0", "7.0"] as [String?] {
            let asked = unknownOrder { ($0.statusQuestion, $0.receivedIn) = (question, 7) }
            #expect(asked.meaning(for: desk.order) == .forgotten, "\(question ?? "none")")
        }
        // Nor do other words for the same that it may use, and a refusal that may be of another order's number.
        #expect(report { ($0.execType, $0.orderStatus, $0.rejectReason) = ("8", "8", 5) }.meaning(for: desk.order) == .forgotten)
        #expect(report(.orderRefused).meaning(for: desk.order) == .event(.doubted(reason: "refused_before_restore")))
        let other = report { ($0.execType, $0.orderStatus, $0.rejectReason) = ("8", "8", 99) }
        #expect(other.meaning(for: desk.order) == .event(.rejected(reason: "rejected_by_venue (99)")))
        let isNew = desk.order.heard(report { ($0.execType, $0.orderStatus) = ("0", "0") })
        #expect(isNew && desk.order.wasHeardOf && desk.order.unansweredIn == 0)
    }

    @Test func `is asked about when its cancel is refused because the venue does not know it`() {
        let refused = report(.cancelReject) { ($0.orderStatus, $0.rejectReason) = ("8", 1) }
        #expect(refused.doubtOfRefusal == "venue_says_unknown_order")
        // Also where the venue does not say OrdStatus rejected with it.
        #expect(report(.cancelReject) { $0.rejectReason = 1 }.doubtOfRefusal == "venue_says_unknown_order")
        #expect(report(.cancelReject) { ($0.orderStatus, $0.rejectReason) = ("4", 0) }.doubtOfRefusal == "venue_says_it_ended")
        #expect(report(.cancelReject) { ($0.orderStatus, $0.rejectReason) = ("0", 0) }.doubtOfRefusal == nil)
        #expect(report { ($0.execType, $0.rejectReason) = ("I", 1) }.doubtOfRefusal == nil)
    }

    @Test func `may be ended on the word of the venue's desk while nothing else is known`() {
        var desk = Desk.standing(.partiallyFilled)
        #expect(!desk.order.needsTheDesk(isUnanswered: true))
        desk.apply(.doubted(reason: OrderState.forgottenByVenue))
        #expect(desk.order.isForgotten && desk.order.needsTheDesk(isUnanswered: false))
        // It speaks of the order again: then its word is to be waited for.
        var known = desk
        let isNew = known.order.heard(report { ($0.execType, $0.orderStatus) = ("I", "6") })
        #expect(isNew && known.order.reason == OrderState.knownByVenueAfterAll && !known.order.needsTheDesk(isUnanswered: false))
        // Where it is UNKNOWN for another reason, when the venue does not answer.
        let silent = Desk.standing(.unknown)
        #expect(!silent.order.needsTheDesk(isUnanswered: false) && silent.order.needsTheDesk(isUnanswered: true))

        let before = desk.balance(cash)
        desk.apply(OrderState.endedByOperator)
        #expect(desk.order.status == .cancelled && desk.order.reason == "ended_by_operator" && desk.order.held == .zero)
        #expect(desk.balance(cash).available == before.available.adding(before.held) && desk.balance(cash).held == .zero)
        // A fill is a fact also then.
        guard case .changed(.fill, let alarms) = desk.apply(.filled(quantity: 10, price: usd("9.50"))) else {
            Issue.record("the fill is not booked")
            return
        }
        #expect(alarms.map(\.kind) == [.fillAfterEnd])
    }
}
