import FIX
import Quotes
import Trading

/// What FIX market-data messages mean to the book: W replaces a symbol's picture, X changes parts of it, f halts. No clock, no input or output.
///
/// Where updates are numbered per symbol (RptSeq, 83), a missing number makes X wait: a part of a picture tells nothing beside other parts that are old. The
/// parts that came since are kept, and go onto the snapshot that is asked for. Without numbers the session's own order holds: nothing is missing.
struct MessageIntake {
    /// Parts kept for each symbol while its snapshot is awaited: a second of a hot one. Beyond it they are dropped, and the next snapshot is awaited.
    private static let keptParts = 512

    private struct Standing {
        var bid: Int64 = 0
        var ask: Int64 = 0
        var last: Int64 = 0
        var volume: Int64 = 0
        /// Of the last update; 0 = not numbered.
        var number: UInt32 = 0
        /// A snapshot has come in this session, and no number is missing since.
        var isWhole = false
        var kept: [Part] = []
    }

    /// What one X says of one symbol.
    private struct Part {
        var entries: [FIXMessage]
        var first: UInt32
        var last: UInt32
        var at: Int64
    }

    private(set) var counts = FeedCounts()
    /// By place.
    private var standings: [Standing] = []
    /// What an operator should know, to be taken.
    private var notes: [String] = []
    /// Places that lack a snapshot since they were last taken.
    private var lacking: [Int] = []

    /// A new session: what stood before does not.
    mutating func begin() {
        for place in standings.indices {
            standings[place].isWhole = false
            standings[place].number = 0
            standings[place].kept = []
        }
    }

    mutating func takeNotes() -> [String] {
        defer { notes = [] }
        return notes
    }

    /// The symbols to ask a snapshot of at once.
    mutating func takeLacking() -> [Int] {
        defer { lacking = [] }
        return lacking
    }

    /// Places whose parts wait for a snapshot.
    var waiting: [Int] { standings.indices.filter { !standings[$0].isWhole && !standings[$0].kept.isEmpty } }

    mutating func take(_ message: FIXMessage, into book: inout Book, at now: Int64) {
        counts.received += 1
        switch message.type {
        case "W": snapshot(message, &book, now)
        case "X": update(message, &book, now)
        case "f": status(message, &book)
        default: break
        }
    }

    private mutating func place(_ symbol: Symbol, _ book: inout Book) -> Int {
        let place = book.place(adding: symbol)
        while standings.count <= place { standings.append(Standing()) }
        return place
    }

    // MARK: Snapshots

    private mutating func snapshot(_ message: FIXMessage, _ book: inout Book, _ now: Int64) {
        guard let symbol = message.string(.symbol).flatMap({ Symbol($0) }) else { return unreadable("a snapshot of no symbol that we can trade") }
        let place = place(symbol, &book)
        let before = standings[place]
        var standing = before
        (standing.bid, standing.ask) = (0, 0)
        var number: UInt32 = 0
        for entry in message.group(countedBy: .noMDEntries, first: .mdEntryType) {
            guard Self.apply(entry, to: &standing) else { return unreadable("a snapshot of \(symbol) with a price that cannot be read") }
            number = max(number, Self.number(entry))
        }
        standing.number = max(number, Self.number(message))
        let isNumbered = standing.number != 0
        if isNumbered, before.isWhole, before.number != 0 {
            let step = Tick.distance(from: before.number, to: standing.number)
            // The answer to a question that was asked before the last update.
            if step < 0 { return book.count(.late) }
            if step > 0 || Self.isAnother(before, standing) { book.noteRepair() }
        }
        standing.isWhole = true
        standing.kept = []
        standings[place] = standing
        give(place, .snapshot, Self.sendingTime(message), &book, now)
        for part in before.kept where !isNumbered || Tick.distance(from: standing.number, to: part.last) > 0 {
            // Without numbers whatever came before the snapshot is in it.
            if isNumbered { apply(part, at: place, &book, now) }
        }
    }

    private static func isAnother(_ left: Standing, _ right: Standing) -> Bool {
        left.bid != right.bid || left.ask != right.ask || left.last != right.last || left.volume != right.volume
    }

    // MARK: Updates

    private mutating func update(_ message: FIXMessage, _ book: inout Book, _ now: Int64) {
        var parts: [(place: Int, part: Part)] = []
        var symbol: Symbol?
        for entry in message.group(countedBy: .noMDEntries, first: .mdUpdateAction) {
            // An entry without a symbol is of the one before (FIX 4.4 volume 3, MarketDataIncrementalRefresh).
            symbol = entry.string(.symbol).map { Symbol($0) } ?? symbol
            guard let symbol else { return unreadable("an update of no symbol that we can trade") }
            let (place, number, at) = (place(symbol, &book), Self.number(entry), Self.entryTime(entry))
            if let index = parts.lastIndex(where: { $0.place == place }) {
                parts[index].part.entries.append(entry)
                parts[index].part.last = number
                parts[index].part.at = max(parts[index].part.at, at)
            } else {
                parts.append((place, Part(entries: [entry], first: number, last: number, at: at)))
            }
        }
        for (place, var part) in parts {
            if part.at == 0 { part.at = Self.sendingTime(message) }
            apply(part, at: place, &book, now)
        }
    }

    private mutating func apply(_ part: Part, at place: Int, _ book: inout Book, _ now: Int64) {
        guard standings[place].isWhole else { return keep(part, at: place, &book) }
        if part.first != 0, standings[place].number != 0 {
            let step = Tick.distance(from: standings[place].number, to: part.first)
            if Tick.distance(from: standings[place].number, to: part.last) <= 0 {
                return book.count(part.last == standings[place].number ? .duplicate : .late)
            }
            if step > 1 {
                standings[place].isWhole = false
                book.noteGap(at: place)
                return keep(part, at: place, &book)
            }
        }
        var standing = standings[place]
        for entry in part.entries where !Self.apply(entry, to: &standing) {
            standings[place].isWhole = false
            book.expectSnapshot(at: place)
            lacking.append(place)
            return unreadable("an update of \(book.symbols[place]) that cannot be read")
        }
        if part.last != 0 { standing.number = part.last }
        standings[place] = standing
        give(place, .change, part.at, &book, now)
    }

    private mutating func keep(_ part: Part, at place: Int, _ book: inout Book) {
        if standings[place].kept.isEmpty { lacking.append(place) } else { book.count(.waiting) }
        if standings[place].kept.count == Self.keptParts { standings[place].kept = [] }
        standings[place].kept.append(part)
    }

    /// Sets what the entry speaks of; false where it cannot be read. Entry types: 0 bid, 1 offer, 2 trade, B trade volume; others say nothing to us.
    private static func apply(_ entry: FIXMessage, to standing: inout Standing) -> Bool {
        guard let type = entry.character(.mdEntryType), "012B".contains(type) else { return true }
        // MDUpdateAction 2 = Delete: the side has no price any more.
        let isGone = entry.character(.mdUpdateAction) == "2"
        if type == "B" {
            guard let volume = entry.bytes(.mdEntrySize).flatMap({ Amount(decimal: $0) }) else { return isGone }
            standing.volume = volume.units / Amount.unitsPerOne
            return true
        }
        guard let price = isGone ? 0 : price(entry) else { return false }
        switch type {
        case "0": standing.bid = price
        case "1": standing.ask = price
        default: if price != 0 { standing.last = price }
        }
        return true
    }

    /// In 1/10,000; below zero is readable, and refused by the book.
    private static func price(_ entry: FIXMessage) -> Int64? {
        guard let text = entry.bytes(.mdEntryPx) else { return nil }
        if text.first == UInt8(ascii: "-") { return Amount(decimal: text.dropFirst()).map { -$0.units } }
        return Amount(decimal: text)?.units
    }

    private mutating func give(_ place: Int, _ kind: Tick.Kind, _ at: Int64, _ book: inout Book, _ now: Int64) {
        let standing = standings[place]
        let tick = Tick(
            place: place,
            kind: kind,
            bid: standing.bid,
            ask: standing.ask,
            last: standing.last,
            volume: standing.volume,
            at: at
        )
        _ = book.apply(tick, at: now)
    }

    // MARK: Status

    /// SecurityTradingStatus (326): 1 opening delay, 2 halt, 4 no open, 18 not available, 19 not traded here; 3 resume, 17 ready, 22 opening rotation,
    /// 23 fast market. The others say nothing of whether there is trading.
    private mutating func status(_ message: FIXMessage, _ book: inout Book) {
        guard let symbol = message.string(.symbol).flatMap({ Symbol($0) }) else { return unreadable("a status of no symbol that we can trade") }
        switch message.int(.securityTradingStatus) {
        case 1, 2, 4, 18, 19: book.setHalted(true, at: place(symbol, &book))
        case 3, 17, 22, 23: book.setHalted(false, at: place(symbol, &book))
        default: break
        }
    }

    private mutating func unreadable(_ what: String) {
        counts.unreadable += 1
        notes.append(what)
    }

    // MARK: Numbers and times

    private static func number(_ message: FIXMessage) -> UInt32 { message.int(.rptSeq).flatMap { UInt32(exactly: $0) } ?? 0 }

    /// When the feed said it, ms since the epoch; 0 = not known well enough. The time of a repetition is no news: OrigSendingTime counts then.
    private static func sendingTime(_ message: FIXMessage) -> Int64 {
        let tag: FIXTag = message.flag(.possDupFlag) == true ? .origSendingTime : .sendingTime
        guard let text = message.bytes(tag), FIXTime.isPrecise(text) else { return 0 }
        return FIXTime.milliseconds(text) ?? 0
    }

    /// When it happened, by MDEntryDate (272) and MDEntryTime (273), both needed. In updates alone: a snapshot's say when its parts changed, not that they stand.
    private static func entryTime(_ entry: FIXMessage) -> Int64 {
        guard let date = entry.bytes(.mdEntryDate), let time = entry.bytes(.mdEntryTime), FIXTime.isPrecise(time) else { return 0 }
        return FIXTime.milliseconds(Array(date) + [UInt8(ascii: "-")] + Array(time)) ?? 0
    }
}
