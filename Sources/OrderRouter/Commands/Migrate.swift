import Foundation
import Postgres
import Storage

extension Command {
    static let migrate = Command(
        "migrate",
        "Brings the database to the state that the migrations describe. Safe to run twice, and by two at once.",
        flags: [Command.Flag("status", .mark, "Only shows what is applied and what is pending.")],
        settings: Setting.named("database-url", "migrations"),
        details: "--status exits with 1 while something is pending."
    ) { arguments in
        let migrator = try Migrator(directory: Migrations.folder(arguments.setting("migrations", \.migrations)))
        let connection = try PostgresConnection(PostgresOptions(url: arguments.setting("database-url", \.databaseURL)))
        defer { connection.close() }
        if arguments.has("status") {
            let migrations = try migrator.status(connection)
            for migration in migrations { say("\(migration.state.text)  \(migration.fileName)") }
            return migrations.contains { $0.state == .pending } ? .failed : .ok
        }
        let applied = try migrator.migrate(connection)
        for migration in applied { say("applied  \(migration.fileName)") }
        let database = try Database(PostgresOptions(url: arguments.setting("database-url", \.databaseURL)))
        defer { database.drop() }
        let made = try database.makeParts(at: Date.nowMilliseconds)
        if made > 0 { say("made \(made) parts of tables for the coming weeks") }
        say(applied.isEmpty ? "The database is up to date." : "The database is up to date now.")
        return .ok
    }
}

/// Where the migrations are.
enum Migrations {
    /// - Parameter given: what the operator says; else the folder `migrations` here, else the nearest one above the program itself.
    static func folder(
        _ given: String?,
        program: String = Bundle.main.executablePath ?? "",
        here: String = FileManager.default.currentDirectoryPath
    ) throws(UsageError) -> String {
        if let given { return given }
        var places = [URL(filePath: here, directoryHint: .isDirectory)]
        var above = URL(filePath: program).resolvingSymlinksInPath()
        while above.path != "/", !program.isEmpty {
            above.deleteLastPathComponent()
            places.append(above)
        }
        let folders = places.map { $0.appending(path: "migrations").path }
        guard let found = folders.first(where: { FileManager.default.fileExists(atPath: $0) }) else {
            throw UsageError("There is no folder migrations here or above the program: say with --migrations (ORDER_ROUTER_MIGRATIONS) where it is.")
        }
        return found
    }
}

extension Migrator.Migration.State {
    fileprivate var text: String {
        switch self {
        case .pending: "pending" + String(repeating: " ", count: 21)
        case .applied(let milliseconds): "applied " + Date(milliseconds: milliseconds).formatted(.iso8601)
        }
    }
}

extension Date {
    init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1_000) }

    /// The wall clock, in milliseconds since the epoch.
    static var nowMilliseconds: Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }
}

extension Setting {
    /// Those of the table with these flags, for a command that needs no more.
    static func named(_ flags: String...) -> [Setting] {
        flags.map { flag in
            guard let setting = all.first(where: { $0.flag == flag }) else { preconditionFailure("--\(flag) is a setting.") }
            return setting
        }
    }
}
