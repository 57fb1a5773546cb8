import CLibPQ

/// The result of one statement, in binary form. A getter whose type is not the column's type is a fault: it stops the program with a
/// sentence that names the statement and the column.
///
/// Unchecked: libpq never changes a result once it is read, and the last reference frees it.
@safe
package final class Rows: @unchecked Sendable {
    private let result: OpaquePointer
    private let operation: String
    package let count: Int
    package let columnCount: Int

    /// Takes the result over and frees it in the end.
    init(_ result: OpaquePointer, operation: String) {
        unsafe self.result = unsafe result
        self.operation = operation
        count = unsafe Int(PQntuples(result))
        columnCount = unsafe Int(PQnfields(result))
    }

    deinit {
        unsafe PQclear(result)
    }

    /// What the server says that it did: `INSERT 0 3`, `COMMIT`, and `ROLLBACK` for the COMMIT of a failed transaction.
    package var commandTag: String { unsafe String(cString: PQcmdStatus(result)) }

    /// Rows inserted, changed, deleted or selected.
    package var affected: Int { unsafe Int(String(cString: PQcmdTuples(result))) ?? 0 }

    package func columnName(_ column: Int) -> String {
        precondition((0..<columnCount).contains(column), "\(operation) has \(columnCount) columns, none at \(column).")
        return unsafe String(cString: PQfname(result, Int32(column)))
    }

    package func isNull(_ row: Int, _ column: Int) -> Bool {
        check(row, column)
        return unsafe PQgetisnull(result, Int32(row), Int32(column)) == 1
    }

    package func int64(_ row: Int, _ column: Int) -> Int64 { Int64(bitPattern: integer(row, column, TypeOID.int8, width: 8)) }
    package func int32(_ row: Int, _ column: Int) -> Int32 { Int32(truncatingIfNeeded: integer(row, column, TypeOID.int4, width: 4)) }
    package func int16(_ row: Int, _ column: Int) -> Int16 { Int16(truncatingIfNeeded: integer(row, column, TypeOID.int2, width: 2)) }
    package func bool(_ row: Int, _ column: Int) -> Bool { integer(row, column, TypeOID.bool, width: 1) != 0 }

    package func uuid(_ row: Int, _ column: Int) -> UUIDBits {
        let value = unsafe self.value(row, column, TypeOID.uuid, width: 16)
        return unsafe UUIDBits(
            high: UInt64(bigEndian: value.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
            low: UInt64(bigEndian: value.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        )
    }

    package func text(_ row: Int, _ column: Int) -> String {
        unsafe String(decoding: value(row, column, TypeOID.text, width: nil), as: UTF8.self)
    }

    package func bytes(_ row: Int, _ column: Int) -> [UInt8] {
        unsafe [UInt8](value(row, column, TypeOID.bytea, width: nil))
    }

    package func optionalInt64(_ row: Int, _ column: Int) -> Int64? { isNull(row, column) ? nil : int64(row, column) }
    package func optionalInt32(_ row: Int, _ column: Int) -> Int32? { isNull(row, column) ? nil : int32(row, column) }
    package func optionalInt16(_ row: Int, _ column: Int) -> Int16? { isNull(row, column) ? nil : int16(row, column) }
    package func optionalBool(_ row: Int, _ column: Int) -> Bool? { isNull(row, column) ? nil : bool(row, column) }
    package func optionalUUID(_ row: Int, _ column: Int) -> UUIDBits? { isNull(row, column) ? nil : uuid(row, column) }
    package func optionalText(_ row: Int, _ column: Int) -> String? { isNull(row, column) ? nil : text(row, column) }
    package func optionalBytes(_ row: Int, _ column: Int) -> [UInt8]? { isNull(row, column) ? nil : bytes(row, column) }

    private func check(_ row: Int, _ column: Int) {
        precondition((0..<count).contains(row), "\(operation) returned \(count) rows, none at \(row).")
        precondition((0..<columnCount).contains(column), "\(operation) returned \(columnCount) columns, none at \(column).")
    }

    private func integer(_ row: Int, _ column: Int, _ type: UInt32, width: Int) -> UInt64 {
        let value = unsafe self.value(row, column, type, width: width)
        return unsafe value.reduce(0) { bits, byte in bits << 8 | UInt64(byte) }
    }

    private func value(_ row: Int, _ column: Int, _ type: UInt32, width: Int?) -> UnsafeRawBufferPointer {
        check(row, column)
        let (row, index) = (Int32(row), Int32(column))
        let isText = unsafe PQfformat(result, index) == 0
        let given = unsafe PQftype(result, index)
        precondition(
            isText ? type == TypeOID.text : given == type || (type == TypeOID.text && TypeOID.accepts(type, as: given)),
            "\(operation): column \(columnName(column)) is \(TypeOID.describe(given))\(isText ? " as text" : "") and was read as \(TypeOID.describe(type))."
        )
        precondition(unsafe PQgetisnull(result, row, index) == 0, "\(operation): column \(columnName(column)) of row \(row) is NULL.")
        let length = unsafe Int(PQgetlength(result, row, index))
        precondition(width == nil || width == length, "\(operation): column \(columnName(column)) is \(length) bytes wide, not \(width ?? 0).")
        return unsafe UnsafeRawBufferPointer(start: PQgetvalue(result, row, index), count: length)
    }

    // MARK: What the connection asks.

    var status: ExecStatusType { unsafe PQresultStatus(result) }

    /// Parameter types, of a result that describes a prepared statement.
    var parameterTypes: [UInt32] {
        unsafe (0..<PQnparams(result)).map { unsafe PQparamtype(result, $0) }
    }

    /// Whether this is the server's last word: an error behind which it closes the connection (severity V, untranslated).
    var endsSession: Bool { ["FATAL", "PANIC"].contains(field("V")) }

    private func field(_ code: Character) -> String? {
        unsafe PQresultErrorField(result, Int32(code.asciiValue!)).map { unsafe String(cString: $0) }
    }

    /// The error that the server (or libpq, when the connection broke) put in place of a result.
    func error(isLost: Bool, statementIndex: Int? = nil) -> PostgresError {
        // Codes of postgres_ext.h: M primary message, D detail, C SQLSTATE, n constraint, P position.
        let message: String
        if let primary = field("M") {
            message = field("D").map { "\(primary) (\($0))" } ?? primary
        } else {
            message = unsafe trimmed(PQresultErrorMessage(result))
        }
        return PostgresError(
            code: isLost ? .connectionLost : .server,
            operation: operation,
            message: message,
            sqlState: field("C"),
            constraint: field("n"),
            statementIndex: statementIndex,
            position: field("P").flatMap { Int($0) }
        )
    }
}

/// libpq's messages end in a line feed and may have several lines.
func trimmed(_ message: UnsafePointer<CChar>?) -> String {
    guard let message = unsafe message else { return "no message" }
    return unsafe String(cString: message).split(whereSeparator: \.isNewline).joined(separator: "; ")
}
