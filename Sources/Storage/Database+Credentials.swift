package import Postgres
package import Trading

/// A device key of an account.
package struct CredentialRecord: Sendable {
    package let id: String
    package let account: AccountID
    package let alias: String
    /// DER.
    package let publicKeySPKI: [UInt8]
    package let state: CredentialState
    package let challenge: [UInt8]?
    package let challengeExpiresAt: Int64?
    package let createdAt: Int64
    package let activatedAt: Int64?
    package let invalidatedAt: Int64?

    package init(
        id: String,
        account: AccountID,
        alias: String,
        publicKeySPKI: [UInt8],
        state: CredentialState,
        challenge: [UInt8]? = nil,
        challengeExpiresAt: Int64? = nil,
        createdAt: Int64,
        activatedAt: Int64? = nil,
        invalidatedAt: Int64? = nil
    ) {
        self.id = id
        self.account = account
        self.alias = alias
        self.publicKeySPKI = publicKeySPKI
        self.state = state
        self.challenge = challenge
        self.challengeExpiresAt = challengeExpiresAt
        self.createdAt = createdAt
        self.activatedAt = activatedAt
        self.invalidatedAt = invalidatedAt
    }
}

/// Credential changes commit under the account's shard lock, so that no accepting transaction overlaps a revocation.
extension Database {
    /// Newest first; empty where the account has none or does not exist.
    package func credentials(of account: AccountID) throws(PostgresError) -> [CredentialRecord] {
        try run(SQL.readCredentials) { $0.append(account.text) }.credentials
    }

    /// Whose a credential is, for ever; nil where there is none of this id.
    package func account(ofCredential id: String) throws(PostgresError) -> AccountID? {
        let rows = try run(SQL.accountOfCredential) { $0.append(id) }
        return rows.count == 0 ? nil : rows.account(0, 0)
    }

    /// Runs `decide` on the account's credentials under its shard's lock and commits the changes that it asks for, with their audit.
    ///
    /// - Parameter decide: pure; returns the result and the changes. Without changes nothing is written.
    /// - Returns: nil where the account does not exist.
    package func changeCredentials<Result>(
        of account: AccountID,
        by whom: String,
        at now: Int64,
        _ decide: ([CredentialRecord]) -> (Result, [CredentialChange])
    ) throws(PostgresError) -> Result? {
        let rows = try begin { pipeline in
            pipeline.lock([account.shard])
            pipeline.readAccounts([account])
            pipeline.add(SQL.readCredentials) { $0.append(account.text) }
        }
        guard rows[1].count == 1 else {
            rollback()
            return nil
        }
        let (result, changes) = decide(rows[2].credentials)
        if changes.isEmpty {
            rollback()
            return result
        }
        do {
            try commit { pipeline in
                for change in changes { pipeline.write(change, account: account, by: whom, at: now) }
            }
        } catch {
            rollback()
            throw error
        }
        return result
    }
}

package enum CredentialChange: Sendable {
    case create(CredentialRecord, audit: String)
    case move(credentialID: String, from: CredentialState, to: CredentialState, audit: String, detail: String?)
    /// The challenge is used up by a failed attempt.
    case useChallenge(credentialID: String, audit: String, detail: String?)
}

extension Pipeline {
    fileprivate mutating func write(_ change: CredentialChange, account: AccountID, by whom: String, at now: Int64) {
        switch change {
        case .create(let credential, let change):
            add(SQL.insertCredential) {
                $0.append(account.text)
                $0.append(credential.id)
                $0.append(credential.alias)
                $0.append(credential.publicKeySPKI)
                $0.append(credential.state.rawValue)
                $0.append(credential.challenge)
                $0.append(credential.challengeExpiresAt)
                $0.append(now)
            }
            audit(change, credential.id, account, whom, nil, now)
        case .move(let id, let from, let to, let change, let detail):
            add(SQL.changeCredential) {
                $0.append(account.text)
                $0.append(id)
                $0.append(from.rawValue)
                $0.append(to.rawValue)
                $0.append(now)
            }
            audit(change, id, account, whom, detail, now)
        case .useChallenge(let id, let change, let detail):
            add(SQL.clearChallenge) {
                $0.append(account.text)
                $0.append(id)
            }
            audit(change, id, account, whom, detail, now)
        }
    }

    private mutating func audit(_ change: String, _ id: String, _ account: AccountID, _ whom: String, _ detail: String?, _ now: Int64) {
        add(SQL.insertCredentialAudit) {
            $0.append(now)
            $0.append(account.text)
            $0.append(id)
            $0.append(change)
            $0.append(whom)
            $0.append(detail)
        }
    }
}

extension Rows {
    fileprivate var credentials: [CredentialRecord] {
        (0..<count).map { row in
            guard let state = CredentialState(rawValue: int16(row, 4)) else { preconditionFailure("A stored credential state is known.") }
            return CredentialRecord(
                id: text(row, 0),
                account: account(row, 1),
                alias: text(row, 2),
                publicKeySPKI: bytes(row, 3),
                state: state,
                challenge: optionalBytes(row, 5),
                challengeExpiresAt: optionalInt64(row, 6),
                createdAt: int64(row, 7),
                activatedAt: optionalInt64(row, 8),
                invalidatedAt: optionalInt64(row, 9)
            )
        }
    }
}
