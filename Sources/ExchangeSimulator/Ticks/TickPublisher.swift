import BinaryFeed
import FIX
import Synchronization
import Trading

/// The venue's binary feed: ticks over UDP or TCP, recovery over TCP. Its prices are those that orders trade at.
package final class TickPublisher: Sendable {
    package struct Settings: Sendable {
        package var host = "127.0.0.1"
        /// 0 = any free port.
        package var port: UInt16 = 0
        /// Where datagrams go; nil = ticks go over the TCP lines.
        package var group: (host: String, port: UInt16, interface: String)?
        /// Moves of prices in a second, of all symbols together, beside the venue's own; 0 = none.
        package var rate = 0
        package var faults = TickFaults()

        package init() {}
    }

    /// The port of the TCP line.
    package let port: UInt16
    private let settings: Settings
    private let seed: UInt64
    private let books: Books
    private let clock: SessionClock
    private let log: @Sendable (String) -> Void
    private let asked: AskedOfTicks
    /// Until the thread takes them: used by it alone from then on.
    private let sockets: Mutex<Sockets?>

    private struct Sockets: @unchecked Sendable {
        let listener: FrameListener
        let sender: DatagramSender?
    }

    init(_ settings: Settings, seed: UInt64, books: Books, clock: SessionClock, log: @escaping @Sendable (String) -> Void) throws(FeedError) {
        self.settings = settings
        self.seed = seed
        self.books = books
        self.clock = clock
        self.log = log
        asked = AskedOfTicks(faults: settings.faults, rate: settings.rate)
        let listener = try FrameListener(host: settings.host, port: settings.port)
        port = listener.port
        var sender: DatagramSender?
        if let group = settings.group { sender = try DatagramSender(to: group.host, port: group.port, interface: group.interface) }
        sockets = Mutex(Sockets(listener: listener, sender: sender))
    }

    package func adjust(_ body: (inout TickFaults) -> Void) { asked.change { body(&$0.faults) } }

    package var faults: TickFaults { asked.change { $0.faults } }

    /// Moves of prices in a second from now on.
    package func setRate(_ rate: Int) { asked.change { $0.rate = rate } }

    /// The feed begins anew: another session, other ids, numbers from the beginning.
    package func restart() { asked.change { $0.restart = true } }

    /// Breaks the TCP lines, as a network does.
    package func dropLines() { asked.change { $0.dropLines = true } }

    /// Publishes until it is cancelled. It runs once.
    ///
    /// - Parameter wake: called when orders have been filled.
    func run(wake: @escaping @Sendable () -> Void) async throws {
        try await FeedThread.run { thread in
            guard let sockets = self.sockets.withLock({ $0.take() }) else { return }
            var publication = Publication(
                listener: sockets.listener,
                sender: sockets.sender,
                book: self.books.with { state in
                    let quoted = state.exchange.symbols.compactMap { name in state.exchange.quote(of: name).map { (name, $0) } }
                    return PublishedBook(session: UInt64(self.clock.wall()), symbols: quoted)
                },
                moves: TickWalk(seed: self.seed),
                log: self.log
            )
            while !thread.isEnded {
                publication.wait(thread)
                try publication.turn(self.asked, self.books, self.clock, wake: wake)
            }
        }
    }
}

/// What other threads have asked of the binary feed.
final class AskedOfTicks: Sendable {
    struct State {
        var faults: TickFaults
        var rate: Int
        var restart = false
        var dropLines = false
    }

    private let state: Mutex<State>

    init(faults: TickFaults, rate: Int) { state = Mutex(State(faults: faults, rate: rate)) }

    func change<Value: Sendable>(_ body: (inout State) -> Value) -> Value { state.withLock { body(&$0) } }

    /// What holds now; what happens once is taken.
    func take() -> State {
        state.withLock { state in
            defer { (state.restart, state.dropLines) = (false, false) }
            return state
        }
    }
}

/// Which symbols move next: bursts on a few hot ones, the rest evenly. The same seed gives the same moves for ever.
struct TickWalk {
    private var generator: SeededGenerator
    private var walk: QuoteWalk
    private var movedAt: Int64?
    private var burst: (place: Int, left: Int) = (0, 0)

    /// Symbols that bursts fall upon.
    private static let hot = 10
    /// Moves of one burst at most.
    private static let longestBurst = 40

    init(seed: UInt64) {
        // Its own numbers: those of the venue's walk stay what they are with and without this feed.
        generator = SeededGenerator(seed: seed ^ 0x7469_636B)
        walk = QuoteWalk(seed: seed &+ 1)
    }

    /// How many moves are due; time that is not worth one yet is kept.
    mutating func due(_ rate: Int, at monotonic: Int64) -> Int {
        guard rate > 0, let before = movedAt else {
            movedAt = monotonic
            return 0
        }
        // After a pause of the machine a second's moves are made up for, not more.
        let count = Int(min(1_000, monotonic - before)) * rate / 1_000
        if count > 0 { movedAt = monotonic }
        return count
    }

    mutating func nextPlace(of count: Int) -> Int {
        if burst.left == 0, Int.random(in: 0..<20, using: &generator) == 0 {
            burst = (Int.random(in: 0..<min(Self.hot, count), using: &generator), Int.random(in: 1...Self.longestBurst, using: &generator))
        }
        if burst.left > 0 {
            burst.left -= 1
            return burst.place
        }
        return Int.random(in: 0..<count, using: &generator)
    }

    mutating func next(after quote: Quote) -> Quote? { walk.next(after: quote) }
}
