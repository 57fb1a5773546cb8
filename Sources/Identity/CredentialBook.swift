import Cryptography
package import Postgres
import Storage
import Synchronization
package import Trading
package import Wire

/// Whether a trader's key stands behind a signed text.
package enum SignatureVerdict: Hashable, Sendable {
    /// By this credential of the account. It may be INVALIDATED: whether it may place a new order is decided in the accepting
    /// transaction, which reads its state again.
    case verified(credentialID: String)
    case refused(SignatureRefusal)
    /// The credentials could not be read, or OpenSSL fails: says nothing about the signature.
    case unavailable
}

/// Row 4 of the checks (design section 4.3).
package enum SignatureRefusal: Hashable, Sendable {
    /// The account has no credential of this id, or none at all, that was ever active.
    case credentialUnknown
    case signatureInvalid
}

extension SignatureVerdict {
    /// The answer to give; nil when the signature is good.
    package var problem: Problem? {
        switch self {
        case .verified: nil
        case .refused(.credentialUnknown):
            Problem(.credentialUnknown, "The account has no such credential that may sign. Enrol the device's key first.")
        case .refused(.signatureInvalid):
            Problem(
                .signatureInvalid,
                "The signature does not fit the request as it was received. Sign exactly what is sent, in its own form: TRADING-ORDER-V1 or TRADING-REPLACE-V1."
            )
        case .unavailable: Problem(.busy, "The signature could not be checked now. Send the same request again.", retryAfterSeconds: 1)
        }
    }
}

/// The accounts' device keys, ready to verify with. Any thread may ask.
///
/// A key never changes under its credential's id, and the accepting transaction reads states anew: what is kept here can be old without
/// harm. It is read again at an age, and when it does not explain a signature, so that a credential enrolled through another router works.
package final class CredentialBook: Sendable {
    package struct Settings: Sendable {
        /// Accounts kept: some 20 MB with three keys each. More than trade within a few minutes on one router.
        package var cachedAccounts = 20_000
        /// What is older is read again: so long may a credential invalidated elsewhere be tried before those still active.
        package var longestAge: Duration = .seconds(30)
        /// What explains no signature is read again when it is older than this, so that garbage does not hammer the database.
        package var missInterval: Duration = .seconds(1)
        /// Accounts that wait to be read, each for some 0.3 ms when all is well.
        package var waitingAccounts = 1_000
        /// Invalidated credentials tried when a request names none, 90 µs each: a trader gets a new telephone a few times.
        package var invalidatedTried = 10
        /// For one read: the client waits for it with an order in hand.
        package var readDeadline: Duration = .seconds(2)

        package init() {}
    }

    private struct Credential: Sendable {
        let id: String
        let isActive: Bool
        let key: P256PublicKey
    }

    private struct Entry: Sendable {
        /// Those that are or were active: active ones first, then newest first.
        let credentials: [Credential]
        /// Milliseconds since the epoch, before they were read.
        let readAt: Int64
    }

    /// How a read that another request began has ended.
    private enum Joined: Sendable {
        case read(Entry?)
        /// Before one could wait for it.
        case over
    }

    private struct State {
        var entries: RecentCache<AccountID, Entry>
        /// The read that a request for the account may wait for.
        var reads: [AccountID: Int] = [:]
        /// Who waits for which read. As many as there are requests at most, which the door bounds.
        var waiters: [Int: [CheckedContinuation<Joined, Never>]] = [:]
        var lastRead = 0
    }

    private let settings: Settings
    private let database: DatabasePool
    private let state: Mutex<State>
    private let trouble: @Sendable (String) -> Void

    /// - Parameter trouble: told of every failure of the database or of OpenSSL, for the log. It must not block.
    package init(database: PostgresOptions, settings: Settings = Settings(), trouble: @escaping @Sendable (String) -> Void) {
        var options = database
        options.statementDeadline = min(options.statementDeadline, settings.readDeadline)
        self.settings = settings
        self.database = DatabasePool("credentials", options, count: 1, waitingLimit: settings.waitingAccounts) { trouble($0.description) }
        self.trouble = trouble
        state = Mutex(State(entries: RecentCache(capacity: settings.cachedAccounts)))
    }

    /// Tells whether the signature over the form is the account's. Suspends only when the account's credentials have to be read.
    ///
    /// - Parameters:
    ///   - credentialID: the one that must have signed; nil: ACTIVE ones are tried newest first, then INVALIDATED ones.
    ///   - signature: ECDSA P-256 with SHA-256, in DER or as r || s.
    ///   - form: the signed text (``SignedForm``).
    ///   - now: milliseconds since the epoch.
    package func verify(account: AccountID, credentialID: String?, signature: [UInt8], form: [UInt8], now: Int64) async -> SignatureVerdict {
        let known = state.withLock { $0.entries.find(account) }
        if let known, Self.is(known, youngerThan: settings.longestAge, at: now) {
            let verdict = judge(known, credentialID, signature, form)
            guard couldChange(verdict, credentialID), !Self.is(known, youngerThan: settings.missInterval, at: now) else { return verdict }
        }
        if let entry = await entry(of: account, now: now) { return judge(entry, credentialID, signature, form) }
        // The database is out of reach: a key that was known is still that credential's key.
        if let known, case .verified(let id) = judge(known, credentialID, signature, form) { return .verified(credentialID: id) }
        return .unavailable
    }

    /// The account's credentials have changed: what is asked from now on is answered from what is read from now on.
    package func forget(_ account: AccountID) {
        state.withLock { state in
            state.entries.remove(account)
            state.reads[account] = nil
        }
    }

    /// A clock that was set back makes an entry old, not young for ever.
    private static func `is`(_ entry: Entry, youngerThan age: Duration, at now: Int64) -> Bool {
        let elapsed = now - entry.readAt
        return elapsed >= 0 && .milliseconds(elapsed) < age
    }

    /// Whether newly read credentials could change the verdict: not when the named credential is known, for its key stays.
    private func couldChange(_ verdict: SignatureVerdict, _ credentialID: String?) -> Bool {
        switch verdict {
        case .refused(.credentialUnknown): true
        case .refused(.signatureInvalid): credentialID == nil
        case .verified, .unavailable: false
        }
    }

    private func judge(_ entry: Entry, _ credentialID: String?, _ signature: [UInt8], _ form: [UInt8]) -> SignatureVerdict {
        let candidates: ArraySlice<Credential>
        if let credentialID {
            let named = entry.credentials.firstIndex { $0.id == credentialID }
            candidates = named.map { entry.credentials[$0...$0] } ?? []
        } else {
            let active = entry.credentials.prefix { $0.isActive }
            candidates = entry.credentials.prefix(active.count + settings.invalidatedTried)
        }
        if candidates.isEmpty { return .refused(.credentialUnknown) }
        do throws(CryptographyError) {
            for credential in candidates where try credential.key.verify(eitherForm: signature, message: form) {
                return .verified(credentialID: credential.id)
            }
            return .refused(.signatureInvalid)
        } catch {
            trouble(error.description)
            return .unavailable
        }
    }

    // MARK: Reading

    /// What is committed now, nil when the database does not say. Requests that come while an account is being read share the read.
    private func entry(of account: AccountID, now: Int64) async -> Entry? {
        while true {
            let (read, isOurs) = state.withLock { state in
                if let read = state.reads[account] { return (read, false) }
                state.lastRead += 1
                state.reads[account] = state.lastRead
                state.waiters[state.lastRead] = []
                return (state.lastRead, true)
            }
            if isOurs {
                let entry = await readEntry(of: account, now: now)
                end(read, of: account, with: entry)
                return entry
            }
            if case .read(let entry) = await join(read) { return entry }
        }
    }

    private func join(_ read: Int) async -> Joined {
        await withCheckedContinuation { continuation in
            let isUnderWay = state.withLock { state in
                guard state.waiters[read] != nil else { return false }
                state.waiters[read]?.append(continuation)
                return true
            }
            if !isUnderWay { continuation.resume(returning: .over) }
        }
    }

    private func end(_ read: Int, of account: AccountID, with entry: Entry?) {
        let waiters = state.withLock { state in
            // Not after `forget`: what was read may be from before the change.
            if state.reads[account] == read {
                state.reads[account] = nil
                if let entry { state.entries.insert(entry, for: account) }
            }
            return state.waiters.removeValue(forKey: read) ?? []
        }
        for waiter in waiters { waiter.resume(returning: .read(entry)) }
    }

    private func readEntry(of account: AccountID, now: Int64) async -> Entry? {
        do throws(DatabaseTrouble) {
            let trouble = trouble
            return try await database.run { database throws(PostgresError) in
                Self.entry(of: try database.credentials(of: account), readAt: now, trouble)
            }
        } catch {
            // A failure was reported where it was met.
            return nil
        }
    }

    private static func entry(of records: [CredentialRecord], readAt: Int64, _ trouble: (String) -> Void) -> Entry {
        // Who was never active was never authorised by another key: invalidated before it was paired, it verifies nothing.
        let usable = records.filter { $0.state == .active || ($0.state == .invalidated && $0.activatedAt != nil) }
        let credentials = usable.compactMap { record -> Credential? in
            do throws(CryptographyError) {
                return Credential(id: record.id, isActive: record.state == .active, key: try P256PublicKey(spki: record.publicKeySPKI))
            } catch {
                trouble("credential \(record.id): \(error)")
                return nil
            }
        }
        return Entry(credentials: credentials.filter(\.isActive) + credentials.filter { !$0.isActive }, readAt: readAt)
    }
}
