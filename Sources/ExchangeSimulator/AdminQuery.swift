import Trading

/// The values of an admin call: each is one that the call takes, stands there once, and says something. What is misspelt or empty would otherwise be left
/// out, and the call would do more than was asked: silence everybody instead of one symbol.
struct AdminQuery {
    /// Far above any share, and with the largest order's quantity still a turnover that can be told.
    static let highestPrice = Amount(units: 100_000 * Amount.unitsPerOne)

    private let values: [String: String]
    /// How the call is made, for whoever made it otherwise.
    private let usage: String

    init(_ given: [(name: String, value: String)], of call: AdminCall) throws(AdminCall.Wrong) {
        usage = call.usage
        var values: [String: String] = [:]
        for (name, value) in given {
            guard call.names.contains(where: { $0 == name }) else { throw AdminCall.Wrong(text: "\(name) is no value of this call: \(usage)") }
            guard values.updateValue(value, forKey: name) == nil else { throw AdminCall.Wrong(text: "\(name) stands there twice: \(usage)") }
            // An empty variable of a shell must not mean everything.
            guard !value.isEmpty else { throw AdminCall.Wrong(text: "\(name) is empty: \(usage)") }
        }
        self.values = values
    }

    func text(_ name: String) throws(AdminCall.Wrong) -> String {
        guard let value = values[name] else { throw AdminCall.Wrong(text: "\(name) is missing: \(usage)") }
        return value
    }

    func optional(_ name: String) -> String? { values[name] }

    func yes(_ name: String) throws(AdminCall.Wrong) -> Bool {
        switch try text(name) {
        case "yes": return true
        case "no": return false
        case let other: throw AdminCall.Wrong(text: "\(name) is yes or no, not \(other)")
        }
    }

    func price(_ name: String) throws(AdminCall.Wrong) -> Amount {
        let text = try text(name)
        guard let price = Amount(text), price.units > 0, price <= Self.highestPrice else {
            throw AdminCall.Wrong(text: "\(name) is a price above 0 and up to \(Self.highestPrice), such as 125.50, not \(text)")
        }
        return price
    }

    func number(_ name: String, in range: ClosedRange<Int64>) throws(AdminCall.Wrong) -> Int64 {
        let text = try text(name)
        guard let number = Int64(text), range.contains(number) else {
            throw AdminCall.Wrong(text: "\(name) is a whole number from \(range.lowerBound) to \(range.upperBound), not \(text)")
        }
        return number
    }

    /// A symbol that can be traded: one that the venue lists, or a variant of one.
    func symbol(of venue: SimulatedVenue) throws(AdminCall.Wrong) -> String {
        let symbol = try text("symbol")
        guard venue.quote(of: symbol) != nil else { throw AdminCall.Wrong(text: "no symbol is called \(symbol): GET /symbols lists them") }
        return symbol
    }

    func optionalSymbol(of venue: SimulatedVenue) throws(AdminCall.Wrong) -> String? {
        values["symbol"] == nil ? nil : try symbol(of: venue)
    }
}
