import CLibPQ
import Glibc

/// One session with the database: synchronous, each call guarded by a deadline, so that a dead server ends in an error and never in a
/// hang. It lives on one thread, a `DedicatedThread` where tasks use it.
///
/// Read in this order: this file (begin and end of a session), `PostgresConnection+Calls.swift` (single statements), `Pipeline.swift`
/// (many statements, one round trip), `PostgresConnection+Transport.swift` (how libpq is driven without blocking).
///
/// After `connectionLost`, `timedOut` or `protocolViolation` the connection is closed; after `server` it can be used again, but a
/// transaction that was open has failed and waits for `rollback()`.
@safe
package final class PostgresConnection {
    package enum TransactionStatus: Sendable {
        case idle
        /// Something is under way, for example a pipeline that has not been read.
        case active
        case inTransaction
        /// The transaction has failed; the server takes nothing but its end.
        case failed
        /// The connection is closed.
        case unknown
    }

    /// The oldest server that is supported.
    private static let oldestVersion: Int32 = 150_000

    /// Which host of the URL this is, from 0: what `PostgresOptions.rotated(past:)` takes.
    package let hostIndex: Int
    /// Host, port and database, for a log.
    package let server: String
    let statementDeadline: Duration
    /// nil once closed.
    var handle: OpaquePointer?
    var prepared: [String: PreparedStatement] = [:]
    var pipelinesInFlight: [PipelineInFlight] = []
    private let notices: Notices

    /// A statement as the server knows it: with the types of its parameters, by which each use is checked.
    struct PreparedStatement {
        let statement: Statement
        var parameterTypes: [UInt32]
    }

    /// Connects to the first host that answers and takes us, beginning with `options.firstHost`.
    ///
    /// Throws `connectionFailed` with what each host said.
    package init(_ options: PostgresOptions) throws(PostgresError) {
        let hosts = try options.hosts()
        var refusals: [PostgresError] = []
        var opened: (handle: OpaquePointer, index: Int)?
        for turn in hosts.indices {
            let index = (options.firstHost + turn) % hosts.count
            do throws(PostgresError) {
                unsafe opened = unsafe (try Self.open(hosts[index], within: options.connectTimeout), index)
                break
            } catch {
                refusals.append(error)
            }
        }
        guard let opened = unsafe opened else {
            throw PostgresError(
                code: .connectionFailed,
                operation: "connect",
                message: refusals.map(\.message).joined(separator: "; "),
                sqlState: refusals.last?.sqlState
            )
        }
        unsafe handle = unsafe opened.handle
        hostIndex = unsafe opened.index
        server = unsafe Self.describe(opened.handle)
        statementDeadline = options.statementDeadline
        notices = Notices()
        unsafe notices.listen(to: opened.handle)
        try set(options.settings, within: options.connectTimeout)
    }

    deinit {
        close()
    }

    /// Ends the session. Nothing is cancelled: a commit that waits for its standby goes on waiting on the server.
    package func close() {
        guard let handle = unsafe handle else { return }
        unsafe PQfinish(handle)
        unsafe self.handle = nil
        pipelinesInFlight = []
        prepared = [:]
    }

    /// False once the connection has broken or was closed: it never becomes usable again.
    package var isUsable: Bool {
        unsafe handle.map { unsafe PQstatus($0) == CONNECTION_OK } ?? false
    }

    package var transactionStatus: TransactionStatus {
        guard let handle = unsafe handle else { return .unknown }
        return switch unsafe PQtransactionStatus(handle) {
        case PQTRANS_IDLE: .idle
        case PQTRANS_ACTIVE: .active
        case PQTRANS_INTRANS: .inTransaction
        case PQTRANS_INERROR: .failed
        default: .unknown
        }
    }

    /// The process that serves this session, as `pg_stat_activity` shows it.
    package var serverProcessID: Int32 {
        unsafe handle.map { unsafe PQbackendPID($0) } ?? 0
    }

    /// Throws `notDurable` if the server has said since the last call that a commit did not wait for its standby.
    func checkDurability(_ operation: String) throws(PostgresError) {
        guard let warning = notices.takeUnconfirmedCommit() else { return }
        throw PostgresError(code: .notDurable, operation: operation, message: warning)
    }

    // MARK: Opening.

    private static func open(_ parameters: [String: String], within time: Duration) throws(PostgresError) -> OpaquePointer {
        func failure(_ message: String, sqlState: String? = nil) -> PostgresError {
            PostgresError(code: .connectionFailed, operation: "connect", message: message, sqlState: sqlState)
        }
        guard let handle = unsafe start(parameters) else { throw failure("libpq is out of memory") }
        let deadline = ContinuousClock.now + time
        var events = Int16(POLLOUT)
        do throws(PostgresError) {
            connecting: while true {
                guard unsafe PQsocket(handle) >= 0 else { break connecting }
                guard unsafe pollSocket(PQsocket(handle), for: events, until: deadline) else {
                    throw unsafe failure("\(describe(handle)) did not answer within \(time)")
                }
                switch unsafe PQconnectPoll(handle) {
                case PGRES_POLLING_OK: break connecting
                case PGRES_POLLING_READING: events = Int16(POLLIN)
                case PGRES_POLLING_WRITING: events = Int16(POLLOUT)
                default: break connecting
                }
            }
            guard unsafe PQstatus(handle) == CONNECTION_OK else { throw unsafe failure(trimmed(PQerrorMessage(handle))) }
            guard unsafe PQserverVersion(handle) >= oldestVersion else {
                throw unsafe failure("\(describe(handle)) is PostgreSQL \(PQserverVersion(handle) / 10_000); 15 or later is needed")
            }
            guard unsafe PQsetnonblocking(handle, 1) == 0 else { throw unsafe failure(trimmed(PQerrorMessage(handle))) }
        } catch {
            unsafe PQfinish(handle)
            throw error
        }
        return unsafe handle
    }

    private static func start(_ parameters: [String: String]) -> OpaquePointer? {
        // libpq copies what it is given; the copies made here live until it has.
        var keywords: [UnsafePointer<CChar>?] = unsafe parameters.keys.map { unsafe UnsafePointer(strdup($0)) }
        var values: [UnsafePointer<CChar>?] = unsafe parameters.values.map { unsafe UnsafePointer(strdup($0)) }
        defer {
            for index in 0..<parameters.count {
                unsafe free(UnsafeMutablePointer(mutating: keywords[index]))
                unsafe free(UnsafeMutablePointer(mutating: values[index]))
            }
        }
        unsafe keywords.append(nil)
        unsafe values.append(nil)
        return unsafe PQconnectStartParams(keywords, values, 0)
    }

    private static func describe(_ handle: OpaquePointer) -> String {
        func text(_ value: UnsafePointer<CChar>?) -> String { unsafe value.map { unsafe String(cString: $0) } ?? "" }
        return unsafe "\(text(PQhost(handle))):\(text(PQport(handle)))/\(text(PQdb(handle)))"
    }

    private func set(_ settings: [String: String], within time: Duration) throws(PostgresError) {
        var parameters = Parameters()
        for (name, value) in settings.sorted(by: { $0.key < $1.key }) {
            parameters.removeAll()
            parameters.append(name)
            parameters.append(value)
            _ = try query("SELECT pg_catalog.set_config($1, $2, false)", parameters, within: time)
        }
        try prepare([.begin, .commit, .rollback], within: time)
    }
}

/// What the server said beside its answers. Owned by its connection and written only by libpq while that connection reads.
private final class Notices {
    private var unconfirmedCommit: String?

    func listen(to handle: OpaquePointer) {
        unsafe PQsetNoticeReceiver(
            handle,
            { argument, result in
                guard let argument = unsafe argument, let result = unsafe result else { return }
                unsafe Unmanaged<Notices>.fromOpaque(argument).takeUnretainedValue().receive(result)
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
    }

    func takeUnconfirmedCommit() -> String? {
        defer { unconfirmedCommit = nil }
        return unconfirmedCommit
    }

    private func receive(_ notice: OpaquePointer) {
        func field(_ code: Character) -> String {
            unsafe PQresultErrorField(notice, Int32(code.asciiValue!)).map { unsafe String(cString: $0) } ?? ""
        }
        // The text may be translated, the name of the function in the server that says it (R) is not.
        let message = field("M")
        if field("R") == "SyncRepWaitForLSN" || message.contains("wait for synchronous replication") {
            unconfirmedCommit = message
        }
    }
}
