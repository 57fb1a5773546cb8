import BinaryFeed
package import FIX
import Quotes
import Trading

/// Where a binary feed is reached.
package struct BinaryFeedSettings: Sendable, Hashable {
    /// The group (or this machine's own address) on which its datagrams come.
    package struct Datagrams: Sendable, Hashable {
        package var group: String
        package var port: UInt16
        /// IPv4 address of the interface on which the group is joined.
        package var interface: String

        package init(group: String, port: UInt16, interface: String) {
            self.group = group
            self.port = port
            self.interface = interface
        }
    }

    /// The TCP line: definitions, snapshots, and without datagrams the ticks as well.
    package var host: String
    package var port: UInt16
    /// nil = everything comes on the line.
    package var datagrams: Datagrams?
    /// What is wanted; `*` alone: all that the feed has.
    package var symbols: [String]
    /// In how many milliseconds each symbol is compared with the feed's own picture once; nil = never.
    package var driftInterval: Int64?

    package init(host: String, port: UInt16, datagrams: Datagrams? = nil, symbols: [String] = ["*"], driftInterval: Int64? = 60_000) {
        self.host = host
        self.port = port
        self.datagrams = datagrams
        self.symbols = symbols
        self.driftInterval = driftInterval
    }
}

/// The binary feed (`BinaryFrame`), over UDP with a TCP line for recovery, or over TCP alone. One thread receives, decodes straight from the sockets' buffers
/// and applies what came together under one lock of the book.
package final class BinaryMarketFeed: MarketFeed {
    /// Told of every portion as it came, with the monotonic clock's milliseconds: for recording.
    package typealias Tap = @Sendable (_ frames: RawSpan, _ at: Int64) -> Void

    private let settings: BinaryFeedSettings
    private let board: QuoteBoard
    private let clock: SessionClock
    private let trouble: @Sendable (String) -> Void
    private let tap: Tap?
    package let status = FeedStatus()

    /// - Parameter trouble: told why a line could not be had or was lost, once until there is another reason.
    package init(
        settings: BinaryFeedSettings,
        board: QuoteBoard,
        clock: SessionClock,
        tap: Tap? = nil,
        trouble: @escaping @Sendable (String) -> Void
    ) {
        self.settings = settings
        self.board = board
        self.clock = clock
        self.tap = tap
        self.trouble = trouble
    }

    /// Runs until cancelled.
    package func run() async throws {
        try await FeedThread.run { thread in
            var reception = FrameReception(
                self.settings,
                board: self.board,
                clock: self.clock,
                status: self.status,
                tap: self.tap,
                trouble: self.trouble
            )
            while !thread.isEnded { reception.turn(thread) }
            self.status.setUp(false)
        }
    }
}

/// The sockets of a binary feed and what comes over them. Used on the feed's thread alone.
private struct FrameReception {
    /// Between two attempts to have a line or a socket: a price is stale after 2.5 s, whoever waits longer waits in vain.
    private static let retryInterval: Int64 = 500
    /// Portions taken from one socket before the others are looked at.
    private static let portions = 32
    private let settings: BinaryFeedSettings
    private let board: QuoteBoard
    private let clock: SessionClock
    private let status: FeedStatus
    private let tap: BinaryMarketFeed.Tap?
    private let trouble: @Sendable (String) -> Void
    private var intake: FrameIntake
    private var questions: Questions
    private var addresses: [FeedAddress] = []
    private var attempt = 0
    private var line: FrameLine?
    private var receiver: DatagramReceiver?
    private var retryAt: Int64 = 0
    private var told = ""

    init(
        _ settings: BinaryFeedSettings,
        board: QuoteBoard,
        clock: SessionClock,
        status: FeedStatus,
        tap: BinaryMarketFeed.Tap?,
        trouble: @escaping @Sendable (String) -> Void
    ) {
        self.settings = settings
        self.board = board
        self.clock = clock
        self.status = status
        self.tap = tap
        self.trouble = trouble
        let isAll = settings.symbols == ["*"]
        intake = FrameIntake(wanted: isAll ? nil : Set(settings.symbols.compactMap { Symbol($0) }))
        questions = Questions(driftInterval: settings.driftInterval)
    }

    /// Waits once, and does what has come up.
    mutating func turn(_ thread: FeedThread) {
        let now = clock.monotonic()
        if now >= retryAt { open(at: now) }
        var interests: [FeedThread.Interest] = []
        if let line { interests.append(FeedThread.Interest(line.descriptor, writing: line.wantsToWrite)) }
        if let receiver { interests.append(FeedThread.Interest(receiver.descriptor)) }
        thread.wait(&interests, atMost: min(questions.due(at: now), Self.retryInterval))
        if receiver != nil, interests.last?.isReady == true { receive() }
        if line != nil, interests[0].isReady || interests[0].isWritable { serve(interests[0]) }
        ask()
    }

    // MARK: Lines

    private mutating func open(at now: Int64) {
        do throws(FeedError) {
            if receiver == nil, let from = settings.datagrams {
                receiver = try DatagramReceiver(group: from.group, port: from.port, interface: from.interface)
            }
            if line == nil {
                retryAt = now + Self.retryInterval
                // Names are resolved when no tick is waited for on a line; datagrams wait in the kernel's buffer meanwhile.
                if attempt >= addresses.count {
                    addresses = try FeedAddress.resolve(host: settings.host, port: settings.port)
                    attempt = 0
                }
                attempt += 1
                line = try FrameLine(to: addresses[attempt - 1])
                if line?.isConnected == true { try connected() }
            }
        } catch {
            lose(error)
        }
    }

    private mutating func connected() throws(FeedError) {
        attempt = 0
        told = ""
        status.setUp(true)
        try send(questions.begin(at: clock.monotonic()))
    }

    /// The line's end. Datagrams go on by themselves: what they bring is numbered.
    private mutating func lose(_ error: FeedError) {
        line = nil
        status.setUp(false)
        retryAt = clock.monotonic() + Self.retryInterval
        if told != error.description { trouble("the feed at \(settings.host):\(settings.port): \(error)") }
        told = error.description
    }

    private mutating func send(_ frames: [BinaryFrame]) throws(FeedError) {
        if frames.isEmpty { return }
        var bytes: [UInt8] = []
        for frame in frames { frame.append(to: &bytes) }
        try line?.send(bytes)
        intake.counts.asked += frames.count
    }

    private mutating func ask() {
        guard line?.isConnected == true else { return }
        let frames = questions.ask(&intake, symbols: board.read { $0.slots.count }, at: clock.monotonic()) { board.read { $0.waitingPlaces } }
        do throws(FeedError) { try send(frames) } catch { lose(error) }
    }

    // MARK: Receiving

    private mutating func receive() {
        guard let receiver else { return }
        do throws(FeedError) {
            for _ in 0..<Self.portions {
                try receiver.receive()
                if receiver.count == 0 { return }
                let monotonic = clock.monotonic()
                board.update { book, now in receiver.withEach { intake.take($0, into: &book, at: now) } }
                if let tap { receiver.withEach { tap($0, monotonic) } }
                status.heard(at: monotonic, intake.counts)
                if receiver.count < DatagramReceiver.batch { return }
            }
        } catch {
            self.receiver = nil
            lose(error)
        }
    }

    private mutating func serve(_ found: FeedThread.Interest) {
        guard let line else { return }
        do throws(FeedError) {
            if !line.isConnected {
                guard found.isWritable else { return }
                try line.finishConnecting()
                try connected()
            }
            if found.isWritable { try line.flush() }
            if found.isReady {
                for _ in 0..<Self.portions {
                    let monotonic = clock.monotonic()
                    let hasMore = try line.receive { frames in
                        board.update { book, now in intake.take(frames, into: &book, at: now) }
                        tap?(frames, monotonic)
                    }
                    status.heard(at: monotonic, intake.counts)
                    if !hasMore { break }
                }
            }
        } catch {
            lose(error)
        }
    }
}
