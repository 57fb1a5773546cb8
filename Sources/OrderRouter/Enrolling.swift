import Cryptography
import Postgres
import Storage
import Trading

/// Enrolment by an operator: a key that is ACTIVE from the start.
enum Enrolling {
    /// Design section 4.4.
    static let mostActive = 5

    /// - Returns: the id of the new credential.
    /// - Throws: where the account does not exist, has the key already, or has as many active ones as it may.
    static func enrol(
        _ key: P256PublicKey,
        alias: String,
        for account: AccountID,
        in database: Database,
        by whom: String,
        at now: Int64
    ) throws -> String {
        let id = "cred_" + Base64.url.encode(try randomBytes(count: 15))
        let record = CredentialRecord(
            id: id,
            account: account,
            alias: alias,
            publicKeySPKI: key.spki,
            state: .active,
            createdAt: now,
            activatedAt: now
        )
        let refusal = try database.changeCredentials(of: account, by: whom, at: now) { known -> (String?, [CredentialChange]) in
            if let same = known.first(where: { $0.state == .active && $0.publicKeySPKI == key.spki }) {
                return ("the key is enrolled already as \(same.id)", [])
            }
            guard known.count(where: { $0.state == .active }) < mostActive else {
                return ("the account \(account) has \(mostActive) active credentials already: invalidate one first", [])
            }
            return (nil, [.create(record, audit: "enrolled")])
        }
        guard let refusal else { throw CommandFailure("there is no account \(account)") }
        if let refusal { throw CommandFailure(refusal) }
        return id
    }
}
