import Trading

/// Finds instruments by the beginning of their symbol or of a word of their name, in any case. Sorted lists and binary searches: some µs among 10,000.
package struct InstrumentIndex: Sendable {
    private struct Entry: Sendable {
        /// In lower case.
        let key: [UInt8]
        let place: Int
    }

    /// Longer queries find nothing that a shorter one would not.
    package static let queryLimitBytes = 64

    /// By symbol.
    package let instruments: [Instrument]
    /// By symbol, by name, and by what follows each later word of the name: the order in which they are looked through.
    private let lists: [[Entry]]

    package init(_ instruments: [Instrument]) {
        let instruments = instruments.sorted { $0.symbol < $1.symbol }
        self.instruments = instruments
        var lists: [[Entry]] = [[], [], []]
        for (place, instrument) in instruments.enumerated() {
            lists[0].append(Entry(key: Array(instrument.symbol.text.lowercased().utf8), place: place))
            for (word, key) in Self.words(of: instrument.name).enumerated() { lists[min(word, 1) + 1].append(Entry(key: key, place: place)) }
        }
        self.lists = lists.map { list in
            list.sorted { $0.key == $1.key ? $0.place < $1.place : $0.key.lexicographicallyPrecedes($1.key) }
        }
    }

    /// Up to `limit` instruments: symbols that begin with the query, the one that is the query first; then names that begin with it; then names with a later
    /// word that does. Within each by the alphabet.
    package func matches(_ query: String, limit: Int) -> [Instrument] {
        let key = Self.words(of: query).first ?? []
        guard !key.isEmpty, key.count <= Self.queryLimitBytes else { return [] }
        var found: [Int] = []
        for list in lists {
            // What begins with the key stands together.
            for entry in list[Self.first(in: list, from: key)...] {
                guard found.count < limit, entry.key.starts(with: key) else { break }
                if !found.contains(entry.place) { found.append(entry.place) }
            }
        }
        return found.map { instruments[$0] }
    }

    /// The text from each of its words on, in lower case, with single spaces: so a query of several words is the beginning of one of these.
    private static func words(of text: String) -> [[UInt8]] {
        let words = text.lowercased().split { !$0.isLetter && !$0.isNumber && $0 != "." && $0 != "&" }
        return words.indices.map { Array(words[$0...].joined(separator: " ").utf8) }
    }

    /// Where the entries begin that do not come before the key.
    private static func first(in list: [Entry], from key: [UInt8]) -> Int {
        var (low, high) = (0, list.count)
        while low < high {
            let middle = (low + high) / 2
            if list[middle].key.lexicographicallyPrecedes(key) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
