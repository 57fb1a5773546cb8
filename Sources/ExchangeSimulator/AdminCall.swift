import FIX
import Trading

/// What can be asked of a running venue over HTTP: `curl -X POST 'http://127.0.0.1:9881/mute?on=yes'`.
struct AdminCall: Sendable {
    /// A call that cannot be done as it was made; the text says why.
    struct Wrong: Error {
        let text: String
    }

    /// The query of a call.
    struct Query {
        let values: [(name: String, value: String)]

        func text(_ name: String) throws(Wrong) -> String {
            guard let value = optional(name) else { throw Wrong(text: "\(name) is missing") }
            return value
        }

        func optional(_ name: String) -> String? { values.first { $0.name == name && !$0.value.isEmpty }?.value }

        func yes(_ name: String) throws(Wrong) -> Bool {
            switch try text(name) {
            case "yes": return true
            case "no": return false
            default: throw Wrong(text: "\(name) is yes or no")
            }
        }

        func price(_ name: String) throws(Wrong) -> Amount {
            guard let price = Amount(try text(name)), price.units > 0 else { throw Wrong(text: "\(name) is a price, such as 125.50") }
            return price
        }

        func number(_ name: String) throws(Wrong) -> Int64 {
            guard let number = Int64(try text(name)), number > 0 else { throw Wrong(text: "\(name) is a whole number above zero") }
            return number
        }
    }

    let path: String
    /// Names of its values, for the list of calls.
    let values: String
    let meaning: String
    /// Reads alone: GET; the others are POST.
    let isReading: Bool
    /// Returns what to answer, lines without an end.
    let run: @Sendable (SimulatedVenue, Query) throws -> String

    init(
        _ path: String,
        _ meaning: String,
        values: String = "",
        reads isReading: Bool = false,
        run: @escaping @Sendable (SimulatedVenue, Query) throws -> String
    ) {
        (self.path, self.values, self.meaning, self.isReading, self.run) = (path, values, meaning, isReading, run)
    }

    static let all: [AdminCall] = reading + faults + market + feed + trades

    private static let reading = [
        AdminCall("/", "This list.", reads: true) { _, _ in list },
        AdminCall("/scenarios", "What can go wrong, and what is switched on.", reads: true) { venue, _ in
            let on = venue.settings.scenarios.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.rawValue)" }
            return Scenario.list + "\n\nSwitched on: \(on.isEmpty ? "none" : on.joined(separator: " "))"
        },
        AdminCall("/orders", "The orders that it knows.", values: "[symbol=]", reads: true) { venue, query in
            let symbol = query.optional("symbol")
            let asked = venue.orders.filter { symbol == nil || $0.symbol == symbol }.sorted { $0.receivedAt < $1.receivedAt }
            return asked.map(\.line).joined(separator: "\n")
        },
        AdminCall("/trades", "The trades of an order as they stand, by its ClOrdID.", values: "order=", reads: true) { venue, query in
            venue.trades(of: try query.text("order")).map { "\($0.execID) \($0.quantity)@\($0.price)" }.joined(separator: "\n")
        },
        AdminCall("/doubles", "ClOrdIDs that came twice as new orders: there must be none.", reads: true) { venue, _ in
            venue.doubles.joined(separator: "\n")
        },
    ]

    private static let faults = [
        AdminCall("/scenario", "Switches a scenario on for a symbol; without a name off.", values: "symbol= [name=]") { venue, query in
            let symbol = try query.text("symbol")
            guard let name = query.optional("name") else {
                venue.setScenario(nil, for: symbol)
                return "none for \(symbol)"
            }
            guard let scenario = Scenario(rawValue: name) else { throw Wrong(text: "no scenario is called \(name)") }
            venue.setScenario(scenario, for: symbol)
            return "\(symbol)=\(name)"
        },
        AdminCall("/mute", "Takes orders and says nothing at all; later everything.", values: "on=yes|no") { venue, query in
            venue.setMute(try query.yes("on"))
            return "done"
        },
        AdminCall("/release", "What symbols of the scenario MUTE have withheld is sent.") { venue, _ in
            try venue.releaseWithheld()
            return "done"
        },
        AdminCall("/disconnect", "Breaks every connection.") { venue, _ in
            venue.disconnectAll()
            return "done"
        },
        AdminCall("/refuse", "Closes new connections as soon as they are there.", values: "on=yes|no") { venue, query in
            venue.refuseConnections(try query.yes("on"))
            return "done"
        },
        AdminCall("/logout", "Logs every session out, with the handshake.") { venue, _ in
            venue.logoutAll("logged out by the operator")
            return "done"
        },
        AdminCall("/forget", "Loses an order from its memory, by its ClOrdID: asked about, it is unknown.", values: "order=") { venue, query in
            try venue.forget(try query.text("order"))
            return "done"
        },
        AdminCall("/repeat", "The last reports are sent again as new messages with their old content.", values: "party= count=") { venue, query in
            try venue.resendLast(Int(clamping: try query.number("count")), to: try query.text("party"))
            return "done"
        },
    ]

    private static let market = [
        AdminCall("/quote", "Sets a quote; resting orders meet it at once.", values: "symbol= bid= ask=") { venue, query in
            let (symbol, bid, ask) = (try query.text("symbol"), try query.price("bid"), try query.price("ask"))
            guard bid < ask else { throw Wrong(text: "bid is below ask") }
            guard venue.quote(of: symbol) != nil else { throw Wrong(text: "no symbol is called \(symbol)") }
            try venue.setQuote(symbol, bid: bid, ask: ask)
            return "\(symbol) \(bid) \(ask)"
        },
        AdminCall("/quotes", "Market data of a symbol, or all of it, falls silent or goes on.", values: "on=yes|no [symbol=]") { venue, query in
            switch (try query.yes("on"), query.optional("symbol")) {
            case (true, let symbol?): venue.resumeQuotes(symbol)
            case (false, let symbol?): venue.stopQuotes(symbol)
            case (true, nil): venue.resumeAllQuotes()
            case (false, nil): venue.stopAllQuotes()
            }
            return "done"
        },
        AdminCall("/halt", "Halts or resumes trading in a symbol.", values: "symbol= on=yes|no") { venue, query in
            venue.setHalted(try query.text("symbol"), try query.yes("on"))
            return "done"
        },
        AdminCall("/end-day", "DAY orders expire.") { venue, _ in
            try venue.endDay()
            return "done"
        },
    ]

    private static let trades = [
        AdminCall("/bust", "Takes a trade back (ExecType H), by its ExecID.", values: "exec=") { venue, query in
            try venue.bust(try query.text("exec"))
            return "done"
        },
        AdminCall("/correct", "Corrects a trade (ExecType G), by its ExecID.", values: "exec= quantity= price=") { venue, query in
            try venue.correct(try query.text("exec"), quantity: try query.number("quantity"), price: try query.price("price"))
            return "done"
        },
    ]

    private static var list: String {
        all.map { call in
            let call = (call: "\(call.isReading ? "GET " : "POST") \(call.path) \(call.values)", meaning: call.meaning)
            return call.call + String(repeating: " ", count: max(1, 40 - call.call.count)) + call.meaning
        }.joined(separator: "\n")
    }
}

extension ExchangeOrder {
    /// For a person: names, terms, and where it stands.
    fileprivate var line: String {
        let price = [limitPrice.map { "limit \($0)" }, stopPrice.map { "stop \($0)" }].compactMap { $0 }.joined(separator: " ")
        return "\(latestClOrdID) \(orderID) \(symbol) \(side) \(quantity) \(price.isEmpty ? "market" : price) OrdStatus \(status) filled \(cumQty)"
    }
}
