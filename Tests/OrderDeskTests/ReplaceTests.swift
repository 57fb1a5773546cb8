import Quotes
import Testing
import Trading
import Wire

@testable import OrderDesk
@testable import Storage

/// BUY 10 at 100 by `account`, standing somewhere, and a desk that a replace of it comes to.
private struct Scene {
    var order = standing()
    var available = usd("1000")
    var halts: [Halt] = []
    var credential: CredentialState? = .active
    var keys: [KeyRecord] = []
    var owes = false
    var market = StillMarket()
    var recoveredAt: Int64?

    static func standing(_ status: OrderStatus = .working, filled: Int64 = 0) -> OrderState {
        OrderState(
            id: identity(account, key(1)),
            account: account,
            key: key(1),
            terms: terms(),
            holdPrice: usd("100"),
            createdAt: 1,
            routeBy: now + 60_000,
            status: status,
            held: usd(status.isOpen ? "\(100 * (10 - filled))" : "0"),
            filledQuantity: filled,
            filledValue: usd("\(100 * filled)"),
            updatedAt: 1
        )
    }

    func decide(_ work: [Work]) -> Decision {
        var decision = Decision(
            reads: AcceptReads(
                locks: [ShardLock(shard: account.shard, nextLog: 5, nextJournal: 3, sentLog: 4, settledInbox: 0)],
                halts: halts,
                venueIsUp: true,
                accounts: [account: AccountRecord(lastEvent: 7, owes: owes)],
                balances: [Balances.Key(.customer(account), .cash): Balance(available: available, held: order.held)],
                keys: Dictionary(uniqueKeysWithValues: keys.map { ($0.id, $0) }),
                credentials: credential.map { [CredentialKey(account, "c1"): $0] } ?? [:],
                orders: [order.id: order],
                open: [order.id],
                recoveredAt: recoveredAt
            ),
            market: market,
            rules: rules,
            now: now
        )
        for piece in work { decision.decide(piece) }
        return decision
    }

    func after(_ decision: Decision) -> OrderState? { decision.changes.changedOrders[order.id] }
}

private func replace(
    _ number: Int = 2,
    of order: OrderState = Scene.standing(),
    to quantity: Int64 = 15,
    at limit: String = "101"
) -> ReplaceSubmission {
    ReplaceSubmission(
        order: order,
        key: key(number),
        terms: Replacement(quantity: quantity, limitPrice: usd(limit), stopPrice: nil),
        fingerprint: [UInt8(number)],
        credentialID: "c1",
        clientTimestamp: now,
        quoteReference: now,
        receivedAt: now
    )
}

private let notTaken: [(word: String, bend: @Sendable (inout Scene) -> Void)] = [
    ("orderNotOpen", { $0.order = Scene.standing(.cancelled) }), ("changePending", { $0.order = Scene.standing(.unknown) }),
    ("changePending", { $0.order.cancelPending = true }),
    ("tradingHalted", { $0.halts = [Halt(scope: .symbol, subject: symbol.text, reason: "drill")] }),
    ("marketDataStale", { $0.market.listings[symbol] = .init(symbol: symbol, quote: StillMarket.quote(age: 2_501)) }),
    ("credentialInvalidated", { $0.credential = .invalidated }), ("credentialUnknown", { $0.credential = nil }),
]

private let burnt: [(code: String, bend: @Sendable (inout Scene) -> Void, quantity: Int64, limit: String)] = [
    ("insufficient_funds", { $0.available = usd("514.9999") }, 15, "101"), ("price_collar", { _ in }, 15, "106"),
    ("limit_exceeded", { _ in }, 1_001, "50"), ("insufficient_funds", { $0.owes = true }, 15, "101"),
]

@Suite struct `A decision on a replace` {
    @Test func `holds more, tells of the request, and claims its key with the answer`() throws {
        let scene = Scene()
        let decision = scene.decide([.replace(replace())])
        let record = try #require(decision.verdicts[0].record)
        #expect(record.outcome == .replaceRequested && record.httpStatus == 202 && record.orderID == scene.order.id)
        let id = scene.order.id.text
        #expect(
            String(decoding: record.answer ?? [], as: UTF8.self)
                == #"{"order_id":"\#(id)","replace_id":"\#(id)-r1","status":"REPLACE_REQUESTED","quantity":15,"limit_price":101.00,"stop_price":null,"reserved_funds_usd":1515.00}"#
        )
        let order = try #require(scene.after(decision))
        #expect(order.held == usd("1515") && order.terms == terms() && order.status == .working)
        #expect(order.replaces.pending?.terms.quantity == 15)
        #expect(decision.changes.balances.balance(.customer(account), .cash) == Balance(available: usd("485"), held: usd("1515")))
        #expect(decision.changes.events.map(\.type) == [.replaceRequested])
    }

    @Test func `under a key of before a recovery changes nothing, and says that the order tells`() throws {
        var scene = Scene()
        scene.recoveredAt = now
        let decision = scene.decide([.replace(replace())])
        let refusal = try #require(decision.verdicts[0].refusal)
        #expect(refusal == .replaceNotRestored(scene.order.id) && scene.after(decision) == nil)
        #expect(decision.changes.questions.isEmpty && decision.changes.newKeys.isEmpty && decision.changes.eventCount == 0)
        let problem = Problem(refusal, key: key(2))
        // Nothing comes of waiting: no Retry-After, and not a status that asks for a retry.
        #expect((problem.status, problem.retryAfterSeconds, problem.outcome) == (409, nil, .unknown))
        #expect(problem.headers.contains(HeaderField("Location", "/v1/trading/orders/\(scene.order.id)")))
    }

    @Test func `of an order that has no number yet changes it before it leaves`() throws {
        var scene = Scene()
        scene.order = Scene.standing(.accepted)
        let decision = scene.decide([.replace(replace(of: scene.order, to: 5, at: "99"))])
        #expect(decision.verdicts[0].word == "accepted")
        let order = try #require(scene.after(decision))
        #expect(order.terms.quantity == 5 && order.terms.limitPrice == usd("99") && order.held == usd("495") && order.status == .accepted)
        #expect(decision.changes.events.map(\.type) == [.replaceRequested, .replaced])
        // It is numbered under its own id: the venue never had another.
        #expect(order.replaces.pending == nil && order.replaces.first == Replacement(of: terms()))
    }

    @Test func `gives the first answer again, whatever has become of the order`() throws {
        var scene = Scene()
        let first = try #require(scene.decide([.replace(replace())]).verdicts[0].record)
        scene.keys = [first]
        scene.order = Scene.standing(.filled, filled: 10)
        scene.credential = .invalidated
        let again = scene.decide([.replace(replace(of: scene.order))])
        #expect(again.verdicts[0].word == "replayed" && again.verdicts[0].record?.answer == first.answer)
        #expect(again.verdicts[0].record?.statusNow == .filled && again.changes.newKeys.isEmpty && again.changes.eventCount == 0)
        // The same key for something else is told of the first.
        let other = scene.decide([.place(submission(2))])
        #expect(other.verdicts[0].word == "refused" || other.verdicts[0].word == "keyReused")
    }

    @Test func `takes one of two in a batch, and a repetition in the same batch is the first again`() {
        let decision = Scene().decide([.replace(replace(2)), .replace(replace(3)), .replace(replace(2))])
        #expect(decision.verdicts.map(\.word) == ["accepted", "changePending", "replayed"])
        #expect(decision.changes.newKeys.count == 1)
    }

    @Test(
        arguments: notTaken.indices
    )
    func `refuses, and leaves key and order as they were`(_ index: Int) {
        let (word, bend) = notTaken[index]
        var scene = Scene()
        bend(&scene)
        let decision = scene.decide([.replace(replace(of: scene.order))])
        #expect(decision.verdicts[0].word == word)
        #expect(decision.changes.newKeys.isEmpty && decision.changes.eventCount == 0 && decision.changes.changedOrders.isEmpty)
    }

    @Test(
        arguments: burnt.indices
    )
    func `refuses for good by the rules of risk, and the key is burnt`(_ index: Int) throws {
        let (code, bend, quantity, limit) = burnt[index]
        var scene = Scene()
        bend(&scene)
        let decision = scene.decide([.replace(replace(of: scene.order, to: quantity, at: limit))])
        #expect(decision.verdicts[0].word == "refusedForGood")
        let record = try #require(decision.verdicts[0].record)
        #expect(record.outcome == .refused && String(decoding: record.answer ?? [], as: UTF8.self).contains(#""code":"\#(code)""#))
        #expect(decision.changes.eventCount == 0 && decision.changes.changedOrders.isEmpty && decision.changes.balances.journals.isEmpty)
    }

    @Test func `to no more than what is filled is refused`() {
        var scene = Scene()
        scene.order = Scene.standing(.partiallyFilled, filled: 6)
        let decision = scene.decide([.replace(replace(2, of: scene.order, to: 6)), .replace(replace(3, of: scene.order, to: 7))])
        #expect(decision.verdicts.map(\.word) == ["quantityFilled", "accepted"])
    }

    @Test func `of another account's order finds none`() {
        var scene = Scene()
        scene.order = OrderState(
            id: scene.order.id,
            account: neighbour,
            key: key(1),
            terms: terms(),
            holdPrice: usd("100"),
            createdAt: 1,
            routeBy: 2,
            status: .working,
            held: usd("1000"),
            updatedAt: 1
        )
        #expect(scene.decide([.replace(replace())]).verdicts[0].word == "orderNotFound")
    }

    @Test func `cancelling all asks for each open order once`() {
        let scene = Scene()
        let decision = scene.decide([.cancelAll(account), .cancelAll(account)])
        #expect(decision.verdicts.map(\.word) == ["allCancelRequested 1", "allCancelRequested 0"])
        #expect(decision.changes.events.map(\.type) == [.cancelRequested])
    }
}

@Suite struct `Settling a replace` {
    private func settle(_ order: OrderState, _ reports: [VenueReport]) -> Settlement {
        var settlement = Settlement(
            reads: OrderReads(
                locks: [ShardLock(shard: account.shard, nextLog: 5, nextJournal: 3, sentLog: 4, settledInbox: 0)],
                orders: [order.id: order],
                accounts: [account: AccountRecord(lastEvent: 7, owes: false)],
                balances: [Balances.Key(.customer(account), .cash): Balance(available: usd("485"), held: order.held)]
            ),
            booked: BookedExecutions(),
            venue: "VENUE",
            now: now
        )
        for (number, report) in reports.enumerated() {
            settlement.settle(InboxReport(inboxID: Int64(number + 1), shard: account.shard, report: report))
        }
        return settlement
    }

    private func asked(_ change: (inout OrderState) -> Void = { _ in }) -> OrderState {
        let scene = Scene()
        var order = scene.after(scene.decide([.replace(replace())]))!
        change(&order)
        return order
    }

    private func report(_ type: String, request: String? = "r1", _ change: (inout VenueReport) -> Void = { _ in }) -> VenueReport {
        var report = VenueReport(kind: .execution)
        report.orderID = Scene.standing().id.text
        report.requestID = request.map { "\(Scene.standing().id)-\($0)" }
        report.execType = type
        change(&report)
        return report
    }

    private func refusal(_ request: String) -> VenueReport {
        var report = VenueReport(kind: .cancelReject)
        report.orderID = Scene.standing().id.text
        report.requestID = "\(Scene.standing().id)-\(request)"
        return report
    }

    @Test func `takes the venue's word, once`() throws {
        let settlement = settle(asked(), [report("E"), report("5") { $0.orderQuantity = 15 }, report("5") { $0.orderQuantity = 15 }])
        let order = try #require(settlement.changes.changedOrders.values.first)
        #expect(order.terms.quantity == 15 && order.holdPrice == usd("101") && order.clOrdID == order.id.text + "-r1")
        #expect(settlement.changes.events.map(\.type) == [.replaced] && settlement.changes.parked.isEmpty)
    }

    @Test func `of more than was asked, or without a request, parks the report`() {
        let more = settle(asked(), [report("5") { $0.orderQuantity = 16 }])
        #expect(more.changes.parked.count == 1 && more.changes.changedOrders.values.first?.status == .unknown)
        let unasked = settle(Scene.standing(), [report("5", request: nil)])
        #expect(unasked.changes.parked.count == 1)
        let unheard = settle(asked(), [report("5", request: "r2")])
        #expect(unheard.changes.parked.count == 1)
    }

    @Test func `refused lets go of what was held for it`() throws {
        let settlement = settle(asked(), [refusal("r1"), refusal("r1")])
        let order = try #require(settlement.changes.changedOrders.values.first)
        #expect(order.held == usd("1000") && order.replaces.pending == nil && order.status == .working)
        #expect(settlement.changes.events.map(\.type) == [.replaceRejected])
    }

    @Test func `refused asks again for the cancel that was chained to it`() throws {
        let waiting = asked {
            $0.cancelPending = true
            $0.cancels = 1
        }
        #expect(waiting.previousClOrdID.hasSuffix("-r1"))
        let settlement = settle(waiting, [refusal("r1"), refusal("c1")])
        let order = try #require(settlement.changes.changedOrders.values.first)
        #expect(order.cancelPending && order.cancelID.hasSuffix("-c2") && order.previousClOrdID == order.id.text)
        #expect(settlement.changes.events.map(\.type) == [.replaceRejected, .cancelRequested])
    }

    @Test func `that its order's end overtakes is told as refused`() {
        let settlement = settle(asked(), [report("4", request: "c1"), refusal("r1")])
        #expect(settlement.changes.events.map(\.type) == [.cancelled, .replaceRejected])
        #expect(settlement.changes.changedOrders.values.first?.held == .zero)
    }

    @Test func `is answered by a status report under its id: in force, or never heard of`() {
        let known = settle(asked(), [report("I") { ($0.orderStatus, $0.orderQuantity, $0.cumulativeQuantity) = ("0", 15, 0) }])
        #expect(known.changes.events.map(\.type) == [.replaced])
        let pending = settle(asked(), [report("I") { ($0.orderStatus, $0.orderQuantity) = ("E", 15) }])
        #expect(pending.changes.events.isEmpty)
        let unheard = settle(asked(), [report("I") { ($0.orderStatus, $0.rejectReason) = ("8", 5) }])
        #expect(unheard.changes.events.map(\.type) == [.replaceRejected] && unheard.changes.changedOrders.values.first?.status == .working)
        let unaware = settle(asked(), [report("I", request: nil) { ($0.orderStatus, $0.orderQuantity) = ("0", 10) }])
        #expect(unaware.changes.events.isEmpty)
    }
}
