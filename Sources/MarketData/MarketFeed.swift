import Quotes
import Synchronization

/// Where prices come from: one handler for each way in which they arrive. It writes the book and asks its source for what is missing.
package protocol MarketFeed: Sendable {
    /// What the handler has to say of itself, for metrics and for whoever watches it.
    var status: FeedStatus { get }

    /// Runs until cancelled. Loses connections and finds them again by itself; throws only where the system gives no thread.
    func run() async throws
}

/// What a feed handler counts, beside the verdicts that the book counts itself.
package struct FeedCounts: Hashable, Sendable {
    /// Frames or messages.
    package var received = 0
    /// Ticks of a symbol that nothing has defined.
    package var unknown = 0
    /// What cannot be read: unknown kinds, cut frames, definitions and times that mean nothing.
    package var unreadable = 0
    /// Frames of another session of the feed than the one at hand.
    package var foreign = 0
    /// Of symbols that were not subscribed to.
    package var ignored = 0
    /// Times that the feed has begun anew.
    package var restarts = 0
    /// Snapshots and definitions that were asked for.
    package var asked = 0
    /// Symbols that the feed refuses to deliver.
    package var refusedSymbols = 0

    package init() {}
}

/// How a feed stands: written by its own thread, read by anybody.
package final class FeedStatus: Sendable {
    private struct State {
        var isUp = false
        var heardAt: Int64?
        var counts = FeedCounts()
    }

    private let state = Mutex(State())
    /// Prices are recorded ones: nobody may trade for real on them.
    package let isReplay: Bool

    init(isReplay: Bool = false) { self.isReplay = isReplay }

    /// The feed is connected, or delivers.
    package var isUp: Bool { state.withLock { $0.isUp } }
    package var counts: FeedCounts { state.withLock { $0.counts } }
    /// By the monotonic clock, ms; nil = never.
    package var heardAt: Int64? { state.withLock { $0.heardAt } }

    func setUp(_ isUp: Bool) { state.withLock { $0.isUp = isUp } }

    /// Something has come.
    ///
    /// - Parameter monotonic: milliseconds.
    func heard(at monotonic: Int64, _ counts: FeedCounts) {
        state.withLock { state in
            state.heardAt = monotonic
            state.counts = counts
        }
    }

    func change(_ body: (inout FeedCounts) -> Void) { state.withLock { body(&$0.counts) } }
}
