package import Postgres
package import Quotes
import Storage
import Trading

/// accept: client to log. A lane takes all the work that waits for its shards, decides it under their locks, commits once and answers.
///
/// In one transaction: lock the shards, read (halts and credential states included), decide in Swift, write with set-based statements, COMMIT.
/// No timers: an idle lane commits one order at once, a busy one commits many. Run as many lanes as there are connections to spend.
package final class Accept {
    /// How long a lane tries to reach the database for a batch, and how old work may become in the queue, before the client is told to ask again:
    /// less than a client's own time-out, so that the answer still reaches it.
    package static let patience: Duration = .seconds(5)
    /// Between two tries of a batch: the database is restarting or failing over, and hammering it does not help.
    static let retryPause: Duration = .milliseconds(100)

    private let queue: OrderQueue
    private let database: Database
    private let market: any QuoteSource
    private let rules: DeskRules
    private let observer: DeskObserver
    private let now: @Sendable () -> Int64

    package init(
        queue: OrderQueue,
        database: PostgresOptions,
        market: any QuoteSource,
        rules: DeskRules,
        observer: DeskObserver,
        now: @escaping @Sendable () -> Int64
    ) {
        self.queue = queue
        self.database = Database(database)
        self.market = market
        self.rules = rules
        self.observer = observer
        self.now = now
    }

    /// Runs on a thread of its own until the queue is closed and empty: what was admitted is answered.
    package func run() async {
        while let (shards, items) = await queue.take() {
            let begun = ContinuousClock.now
            let (fresh, stale) = (items.filter { begun - $0.arrivedAt < Self.patience }, items.filter { begun - $0.arrivedAt >= Self.patience })
            for item in stale { item.answer.resume(returning: .busy) }
            let verdicts = await commit(fresh.map(\.work), Attempt(giveUpAt: begun + Self.patience))
            for (item, verdict) in zip(fresh, verdicts) { item.answer.resume(returning: verdict) }
            queue.giveBack(shards)
            observer.batch("accept", fresh.count, .now - begun)
        }
        database.drop()
    }

    /// One verdict for each piece of work. A batch that the database refuses is tried member by member, so that one poison order hurts only itself.
    private func commit(_ work: [Work], _ begun: Attempt) async -> [Verdict] {
        if work.isEmpty { return [] }
        var attempt = begun
        while true {
            do {
                return try leg(work, &attempt)
            } catch {
                observer.trouble("accept", error.description)
                guard error.isTransient || error.isOutcomeUnknown else { return await singly(work, attempt) }
                database.drop()
                // A commit whose answer was lost is looked up again under the shards' locks: the same leg, which then finds the keys used.
                guard ContinuousClock.now < attempt.giveUpAt, await pause() else {
                    return work.map { _ in attempt.isOpen ? .outcomeUnknown : .busy }
                }
            }
        }
    }

    /// False when the program is ending.
    private func pause() async -> Bool {
        (try? await Task.sleep(for: Self.retryPause)) != nil
    }

    private func singly(_ work: [Work], _ attempt: Attempt) async -> [Verdict] {
        guard work.count > 1 else { return [attempt.isOpen ? .outcomeUnknown : .failed] }
        var verdicts: [Verdict] = []
        for member in work { verdicts += await commit([member], attempt) }
        return verdicts
    }

    private func leg(_ work: [Work], _ attempt: inout Attempt) throws(PostgresError) -> [Verdict] {
        let wanted = Wanted(work)
        let reads = try database.beginAccept(
            shards: Array(wanted.shards),
            venueSession: rules.venueSession,
            accounts: Array(wanted.accounts),
            balances: Array(wanted.balances),
            keys: Array(wanted.keys),
            credentials: Array(wanted.credentials),
            orders: Array(wanted.orders),
            allOf: Array(wanted.allOf)
        )
        var decision = Decision(reads: reads, market: market, rules: rules, now: now())
        for piece in work { decision.decide(piece) }
        do {
            try database.commit(decision.changes, sent: { observer.step(.acceptClaimed) })
        } catch {
            // From here on a COMMIT may have arrived; what broke before was surely rolled back.
            attempt.isOpen = attempt.isOpen || error.isOutcomeUnknown
            database.rollback()
            throw error
        }
        observer.step(.acceptCommitted)
        if decision.changes.eventCount > 0 { observer.committed() }
        return decision.verdicts
    }
}

/// How long a lane goes on with a batch, members tried alone included, and whether an earlier try may have been committed.
private struct Attempt {
    let giveUpAt: ContinuousClock.Instant
    var isOpen = false
}

/// What a batch needs to have read, each thing once.
private struct Wanted {
    var shards: Set<Int16> = []
    var accounts: Set<AccountID> = []
    var balances: Set<Balances.Key> = []
    var keys: Set<KeyID> = []
    var credentials: Set<CredentialKey> = []
    var orders: Set<OrderID> = []
    var allOf: Set<AccountID> = []

    init(_ work: [Work]) {
        for piece in work {
            shards.insert(piece.account.shard)
            accounts.insert(piece.account)
            switch piece {
            case .place(let submission):
                signed(submission.account, submission.key, submission.credentialID, submission.terms.side, submission.terms.symbol)
            case .replace(let submission):
                signed(submission.account, submission.key, submission.credentialID, submission.side, submission.symbol)
                orders.insert(submission.orderID)
            case .fence(let key): keys.insert(key)
            case .cancel(let order, _): orders.insert(order)
            case .cancelAll(let account): allOf.insert(account)
            }
        }
    }

    private mutating func signed(_ account: AccountID, _ key: IdempotencyKey, _ credentialID: String, _ side: Side, _ symbol: Symbol) {
        balances.insert(Balances.Key(.customer(account), side == .buy ? .cash : .shares(symbol)))
        keys.insert(KeyID(account, key))
        credentials.insert(CredentialKey(account, credentialID))
    }
}
