import COpenSSL

/// SHA-256 (FIPS 180-4) of the bytes: 32 bytes.
package func sha256(_ bytes: [UInt8]) -> [UInt8] { sha256(bytes[...]) }

/// The same of a part of an array.
package func sha256(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    let done = unsafe bytes.withUnsafeBytes { input in
        unsafe digest.withUnsafeMutableBufferPointer { output in
            unsafe EVP_Digest(input.baseAddress, input.count, output.baseAddress, nil, SHA256Algorithm.shared.pointer, nil)
        }
    }
    precondition(done == 1, "OpenSSL computes SHA-256 as long as there is memory.")
    return digest
}

/// Compares without telling by its time where two byte strings differ. Their lengths are no secret.
package func constantTimeEquals(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    return unsafe left.withUnsafeBytes { first in
        unsafe right.withUnsafeBytes { second in
            guard let first = first.baseAddress, let second = second.baseAddress else { return true }
            return unsafe CRYPTO_memcmp(first, second, left.count) == 0
        }
    }
}

/// Bytes that nobody can foretell.
///
/// - Throws: `library` when the system gives no entropy.
package func randomBytes(count: Int) throws(CryptographyError) -> [UInt8] {
    ErrorQueue.clear()
    var bytes = [UInt8](repeating: 0, count: count)
    let done = unsafe bytes.withUnsafeMutableBufferPointer { buffer in
        unsafe RAND_bytes(buffer.baseAddress, Int32(buffer.count))
    }
    guard done == 1 else { throw ErrorQueue.failure("random bytes") }
    return bytes
}

/// The fetched implementation of SHA-256. Fetched once: an implicit fetch at each use takes a lock and costs more than a short digest.
///
/// Shared by all threads: an EVP_MD is immutable once fetched, and this one lives as long as the process.
@safe final class SHA256Algorithm: @unchecked Sendable {
    static let shared = SHA256Algorithm()

    let pointer: OpaquePointer

    private init() {
        guard let fetched = unsafe EVP_MD_fetch(nil, "SHA256", nil) else {
            preconditionFailure("OpenSSL's default provider has SHA-256.")
        }
        unsafe pointer = fetched
    }
}
