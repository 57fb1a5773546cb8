import Quotes
import Storage
import Trading
import Wire

/// The decision on a batch: a pure function of the work, of what was read under the shards' locks, of the market and of the time.
///
/// Work is decided in arrival order; each piece sees what those before it did.
struct Decision {
    let reads: AcceptReads
    let market: any QuoteSource
    let rules: DeskRules
    let now: Int64
    var changes: ShardChanges
    private(set) var verdicts: [Verdict] = []
    private var keys: [KeyID: KeyRecord]
    var orders: [OrderID: OrderState]
    /// Keys that this batch asks the venue about.
    var questions: Set<KeyID> = []

    init(reads: AcceptReads, market: any QuoteSource, rules: DeskRules, now: Int64) {
        self.reads = reads
        self.market = market
        self.rules = rules
        self.now = now
        keys = reads.keys
        orders = reads.orders
        changes = ShardChanges(locks: reads.locks, at: now, accounts: reads.accounts, balances: reads.balances)
    }

    mutating func decide(_ work: Work) {
        guard reads.accounts[work.account] != nil else {
            verdicts.append(.accountUnknown)
            return
        }
        switch work {
        case .place(let submission): verdicts.append(place(submission))
        case .replace(let submission): verdicts.append(replace(submission))
        case .fence(let key): verdicts.append(fence(key))
        case .cancel(let order, let account): verdicts.append(cancel(order, of: account))
        case .cancelAll(let account): verdicts.append(cancelAll(of: account))
        }
    }

    // MARK: place

    private mutating func place(_ submission: Submission) -> Verdict {
        if let verdict = decidedBefore(submission) { return verdict }
        // Looked up once: what was found fresh is what is traded on.
        let listing = market.listing(of: submission.terms.symbol)
        if let refusal = refusalOfMarket(submission, listing) { return .refused(refusal) }
        guard let quote = listing?.quote else { preconditionFailure("A symbol without a quote is refused as stale.") }
        if let refusal = rules.limits.refusal(of: submission.terms, bid: quote.bid, ask: quote.ask) { return burn(submission, refusal) }
        if isSenderBehind(in: submission.account.shard) { return .busy }
        return hold(submission, ask: quote.ask)
    }

    /// Rows 4 to 6: the credential, the key, the clocks.
    private mutating func decidedBefore(_ submission: some SignedSubmission) -> Verdict? {
        let credential = reads.credentials[CredentialKey(submission.account, submission.credentialID)]
        guard let credential, credential != .pendingPairing else { return .refused(.credentialUnknown) }
        if let first = keys[KeyID(submission.account, submission.key)] { return again(submission, first) }
        if reads.mayBeLost(submission.key, clockTolerance: DeskRules.clockTolerance) {
            // What a replace came to the order itself tells: its key is not taken again.
            return (submission as? Submission).map { recover($0) } ?? .refused(.replaceNotRestored(submission.orderID))
        }
        if credential == .invalidated { return .refused(.credentialInvalidated) }
        return refusalOfTime(submission).map { .refused($0) }
    }

    private func isSenderBehind(in shard: Int16) -> Bool {
        reads.locks.contains { $0.shard == shard && $0.unsentRows > rules.unsentLimit }
    }

    /// The key was used: the first answer again for the same request; another request is told of the first.
    private mutating func again(_ submission: some SignedSubmission, _ first: KeyRecord) -> Verdict {
        if first.outcome == .fenced { return .refused(.keyFenced) }
        guard first.fingerprint == submission.fingerprint else { return .refused(.keyReused(firstOrder: first.orderID)) }
        changes.replayed(in: submission.account.shard)
        return .replayed(asItStands(first))
    }

    /// The record with its order's status after what this batch did to it.
    private func asItStands(_ record: KeyRecord) -> KeyRecord {
        guard let order = record.orderID.flatMap({ orders[$0] }) else { return record }
        return record.standing(order.status)
    }

    private func refusalOfTime(_ submission: some SignedSubmission) -> Refusal? {
        let age = now - submission.key.milliseconds
        if age > DeskRules.keyMaximumAge { return .keyExpired(ageMilliseconds: age) }
        if -age > DeskRules.clockTolerance { return .clockSkew(milliseconds: -age) }
        let (skew, overflow) = submission.clientTimestamp.subtractingReportingOverflow(submission.receivedAt)
        if overflow || skew.magnitude > UInt64(DeskRules.clockTolerance) { return .clockSkew(milliseconds: overflow ? .max : skew) }
        return nil
    }

    private func refusalOfMarket(_ submission: some SignedSubmission, _ listing: Listing?) -> Refusal? {
        let symbol = submission.symbol
        for scope in Halt.Scope.allCases {
            if let halt = reads.halts.first(where: { $0.scope == scope && $0.covers(account: submission.account, symbol: symbol) }) {
                return .tradingHalted(halt)
            }
        }
        if !reads.venueIsUp || !market.isForOrders { return .venueUnavailable }
        guard let listing else { return .unknownSymbol(symbol) }
        return rules.freshness.refusal(of: listing, reference: submission.quoteReference, hours: { market.hours(of: symbol, at: now) }, at: now)
    }

    /// Funds or shares are held, the order is written, the key is claimed: all or nothing.
    private mutating func hold(_ submission: Submission, ask: Amount) -> Verdict {
        let terms = submission.terms
        let customer = LedgerAccount.customer(submission.account)
        if reads.accounts[submission.account]?.owes == true { return burn(submission, .accountOwes) }
        guard let holdPrice = rules.limits.holdPrice(of: terms, ask: ask), let funds = holdPrice.times(terms.quantity),
            let shares = Amount(whole: terms.quantity)
        else { return burn(submission, .notionalLimit(maximum: rules.limits.maximumNotional)) }
        let (asset, needed) = terms.side == .buy ? (Asset.cash, funds) : (Asset.shares(terms.symbol), shares)
        let available = changes.balances.balance(customer, asset).available
        guard needed <= available, changes.balances.hold(needed, of: asset, for: submission.account, order: submission.orderID) else {
            return burn(
                submission,
                terms.side == .buy
                    ? .insufficientFunds(required: needed, available: available)
                    : .insufficientPosition(required: terms.quantity, available: available.units / Amount.unitsPerOne)
            )
        }
        let order = insert(submission, holdPrice: holdPrice, held: needed, routeBy: rules.deadlines.deadline(of: terms, acceptedAt: now))
        orders[order.id] = order
        return accepted(submission, order, reserved: needed)
    }

    /// The row of an order whose hold is taken, and its first event.
    mutating func insert(_ submission: Submission, holdPrice: Amount, held: Amount, routeBy: Int64) -> OrderState {
        let order = OrderState(
            id: submission.orderID,
            account: submission.account,
            key: submission.key,
            terms: submission.terms,
            holdPrice: holdPrice,
            createdAt: now,
            routeBy: routeBy,
            held: held,
            updatedAt: now
        )
        changes.insert(
            .init(
                state: order,
                clientTimestamp: submission.clientTimestamp,
                quoteReference: submission.quoteReference,
                credentialID: submission.credentialID
            )
        )
        changes.tell(.accepted, of: order)
        return order
    }

    /// Claims the key with the answer that its order gets, now and at every retry.
    mutating func accepted(_ submission: Submission, _ order: OrderState, reserved: Amount) -> Verdict {
        let answer = AcceptedAnswer(
            orderID: order.id,
            terms: order.terms,
            reservedFunds: order.terms.side == .buy ? reserved : .zero,
            createdAt: order.createdAt
        )
        return .accepted(claim(submission, .accepted, order: order.id, status: AcceptedAnswer.status, answer: answer.body))
    }

    /// A final refusal burns the key: it is stored and answered again for ever.
    private mutating func burn(_ submission: some SignedSubmission, _ refusal: Refusal) -> Verdict {
        precondition(refusal.burnsKey, "Only a final refusal is stored.")
        let problem = Problem(refusal, key: submission.key)
        return .refusedForGood(
            claim(submission, .refused, order: nil, status: problem.status, answer: problem.body(serverTime: now))
        )
    }

    private mutating func claim(
        _ submission: some SignedSubmission,
        _ outcome: KeyRecord.Outcome,
        order: OrderID?,
        status: Int,
        answer: [UInt8]
    ) -> KeyRecord {
        let record = KeyRecord(
            id: KeyID(submission.account, submission.key),
            outcome: outcome,
            fingerprint: submission.fingerprint,
            orderID: order,
            httpStatus: status,
            answer: answer,
            statusNow: order.flatMap { orders[$0]?.status },
            createdAt: now
        )
        keys[record.id] = record
        changes.claim(record)
        return record
    }

    // MARK: replace

    /// A request whose outcome is an event; the hold grows before it leaves. What the venue has never been numbered for changes by our own commit.
    private mutating func replace(_ submission: ReplaceSubmission) -> Verdict {
        guard var order = orders[submission.orderID], order.account == submission.account else { return .orderNotFound }
        if let verdict = decidedBefore(submission) { return verdict }
        if let refusal = refusalOfOrder(order, submission.terms) { return .refused(refusal) }
        let listing = market.listing(of: submission.symbol)
        if let refusal = refusalOfMarket(submission, listing) { return .refused(refusal) }
        guard let quote = listing?.quote else { preconditionFailure("A symbol without a quote is refused as stale.") }
        let terms = order.terms.with(submission.terms)
        if let refusal = rules.limits.refusal(of: terms, bid: quote.bid, ask: quote.ask) { return burn(submission, refusal) }
        if isSenderBehind(in: submission.account.shard) { return .busy }
        if reads.accounts[submission.account]?.owes == true { return burn(submission, .accountOwes) }
        guard let holdPrice = rules.limits.holdPrice(of: terms, ask: quote.ask), holdPrice.times(terms.quantity) != nil else {
            return burn(submission, .notionalLimit(maximum: rules.limits.maximumNotional))
        }
        let pending = Replaces.Pending(terms: submission.terms, holdPrice: holdPrice)
        guard order.requestReplace(pending, balances: &changes.balances) else { return burn(submission, lacking(pending, order)) }
        keep(&order, .replaceRequested)
        let answer = ReplaceAnswer(
            orderID: order.id,
            replaceID: order.replaceID,
            terms: submission.terms,
            reservedFunds: order.terms.side == .buy ? order.held : .zero
        )
        if order.status == .accepted { keep(&order, .replaced(quantity: submission.terms.quantity)) }
        return .accepted(claim(submission, .replaceRequested, order: order.id, status: ReplaceAnswer.status, answer: answer.body))
    }

    private func refusalOfOrder(_ order: OrderState, _ wanted: Replacement) -> Refusal? {
        if !order.status.isOpen { return .orderNotOpen(order.status) }
        if order.status == .unknown { return .changePending(.unknown) }
        if order.cancelPending { return .changePending(.cancel) }
        if order.replaces.pending != nil { return .changePending(.replace) }
        return wanted.quantity <= order.filledQuantity ? .quantityFilled(filled: order.filledQuantity) : nil
    }

    /// What a replace needs beyond what the order holds, and is not there.
    private func lacking(_ pending: Replaces.Pending, _ order: OrderState) -> Refusal {
        let available = changes.balances.balance(.customer(order.account), order.heldAsset).available
        let left = pending.terms.quantity - order.filledQuantity
        if order.terms.side == .sell {
            return .insufficientPosition(
                required: left - order.held.units / Amount.unitsPerOne,
                available: available.units / Amount.unitsPerOne
            )
        }
        let needed = pending.holdPrice.times(left)?.subtracting(order.held) ?? Amount(units: .max)
        return .insufficientFunds(required: needed, available: available)
    }

    /// Applies an event that fits, tells of it and keeps the order.
    private mutating func keep(_ order: inout OrderState, _ event: OrderEvent) {
        guard case .changed(let type, _) = order.apply(event, balances: &changes.balances, at: now) else {
            preconditionFailure("\(event) fits an order that is \(order.status.text).")
        }
        changes.tell(type, of: order)
        orders[order.id] = order
        changes.update(order)
    }

    // MARK: fence

    mutating func fence(_ id: KeyID) -> Verdict {
        if let used = keys[id] {
            changes.replayed(in: id.account.shard)
            return .key(asItStands(used))
        }
        // The venue may have its order: what becomes of it is said once the signed order itself was sent again.
        let mayBeLost = reads.mayBeLost(id.key, clockTolerance: DeskRules.clockTolerance)
        if mayBeLost, reads.recoveredKeys[id] != .some(false) { return .refused(.keyRecovering) }
        let record = KeyRecord(
            id: id,
            outcome: .fenced,
            fingerprint: nil,
            orderID: nil,
            httpStatus: nil,
            answer: nil,
            statusNow: nil,
            createdAt: now
        )
        keys[id] = record
        changes.claim(record)
        return .key(record)
    }

    // MARK: cancel

    /// A request whose outcome is an event. What the venue has never been numbered for ends by our own commit.
    private mutating func cancel(_ id: OrderID, of account: AccountID) -> Verdict {
        guard var order = orders[id], order.account == account else { return .orderNotFound }
        if order.cancelPending {
            changes.replayed(in: account.shard)
            return .cancelRequested(order)
        }
        guard let answer = changes.requestCancel(of: &order) else { return .orderNotOpen(order) }
        orders[id] = order
        return .cancelRequested(answer)
    }

    /// Every order of the account that is open now, as far as a transaction goes: none was accepted in between.
    private mutating func cancelAll(of account: AccountID) -> Verdict {
        var requested: [OrderState] = []
        for id in reads.open {
            guard let order = orders[id], order.account == account, !order.cancelPending, order.status.isOpen else { continue }
            if case .cancelRequested(let order) = cancel(id, of: account) { requested.append(order) }
        }
        return .allCancelRequested(requested)
    }
}
