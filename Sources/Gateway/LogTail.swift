import Postgres
import Storage
import Trading

/// Where a router has read the logs to for its clients: what comes next is read once for all of them, not once for each.
struct LogTail {
    /// Rows of a shard read at once: more than it commits between two looks; what is beyond comes with the next look.
    static let portion = 2_000
    /// Accounts whose newest number is kept, 10 MB: beyond it all are forgotten, and whoever comes next is looked up.
    static let accountsKept = 100_000

    private var positions: [Int16: Int64] = [:]
    private var newest: [AccountID: Int64] = [:]
    var known = KnownOrders()

    /// Reads on. The first time, and after `forget`, it only learns where the logs end.
    mutating func next(_ database: Database) throws(PostgresError) -> LogPortion? {
        if positions.isEmpty {
            positions = try database.logEnds()
            return nil
        }
        let portion = try database.log(after: positions, limit: Self.portion)
        positions.merge(portion.ends) { _, new in new }
        newest.merge(portion.newest) { _, new in new }
        if newest.count > Self.accountsKept { newest = [:] }
        return portion
    }

    /// Whether everything up to here of this account lies behind a reader, so that the tail brings the rest.
    func hasReached(_ number: Int64, of account: AccountID) -> Bool { newest[account].map { number >= $0 } ?? false }

    /// Nobody follows any more, or what was read last did not arrive.
    mutating func forget() {
        positions = [:]
        newest = [:]
    }
}
