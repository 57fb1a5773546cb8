import Trading

/// What one client watches and what it was last shown: one slot a symbol, so a client that reads slowly costs no more than one that reads fast.
package struct Watching: Sendable {
    package struct Item: Sendable {
        package let place: Int
        /// Shown in every so manieth window: 1 for a symbol on the screen.
        package internal(set) var every: Int
        /// Fingerprints of the values and of the state that the client has; 0 = it has none.
        package var values: UInt64 = 0
        package var state: UInt64 = 0
    }

    /// By place, so that a round goes through the table in one direction.
    package private(set) var items: [Item] = []
    /// Windows that this client has had.
    private var windows = 0

    package init() {}

    package var isEmpty: Bool { items.isEmpty }
    package var places: [Int] { items.map(\.place) }

    /// Adds a symbol, or changes how often it is shown. True when it is new.
    package mutating func add(_ place: Int, every: Int = 1) -> Bool {
        precondition(every > 0, "A symbol is shown in some window.")
        let index = index(of: place)
        if index < items.count, items[index].place == place {
            items[index].every = every
            return false
        }
        items.insert(Item(place: place, every: every), at: index)
        return true
    }

    /// False when it was not watched.
    package mutating func remove(_ place: Int) -> Bool {
        let index = index(of: place)
        guard index < items.count, items[index].place == place else { return false }
        items.remove(at: index)
        return true
    }

    /// A window is over: calls `body` with each symbol whose turn it is, and that the client has not been shown yet whatever its turn.
    package mutating func nextWindow(_ body: (inout Item) -> Void) {
        windows &+= 1
        for index in items.indices where items[index].values == 0 || windows % items[index].every == 0 { body(&items[index]) }
    }

    private func index(of place: Int) -> Int {
        var (low, high) = (0, items.count)
        while low < high {
            let middle = (low + high) / 2
            if items[middle].place < place { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension Quote {
    /// The same for the same values (bid, ask, last, volume), whatever happened in between; never 0.
    package var fingerprint: UInt64 {
        var mixed = Self.mix(0x9E37_79B9_7F4A_7C15, bid.units)
        mixed = Self.mix(mixed, ask.units)
        mixed = Self.mix(mixed, last.units)
        return Self.mix(mixed, volume) | 1 << 63
    }

    private static func mix(_ state: UInt64, _ value: Int64) -> UInt64 {
        let mixed = (state ^ UInt64(bitPattern: value)) &* 0xBF58_476D_1CE4_E5B9
        return mixed ^ (mixed >> 29)
    }
}
