import HTTPServer
import MarketData
import Quotes
import Storage
import Trading
import Wire

/// What a WebSocket's client hears of its accounts. Both run on the connection's loop, until they are cancelled or the connection ends.
extension SocketClient {
    /// Between two pictures of a portfolio, however many fills come: what an eye can follow.
    private static let portfolioInterval: Duration = .milliseconds(500)

    /// The account's order events, from the one after `last`, or from now on.
    func followOrders(of account: AccountID, after last: String?, on connection: PushConnection) async {
        let channel = SocketRequest.AccountChannel.orders.rawValue
        guard let start = await start(of: account, channel, last, connection) else { return }
        if let reset = start.reset {
            connection.send(SocketMessage.event(EventReset.eventName, channel: channel, account: account, data: reset.data))
        }
        var after = start.after
        while !Task.isCancelled, connection.isOpen {
            let events = await api.streams.next(account, after: after)
            guard !Task.isCancelled, connection.isOpen else { return }
            guard let newest = events.last else { return fail(channel, account, connection) }
            for event in events {
                let id = EventID(generation: start.generation, number: event.number).description
                connection.send(SocketMessage.event("order", channel: channel, account: account, id: id, data: StreamedEvent(event).data))
            }
            after = newest.number
            await taken(by: connection)
        }
    }

    /// The account's cash and positions as they stand, and again after each of its events.
    func followPortfolio(of account: AccountID, on connection: PushConnection) async {
        let channel = SocketRequest.AccountChannel.portfolio.rawValue
        guard let start = await start(of: account, channel, nil, connection) else { return }
        var after = start.after
        var shown: PortfolioView?
        while !Task.isCancelled, connection.isOpen {
            do {
                if let portfolio = try await portfolio(of: account), portfolio.isAnother(than: shown), !Task.isCancelled, connection.isOpen {
                    connection.send(SocketMessage.event("portfolio", channel: channel, account: account, data: portfolio.data(at: api.now())))
                    shown = portfolio
                }
            } catch {
                return fail(channel, account, connection)
            }
            await taken(by: connection)
            let newest = await api.streams.next(account, after: after).last
            guard !Task.isCancelled, connection.isOpen else { return }
            guard let newest else { return fail(channel, account, connection) }
            after = newest.number
            // What else comes in this moment is in the same picture.
            guard (try? await Task.sleep(for: Self.portfolioInterval)) != nil else { return }
        }
    }

    private func start(
        of account: AccountID,
        _ channel: String,
        _ last: String?,
        _ connection: PushConnection
    ) async -> EventStart? {
        do {
            guard let bounds = try await api.reads.orders.read({ try $0.eventBounds(of: account) }) else {
                let problem = Problem(.accountForbidden, "No account of the id \(account) exists here.")
                connection.send(SocketMessage.error(problem, to: nil, at: api.now()))
                return nil
            }
            return EventStart(lastID: last, bounds)
        } catch {
            fail(channel, account, connection)
            return nil
        }
    }

    /// Nobody goes on waiting for what does not come.
    private func fail(_ channel: String, _ account: AccountID, _ connection: PushConnection) {
        let problem = Problem(
            .busy,
            "\(channel) of \(account) has ended: the router stops, has no room for it, or cannot reach its database. Subscribe again."
        )
        connection.send(SocketMessage.error(problem, to: nil, at: api.now()))
    }

    private func portfolio(of account: AccountID) async throws -> PortfolioView? {
        guard let balances = try await api.reads.orders.read({ try $0.balances(of: account) }) else { return nil }
        var cash = Balance()
        var positions: [PortfolioView.Position] = []
        for (asset, balance) in balances {
            switch asset {
            case .cash: cash = balance
            case .shares(let symbol):
                let shares = (available: balance.available.units, held: balance.held.units, owed: balance.owed.units)
                let count = (shares.available + shares.held) / Amount.unitsPerOne
                if count == 0, shares.owed == 0 { continue }
                positions.append(
                    PortfolioView.Position(
                        symbol: symbol,
                        available: shares.available / Amount.unitsPerOne,
                        held: shares.held / Amount.unitsPerOne,
                        owed: shares.owed / Amount.unitsPerOne,
                        averageCost: count > 0 ? Amount.average(of: balance.cost, over: count) : nil,
                        price: price(of: symbol)
                    )
                )
            }
        }
        return PortfolioView(account: account, available: cash.available, held: cash.held, owed: cash.owed, positions: positions)
    }

    /// What this client may see of prices here as well.
    private func price(of symbol: Symbol) -> Amount? {
        guard seesPrices || seesDelayedPrices else { return nil }
        return (seesPrices ? api.prices.live : api.prices.delayed).listing(of: symbol)?.quote?.last
    }
}

extension PortfolioView {
    /// Whether more than prices have changed: those come on the channel of prices.
    fileprivate func isAnother(than shown: PortfolioView?) -> Bool {
        guard let shown else { return true }
        func holdings(_ view: PortfolioView) -> [[Int64]] { view.positions.map { [$0.available, $0.held, $0.owed] } }
        return shown.available != available || shown.held != held || shown.owed != owed || shown.positions.map(\.symbol) != positions.map(\.symbol)
            || holdings(shown) != holdings(self)
    }
}
