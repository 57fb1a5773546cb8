import Foundation

/// Where a private cluster lives and as whom it runs.
struct ClusterHome {
    let directory: String
    let asOwner: [String]

    /// A socket's address holds 107 bytes, of which `/.s.PGSQL.5432` takes 14.
    private static let longestPath = 90

    init(wanted path: String) throws(PostgresError) {
        let absolute = URL(filePath: path).standardizedFileURL.path
        let wanted = absolute.hasSuffix("/") ? String(absolute.dropLast()) : absolute
        asOwner = geteuid() == 0 ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"] : []
        if geteuid() == 0, unsafe getpwnam("postgres") == nil {
            throw Self.failure("root cannot run PostgreSQL, and there is no user postgres to run it as: is PostgreSQL installed?")
        }
        let fits = wanted.utf8.count <= Self.longestPath && wanted.wholeMatch(of: /[A-Za-z0-9\/._@+-]+/) != nil
        let isReachable = fits ? try Self.isReachable(wanted, asOwner: asOwner) : false
        directory = isReachable ? wanted : "/var/tmp/order-router-\(geteuid())-\(Self.hash(wanted))"
        try Self.checkUse(directory)
    }

    /// Makes the folder, closed to others and the owner's own.
    static func make(_ directory: String, asOwner: [String]) throws(PostgresError) {
        let owner = asOwner.isEmpty ? geteuid() : unsafe getpwnam("postgres").pointee.pw_uid
        do {
            let parent = URL(filePath: directory).deletingLastPathComponent().path
            try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        } catch {
            throw failure("\(directory) cannot be made: \(error.localizedDescription)")
        }
        if unsafe mkdir(directory, 0o700) == 0 {
            guard unsafe chown(directory, owner, gid_t.max) == 0 else { throw failure("\(directory) cannot be given to the user postgres") }
        }
        // In /var/tmp anybody may have put something in our place.
        var entry = stat()
        guard unsafe lstat(directory, &entry) == 0, entry.st_mode & S_IFMT == S_IFDIR else { throw failure("\(directory) is not a folder") }
        guard entry.st_uid == owner || entry.st_uid == geteuid() else {
            throw failure("\(directory) belongs to another user (\(entry.st_uid))")
        }
        guard unsafe chown(directory, owner, gid_t.max) == 0, unsafe chmod(directory, 0o700) == 0 else {
            throw failure("\(directory) cannot be closed to other users")
        }
    }

    /// Whether the owner gets as far as the deepest part of the path that exists.
    private static func isReachable(_ path: String, asOwner: [String]) throws(PostgresError) -> Bool {
        guard !asOwner.isEmpty else { return true }
        var folder = URL(filePath: path)
        while !FileManager.default.fileExists(atPath: folder.path), folder.path != "/" { folder.deleteLastPathComponent() }
        if folder.path == path { folder.deleteLastPathComponent() }
        return try Program.run(asOwner + ["test", "-x", folder.path]).status == 0
    }

    /// A folder with something else in it is not taken over.
    private static func checkUse(_ directory: String) throws(PostgresError) {
        let entries = ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).filter { $0 != ClusterLock.name }
        let isOurs = entries.contains("data.new") || FileManager.default.fileExists(atPath: directory + "/data/private.conf")
        guard entries.isEmpty || isOurs else {
            throw failure("\(directory) holds something else (\(entries.sorted()[0])); a cluster needs a folder of its own")
        }
    }

    /// FNV-1a, 64 bits: it need not be strong, the folder's owner is checked.
    private static func hash(_ text: String) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return String(hash, radix: 16)
    }

    private static func failure(_ message: String) -> PostgresError {
        PostgresError(code: .clusterFailed, operation: "choose a folder", message: message)
    }
}

/// Held while a cluster is made or started, so that two processes never do it at once. The system releases it when its holder ends.
enum ClusterLock {
    static let name = ".lock"

    /// Waits for its turn, at most as long as the other one's start takes, and runs the body.
    static func hold(in directory: String, _ body: () throws(PostgresError) -> Void) throws(PostgresError) {
        let file = unsafe open("\(directory)/\(name)", O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else {
            throw PostgresError(code: .clusterFailed, operation: "start", message: "\(directory) cannot be locked: errno \(errno)")
        }
        defer { close(file) }
        while flock(file, LOCK_EX) != 0 && errno == EINTR {}
        try body()
    }
}
