import COpenSSL
import Synchronization

/// The one owner of an EVP_PKEY; the pointer never leaves this file.
///
/// Unchecked Sendable: the EVP_PKEY is complete before `init` returns and nothing here changes it afterwards. Every operation has an
/// EVP_PKEY_CTX that no other one uses at the time, the way OpenSSL documents for one key used by many threads; its reference count is atomic.
@safe final class KeyHandle: @unchecked Sendable {
    private let pointer: OpaquePointer
    /// Made by the first verification and kept for the next ones: it takes OpenSSL some 3 µs to make one, and about 1 KB to keep it.
    private let verifier = Mutex<Verifier?>(nil)

    private init(owning pointer: OpaquePointer) { unsafe self.pointer = pointer }

    deinit { unsafe EVP_PKEY_free(pointer) }

    // MARK: Making

    /// A public key of P-256 from an uncompressed point (SEC 1 section 2.3.3: 04, x, y; 65 bytes). OpenSSL checks that it lies on the curve.
    static func p256(point: [UInt8], operation: String) throws(CryptographyError) -> KeyHandle {
        ErrorQueue.clear()
        guard let builder = unsafe OSSL_PARAM_BLD_new() else { throw ErrorQueue.failure(operation) }
        defer { unsafe OSSL_PARAM_BLD_free(builder) }
        // The builder keeps the address of the values until the parameters are made (hence within the closure), and the parameters keep
        // the address of their names (hence constants).
        let parameters = unsafe point.withUnsafeBytes { bytes -> UnsafeMutablePointer<OSSL_PARAM>? in
            guard unsafe OSSL_PARAM_BLD_push_utf8_string(builder, constant("group"), constant("prime256v1"), 0) == 1,
                unsafe OSSL_PARAM_BLD_push_octet_string(builder, constant("pub"), bytes.baseAddress, bytes.count) == 1
            else { return nil }
            return unsafe OSSL_PARAM_BLD_to_param(builder)
        }
        guard let parameters = unsafe parameters else { throw ErrorQueue.failure(operation) }
        defer { unsafe OSSL_PARAM_free(parameters) }
        guard let key = try unsafe fromParameters(parameters, type: "EC", operation: operation) else {
            throw CryptographyError(.pointNotOnCurve, operation, "the point does not lie on P-256")
        }
        return key
    }

    /// A public RSA key from its big-endian numbers.
    static func rsa(modulus: [UInt8], exponent: [UInt8], operation: String) throws(CryptographyError) -> KeyHandle {
        ErrorQueue.clear()
        guard let builder = unsafe OSSL_PARAM_BLD_new() else { throw ErrorQueue.failure(operation) }
        defer { unsafe OSSL_PARAM_BLD_free(builder) }
        let n = unsafe BN_bin2bn(modulus, Int32(modulus.count), nil)
        defer { unsafe BN_free(n) }
        let e = unsafe BN_bin2bn(exponent, Int32(exponent.count), nil)
        defer { unsafe BN_free(e) }
        guard unsafe n != nil, unsafe e != nil,
            unsafe OSSL_PARAM_BLD_push_BN(builder, constant("n"), n) == 1,
            unsafe OSSL_PARAM_BLD_push_BN(builder, constant("e"), e) == 1,
            let parameters = unsafe OSSL_PARAM_BLD_to_param(builder)
        else { throw ErrorQueue.failure(operation) }
        defer { unsafe OSSL_PARAM_free(parameters) }
        guard let key = try unsafe fromParameters(parameters, type: "RSA", operation: operation) else {
            throw CryptographyError(.malformed, operation, "the numbers are not an RSA key")
        }
        return key
    }

    /// Nil when OpenSSL finds the parameters themselves wrong.
    private static func fromParameters(
        _ parameters: UnsafeMutablePointer<OSSL_PARAM>,
        type: String,
        operation: String
    ) throws(CryptographyError) -> KeyHandle? {
        guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, type, nil) else { throw ErrorQueue.failure(operation) }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        guard unsafe EVP_PKEY_fromdata_init(context) == 1 else { throw ErrorQueue.failure(operation) }
        var key: OpaquePointer?
        guard unsafe EVP_PKEY_fromdata(context, &key, publicKeySelection, parameters) == 1, let key = unsafe key else {
            if ErrorQueue.drainTellsOfFatal() { throw CryptographyError(.openSSL, operation, "OpenSSL failed") }
            return nil
        }
        return unsafe KeyHandle(owning: key)
    }

    /// A C string that lives as long as the process: a Swift literal ends in a zero byte.
    private static func constant(_ text: StaticString) -> UnsafePointer<CChar> {
        unsafe UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
    }

    /// A new private key of P-256.
    static func generateP256() throws(CryptographyError) -> KeyHandle {
        let operation = "generate P-256 key"
        ErrorQueue.clear()
        guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, "EC", nil) else { throw ErrorQueue.failure(operation) }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard unsafe EVP_PKEY_keygen_init(context) == 1, unsafe EVP_PKEY_CTX_set_group_name(context, curveName) == 1,
            unsafe EVP_PKEY_generate(context, &key) == 1, let key = unsafe key
        else { throw ErrorQueue.failure(operation) }
        return unsafe KeyHandle(owning: key)
    }

    /// A private key from PEM, in SEC 1 or PKCS #8 form, of whatever kind; not encrypted.
    static func privateKey(pem: String) throws(CryptographyError) -> KeyHandle {
        let operation = "read private key"
        ErrorQueue.clear()
        let text = Array(pem.utf8)
        let key = unsafe text.withUnsafeBytes { bytes -> OpaquePointer? in
            guard let memory = unsafe BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count)) else { return nil }
            defer { unsafe BIO_free(memory) }
            // Without a callback of our own OpenSSL would ask for a pass phrase on the terminal.
            return unsafe PEM_read_bio_PrivateKey(memory, nil, { _, _, _, _ in -1 }, nil)
        }
        guard let key = unsafe key else {
            if ErrorQueue.drainTellsOfFatal() { throw CryptographyError(.openSSL, operation, "OpenSSL failed") }
            throw CryptographyError(.malformed, operation, "there is no private key in PEM without a pass phrase")
        }
        return unsafe KeyHandle(owning: key)
    }

    // MARK: Looking

    var isEllipticCurve: Bool { unsafe EVP_PKEY_is_a(pointer, "EC") == 1 }

    /// The group's name; `prime256v1` for P-256. Nil for a curve without a name.
    var groupName: String? { text(OSSL_PKEY_PARAM_GROUP_NAME) }

    /// Whether the curve is stated by its name, not by its numbers.
    var isNamedCurve: Bool { text(OSSL_PKEY_PARAM_EC_ENCODING) == "named_curve" }

    static let curveName = "prime256v1"

    /// The public point of an EC key, uncompressed (65 bytes for P-256).
    func publicPoint() throws(CryptographyError) -> [UInt8] {
        ErrorQueue.clear()
        var coordinates: [UInt8] = [4]
        for name in [OSSL_PKEY_PARAM_EC_PUB_X, OSSL_PKEY_PARAM_EC_PUB_Y] {
            var number: OpaquePointer?
            guard unsafe EVP_PKEY_get_bn_param(pointer, name, &number) == 1 else { throw ErrorQueue.failure("read public point") }
            defer { unsafe BN_free(number) }
            var bytes = [UInt8](repeating: 0, count: 32)
            let written = unsafe bytes.withUnsafeMutableBufferPointer { unsafe BN_bn2binpad(number, $0.baseAddress, 32) }
            guard written == 32 else { throw ErrorQueue.failure("read public point") }
            coordinates += bytes
        }
        return coordinates
    }

    /// Whether private and public half belong together and the public half is a proper point.
    func isConsistentPair() throws(CryptographyError) -> Bool {
        ErrorQueue.clear()
        guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, pointer, nil) else { throw ErrorQueue.failure("check key pair") }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        if unsafe EVP_PKEY_check(context) == 1 { return true }
        if ErrorQueue.drainTellsOfFatal() { throw CryptographyError(.openSSL, "check key pair", "OpenSSL failed") }
        return false
    }

    /// PKCS #8, not encrypted.
    func privatePEM() throws(CryptographyError) -> String {
        ErrorQueue.clear()
        guard let memory = unsafe BIO_new(BIO_s_mem()) else { throw ErrorQueue.failure("write private key") }
        defer { unsafe BIO_free(memory) }
        guard unsafe PEM_write_bio_PKCS8PrivateKey(memory, pointer, nil, nil, 0, nil, nil) == 1 else {
            throw ErrorQueue.failure("write private key")
        }
        var text = [UInt8](repeating: 0, count: Int(unsafe BIO_ctrl_pending(memory)))
        let count = unsafe text.withUnsafeMutableBytes { unsafe BIO_read(memory, $0.baseAddress, Int32($0.count)) }
        guard count == text.count else { throw ErrorQueue.failure("write private key") }
        return String(decoding: text, as: UTF8.self)
    }

    // MARK: Using

    /// The signature schemes: ECDSA over a digest (DER), and RSASSA-PKCS1-v1_5 with SHA-256 (RFC 8017 section 8.2).
    enum Scheme {
        case ecdsa
        case rsaPKCS1SHA256
    }

    /// - Throws: `library` when OpenSSL fails; a signature that it finds wrong in whatever way is false.
    func verify(digest: [UInt8], signature: [UInt8], scheme: Scheme) throws(CryptographyError) -> Bool {
        ErrorQueue.clear()
        let verdict = try verifier.withLockIfAvailable { kept throws(CryptographyError) -> Bool in
            if let kept, kept.scheme == scheme { return kept.accepts(signature, digest) }
            let new = try unsafe Verifier(pointer, scheme)
            kept = new
            return new.accepts(signature, digest)
        }
        // Nil when another thread is at it: then this one does not wait, but has a context of its own.
        if let verdict { if verdict { return true } } else if try unsafe Verifier(pointer, scheme).accepts(signature, digest) { return true }
        // A forged signature may lead to the point at infinity, which OpenSSL reports as an error (-1) and not as a refusal (0).
        if ErrorQueue.drainTellsOfFatal() { throw CryptographyError(.openSSL, "verify", "OpenSSL failed") }
        return false
    }

    /// An EVP_PKEY_CTX that is ready to verify; EVP_PKEY_verify may be called on it again and again (its manual page says so). Owns the context.
    @safe private final class Verifier {
        let scheme: Scheme
        private let context: OpaquePointer

        init(_ key: OpaquePointer, _ scheme: Scheme) throws(CryptographyError) {
            guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key, nil) else { throw ErrorQueue.failure("verify") }
            unsafe self.context = unsafe context
            self.scheme = scheme
            guard unsafe EVP_PKEY_verify_init(context) == 1 else { throw ErrorQueue.failure("verify") }
            guard scheme == .rsaPKCS1SHA256 else { return }
            guard unsafe EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1,
                unsafe EVP_PKEY_CTX_set_signature_md(context, SHA256Algorithm.shared.pointer) == 1
            else { throw ErrorQueue.failure("verify") }
        }

        deinit { unsafe EVP_PKEY_CTX_free(context) }

        func accepts(_ signature: [UInt8], _ digest: [UInt8]) -> Bool {
            unsafe EVP_PKEY_verify(context, signature, signature.count, digest, digest.count) == 1
        }
    }

    /// ECDSA over the digest, in DER.
    func sign(digest: [UInt8]) throws(CryptographyError) -> [UInt8] {
        ErrorQueue.clear()
        guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, pointer, nil) else { throw ErrorQueue.failure("sign") }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var length = 0
        guard unsafe EVP_PKEY_sign_init(context) == 1, unsafe EVP_PKEY_sign(context, nil, &length, digest, digest.count) == 1 else {
            throw ErrorQueue.failure("sign")
        }
        var signature = [UInt8](repeating: 0, count: length)
        let done = unsafe signature.withUnsafeMutableBufferPointer {
            unsafe EVP_PKEY_sign(context, $0.baseAddress, &length, digest, digest.count)
        }
        guard done == 1 else { throw ErrorQueue.failure("sign") }
        return Array(signature.prefix(length))
    }

    /// `EVP_PKEY_PUBLIC_KEY` of openssl/evp.h (domain and other parameters, public key), a macro that Swift does not see.
    private static let publicKeySelection: Int32 = 0x86

    private func text(_ parameter: String) -> String? {
        ErrorQueue.clear()
        // Longer than any name of a curve.
        var buffer = [CChar](repeating: 0, count: 80)
        var length = 0
        let done = unsafe buffer.withUnsafeMutableBufferPointer {
            unsafe EVP_PKEY_get_utf8_string_param(pointer, parameter, $0.baseAddress, $0.count, &length)
        }
        guard done == 1 else {
            ErrorQueue.clear()
            return nil
        }
        return String(decoding: buffer.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
