/// How a client takes what it is sent: whether output has waited for it without any progress for longer than allowed.
struct Uptake {
    /// Bytes handed to the connection in all.
    private var handedOver = 0
    /// Bytes handed over when nothing waited: none of what waits is older.
    private var first = 0
    private var takenBefore = 0
    private var stalledSince: UInt64 = 0

    /// - Parameter behind: bytes that waited before these.
    mutating func handOver(_ count: Int, behind: Int) {
        handedOver += count
        if behind == 0 { first = count }
    }

    /// Whether more than the bound waits beyond what was handed over at once. With TLS all of it waits for a moment: a picture of many symbols that is larger
    /// than the bound could otherwise reach nobody, and whoever asks for it would be cut again and again.
    func isTooFarBehind(left: Int, bound: Int) -> Bool { left - first > bound }

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
