import Cryptography
import Storage
import Trading
import Wire

/// What is decided about an account's credentials, and what it changes.
struct EnrolmentDecision<Value> {
    let result: Result<Value, Problem>
    let changes: [CredentialChange]

    static func refuse(_ problem: Problem, _ changes: [CredentialChange] = []) -> Self { Self(result: .failure(problem), changes: changes) }

    /// Whether the changes stand in the credentials already: an earlier try was committed although its acknowledgement was lost.
    func isMade(in records: [CredentialRecord]) -> Bool {
        changes.allSatisfy { change in
            switch change {
            case .create(let created, _): records.contains { $0.id == created.id }
            case .move(let id, _, let to, _, _): records.contains { $0.id == id && $0.state == to }
            case .useChallenge(let id, _, _): records.contains { $0.id == id && $0.challenge == nil }
            }
        }
    }
}

/// The life of a credential (design section 4.4): values in, values out, under the lock of the account's shard.
enum EnrolmentRules {
    /// A trader has a telephone, a tablet, a key in a drawer: what goes beyond is forgotten devices, each a way in.
    static let activeLimit = 5
    /// Credentials made but not paired within one challenge's life. Bounds what a stolen token can fill the table with.
    static let unpairedLimit = 10
    /// Long enough to fetch the other device, short enough that a challenge seen is soon worth nothing.
    static let challengeLifetime: Int64 = 5 * 60 * 1_000

    /// - Parameter credential: PENDING_PAIRING with its challenge.
    static func create(_ credential: CredentialRecord, among records: [CredentialRecord]) -> EnrolmentDecision<CredentialView> {
        let unpaired = records.filter { $0.activatedAt == nil && $0.createdAt > credential.createdAt - challengeLifetime }
        guard unpaired.count < unpairedLimit else {
            return .refuse(
                Problem(
                    .tooManyCredentials,
                    "\(unpairedLimit) credentials were made within 5 minutes and not paired. Pair one of them, or try again later.",
                    retryAfterSeconds: Int(challengeLifetime / 1_000)
                )
            )
        }
        return EnrolmentDecision(result: .success(CredentialView(credential)), changes: [.create(credential, audit: "created")])
    }

    /// - Parameter credential: ACTIVE, on an operator's word.
    static func enrol(_ credential: CredentialRecord, among records: [CredentialRecord]) -> EnrolmentDecision<CredentialView> {
        guard hasRoom(records) else { return .refuse(tooMany) }
        return EnrolmentDecision(result: .success(CredentialView(credential)), changes: [.create(credential, audit: "enrolled")])
    }

    /// Activates when the new key and an ACTIVE one of the account have both signed the challenge; a failed attempt uses it up.
    ///
    /// Refusals, in order: `not_found`, `credential_not_pending`, `challenge_expired`, `pairing_invalid`, `too_many_credentials`.
    static func pair(
        _ id: String,
        _ request: PairCredentialRequest,
        among records: [CredentialRecord],
        now: Int64
    ) throws(CryptographyError) -> EnrolmentDecision<CredentialView> {
        guard let credential = records.first(where: { $0.id == id }) else { return .refuse(notFound) }
        guard credential.state == .pendingPairing else {
            return .refuse(Problem(.credentialNotPending, "The credential is \(credential.state.text). Only a new one is paired."))
        }
        guard let challenge = credential.challenge, let expiresAt = credential.challengeExpiresAt else { return .refuse(challengeOver) }
        guard now < expiresAt else { return .refuse(challengeOver, [failed(id, "the challenge has expired")]) }
        let text = Base64.url.encode(challenge)
        let form = SignedForm.credentialPair(account: credential.account, credentialID: id, challenge: text)
        let newKey = try P256PublicKey(spki: credential.publicKeySPKI)
        guard try newKey.verify(eitherForm: request.signature, message: form) else {
            return .refuse(pairingInvalid, [failed(id, "the new key's signature does not verify")])
        }
        guard let authorizing = records.first(where: { $0.id == request.authorizingCredentialID && $0.state == .active }) else {
            return .refuse(pairingInvalid, [failed(id, "the authorizing credential is not an active one of the account")])
        }
        guard try P256PublicKey(spki: authorizing.publicKeySPKI).verify(eitherForm: request.authorizingSignature, message: form) else {
            return .refuse(pairingInvalid, [failed(id, "the signature of \(authorizing.id) does not verify")])
        }
        // Both keys agree: the challenge stays good for as long as it takes to invalidate another credential.
        guard hasRoom(records) else { return .refuse(tooMany) }
        let change = CredentialChange.move(
            credentialID: id,
            from: .pendingPairing,
            to: .active,
            audit: "activated",
            detail: "authorized by \(authorizing.id)"
        )
        return EnrolmentDecision(result: .success(CredentialView(credential, status: .active, pairedAt: now)), changes: [change])
    }

    /// From any state; once INVALIDATED it stays as it is.
    static func invalidate(_ id: String, among records: [CredentialRecord], now: Int64) -> EnrolmentDecision<CredentialView> {
        guard let credential = records.first(where: { $0.id == id }) else { return .refuse(notFound) }
        if credential.state == .invalidated { return EnrolmentDecision(result: .success(CredentialView(credential)), changes: []) }
        let change = CredentialChange.move(
            credentialID: id,
            from: credential.state,
            to: .invalidated,
            audit: "invalidated",
            detail: "was \(credential.state.text)"
        )
        return EnrolmentDecision(result: .success(CredentialView(credential, status: .invalidated, invalidatedAt: now)), changes: [change])
    }

    /// The same for an id that nobody has and for another account's.
    static let notFound = Problem(.notFound, "There is no credential of this id in the accounts of the token.")

    private static let tooMany = Problem(
        .tooManyCredentials,
        "The account has \(activeLimit) active credentials, the most there may be. Invalidate one of them first."
    )
    private static let challengeOver = Problem(
        .challengeExpired,
        "The challenge has expired or was used by an earlier attempt. Create the credential anew for another challenge."
    )
    private static let pairingInvalid = Problem(
        .pairingInvalid,
        "The new key and an active credential of the same account must both sign the challenge. It is used up: create the credential anew."
    )

    private static func hasRoom(_ records: [CredentialRecord]) -> Bool { records.count { $0.state == .active } < activeLimit }

    private static func failed(_ id: String, _ detail: String) -> CredentialChange {
        .useChallenge(credentialID: id, audit: "pairing_failed", detail: detail)
    }
}

extension CredentialView {
    /// - Parameters: what has changed since the record was read.
    init(_ record: CredentialRecord, status: CredentialStatus? = nil, pairedAt: Int64? = nil, invalidatedAt: Int64? = nil) {
        self.init(
            credentialID: record.id,
            accountID: record.account,
            keyAlias: record.alias,
            status: status ?? CredentialStatus(record.state),
            createdAt: record.createdAt,
            pairedAt: pairedAt ?? record.activatedAt,
            invalidatedAt: invalidatedAt ?? record.invalidatedAt
        )
    }
}

extension CredentialStatus {
    fileprivate init(_ state: CredentialState) {
        switch state {
        case .pendingPairing: self = .pendingPairing
        case .active: self = .active
        case .invalidated: self = .invalidated
        }
    }
}
