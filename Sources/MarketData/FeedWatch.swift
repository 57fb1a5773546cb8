package import FIX
import Quotes
import Trading

/// Looks after a feed from outside: the router's clocks, silence of the feed as a whole, and prices that were refused, told once in a while and not one by one.
package final class FeedWatch: Sendable {
    /// Between two looks: a step of the clock must not be believed for longer than a price may be.
    private static let pause: Duration = .milliseconds(500)

    private let feed: any MarketFeed
    private let board: QuoteBoard
    private let clock: SessionClock
    private let maximumSilence: Int64
    private let trouble: @Sendable (String) -> Void

    /// - Parameter maximumSilence: milliseconds without anything at all of the feed after which it is told of.
    package init(feed: any MarketFeed, board: QuoteBoard, clock: SessionClock, maximumSilence: Int64, trouble: @escaping @Sendable (String) -> Void) {
        self.feed = feed
        self.board = board
        self.clock = clock
        self.maximumSilence = maximumSilence
        self.trouble = trouble
    }

    /// Runs until cancelled.
    package func run() async throws {
        var look = Look(heardAt: clock.monotonic())
        while true {
            self.look(&look)
            try await Task.sleep(for: Self.pause)
        }
    }

    /// What was seen last.
    package struct Look: Sendable {
        fileprivate var clocks = ClockSanity()
        fileprivate var isSilent = false
        fileprivate var refused = 0
        fileprivate let begunAt: Int64

        /// - Parameter heardAt: when the watch began, by the monotonic clock.
        package init(heardAt: Int64) { begunAt = heardAt }
    }

    /// One look.
    package func look(_ look: inout Look) {
        let (wall, monotonic) = (clock.wall(), clock.monotonic())
        if let step = look.clocks.step(wall: wall, monotonic: monotonic) {
            board.clockWasSet(by: step)
            trouble("this machine's clock was set by \(step) ms: no price counts until its feed has vouched for it again")
        }
        let silence = monotonic - (feed.status.heardAt ?? look.begunAt)
        let isSilent = silence > maximumSilence
        if isSilent, !look.isSilent { trouble("nothing has come from the feed for \(silence) ms") }
        look.isSilent = isSilent
        tellRefused(&look)
    }

    private func tellRefused(_ look: inout Look) {
        let (refused, last, maximumLead) = board.read { book in
            (book.counts.refused, book.refusedPlace.map { (symbol: book.symbols[$0], slot: book.slots[$0]) }, book.rules.maximumLead)
        }
        let count = refused.reduce(0, +)
        defer { look.refused = count }
        guard count > look.refused, let last else { return }
        let faults = zip(PriceFault.allCases, refused).filter { $1 > 0 }.map { "\($0) \($1)" }.joined(separator: ", ")
        let prices = "bid \(Amount(units: last.slot.refusedBid)) ask \(Amount(units: last.slot.refusedAsk))"
        let lead = last.slot.refusedLead
        let why = lead > 0 ? ", \(lead) ms ahead of this machine's clock, where --feed-lead takes \(maximumLead) ms" : ""
        trouble("\(count - look.refused) prices were not taken, the last of \(last.symbol): \(prices)\(why); in all: \(faults)")
    }
}
