import CLibPQ
import Glibc

/// Waits until the socket is ready; false where the deadline comes first.
func pollSocket(_ socket: Int32, for events: Int16, until deadline: ContinuousClock.Instant) -> Bool {
    while true {
        let left = deadline - .now
        guard left > .zero else { return false }
        // Rounded up, so that the last part of a millisecond does not spin.
        let milliseconds = left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000 + 1
        var entry = pollfd(fd: socket, events: events, revents: 0)
        let ready = unsafe poll(&entry, 1, Int32(clamping: milliseconds))
        if ready > 0 { return true }
        precondition(ready == 0 || errno == EINTR || errno == EAGAIN, "poll() on a socket that we own failed: errno \(errno).")
    }
}

extension PostgresConnection {
    /// The deadline of a call that begins now.
    func deadline(_ time: Duration?) -> ContinuousClock.Instant { .now + (time ?? statementDeadline) }

    /// The open handle; throws `connectionLost` after an earlier failure has closed it.
    func open(_ operation: String) throws(PostgresError) -> OpaquePointer {
        guard let handle = unsafe handle else {
            throw PostgresError(code: .connectionLost, operation: operation, message: "the connection was closed before")
        }
        return unsafe handle
    }

    /// Closes the connection, of which nothing more can be known, and returns the error to throw.
    func abandon(_ code: PostgresError.Code, _ operation: String, _ message: String) -> PostgresError {
        close()
        return PostgresError(code: code, operation: operation, message: message)
    }

    /// After a libpq call that queues something to send has failed.
    func sendFailure(_ handle: OpaquePointer, _ operation: String) -> PostgresError {
        let isLost = unsafe PQstatus(handle) != CONNECTION_OK
        return unsafe isLost ? lost(handle, operation) : abandon(.protocolViolation, operation, trimmed(PQerrorMessage(handle)))
    }

    /// After the connection broke: the server's last word, if it got through (such as 57P01, shut down by the administrator), says more
    /// than libpq's own.
    func lost(_ handle: OpaquePointer, _ operation: String) -> PostgresError {
        var failure: PostgresError?
        let own = unsafe trimmed(PQerrorMessage(handle))
        // One result for each statement under way at most, and the socket is gone: this does not wait.
        while unsafe PQstatus(handle) != CONNECTION_OK, let result = unsafe PQgetResult(handle) {
            let rows = unsafe Rows(result, operation: operation)
            guard rows.status == PGRES_FATAL_ERROR else { continue }
            failure = rows.error(isLost: true)
            break
        }
        close()
        return failure ?? PostgresError(code: .connectionLost, operation: operation, message: own)
    }

    /// Sends what libpq has queued, and reads meanwhile: a server that cannot write its results stops reading, and both would wait for
    /// ever.
    func flush(_ operation: String, until deadline: ContinuousClock.Instant) throws(PostgresError) {
        let handle = unsafe try open(operation)
        while true {
            switch unsafe PQflush(handle) {
            case 0: return
            case 1: break
            default: throw unsafe lost(handle, operation)
            }
            guard unsafe pollSocket(PQsocket(handle), for: Int16(POLLIN | POLLOUT), until: deadline) else {
                throw abandon(.timedOut, operation, "the server did not take the statement in time")
            }
            guard unsafe PQconsumeInput(handle) == 1 else { throw unsafe lost(handle, operation) }
        }
    }

    /// The next result, or nil at the end of a statement.
    func nextResult(_ operation: String, until deadline: ContinuousClock.Instant) throws(PostgresError) -> Rows? {
        let handle = unsafe try open(operation)
        while unsafe PQisBusy(handle) == 1 {
            guard unsafe pollSocket(PQsocket(handle), for: Int16(POLLIN), until: deadline) else {
                throw abandon(.timedOut, operation, "no answer in time; what was sent may still take effect")
            }
            guard unsafe PQconsumeInput(handle) == 1 else { throw unsafe lost(handle, operation) }
        }
        guard let result = unsafe PQgetResult(handle) else { return nil }
        let rows = unsafe Rows(result, operation: operation)
        if unsafe rows.endsSession || PQstatus(handle) != CONNECTION_OK {
            let failure = rows.error(isLost: true)
            close()
            throw failure
        }
        return rows
    }

    /// Queues one execution of a prepared statement. libpq has copied the parameters when this returns.
    func queue(_ statement: Statement, _ parameters: borrowing Parameters) throws(PostgresError) {
        let handle = unsafe try open(statement.name)
        check(statement, parameters)
        let sent = unsafe parameters.withPointers { count, values, lengths, formats in
            unsafe PQsendQueryPrepared(handle, statement.name, count, values, lengths, formats, 1)
        }
        guard sent == 1 else { throw unsafe sendFailure(handle, statement.name) }
    }

    private func check(_ statement: Statement, _ parameters: borrowing Parameters) {
        guard let known = prepared[statement.name] else {
            preconditionFailure("\(statement.name) is used on a connection that has not prepared it.")
        }
        precondition(known.statement.sql == statement.sql, "Two statements have the name \(statement.name).")
        let (given, wanted) = (parameters.types, known.parameterTypes)
        precondition(given.count == wanted.count, "\(statement.name) takes \(wanted.count) parameters and was given \(given.count).")
        for index in given.indices where !TypeOID.accepts(given[index], as: wanted[index]) {
            preconditionFailure(
                "\(statement.name): $\(index + 1) is \(TypeOID.describe(wanted[index])) and was given as \(TypeOID.describe(given[index]))."
            )
        }
    }
}

extension Parameters {
    /// The values as libpq takes them, valid during the body: count, pointers (nil is NULL), lengths, formats (1 is binary).
    func withPointers(
        _ body: (Int32, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?) -> Int32
    ) -> Int32 {
        guard !values.isEmpty else { return body(0, nil, nil, nil) }
        return unsafe bytes.withUnsafeBytes { buffer in
            unsafe withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: values.count) { pointers in
                unsafe withUnsafeTemporaryAllocation(of: Int32.self, capacity: values.count * 2) { numbers in
                    // An empty value needs a pointer all the same; nothing is read through it.
                    let anywhere = UnsafeRawPointer(numbers.baseAddress!)
                    for (index, value) in values.enumerated() {
                        let place = unsafe buffer.baseAddress.map { unsafe $0 + value.offset } ?? anywhere
                        unsafe pointers[index] = value.length < 0 ? nil : unsafe place.assumingMemoryBound(to: CChar.self)
                        unsafe numbers[index] = Int32(max(value.length, 0))
                        unsafe numbers[values.count + index] = 1
                    }
                    return unsafe body(
                        Int32(values.count),
                        UnsafePointer(pointers.baseAddress!),
                        UnsafePointer(numbers.baseAddress!),
                        UnsafePointer(numbers.baseAddress! + values.count)
                    )
                }
            }
        }
    }
}
