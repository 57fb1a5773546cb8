import BinaryFeed
import Trading

/// What the binary feed has said of each symbol: numbers, ids, and when it last spoke. No clock, no input or output.
struct PublishedBook {
    private struct Slot {
        let name: String
        var quote: Quote
        var isHalted = false
        var volume: UInt32 = 0
        var number: UInt32 = 1
        /// Of the last frame, by the monotonic clock.
        var saidAt = Int64.min
    }

    /// A symbol is vouched for again after this long without a change, in milliseconds: below the second that was promised by more than the longest pause
    /// between two looks.
    static let refreshInterval: Int64 = 800
    private(set) var session: UInt64
    private var slots: [Slot] = []
    private var places: [String: Int] = [:]
    /// Whether ids count from the end: those of two sessions in a row differ.
    private var isReversed = false

    init(session: UInt64, symbols: [(name: String, quote: Quote)]) {
        self.session = session
        for (place, symbol) in symbols.enumerated() {
            slots.append(Slot(name: symbol.name, quote: symbol.quote))
            places[symbol.name] = place
        }
    }

    var count: Int { slots.count }

    func place(of symbol: String) -> Int? { places[symbol] }

    func name(at place: Int) -> String { slots[place].name }

    func quote(at place: Int) -> Quote { slots[place].quote }

    /// The feed begins anew, as a process that was started again does: other ids, numbers from the beginning.
    mutating func restart() {
        session += 1
        isReversed.toggle()
        for place in slots.indices {
            slots[place].number = 1
            slots[place].saidAt = .min
        }
    }

    // MARK: Frames

    /// The frame that tells of the symbol's picture when that is another than what was said; nil otherwise.
    ///
    /// - Parameters:
    ///   - now: ms since the epoch.
    ///   - monotonic: milliseconds.
    mutating func change(_ place: Int, to quote: Quote, volume: Int64, isHalted: Bool, now: Int64, monotonic: Int64) -> BinaryFrame? {
        guard slots[place].quote != quote || slots[place].isHalted != isHalted else { return nil }
        slots[place].volume = UInt32(clamping: volume)
        slots[place].quote = quote
        slots[place].isHalted = isHalted
        slots[place].number = slots[place].number == .max ? 1 : slots[place].number + 1
        slots[place].saidAt = monotonic
        return picture(place, .change, at: now)
    }

    /// Vouches for the symbol when nothing was said of it for long.
    mutating func refresh(_ place: Int, now: Int64, monotonic: Int64) -> BinaryFrame? {
        guard slots[place].saidAt == .min || monotonic - slots[place].saidAt >= Self.refreshInterval else { return nil }
        slots[place].saidAt = monotonic
        return picture(place, .refresh, at: now)
    }

    func heartbeat(at now: Int64) -> BinaryFrame { .heartbeat(session: session, count: UInt32(count), ofDay: BinaryFrame.ofDay(now)) }

    /// What a request is answered with; empty where it asks for what there is not.
    func answer(_ request: BinaryFrame, at now: Int64) -> [BinaryFrame] {
        let asked: Range<Int>
        if request.id == BinaryFrame.everySymbol {
            asked = slots.indices
        } else {
            let place = isReversed ? count - 1 - Int(request.id) : Int(request.id)
            guard slots.indices.contains(place) else { return [] }
            asked = place..<(place + 1)
        }
        switch request.kind {
        case .snapshotRequest: return asked.map { picture($0, .snapshot, at: now) }
        case .definitionRequest:
            return asked.map {
                .definition(slots[$0].name, id: id($0), session: session, count: UInt32(count), ofDay: BinaryFrame.ofDay(now))
            }
        case .change, .refresh, .snapshot, .definition, .heartbeat, nil: return []
        }
    }

    /// The symbol's id in this session.
    func id(_ place: Int) -> UInt32 { UInt32(isReversed ? count - 1 - place : place) }

    private func picture(_ place: Int, _ kind: BinaryFrame.Kind, at now: Int64) -> BinaryFrame {
        let slot = slots[place]
        return BinaryFrame(
            kind,
            id: id(place),
            isHalted: slot.isHalted,
            generation: BinaryFrame.generation(of: session),
            number: slot.number,
            bid: slot.quote.bid.units,
            ask: slot.quote.ask.units,
            // As the FIX feed says: the last trade is taken to have been at the bid.
            last: slot.quote.bid.units,
            volume: slot.volume,
            ofDay: BinaryFrame.ofDay(now)
        )
    }
}
