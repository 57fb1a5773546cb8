import Cryptography
import Foundation
import Identity
import Postgres
import Storage
import Synchronization
import Trading
import Wire

extension Command {
    private static let accountFlag = Flag("account", "account", .required, "The account whose device it is.")

    static let credentialEnrol = Command(
        "credential enrol",
        "Lets a device's key sign for an account at once: for the first device, or one in place of a lost one.",
        flags: [
            accountFlag,
            Flag("public-key", "file", .required, "The public key: P-256, PEM (openssl pkey -pubout) or DER."),
            Flag("alias", "text", .optional, "What the person calls the device."),
            operatorFlag,
        ],
        settings: Setting.named("database-url"),
        details: "Prints the id of the credential. An account has at most 5 active ones."
    ) { arguments in
        let id = try account(arguments, "account")
        let key = try PublicKeyFile.read(try arguments.required("public-key", "a file") { $0 })
        let options = try PostgresOptions(url: arguments.setting("database-url", \.databaseURL))
        let alias = arguments.value("alias") ?? "enrolled by \(operatorName(arguments))"
        let credential = try await enrol(key, alias: alias, for: id, in: options, by: operatorName(arguments))
        say(credential)
        return .ok
    }

    /// - Returns: the id of the new credential, ACTIVE from the start.
    static func enrol(
        _ key: P256PublicKey,
        alias: String,
        for account: AccountID,
        in database: PostgresOptions,
        by whom: String
    ) async throws -> String {
        let trouble = Mutex<[String]>([])
        let enrolment = Enrolment(database: database, book: nil) { text in trouble.withLock { $0.append(text) } }
        do {
            return try await enrolment.enrol(account, alias: alias, spki: key.spki, by: whom, now: Date.nowMilliseconds).credentialID
        } catch {
            let why = ([error.detail] + trouble.withLock { $0 }).joined(separator: " ")
            throw CommandFailure(why, error.code == .busy ? .databaseUnreachable : .failed)
        }
    }

    static let credentialList = Command(
        "credential list",
        "Lists the credentials of an account, newest first.",
        flags: [accountFlag],
        settings: Setting.named("database-url")
    ) { arguments in
        let id = try account(arguments, "account")
        let database = try Database(PostgresOptions(url: arguments.setting("database-url", \.databaseURL)))
        let credentials = try database.credentials(of: id)
        if try credentials.isEmpty && database.balances(of: id) == nil { throw CommandFailure("there is no account \(id)") }
        var table = TextTable(["credential", "state", "created", "alias"])
        for credential in credentials {
            table.add([
                credential.id, credential.state.text, Date(milliseconds: credential.createdAt).formatted(.iso8601), Log.quoted(credential.alias),
            ])
        }
        say(table.text, terminator: "")
        return .ok
    }

    static let credentialInvalidate = Command(
        "credential invalidate",
        "Ends a credential on every router at once: a device that is lost or stolen. Open orders stay.",
        flags: [accountFlag, Flag("id", "credential", .required, "The credential."), operatorFlag],
        settings: Setting.named("database-url")
    ) { arguments in
        let id = try account(arguments, "account")
        let credential = try arguments.required("id", "a credential id") { $0 }
        let database = try Database(PostgresOptions(url: arguments.setting("database-url", \.databaseURL)))
        let outcome = try database.changeCredentials(of: id, by: operatorName(arguments), at: Date.nowMilliseconds) { known in
            guard let found = known.first(where: { $0.id == credential }) else { return (CredentialState?.none, []) }
            if found.state == .invalidated { return (found.state, []) }
            return (
                found.state,
                [.move(credentialID: credential, from: found.state, to: .invalidated, audit: "invalidated", detail: "by an operator")]
            )
        }
        guard let outcome else { throw CommandFailure("there is no account \(id)") }
        guard let before = outcome else { throw CommandFailure("the account \(id) has no credential \(credential)") }
        say(before == .invalidated ? "\(credential) was INVALIDATED before." : "\(credential) is INVALIDATED.")
        return .ok
    }
}

/// A public key as an operator hands it over.
enum PublicKeyFile {
    /// No P-256 key is longer; what is much longer is not read at all.
    private static let limitBytes = 4_096

    static func read(_ path: String) throws -> P256PublicKey {
        guard let data = FileManager.default.contents(atPath: path) else { throw CommandFailure("the file \(path) cannot be read") }
        guard data.count <= limitBytes else { throw CommandFailure("the file \(path) is too long for a P-256 public key") }
        do throws(CryptographyError) {
            let text = String(decoding: data, as: UTF8.self)
            return try text.hasPrefix("-----BEGIN") ? P256PublicKey(pem: text) : P256PublicKey(spki: [UInt8](data))
        } catch {
            throw CommandFailure("\(path) holds no P-256 public key: \(error.message)")
        }
    }
}
