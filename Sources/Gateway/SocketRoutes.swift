import HTTPServer
import Identity
import MarketData
import Storage
import Trading
import Wire

/// GET /v1/ws: one WebSocket for prices, order events and portfolios.
extension APIHandler {
    /// The subprotocol that is spoken, for clients (browsers) that can give a token only beside it.
    static let subprotocol = "order-router.v1"
    private static let tokenPrefix = "bearer."

    func socket(_ call: inout Call) async throws -> HTTPResponse {
        _ = try parameters(call, [])
        if case .refused(let status, let detail) = call.request.webSocketHandshake {
            // RFC 9110 section 15.5.22 and RFC 6455 section 4.4: what is spoken here.
            let spoken = [HeaderField("Upgrade", "websocket"), HeaderField("Sec-WebSocket-Version", "13")]
            throw Problem(.malformedRequest, detail, headers: spoken, status: status)
        }
        let offered = call.request.headers.tokens("sec-websocket-protocol")
        // A header that a browser's WebSocket cannot set comes as a subprotocol: `order-router.v1, bearer.<token>`.
        let token = offered.first { $0.hasPrefix(Self.tokenPrefix) }.map { Array($0.utf8.dropFirst(Self.tokenPrefix.utf8.count)) }
        let principal = try await principal(call, token: token.map { $0[...] })
        guard !principal.scopes.isDisjoint(with: [.marketRead, .marketDelayed, .ordersRead]) else {
            throw Problem(.scopeMissing, "The token needs one of the scopes market:read, market:delayed and orders:read.")
        }
        api.metrics.count("order_router_price_streams_total", [("form", "websocket")])
        return .webSocket(SocketClient(api, principal), subprotocol: offered.contains(Self.subprotocol) ? Self.subprotocol : nil)
    }
}

/// One WebSocket: its subscriptions, and what it may ask for.
///
/// @unchecked Sendable: everything here belongs to the connection's loop, where its tasks run as well.
final class SocketClient: PushHandler, @unchecked Sendable {
    /// Symbols of one connection: what a phone's lists show, many times over.
    static let maximumSymbols = 250
    /// Accounts followed on one connection, each channel counted: a family's.
    static let maximumChannels = 16
    /// Requests at once, and how many come back each second: scrolling through a long list subscribes and unsubscribes some times a second.
    static let requestBurst = 40
    static let requestsPerSecond: Int64 = 20
    /// Requests over the rate until the connection is ended, unless it keeps quiet for a while: by then it is a loop gone wild.
    static let patience = 100

    struct Following: Hashable {
        let channel: SocketRequest.AccountChannel
        let account: AccountID
    }

    let api: API
    private let principal: Principal
    /// Prices in real time, and those of fifteen minutes ago.
    let seesPrices: Bool
    let seesDelayedPrices: Bool
    private var client: TickerClient?
    private var watched: Set<Symbol> = []
    private var following: [Following: Task<Void, Never>] = [:]
    private var waiters: [CheckedContinuation<Void, Never>] = []
    private var allowance = SocketClient.requestBurst
    private var refilledAt: Int64 = 0
    private var refused = 0

    init(_ api: API, _ principal: Principal) {
        self.api = api
        self.principal = principal
        seesPrices = principal.scopes.contains(.marketRead)
        seesDelayedPrices = principal.scopes.contains(.marketDelayed)
    }

    // MARK: The connection

    func opened(_ connection: PushConnection) {
        let client = TickerClient(PriceSink(connection), form: TickerForm.indexOfSocket, isDelayed: !seesPrices, expiresAt: principal.expiresAt)
        self.client = client
        // Also without a symbol: the rounds end it when its token does.
        api.prices.rounds(of: connection).add(client)
    }

    func closed(_ connection: PushConnection) {
        if let client { api.prices.rounds(of: connection).remove(client) }
        client = nil
        for task in following.values { task.cancel() }
        following = [:]
        drained(connection)
    }

    func drained(_ connection: PushConnection) {
        let waiting = waiters
        waiters = []
        for waiter in waiting { waiter.resume() }
    }

    /// Waits until the client has taken what was sent: a reader that is slow is sent no more meanwhile.
    func taken(by connection: PushConnection) async {
        guard connection.isOpen, connection.outstanding > 0 else { return }
        await withCheckedContinuation { waiters.append($0) }
    }

    // MARK: Requests

    func received(_ text: [UInt8], on connection: PushConnection) {
        let now = api.now()
        do throws(Problem) {
            try takeAllowance(at: now, connection)
            try carryOut(SocketRequest.read(text, symbolLimit: APIHandler.maximumSymbols), connection, at: now)
        } catch {
            connection.send(SocketMessage.error(error, to: SocketRequest.id(of: text), at: now))
        }
    }

    private func takeAllowance(at now: Int64, _ connection: PushConnection) throws(Problem) {
        // A clock that was set back gives nothing, and begins to count from there.
        let earned = (now - refilledAt) * Self.requestsPerSecond / 1_000
        if earned != 0 {
            allowance = Int(min(Int64(Self.requestBurst), Int64(allowance) + max(0, earned)))
            refilledAt = now
        }
        // Calm again: one that goes on asking gets a turn now and then, and is none the calmer.
        if allowance == Self.requestBurst { refused = 0 }
        if allowance > 0 {
            allowance -= 1
            return
        }
        refused += 1
        if refused > Self.patience { connection.end(.policyViolation, reason: "Too many requests.") }
        throw Problem(.rateLimited, "More than \(Self.requestsPerSecond) requests a second. Name several symbols in one.", retryAfterSeconds: 1)
    }

    private func carryOut(_ request: SocketRequest, _ connection: PushConnection, at now: Int64) throws(Problem) {
        switch request.action {
        case .ping: connection.send(SocketMessage.pong(to: request.id, at: now))
        case .watch(let symbols, let rate): try watch(symbols, rate, request.id, connection, at: now)
        case .unwatch(let symbols): unwatch(symbols, request.id, connection, at: now)
        case .follow(let channel, let account, let last): try follow(channel, account, last, request.id, connection, at: now)
        case .unfollow(let channel, let account):
            let followed = Following(channel: channel, account: try self.account(account))
            following.removeValue(forKey: followed)?.cancel()
            let account = followed.account
            connection.send(SocketMessage.done("unsubscribed", channel: channel.rawValue, account: account, to: request.id, at: now))
        }
    }

    // MARK: Prices

    private func watch(_ symbols: [Symbol], _ rate: Int64?, _ id: String?, _ connection: PushConnection, at now: Int64) throws(Problem) {
        guard seesPrices || seesDelayedPrices else {
            throw Problem(.scopeMissing, "The token needs the scope market:read, or market:delayed for delayed prices.")
        }
        let places = try api.prices.places(of: symbols)
        guard watched.union(symbols).count <= Self.maximumSymbols else {
            throw Problem(.limitExceeded, "A connection watches at most \(Self.maximumSymbols) symbols. Unsubscribe from some first.")
        }
        guard let client else { return }
        watched.formUnion(symbols)
        connection.send(SocketMessage.done("subscribed", channel: SocketRequest.prices, symbols: symbols, to: id, at: now))
        api.prices.rounds(of: connection).watch(places, every: api.prices.windows(in: rate), for: client, at: now)
    }

    private func unwatch(_ symbols: [Symbol]?, _ id: String?, _ connection: PushConnection, at now: Int64) {
        let left = symbols ?? watched.sorted()
        watched.subtract(left)
        if let client { api.prices.rounds(of: connection).unwatch(api.prices.board.places(of: left).map(\.place), for: client) }
        connection.send(SocketMessage.done("unsubscribed", channel: SocketRequest.prices, symbols: left, to: id, at: now))
    }

    // MARK: Accounts

    private func account(_ named: AccountID?) throws(Problem) -> AccountID {
        guard principal.scopes.contains(.ordersRead) else { throw Problem(.scopeMissing, "The token needs the scope orders:read.") }
        return try principal.account(named)
    }

    private func follow(
        _ channel: SocketRequest.AccountChannel,
        _ named: AccountID?,
        _ last: String?,
        _ id: String?,
        _ connection: PushConnection,
        at now: Int64
    ) throws(Problem) {
        let followed = Following(channel: channel, account: try account(named))
        guard following[followed] != nil || following.count < Self.maximumChannels else {
            throw Problem(.limitExceeded, "A connection follows at most \(Self.maximumChannels) channels of accounts.")
        }
        // Asked for again: it begins anew, where the client says.
        following[followed]?.cancel()
        connection.send(SocketMessage.done("subscribed", channel: channel.rawValue, account: followed.account, to: id, at: now))
        let account = followed.account
        following[followed] = connection.task { [self] in
            switch channel {
            case .orders: await followOrders(of: account, after: last, on: connection)
            case .portfolio: await followPortfolio(of: account, on: connection)
            }
        }
    }
}
