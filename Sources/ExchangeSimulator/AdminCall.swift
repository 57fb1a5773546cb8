import FIX
import Trading

/// What can be asked of a running venue over HTTP: `curl -X POST 'http://127.0.0.1:9881/mute?on=yes'`.
struct AdminCall: Sendable {
    /// A call that cannot be done as it was made; the text says why.
    struct Wrong: Error {
        let text: String
    }

    let path: String
    /// Its values as the list of calls shows them, `symbol= [name=]`: what is in brackets may be left out, and nothing else is taken.
    let values: String
    let meaning: String
    /// Reads alone: GET; the others are POST.
    let isReading: Bool
    /// Returns what to answer, lines without an end.
    let run: @Sendable (SimulatedVenue, AdminQuery) throws -> String

    init(
        _ path: String,
        _ meaning: String,
        values: String = "",
        reads isReading: Bool = false,
        run: @escaping @Sendable (SimulatedVenue, AdminQuery) throws -> String
    ) {
        (self.path, self.values, self.meaning, self.isReading, self.run) = (path, values, meaning, isReading, run)
    }

    static let all: [AdminCall] = reading + faults + market + feed + trades

    /// How it is called.
    var usage: String { (isReading ? "GET " : "POST ") + path + (values.isEmpty ? "" : " " + values) }

    /// The names of its values.
    var names: [Substring] { values.split(separator: " ").map { $0.drop { $0 == "[" }.prefix { $0 != "=" } } }

    private static let reading = [
        AdminCall("/", "This list.", reads: true) { _, _ in list },
        AdminCall("/scenarios", "What can go wrong, and what is switched on.", reads: true) { venue, _ in
            let on = venue.settings.scenarios.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.rawValue)" }
            return Scenario.list + "\n\nSwitched on: \(on.isEmpty ? "none" : on.joined(separator: " "))"
        },
        AdminCall("/symbols", "The symbols that it lists, with their quotes.", reads: true) { venue, _ in
            venue.symbols.map { symbol in symbol + (venue.quote(of: symbol).map { " \($0.bid) \($0.ask)" } ?? "") }.joined(separator: "\n")
        },
        AdminCall("/orders", "The orders that it knows.", values: "[symbol=]", reads: true) { venue, query in
            let symbol = try query.optionalSymbol(of: venue)
            let asked = venue.orders.filter { symbol == nil || $0.symbol == symbol }.sorted { $0.receivedAt < $1.receivedAt }
            return asked.map(\.line).joined(separator: "\n")
        },
        AdminCall("/trades", "The trades of an order as they stand, by its ClOrdID.", values: "order=", reads: true) { venue, query in
            let order = try query.text("order")
            guard venue.knows(order) else { throw Wrong(text: "no order has the ClOrdID \(order): GET /orders lists them") }
            return venue.trades(of: order).map { "\($0.execID) \($0.quantity)@\($0.price)" }.joined(separator: "\n")
        },
        AdminCall("/doubles", "ClOrdIDs that came twice as new orders: there must be none.", reads: true) { venue, _ in
            venue.doubles.joined(separator: "\n")
        },
    ]

    private static let faults = [
        AdminCall("/scenario", "Switches a scenario on for a symbol; without a name off.", values: "symbol= [name=]") { venue, query in
            let symbol = try query.symbol(of: venue)
            guard let name = query.optional("name") else {
                venue.setScenario(nil, for: symbol)
                return "none for \(symbol)"
            }
            guard let scenario = Scenario(rawValue: name) else { throw Wrong(text: "no scenario is called \(name): GET /scenarios lists them") }
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
            let (count, party) = (try query.number("count", in: 1...1_000_000), try query.text("party"))
            let sent = try venue.resendLast(Int(count), to: party)
            guard sent > 0 else { throw Wrong(text: "no report was ever sent to \(party): it names who logs on for orders, such as ORDERS") }
            return "\(sent) sent again"
        },
    ]

    private static let market = [
        AdminCall("/quote", "Sets a quote; resting orders meet it at once.", values: "symbol= bid= ask=") { venue, query in
            let (symbol, bid, ask) = (try query.symbol(of: venue), try query.price("bid"), try query.price("ask"))
            guard bid < ask else { throw Wrong(text: "bid must be below ask: \(bid) is not below \(ask)") }
            try venue.setQuote(symbol, bid: bid, ask: ask)
            return "\(symbol) \(bid) \(ask)"
        },
        AdminCall("/quotes", "Market data of a symbol, or all of it, falls silent or goes on.", values: "on=yes|no [symbol=]") { venue, query in
            switch (try query.yes("on"), try query.optionalSymbol(of: venue)) {
            case (true, let symbol?):
                venue.resumeQuotes(symbol)
                // Beside its own silence there are its base symbol's and everybody's.
                guard !venue.isSilent(symbol) else {
                    throw Wrong(text: "\(symbol) stays silent with what it belongs to: POST /quotes?on=yes lets all market data go on")
                }
            case (false, let symbol?): venue.stopQuotes(symbol)
            case (true, nil): venue.resumeAllQuotes()
            case (false, nil): venue.stopAllQuotes()
            }
            return "done"
        },
        AdminCall("/halt", "Halts or resumes trading in a symbol.", values: "symbol= on=yes|no") { venue, query in
            let (symbol, isHalted) = (try query.symbol(of: venue), try query.yes("on"))
            venue.setHalted(symbol, isHalted)
            guard isHalted || !venue.isHalted(symbol) else {
                throw Wrong(text: "\(symbol) stays halted with \(Scenario.split(symbol).base): resume that")
            }
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
            // No larger than an order may be.
            let quantity = try query.number("quantity", in: 1...1_000_000_000)
            try venue.correct(try query.text("exec"), quantity: quantity, price: try query.price("price"))
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
