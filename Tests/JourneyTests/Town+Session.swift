import JourneySupport
import Storage
import Synchronization

/// Who speaks for the venue's session.
extension Town {
    /// The first column of a query, as text.
    func texts(_ sql: String) async throws -> [String] { try await readers.texts(sql) }

    /// The epoch of the venue's session, while some router speaks for it.
    func epochLoggedOn() async throws -> Int64? {
        try await texts(
            """
            SELECT lease_epoch::text FROM fix_sessions WHERE logged_on AND lease_until > (extract(epoch FROM clock_timestamp()) * 1000)::bigint
            """
        ).first.flatMap(Int64.init)
    }

    /// Waits until a router speaks for the session under a later epoch.
    func loggedOn(after epoch: Int64) async throws -> Int64 {
        let found = Mutex(epoch)
        try await eventually("a logon after epoch \(epoch)") {
            guard let now = try await self.epochLoggedOn(), now > epoch else { return false }
            found.withLock { $0 = now }
            return true
        }
        return found.withLock { $0 }
    }
}
