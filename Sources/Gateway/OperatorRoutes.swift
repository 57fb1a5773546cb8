import HTTPServer
import Identity
import MarketData
import Quotes
import Storage
import Trading
import Wire

/// What operators see of the market, and their halts.
extension APIHandler {
    /// GET /v1/operator/market?state=STALE: every symbol of the feed (in that state) with its price, age, why it is not alive, and the price that was refused
    /// last; and by how much the feed's clock may be ahead.
    func market(_ call: inout Call) async throws -> HTTPResponse {
        let parameters = try parameters(call, ["state"])
        _ = try await principal(call, .operator)
        let states = QuoteState.Name.allCases.map(\.rawValue).joined(separator: ", ")
        let wanted = try parameters.parsed("state", "one of \(states)", QuoteState.Name.init(rawValue:))
        api.prices.conditions.setHalts(try await read(from: \.prices) { try $0.halts() })
        let now = api.now()
        var json = JSONWriter()
        json.beginObject()
        json.name("symbols")
        json.beginArray()
        let (reports, rules) = api.prices.board.read { ($0.reports, $0.rules) }
        for report in reports {
            let (listing, quote) = (report.listing, report.listing.quote)
            let standing = api.prices.live.standing(of: listing, at: now)
            if let wanted, wanted != standing.state.name { continue }
            json.beginObject()
            json.member("symbol", listing.symbol.text)
            json.member("state", standing.state.name.rawValue)
            json.member("reason", standing.state.reason)
            json.member("marketState", standing.hours.state.rawValue)
            json.member("age_ms", quote?.age(at: now))
            json.member("bid", quote?.bid, as: .string)
            json.member("ask", quote?.ask, as: .string)
            json.member("seq", quote?.sequence)
            json.member("refused_bid", report.refusedBid, as: .string)
            json.member("refused_ask", report.refusedAsk, as: .string)
            json.member("refused_lead_ms", report.refusedLead)
            json.endObject()
        }
        json.endArray()
        json.member("feed_lead_ms", rules.maximumLead)
        json.member("server_time", now)
        json.endObject()
        return HTTPResponse(json: json.bytes)
    }

    /// GET /v1/operator/halts.
    func listHalts(_ call: inout Call) async throws -> HTTPResponse {
        _ = try parameters(call, [])
        _ = try await principal(call, .operator)
        return HTTPResponse(json: HaltRequest.listBody(try await halts()))
    }

    /// POST /v1/operator/halts {"scope","subject","reason"}: answered once the halt is committed through every shard; nothing is accepted under it after that.
    func halt(_ call: inout Call) async throws -> HTTPResponse {
        try requireJSON(call)
        let halt = try HaltRequest.read(call.request.body).halt
        let whom = try await operatorName(call)
        let now = call.receivedAt
        try await read { try $0.halt(halt, by: whom, at: now) }
        return HTTPResponse(json: HaltRequest.listBody(try await halts()))
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
        return HTTPResponse(json: HaltRequest.listBody(try await halts()))
    }

    /// Those in force, which this router's quotes and streams know from here on as well.
    private func halts() async throws -> [Halt] {
        let halts = try await read { try $0.halts() }
        api.prices.conditions.setHalts(halts)
        return halts
    }

    private func operatorName(_ call: Call) async throws -> String {
        try await principal(call, .operator).subject ?? "operator"
    }
}
