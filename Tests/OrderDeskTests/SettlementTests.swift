import Testing
import Trading

@testable import OrderDesk
@testable import Storage

@Suite struct `A settlement` {
    private let id = identity(account, key(1))

    private func order(_ status: OrderStatus = .routed, filled: Int64 = 0, held: String? = nil) -> OrderState {
        OrderState(
            id: id,
            account: account,
            key: key(1),
            terms: terms(quantity: 100),
            holdPrice: usd("100"),
            createdAt: 1,
            routeBy: 2,
            status: status,
            held: usd(held ?? (status.isOpen ? "\(100 * (100 - filled))" : "0")),
            filledQuantity: filled,
            filledValue: usd("\(filled * 100)"),
            updatedAt: 1
        )
    }

    private func begin(
        _ order: OrderState,
        booked: [ExecutionKey: BookedExecution] = [:],
        available: String = "500",
        sendsAgain: Bool = true
    ) -> Settlement {
        var known = BookedExecutions()
        known.found = booked
        return Settlement(
            reads: OrderReads(
                locks: [ShardLock(shard: account.shard, nextLog: 5, nextJournal: 3, sentLog: 4, settledInbox: 0)],
                orders: [order.id: order],
                accounts: [account: AccountRecord(lastEvent: 7, owes: false)],
                balances: [Balances.Key(.customer(account), .cash): Balance(available: usd(available), held: order.held)]
            ),
            booked: known,
            venue: "VENUE",
            now: now,
            sendsAgain: sendsAgain
        )
    }

    private func report(_ inbox: Int64, _ type: String = "F", _ change: (inout VenueReport) -> Void = { _ in }) -> InboxReport {
        var report = VenueReport(kind: .execution)
        report.orderID = id.text
        report.execType = type
        report.execID = "e\(inbox)"
        report.tradeDate = "20260316"
        if type == "F" { (report.lastQuantity, report.lastPrice) = (40, usd("99")) }
        change(&report)
        return InboxReport(inboxID: inbox, shard: account.shard, report: report)
    }

    private func settled(_ settlement: Settlement) -> OrderState? { settlement.changes.changedOrders[id] }

    @Test func `books a fill: order, ledger, execution and event`() {
        var settlement = begin(order())
        settlement.settle(report(1) { $0.cumulativeQuantity = 40 })
        #expect(settled(settlement)?.status == .partiallyFilled && settled(settlement)?.filledQuantity == 40)
        #expect(settlement.changes.executions.map(\.key.execID) == ["e1"] && settlement.changes.executions[0].inboxID == 1)
        #expect(settlement.changes.balances.balance(.customer(account), .cash) == Balance(available: usd("540"), held: usd("6000")))
        #expect(settlement.changes.eventCount == 1 && settlement.alarms.isEmpty && settlement.changes.parked.isEmpty)
    }

    @Test func `books an execution once, from the inbox or from before`() {
        var twice = begin(order())
        twice.settle(report(1))
        twice.settle(report(2) { $0.execID = "e1" })
        #expect(twice.changes.executions.count == 1 && settled(twice)?.filledQuantity == 40 && twice.changes.parked.isEmpty)
        let booked = [ExecutionKey(tradeDate: "20260316", execID: "e1"): BookedExecution(orderID: id, trade: Trade(quantity: 40, price: usd("99")))]
        var again = begin(order(.partiallyFilled, filled: 40), booked: booked)
        again.settle(report(9) { $0.execID = "e1" })
        #expect(again.changes.executions.isEmpty && again.changes.eventCount == 0 && again.alarms.isEmpty)
        // The same id on another day is another execution.
        again.settle(
            report(10) {
                $0.execID = "e1"
                $0.tradeDate = "20260317"
            }
        )
        #expect(again.changes.executions.count == 1)
    }

    @Test(arguments: [(39, "99", true), (40, "98", true), (40, "99", false)] as [(Int64, String, Bool)])
    func `parks an execution that says something else under a booked id`(_ quantity: Int64, _ price: String, _ sameOrder: Bool) {
        let other = identity(account, key(2))
        let booked = [
            ExecutionKey(tradeDate: "20260316", execID: "e1"): BookedExecution(
                orderID: sameOrder ? id : other,
                trade: Trade(quantity: 40, price: usd("99"))
            )
        ]
        var settlement = begin(order(.working), booked: booked)
        settlement.settle(report(1) { ($0.lastQuantity, $0.lastPrice) = (quantity, usd(price)) })
        #expect(settlement.changes.parked.map(\.inboxID) == [1] && settlement.changes.executions.isEmpty)
        #expect(settled(settlement)?.status == .unknown && settled(settlement)?.held == usd("10000"))
        #expect(settlement.alarms.map(\.0.kind) == [.parked])
    }

    @Test(arguments: ["ord_20260316_aaaaaaaaaaaaaaaaaaaaaaaaaa", "nonsense", nil] as [String?])
    func `parks what names no order of ours and goes on`(_ name: String?) {
        var settlement = begin(order())
        settlement.settle(report(1) { $0.orderID = name })
        settlement.settle(report(2))
        #expect(settlement.changes.parked.map(\.inboxID) == [1] && settlement.changes.executions.count == 1)
        #expect(settlement.alarms.map(\.0.kind) == [.parked])
    }

    @Test func `parks a fill that cannot be booked: its order is UNKNOWN with its hold`() {
        var settlement = begin(order(.working))
        settlement.settle(report(1) { $0.lastPrice = nil })
        #expect(settlement.changes.parked.count == 1 && settled(settlement)?.status == .unknown && settled(settlement)?.held == usd("10000"))
        var huge = begin(order(.working))
        huge.settle(report(1) { ($0.lastQuantity, $0.lastPrice) = (.max, Amount(units: .max)) })
        #expect(huge.changes.parked.count == 1 && huge.changes.balances.journals.isEmpty && settled(huge)?.status == .unknown)
    }

    @Test func `books a fill after a cancel and says so`() {
        var settlement = begin(order(.cancelled))
        settlement.settle(report(1) { $0.lastQuantity = 6 })
        #expect(settled(settlement)?.status == .cancelled && settlement.changes.executions.count == 1)
        #expect(settlement.alarms.map(\.0.kind) == [.fillAfterEnd, .owes])
        #expect(settlement.changes.balances.balance(.customer(account), .cash).owed == usd("94"))
    }

    @Test func `books an overfill and says so`() {
        var settlement = begin(order(.partiallyFilled, filled: 80))
        settlement.settle(report(1))
        #expect(settled(settlement)?.status == .filled && settled(settlement)?.filledQuantity == 120)
        #expect(settlement.alarms.map(\.0.kind) == [.overfill, .owes])
    }

    @Test func `alarms when the venue's sum is not ours`() {
        var settlement = begin(order(.working))
        settlement.settle(report(1) { $0.cumulativeQuantity = 60 })
        #expect(settlement.changes.executions.count == 1 && settlement.alarms.map(\.0.kind) == [.cumulativeQuantityDiffers])
    }

    @Test func `parks a report that contradicts what is known and keeps an ended order's end`() {
        var settlement = begin(order(.filled, filled: 100))
        settlement.settle(report(1, "8"))
        #expect(settlement.changes.parked.count == 1 && settled(settlement) == nil && settlement.changes.eventCount == 0)
    }

    @Test func `asks again about a status that does not agree, without parking the answer`() {
        var settlement = begin(order(.working))
        let status = report(1, "I") { ($0.orderStatus, $0.cumulativeQuantity) = ("1", 10) }
        settlement.settle(status)
        #expect(settled(settlement)?.status == .unknown && settlement.changes.parked.isEmpty)
        #expect(settlement.alarms.map(\.0.kind) == [.cumulativeQuantityDiffers])
        settlement.settle(status)
        #expect(settlement.alarms.count == 1 && settlement.changes.eventCount == 1)
        settlement.settle(report(3, "I") { ($0.orderStatus, $0.cumulativeQuantity) = ("0", 0) })
        #expect(settled(settlement)?.status == .working)
        settlement.settle(report(4, "I") { ($0.orderStatus, $0.cumulativeQuantity) = ("4", 0) })
        #expect(settled(settlement)?.status == .cancelled && settled(settlement)?.held == .zero)
        #expect(settlement.changes.balances.balance(.customer(account), .cash) == Balance(available: usd("10500")))
    }

    @Test func `takes no notice of what says nothing new`() {
        var settlement = begin(order(.working))
        settlement.settle(report(1, "A"))
        settlement.settle(report(2, "0"))
        #expect(settlement.changes.eventCount == 0 && settlement.changes.parked.isEmpty && settlement.alarms.isEmpty)
    }

    @Test(
        arguments: [("2", true), ("4", true), ("8", true), ("C", true), ("0", false), ("1", false), ("6", false), (nil, false)] as [(String?, Bool)]
    )
    func `doubts an open order whose cancel or replace is refused because it has ended`(_ status: String?, _ isDoubted: Bool) {
        var refusal = VenueReport(kind: .cancelReject)
        (refusal.orderID, refusal.orderStatus, refusal.text) = (id.text, status, "no")
        var asked = order(.working)
        (asked.cancels, asked.cancelPending) = (1, true)
        var settlement = begin(asked)
        settlement.settle(InboxReport(inboxID: 1, shard: account.shard, report: refusal))
        #expect(settlement.changes.events.map(\.type) == (isDoubted ? [.cancelRejected, .unknown] : [.cancelRejected]))
        #expect(settled(settlement)?.status == (isDoubted ? .unknown : .working) && settled(settlement)?.held == asked.held)
        #expect(settled(settlement)?.reason == (isDoubted ? "venue_says_it_ended" : "no"))
        // Its end came before: nothing more to ask.
        var ended = begin(asked)
        ended.settle(report(1, "4"))
        ended.settle(InboxReport(inboxID: 2, shard: account.shard, report: refusal))
        #expect(settled(ended)?.status == .cancelled && ended.changes.events.map(\.type) == [.cancelled])
    }

    @Test(arguments: [("F", ["fill", "cancel_rejected"]), ("C", ["expired", "cancel_rejected"]), ("4", ["cancelled"])])
    func `tells once what became of a cancel, also where the order's end overtakes it`(_ end: String, _ told: [String]) {
        var asked = order(.partiallyFilled, filled: 60)
        (asked.cancels, asked.cancelPending) = (1, true)
        var refusal = VenueReport(kind: .cancelReject)
        (refusal.orderID, refusal.orderStatus, refusal.text) = (id.text, "2", "no")
        var settlement = begin(asked)
        settlement.settle(report(1, end))
        settlement.settle(InboxReport(inboxID: 2, shard: account.shard, report: refusal))
        #expect(settlement.changes.events.map(\.type.text) == told)
        #expect(settlement.changes.events.last?.order.reason == (told.count == 1 ? nil : "too_late"))
        #expect(settled(settlement)?.status.isOpen == false && settled(settlement)?.cancelPending == false)
        // Without a cancel under way the end is told alone.
        var unasked = begin(order(.partiallyFilled, filled: 60))
        unasked.settle(report(1, end))
        #expect(unasked.changes.events.map(\.type.text) == [told[0]])
    }

    @Test func `gives a report up with its order in doubt`() {
        var settlement = begin(order(.working))
        settlement.giveUp(report(1), why: "index row too large")
        #expect(settlement.changes.parked.map(\.why) == ["index row too large"])
        #expect(settled(settlement)?.status == .unknown && settled(settlement)?.reason == "report_not_booked")
        #expect(settlement.alarms.map(\.0.kind) == [.parked] && settlement.changes.executions.isEmpty)
    }

    /// UNKNOWN since the numbers began again; numbered in generation 1.
    private func lost(resends: Int16 = 0, routeBy: Int64 = now, _ status: OrderStatus = .unknown) -> OrderState {
        OrderState(
            id: id,
            account: account,
            key: key(1),
            terms: terms(quantity: 100),
            holdPrice: usd("100"),
            createdAt: now,
            routeBy: routeBy,
            status: status,
            held: usd("10000"),
            resends: resends,
            unansweredIn: 1,
            updatedAt: 1
        )
    }

    private func unknown(_ inbox: Int64, _ question: String) -> InboxReport {
        report(inbox, "I") { ($0.orderStatus, $0.rejectReason, $0.statusQuestion, $0.receivedIn) = ("8", 5, question, 2) }
    }

    @Test func `gives an order that was lost in a reset back to the sender, once for each question`() {
        var settlement = begin(lost())
        settlement.settle(unknown(1, "2.0"))
        settlement.settle(unknown(2, "2.0"))
        #expect(settlement.changes.events.map(\.type) == [.accepted])
        let order = settled(settlement)
        #expect(order?.status == .accepted && order?.resends == 1 && order?.held == usd("10000") && order?.unansweredIn == 1)
    }

    @Test(arguments: [(0, now - 1, true), (2, now, true), (0, now, false)] as [(Int16, Int64, Bool)])
    func `ends it past its deadline, after the last time, and where nothing is sent again`(_ resends: Int16, _ routeBy: Int64, _ sendsAgain: Bool) {
        var settlement = begin(lost(resends: resends, routeBy: routeBy), sendsAgain: sendsAgain)
        settlement.settle(unknown(1, "2.\(resends)"))
        #expect(settlement.changes.events.map(\.type) == [.cancelled])
        #expect(settled(settlement)?.reason == "not_routed")
    }

    @Test func `takes any other word of the venue as one that the order has come`() {
        // Pending new, a status, a duplicate, a report that cannot be booked.
        for change in [
            { ($0.execType, $0.orderStatus) = ("A", "A") }, { ($0.execType, $0.orderStatus) = ("I", "A") },
            { ($0.execType, $0.orderStatus, $0.rejectReason) = ("8", "8", 6) }, { ($0.execType, $0.lastQuantity) = ("F", nil) },
        ] as [(inout VenueReport) -> Void] {
            var settlement = begin(lost())
            settlement.settle(report(1, "I", change))
            #expect(settled(settlement)?.unansweredIn == 0)
            settlement.settle(unknown(2, "2.0"))
            #expect(settled(settlement)?.status == .unknown && settled(settlement)?.reason == "forgotten_by_venue")
            // It waits to be sent again, and is not.
            var waiting = begin(lost(resends: 1, .accepted))
            waiting.settle(report(1, "I", change))
            #expect(settled(waiting)?.status == .unknown && settled(waiting)?.unansweredIn == 0)
        }
        // Before there was a doubt: noted for one to come.
        var routed = begin(order())
        routed.settle(report(1, "A") { $0.orderStatus = "A" })
        #expect(settled(routed)?.status == .routed && settled(routed)?.unansweredIn == 0 && routed.changes.events.isEmpty)
        // An acknowledgement shows in the status alone.
        var acknowledged = begin(order())
        acknowledged.settle(report(1, "0") { $0.orderStatus = "0" })
        #expect(settled(acknowledged)?.status == .working && settled(acknowledged)?.unansweredIn == nil)
        var working = begin(lost(resends: 1, .accepted))
        working.settle(report(1, "0") { $0.orderStatus = "0" })
        #expect(settled(working)?.status == .working && settled(working)?.unansweredIn == 0)
    }

    @Test(arguments: [OrderStatus.working, .partiallyFilled])
    func `holds what an order has that the venue had and does not know any more, and alarms once for as long as it says so`(_ status: OrderStatus) {
        let before = order(status, filled: status == .working ? 0 : 40)
        var settlement = begin(before)
        settlement.settle(unknown(1, "2.0"))
        settlement.settle(unknown(2, "2.0"))
        let forgotten = settled(settlement)
        #expect(forgotten?.status == .unknown && forgotten?.reason == "forgotten_by_venue" && forgotten?.held == before.held)
        #expect(settlement.changes.events.map(\.type) == [.unknown] && settlement.changes.balances.journals.isEmpty)
        #expect(settlement.alarms.map(\.0.kind) == [.forgottenByVenue] && settlement.changes.parked.isEmpty)
        #expect(settlement.alarms[0].0.detail.contains("here are \(before.filledQuantity) of 100 filled"))
        // The refusal of a cancel tells its client why, and the operator still sees what became of the order.
        var cancel = forgotten!
        (cancel.cancels, cancel.cancelPending) = (1, true)
        var asked = begin(cancel)
        var refusal = VenueReport(kind: .cancelReject)
        (refusal.orderID, refusal.orderStatus, refusal.rejectReason, refusal.text) = (id.text, "8", 1, "unknown order")
        asked.settle(InboxReport(inboxID: 3, shard: account.shard, report: refusal))
        asked.settle(unknown(4, "2.0"))
        #expect(asked.changes.events.map(\.type) == [.cancelRejected] && asked.changes.events[0].order.reason == "unknown order")
        #expect(settled(asked)?.isForgotten == true && settled(asked)?.cancelPending == false && asked.alarms.isEmpty)
    }

    @Test func `believes a venue that speaks of an order again which it did not know`() {
        var settlement = begin(order(.working))
        settlement.settle(unknown(1, "2.0"))
        // It does not say where the order stands: that it has it does not agree with what it said.
        settlement.settle(report(2, "I") { $0.orderStatus = "6" })
        #expect(settled(settlement)?.status == .unknown && settled(settlement)?.reason == "venue_has_it_after_all")
        settlement.settle(unknown(3, "2.0"))
        #expect(settlement.alarms.map(\.0.kind) == [.forgottenByVenue, .forgottenByVenue])
        settlement.settle(report(4, "I") { ($0.orderStatus, $0.cumulativeQuantity) = ("0", 0) })
        #expect(settled(settlement)?.status == .working && settled(settlement)?.reason == nil && settled(settlement)?.held == usd("10000"))
        // What it reports books, whatever it has said before.
        settlement.settle(unknown(5, "2.0"))
        settlement.settle(report(6))
        #expect(settled(settlement)?.status == .partiallyFilled && settled(settlement)?.filledQuantity == 40)
        settlement.settle(unknown(7, "2.0"))
        settlement.settle(report(8, "4"))
        #expect(settled(settlement)?.status == .cancelled && settled(settlement)?.held == .zero)
        // And of what has ended it may say what it likes.
        let (events, alarms) = (settlement.changes.eventCount, settlement.alarms.count)
        settlement.settle(unknown(9, "2.0"))
        #expect(settlement.changes.eventCount == events && settlement.alarms.count == alarms && settled(settlement)?.reason == nil)
    }

    @Test func `knows that the venue has spoken of an order, whatever the report of it came to`() {
        // A fill that cannot be booked, one under the id of another, a duplicate, a report that the database refuses, a cancel that came too late.
        let other = [ExecutionKey(tradeDate: "20260316", execID: "e1"): BookedExecution(orderID: id, trade: Trade(quantity: 1, price: usd("1")))]
        var tooLate = VenueReport(kind: .cancelReject)
        (tooLate.orderID, tooLate.orderStatus) = (id.text, "2")
        for (report, isRefused) in [
            (report(1) { $0.lastPrice = nil }, false), (report(1), false), (report(1, "8") { $0.rejectReason = 6 }, false), (report(1, "0"), true),
            (InboxReport(inboxID: 1, shard: account.shard, report: tooLate), false),
        ] {
            var routed = order()
            (routed.cancels, routed.cancelPending) = (1, true)
            var settlement = begin(routed, booked: other)
            if isRefused { settlement.giveUp(report, why: "refused") } else { settlement.settle(report) }
            #expect(settled(settlement)?.status == .unknown)
            settlement.settle(unknown(2, "2.0"))
            #expect(settled(settlement)?.isForgotten == true && settled(settlement)?.held == usd("10000"), "\(report.report)")
        }
        // Of one that it never spoke of its word ends it, as ever.
        var never = begin(order())
        never.settle(unknown(1, "2.0"))
        #expect(settled(never)?.status == .cancelled && settled(never)?.reason == "not_routed" && never.alarms.isEmpty)
    }

    @Test func `asks about an order whose cancel is refused because the venue does not know it`() {
        var refusal = VenueReport(kind: .cancelReject)
        (refusal.orderID, refusal.rejectReason) = (id.text, 1)
        for status in [OrderStatus.routed, .working] {
            var asked = order(status)
            (asked.cancels, asked.cancelPending) = (1, true)
            var settlement = begin(asked)
            settlement.settle(InboxReport(inboxID: 1, shard: account.shard, report: refusal))
            #expect(settlement.changes.events.map(\.type) == [.cancelRejected, .unknown])
            #expect(settled(settlement)?.reason == "venue_says_unknown_order" && settlement.alarms.isEmpty)
            settlement.settle(unknown(2, "2.0"))
            #expect(settled(settlement)?.reason == (status == .routed ? "not_routed" : "forgotten_by_venue"))
        }
    }
    private func unknown(_ name: OrderID, asked request: String? = nil, isRepeated: Bool = false) -> InboxReport {
        report(1, "I") {
            ($0.orderID, $0.requestID, $0.orderStatus, $0.rejectReason) = (name.text, request, "8", 5)
            ($0.cumulativeQuantity, $0.isRepeated) = (0, isRepeated)
        }
    }

    @Test func `believes that the venue does not know the order of a recovered key only when it says so now`() {
        let other = identity(account, key(2))
        var (before, now, has) = (begin(order()), begin(order()), begin(order()))
        before.settle(unknown(other, isRepeated: true))
        #expect(before.changes.knownAtVenue[other] == nil)
        now.settle(unknown(other))
        #expect(now.changes.knownAtVenue[other] == false)
        // Some venues say that as a rejection. No order is made of it.
        for isRepeated in [false, true] {
            var rejected = begin(order())
            rejected.settle(
                report(1, "8") {
                    ($0.orderID, $0.orderStatus, $0.rejectReason, $0.isRepeated) = (other.text, "8", 5, isRepeated)
                }
            )
            #expect(rejected.changes.knownAtVenue[other] == (isRepeated ? nil : false) && rejected.alarms.isEmpty)
        }
        has.settle(
            report(1, "I") {
                ($0.orderID, $0.orderStatus, $0.isRepeated) = (other.text, "0", true)
            }
        )
        #expect(has.changes.knownAtVenue[other] == true)
    }

    @Test func `compares no sum of what the venue says not to know`() {
        var replaced = order(.partiallyFilled, filled: 40)
        let terms = Replacement(quantity: 90, limitPrice: usd("100"), stopPrice: nil)
        (replaced.replaces.requests, replaced.replaces.pending) = (1, .init(number: 1, terms: terms, holdPrice: usd("100"), lostIn: nil))
        var settlement = begin(replaced)
        settlement.settle(unknown(id, asked: id.text + "-r1"))
        #expect(settled(settlement)?.replaces.pending == nil && settled(settlement)?.status == .partiallyFilled && settlement.alarms.isEmpty)
    }
}
