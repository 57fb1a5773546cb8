import ExchangeSimulator
import FIX
import Foundation
import JourneySupport
import OrderDesk
import Postgres
import Storage
import Synchronization
import Testing
import Trading

/// Steps that journeys through faults are told in.
extension Circle {
    static func terms(
        _ side: Side,
        _ quantity: Int64,
        _ symbol: String = "NVDA",
        _ type: OrderType = .market,
        _ timeInForce: TimeInForce = .day,
        limit: String? = nil,
        stop: String? = nil
    ) -> OrderTerms {
        OrderTerms(
            symbol: Symbol(symbol)!,
            side: side,
            type: type,
            timeInForce: timeInForce,
            quantity: quantity,
            limitPrice: limit.map { Amount($0)! },
            stopPrice: stop.map { Amount($0)! }
        )
    }

    /// Places an order that must be accepted.
    func accepted(_ account: AccountID, _ terms: OrderTerms, _ place: SourceLocation = #_sourceLocation) async throws -> OrderID {
        let verdict = await self.place(account, terms)
        guard case .accepted(let record) = verdict, let id = record.orderID else {
            Issue.record("not accepted: \(verdict)", sourceLocation: place)
            throw TimedOut(what: "acceptance")
        }
        return id
    }

    func cancel(_ order: OrderID, of account: AccountID) async -> Verdict { await queue.decide(.cancel(order, of: account)) }

    func order(_ id: OrderID, of account: AccountID) async throws -> OrderState {
        try #require(try await readers.read { try $0.order(id, of: account) })
    }

    /// The account's events until one of this order satisfies.
    @discardableResult
    func events(of account: AccountID, _ id: OrderID, until isEnd: @escaping @Sendable (OrderState) -> Bool) async throws -> [EventRecord] {
        try await events(of: account) { $0.order.id == id && isEnd($0.order) }.filter { $0.order.id == id }
    }

    @discardableResult
    func events(of account: AccountID, _ id: OrderID, until status: OrderStatus) async throws -> [EventRecord] {
        try await events(of: account, id) { $0.status == status }
    }

    func balance(_ account: AccountID, _ asset: Asset = .cash) async throws -> Balance {
        let all = try #require(try await readers.read { try $0.balances(of: account) })
        return all.first { $0.asset == asset }?.balance ?? Balance()
    }

    /// The first column of a query, as text.
    func texts(_ sql: String) async throws -> [String] {
        try await readers.texts(sql)
    }

    /// Looks again and again until what is awaited is so; that it never is, is a failure.
    func until(_ what: String, _ isSo: @Sendable () async throws -> Bool) async throws { try await eventually(what, isSo) }

    /// Waits until the alarms of an order, or of none, are of this kind, among others.
    func alarmed(_ kind: String, _ order: OrderID?) async throws {
        try await until("the alarm \(kind)") { [self] in
            try await texts("SELECT kind FROM alarms WHERE \(order.map { "order_id = '\($0.text)'" } ?? "true")").contains(kind)
        }
    }

    func quiet() async throws { try await readers.quiet() }

    func verify() async throws { try await readers.verify(venue) }

    /// What the venue sends by hand: an ExecutionReport about an order; `changes` replace fields or, with nil, leave them out.
    func report(_ order: OrderState, _ execID: String, _ execType: String, _ changes: [FIXTag: String?] = [:]) -> FIXMessage {
        var fields: [(FIXTag, String)] = [
            (.orderID, "X-\(order.id.text)"), (.clOrdID, order.id.text), (.execID, execID), (.execType, execType), (.ordStatus, "0"),
            (.symbol, order.terms.symbol.text), (.side, String(order.terms.side.rawValue)), (.orderQty, String(order.terms.quantity)),
            (.lastQty, "1"), (.lastPx, "100.00"), (.leavesQty, "0"), (.cumQty, "0"), (.avgPx, "0"),
            (.transactTime, FIXTime.text(Self.now())), (.tradeDate, FIXTime.dateText(Self.now())),
        ]
        for (tag, value) in changes {
            fields.removeAll { $0.0 == tag }
            if let value { fields.append((tag, value)) }
        }
        var message = FIXMessage(.executionReport)
        for (tag, value) in fields { message.append(tag, value) }
        return message
    }

    func inject(_ message: FIXMessage) throws { try venue.inject(message, to: "ORDERS") }

    /// The number under which the venue first received this order or cancel request.
    func number(of clOrdID: String) async throws -> Int {
        let venue = venue
        try await until("\(clOrdID) at the venue") { venue.receipts.contains { $0.clOrdID == clOrdID } }
        return try #require(venue.receipts.first { $0.clOrdID == clOrdID }).number
    }
}
