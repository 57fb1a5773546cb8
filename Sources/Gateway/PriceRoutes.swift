import HTTPServer
import Identity
import MarketData
import Quotes
import Storage
import Trading
import Wire

/// Prices: the last ones by GET, and the stream of those that change.
extension APIHandler {
    /// Symbols in one question or on one stream: a watch list, not a market.
    static let maximumSymbols = 100

    /// What a token may see.
    struct Entitlement {
        let principal: Principal
        let prices: EntitledPrices
    }

    /// Real time where the scope says so, else fifteen minutes delayed.
    func entitlement(_ call: Call) async throws -> Entitlement {
        let principal = try await principal(call)
        if principal.scopes.contains(.marketRead) { return Entitlement(principal: principal, prices: api.prices.live) }
        if principal.scopes.contains(.marketDelayed) { return Entitlement(principal: principal, prices: api.prices.delayed) }
        throw Problem(.scopeMissing, "The token needs the scope \(Scope.marketRead.rawValue), or \(Scope.marketDelayed.rawValue) for delayed prices.")
    }

    /// GET /v1/quotes?symbols=NVDA,AAPL: the last quote of each symbol with its age and state.
    func quotes(_ call: inout Call) async throws -> HTTPResponse {
        let parameters = try parameters(call, ["symbols"])
        let entitlement = try await entitlement(call)
        // Halts as they are in the database at this moment: what an order would be refused by.
        api.prices.conditions.setHalts(try await read(from: \.prices) { try $0.halts() })
        let now = api.now()
        let prices = entitlement.prices
        let views = try listings(parameters, prices).map { prices.view($0, prices.standing(of: $0, at: now), at: now) }
        return HTTPResponse(json: QuoteView.listBody(views, serverTime: now))
    }

    /// GET /v1/marketdata/tickers/stream?symbols=NVDA,AAPL: Server-Sent Events `snapshot` (each symbol, first), `tick`, `market` and, each second, `asof`.
    /// A reconnect begins with fresh snapshots, whatever `Last-Event-ID` says: prices have no history here.
    func tickers(_ call: inout Call) async throws -> HTTPResponse {
        let parameters = try parameters(call, ["symbols"])
        let entitlement = try await entitlement(call)
        let symbols = try api.prices.places(of: try listings(parameters, entitlement.prices).map(\.symbol))
        api.metrics.count("order_router_price_streams_total", [("form", "sse")])
        return .pushed(TickerStream(api.prices, symbols, entitlement))
    }

    /// The symbols that a query names; each is known.
    private func listings(_ parameters: QueryParameters, _ prices: EntitledPrices) throws -> [Listing] {
        guard let names = parameters["symbols"]?.split(separator: ",", omittingEmptySubsequences: false), names.count <= Self.maximumSymbols else {
            throw Problem.invalid("symbols", "Send symbols=NVDA,AAPL: 1 to \(Self.maximumSymbols) of them.")
        }
        return try names.map { name in
            guard let symbol = Symbol(String(name)) else {
                let form = "1 to 16 capital letters, digits and points, with commas alone between them"
                throw Problem.invalid("symbols", "\(String(name).quotedForMessage) is not a symbol. Send symbols=NVDA,AAPL: each has \(form).")
            }
            guard let listing = prices.listing(of: symbol) else { throw PriceStreams.unknown(symbol) }
            return listing
        }
    }
}

/// One client of the ticker stream.
///
/// @unchecked Sendable: `client` belongs to the connection's loop.
private final class TickerStream: PushHandler, @unchecked Sendable {
    private let prices: PriceStreams
    private let symbols: [(place: Int, symbol: Symbol)]
    private let isDelayed: Bool
    private let expiresAt: Int64
    private var client: TickerClient?

    init(_ prices: PriceStreams, _ symbols: [(place: Int, symbol: Symbol)], _ entitlement: APIHandler.Entitlement) {
        self.prices = prices
        self.symbols = symbols
        isDelayed = entitlement.prices.isDelayed
        expiresAt = entitlement.principal.expiresAt
    }

    func opened(_ connection: PushConnection) {
        connection.send(Array("retry: 1000\n\n".utf8))
        let client = TickerClient(PriceSink(connection), form: TickerForm.indexOfEvents, isDelayed: isDelayed, expiresAt: expiresAt)
        self.client = client
        let rounds = prices.rounds(of: connection)
        rounds.add(client)
        rounds.watch(symbols, every: 1, for: client, at: prices.board.now())
    }

    func closed(_ connection: PushConnection) {
        if let client { prices.rounds(of: connection).remove(client) }
        client = nil
    }
}
