package import HTTPServer
package import Identity
package import OrderDesk
package import Quotes
import Storage
import Trading
import Wire

/// Everything that the routes need, made once by the program. An object, so that handing it on to a route copies one reference and not twenty.
package final class API: Sendable {
    package let tokens: TokenVerifier
    package let credentials: CredentialBook
    package let enrolment: Enrolment
    package let queue: OrderQueue
    package let reads: Reads
    package let streams: EventStreams
    package let prices: PriceStreams
    package let instruments: any InstrumentSource
    let history = HistoryShelf()
    package let accountLimits: RateLimits
    package let addressLimits: RateLimits
    package let metrics: Metrics
    package let readiness: @Sendable () async -> Readiness
    /// Sets the gauges that are only looked at when somebody asks for metrics.
    package let gauges: @Sendable () -> Void
    /// Told of each answered request, for the log.
    package let answered: @Sendable (AnsweredRequest) -> Void
    /// Milliseconds since the epoch.
    package let now: @Sendable () -> Int64
    /// The generation of this run and machine in request ids, so that they are unique across restarts.
    package let runID: String

    package init(
        tokens: TokenVerifier,
        credentials: CredentialBook,
        enrolment: Enrolment,
        queue: OrderQueue,
        reads: Reads,
        streams: EventStreams,
        prices: PriceStreams,
        instruments: any InstrumentSource,
        accountLimits: RateLimits,
        addressLimits: RateLimits,
        metrics: Metrics,
        readiness: @escaping @Sendable () async -> Readiness,
        gauges: @escaping @Sendable () -> Void,
        answered: @escaping @Sendable (AnsweredRequest) -> Void,
        now: @escaping @Sendable () -> Int64,
        runID: String
    ) {
        self.tokens = tokens
        self.credentials = credentials
        self.enrolment = enrolment
        self.queue = queue
        self.reads = reads
        self.streams = streams
        self.prices = prices
        self.instruments = instruments
        self.accountLimits = accountLimits
        self.addressLimits = addressLimits
        self.metrics = metrics
        self.readiness = readiness
        self.gauges = gauges
        self.answered = answered
        self.now = now
        self.runID = runID
    }
}

/// Whether this router can take new orders, and what is missing.
package struct Readiness: Sendable {
    package var database: Bool
    package var migrations: Bool
    package var venue: Bool
    /// At least one symbol has a price that may be traded on.
    package var marketData: Bool
    /// On: every new order is refused. It does not make the router unready: a balancer that takes it away would take the cancels with it.
    package var killSwitch: Bool

    /// The venue says that it is a test system; nil where this router does not hold its session.
    package var venueIsTest: Bool?

    /// Prices are a recorded feed's: nobody may trade for real on them.
    package var isReplay: Bool

    package init(
        database: Bool,
        migrations: Bool,
        venue: Bool,
        marketData: Bool,
        killSwitch: Bool = false,
        venueIsTest: Bool? = nil,
        isReplay: Bool = false
    ) {
        self.isReplay = isReplay
        self.venueIsTest = venueIsTest
        self.database = database
        self.migrations = migrations
        self.venue = venue
        self.marketData = marketData
        self.killSwitch = killSwitch
    }

    var takesOrders: Bool { database && migrations && venue && marketData }
}

/// One line of the log. Holds no secret: no header, no body, no query.
package struct AnsweredRequest: Sendable {
    package let requestID: String
    package let method: String
    package let path: String
    package let peer: String
    package let status: Int
    package let code: String?
    package let account: String?
    package let orderID: String?
    package let took: Duration
}

/// What is counted of each request, found in the metrics once and not at each.
final class Tallies: Sendable {
    struct Answered: Hashable {
        let method: HTTPMethod
        let status: Int
    }

    /// What became of an order, and the code of its refusal.
    struct Decided: Hashable {
        let outcome: String
        let code: String
    }

    let requests: Kept<Answered, Metrics.Counter>
    let requestTimes: Kept<HTTPMethod, Metrics.Histogram>
    let problems: Kept<String, Metrics.Counter>
    let orders: Kept<Decided, Metrics.Counter>
    let placeTimes: Metrics.Histogram

    init(_ metrics: Metrics) {
        requests = Kept { metrics.counter("order_router_requests_total", [("method", $0.method.rawValue), ("status", String($0.status))]) }
        requestTimes = Kept { metrics.times("order_router_request_seconds", [("method", $0.rawValue)]) }
        problems = Kept { metrics.counter("order_router_problems_total", [("code", $0)]) }
        orders = Kept { metrics.counter("order_router_orders_total", [("outcome", $0.outcome), ("code", $0.code)]) }
        placeTimes = metrics.times("order_router_leg_seconds", [("leg", "place")])
    }
}

/// A request on its way through the routes, and what the log will say of it.
struct Call {
    let request: HTTPRequest
    let receivedAt: Int64
    var account: AccountID?
    var orderID: OrderID?
    var code: String?

    /// Whether an answer's outcome can speak of an order's key: of what places or changes orders, and of a key that is asked about. Prices, streams, lists,
    /// credentials and halts have none.
    var isAboutKey: Bool {
        switch request.method {
        case .get, .head, .options: request.path.hasPrefix(OrderPath.keys + "/")
        case .post, .put, .patch, .delete: request.path.hasPrefix(OrderPath.trading + "/")
        }
    }
}

/// The router of the HTTP API: finds the route, turns what is thrown into problems, tells log and metrics. The routes are in the other files.
package struct APIHandler: HTTPHandler {
    let api: API
    let tallies: Tallies

    package init(_ api: API) {
        self.api = api
        tallies = Tallies(api.metrics)
    }

    package func respond(to request: HTTPRequest) async -> HTTPResponse {
        var call = Call(request: request, receivedAt: api.now())
        var response: HTTPResponse
        do {
            response = try await route(&call)
        } catch {
            let problem = problem(of: error, call)
            call.code = problem.code.rawValue
            response = HTTPResponse(problem, at: api.now())
        }
        let requestID = "\(api.runID)-\(request.id)"
        response.headers.append(("X-Request-Id", requestID))
        report(call, response, requestID, took: .now - request.receivedAt)
        return response
    }

    private func problem(of error: any Error, _ call: Call) -> Problem {
        if let problem = error as? Problem { return call.isAboutKey ? problem : problem.withoutKey }
        // The one place where the unforeseen becomes an answer: it says nothing of the inside and claims nothing about the order.
        api.metrics.count("order_router_faults_total")
        if call.isAboutKey { return Problem(.internalError, "The request could not be carried out. Ask by key before giving up an order.") }
        return Problem(.internalError, "The request could not be carried out. Try again; if that goes on, tell the operator its X-Request-Id.")
            .withoutKey
    }

    private func report(_ call: Call, _ response: HTTPResponse, _ requestID: String, took: Duration) {
        tallies.requests[Tallies.Answered(method: call.request.method, status: response.status)].add()
        tallies.requestTimes[call.request.method].time(took)
        if let code = call.code { tallies.problems[code].add() }
        api.answered(
            AnsweredRequest(
                requestID: requestID,
                method: call.request.method.rawValue,
                path: call.request.path,
                peer: call.request.peerAddress,
                status: response.status,
                code: call.code,
                account: call.account?.text,
                orderID: call.orderID?.text,
                took: took
            )
        )
    }

    // MARK: Routes

    private func route(_ call: inout Call) async throws -> HTTPResponse {
        // Where nearly all requests go: a path that need not be taken apart.
        if call.request.path == OrderPath.orders { return try await only(&call, get: list, post: place, delete: cancelAll) }
        let path = call.request.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
        switch (path.first, path.dropFirst().first, path.dropFirst(2).first) {
        case ("v1", "trading", "orders"): return try await orderRoute(&call, Array(path.dropFirst(3)))
        case ("v1", "trading", "cancel-all-after") where path.count == 3: return try await only(&call, post: cancelAllAfter)
        case ("v1", "credentials", _): return try await credentialRoute(&call, Array(path.dropFirst(2)))
        case ("v1", "symbols", _), ("v1", "stocks", _): return try await stockRoute(&call, Array(path.dropFirst()))
        case ("v1", "quotes", nil): return try await only(&call, get: quotes)
        case ("v1", "marketdata", "tickers") where path.count == 4 && path[3] == "stream": return try await only(&call, get: tickers)
        case ("v1", "ws", nil): return try await only(&call, get: socket)
        case ("v1", "operator", "halts") where path.count == 3:
            return try await only(&call, get: listHalts, post: halt, delete: resume)
        case ("v1", "operator", "market") where path.count == 3: return try await only(&call, get: market)
        case ("healthz", nil, nil): return try await only(&call, get: healthz)
        case ("readyz", nil, nil): return try await only(&call, get: readyz)
        case ("metrics", nil, nil): return try await only(&call, get: metrics)
        default: throw Problem(.notFound, "There is nothing at this path. See the README for the routes.")
        }
    }

    private func orderRoute(_ call: inout Call, _ rest: [String]) async throws -> HTTPResponse {
        switch (rest.first, rest.dropFirst().first, rest.count) {
        case ("events", _, 1): return try await only(&call, get: events)
        case ("by-key", let key?, 2): return try await only(&call, get: { try await byKey(&$0, key) })
        case ("by-key", let key?, 3) where rest[2] == "fence": return try await only(&call, post: { try await fence(&$0, key) })
        case (let id?, _, 1):
            return try await only(
                &call,
                get: { try await order(&$0, id) },
                delete: { try await cancel(&$0, id) },
                patch: { try await replace(&$0, id) }
            )
        default: throw Problem(.notFound, "There is nothing at this path. See the README for the routes.")
        }
    }

    private func credentialRoute(_ call: inout Call, _ rest: [String]) async throws -> HTTPResponse {
        switch rest.count {
        case 0: return try await only(&call, get: listCredentials, post: createCredential)
        case 1: return try await only(&call, delete: { try await invalidateCredential(&$0, rest[0]) })
        case 2 where rest[1] == "pair": return try await only(&call, post: { try await pairCredential(&$0, rest[0]) })
        default: throw Problem(.notFound, "There is nothing at this path. See the README for the routes.")
        }
    }

    typealias Route = (inout Call) async throws -> HTTPResponse

    /// RFC 9110 section 15.5.6: a 405 names the methods that are allowed. HEAD is answered as GET; the server leaves the body out.
    func only(
        _ call: inout Call,
        get: Route? = nil,
        post: Route? = nil,
        delete: Route? = nil,
        patch: Route? = nil
    ) async throws -> HTTPResponse {
        let route: Route? =
            switch call.request.method {
            case .get, .head: get
            case .post: post
            case .delete: delete
            case .patch: patch
            case .put, .options: nil
            }
        if let route { return try await route(&call) }
        let routes = [("DELETE", delete), ("GET", get), ("HEAD", get), ("PATCH", patch), ("POST", post)]
        let allowed = routes.filter { $0.1 != nil }.map(\.0).joined(separator: ", ")
        throw Problem(.methodNotAllowed, "This path answers \(allowed).", headers: [HeaderField("Allow", allowed)])
    }
}

extension HTTPResponse {
    /// What the server itself refuses (framing, sizes, time-outs) in the form of every other problem.
    package static func refused(_ status: Int, _ detail: String, at now: Int64) -> HTTPResponse {
        let code: ErrorCode =
            switch status {
            case 413: .payloadTooLarge
            case 500: .internalError
            case 503: .busy
            default: .malformedRequest
            }
        return HTTPResponse(Problem(code, detail, status: status), at: now)
    }

    init(_ problem: Problem, at now: Int64) {
        self.init(
            status: problem.status,
            headers: problem.headers.map { ($0.name, $0.value) },
            body: .bytes(problem.body(serverTime: now))
        )
    }

    init(json body: [UInt8], status: Int = 200) {
        self.init(status: status, headers: [("Content-Type", "application/json"), ("Cache-Control", "no-store")], body: .bytes(body))
    }
}
