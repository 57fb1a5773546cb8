package import Trading

/// The newest picture of each symbol: one slot a symbol, replaced, never queued. A value without clock or lock: `QuoteBoard` has both.
///
/// Applying a tick allocates nothing: slots stand in one array, found by a place that the feed looked up once, when it met the symbol.
package struct Book: Sendable {
    /// Everything that is known of one symbol.
    package struct Slot: Sendable {
        package internal(set) var bid: Int64 = 0
        package internal(set) var ask: Int64 = 0
        package internal(set) var last: Int64 = 0
        package internal(set) var volume: Int64 = 0
        /// Ours: grows by one with every change of this symbol, within one router's run. 0 = no picture yet.
        package internal(set) var sequence: Int64 = 0
        /// Router time, ms since the epoch, of the last change, and of the feed's last vouching; `never` without one.
        package internal(set) var changedAt = Quote.never
        package internal(set) var vouchedAt = Quote.never
        /// The feed's number of the last tick.
        package internal(set) var number: UInt32 = 0
        package internal(set) var isWaiting = false
        /// The exchange says that trading in it is halted.
        package internal(set) var isHalted = false
        /// Why the newest tick was refused, until one is taken.
        package internal(set) var fault: PriceFault?
        /// The prices that were refused last, for the operator; 0 = none yet.
        package internal(set) var refusedBid: Int64 = 0
        package internal(set) var refusedAsk: Int64 = 0
        /// By how many ms their time was ahead of the router's; 0 = they were refused for something else.
        package internal(set) var refusedLead: Int64 = 0
        /// The level at which absurd ticks have come since `offeredAt`: one that stands long enough is believed.
        var offered: Int64 = 0
        var offeredAt: Int64 = 0
        /// The newest tick that waits for a snapshot.
        var held: Tick?
        var candle = Candle()
        /// The regular session's.
        package internal(set) var day = DayRange()
    }

    /// What may be believed.
    package struct Rules: Sendable {
        /// A price may be farther from the one before by so many hundredths of a percent.
        package var bandBasisPoints: Int64
        /// An absurd level that the feed stays at for so long, in ms, is believed: a split, or a reopening after news. Meanwhile the symbol goes stale.
        package var bandConfirmation: Int64
        /// How far the feed's clock may be ahead of ours, in ms. What it is ahead by makes its late prices look as much younger.
        package var maximumLead: Int64

        package init(bandBasisPoints: Int64 = 5_000, bandConfirmation: Int64 = 30_000, maximumLead: Int64 = 1_000) {
            self.bandBasisPoints = bandBasisPoints
            self.bandConfirmation = bandConfirmation
            self.maximumLead = maximumLead
        }
    }

    /// How many ticks had which fate.
    package struct Counts: Hashable, Sendable {
        package var applied = 0
        package var vouched = 0
        package var duplicates = 0
        package var late = 0
        package var gaps = 0
        package var waiting = 0
        /// Snapshots and refreshes that differed from the picture under the same number, and snapshots with numbers that no gap had shown.
        package var repairs = 0
        /// By `PriceFault`.
        package var refused = [Int](repeating: 0, count: PriceFault.allCases.count)

        package var ticks: Int { applied + vouched + duplicates + late + gaps + waiting + refused.reduce(0, +) }
    }

    package let rules: Rules
    package private(set) var symbols: [Symbol] = []
    package private(set) var slots: [Slot] = []
    package internal(set) var counts = Counts()
    /// How many symbols wait for a snapshot.
    package private(set) var waitingCount = 0
    /// The symbol whose price was refused last.
    package private(set) var refusedPlace: Int?
    private var places: [Symbol: Int] = [:]
    /// One bit a symbol, for each reader: what has changed since it looked.
    private var changed: [[UInt64]] = []
    /// Candles that a tick of a later minute has ended, until somebody takes them.
    private var ended: [Candle.OfSymbol] = []

    package init(rules: Rules = Rules()) {
        self.rules = rules
    }

    // MARK: Symbols

    package func place(of symbol: Symbol) -> Int? { places[symbol] }

    /// The symbol's place, a new one for a symbol that was not known.
    package mutating func place(adding symbol: Symbol) -> Int {
        if let place = places[symbol] { return place }
        let place = slots.count
        places[symbol] = place
        symbols.append(symbol)
        slots.append(Slot())
        ended.reserveCapacity(slots.count * 2)
        for reader in changed.indices where changed[reader].count * 64 < slots.count { changed[reader].append(0) }
        return place
    }

    // MARK: Readers of changes

    /// A reader that will be told which symbols have changed since it last looked.
    package mutating func addReader() -> Int {
        changed.append([UInt64](repeating: 0, count: (slots.count + 63) / 64))
        return changed.count - 1
    }

    /// Calls `body` with each place that has changed since the reader last asked.
    package mutating func takeChanges(of reader: Int, _ body: (Int) -> Void) {
        for word in changed[reader].indices where changed[reader][word] != 0 {
            var bits = changed[reader][word]
            changed[reader][word] = 0
            while bits != 0 {
                let place = word * 64 + bits.trailingZeroBitCount
                body(place)
                bits &= bits - 1
            }
        }
    }

    @inline(__always) func wordAndBit(_ place: Int) -> (Int, UInt64) { (place >> 6, 1 << UInt64(place & 63)) }

    /// Marks a symbol for all readers: its picture, its vouching or its state is another.
    mutating func markChanged(_ place: Int) {
        let (word, bit) = wordAndBit(place)
        for reader in changed.indices { changed[reader][word] |= bit }
    }

    // MARK: Ticks

    /// Takes one tick. Constant time, no allocation.
    ///
    /// - Parameter now: router time of its arrival, ms since the epoch.
    package mutating func apply(_ tick: Tick, at now: Int64) -> TickVerdict {
        precondition(slots.indices.contains(tick.place), "A tick speaks of a symbol that was added.")
        let verdict = judge(tick, at: now)
        count(verdict)
        return verdict
    }

    /// Counts a fate. Also for feeds that judge by their own numbers and so never bring a tick that is late or was seen.
    package mutating func count(_ verdict: TickVerdict) {
        switch verdict {
        case .applied: counts.applied += 1
        case .vouched: counts.vouched += 1
        case .duplicate: counts.duplicates += 1
        case .late: counts.late += 1
        case .gap: counts.gaps += 1
        case .waiting: counts.waiting += 1
        case .refused(let fault): counts.refused[Int(fault.rawValue)] += 1
        }
    }

    /// Numbers first: what is old or early is not looked at.
    private mutating func judge(_ tick: Tick, at now: Int64) -> TickVerdict {
        let place = tick.place
        if tick.number == 0, tick.kind == .snapshot, slots[place].isWaiting { return takeSnapshot(tick, at: now) }
        guard tick.number != 0, slots[place].number != 0 || slots[place].isWaiting else { return take(tick, at: now) }
        if tick.kind == .snapshot { return takeSnapshot(tick, at: now) }
        if slots[place].isWaiting {
            hold(tick)
            return .waiting
        }
        let step = Tick.distance(from: slots[place].number, to: tick.number)
        switch (step, tick.kind) {
        case (0, .refresh):
            // Under the same number the same picture was expected, unless the one before was refused.
            if slots[place].fault == nil, isAnother(tick, slots[place]) { counts.repairs += 1 }
            return take(tick, at: now)
        case (1, .change): return take(tick, at: now)
        case (0, _): return .duplicate
        case (..<0, _): return .late
        default:
            setWaiting(true, at: place)
            hold(tick)
            markChanged(place)
            return .gap
        }
    }

    mutating func setWaiting(_ isWaiting: Bool, at place: Int) {
        guard slots[place].isWaiting != isWaiting else { return }
        slots[place].isWaiting = isWaiting
        waitingCount += isWaiting ? 1 : -1
    }

    /// The newest of those that wait is enough: each is a whole picture.
    private mutating func hold(_ tick: Tick) {
        if let held = slots[tick.place].held, Tick.distance(from: held.number, to: tick.number) <= 0 { return }
        slots[tick.place].held = tick
    }

    private mutating func takeSnapshot(_ tick: Tick, at now: Int64) -> TickVerdict {
        let place = tick.place
        let wasWaiting = slots[place].isWaiting
        if slots[place].number != 0, tick.number != 0, Tick.distance(from: slots[place].number, to: tick.number) < 0 { return .late }
        // Without a gap a snapshot says nothing new, or it shows that we have drifted.
        if !wasWaiting, tick.number != slots[place].number || isAnother(tick, slots[place]) { counts.repairs += 1 }
        let verdict = take(tick, at: now)
        if case .refused = verdict { return verdict }
        setWaiting(false, at: place)
        if let held = slots[place].held {
            slots[place].held = nil
            if Tick.distance(from: slots[place].number, to: held.number) > 0 { _ = take(held, at: now) }
        }
        return verdict
    }

    private func isAnother(_ tick: Tick, _ slot: Slot) -> Bool {
        tick.bid != slot.bid || tick.ask != slot.ask || (tick.last != 0 && tick.last != slot.last) || tick.volume != slot.volume
    }

    /// The tick is the next one: looks at its prices and replaces the picture.
    private mutating func take(_ tick: Tick, at now: Int64) -> TickVerdict {
        let place = tick.place
        // A feed that is behind delivers old prices as new ones: they count from when they were made.
        let at = tick.at == 0 ? now : min(now, tick.at)
        // A halt holds whatever the price: halted symbols are often quoted without one.
        if let isHalted = tick.isHalted { setHalted(isHalted, at: place) }
        if let fault = fault(of: tick, slots[place], at: now) {
            refuse(tick, fault, at: now)
            return .refused(fault)
        }
        slots[place].number = tick.number
        let wasRefused = slots[place].fault != nil
        slots[place].fault = nil
        slots[place].offeredAt = 0
        slots[place].vouchedAt = max(slots[place].vouchedAt, at)
        if slots[place].sequence > 0, !isAnother(tick, slots[place]) {
            if wasRefused { markChanged(place) }
            return .vouched
        }
        replacePicture(tick, at: at)
        markChanged(place)
        return .applied
    }

    private mutating func replacePicture(_ tick: Tick, at: Int64) {
        let last = tick.last != 0 ? tick.last : slots[tick.place].last != 0 ? slots[tick.place].last : tick.bid
        let before = slots[tick.place].volume
        slots[tick.place].bid = tick.bid
        slots[tick.place].ask = tick.ask
        slots[tick.place].last = last
        slots[tick.place].volume = tick.volume
        slots[tick.place].sequence += 1
        slots[tick.place].changedAt = at
        // Before the first picture the day's volume is no trade of this minute.
        let traded = slots[tick.place].sequence == 1 ? 0 : tick.volume >= before ? tick.volume - before : tick.volume
        slots[tick.place].day.add(last)
        if let ended = slots[tick.place].candle.add(last, volume: traded, at: at) {
            self.ended.append(Candle.OfSymbol(place: tick.place, candle: ended))
        }
    }

    // MARK: Prices

    private func fault(of tick: Tick, _ slot: Slot, at now: Int64) -> PriceFault? {
        if tick.bid < 0 || tick.ask < 0 || tick.last < 0 || tick.volume < 0 { return .negative }
        if tick.bid == 0 || tick.ask == 0 { return .zero }
        if tick.bid > tick.ask { return .crossed }
        if tick.at > now, tick.at - now > rules.maximumLead { return .future }
        guard slot.sequence > 0, isOutside(tick.bid, of: slot.bid) || isOutside(tick.ask, of: slot.ask) || isOutside(tick.last, of: slot.last)
        else { return nil }
        let isConfirmed = slot.offeredAt != 0 && now - slot.offeredAt >= rules.bandConfirmation && !isOutside(tick.bid, of: slot.offered)
        return isConfirmed ? nil : .absurd
    }

    /// A price of 0 says nothing.
    private func isOutside(_ price: Int64, of reference: Int64) -> Bool {
        if price == 0 || reference == 0 { return false }
        let (width, overflow) = reference.multipliedReportingOverflow(by: rules.bandBasisPoints)
        if overflow { return false }
        return (price - reference).magnitude > (width / 10_000).magnitude
    }

    private mutating func refuse(_ tick: Tick, _ fault: PriceFault, at now: Int64) {
        let place = tick.place
        // The number was used: the next tick follows on it.
        if tick.number != 0, !slots[place].isWaiting { slots[place].number = tick.number }
        if slots[place].fault == nil { markChanged(place) }
        slots[place].fault = fault
        slots[place].refusedBid = tick.bid
        slots[place].refusedAsk = tick.ask
        slots[place].refusedLead = fault == .future ? tick.at - now : 0
        refusedPlace = place
        guard fault == .absurd else { return }
        if slots[place].offeredAt == 0 || isOutside(tick.bid, of: slots[place].offered) {
            slots[place].offeredAt = now
            slots[place].offered = tick.bid
        }
    }
}

// MARK: States and endings

extension Book {
    /// SecurityTradingStatus of the exchange: halted, or trading again.
    package mutating func setHalted(_ isHalted: Bool, at place: Int) {
        guard slots[place].isHalted != isHalted else { return }
        slots[place].isHalted = isHalted
        markChanged(place)
    }

    /// The feed has begun anew, or may have lost anything: each symbol waits for a snapshot, and its numbers begin with that.
    package mutating func expectSnapshots() {
        for place in slots.indices where slots[place].number != 0 || slots[place].isWaiting { expectSnapshot(at: place) }
    }

    /// The same for one symbol.
    package mutating func expectSnapshot(at place: Int) {
        setWaiting(true, at: place)
        slots[place].number = 0
        slots[place].held = nil
        markChanged(place)
    }

    /// A feed that judges by its own numbers has found some missing.
    package mutating func noteGap(at place: Int) {
        count(.gap)
        expectSnapshot(at: place)
    }

    /// A feed that judges by its own numbers has found another picture under a number than it should be.
    package mutating func noteRepair() { counts.repairs += 1 }

    /// The places that wait for a snapshot, ascending.
    package var waitingPlaces: [Int] { waitingCount == 0 ? [] : slots.indices.filter { slots[$0].isWaiting } }

    /// Nothing that was vouched for so far counts any more: the router's clock was set. A fresh tick brings a symbol back.
    package mutating func forgetVouching() {
        for place in slots.indices where slots[place].vouchedAt != Quote.never {
            slots[place].vouchedAt = Quote.never
            markChanged(place)
        }
    }

    /// The candles of minutes before `minute` (minutes since the epoch), each once.
    package mutating func takeCandles(before minute: Int64) -> [Candle.OfSymbol] {
        var taken = ended
        ended.removeAll(keepingCapacity: true)
        for place in slots.indices {
            if let candle = slots[place].candle.end(before: minute) { taken.append(Candle.OfSymbol(place: place, candle: candle)) }
        }
        return taken
    }

    /// A new regular session: the day's range begins again, with the prices of the minute at hand if that is the session's.
    ///
    /// - Parameter minute: the session's first, in minutes since the epoch: whoever calls may be some moments late.
    package mutating func beginDay(at place: Int, minute: Int64) {
        let candle = slots[place].candle
        slots[place].day = candle.minute >= minute ? DayRange(open: candle.open, high: candle.high, low: candle.low) : DayRange()
    }

    /// The regular session is over: later prices are not the day's.
    package mutating func endDay(at place: Int) { slots[place].day.end() }

    /// What the day's range was before this router looked.
    ///
    /// - Parameter isOver: the session has ended: what was seen since is no part of it, and what comes neither.
    package mutating func restoreDay(_ earlier: DayRange, isOver: Bool, at place: Int) {
        if isOver {
            slots[place].day = earlier
            slots[place].day.end()
        } else {
            slots[place].day.prepend(earlier)
        }
    }
}
