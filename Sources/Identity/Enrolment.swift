import Cryptography
package import Postgres
import Storage
package import Trading
package import Wire

/// Brings device keys in and takes them out (design section 4.4), each change under the account's shard lock and with its audit.
///
/// The caller has checked scope and account of the token. Every call throws its refusal or the database's failure as the problem to
/// answer. Open orders are never touched.
package final class Enrolment: Sendable {
    /// A new credential with what its pairing needs.
    package struct Created: Hashable, Sendable {
        package let view: CredentialView
        /// 32 random bytes; signed as base64url.
        package let challenge: [UInt8]
        /// Milliseconds since the epoch.
        package let challengeExpiresAt: Int64

        /// The body of the 201.
        package var body: [UInt8] { view.createdBody(challenge: challenge, challengeExpiresAt: challengeExpiresAt) }
    }

    /// Changes are rare: so many at once are a flood, and the last of them has its turn within a client's patience.
    private static let waitingLimit = 100
    private static let challengeBytes = 32

    private let database: DatabasePool
    private let book: CredentialBook?
    private let trouble: @Sendable (String) -> Void

    /// - Parameters:
    ///   - book: forgets an account when its credentials change; nil in a process that verifies no orders.
    ///   - trouble: told of every failure of the database or of OpenSSL, for the log. It must not block.
    package init(database: PostgresOptions, book: CredentialBook?, trouble: @escaping @Sendable (String) -> Void) {
        self.database = DatabasePool("enrolment", database, count: 1, waitingLimit: Self.waitingLimit) { trouble($0.description) }
        self.book = book
        self.trouble = trouble
    }

    /// Takes a device's key in, PENDING_PAIRING, with a challenge that is good for five minutes and one attempt.
    ///
    /// Refusals: `invalid_field` (the key is no point of P-256), `account_forbidden` (unknown account), `too_many_credentials`.
    ///
    /// - Parameters:
    ///   - subject: the token's, for the audit.
    ///   - now: milliseconds since the epoch.
    package func create(_ request: CreateCredentialRequest, by subject: String?, now: Int64) async throws(Problem) -> Created {
        let challenge = try random(Self.challengeBytes)
        let expiresAt = now + EnrolmentRules.challengeLifetime
        let credential = CredentialRecord(
            id: try newID(),
            account: request.account,
            alias: request.keyAlias,
            publicKeySPKI: try Self.checkedKey(request.publicKey),
            state: .pendingPairing,
            challenge: challenge,
            challengeExpiresAt: expiresAt,
            createdAt: now
        )
        let view = try await change(request.account, by: subject ?? "", now) { EnrolmentRules.create(credential, among: $0) }
        return Created(view: view, challenge: challenge, challengeExpiresAt: expiresAt)
    }

    /// Makes a pending credential ACTIVE when its own key and an ACTIVE one of the same account have signed the challenge.
    ///
    /// Refusals, in order: `not_found` (also for another account's), `credential_not_pending`, `challenge_expired`, `pairing_invalid`,
    /// `too_many_credentials`.
    ///
    /// - Parameter accounts: the token's.
    package func pair(
        _ credentialID: String,
        _ request: PairCredentialRequest,
        accounts: Set<AccountID>,
        by subject: String?,
        now: Int64
    ) async throws(Problem) -> CredentialView {
        let account = try await account(of: credentialID, among: accounts)
        let trouble = trouble
        return try await change(account, by: subject ?? "", now) { records in
            do throws(CryptographyError) {
                return try EnrolmentRules.pair(credentialID, request, among: records, now: now)
            } catch {
                trouble("pairing of \(credentialID): \(error)")
                return .refuse(Self.internalError)
            }
        }
    }

    /// Makes a credential INVALIDATED, on every router with the next order that is accepted. Again: the same answer.
    ///
    /// Refusal: `not_found` (also for another account's).
    package func invalidate(
        _ credentialID: String,
        accounts: Set<AccountID>,
        by subject: String?,
        now: Int64
    ) async throws(Problem) -> CredentialView {
        let account = try await account(of: credentialID, among: accounts)
        return try await change(account, by: subject ?? "", now) { EnrolmentRules.invalidate(credentialID, among: $0, now: now) }
    }

    /// Newest first; empty where the account has none or does not exist.
    package func list(_ account: AccountID) async throws(Problem) -> [CredentialView] {
        try await read { database throws(PostgresError) in try database.credentials(of: account).map { CredentialView($0) } }
    }

    /// Takes a key in and makes it ACTIVE at once, on an operator's word: the first device, or the one after a loss.
    ///
    /// Refusals: `invalid_field`, `account_forbidden` (unknown account), `too_many_credentials`.
    ///
    /// - Parameters:
    ///   - spki: DER SubjectPublicKeyInfo.
    ///   - whom: for the audit.
    package func enrol(
        _ account: AccountID,
        alias: String,
        spki: [UInt8],
        by whom: String = "operator",
        now: Int64
    ) async throws(Problem) -> CredentialView {
        // Read back, so that an operator's alias obeys the rules of a device's.
        let request = try CreateCredentialRequest.read(CreateCredentialRequest(account: account, keyAlias: alias, publicKey: spki).body)
        let credential = CredentialRecord(
            id: try newID(),
            account: request.account,
            alias: request.keyAlias,
            publicKeySPKI: try Self.checkedKey(request.publicKey),
            state: .active,
            createdAt: now,
            activatedAt: now
        )
        return try await change(account, by: whom, now) { EnrolmentRules.enrol(credential, among: $0) }
    }

    // MARK: The database

    private func account(of credentialID: String, among accounts: Set<AccountID>) async throws(Problem) -> AccountID {
        let account = try await read { database throws(PostgresError) in try database.account(ofCredential: credentialID) }
        guard let account, accounts.contains(account) else { throw EnrolmentRules.notFound }
        return account
    }

    private func read<Value: Sendable>(_ query: @Sendable (Database) throws(PostgresError) -> Value) async throws(Problem) -> Value {
        do throws(DatabaseTrouble) {
            return try await database.run(query)
        } catch {
            if case .failed(let error) = error, !error.isTransient { throw Self.internalError }
            throw Self.busy
        }
    }

    private func change<Value: Sendable>(
        _ account: AccountID,
        by whom: String,
        _ now: Int64,
        _ decide: @escaping @Sendable ([CredentialRecord]) -> EnrolmentDecision<Value>
    ) async throws(Problem) -> Value {
        let result: Result<Value, Problem>?
        do throws(DatabaseTrouble) {
            // Also when the outcome is not known.
            defer { book?.forget(account) }
            result = try await database.run(remembering: nil as EnrolmentDecision<Value>?) { earlier, database throws(PostgresError) in
                try database.changeCredentials(of: account, by: whom, at: now) { records in
                    if let earlier, earlier.isMade(in: records) { return (earlier.result, []) }
                    let decision = decide(records)
                    earlier = decision
                    return (decision.result, decision.changes)
                }
            }
        } catch {
            throw Self.problem(error)
        }
        guard let result else {
            throw Problem(.accountForbidden, "No account of this id exists here. Ask the operator to create it.", outcome: .notApplicable)
        }
        return try result.get()
    }

    private static func problem(_ trouble: DatabaseTrouble) -> Problem {
        guard case .failed(let error) = trouble else { return busy }
        if error.isOutcomeUnknown {
            return Problem(
                .outcomeUnknown,
                "The change may have been made. Ask for the list of credentials before trying again.",
                outcome: .notApplicable
            )
        }
        return error.isTransient ? busy : internalError
    }

    private static let busy = Problem(
        .busy,
        "The credentials cannot be reached now. Nothing was changed; try again shortly.",
        outcome: .notApplicable,
        retryAfterSeconds: 1
    )
    private static let internalError = Problem(
        .internalError,
        "The credential could not be dealt with. Nothing was changed.",
        outcome: .notApplicable
    )

    // MARK: Keys and chance

    /// The key in its one form.
    private static func checkedKey(_ spki: [UInt8]) throws(Problem) -> [UInt8] {
        do throws(CryptographyError) {
            return try P256PublicKey(spki: spki).spki
        } catch {
            throw .invalid("public_key_spki", "'public_key_spki' is not a P-256 public key in DER (SubjectPublicKeyInfo): \(error.message).")
        }
    }

    /// `cred_` and 26 characters of base32, of five random bits each.
    private func newID() throws(Problem) -> String {
        let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)
        return "cred_" + String(decoding: try random(26).map { alphabet[Int($0 & 31)] }, as: UTF8.self)
    }

    private func random(_ count: Int) throws(Problem) -> [UInt8] {
        do throws(CryptographyError) {
            return try randomBytes(count: count)
        } catch {
            trouble(error.description)
            throw Self.internalError
        }
    }
}
