import Cryptography
import HTTPServer
import Identity
import MarketData
import Quotes
import Storage
import Trading
import Wire

/// What a symbol stands for, what it costs, and what it has cost.
extension APIHandler {
    /// Symbols that a search tells at most: a list on a phone.
    static let searchLimit = 1...50
    static let defaultSearchLimit = 10

    /// GET /v1/symbols, /v1/symbols/<symbol>/history, /v1/stocks/<symbol>, /v1/stocks/<symbol>/history.
    func stockRoute(_ call: inout Call, _ path: [String]) async throws -> HTTPResponse {
        switch (path.first, path.count, path.dropFirst(2).first) {
        case ("symbols", 1, _): return try await only(&call, get: searchSymbols)
        case ("symbols", 3, "history"):
            return try await only(&call, get: { try await history($0, path[1], .readLine(parameters($0, HistoryQuery.lineParameters))) })
        case ("stocks", 2, _): return try await only(&call, get: { try await stock(&$0, path[1]) })
        case ("stocks", 3, "history"):
            return try await only(&call, get: { try await history($0, path[1], .readCandles(parameters($0, HistoryQuery.candleParameters))) })
        default: throw Problem(.notFound, "There is nothing at this path. See the README for the routes.")
        }
    }

    /// GET /v1/symbols?query=&limit=: by the beginning of the symbol or of a word of the name.
    private func searchSymbols(_ call: inout Call) async throws -> HTTPResponse {
        let parameters = try parameters(call, ["query", "limit"])
        _ = try await entitlement(call)
        guard let query = parameters["query"], query.utf8.count <= InstrumentIndex.queryLimitBytes else {
            throw Problem.invalid("query", "Send query= with the beginning of a symbol or a name: 1 to \(InstrumentIndex.queryLimitBytes) bytes.")
        }
        let limit = try parameters.wholeNumber("limit", in: Self.searchLimit) ?? Self.defaultSearchLimit
        let found = api.instruments.instruments(matching: query, limit: limit)
        return HTTPResponse(
            json: SymbolView.listBody(found.map { SymbolView(symbol: $0.symbol, name: $0.name, exchange: $0.exchange?.text) })
        )
    }

    /// GET /v1/stocks/<symbol>.
    private func stock(_ call: inout Call, _ text: String) async throws -> HTTPResponse {
        _ = try parameters(call, [])
        let prices = try await entitlement(call).prices
        let instrument = try instrument(text)
        let symbol = instrument.symbol
        let calendar = api.instruments.calendar(of: symbol)
        let today = calendar.tradingDays(begunBy: prices.asOf(at: api.now()), count: 1).first?.day
        let (halts, before) = try await read(from: \.prices) { database in
            let days = try today.map { try database.days(of: symbol, CalendarDay.earliest..<$0, limit: 1) }
            return (try database.halts(), days?.bars.last?.bar.close)
        }
        api.prices.conditions.setHalts(halts)
        let now = api.now()
        let listing = prices.listing(of: symbol) ?? Listing(symbol: symbol, quote: nil)
        let standing = prices.standing(of: listing, at: now)
        let view = StockView(listing, instrument, before, standing.hours, prices.view(listing, standing, at: now))
        return HTTPResponse(json: view.body(serverTime: now))
    }

    /// A history, from the shelf or read anew; 304 where the client has it already (RFC 9110 section 13.1.2).
    private func history(_ call: Call, _ text: String, _ query: HistoryQuery) async throws -> HTTPResponse {
        let prices = try await entitlement(call).prices
        let symbol = try instrument(text).symbol
        let now = api.now()
        let question = HistoryShelf.Question(symbol: symbol, query: query, isDelayed: prices.isDelayed)
        let answer = try await api.history.answer(question, at: now) {
            let calendar = api.instruments.calendar(of: symbol)
            let plan = HistoryPlan(query, calendar, at: now, delay: prices.delay)
            let reading = try await read(from: \.history) { try plan.read(symbol, $0) }
            let body = plan.answer(query, symbol, reading, calendar, isDelayed: prices.isDelayed).body
            return HistoryShelf.Answer(body: body, tag: Self.entityTag(body), expiresAt: plan.expiresAt)
        }
        let headers = [
            ("ETag", answer.tag), ("Cache-Control", "private, max-age=\(max(1, (answer.expiresAt - now + 999) / 1_000))"), ("Vary", "Authorization"),
        ]
        if Self.matches(try single("if-none-match", call), answer.tag) { return HTTPResponse(status: 304, headers: headers) }
        return HTTPResponse(status: 200, headers: [("Content-Type", "application/json")] + headers, body: .bytes(answer.body))
    }

    /// From the bytes alone: every router gives the same body the same tag. 96 bits are enough against chance, and nobody gains by a clash.
    private static func entityTag(_ body: [UInt8]) -> String {
        "\"" + sha256(body).prefix(12).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "\""
    }

    /// If-None-Match is compared weakly: W/ does not count.
    private static func matches(_ header: String?, _ tag: String) -> Bool {
        guard let header else { return false }
        return header.split(separator: ",").contains { part in
            let given = part.trimmingPrefix { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
            return given == "*" || given == tag || given == "W/" + tag
        }
    }

    private func instrument(_ text: String) throws(Problem) -> Instrument {
        guard let symbol = Symbol(text), let instrument = api.instruments.instrument(of: symbol) else {
            throw Problem(.unknownSymbol, "There is no such symbol. GET /v1/symbols?query= finds it.", status: 404)
        }
        return instrument
    }
}

extension StockView {
    /// - Parameter before: close of the trading day before the one at hand, in 1/10,000.
    fileprivate init(_ listing: Listing, _ instrument: Instrument, _ before: Int64?, _ hours: MarketHours, _ quote: QuoteView) {
        let previousClose = before.map { Amount(units: $0) }
        let change = listing.quote.flatMap { quote in previousClose.flatMap { PriceChange(from: $0, to: quote.last) } }
        let day = listing.day
        self.init(
            symbol: listing.symbol,
            name: instrument.name,
            exchange: instrument.exchange?.text,
            marketState: hours.state.rawValue,
            nextOpen: hours.nextOpen,
            nextClose: hours.nextClose,
            open: day.open == 0 ? nil : Amount(units: day.open),
            high: day.open == 0 ? nil : Amount(units: day.high),
            low: day.open == 0 ? nil : Amount(units: day.low),
            previousClose: previousClose,
            change: change?.amount,
            changePercent: change?.percent,
            volume: listing.quote?.volume,
            quote: quote
        )
    }
}
