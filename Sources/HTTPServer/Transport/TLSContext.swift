import COpenSSL

/// The certificate, key and settings that all connections share. Owns the SSL_CTX.
///
/// @unchecked Sendable: after init it is only read, and OpenSSL locks what connections share in it.
@safe final class TLSContext: @unchecked Sendable {
    private let context: OpaquePointer

    /// Reads the files; throws `tls` naming the file that cannot be used.
    init(_ files: HTTPConfiguration.TLSFiles) throws(HTTPError) {
        ERR_clear_error()
        guard let context = unsafe SSL_CTX_new(TLS_server_method()) else { throw Self.failure("SSL_CTX_new", "no context") }
        unsafe self.context = unsafe context
        // These are macros over SSL_CTX_ctrl in C.
        guard unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil) == 1 else {
            throw Self.failure("set TLS version", "TLS 1.2 is not available")
        }
        unsafe SSL_CTX_ctrl(context, SSL_CTRL_MODE, Int(Self.releaseBuffers), nil)
        unsafe SSL_CTX_set_options(context, Self.noRenegotiation | Self.serverPreference)
        guard unsafe SSL_CTX_use_certificate_chain_file(context, files.certificateChain) == 1 else {
            throw Self.failure("read TLS certificate", "\(files.certificateChain) cannot be used")
        }
        guard unsafe SSL_CTX_use_PrivateKey_file(context, files.privateKey, SSL_FILETYPE_PEM) == 1 else {
            throw Self.failure("read TLS private key", "\(files.privateKey) cannot be used")
        }
        guard unsafe SSL_CTX_check_private_key(context) == 1 else {
            throw Self.failure("match TLS key", "\(files.privateKey) does not belong to \(files.certificateChain)")
        }
    }

    deinit {
        unsafe SSL_CTX_free(context)
    }

    /// A session of one connection; its bufferevent takes ownership. Nil when memory is short.
    func makeSession() -> OpaquePointer? { unsafe SSL_new(context) }

    /// Tells the client that nothing follows. What it still has to say can be read, and has to be: closing before could reset the connection
    /// before the client has read the answer.
    static func sayGoodbye(_ session: OpaquePointer) {
        ERR_clear_error()
        unsafe _ = SSL_shutdown(session)
        ERR_clear_error()
    }

    private static func failure(_ operation: String, _ message: String) -> HTTPError {
        var text = [CChar](repeating: 0, count: 256)
        unsafe ERR_error_string_n(ERR_get_error(), &text, text.count)
        ERR_clear_error()
        let reason = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return HTTPError(code: .tls, operation: operation, message: "\(message): \(reason)")
    }

    /// SSL_MODE_RELEASE_BUFFERS: an idle connection gives back 34 KB.
    private static let releaseBuffers: Int32 = 0x10
    /// SSL_OP_NO_RENEGOTIATION: a client must not make us compute handshakes without end.
    private static let noRenegotiation: UInt64 = 1 << 30
    /// SSL_OP_CIPHER_SERVER_PREFERENCE.
    private static let serverPreference: UInt64 = 1 << 22
}
