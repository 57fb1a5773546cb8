/// How a client takes what it is sent: whether output has waited for it without any progress for longer than allowed.
struct Uptake {
    /// Bytes handed to the connection in all.
    private var handedOver = 0
    private var takenBefore = 0
    private var stalledSince: UInt64 = 0

    mutating func handOver(_ count: Int) { handedOver += count }

    /// The client's kernel does not take all: from here on it is waited for.
    mutating func beginWaiting(at now: UInt64) { stalledSince = now }

    /// - Parameters:
    ///   - left: bytes that are not taken yet.
    ///   - now: monotonic nanoseconds.
    mutating func hasStalled(left: Int, at now: UInt64, limit: Duration) -> Bool {
        if left == 0 { return false }
        let taken = handedOver - left
        if taken != takenBefore {
            takenBefore = taken
            stalledSince = now
            return false
        }
        return now - min(now, stalledSince) >= limit.nanoseconds
    }
}
