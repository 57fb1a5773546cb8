import BinaryFeed
import FIX
import Trading

/// The sockets of the binary feed and what goes over them. Used on the feed's thread alone.
struct Publication {
    /// Between two looks at the prices, in milliseconds.
    private static let pause: Int64 = 5
    /// Between two heartbeats: half of the second that is promised.
    private static let heartbeatInterval: Int64 = 500
    /// Between two looks for symbols that have to be vouched for again.
    private static let refreshPause: Int64 = 50

    private let listener: FrameListener
    private let sender: DatagramSender?
    private let log: @Sendable (String) -> Void
    private var book: PublishedBook
    private var moves: TickWalk
    private var line = FaultyTicks()
    private var readers: [FrameLine] = []
    private var interests: [FeedThread.Interest] = []
    private var heartbeatAt: Int64 = 0
    private var refreshAt: Int64 = 0
    private var halted: Set<String> = []
    /// Places of a base symbol and its variants.
    private var variants: [String: [Int]] = [:]

    init(listener: FrameListener, sender: DatagramSender?, book: PublishedBook, moves: TickWalk, log: @escaping @Sendable (String) -> Void) {
        self.listener = listener
        self.sender = sender
        self.book = book
        self.moves = moves
        self.log = log
        for place in 0..<book.count { variants[Scenario.split(book.name(at: place)).base, default: []].append(place) }
    }

    mutating func wait(_ thread: FeedThread) {
        interests = [FeedThread.Interest(listener.descriptor)]
        for reader in readers { interests.append(FeedThread.Interest(reader.descriptor, writing: reader.wantsToWrite)) }
        thread.wait(&interests, atMost: Self.pause)
    }

    /// Answers what was asked and says what is new.
    mutating func turn(_ orders: AskedOfTicks, _ books: Books, _ clock: SessionClock, wake: () -> Void) throws {
        let asked = orders.take()
        let (now, monotonic) = (clock.wall(), clock.monotonic())
        if asked.dropLines { readers = [] }
        if asked.restart {
            book.restart()
            heartbeatAt = 0
        }
        var said: [BinaryFrame] = []
        if monotonic >= heartbeatAt {
            heartbeatAt = monotonic + Self.heartbeatInterval
            let heartbeat = book.heartbeat(at: now)
            said.append(heartbeat)
            if sender != nil { toReaders([heartbeat]) }
        }
        serve(orders, at: now)
        var ticks = try self.ticks(asked.rate, books, now, monotonic, wake)
        // Looked at after the prices: whoever asked for it before a price was set finds that price spoiled.
        for (symbol, spoiled) in orders.change({ $0.faults.spoiled }) where spoil(&ticks, symbol, spoiled) {
            orders.change { $0.faults.spoiled[symbol] = nil }
        }
        for tick in ticks { line.pass(tick, asked.faults, into: &said) }
        publish(said)
    }

    // MARK: Prices

    private mutating func ticks(
        _ rate: Int,
        _ books: Books,
        _ now: Int64,
        _ monotonic: Int64,
        _ wake: () -> Void
    ) throws -> [BinaryFrame] {
        var frames: [BinaryFrame] = []
        let due = moves.due(rate, at: monotonic)
        let looksForRefresh = monotonic >= refreshAt
        if looksForRefresh { refreshAt = monotonic + Self.refreshPause }
        let hasReports = try books.with { state in
            for _ in 0..<due {
                if let place = move(&state) { say(place, state, now, monotonic, &frames) }
            }
            let halts = state.exchange.settings.halted
            let moved = state.exchange.takeMoved().sorted().flatMap { variants[$0] ?? book.place(of: $0).map { [$0] } ?? [] }
            for place in moved + halts.symmetricDifference(halted).sorted().compactMap({ book.place(of: $0) }) {
                say(place, state, now, monotonic, &frames)
            }
            halted = halts
            if looksForRefresh {
                for place in 0..<book.count where !state.isStopped(book.name(at: place)) {
                    if let frame = book.refresh(place, now: now, monotonic: monotonic) { frames.append(frame) }
                }
            }
            let reports = state.exchange.match(at: now)
            try state.record(reports, [], at: now)
            return !reports.isEmpty
        }
        if hasReports { wake() }
        return frames
    }

    /// Lets the walk move one price; nil where the one whose turn it is stays.
    private mutating func move(_ state: inout VenueState) -> Int? {
        let place = moves.nextPlace(of: book.count)
        let name = book.name(at: place)
        guard Scenario.split(name).base == name, !state.isStopped(name), let quote = state.exchange.quote(of: name),
            let next = moves.next(after: quote)
        else { return nil }
        state.exchange.setQuote(name, next)
        return place
    }

    private mutating func say(_ place: Int, _ state: VenueState, _ now: Int64, _ monotonic: Int64, _ frames: inout [BinaryFrame]) {
        let name = book.name(at: place)
        guard !state.isStopped(name), let quote = state.exchange.quote(of: name) else { return }
        let isHalted = state.exchange.settings.halted.contains(name)
        let volume = state.exchange.volume(of: name)
        if let frame = book.change(place, to: quote, volume: volume, isHalted: isHalted, now: now, monotonic: monotonic) { frames.append(frame) }
    }

    /// Spoils the symbol's next change; false where there is none.
    private func spoil(_ frames: inout [BinaryFrame], _ symbol: String, _ spoiled: TickFaults.Spoiled) -> Bool {
        guard let id = book.place(of: symbol).map({ book.id($0) }), let index = frames.firstIndex(where: { $0.id == id && $0.kind == .change })
        else { return false }
        frames[index] = FaultyTicks.spoil(frames[index], spoiled)
        return true
    }

    // MARK: Lines

    private mutating func publish(_ frames: [BinaryFrame]) {
        if frames.isEmpty { return }
        guard let sender else { return toReaders(frames) }
        sender.send(Self.bytes(frames))
    }

    private mutating func toReaders(_ frames: [BinaryFrame]) {
        if readers.isEmpty { return }
        let bytes = Self.bytes(frames)
        keepReaders { reader throws(FeedError) in try reader.send(bytes) }
    }

    private static func bytes(_ frames: [BinaryFrame]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(frames.count * BinaryFrame.size)
        for frame in frames { frame.append(to: &bytes) }
        return bytes
    }

    /// Drops the readers with whom the body fails.
    private mutating func keepReaders(_ body: (FrameLine) throws(FeedError) -> Void) {
        readers = readers.filter { reader in
            do throws(FeedError) {
                try body(reader)
                return true
            } catch {
                log("event=feed_reader_lost why=\(error)")
                return false
            }
        }
    }

    private mutating func serve(_ orders: AskedOfTicks, at now: Int64) {
        let before = orders.change { $0.faults.unanswered }
        var unanswered = before
        let book = book
        keepReaders { reader throws(FeedError) in
            if reader.wantsToWrite { try reader.flush() }
            var answers: [BinaryFrame] = []
            while try reader.receive({ bytes in
                for offset in stride(from: 0, to: bytes.byteCount, by: BinaryFrame.size) {
                    if unanswered > 0 { unanswered -= 1 } else { answers += book.answer(BinaryFrame(bytes, at: offset), at: now) }
                }
            }) {}
            if !answers.isEmpty { try reader.send(Self.bytes(answers)) }
        }
        if unanswered < before { orders.change { $0.faults.unanswered -= min($0.faults.unanswered, before - unanswered) } }
        do throws(FeedError) {
            while let reader = try listener.accept() {
                // The session first: frames of another one are then known to be foreign.
                try reader.send(Self.bytes([book.heartbeat(at: now)]))
                readers.append(reader)
            }
        } catch {
            log("event=feed_reader_refused why=\(error)")
        }
    }
}
