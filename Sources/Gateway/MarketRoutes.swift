import HTTPServer
import Identity
import Quotes
import Storage
import Trading
import Wire

/// Quotes, and the operator's halts.
extension APIHandler {
    /// Symbols in one question: a watch list, not a market.
    static let maximumSymbols = 100

    /// GET /v1/quotes?symbols=NVDA,AAPL: the last quote of each symbol with its age and state.
    func quotes(_ call: inout Call) async throws -> HTTPResponse {
        let parameters = try parameters(call, ["symbols"])
        _ = try await principal(call, .marketRead)
        guard let names = parameters["symbols"]?.split(separator: ",", omittingEmptySubsequences: false), names.count <= Self.maximumSymbols else {
            throw Problem.invalid("symbols", "Send symbols=NVDA,AAPL: 1 to \(Self.maximumSymbols) of them.")
        }
        let halts = try await read { try $0.halts() }
        let now = api.now()
        var views: [QuoteView] = []
        for name in names {
            guard let symbol = Symbol(String(name)) else { throw Problem.invalid("symbols", "'\(name.prefix(16))' is not a symbol.") }
            guard let listing = api.quotes.listing(of: symbol) else { throw Problem(.unknownSymbol(symbol), outcome: .notApplicable) }
            let halt = halts.first { [.killSwitch, .venue].contains($0.scope) || ($0.scope == .symbol && $0.subject == symbol.text) }
            views.append(QuoteView(listing, halt: halt, freshness: api.freshness, at: now))
        }
        return HTTPResponse(json: QuoteView.listBody(views, serverTime: now))
    }

    /// GET /v1/operator/market?state=STALE: every symbol of the feed (in that state) with its price, age, why it is not alive, and the price that was refused
    /// last.
    func market(_ call: inout Call) async throws -> HTTPResponse {
        let parameters = try parameters(call, ["state"])
        _ = try await principal(call, .operator)
        let now = api.now()
        var json = JSONWriter()
        json.beginObject()
        json.name("symbols")
        json.beginArray()
        for report in api.symbolReports() {
            let state = api.freshness.state(of: report.listing.quote, at: now)
            if let wanted = parameters["state"], wanted != state.name { continue }
            json.beginObject()
            json.member("symbol", report.listing.symbol.text)
            json.member("state", state.name)
            json.member("reason", state.reason)
            json.member("age_ms", report.listing.quote?.age(at: now))
            json.member("bid", report.listing.quote?.bid, as: .string)
            json.member("ask", report.listing.quote?.ask, as: .string)
            json.member("sequence", report.listing.quote?.sequence)
            json.member("refused_bid", report.refusedBid, as: .string)
            json.member("refused_ask", report.refusedAsk, as: .string)
            json.endObject()
        }
        json.endArray()
        json.member("server_time", now)
        json.endObject()
        return HTTPResponse(json: json.bytes)
    }

    /// GET /v1/operator/halts.
    func listHalts(_ call: inout Call) async throws -> HTTPResponse {
        _ = try parameters(call, [])
        _ = try await principal(call, .operator)
        return HTTPResponse(json: HaltRequest.listBody(try await read { try $0.halts() }))
    }

    /// POST /v1/operator/halts {"scope","subject","reason"}: answered once the halt is committed through every shard; nothing is accepted under it after that.
    func halt(_ call: inout Call) async throws -> HTTPResponse {
        try requireJSON(call)
        let halt = try HaltRequest.read(call.request.body).halt
        let whom = try await operatorName(call)
        let now = call.receivedAt
        try await read { try $0.halt(halt, by: whom, at: now) }
        return HTTPResponse(json: HaltRequest.listBody(try await read { try $0.halts() }))
    }

    /// DELETE /v1/operator/halts?scope=&subject=.
    func resume(_ call: inout Call) async throws -> HTTPResponse {
        let parameters = try parameters(call, ["scope", "subject"])
        let scope = try parameters.parsed("scope", "venue, symbol or account", HaltRequest.scope)
        guard let scope else { throw Problem.invalid("scope", "Send scope=venue, symbol or account.") }
        let subject = parameters["subject"] ?? ""
        let whom = try await operatorName(call)
        let now = call.receivedAt
        guard try await read({ try $0.resume(scope, subject: subject, by: whom, at: now) }) else {
            throw Problem(.notFound, "There is no such halt. GET this path lists those in force.")
        }
        return HTTPResponse(json: HaltRequest.listBody(try await read { try $0.halts() }))
    }

    private func operatorName(_ call: Call) async throws -> String {
        try await principal(call, .operator).subject ?? "operator"
    }
}

extension Problem {
    /// A refusal outside an order's placement.
    fileprivate init(_ refusal: Refusal, outcome: KeyOutcome) {
        guard case .unknownSymbol(let symbol) = refusal else { preconditionFailure("Only a symbol is refused here.") }
        self.init(.unknownSymbol, "\(symbol) is not traded here. Check the symbol.", outcome: outcome)
    }
}

extension QuoteView {
    init(_ listing: Listing, halt: Halt?, freshness: Freshness, at now: Int64) {
        let state = freshness.state(of: listing.quote, at: now)
        self.init(
            symbol: listing.symbol,
            sequence: listing.quote?.sequence ?? 0,
            bid: listing.quote?.bid,
            ask: listing.quote?.ask,
            last: listing.quote?.last,
            asOf: listing.quote?.vouchedAt,
            ageMilliseconds: listing.quote?.age(at: now),
            state: halt != nil ? QuoteState.halted.name : state.name,
            reason: halt?.reason ?? state.reason
        )
    }
}
