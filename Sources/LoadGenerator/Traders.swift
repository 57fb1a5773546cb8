import Cryptography
import Foundation
import Trading

/// Who sends orders: an account with its device's key, credential and token.
struct Trader: Sendable {
    let account: AccountID
    let credential: String
    let token: String
    let key: P256PrivateKey
}

/// What `prepare` leaves for `run`, in a file that only its owner reads: whoever has it can trade for these accounts.
struct TraderFile: Codable {
    private struct Entry: Codable {
        let account: String
        let credential: String
        let token: String
        let key: String
    }

    static let name = "traders.json"

    private let traders: [Entry]

    init(_ traders: [Trader]) throws {
        self.traders = try traders.map { Entry(account: $0.account.text, credential: $0.credential, token: $0.token, key: try $0.key.pem()) }
    }

    /// The mode is set before anything is in the file.
    func write(to folder: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let path = folder + "/" + Self.name
        if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
        guard FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]),
            let file = FileHandle(forWritingAtPath: path)
        else { throw LoadFailure("\(path) cannot be written") }
        try file.write(contentsOf: JSONEncoder().encode(self))
        try file.close()
    }

    static func read(_ folder: String) throws -> [Trader] {
        let path = folder + "/" + name
        guard let data = FileManager.default.contents(atPath: path) else {
            throw LoadFailure("\(path) cannot be read: load-generator prepare makes it")
        }
        return try JSONDecoder().decode(TraderFile.self, from: data).traders.map { entry in
            guard let account = AccountID(entry.account) else { throw LoadFailure("\(path) names an account '\(entry.account)'") }
            return Trader(account: account, credential: entry.credential, token: entry.token, key: try P256PrivateKey(pem: entry.key))
        }
    }
}
