package import Storage
package import Trading

/// What a signature vouches for, of an order and of a replace.
package protocol SignedSubmission: Sendable {
    var account: AccountID { get }
    /// What it places, or changes.
    var orderID: OrderID { get }
    var key: IdempotencyKey { get }
    var symbol: Symbol { get }
    var fingerprint: [UInt8] { get }
    var credentialID: String { get }
    var clientTimestamp: Int64 { get }
    var quoteReference: Int64 { get }
    var receivedAt: Int64 { get }
}

/// An order that passed form, token, rate and signature (design section 4.3, rows 1 to 4).
package struct Submission: SignedSubmission {
    package let account: AccountID
    package let key: IdempotencyKey
    /// From account and key alone.
    package let orderID: OrderID
    package let terms: OrderTerms
    package var symbol: Symbol { terms.symbol }
    /// SHA-256 of the signed form without its timestamps.
    package let fingerprint: [UInt8]
    /// The credential whose signature verified; its state is read again in the accepting transaction.
    package let credentialID: String
    package let clientTimestamp: Int64
    package let quoteReference: Int64
    /// Router time at which the request was read, ms since the epoch: what the client's clock is compared with.
    package let receivedAt: Int64

    package init(
        account: AccountID,
        key: IdempotencyKey,
        orderID: OrderID,
        terms: OrderTerms,
        fingerprint: [UInt8],
        credentialID: String,
        clientTimestamp: Int64,
        quoteReference: Int64,
        receivedAt: Int64
    ) {
        self.account = account
        self.key = key
        self.orderID = orderID
        self.terms = terms
        self.fingerprint = fingerprint
        self.credentialID = credentialID
        self.clientTimestamp = clientTimestamp
        self.quoteReference = quoteReference
        self.receivedAt = receivedAt
    }
}

/// A replace of an order that passed the same checks.
package struct ReplaceSubmission: SignedSubmission {
    package let account: AccountID
    package let key: IdempotencyKey
    package let orderID: OrderID
    /// What the order becomes, of the prices that its type has.
    package let terms: Replacement
    /// What decides with them which balance is held: they never change.
    package let side: Side
    package let symbol: Symbol
    package let fingerprint: [UInt8]
    package let credentialID: String
    package let clientTimestamp: Int64
    package let quoteReference: Int64
    package let receivedAt: Int64

    package init(
        order: OrderState,
        key: IdempotencyKey,
        terms: Replacement,
        fingerprint: [UInt8],
        credentialID: String,
        clientTimestamp: Int64,
        quoteReference: Int64,
        receivedAt: Int64
    ) {
        account = order.account
        orderID = order.id
        side = order.terms.side
        symbol = order.terms.symbol
        self.key = key
        self.terms = terms
        self.fingerprint = fingerprint
        self.credentialID = credentialID
        self.clientTimestamp = clientTimestamp
        self.quoteReference = quoteReference
        self.receivedAt = receivedAt
    }
}

/// What a lane decides on: everything that a client asks of the desk goes through its account's shard, in arrival order.
package enum Work: Sendable {
    case place(Submission)
    case replace(ReplaceSubmission)
    /// Gives a key up: unseen, it can never become an order from then on.
    case fence(KeyID)
    case cancel(OrderID, of: AccountID)
    /// The account's open orders, so many at a time.
    case cancelAll(AccountID)

    var account: AccountID {
        switch self {
        case .place(let submission): submission.account
        case .replace(let submission): submission.account
        case .fence(let key): key.account
        case .cancel(_, let account), .cancelAll(let account): account
        }
    }
}

/// What became of a piece of work: exactly what a commit returned, or that nothing is known.
package enum Verdict: Sendable {
    /// A new order or a replace request, committed. The record holds the answer.
    case accepted(KeyRecord)
    /// A final refusal, stored with its key.
    case refusedForGood(KeyRecord)
    /// The key was used before: the first answer, and where its order stands now.
    case replayed(KeyRecord)
    /// Refused without burning the key.
    case refused(Refusal)
    /// A fence's answer: what the key is from now on.
    case key(KeyRecord)
    /// The cancel is requested (now or before).
    case cancelRequested(OrderState)
    /// Cancels are requested of these; there are more when as many are named as are taken at a time.
    case allCancelRequested([OrderState])
    case orderNotOpen(OrderState)
    case orderNotFound
    /// The account does not exist.
    case accountUnknown
    /// The queue is full, the work waited too long, the venue's sender is too far behind, or the database could not be reached; nothing was written for
    /// this work.
    case busy
    /// A commit was sent and its outcome could not be learned.
    case outcomeUnknown
    /// The database refused this work alone: a fault of ours; nothing was written for it.
    case failed
}
