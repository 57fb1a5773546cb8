import BinaryFeed
import MarketData
import Quotes
import Testing
import Trading

/// A book, what fills it, and a feed that speaks to it in frames.
struct Ticker {
    static let session: UInt64 = 1_800_000_000_003
    static let midnight: Int64 = 1_800_000_000_000 / 86_400_000 * 86_400_000
    var book = Book()
    var intake: FrameIntake
    var now: Int64 = midnight + 36_000_000
    var session = Self.session

    init(wanted: Set<Symbol>? = nil) { intake = FrameIntake(wanted: wanted) }

    mutating func take(_ bytes: [UInt8]) { intake.take(unsafe bytes.span.bytes, into: &book, at: now) }

    mutating func take(_ frames: BinaryFrame...) { take(frames.flatMap(\.bytes)) }

    mutating func define(_ name: String, _ id: UInt32) { take(.definition(name, id: id, session: session, count: 2, ofDay: BinaryFrame.ofDay(now))) }

    func frame(
        _ number: UInt32,
        bid: Int64 = 1_000_000,
        kind: BinaryFrame.Kind = .change,
        id: UInt32 = 0,
        isHalted: Bool = false,
        at: Int64? = nil
    ) -> BinaryFrame {
        BinaryFrame(
            kind,
            id: id,
            isHalted: isHalted,
            generation: BinaryFrame.generation(of: session),
            number: number,
            bid: bid,
            ask: bid + 200,
            last: bid,
            volume: 100,
            ofDay: BinaryFrame.ofDay(at ?? now)
        )
    }

    func listing(_ symbol: String = "NVDA") -> Listing? { book.place(of: Symbol(symbol)!).map { book.listing(at: $0) } }
    func quote(_ symbol: String = "NVDA") -> Quote? { listing(symbol)?.quote }
}

@Suite struct `Frames of the binary feed` {
    @Test func `become ticks of the symbols that were defined`() {
        var ticker = Ticker()
        ticker.define("NVDA", 0)
        ticker.define("AAPL", 9)
        ticker.take(ticker.frame(1), ticker.frame(5, bid: 2_000_000, id: 9), ticker.frame(2, bid: 1_000_100))
        #expect(ticker.quote()?.bid.units == 1_000_100)
        #expect(ticker.quote()?.sequence == 2)
        #expect(ticker.quote("AAPL")?.ask.units == 2_000_200)
        #expect(ticker.book.counts.applied == 3)
    }

    @Test func `are counted and asked about where their id is unknown, and not believed`() {
        var ticker = Ticker()
        ticker.take(ticker.frame(1))
        #expect(ticker.intake.counts.foreign == 1)
        ticker.define("NVDA", 0)
        ticker.take(ticker.frame(1, id: 77), ticker.frame(2, id: 77), ticker.frame(1, id: 0xFF_FFFE))
        #expect(ticker.intake.counts.unknown == 3)
        #expect(ticker.intake.unknown == [77, 0xFF_FFFE])
        #expect(ticker.book.counts.ticks == 0)
        ticker.define("AAPL", 77)
        #expect(ticker.intake.unknown == [0xFF_FFFE])
    }

    @Test func `show a gap once and wait for the snapshot`() {
        var ticker = Ticker()
        ticker.define("NVDA", 0)
        ticker.intake.forgetNotes()
        ticker.take(ticker.frame(1), ticker.frame(3, bid: 1_000_300), ticker.frame(4, bid: 1_000_400))
        #expect(ticker.intake.gaps == [0])
        #expect(ticker.listing()?.isAwaitingSnapshot == true)
        #expect(ticker.book.waitingPlaces == [0])
        ticker.take(ticker.frame(3, bid: 1_000_300, kind: .snapshot))
        #expect(ticker.quote()?.bid.units == 1_000_400)
        #expect(ticker.listing()?.isAwaitingSnapshot == false)
        #expect(ticker.book.waitingCount == 0)
    }

    @Test func `say with every picture whether trading is halted, so that no loss hides it`() {
        var ticker = Ticker()
        ticker.define("NVDA", 0)
        ticker.take(ticker.frame(1))
        ticker.take(ticker.frame(2, kind: .refresh, isHalted: true))
        #expect(ticker.listing()?.isHalted == false)
        ticker.take(ticker.frame(2, kind: .snapshot, isHalted: true))
        #expect(ticker.listing()?.isHalted == true)
        ticker.take(ticker.frame(3, bid: 0, isHalted: true))
        #expect(Freshness().state(of: ticker.listing()!, at: ticker.now) == .haltedByExchange)
        ticker.take(ticker.frame(4))
        #expect(Freshness().state(of: ticker.listing()!, at: ticker.now) == .live)
    }

    @Test func `of a feed that has begun anew are believed after its definitions and snapshots alone`() {
        var ticker = Ticker()
        ticker.define("NVDA", 0)
        ticker.define("AAPL", 1)
        ticker.take(ticker.frame(500), ticker.frame(900, bid: 2_000_000, id: 1))
        ticker.intake.forgetNotes()
        ticker.session += 1
        // Ids have changed places: taken as before, AAPL's price would become NVDA's.
        ticker.take(ticker.frame(501, bid: 2_000_100, id: 0))
        #expect(ticker.intake.counts.foreign == 1)
        #expect(ticker.quote()?.bid.units == 1_000_000)
        ticker.take(.heartbeat(session: ticker.session, count: 2, ofDay: BinaryFrame.ofDay(ticker.now)))
        #expect(ticker.intake.counts.restarts == 1)
        #expect(ticker.intake.hasBegun)
        #expect(ticker.listing()?.isAwaitingSnapshot == true)
        ticker.take(ticker.frame(502, bid: 2_000_100, id: 0))
        #expect(ticker.intake.unknown == [0])
        ticker.define("AAPL", 0)
        ticker.define("NVDA", 1)
        ticker.take(ticker.frame(3, bid: 2_000_300, kind: .snapshot), ticker.frame(7, bid: 1_000_500, kind: .snapshot, id: 1))
        #expect(ticker.quote("AAPL")?.bid.units == 2_000_300)
        #expect(ticker.quote("NVDA")?.bid.units == 1_000_500)
        #expect(ticker.book.waitingCount == 0)
    }

    @Test func `get the day that is nearest to now`() {
        var ticker = Ticker()
        ticker.define("NVDA", 0)
        ticker.now = Ticker.midnight + 500
        ticker.take(ticker.frame(1, at: Ticker.midnight - 300))
        #expect(ticker.quote()?.vouchedAt == Ticker.midnight - 300)
        ticker.now = Ticker.midnight - 100
        ticker.take(ticker.frame(2, bid: 1_000_100, at: Ticker.midnight + 200))
        #expect(ticker.quote()?.changedAt == Ticker.midnight - 100)
        var late = ticker.frame(3)
        late.ofDay = 90_000_000
        ticker.take(late)
        #expect(ticker.intake.counts.unreadable == 1)
        late.ofDay = BinaryFrame.noTime
        ticker.take(late)
        #expect(ticker.quote()?.sequence == 3)
    }

    @Test func `without a number, of unknown kinds and cut ones are counted and dropped`() {
        var ticker = Ticker()
        ticker.define("NVDA", 0)
        ticker.take(ticker.frame(0))
        var odd = ticker.frame(1)
        odd.rawKind = 15
        ticker.take(odd.bytes + ticker.frame(1).bytes.dropLast())
        #expect(ticker.intake.counts.unreadable == 3)
        #expect(ticker.book.counts.ticks == 0)
    }

    @Test func `of symbols that nobody subscribed to are left out`() {
        var ticker = Ticker(wanted: [Symbol("NVDA")!])
        ticker.define("NVDA", 0)
        ticker.define("AAPL", 1)
        ticker.take(ticker.frame(1), ticker.frame(1, id: 1))
        #expect(ticker.intake.counts.ignored == 1)
        #expect(ticker.intake.unknown.isEmpty)
        #expect(ticker.book.symbols.map(\.text) == ["NVDA"])
    }

    @Test func `may be any bytes at all`() {
        for seed in 0..<400 as Range<UInt64> {
            var random = Dice(seed)
            var ticker = Ticker()
            ticker.define("NVDA", 0)
            ticker.define("AAPL", 1)
            for _ in 0..<20 {
                var bytes: [UInt8]
                switch random.next() % 3 {
                case 0:
                    bytes = (0..<Int(random.next() % 200)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
                case 1:
                    bytes = (0..<3).flatMap { _ in ticker.frame(UInt32(random.next() % 5), kind: .change, id: UInt32(random.next() % 3)).bytes }
                    bytes.removeLast(Int(random.next() % 60))
                default:
                    bytes =
                        BinaryFrame.definition("X\(random.next() % 9)", id: UInt32(random.next() % 4), session: ticker.session, count: 1, ofDay: 0)
                        .bytes
                    bytes += ticker.frame(UInt32(random.next() % 5), kind: .snapshot, id: UInt32(random.next() % 3)).bytes
                    bytes[Int(random.next() % UInt64(bytes.count))] ^= 1 << UInt8(random.next() % 8)
                }
                ticker.take(bytes)
            }
            // Whatever came: no price that cannot be, and as many that wait as are said to.
            for place in ticker.book.slots.indices {
                let slot = ticker.book.slots[place]
                #expect(slot.sequence == 0 || (slot.bid > 0 && slot.bid <= slot.ask), "seed \(seed)")
            }
            #expect(ticker.book.waitingCount == ticker.book.slots.count { $0.isWaiting }, "seed \(seed)")
        }
    }
}

/// SplitMix64: the same numbers for the same seed.
struct Dice {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
