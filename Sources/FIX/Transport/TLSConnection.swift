import COpenSSL
import Cryptography
import Glibc

/// TLS of one connection, from bytes to bytes: it has no socket and never waits. Owns the SSL and its two buffers; used by one thread at a time.
///
/// OpenSSL is given memory to read from and to write to. What goes over the wire is the socket's business, so that nothing leaves it but by a write that
/// the session has asked for, and a line that is closed raises no signal.
@safe final class TLSConnection {
    private let tls: LineTLS
    private let host: String
    private let session: OpaquePointer
    /// Belong to the session.
    private let (incoming, outgoing): (OpaquePointer, OpaquePointer)
    /// Records that the wire has not taken yet.
    private(set) var unsent: ArraySlice<UInt8> = []
    /// How many of the application's bytes those hold.
    private(set) var sealed = 0
    /// There may be more to read without anything new from the wire.
    private(set) var mayHoldMore = false
    private(set) var isOpen = false
    /// What ended the connection, once it is told after everything that came before it.
    private var end: Result<Void, FIXError>?

    /// Application bytes in one record (RFC 8446 section 5.1): one is sealed when the wire has taken the one before.
    static let recordSize = 16_384

    /// - Parameter host: where the acceptor was found; what its certificate must be made out to unless the settings name another.
    init(_ tls: LineTLS, host: String) throws(FIXError) {
        ERR_clear_error()
        guard let session = unsafe tls.context.makeSession() else {
            throw FIXError(.systemCallFailed, operation: "TLS", message: "memory is short")
        }
        unsafe self.session = unsafe session
        guard let incoming = unsafe BIO_new(BIO_s_mem()), let outgoing = unsafe BIO_new(BIO_s_mem()) else {
            unsafe SSL_free(session)
            throw FIXError(.systemCallFailed, operation: "TLS", message: "memory is short")
        }
        unsafe (self.incoming, self.outgoing) = unsafe (incoming, outgoing)
        unsafe SSL_set_bio(session, incoming, outgoing)
        self.tls = tls
        self.host = tls.name ?? host
        switch tls.role {
        case .acceptor:
            unsafe SSL_set_accept_state(session)
            // A line is not taken up again by a ticket: it would be bytes that a client which only writes never reads, and its close a reset.
            unsafe SSL_set_num_tickets(session, 0)
        case .initiator:
            unsafe SSL_set_connect_state(session)
            try expect(self.host)
        }
    }

    deinit { unsafe SSL_free(session) }

    /// The certificate must be made out to this name or address; a name is told to the other end as well (SNI, RFC 6066 section 3), which has no place
    /// for an address.
    private func expect(_ name: String) throws(FIXError) {
        // X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS: RFC 6125 section 6.4.3 has them as a mistake of the past.
        unsafe SSL_set_hostflags(session, 0x4)
        guard unsafe SSL_set1_host(session, name) == 1 else {
            throw FIXError(.tlsFailed, operation: "TLS", message: "'\(name)' is no name that a certificate could be made out to")
        }
        var address = [UInt8](repeating: 0, count: 16)
        guard unsafe inet_pton(AF_INET, name, &address) != 1, unsafe inet_pton(AF_INET6, name, &address) != 1 else { return }
        // SSL_set_tlsext_host_name, a macro of ssl.h.
        let told = unsafe name.withCString { unsafe SSL_ctrl(session, SSL_CTRL_SET_TLSEXT_HOSTNAME, 0, UnsafeMutableRawPointer(mutating: $0)) }
        guard told == 1 else { throw FIXError(.tlsFailed, operation: "TLS", message: "'\(name)' is too long for a name") }
    }

    // MARK: The wire

    /// Bytes that came over the wire.
    func take(_ bytes: ArraySlice<UInt8>) {
        let taken = unsafe bytes.withUnsafeBytes { unsafe BIO_write(incoming, $0.baseAddress, Int32($0.count)) }
        precondition(Int(taken) == bytes.count, "Memory takes what it is given.")
        mayHoldMore = isOpen
    }

    /// The wire has taken that many of the records.
    func sent(_ count: Int) {
        unsent = unsent.dropFirst(count)
        if unsent.isEmpty { unsent = [] }
    }

    /// All records are out: how many of the application's bytes that makes.
    func takeSealed() -> Int {
        precondition(unsent.isEmpty, "What is told as written has left.")
        defer { sealed = 0 }
        return sealed
    }

    private func collect() {
        let waiting = unsafe BIO_ctrl_pending(outgoing)
        guard waiting > 0 else { return }
        var records = [UInt8](repeating: 0, count: waiting)
        let count = unsafe records.withUnsafeMutableBytes { unsafe BIO_read(outgoing, $0.baseAddress, Int32($0.count)) }
        precondition(Int(count) == waiting, "Memory gives what it holds.")
        unsent += records
    }

    // MARK: The session

    /// Goes on with the handshake; true when it is done. What is to be sent for it is in `unsent`, also when it fails: the other end is told why.
    func handshake() throws(FIXError) -> Bool {
        ERR_clear_error()
        let result = unsafe SSL_do_handshake(session)
        collect()
        if result == 1 {
            // Whatever came with the last of it waits in here, and not in the socket.
            (isOpen, mayHoldMore) = (true, true)
            return true
        }
        guard unsafe SSL_get_error(session, result) == SSL_ERROR_WANT_READ else { throw failure("TLS handshake") }
        return false
    }

    /// Reads what is there into the front of the buffer.
    func read(into buffer: inout [UInt8]) throws(FIXError) -> FIXSocket.Received {
        var filled = 0
        while end == nil, filled < buffer.count {
            ERR_clear_error()
            let result = unsafe buffer.withUnsafeMutableBytes { space in
                unsafe SSL_read(session, space.baseAddress?.advanced(by: filled), Int32(space.count - filled))
            }
            collect()
            if result > 0 {
                filled += Int(result)
                continue
            }
            switch unsafe SSL_get_error(session, result) {
            case SSL_ERROR_WANT_READ:
                mayHoldMore = false
                return filled > 0 ? .bytes(filled) : .nothing
            case SSL_ERROR_ZERO_RETURN: end = .success(())
            default: end = .failure(failure("read"))
            }
        }
        if filled > 0 { return .bytes(filled) }
        try end?.get()
        return .closed
    }

    /// Seals the next record; its bytes count as written once `unsent` is empty.
    func seal(_ bytes: ArraySlice<UInt8>) throws(FIXError) {
        precondition(sealed == 0 && !bytes.isEmpty, "One record at a time.")
        let part = bytes.prefix(Self.recordSize)
        ERR_clear_error()
        let result = unsafe part.withUnsafeBytes { unsafe SSL_write(session, $0.baseAddress, Int32($0.count)) }
        collect()
        guard Int(result) == part.count else { throw failure("write") }
        sealed = part.count
    }

    /// The other end is told that nothing follows; not where a record has left in part, which must not be completed any more.
    func close() {
        guard isOpen, end == nil, unsent.isEmpty else {
            unsent = []
            return
        }
        unsafe TLSContext.sayGoodbye(session)
        collect()
    }

    /// Why it failed, and what to do about it. Reads OpenSSL's error queue.
    private func failure(_ operation: String) -> FIXError {
        isOpen = false
        let code = ERR_peek_error()
        let reason = unsafe ERR_reason_error_string(code).map { unsafe String(cString: $0) } ?? "the connection is of no use any more"
        ERR_clear_error()
        let verdict = Int32(unsafe SSL_get_verify_result(session))
        if verdict != X509_V_OK {
            return FIXError(.tlsFailed, operation: operation, message: TLSAdvice.onVerdict(verdict, name: host, role: tls.role))
        }
        let number = Int32(code & 0x7F_FFFF)
        let advice = TLSAdvice.onReason(number, role: tls.role, hasIdentity: tls.hasIdentity)
        return FIXError(.tlsFailed, operation: operation, message: advice.map { "\($0) (\(reason))" } ?? reason)
    }
}
