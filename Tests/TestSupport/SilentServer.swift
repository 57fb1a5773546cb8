import Foundation

/// A server that takes connections and never says a word, as one behind a broken network would seem.
package final class SilentServer: Sendable {
    /// The folder of its Unix socket: what stands for `host` in a URL; the port is 5432.
    package let host = TestServer.temporaryPath() + "-silent"
    private let listener: Int32

    package init() throws {
        try FileManager.default.createDirectory(atPath: host, withIntermediateDirectories: false)
        // The system completes connections up to the backlog; nobody accepts them.
        listener = try ProxyUpstream.listen(at: host + "/.s.PGSQL.5432")
    }

    deinit {
        close(listener)
        try? FileManager.default.removeItem(atPath: host)
    }
}
