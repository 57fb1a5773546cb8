import Quotes
import Testing
import Trading
import Wire

@testable import OrderDesk
@testable import Storage

/// What a decision is made on, with everything in order until a test bends it.
private struct Scene {
    var accounts: [AccountID: AccountRecord] = [
        account: AccountRecord(lastEvent: 7, owes: false), neighbour: AccountRecord(lastEvent: 0, owes: false),
    ]
    var cash = usd("10000")
    var shares = whole(100)
    var halts: [Halt] = []
    var venueIsUp = true
    var credential: CredentialState? = .active
    var keys: [KeyRecord] = []
    var orders: [OrderState] = []
    var market = StillMarket()
    var submitted = submission(1)
    var nextLog: Int64 = 5
    var recoveredAt: Int64?
    var recoveredKeys: [KeyID: Bool?] = [:]

    func decision() -> Decision {
        var balances = [
            Balances.Key(.customer(account), .cash): Balance(available: cash),
            Balances.Key(.customer(account), .shares(symbol)): Balance(available: shares),
        ]
        for order in orders { balances[Balances.Key(.customer(account), order.heldAsset), default: Balance()].held.units += order.held.units }
        return Decision(
            reads: AcceptReads(
                locks: [ShardLock(shard: account.shard, nextLog: nextLog, nextJournal: 3, sentLog: 4, settledInbox: 0)],
                halts: halts,
                venueIsUp: venueIsUp,
                accounts: accounts,
                balances: balances,
                keys: Dictionary(uniqueKeysWithValues: keys.map { ($0.id, $0) }),
                credentials: credential.map { [CredentialKey(account, "c1"): $0] } ?? [:],
                orders: Dictionary(uniqueKeysWithValues: orders.map { ($0.id, $0) }),
                open: orders.filter(\.status.isOpen).map(\.id),
                recoveredAt: recoveredAt,
                recoveredKeys: recoveredKeys
            ),
            market: market,
            rules: rules,
            now: now
        )
    }

    /// The verdicts on these pieces of work as one batch.
    func decide(_ work: [Work]) -> Decision {
        var decision = decision()
        for piece in work { decision.decide(piece) }
        return decision
    }

    mutating func bend(
        key time: Int64? = nil,
        terms new: OrderTerms? = nil,
        client: Int64? = nil,
        reference: Int64? = nil
    ) {
        let old = submitted
        let used = time.map { key(1, at: $0) } ?? old.key
        submitted = Submission(
            account: old.account,
            key: used,
            orderID: identity(old.account, used),
            terms: new ?? old.terms,
            fingerprint: old.fingerprint,
            credentialID: old.credentialID,
            clientTimestamp: client ?? old.clientTimestamp,
            quoteReference: reference ?? old.quoteReference,
            receivedAt: old.receivedAt
        )
    }
}

private func record(_ outcome: KeyRecord.Outcome = .accepted, of submission: Submission = submission(1), status: OrderStatus = .filled) -> KeyRecord {
    KeyRecord(
        id: KeyID(submission.account, submission.key),
        outcome: outcome,
        fingerprint: outcome == .fenced ? nil : submission.fingerprint,
        orderID: outcome == .accepted ? submission.orderID : nil,
        httpStatus: outcome == .fenced ? nil : 201,
        answer: outcome == .fenced ? nil : Array("first".utf8),
        statusNow: outcome == .accepted ? status : nil,
        createdAt: 1
    )
}

/// Everything that can be wrong with a new order, in order of precedence: each with how to bring it about.
private let faults: [(word: String, bring: @Sendable (inout Scene) -> Void)] = [
    ("accountUnknown", { $0.accounts = [:] }),
    ("credentialUnknown", { $0.credential = nil }),
    ("credentialInvalidated", { $0.credential = .invalidated }),
    ("keyExpired", { $0.bend(key: now - 86_400_001) }),
    ("clockSkew", { $0.bend(client: now + 30_001) }),
    ("tradingHalted", { $0.halts.append(Halt(scope: .account, subject: account.text, reason: "drill")) }),
    ("venueUnavailable", { $0.venueIsUp = false }),
    ("venueUnavailable", { $0.market.isForOrders = false }),
    ("unknownSymbol", { $0.market.listings = [:] }),
    ("marketDataStale", { $0.market.listings[symbol] = Listing(symbol: symbol, quote: StillMarket.quote(age: 2_501)) }),
    ("quoteReferenceStale", { $0.bend(reference: now - 2_501) }),
    ("quantityLimit", { $0.bend(terms: terms(quantity: 1_001, limit: "200")) }),
    ("notionalLimit", { $0.bend(terms: terms(quantity: 1_000, limit: "200")) }),
    ("priceCollar", { $0.bend(terms: terms(quantity: 1, limit: "200")) }),
    ("accountOwes", { $0.accounts[account] = AccountRecord(lastEvent: 7, owes: true) }),
    ("insufficientFunds", { $0.cash = usd("999.9999") }),
]

@Suite struct `A decision` {
    @Test func `says of a price that nobody vouches for that its market is closed, as quotes do`() {
        var scene = Scene()
        scene.market.listings[symbol] = Listing(symbol: symbol, quote: StillMarket.quote(age: 60_000))
        func why() -> String? {
            guard case .refused(.marketDataStale(60_000, let why)) = scene.decide([.place(scene.submitted)]).verdicts[0] else { return nil }
            return why
        }
        #expect(why() == "the feed has not vouched for it for 60000 ms")
        scene.market.hours = MarketHours(state: .closed, nextOpen: 77, nextClose: nil, from: 0, until: 77)
        #expect(why() == QuoteState.closed(opensAt: 77).reason)
        scene.market.hours = MarketHours(state: .post, nextOpen: 77, nextClose: nil, from: 0, until: 77)
        #expect(why() == "the feed has not vouched for it for 60000 ms")
        // A price that somebody vouches for is traded on whatever the calendar says.
        scene.market.hours = MarketHours(state: .closed, nextOpen: 77, nextClose: nil, from: 0, until: 77)
        scene.market.listings[symbol] = Listing(symbol: symbol, quote: StillMarket.quote())
        #expect(scene.decide([.place(scene.submitted)]).verdicts[0].word == "accepted")
    }

    @Test(arguments: faults.indices)
    func `refuses by the first rule that applies, whatever else is wrong`(_ first: Int) throws {
        var scene = Scene()
        for fault in faults[first...].reversed() { fault.bring(&scene) }
        let decision = scene.decide([.place(scene.submitted)])
        let (word, isFinal) = (faults[first].word, first >= faults.firstIndex { $0.word == "quantityLimit" }!)
        guard isFinal else {
            #expect(decision.verdicts[0].word == word)
            #expect(decision.changes.newKeys.isEmpty)
            return
        }
        // Final refusals are stored with the very bytes that are answered.
        let answered = try #require(decision.verdicts[0].record)
        #expect(decision.verdicts[0].word == "refusedForGood" && answered.outcome == .refused && answered.orderID == nil)
        let stored = try #require(decision.changes.newKeys.first)
        #expect(stored.answer == answered.answer && stored.httpStatus == answered.httpStatus && stored.fingerprint == [1])
        let code =
            ["quantityLimit": "limit_exceeded", "notionalLimit": "limit_exceeded", "priceCollar": "price_collar"][word] ?? "insufficient_funds"
        let body = String(decoding: try #require(answered.answer), as: UTF8.self)
        #expect(body.contains("\"code\":\"\(code)\"") && body.contains("\"final\":true") && answered.httpStatus == 422)
        #expect(decision.changes.newOrders.isEmpty && decision.changes.eventCount == 0 && decision.changes.balances.journals.isEmpty)
    }

    @Test func `halts by venue before symbol before account`() {
        var scene = Scene()
        for (scope, subject) in [(Halt.Scope.account, account.text), (.symbol, "NVDA"), (.venue, "")] {
            scene.halts.append(Halt(scope: scope, subject: subject, reason: ""))
            guard case .refused(.tradingHalted(let halt)) = scene.decide([.place(scene.submitted)]).verdicts[0] else {
                Issue.record("not halted")
                continue
            }
            #expect(halt.scope == scope)
        }
        scene.halts = [Halt(scope: .symbol, subject: "AAPL", reason: ""), Halt(scope: .account, subject: neighbour.text, reason: "")]
        #expect(scene.decide([.place(scene.submitted)]).verdicts[0].word == "accepted")
    }

    @Test(arguments: [
        (now - 86_400_000, "accepted"), (now - 86_400_001, "keyExpired"), (now + 30_000, "accepted"), (now + 30_001, "clockSkew"),
    ])
    func `takes a key's first use within its time`(_ time: Int64, _ word: String) {
        var scene = Scene()
        scene.bend(key: time)
        #expect(scene.decide([.place(scene.submitted)]).verdicts[0].word == word)
    }

    @Test(arguments: [(now - 30_000, "accepted"), (now - 30_001, "clockSkew"), (now + 30_001, "clockSkew"), (.min, "clockSkew"), (.max, "clockSkew")])
    func `compares the client's clock with the time of receipt`(_ client: Int64, _ word: String) {
        var scene = Scene()
        scene.bend(client: client)
        #expect(scene.decide([.place(scene.submitted)]).verdicts[0].word == word)
    }

    @Test(
        arguments: [
            (0, now - 2_500, "accepted"), (2_500, now, "accepted"), (2_501, now, "marketDataStale"), (0, now + 1_000, "accepted"),
            (0, now + 1_001, "quoteReferenceStale"), (0, now - 2_501, "quoteReferenceStale"), (0, .min, "quoteReferenceStale"),
            (0, .max, "quoteReferenceStale"),
        ] as [(Int64, Int64, String)]
    )
    func `trades only on a price that is alive`(_ age: Int64, _ reference: Int64, _ word: String) {
        var scene = Scene()
        scene.market.listings[symbol] = Listing(symbol: symbol, quote: StillMarket.quote(age: age))
        scene.bend(reference: reference)
        #expect(scene.decide([.place(scene.submitted)]).verdicts[0].word == word)
        scene.market.listings[symbol] = Listing(symbol: symbol, quote: nil)
        #expect(scene.decide([.place(scene.submitted)]).verdicts[0].word == "marketDataStale")
    }

    @Test func `gives the first answer again whatever has happened since`() {
        var scene = Scene()
        // All that rows 6 to 8 can refuse, and the credential revoked.
        for fault in faults.reversed() where !["accountUnknown", "credentialUnknown"].contains(fault.word) { fault.bring(&scene) }
        scene.keys = [record(of: scene.submitted)]
        let decision = scene.decide([.place(scene.submitted)])
        #expect(decision.verdicts[0].word == "replayed")
        #expect(decision.verdicts[0].record?.answer == Array("first".utf8) && decision.verdicts[0].record?.statusNow == .filled)
        #expect(decision.changes.newKeys.isEmpty)
        scene.keys = [record(.refused, of: scene.submitted)]
        #expect(scene.decide([.place(scene.submitted)]).verdicts[0].record?.outcome == .refused)
        // But only to whom the account is open.
        scene.credential = .pendingPairing
        #expect(scene.decide([.place(scene.submitted)]).verdicts[0].word == "credentialUnknown")
    }

    @Test func `asks new orders to come again while the venue's sender is too far behind, and nobody else`() {
        var scene = Scene()
        scene.nextLog = 5 + rules.unsentLimit
        #expect(scene.decide([.place(scene.submitted)]).verdicts[0].word == "accepted")
        scene.nextLog += 1
        let busy = scene.decide([.place(scene.submitted), .fence(KeyID(account, key(2)))])
        #expect(busy.verdicts.map(\.word) == ["busy", "key fenced"])
        #expect(busy.changes.newOrders.isEmpty && busy.changes.newKeys.count == 1)
        scene.keys = [record(of: scene.submitted)]
        #expect(scene.decide([.place(scene.submitted)]).verdicts[0].word == "replayed")
    }

    @Test func `names the first order to another request under its key`() {
        var scene = Scene()
        scene.keys = [record()]
        for fault in faults[3...].reversed() where fault.word != "keyExpired" { fault.bring(&scene) }
        let other = submission(1, fingerprint: 2)
        guard case .refused(.keyReused(let first)) = scene.decide([.place(other)]).verdicts[0] else {
            Issue.record("not told of the reuse")
            return
        }
        #expect(first == scene.submitted.orderID)
        scene.keys = [record(.refused)]
        guard case .refused(.keyReused(firstOrder: nil)) = scene.decide([.place(other)]).verdicts[0] else {
            Issue.record("not told of the reuse")
            return
        }
        scene.keys = [record(.fenced)]
        #expect(scene.decide([.place(other), .place(scene.submitted)]).verdicts.map(\.word) == ["keyFenced", "keyFenced"])
    }

    @Test func `sees within a batch what came before`() throws {
        let scene = Scene()
        let (one, other) = (submission(1), submission(1, fingerprint: 2))
        let decision = scene.decide([.place(one), .place(one), .place(other), .fence(KeyID(account, one.key)), .place(one)])
        #expect(decision.verdicts.map(\.word) == ["accepted", "replayed", "keyReused", "key accepted", "replayed"])
        #expect(Set(decision.verdicts.compactMap { $0.record?.answer }).count == 1)
        #expect(decision.changes.newOrders.count == 1 && decision.changes.newKeys.count == 1 && decision.changes.eventCount == 1)
        let fenced = scene.decide([.fence(KeyID(account, one.key)), .place(one), .fence(KeyID(account, one.key))])
        #expect(fenced.verdicts.map(\.word) == ["key fenced", "keyFenced", "key fenced"])
        #expect(fenced.changes.newOrders.isEmpty && fenced.changes.newKeys.count == 1)
    }

    @Test func `spends funds in order of arrival`() {
        var scene = Scene()
        scene.cash = usd("2500")
        let decision = scene.decide([
            .place(submission(1)), .place(submission(2)), .place(submission(3)), .place(submission(4, terms(quantity: 5))),
            .place(submission(5, terms(quantity: 1))), .place(submission(6, terms(.sell, quantity: 60))),
            .place(submission(7, terms(.sell, quantity: 60))),
        ])
        #expect(
            decision.verdicts.map(\.word) == [
                "accepted", "accepted", "refusedForGood", "accepted", "refusedForGood", "accepted", "refusedForGood",
            ]
        )
        let body = String(decoding: decision.verdicts[6].record?.answer ?? [], as: UTF8.self)
        #expect(body.contains("insufficient_position") && body.contains("60 shares, available are 40"))
        #expect(decision.changes.balances.balance(.customer(account), .cash) == Balance(held: usd("2500")))
    }

    @Test func `answers with the bytes that it stores`() throws {
        let decision = Scene().decide([.place(submission(1))])
        let stored = try #require(decision.changes.newKeys.first)
        let order = try #require(decision.changes.newOrders.first?.state)
        #expect(decision.verdicts[0].record?.answer == stored.answer && stored.httpStatus == 201)
        let answer = AcceptedAnswer(orderID: order.id, terms: order.terms, reservedFunds: usd("1000"), createdAt: now)
        #expect(stored.answer == answer.body)
        #expect(order.held == usd("1000") && order.routeBy == now + 60_000 && order.status == .accepted)
        let sold = Scene().decide([.place(submission(1, terms(.sell)))])
        let body = String(decoding: sold.verdicts[0].record?.answer ?? [], as: UTF8.self)
        #expect(body.contains("\"reserved_funds_usd\":0.00"))
    }

    @Test func `requests a cancel once and ends by itself what is not routed`() throws {
        var scene = Scene()
        var routed = OrderState(
            id: identity(account, key(8)),
            account: account,
            key: key(8),
            terms: terms(),
            holdPrice: usd("100"),
            createdAt: 1,
            routeBy: 2,
            status: .routed,
            held: usd("1000"),
            updatedAt: 1
        )
        scene.orders = [routed]
        let twice = scene.decide([.cancel(routed.id, of: account), .cancel(routed.id, of: account), .cancel(routed.id, of: neighbour)])
        #expect(twice.verdicts.map(\.word) == ["cancelRequested", "cancelRequested", "orderNotFound"])
        #expect(Set(twice.verdicts.compactMap { $0.order?.cancelID }) == [routed.id.text + "-c1"])
        #expect(twice.changes.eventCount == 1 && twice.changes.balances.journals.isEmpty)
        // Accepted in this very batch: ended by us, its cash free for the next.
        let one = submission(1, terms(quantity: 100))
        let free = scene.decide([.place(one), .cancel(one.orderID, of: account), .place(submission(2, terms(quantity: 100))), .place(one)])
        #expect(free.verdicts.map(\.word) == ["accepted", "cancelRequested", "accepted", "replayed"])
        #expect(free.verdicts[3].record?.statusNow == .cancelled)
        #expect(free.changes.eventCount == 4)
        routed.status = .filled
        routed.held = .zero
        scene.orders = [routed]
        #expect(scene.decide([.cancel(routed.id, of: account)]).verdicts[0].word == "orderNotOpen")
        #expect(scene.decide([.cancel(identity(account, key(99)), of: account)]).verdicts[0].word == "orderNotFound")
    }

    @Test func `lets cancels and fences pass every halt and stale market`() {
        var scene = Scene()
        scene.halts = [Halt(scope: .venue, subject: "", reason: "drill")]
        scene.venueIsUp = false
        scene.market.listings = [:]
        scene.orders = [
            OrderState(
                id: identity(account, key(8)),
                account: account,
                key: key(8),
                terms: terms(),
                holdPrice: usd("100"),
                createdAt: 1,
                routeBy: 2,
                held: usd("1000"),
                updatedAt: 1
            )
        ]
        let decision = scene.decide([.cancel(identity(account, key(8)), of: account), .fence(KeyID(account, key(9)))])
        #expect(decision.verdicts.map(\.word) == ["cancelRequested", "key fenced"])
    }
}

/// A key of before a recovery is never taken for new.
@Suite struct `A key that may be lost` {
    private func scene(_ known: Bool??, at recoveredAt: Int64 = now) -> Scene {
        var scene = Scene()
        scene.recoveredAt = recoveredAt
        if let known { scene.recoveredKeys[KeyID(account, scene.submitted.key)] = .some(known) }
        return scene
    }

    @Test func `is asked about once, and waits`() {
        let scene = scene(nil)
        let decision = scene.decide([.place(scene.submitted), .place(scene.submitted)])
        #expect(decision.verdicts.map(\.word) == ["keyRecovering", "keyRecovering"])
        #expect(decision.changes.questions.map(\.orderID) == [scene.submitted.orderID])
        #expect(decision.changes.newOrders.isEmpty && decision.changes.newKeys.isEmpty)
        #expect(self.scene(.some(nil)).decide([.place(scene.submitted)]).changes.questions.isEmpty)
    }

    @Test func `is fenced where the venue never heard of its order, not before`() {
        let (waiting, unheard) = (scene(.some(nil)), scene(.some(false)))
        let fence = Work.fence(KeyID(account, waiting.submitted.key))
        #expect(scene(nil).decide([fence]).verdicts.map(\.word) == ["keyRecovering"])
        #expect(waiting.decide([fence]).verdicts.map(\.word) == ["keyRecovering"])
        #expect(unheard.decide([fence]).verdicts.map(\.word) == ["key fenced"])
        let decision = unheard.decide([.place(unheard.submitted), .place(unheard.submitted)])
        #expect(decision.verdicts.map(\.word) == ["keyFenced", "keyFenced"])
        #expect(decision.changes.newKeys.map(\.outcome) == [.fenced])
    }

    @Test func `becomes its order again where the venue knows it, in doubt, with its hold, and whatever the time or a halt says`() throws {
        var scene = scene(.some(true))
        scene.halts = [Halt(scope: .venue, subject: "", reason: "x")]
        scene.credential = .invalidated
        scene.recoveredAt = now + 48 * 3_600_000
        let decision = scene.decide([.place(scene.submitted), .place(scene.submitted)])
        #expect(decision.verdicts.map(\.word) == ["accepted", "replayed"])
        let order = try #require(decision.changes.changedOrders[scene.submitted.orderID])
        #expect((order.status, order.held, order.reason) == (.unknown, usd("1000"), "adopted_after_restore"))
        #expect(decision.changes.adopted.map(\.session) == [session])
        #expect(decision.changes.events.map(\.type) == [.accepted, .routed, .unknown])
    }

    @Test func `waits while the kill switch is on`() {
        var scene = scene(.some(true))
        scene.halts = [Halt(scope: .killSwitch, subject: "", reason: "x")]
        let decision = scene.decide([.place(scene.submitted)])
        #expect(decision.verdicts.map(\.word) == ["keyRecovering"] && decision.changes.newOrders.isEmpty)
    }

    @Test func `waits while its account cannot hold it`() {
        var scene = scene(.some(true))
        scene.cash = usd("999")
        let decision = scene.decide([.place(scene.submitted)])
        #expect(decision.verdicts.map(\.word) == ["keyRecovering"] && decision.changes.newOrders.isEmpty)
    }

    @Test func `is one whose own time lies before the recovery, a client's clock allowed for`() {
        let edge = now - DeskRules.clockTolerance
        for (at, word) in [(edge, "keyRecovering"), (edge - 1, "accepted")] {
            let scene = scene(nil, at: at)
            #expect(scene.decide([.place(scene.submitted)]).verdicts.map(\.word) == [word])
        }
    }
}
