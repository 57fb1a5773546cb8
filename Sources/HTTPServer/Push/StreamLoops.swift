/// The loops that write streams, as publishers see them. Usable from any thread, also before the listener runs.
package final class StreamLoops: Sendable {
    let all: [StreamLoop]

    init(_ all: [StreamLoop]) {
        self.all = all
    }

    /// How many there are; loops are named by 0 to `count` - 1.
    package var count: Int { all.count }

    /// Has `work` run on the thread of each loop, again and again from when the listener runs until it stops. It must not block.
    ///
    /// Moments are kept to a few milliseconds, and one that comes late does not delay those behind it.
    package func every(_ interval: Duration, _ work: @escaping @Sendable (_ loop: Int) -> Void) {
        precondition(interval > .zero, "A timer needs a span.")
        for stream in all { stream.loop.perform { [weak stream] in stream?.schedule(every: interval, work) } }
    }

    /// Runs `work` on the thread of one loop, soon and in order; false when the server has stopped and it never will.
    @discardableResult
    package func perform(on loop: Int, _ work: @escaping @Sendable () -> Void) -> Bool {
        all[loop].loop.perform(work)
    }

    /// The one with the fewest connections. There are a handful: a look at each is cheap.
    func leastLoaded() -> StreamLoop {
        var best = all[0]
        for stream in all.dropFirst() where stream.load.now < best.load.now { best = stream }
        return best
    }
}
