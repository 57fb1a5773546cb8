import BinaryFeed
import ExchangeSimulator
import FIX
import MarketData
import Quotes
import Synchronization
import Trading

extension Command {
    static let feed = Command(
        "feed",
        "Measures the binary feed: ticks decoded and applied to the book a second on one core, beside a plain scan of the same bytes, and over UDP.",
        flags: [
            Flag("seconds", "n", .optional, "Seconds for each figure, 1 to 60; 3 without it."),
            Flag("symbols", "n", .optional, "Symbols of the feed; 10000 without it."),
            Flag("allocations", "Counts the objects that ticks make, and nothing else; fails where a tick makes one."),
        ],
        details: "One thread, but for the last figure: there a second one sends datagrams over the loopback interface as fast as they are taken."
    ) { arguments in
        let seconds = try arguments.number("seconds", 1...60) ?? 3
        let bench = FeedBench(seconds: seconds, symbols: try arguments.number("symbols", 1...1_000_000) ?? 10_000)
        if arguments.has("allocations") { return bench.allocatesNothing() ? .ok : .failed }
        try await bench.run()
        return .ok
    }
}

/// What a tick costs from the socket's bytes to the book.
struct FeedBench {
    private let nanoseconds: Int64
    private let symbols: Int
    /// A million ticks, 40 MB: what the caches hold of a real feed is not more.
    private static let ticks = 1_000_000

    init(seconds: Int, symbols: Int) {
        nanoseconds = Int64(seconds) * 1_000_000_000
        self.symbols = symbols
    }

    /// One object a tick would be 36 a datagram: none at all are made beyond a few for the whole.
    func allocatesNothing() -> Bool {
        var source = TickSource(symbols: symbols)
        let datagrams = (0..<1_000).map { _ in source.datagram() }
        var reader = TickReader(symbols: symbols)
        let objects = AllocationCount.of { reader.take(datagrams) }
        say("\(objects) objects were made for \(datagrams.count * BinaryFrame.perDatagram) ticks")
        return objects < datagrams.count / DatagramReceiver.batch
    }

    func run() async throws {
        var source = TickSource(symbols: symbols)
        let datagrams = (0..<Self.ticks / BinaryFrame.perDatagram).map { _ in source.datagram() }
        let count = datagrams.count * BinaryFrame.perDatagram
        let joined = Array(datagrams.joined())
        say("\(symbols) symbols, \(count) ticks of 40 bytes, bursts on \(TickSource.hot) hot ones:")
        let scan = best { Int(joined.reduce(into: UInt8(0)) { $0 = $0 &+ $1 }) } / Double(count)
        line(scan, " ns  a tick: scan of the bytes")
        var copy = joined
        let copied =
            best {
                unsafe copy.withUnsafeMutableBytes { target in unsafe joined.withUnsafeBytes { unsafe target.copyMemory(from: $0) } }
                return Int(copy[joined.count / 2])
            } / Double(count)
        line(copied, " ns  a tick: copy of the bytes")
        let decoded =
            best {
                var sum: Int64 = 0
                let bytes = unsafe joined.span.bytes
                for offset in stride(from: 0, to: joined.count, by: BinaryFrame.size) { sum &+= BinaryFrame(bytes, at: offset).bid }
                return Int(truncatingIfNeeded: sum)
            } / Double(count)
        line(decoded, " ns  a tick: decode")
        let applied = apply(datagrams, count)
        line(applied, " ns  a tick: decode and apply to the book, \(Int(1e9 / applied)) ticks/s, \(Int((applied / copied).rounded())) x the copy")
        for group in ["239.255.41.8", "127.0.0.1"] {
            let result = try await overUDP(group)
            say("over UDP to \(group): \(Int(result.applied)) ticks/s applied to the book, \(result.lost) lost, one core each")
        }
    }

    private func line(_ figure: Double, _ text: String) {
        let tenths = Int((figure * 10).rounded())
        let number = "\(tenths / 10).\(tenths % 10)"
        say(String(repeating: " ", count: max(0, 8 - number.count)) + number + text)
    }

    /// Nanoseconds of the best of the runs that the time allows: what others on the machine take is not the code's.
    private func best(_ body: () -> Int) -> Double {
        Double(bestRun(within: nanoseconds, body))
    }

    /// As the feed's thread does it: sixteen datagrams under one lock. Each run has a book of its own, whose making is not counted.
    private func apply(_ datagrams: [[UInt8]], _ count: Int) -> Double {
        let end = MonotonicClock.now + nanoseconds
        var best = Int64.max
        repeat {
            var reader = TickReader(symbols: symbols)
            let begun = MonotonicClock.now
            reader.take(datagrams)
            best = min(best, MonotonicClock.now - begun)
            let counts = reader.board.read { $0.counts }
            precondition(counts.applied + counts.vouched == count, "Every tick is applied: \(counts).")
        } while MonotonicClock.now < end
        return Double(best) / Double(count)
    }

    /// Datagrams from one thread to another's book over the loopback interface, as fast as they are taken. Every tick is a new one: the sender makes them as
    /// it goes, and is never further ahead than the receiver's socket has room for, so that none is lost and each is applied.
    private func overUDP(_ group: String) async throws -> (applied: Double, lost: Int) {
        let receiver = try DatagramReceiver(group: group, port: 0, interface: "127.0.0.1")
        var reader = TickReader(symbols: symbols)
        let port = receiver.port
        let defined = reader.received
        let end = MonotonicClock.now + nanoseconds
        let taken = TickCount()
        async let sent: Int = Self.send(TickSource(symbols: symbols), to: group, port: port, taken: taken, until: end)
        let begun = MonotonicClock.now
        while MonotonicClock.now < end {
            try receiver.receive()
            if receiver.count == 0 { continue }
            reader.take(receiver)
            taken.set(reader.received - defined)
        }
        let took = Double(MonotonicClock.now - begun) / 1e9
        let lost = max(0, try await sent - taken.now - Self.ahead)
        let counts = reader.board.read { $0.counts }
        return (Double(counts.applied + counts.vouched) / took, lost)
    }

    /// Ticks under way at most: four batches of datagrams, which also a socket of the usual size (208 KB) holds.
    private static let ahead = 4 * DatagramReceiver.batch * BinaryFrame.perDatagram

    @concurrent
    private static func send(_ source: TickSource, to group: String, port: UInt16, taken: TickCount, until end: Int64) async throws -> Int {
        let sender = try DatagramSender(to: group, port: port, interface: "127.0.0.1")
        var source = source
        var sent = 0
        while MonotonicClock.now < end {
            if sent - taken.now >= ahead { continue }
            sender.send(source.datagram())
            sent += BinaryFrame.perDatagram
        }
        return sent - sender.refused * BinaryFrame.perDatagram
    }
}

/// How many ticks a thread has taken, as another one sees it.
private final class TickCount: Sendable {
    private let count = Atomic(0)

    var now: Int { count.load(ordering: .relaxed) }
    func set(_ value: Int) { count.store(value, ordering: .relaxed) }
}

/// A book and what fills it, as the feed's thread has them.
struct TickReader {
    let board = QuoteBoard(now: { TickSource.wall })
    private var intake = FrameIntake()

    init(symbols: Int) {
        let source = TickSource(symbols: symbols)
        board.update { book, now in
            for definition in source.definitions { intake.take(unsafe definition.span.bytes, into: &book, at: now) }
        }
    }

    var received: Int { intake.counts.received }

    /// So many at once as the feed takes.
    mutating func take(_ datagrams: [[UInt8]]) {
        for start in stride(from: 0, to: datagrams.count, by: DatagramReceiver.batch) {
            board.update { book, now in
                for index in start..<min(start + DatagramReceiver.batch, datagrams.count) {
                    let datagram = datagrams[index]
                    intake.take(unsafe datagram.span.bytes, into: &book, at: now)
                }
            }
        }
    }

    mutating func take(_ receiver: DatagramReceiver) {
        board.update { book, now in receiver.withEach { intake.take($0, into: &book, at: now) } }
    }
}

/// Ticks as a feed makes them: a random walk, bursts on hot symbols, from a seed.
struct TickSource {
    private var numbers: [UInt32]
    private var bids: [Int64]
    private var random = SeededGenerator(seed: 1)
    private var burst: (id: Int, left: Int) = (0, 0)

    static let session: UInt64 = 1_800_000_000_000
    /// ms since the epoch: time stands still.
    static let wall: Int64 = 1_800_000_000_000
    /// Symbols that bursts fall upon.
    static let hot = 20
    private let ofDay = BinaryFrame.ofDay(wall)

    init(symbols: Int) {
        numbers = [UInt32](repeating: 1, count: symbols)
        bids = (0..<symbols).map { 100_000 + Int64($0) * 7_919 % 4_900_000 }
    }

    var definitions: [[UInt8]] {
        numbers.indices.map {
            BinaryFrame.definition(Listing.madeUp($0 + 1), id: UInt32($0), session: Self.session, count: UInt32(numbers.count), ofDay: ofDay).bytes
        }
    }

    mutating func datagram() -> [UInt8] {
        var bytes: [UInt8] = []
        for _ in 0..<BinaryFrame.perDatagram { next().append(to: &bytes) }
        return bytes
    }

    private mutating func next() -> BinaryFrame {
        if burst.left == 0, Int.random(in: 0..<30, using: &random) == 0 {
            burst = (Int.random(in: 0..<min(Self.hot, numbers.count), using: &random), Int.random(in: 1...40, using: &random))
        }
        let id = burst.left > 0 ? burst.id : Int.random(in: 0..<numbers.count, using: &random)
        burst.left = max(0, burst.left - 1)
        numbers[id] += 1
        bids[id] = max(10_000, bids[id] + Int64.random(in: -3...3, using: &random) * 100)
        return BinaryFrame(
            .change,
            id: UInt32(id),
            generation: BinaryFrame.generation(of: Self.session),
            number: numbers[id],
            bid: bids[id],
            ask: bids[id] + 200,
            last: bids[id],
            volume: numbers[id] * 100,
            ofDay: ofDay
        )
    }
}
