import Foundation

/// Brings a database to the state that a folder of files `NNNN_what.sql` describes.
///
/// Forward only: each file runs once, in the order of its number, in one transaction together with its row in `schema_migrations`. Files
/// that were applied never change. Two migrators at once take turns.
package struct Migrator: Sendable {
    package struct Migration: Sendable, Hashable {
        package enum State: Sendable, Hashable {
            case pending
            case applied(millisecondsSinceEpoch: Int64)
        }

        package let version: Int32
        /// The name of the file without number and ending.
        package let name: String
        package let state: State

        package var fileName: String { Migrator.fileName(version, name) }
    }

    /// Any number will do that nothing else in the database locks: the letters "migrate" in ASCII.
    private static let advisoryLock: Int64 = 0x6d_6967_7261_7465

    /// For one file, and for the wait while another migrator is at work. Ten minutes build an index over some hundred million rows.
    private static let deadline: Duration = .seconds(600)

    private struct File {
        let version: Int32
        let name: String
        let text: [UInt8]
    }

    private struct Applied {
        let name: String
        let checksum: String
        let millisecondsSinceEpoch: Int64
    }

    private let files: [File]

    /// Reads the folder. Throws `migrationsInvalid` for a file whose name is not `NNNN_what.sql`, a number that is missing or there twice,
    /// or an empty folder.
    package init(directory: String) throws(PostgresError) {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: directory).filter { $0.hasSuffix(".sql") }.sorted()
        } catch {
            throw Self.invalid("The folder \(directory) cannot be read: \(error.localizedDescription)")
        }
        var files: [File] = []
        for fileName in names {
            guard let match = fileName.wholeMatch(of: /([0-9]{4})_([a-z0-9_]+)\.sql/), let version = Int32(match.1) else {
                throw Self.invalid("\(fileName) is not named like 0001_what_it_does.sql")
            }
            guard version == files.count + 1 else {
                let isTwice = Int(version) == files.count
                throw Self.invalid(
                    isTwice
                        ? "\(fileName) has the same number as \(Self.fileName(version, files[files.count - 1].name))"
                        : "\(fileName) follows number \(files.count): there is a gap"
                )
            }
            guard let text = FileManager.default.contents(atPath: "\(directory)/\(fileName)") else {
                throw Self.invalid("\(fileName) cannot be read")
            }
            files.append(File(version: version, name: String(match.2), text: [UInt8](text)))
        }
        guard !files.isEmpty else { throw Self.invalid("The folder \(directory) holds no migrations") }
        self.files = files
    }

    /// What is applied and what is pending, in order. Changes nothing. Throws `migrationsInvalid` as `migrate` does.
    package func status(_ connection: PostgresConnection) throws(PostgresError) -> [Migration] {
        let applied = try applied(connection)
        try check(applied, try checksums(connection))
        return files.map { file in
            let state = applied[file.version].map { Migration.State.applied(millisecondsSinceEpoch: $0.millisecondsSinceEpoch) }
            return Migration(version: file.version, name: file.name, state: state ?? .pending)
        }
    }

    /// Applies what is pending and returns it; an empty list where nothing was.
    ///
    /// Throws `migrationsInvalid` where a file that was applied has changed, was renamed or is missing, and `server`, named after the
    /// file and with the line, where its SQL fails; the files before it stay applied.
    package func migrate(_ connection: PostgresConnection) throws(PostgresError) -> [Migration] {
        var lock = Parameters()
        lock.append(Self.advisoryLock)
        try connection.query("SELECT pg_advisory_lock($1)", lock, within: Self.deadline)
        let applied: [Migration]
        do throws(PostgresError) {
            applied = try migrateLocked(connection)
        } catch {
            // The first error is the one that matters; a connection that cannot unlock any more has lost its lock with its session.
            if connection.isUsable {
                if connection.transactionStatus != .idle { try connection.rollback() }
                try connection.query("SELECT pg_advisory_unlock($1)", lock)
            }
            throw error
        }
        try connection.query("SELECT pg_advisory_unlock($1)", lock)
        return applied
    }

    private func migrateLocked(_ connection: PostgresConnection) throws(PostgresError) -> [Migration] {
        try connection.execute(
            """
            CREATE TABLE IF NOT EXISTS schema_migrations (
                version int4 PRIMARY KEY,
                name text NOT NULL,
                checksum text NOT NULL,
                applied_at timestamptz NOT NULL DEFAULT now()
            )
            """
        )
        let checksums = try checksums(connection)
        let before = try applied(connection)
        try check(before, checksums)
        let pending = files.filter { before[$0.version] == nil }
        for file in pending {
            try apply(file, checksum: checksums[Int(file.version) - 1], connection)
        }
        let versions = Set(pending.map(\.version))
        return try status(connection).filter { versions.contains($0.version) }
    }

    private func apply(_ file: File, checksum: String, _ connection: PostgresConnection) throws(PostgresError) {
        try connection.begin()
        let transaction = try connection.query("SELECT pg_current_xact_id()::text").text(0, 0)
        let text = String(decoding: file.text, as: UTF8.self)
        do throws(PostgresError) {
            try connection.execute(text, within: Self.deadline)
        } catch {
            throw Self.locate(error, in: text, of: Self.fileName(file.version, file.name))
        }
        guard connection.transactionStatus == .inTransaction,
            try connection.query("SELECT pg_current_xact_id()::text").text(0, 0) == transaction
        else {
            throw Self.invalid("\(Self.fileName(file.version, file.name)) ends its transaction itself; each file must leave that to the migrator")
        }
        var row = Parameters()
        row.append(file.version)
        row.append(file.name)
        row.append(checksum)
        try connection.query("INSERT INTO schema_migrations (version, name, checksum) VALUES ($1, $2, $3)", row)
        try connection.commit(within: Self.deadline)
    }

    /// SHA-256 of each file, computed by the server, so that this target needs no cryptography of its own.
    private func checksums(_ connection: PostgresConnection) throws(PostgresError) -> [String] {
        var parameters = Parameters()
        parameters.append(files.map(\.text))
        let rows = try connection.query(
            "SELECT encode(sha256(file), 'hex') FROM unnest($1) WITH ORDINALITY AS files (file, place) ORDER BY place",
            parameters
        )
        return (0..<rows.count).map { rows.text($0, 0) }
    }

    private func applied(_ connection: PostgresConnection) throws(PostgresError) -> [Int32: Applied] {
        guard try connection.query("SELECT to_regclass('schema_migrations') IS NOT NULL").bool(0, 0) else { return [:] }
        let rows = try connection.query(
            "SELECT version, name, checksum, (extract(epoch FROM applied_at) * 1000)::int8 FROM schema_migrations"
        )
        var applied: [Int32: Applied] = [:]
        for row in 0..<rows.count {
            applied[rows.int32(row, 0)] = Applied(name: rows.text(row, 1), checksum: rows.text(row, 2), millisecondsSinceEpoch: rows.int64(row, 3))
        }
        return applied
    }

    private func check(_ applied: [Int32: Applied], _ checksums: [String]) throws(PostgresError) {
        for (version, record) in applied.sorted(by: { $0.key < $1.key }) {
            let recorded = Self.fileName(version, record.name)
            guard version >= 1, version <= files.count else {
                throw Self.invalid("\(recorded) was applied to this database but its file is missing")
            }
            let file = files[Int(version) - 1]
            guard file.name == record.name else {
                throw Self.invalid("\(recorded) was applied to this database but the file is now called \(Self.fileName(version, file.name))")
            }
            guard checksums[Int(version) - 1] == record.checksum else {
                throw Self.invalid("\(recorded) has changed since it was applied: restore it and write a new file for the change")
            }
        }
        for version in 1..<(applied.keys.max() ?? 1) where applied[version] == nil {
            throw Self.invalid("\(Self.fileName(version, files[Int(version) - 1].name)) was not applied although later ones were")
        }
    }

    private static func locate(_ error: PostgresError, in text: String, of fileName: String) -> PostgresError {
        let line = error.position.map { position in text.unicodeScalars.prefix(position - 1).count { $0 == "\n" } + 1 }
        return PostgresError(
            code: error.code,
            operation: fileName,
            message: line.map { "line \($0): \(error.message)" } ?? error.message,
            sqlState: error.sqlState,
            constraint: error.constraint,
            position: error.position
        )
    }

    private static func fileName(_ version: Int32, _ name: String) -> String {
        let digits = String(version)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits + "_\(name).sql"
    }

    private static func invalid(_ message: String) -> PostgresError {
        PostgresError(code: .migrationsInvalid, operation: "migrate", message: message)
    }
}
