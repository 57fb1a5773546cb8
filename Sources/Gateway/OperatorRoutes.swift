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
    /// last.
    func market(_ call: inout Call) async throws -> HTTPResponse {
        let parameters = try parameters(call, ["state"])
        _ = try await principal(call, .operator)
        api.prices.conditions.setHalts(try await read(from: \.prices) { try $0.halts() })
        let now = api.now()
        var json = JSONWriter()
        json.beginObject()
        json.name("symbols")
        json.beginArray()
        for report in api.prices.board.reports {
            let standing = api.prices.conditions.standing(of: report.symbol, report.quote, at: now)
            if let wanted = parameters["state"], wanted != standing.state.name { continue }
            json.beginObject()
            json.member("symbol", report.symbol.text)
            json.member("state", standing.state.name)
            json.member("reason", standing.state.reason)
            json.member("marketState", standing.hours.state.rawValue)
            json.member("age_ms", report.quote?.age(at: now))
            json.member("bid", report.quote?.bid, as: .string)
            json.member("ask", report.quote?.ask, as: .string)
            json.member("seq", report.quote?.sequence)
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
