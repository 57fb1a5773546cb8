package import Trading

/// `POST /v1/trading/cancel-all-after {"account_id","timeout_ms"}`: unless it is sent again in time, all open orders of the account are cancelled. Zero
/// disarms the timer.
package struct CancelTimerRequest: Hashable, Sendable {
    /// nil: the token's only account.
    package let account: AccountID?
    /// Milliseconds; 0 disarms.
    package let timeout: Int64

    package static let fieldNames = ["account_id", "timeout_ms"]
    /// From a second, below which a mere delay of the network cancels everything, to a day.
    package static let timeouts: ClosedRange<Int64> = 1_000...86_400_000

    /// - Throws: `malformed_request` or `invalid_field`.
    package static func read(_ body: [UInt8]) throws(Problem) -> CancelTimerRequest {
        let fields = try RequestFields(body, expecting: fieldNames)
        let account =
            fields.optional("account_id") == nil
            ? nil : try fields.parsed("account_id", "1 to 64 characters of A-Z, a-z, 0-9, '_' and '-'", AccountID.init)
        let timeout = try fields.wholeNumber("timeout_ms", in: 0...timeouts.upperBound)
        guard timeout == 0 || timeouts.contains(timeout) else {
            throw .invalid("timeout_ms", "'timeout_ms' is not valid. Send 0 to disarm, or \(timeouts.lowerBound) to \(timeouts.upperBound).")
        }
        return CancelTimerRequest(account: account, timeout: timeout)
    }

    /// `{"account_id","now","cancels_at"}`, ms by the router's clock; `cancels_at` is null when the timer is disarmed.
    package static func answer(_ account: AccountID, now: Int64, deadline: Int64?) -> [UInt8] {
        var json = JSONWriter(reservingBytes: 128)
        json.beginObject()
        json.member("account_id", account.text)
        json.member("now", now)
        json.member("cancels_at", deadline)
        json.endObject()
        return json.bytes
    }
}
