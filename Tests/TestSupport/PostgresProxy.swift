import Foundation
import Postgres
import Synchronization

/// Stands between a client and the test server and cuts their connections at a chosen moment.
///
/// It listens on a Unix socket of its own and knows just enough of the protocol (PostgreSQL manual, chapter 55) to find the messages
/// that execute something.
package final class PostgresProxy: Sendable {
    package enum Cut: Sendable {
        /// The message never reaches the server: what it asks for does not happen.
        case beforeServer
        /// The server does what was asked, up to the end of the pipeline; the client's connection breaks before it hears of it.
        case afterServer
        /// As `afterServer`, but the connection stays open and silent, as if the server had died.
        case silenceAfterServer
    }

    /// Where clients connect to: the server's URL with the proxy in its place.
    package let url: String

    private struct State {
        var links: [ProxyLink] = []
        var planned: (text: [UInt8], cut: Cut)?
        var cuts = 0
        var isClosed = false
    }

    private let state = Mutex(State())
    private let upstream: ProxyUpstream
    private let listener: Int32
    private let directory: String

    /// - Parameter url: the server or database to stand in front of; nil: the test server.
    package init(to url: String? = nil) throws {
        let target = try url ?? TestServer.url
        upstream = try ProxyUpstream(PostgresConnection(TestServer.options(url: target)).server)
        directory = TestServer.temporaryPath() + "-proxy"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        listener = try ProxyUpstream.listen(at: directory + "/.s.PGSQL.5432")
        self.url = try PostgresOptions.url(
            target,
            replacing: ["host": directory, "port": "5432", "sslmode": "disable", "gssencmode": "disable"]
        )
        let thread = Thread { [self] in accept() }
        thread.start()
    }

    /// The next time that a client runs (simple query) or binds (prepared statement) something whose message holds this text, the name of
    /// the statement for instance, whatever its case: cut there. Once; statements that are being prepared do not count.
    package func cut(_ cut: Cut, at text: String) {
        state.withLock { $0.planned = (Array(text.lowercased().utf8), cut) }
    }

    /// How many connections were cut as planned.
    package var cuts: Int { state.withLock { $0.cuts } }

    /// Breaks all connections now; new ones are served.
    package func cutAll() {
        let links = state.withLock { state in
            defer { state.links = [] }
            return state.links
        }
        for link in links { link.shutDown() }
    }

    /// Breaks all connections and takes no more. Each proxy must be stopped.
    package func stop() {
        let isFirst = state.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
        guard isFirst else { return }
        shutdown(listener, Int32(SHUT_RDWR))
        cutAll()
        try? FileManager.default.removeItem(atPath: directory)
    }

    private func accept() {
        while true {
            let client = Glibc.accept(listener, nil, nil)
            if client < 0 && errno == EINTR { continue }
            if client < 0 || state.withLock({ $0.isClosed }) { break }
            guard let server = upstream.connect() else {
                close(client)
                continue
            }
            let link = ProxyLink(client: client, server: server) { [self] in plan(for: $0) }
            let isOpen = state.withLock { state in
                state.links.append(link)
                return !state.isClosed
            }
            if !isOpen { link.shutDown() }
            Thread { link.run() }.start()
        }
        close(listener)
    }

    /// The cut that this message of a client is to meet, if any.
    private func plan(for message: ArraySlice<UInt8>) -> Cut? {
        state.withLock { state in
            guard let (text, cut) = state.planned, message.lowercasedASCIIContains(text) else { return nil }
            state.planned = nil
            state.cuts += 1
            return cut
        }
    }
}

extension ArraySlice<UInt8> {
    /// Whether the text, given in lower case, is in here in any case.
    fileprivate func lowercasedASCIIContains(_ text: [UInt8]) -> Bool {
        guard count >= text.count else { return false }
        return (startIndex...(endIndex - text.count)).contains { start in
            text.indices.allSatisfy { place in
                let byte = self[start + place]
                return (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte + 32 == text[place] : byte == text[place]
            }
        }
    }
}
