/// What went wrong between us and the database.
package struct PostgresError: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Code: String, Sendable {
        /// No connection could be made: no host answered, or the server refused us.
        case connectionFailed
        /// The connection broke. What was under way may or may not have happened.
        case connectionLost
        /// The deadline of the call passed and the connection was given up. What was under way may still happen.
        case timedOut
        /// The server answered with an error; `sqlState` says which.
        case server
        /// The server or libpq answered with something that has no place here.
        case protocolViolation
        /// The commit did not wait for its synchronous standby: it holds on the primary alone and a failover may lose it.
        case notDurable
        /// The migration files and the database do not fit together, or a file is not what it must be.
        case migrationsInvalid
        /// A private cluster could not be made, started or stopped.
        case clusterFailed
    }

    package let code: Code
    /// What was asked: the name of a statement, or of the call.
    package let operation: String
    package let message: String
    /// The five-character SQLSTATE (PostgreSQL manual, appendix A), where the server sent one.
    package let sqlState: String?
    /// The name of the violated constraint, where there is one.
    package let constraint: String?
    /// The place of the failed statement in its pipeline, from 0.
    package let statementIndex: Int?
    /// Where in its SQL text the statement is wrong, in characters from 1.
    package let position: Int?

    package init(
        code: Code,
        operation: String,
        message: String,
        sqlState: String? = nil,
        constraint: String? = nil,
        statementIndex: Int? = nil,
        position: Int? = nil
    ) {
        self.code = code
        self.operation = operation
        self.message = message
        self.sqlState = sqlState
        self.constraint = constraint
        self.statementIndex = statementIndex
        self.position = position
    }

    /// True where the same work, begun again from its first statement, may succeed: a serialization conflict, a deadlock, a server
    /// that stops, starts, is full or has become a standby, a connection that broke. It does not say that nothing was committed:
    /// see `isOutcomeUnknown`.
    package var isTransient: Bool {
        switch code {
        case .connectionFailed, .connectionLost, .timedOut: true
        case .protocolViolation, .notDurable, .migrationsInvalid, .clusterFailed: false
        case .server: Self.isTransient(sqlState: sqlState ?? "")
        }
    }

    /// True where a COMMIT among what was asked may have taken effect although it was not confirmed.
    package var isOutcomeUnknown: Bool {
        switch code {
        case .connectionLost, .timedOut, .notDurable, .protocolViolation: true
        case .connectionFailed, .migrationsInvalid, .clusterFailed: false
        case .server: sqlState == "40003" || sqlState == "08007"
        }
    }

    package var description: String {
        let place = statementIndex.map { ", statement \($0)" } ?? ""
        let state = sqlState.map { " [\($0)]" } ?? ""
        return "\(code.rawValue) in \(operation)\(place): \(message)\(state)"
    }

    private static func isTransient(sqlState: String) -> Bool {
        // 40: rollback (40001 serialization, 40P01 deadlock). 08: connection. 53: out of resources.
        if ["40", "08", "53"].contains(sqlState.prefix(2)) { return sqlState != "40002" }
        // 57P01 to 57P03: shutdown, crash, not yet accepting. 55P03: lock not available. 25006: the primary has become a standby.
        // 25P03: idle in transaction for too long.
        return ["57P01", "57P02", "57P03", "55P03", "25006", "25P03"].contains(sqlState)
    }
}
