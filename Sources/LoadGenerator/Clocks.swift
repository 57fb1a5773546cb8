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
