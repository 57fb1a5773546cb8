package import Trading

/// What a token may be used for; the words of its `scope` claim.
package enum Scope: String, Sendable, Hashable, CaseIterable {
    case ordersRead = "orders:read"
    case ordersWrite = "orders:write"
    case credentialsWrite = "credentials:write"
    case marketRead = "market:read"
    /// Prices fifteen minutes old, where the other scope is not given.
    case marketDelayed = "market:delayed"
    case `operator` = "operator"
}

/// Who asks, as a verified token says it.
package struct Principal: Sendable, Hashable {
    /// The token's `sub`; nil when it has none. For the record only: rights come from `accounts` and `scopes`.
    package let subject: String?
    package let accounts: Set<AccountID>
    package let scopes: Set<Scope>
    /// From this moment on (milliseconds since the epoch) the token is refused: its `exp` plus the leeway.
    package let expiresAt: Int64

    package init(subject: String?, accounts: Set<AccountID>, scopes: Set<Scope>, expiresAt: Int64) {
        self.subject = subject
        self.accounts = accounts
        self.scopes = scopes
        self.expiresAt = expiresAt
    }
}
