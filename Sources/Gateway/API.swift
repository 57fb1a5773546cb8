package import HTTPServer
package import Identity
package import OrderDesk
package import Quotes
package import Storage
import Trading
import Wire

/// Everything that the routes need, made once by the program.
package struct API: Sendable {
    package let tokens: TokenVerifier
    package let credentials: CredentialBook
    package let enrolment: Enrolment
    package let queue: OrderQueue
    package let readers: Readers
    package let streams: EventStreams
    package let quotes: any QuoteSource
    package let freshness: Freshness
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
        readers: Readers,
        streams: EventStreams,
        quotes: any QuoteSource,
        freshness: Freshness,
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
        self.readers = readers
        self.streams = streams
        self.quotes = quotes
        self.freshness = freshness
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

    package init(database: Bool, migrations: Bool, venue: Bool, marketData: Bool) {
        self.database = database
        self.migrations = migrations
        self.venue = venue
        self.marketData = marketData
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

/// A request on its way through the routes, and what the log will say of it.
struct Call {
    let request: HTTPRequest
    /// The path's segments after `/v1`, or of the whole path where it does not begin with that.
    let segments: [String]
    let receivedAt: Int64
    var account: AccountID?
    var orderID: OrderID?
    var code: String?
}

/// The router of the HTTP API: finds the route, turns what is thrown into problems, tells log and metrics. The routes are in the other files.
package struct APIHandler: HTTPHandler {
    let api: API

    package init(_ api: API) {
        self.api = api
    }

    package func respond(to request: HTTPRequest) async -> HTTPResponse {
        let begun = ContinuousClock.now
        var call = Call(request: request, segments: Self.segments(of: request.path), receivedAt: api.now())
        var response: HTTPResponse
        do {
            response = try await route(&call)
        } catch let problem as Problem {
            call.code = problem.code.rawValue
            response = HTTPResponse(problem, at: api.now())
        } catch {
            // The one place where the unforeseen becomes an answer: it says nothing of the inside and claims nothing about the order.
            let problem = Problem(.internalError, "The request could not be carried out. Ask by key before giving up an order.")
            call.code = problem.code.rawValue
            api.metrics.count("order_router_faults_total")
            response = HTTPResponse(problem, at: api.now())
        }
        let requestID = "\(api.runID)-\(request.id)"
        response.headers.append(("X-Request-Id", requestID))
        report(call, response, requestID, took: .now - begun)
        return response
    }

    private func report(_ call: Call, _ response: HTTPResponse, _ requestID: String, took: Duration) {
        let status = String(response.status)
        api.metrics.count("order_router_requests_total", [("method", call.request.method.rawValue), ("status", status)])
        if let code = call.code { api.metrics.count("order_router_problems_total", [("code", code)]) }
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

    private static func segments(of path: String) -> [String] {
        path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
    }

    // MARK: Routes

    private func route(_ call: inout Call) async throws -> HTTPResponse {
        let path = call.segments
        switch (path.first, path.dropFirst().first, path.dropFirst(2).first) {
        case ("v1", "trading", "orders"): return try await orderRoute(&call, Array(path.dropFirst(3)))
        case ("v1", "credentials", _): return try await credentialRoute(&call, Array(path.dropFirst(2)))
        case ("v1", "quotes", nil): return try await only([.get: quotes], &call)
        case ("v1", "operator", "halts") where path.count == 3:
            return try await only([.get: listHalts, .post: halt, .delete: resume], &call)
        case ("healthz", nil, nil): return try await only([.get: healthz], &call)
        case ("readyz", nil, nil): return try await only([.get: readyz], &call)
        case ("metrics", nil, nil): return try await only([.get: metrics], &call)
        default: throw Problem(.notFound, "There is nothing at this path. See the README for the routes.")
        }
    }

    private func orderRoute(_ call: inout Call, _ rest: [String]) async throws -> HTTPResponse {
        switch (rest.first, rest.dropFirst().first, rest.count) {
        case (nil, _, 0): return try await only([.post: place, .get: list], &call)
        case ("events", _, 1): return try await only([.get: events], &call)
        case ("by-key", let key?, 2): return try await only([.get: { try await byKey(&$0, key) }], &call)
        case ("by-key", let key?, 3) where rest[2] == "fence": return try await only([.post: { try await fence(&$0, key) }], &call)
        case (let id?, _, 1): return try await only([.get: { try await order(&$0, id) }, .delete: { try await cancel(&$0, id) }], &call)
        default: throw Problem(.notFound, "There is nothing at this path. See the README for the routes.")
        }
    }

    private func credentialRoute(_ call: inout Call, _ rest: [String]) async throws -> HTTPResponse {
        switch rest.count {
        case 0: return try await only([.post: createCredential, .get: listCredentials], &call)
        case 1: return try await only([.delete: { try await invalidateCredential(&$0, rest[0]) }], &call)
        case 2 where rest[1] == "pair": return try await only([.post: { try await pairCredential(&$0, rest[0]) }], &call)
        default: throw Problem(.notFound, "There is nothing at this path. See the README for the routes.")
        }
    }

    typealias Route = (inout Call) async throws -> HTTPResponse

    /// RFC 9110 section 15.5.6: a 405 names the methods that are allowed. HEAD is answered as GET; the server leaves the body out.
    private func only(_ routes: [HTTPMethod: Route], _ call: inout Call) async throws -> HTTPResponse {
        if let route = routes[call.request.method == .head ? .get : call.request.method] { return try await route(&call) }
        let allowed = (routes.keys + (routes[.get] == nil ? [] : [.head])).map(\.rawValue).sorted().joined(separator: ", ")
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
