import ExchangeSimulator
import OrderDesk
import Storage
import Testing
import Trading

@Suite struct `One order` {
    @Test func `goes round the circle once and books its fill`() async throws {
        let circle = try Circle()
        try await circle.run { circle in
            let account = try await circle.account("acc_one", cash: 100_000)
            try await circle.ready()
            let ask = try #require(circle.venue.quote(of: "NVDA")).ask
            let limit = try #require(ask.adding(Amount(units: 10_000)))
            let verdict = await circle.place(account, Circle.limit(.buy, 100, limit.description))
            guard case .accepted(let record) = verdict else {
                Issue.record("\(verdict)")
                return
            }
            let events = try await circle.events(of: account) { $0.order.status == .filled }
            #expect(events.map(\.type) == [.accepted, .routed, .working, .fill])
            #expect(events.map(\.number) == [1, 2, 3, 4])
            #expect(events.last?.lastPrice == ask)
            #expect(circle.venue.ordersSeen(try #require(record.orderID).text) == 1)
            let balances = try #require(try await circle.readers.read { try $0.balances(of: account) })
            #expect(balances[0].balance.available.units == Amount(whole: 100_000)!.units - ask.units * 100)
            #expect(balances[0].balance.held == .zero)
            #expect(balances[1].balance.available == Amount(whole: 100))
        }
    }
}
