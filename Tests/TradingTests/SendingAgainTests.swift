import Testing
import Trading

@Suite struct `An order that was lost in a reset` {
    private static let day: Int64 = 86_400_000

    /// UNKNOWN, numbered in generation 1, of which the venue has said nothing.
    private func lost(_ change: (inout OrderState) -> Void = { _ in }) -> Desk {
        var desk = Desk.standing(.unknown)
        desk.order.unansweredIn = 1
        change(&desk.order)
        return desk
    }

    private func unknown(_ question: String?, receivedIn generation: Int64? = 3) -> VenueReport {
        var report = VenueReport(kind: .execution)
        (report.orderID, report.execType, report.orderStatus, report.rejectReason) = (orderID.text, "I", "8", 5)
        (report.statusQuestion, report.receivedIn) = (question, generation)
        return report
    }

    @Test func `is known by the answer to a question of after the reset`() {
        let order = lost().order
        #expect(unknown("2.0").meaning(for: order) == .lostInReset)
        // Within the numbers that it was sent in the question came behind it: it never will.
        #expect(unknown("1.0").meaning(for: order) == .event(.notRouted))
        // Who does not say what was asked says nothing of the reset.
        for question in [nil, "", "2", "2.0.0", "0.0", "-2.0", "2.-1", "x.0", "2.x", "99999999999999999999.0"] as [String?] {
            #expect(unknown(question).meaning(for: order) == .event(.notRouted), "\(question ?? "none")")
        }
    }

    @Test func `is not known by the answer to a question of a time to come`() {
        let order = lost().order
        #expect(unknown("2.0", receivedIn: 2).meaning(for: order) == .lostInReset)
        // The venue has made it up: when its answer arrived nobody had asked so. It counts as one that does not say what was asked.
        for (question, generation) in [("2.0", 1), ("3.0", 2), ("9223372036854775807.0", 3)] as [(String, Int64)] {
            #expect(unknown(question, receivedIn: generation).meaning(for: order) == .event(.notRouted), "\(question) in \(generation)")
        }
        #expect(unknown("2.0", receivedIn: nil).meaning(for: order) == .event(.notRouted))
        // Nor does it say which sending it means.
        let again = lost {
            $0.resends = 1
            $0.unansweredIn = 2
        }.order
        #expect(unknown("3.1", receivedIn: 3).meaning(for: again) == .lostInReset)
        #expect(unknown("4.1", receivedIn: 3).meaning(for: again) == .nothing)
    }

    @Test func `is none once the venue has said anything of it`() {
        // Nobody knows in which numbers it was sent.
        #expect(unknown("2.0").meaning(for: lost { $0.unansweredIn = nil }.order) == .event(.notRouted))
        #expect(unknown("2.0").meaning(for: lost { $0.unansweredIn = 0 }.order) == .forgotten)
        var silent = Desk.standing(.routed)
        silent.apply(.doubted(reason: "venue_silent", sentIn: 1))
        #expect(silent.order.unansweredIn == 1)
    }

    @Test func `is not judged by what was asked before it was sent again`() {
        let again = lost {
            $0.resends = 1
            $0.unansweredIn = 2
        }.order
        for question in ["1.0", "2.0", "3.0", "3.2", nil] { #expect(unknown(question).meaning(for: again) == .nothing, "\(question ?? "none")") }
        #expect(unknown("2.1").meaning(for: again) == .event(.notRouted))
        #expect(unknown("3.1").meaning(for: again) == .lostInReset)
        // It waits for its number: nobody but us has it.
        var waiting = again
        waiting.status = .accepted
        for question in ["2.0", "2.1", "3.1", nil] { #expect(unknown(question).meaning(for: waiting) == .nothing) }
        // Nor where it has been acknowledged meanwhile.
        var working = again
        (working.status, working.unansweredIn) = (.working, nil)
        #expect(unknown("2.0").meaning(for: working) == .nothing)
    }

    @Test func `goes again as it was, within its deadline, of the same day and period`() {
        let order = lost().order
        #expect(order.maySendAgain(at: 1_000) && !order.maySendAgain(at: 1_001))
        #expect(order.maySendAgain(at: 5, since: 1) && !order.maySendAgain(at: 5, since: 2))
        for change in [
            { $0.unansweredIn = nil }, { $0.unansweredIn = 0 }, { $0.filledQuantity = 1 }, { $0.cancels = 1 }, { $0.replaces.requests = 1 },
        ] as [(inout OrderState) -> Void] {
            #expect(!lost(change).order.maySendAgain(at: 5))
        }
        let long = OrderState(
            id: orderID,
            account: account,
            key: key,
            terms: terms(),
            holdPrice: usd("10"),
            createdAt: Self.day - 1,
            routeBy: 3 * Self.day,
            status: .unknown,
            held: usd("1000"),
            unansweredIn: 1,
            updatedAt: 1
        )
        #expect(long.maySendAgain(at: Self.day - 1) && !long.maySendAgain(at: Self.day))
    }

    @Test func `is ours again with its hold, and on its way as any other`() {
        var desk = lost()
        let held = desk.balance(cash)
        #expect(desk.apply(.lostInReset) == .changed(.accepted, alarms: []))
        #expect(desk.order.status == .accepted && desk.order.resends == 1 && desk.order.reason == "lost_in_reset")
        #expect(desk.balance(cash) == held && desk.order.held == held.held)
        #expect(desk.order.isTooLate(at: 1_001, since: nil) && desk.order.isTooLate(at: 5, since: 2) && !desk.order.isTooLate(at: 5, since: nil))
        desk.apply(.routed)
        #expect(desk.order.status == .routed && desk.order.reason == nil && desk.order.resends == 1 && desk.order.unansweredIn == nil)
        desk.apply(.doubted(reason: "silent", sentIn: 2))
        #expect(desk.order.unansweredIn == 2)
        desk.apply(.cancelled(reason: nil))
        #expect(desk.order.unansweredIn == nil && desk.balance(cash).held == .zero)
    }

    @Test(arguments: [.acknowledged, .filled(quantity: 100, price: usd("9"))] as [OrderEvent])
    func `that has come all the same does not say that it was lost`(_ event: OrderEvent) {
        var desk = lost()
        desk.apply(.lostInReset)
        desk.apply(event)
        #expect(desk.order.reason == nil && desk.order.status != .accepted)
    }

    @Test func `of before is too late by its deadline alone`() {
        var order = Desk().order
        #expect(!order.isTooLate(at: 1_000, since: nil) && order.isTooLate(at: 1_001, since: nil))
        // One that was never numbered waits for its first number, whatever the day.
        #expect(!order.isTooLate(at: 5, since: 4))
        order.status = .routed
        #expect(!order.isTooLate(at: 9_999, since: nil))
    }

    @Test func `is asked about by a question that can be read back`() {
        let question = StatusQuestion(generation: 12, resends: 2)
        #expect(question.text == "12.2" && StatusQuestion(question.text) == question)
    }
}
