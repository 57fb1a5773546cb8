import COpenSSL

/// What the TLS connections of one end share: its certificate and key, whom it believes, and that nothing below TLS 1.2 is spoken. Owns the SSL_CTX.
///
/// @unchecked Sendable: after init it is only read, and OpenSSL locks what connections share in it.
@safe package final class TLSContext: @unchecked Sendable {
    package enum Role: Sendable {
        case client
        case server
    }

    /// Who this end is: files in PEM.
    package struct Identity: Sendable, Hashable {
        package let certificateChain: String
        package let privateKey: String

        package init(certificateChain: String, privateKey: String) {
            self.certificateChain = certificateChain
            self.privateKey = privateKey
        }
    }

    /// Whose certificates are believed of the other end.
    package enum Trust: Sendable, Hashable {
        /// The other end is not asked for one.
        case nobody
        /// Those that the system's certificate authorities have signed.
        case systemAuthorities
        /// Those that an authority in this file (PEM) has signed.
        case authorities(String)
    }

    private let context: OpaquePointer

    /// Reads the files.
    ///
    /// - Throws: naming the file that cannot be used. A key that asks for a pass phrase is such a file: nobody is there to type it.
    package init(_ role: Role, identity: Identity?, trust: Trust) throws(CryptographyError) {
        ErrorQueue.clear()
        guard let context = unsafe SSL_CTX_new(role == .client ? TLS_client_method() : TLS_server_method()) else {
            throw ErrorQueue.failure("make a TLS context")
        }
        unsafe self.context = unsafe context
        // These are macros over SSL_CTX_ctrl in C.
        guard unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil) == 1 else {
            throw ErrorQueue.failure("set the lowest TLS version")
        }
        unsafe SSL_CTX_ctrl(context, SSL_CTRL_MODE, Int(Self.releaseBuffers), nil)
        unsafe SSL_CTX_set_options(context, Self.noRenegotiation | Self.serverPreference)
        unsafe SSL_CTX_set_default_passwd_cb(context) { _, _, _, _ in -1 }
        if let identity { try use(identity) }
        try believe(trust, as: role)
    }

    private func use(_ identity: Identity) throws(CryptographyError) {
        let (chain, key) = (identity.certificateChain, identity.privateKey)
        guard unsafe SSL_CTX_use_certificate_chain_file(context, chain) == 1 else {
            throw Self.failure("read the TLS certificate", "\(chain) cannot be used")
        }
        guard unsafe SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) == 1 else {
            // Reading the key compares it with the certificate.
            let reason = ERR_peek_last_error() & Self.reasonMask
            guard reason != UInt(X509_R_KEY_VALUES_MISMATCH), reason != UInt(X509_R_KEY_TYPE_MISMATCH) else {
                throw Self.failure("match the TLS key", "\(key) does not belong to \(chain)")
            }
            throw Self.failure("read the TLS private key", "\(key) cannot be used")
        }
        guard unsafe SSL_CTX_check_private_key(context) == 1 else { throw Self.failure("match the TLS key", "\(key) does not belong to \(chain)") }
    }

    private func believe(_ trust: Trust, as role: Role) throws(CryptographyError) {
        switch trust {
        case .nobody: return
        case .systemAuthorities:
            guard unsafe SSL_CTX_set_default_verify_paths(context) == 1 else { throw ErrorQueue.failure("read the system's certificate authorities") }
        case .authorities(let file):
            guard unsafe SSL_CTX_load_verify_file(context, file) == 1 else {
                throw Self.failure("read the certificate authorities", "\(file) cannot be used")
            }
            if role == .server { unsafe SSL_CTX_set_client_CA_list(context, SSL_load_client_CA_file(file)) }
        }
        unsafe SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
        // A client that resumes an earlier session is not asked for its certificate again.
        if role == .server {
            unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
            unsafe SSL_CTX_set_options(context, Self.noTicket)
            unsafe SSL_CTX_set_num_tickets(context, 0)
        }
    }

    deinit {
        unsafe SSL_CTX_free(context)
    }

    /// A session of one connection (an SSL of OpenSSL), which the caller owns. Nil when memory is short.
    package func makeSession() -> OpaquePointer? { unsafe SSL_new(context) }

    /// Tells the other end that nothing follows. What it still has to say can be read, and has to be: closing before could reset the connection before it
    /// has read the last that it was told.
    package static func sayGoodbye(_ session: OpaquePointer) {
        ERR_clear_error()
        unsafe _ = SSL_shutdown(session)
        ERR_clear_error()
    }

    private static func failure(_ operation: String, _ message: String) -> CryptographyError {
        CryptographyError(.openSSL, operation, "\(message): \(ErrorQueue.failure(operation).message)")
    }

    /// SSL_MODE_RELEASE_BUFFERS: an idle connection gives back 34 KB.
    private static let releaseBuffers: Int32 = 0x10
    /// SSL_OP_NO_RENEGOTIATION: the other end must not make us compute handshakes without end.
    private static let noRenegotiation: UInt64 = 1 << 30
    /// SSL_OP_CIPHER_SERVER_PREFERENCE.
    private static let serverPreference: UInt64 = 1 << 22
    /// SSL_OP_NO_TICKET.
    private static let noTicket: UInt64 = 1 << 14
    /// ERR_REASON_MASK.
    private static let reasonMask: UInt = 0x7F_FFFF
}
