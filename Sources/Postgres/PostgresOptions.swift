import CLibPQ

/// How to reach a database and how long to wait for it.
package struct PostgresOptions: Sendable {
    /// Any libpq connection string or URI, also with several hosts.
    package var url: String
    /// What `pg_stat_activity` calls us, unless the URL says otherwise.
    package var applicationName = "order-router"
    /// For one host: the TCP connection, TLS, the login and the session's settings. A server that needs longer serves nobody.
    /// Looking up a host's name is the system's part and outside this time; `hostaddr` in the URL avoids it.
    package var connectTimeout: Duration = .seconds(3)
    /// For one call: from its first byte sent to its last byte read. With a synchronous standby that has died a commit hangs; after this
    /// time the caller should go to another host.
    package var statementDeadline: Duration = .seconds(10)
    /// Settings of the session, for example `plan_cache_mode`. Never `statement_timeout` where a standby is synchronous: it would cancel
    /// a commit's wait for the standby, which then is not durable.
    package var settings: [String: String] = [:]
    /// Where in the URL's list of hosts to begin. Each is tried once.
    package var firstHost = 0

    package init(url: String) {
        self.url = url
    }

    /// The same, beginning behind the given host: for a reconnect after that host timed out. With a fixed order a client would go back
    /// for ever to an old primary that still accepts connections.
    package func rotated(past host: Int) -> PostgresOptions {
        var copy = self
        copy.firstHost = host + 1
        return copy
    }

    /// The same URL as a connection string with other values, for example `["dbname": "postgres"]`.
    package static func url(_ url: String, replacing values: [String: String]) throws(PostgresError) -> String {
        let merged = try PostgresOptions(url: url).parsed().merging(values) { _, new in new }
        return merged.sorted { $0.key < $1.key }.map { key, value in
            let escaped = value.replacing("\\", with: "\\\\").replacing("'", with: "\\'")
            return "\(key)='\(escaped)'"
        }.joined(separator: " ")
    }

    /// Keepalives that find a dead peer within half a minute, for connections that wait; `tcp_user_timeout` (ms) bounds unacknowledged
    /// sends. A server that only reads is passed over: a standby would answer with what was true a while ago. All yield to the URL.
    private static let transportDefaults = [
        "keepalives": "1", "keepalives_idle": "10", "keepalives_interval": "5", "keepalives_count": "3", "tcp_user_timeout": "15000",
        "target_session_attrs": "read-write",
    ]

    /// libpq's parameters for each host of the URL, in the URL's order.
    ///
    /// libpq itself would walk through the hosts, but in its non-blocking mode it leaves the time-out to us and a silent first host
    /// would use up the time of all others.
    func hosts() throws(PostgresError) -> [[String: String]] {
        let given = try parsed()
        var common = Self.transportDefaults
        common["fallback_application_name"] = applicationName
        common.merge(given) { _, new in new }
        common["client_encoding"] = "UTF8"

        var lists: [String: [String]] = [:]
        for key in ["host", "hostaddr", "port"] {
            if let value = given[key] {
                lists[key] = value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            }
        }
        let count = max(lists["host"]?.count ?? 1, lists["hostaddr"]?.count ?? 1)
        for (key, list) in lists where list.count != count && !(key == "port" && list.count == 1) {
            throw invalid("The database URL has \(list.count) entries for \(key) and \(count) hosts.")
        }
        return (0..<count).map { index in
            var host = common
            for (key, list) in lists { host[key] = list.count == 1 ? list[0] : list[index] }
            return host
        }
    }

    private func parsed() throws(PostgresError) -> [String: String] {
        // libpq's own message may quote the password and is dropped.
        guard let first = unsafe PQconninfoParse(url, nil) else {
            throw invalid("The database URL is neither a libpq connection string nor a postgres:// URI.")
        }
        defer { unsafe PQconninfoFree(first) }
        var values: [String: String] = [:]
        var option = unsafe first
        while let keyword = unsafe option.pointee.keyword {
            if let value = unsafe option.pointee.val { unsafe values[String(cString: keyword)] = unsafe String(cString: value) }
            unsafe option += 1
        }
        return values
    }

    private func invalid(_ message: String) -> PostgresError {
        PostgresError(code: .connectionFailed, operation: "connect", message: message)
    }
}
