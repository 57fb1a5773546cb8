import BinaryFeed
package import Quotes
package import Trading

/// What the frames of a binary feed mean to the book: ids become places, pictures become ticks, and what is missing is noted to be asked for. No clock, no
/// input or output; total on any bytes; no allocation for a tick.
package struct FrameIntake: Sendable {
    /// The largest id that is taken: the map from ids to places is an array, and 4 MB of it serve a hundred times today's US symbols.
    package static let maximumID: UInt32 = 1 << 20
    /// Gaps and unknown ids noted between two looks; those beyond are found by the next look at the book, or with a request for everything.
    package static let noteCapacity = 64

    private static let unknownPlace: Int32 = -1
    private static let unwantedPlace: Int32 = -2
    /// A second beyond midnight, for leap seconds.
    private static let longestDay = BinaryFrame.millisecondsPerDay + 1_000

    package internal(set) var counts = FeedCounts()
    /// The feed's session; nil before its first word.
    package private(set) var session: UInt64?
    /// Ids whose numbers have just shown a gap.
    package private(set) var gaps: [UInt32] = []
    /// Ids that no definition has explained.
    package private(set) var unknown: [UInt32] = []
    /// The feed has begun anew since `begunIsTold`: everything has to be asked for.
    package private(set) var hasBegun = false
    private var generation: UInt8 = 0
    /// By id.
    private var places: [Int32] = []
    /// By place; `BinaryFrame.everySymbol` where this feed has not defined the symbol.
    private var ids: [UInt32] = []
    private let wanted: Set<Symbol>?

    /// - Parameter wanted: nil = every symbol of the feed.
    package init(wanted: Set<Symbol>? = nil) {
        self.wanted = wanted
        gaps.reserveCapacity(Self.noteCapacity)
        unknown.reserveCapacity(Self.noteCapacity)
    }

    /// The feed's id of the symbol at a place.
    package func id(at place: Int) -> UInt32? { place < ids.count && ids[place] != BinaryFrame.everySymbol ? ids[place] : nil }

    /// Takes what came together: a datagram, or what a line gave. Frames that are cut at its end are counted and dropped.
    ///
    /// - Parameter now: router time, ms since the epoch.
    package mutating func take(_ bytes: RawSpan, into book: inout Book, at now: Int64) {
        let midnight = now - now % BinaryFrame.millisecondsPerDay
        var offset = 0
        while bytes.byteCount - offset >= BinaryFrame.size {
            let frame = BinaryFrame(bytes, at: offset)
            offset += BinaryFrame.size
            counts.received += 1
            switch frame.kind {
            case .change: takePicture(frame, .change, &book, midnight, now)
            case .refresh: takePicture(frame, .refresh, &book, midnight, now)
            case .snapshot: takePicture(frame, .snapshot, &book, midnight, now)
            case .definition: takeDefinition(frame, &book)
            case .heartbeat: takeSession(frame.session, &book)
            case .snapshotRequest, .definitionRequest, nil: counts.unreadable += 1
            }
        }
        if offset < bytes.byteCount { counts.unreadable += 1 }
    }

    /// What was noted has been asked for.
    package mutating func forgetNotes() {
        gaps.removeAll(keepingCapacity: true)
        unknown.removeAll(keepingCapacity: true)
        hasBegun = false
    }

    private mutating func takePicture(_ frame: BinaryFrame, _ kind: Tick.Kind, _ book: inout Book, _ midnight: Int64, _ now: Int64) {
        guard frame.generation == generation, session != nil else {
            counts.foreign += 1
            return
        }
        let place = Int(frame.id) < places.count ? places[Int(frame.id)] : Self.unknownPlace
        guard place >= 0 else {
            if place == Self.unwantedPlace { counts.ignored += 1 } else { noteUnknown(frame.id) }
            return
        }
        // 0 is no number: taken as one, the tick would pass every gap.
        guard frame.number != 0, let at = Self.time(frame.ofDay, midnight, now) else {
            counts.unreadable += 1
            return
        }
        let tick = Tick(
            place: Int(place),
            kind: kind,
            number: frame.number,
            bid: frame.bid,
            ask: frame.ask,
            last: frame.last,
            volume: Int64(frame.volume),
            at: at,
            isHalted: frame.isHalted
        )
        if book.apply(tick, at: now) == .gap, gaps.count < Self.noteCapacity { gaps.append(frame.id) }
    }

    private mutating func noteUnknown(_ id: UInt32) {
        counts.unknown += 1
        if unknown.count < Self.noteCapacity, !unknown.contains(id) { unknown.append(id) }
    }

    /// The moment with this time of day that is nearest to now; nil = not a time of day. 0 = the feed does not say.
    @inline(__always) private static func time(_ ofDay: UInt32, _ midnight: Int64, _ now: Int64) -> Int64? {
        if ofDay == BinaryFrame.noTime { return 0 }
        guard Int64(ofDay) < longestDay else { return nil }
        let at = midnight + Int64(ofDay)
        if at - now > BinaryFrame.millisecondsPerDay / 2 { return at - BinaryFrame.millisecondsPerDay }
        if now - at > BinaryFrame.millisecondsPerDay / 2 { return at + BinaryFrame.millisecondsPerDay }
        return at
    }

    // MARK: Sessions and definitions

    /// Another session: its ids and numbers are others. Nothing of it is believed before its definitions and snapshots have come.
    private mutating func takeSession(_ session: UInt64, _ book: inout Book) {
        guard session != self.session else { return }
        if self.session != nil {
            counts.restarts += 1
            for index in places.indices { places[index] = Self.unknownPlace }
            for index in ids.indices { ids[index] = BinaryFrame.everySymbol }
            book.expectSnapshots()
        }
        self.session = session
        generation = BinaryFrame.generation(of: session)
        hasBegun = true
    }

    private mutating func takeDefinition(_ frame: BinaryFrame, _ book: inout Book) {
        takeSession(frame.session, &book)
        guard frame.id < Self.maximumID, let symbol = frame.name.flatMap({ Symbol($0) }) else {
            counts.unreadable += 1
            return
        }
        while places.count <= Int(frame.id) { places.append(Self.unknownPlace) }
        if let wanted, !wanted.contains(symbol) {
            places[Int(frame.id)] = Self.unwantedPlace
            return
        }
        let place = book.place(adding: symbol)
        while ids.count <= place { ids.append(BinaryFrame.everySymbol) }
        let (before, idBefore) = (places[Int(frame.id)], ids[place])
        if before == place, idBefore == frame.id { return }
        // One id for a symbol, and one symbol for an id: whoever had either before waits for nothing any more.
        if before >= 0 { ids[Int(before)] = BinaryFrame.everySymbol }
        if idBefore != BinaryFrame.everySymbol { places[Int(idBefore)] = Self.unknownPlace }
        places[Int(frame.id)] = Int32(place)
        ids[place] = frame.id
        if book.slots[place].number != 0 { book.expectSnapshot(at: place) }
        unknown.removeAll { $0 == frame.id }
        if gaps.count < Self.noteCapacity { gaps.append(frame.id) }
    }
}
