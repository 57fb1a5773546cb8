/// Whether the wall clock goes as the monotonic one does. Ages of prices count by the wall clock: once it was set they mean nothing.
package struct ClockSanity: Sendable {
    /// A step of more than this, in milliseconds either way, is no correction: it would make prices of 2.5 s look fresh, or fresh ones old.
    package static let tolerance: Int64 = 1_000
    /// What a clock under correction may gain or lose: adjtime(3) and NTP slew by 0.5 ms a second.
    private static let slewPerSecond: Int64 = 1

    /// Wall minus monotonic, as it should be.
    private var offset: Int64?
    private var lookedAt: Int64 = 0

    package init() {}

    /// Looks at both clocks, in milliseconds. Returns by how much the wall clock was set since, forward or back; nil = it goes as it should.
    package mutating func step(wall: Int64, monotonic: Int64) -> Int64? {
        let now = wall - monotonic
        guard let expected = offset else {
            (offset, lookedAt) = (now, monotonic)
            return nil
        }
        let difference = now - expected
        if abs(difference) > Self.tolerance {
            (offset, lookedAt) = (now, monotonic)
            return difference
        }
        // A slow correction is followed, so that its sum is no step.
        let allowed = (monotonic - lookedAt) * Self.slewPerSecond / 1_000
        if allowed > 0 {
            offset = expected + max(-allowed, min(allowed, difference))
            lookedAt = monotonic
        }
        return nil
    }
}
