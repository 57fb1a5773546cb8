import COpenSSL

/// OpenSSL's error queue belongs to the thread. It is emptied before an operation and read right after it, in the same
/// synchronous function: after an `await` it would be another thread's.
enum ErrorQueue {
    static func clear() { ERR_clear_error() }

    /// Empties the queue into one error.
    static func failure(_ operation: String) -> CryptographyError {
        let reasons = drain()
        return CryptographyError(.openSSL, operation, reasons.isEmpty ? "OpenSSL gave no reason" : reasons.joined(separator: "; "))
    }

    /// Empties the queue; true when it tells of a fault of the machine (no memory, an internal error) and not of bad input.
    static func drainTellsOfFatal() -> Bool {
        var fatal = false
        while true {
            let code = ERR_get_error()
            if code == 0 { return fatal }
            if code & fatalFlag != 0 { fatal = true }
        }
    }

    /// `ERR_RFLAG_FATAL` of openssl/err.h, a shifted macro that Swift does not see: set for ERR_R_MALLOC_FAILURE and its like.
    private static let fatalFlag: UInt = 0x1 << 18

    private static func drain() -> [String] {
        var reasons: [String] = []
        while true {
            let code = ERR_get_error()
            if code == 0 { return reasons }
            if let reason = unsafe ERR_reason_error_string(code) {
                unsafe reasons.append(String(cString: reason))
            } else {
                reasons.append("error \(String(code, radix: 16))")
            }
        }
    }
}
