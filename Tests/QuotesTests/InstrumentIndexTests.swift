import Quotes
import Testing
import Trading

private func instrument(_ symbol: String, _ name: String) -> Instrument {
    Instrument(symbol: Symbol(symbol)!, name: name, exchange: ExchangeCode("XNYS"))
}

@Suite struct `A search for symbols` {
    private let index = InstrumentIndex([
        instrument("V", "Visa Inc. Class A"), instrument("VZ", "Verizon Communications Inc."), instrument("META", "Meta Platforms, Inc."),
        instrument("MET", "MetLife, Inc."), instrument("F", "Ford Motor Company"), instrument("FORD", "Forward Industries, Inc."),
        instrument("BRK.B", "Berkshire Hathaway Inc. Class B"), instrument("T", "AT&T Inc."), instrument("GM", "General Motors Company"),
        instrument("HOG", "Harley-Davidson, Inc."),
    ])

    private func symbols(_ query: String, limit: Int = 10) -> [String] { index.matches(query, limit: limit).map(\.symbol.text) }

    @Test(arguments: [
        ("f", ["F", "FORD"]), ("ford", ["FORD", "F"]), ("META", ["META"]), ("met", ["MET", "META"]), ("v", ["V", "VZ"]), ("brk.b", ["BRK.B"]),
        ("mot", ["F", "GM"]), ("Motor Company", ["F"]), ("general  motors", ["GM"]), ("at&t", ["T"]), ("davidson", ["HOG"]),
        ("berkshire hat", ["BRK.B"]),
        ("inc", ["T", "BRK.B", "FORD", "HOG", "META", "MET", "VZ", "V"].sorted()), ("zzz", []), ("", []), ("  ", []), ("?", []),
    ])
    func `finds the symbol first, then the beginnings of symbols, names and their words`(_ query: String, _ expected: [String]) {
        let found = symbols(query)
        // What only a later word tells stands by the alphabet of what follows it.
        #expect(query == "inc" ? found.sorted() == expected : found == expected)
        #expect(found == symbols(query))
    }

    @Test func `tells no more than asked for, and each instrument once`() {
        #expect(symbols("m", limit: 1) == ["MET"])
        #expect(symbols("met", limit: 0) == [])
        #expect(symbols(String(repeating: "a", count: 65)) == [])
    }

    /// Among 10,000 only what is told is looked at: a query costs two binary searches, however many begin with it.
    @Test func `looks at ten thousand symbols`() {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        let many = (0..<10_000).map { number in
            let symbol = String([letters[number / 676 % 26], letters[number / 26 % 26], letters[number % 26]]) + "\(number / 17_576)\(number)"
            return instrument(symbol, "\(letters[number % 26])corp number \(number) Holdings")
        }
        let index = InstrumentIndex(many)
        #expect(index.matches("holdings", limit: 50).count == 50)
        #expect(index.matches("acorp number 52", limit: 5).first?.name == "Acorp number 52 Holdings")
        let exact = many[4_711]
        #expect(index.matches(exact.symbol.text.lowercased(), limit: 3).first == exact)
    }
}
