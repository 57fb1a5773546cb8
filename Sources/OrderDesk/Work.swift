package import Storage
package import Trading

/// An order that passed form, token, rate and signature (design section 4.3, rows 1 to 4).
package struct Submission: Sendable {
    package let account: AccountID
    package let key: IdempotencyKey
    /// From account and key alone.
    package let orderID: OrderID
    package let terms: OrderTerms
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

/// What a lane decides on: everything that a client asks of the desk goes through its account's shard, in arrival order.
package enum Work: Sendable {
    case place(Submission)
    /// Gives a key up: unseen, it can never become an order from then on.
    case fence(KeyID)
    case cancel(OrderID, of: AccountID)

    var account: AccountID {
        switch self {
        case .place(let submission): submission.account
        case .fence(let key): key.account
        case .cancel(_, let account): account
        }
    }
}

/// What became of a piece of work: exactly what a commit returned, or that nothing is known.
package enum Verdict: Sendable {
    /// A new order, committed. The record holds the answer.
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
