import Synchronization

/// Requests per second and burst of one caller.
package struct RateLimit: Sendable {
    package var perSecond: Int
    package var burst: Int

    package init(perSecond: Int, burst: Int) {
        self.perSecond = perSecond
        self.burst = burst
    }
}

/// One caller's bucket: filled at the limit's rate up to its burst, one token a request. Time is a parameter; counts are thousandths of a token.
struct TokenBucket {
    private var milliTokens: Int64
    private var filledAt: Int64

    init(_ limit: RateLimit, at now: Int64) {
        milliTokens = Int64(limit.burst) * 1_000
        filledAt = now
    }

    enum Outcome: Equatable {
        case admitted(remaining: Int)
        /// Milliseconds until a token is there.
        case refused(retryAfter: Int64)
    }

    /// - Parameter now: milliseconds of any steady clock.
    mutating func take(_ limit: RateLimit, at now: Int64) -> Outcome {
        // Thousandths of a token per millisecond are tokens per second.
        let gained = max(0, now - filledAt).multipliedReportingOverflow(by: Int64(limit.perSecond))
        milliTokens = gained.overflow ? Int64(limit.burst) * 1_000 : min(Int64(limit.burst) * 1_000, milliTokens + gained.partialValue)
        filledAt = max(filledAt, now)
        guard milliTokens >= 1_000 else {
            return .refused(retryAfter: (1_000 - milliTokens + Int64(limit.perSecond) - 1) / Int64(max(1, limit.perSecond)))
        }
        milliTokens -= 1_000
        return .admitted(remaining: Int(milliTokens / 1_000))
    }
}

/// Rate limits per account and per address of this router (design section 4.3 row 3).
package final class RateLimits: Sendable {
    /// Callers remembered; the oldest half is forgotten beyond it, which can only be generous to them.
    static let capacity = 50_000

    /// What a request takes its allowance for. Who has used up the one for new orders can still take back what is open.
    enum Purpose {
        case place
        case cancel
    }

    /// Whose allowance: an account's or an address's for one purpose.
    struct Caller: Hashable {
        let purpose: Purpose
        let name: String
    }

    private let limit: RateLimit
    private let buckets = Mutex<[Caller: (bucket: TokenBucket, usedAt: Int64)]>([:])

    package init(_ limit: RateLimit) {
        self.limit = limit
    }

    func take(_ caller: Caller, at now: Int64) -> TokenBucket.Outcome {
        buckets.withLock { buckets in
            if buckets.count >= Self.capacity, buckets[caller] == nil { Self.forgetHalf(&buckets) }
            return Self.take(&buckets[caller, default: (TokenBucket(limit, at: now), now)], limit, at: now)
        }
    }

    private static func take(_ entry: inout (bucket: TokenBucket, usedAt: Int64), _ limit: RateLimit, at now: Int64) -> TokenBucket.Outcome {
        entry.usedAt = now
        return entry.bucket.take(limit, at: now)
    }

    var perSecond: Int { limit.perSecond }

    private static func forgetHalf(_ buckets: inout [Caller: (bucket: TokenBucket, usedAt: Int64)]) {
        let times = buckets.values.map(\.usedAt).sorted()
        let middle = times[times.count / 2]
        buckets = buckets.filter { $0.value.usedAt > middle }
    }
}
