/// A statement that is prepared once on each connection and then named.
package struct Statement: Sendable, Hashable {
    /// Unique on a connection; also what errors call it.
    package let name: String
    package let sql: String
    /// `TypeOID`s of `$1…`; empty: the server infers them.
    package let parameterTypes: [UInt32]

    package init(name: String, sql: String, parameterTypes: [UInt32] = []) {
        self.name = name
        self.sql = sql
        self.parameterTypes = parameterTypes
    }

    /// Every connection has these three prepared, so that they can be members of a pipeline.
    package static let begin = Statement(name: "begin", sql: "BEGIN")
    /// An answer to this one other than COMMIT is thrown as an error: PostgreSQL answers the COMMIT of a failed transaction with ROLLBACK.
    package static let commit = Statement(name: "commit", sql: "COMMIT")
    package static let rollback = Statement(name: "rollback", sql: "ROLLBACK")
}
