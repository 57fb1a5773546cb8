import Glibc

/// Nanoseconds of a clock that only goes forward: what latencies are differences of.
enum MonotonicClock {
    static var now: Int64 { read(CLOCK_MONOTONIC) }
}

enum WallClock {
    /// Since the epoch.
    static var milliseconds: Int64 { read(CLOCK_REALTIME) / 1_000_000 }

    /// What to add to monotonic nanoseconds to get those since the epoch.
    static var offset: Int64 { read(CLOCK_REALTIME) - read(CLOCK_MONOTONIC) }
}

enum ThreadClock {
    /// Nanoseconds of processor time that the calling thread has used.
    static var used: Int64 { read(CLOCK_THREAD_CPUTIME_ID) }
}

enum ProcessClock {
    /// Nanoseconds of processor time that all threads of this process have used.
    static var used: Int64 { read(CLOCK_PROCESS_CPUTIME_ID) }
}

private func read(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    let result = unsafe clock_gettime(clock, &time)
    precondition(result == 0, "The system has this clock.")
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

/// Nanoseconds of the best of the runs that the time allows: what others on the machine take is not the code's.
///
/// - Parameter body: returns something that its work came to, which the compiler must not leave out.
func bestRun(within nanoseconds: Int64, _ body: () -> Int) -> Int64 {
    let end = MonotonicClock.now + nanoseconds
    var best = Int64.max
    var results = 0
    repeat {
        let begun = MonotonicClock.now
        results &+= body()
        best = min(best, MonotonicClock.now - begun)
    } while MonotonicClock.now < end
    precondition(results != .min, "What was worked out is looked at.")
    return best
}
