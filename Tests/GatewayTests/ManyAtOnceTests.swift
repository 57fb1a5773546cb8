import ExchangeSimulator
import Foundation
import JourneySupport
import Testing

extension `The HTTP contract` {
    @Suite struct `Many at once` {
        let served: Served

        init() throws { served = try Served.router() }

        /// - Parameter fresh: each is signed when it is sent; else exactly as it is.
        private func all(_ drafts: [(Client, Draft)], fresh: Bool = true) async throws -> [Phone.Answer] {
            try await withThrowingTaskGroup(of: (Int, Phone.Answer).self) { group in
                for (index, (client, draft)) in drafts.enumerated() { group.addTask { (index, try await client.place(fresh ? draft.again : draft)) } }
                var answers: [Int: Phone.Answer] = [:]
                for try await (index, answer) in group { answers[index] = answer }
                return drafts.indices.compactMap { answers[$0] }
            }
        }

        @Test func `a hundred buys with cash for ten are accepted exactly ten times`() async throws {
            let client = try await served.client(cash: 10_050)
            let answers = try await all((0..<100).map { _ in (client, client.draft()) })
            #expect(answers.count { $0.status == 201 } == 10)
            let refused = answers.filter { $0.status != 201 }
            for answer in refused { expect(answer, isProblem: "insufficient_funds", 422, outcome: "not_accepted", final: true) }
            #expect(refused.count == 90)
            let account = client.account
            #expect(try await served.number("SELECT count(*) FROM orders WHERE account_id = '\(account)'") == 10)
            #expect(try await served.number("SELECT available FROM balances WHERE account_id = '\(account)' AND asset = '$'") == 500_000)
        }

        @Test func `the same request fifty times is one order and fifty equal answers`() async throws {
            let client = try await served.client()
            let draft = client.draft()
            let answers = try await all(Array(repeating: (client, draft), count: 50), fresh: false)
            #expect(answers.count == 50)
            #expect(Set(answers.map(\.status)) == [201])
            #expect(Set(answers.map(\.body)).count == 1)
            #expect(Set(answers.map { $0.header("Location") }).count == 1)
            #expect(answers.count { $0.header("Idempotency-Replayed") == nil } == 1)
            #expect(try await served.number("SELECT count(*) FROM orders WHERE account_id = '\(client.account)'") == 1)
            try await served.reached("WORKING", client, try #require(answers[0]["order_id"]))
            #expect(served.town.venue.ordersSeen(try #require(answers[0]["order_id"])) == 1)
        }

        @Test func `two accounts with the same key are two orders, and neither learns of the other`() async throws {
            let (one, two) = (try await served.client(), try await served.client())
            let key = Draft.newKey()
            let drafts = [one.draft { $0.key = key }, two.draft { ($0.key, $0.quantity) = (key, "20") }]
            let answers = try await all([(one, drafts[0]), (two, drafts[1])])
            #expect(answers.map(\.status) == [201, 201])
            #expect(answers[0]["order_id"] != answers[1]["order_id"])
            #expect(answers.allSatisfy { $0.header("Idempotency-Replayed") == nil })
            for (client, answer) in [(one, answers[0]), (two, answers[1])] {
                let found = try await client.get("/v1/trading/orders/by-key/\(key)")
                #expect(found["order.order_id"] == answer["order_id"])
                #expect(found["order.account_id"] == client.account)
            }
            let third = try await served.client()
            expect(try await third.get("/v1/trading/orders/by-key/\(key)"), isProblem: "key_unknown", 404, outcome: "unknown")
            let foreign = try await third.get("/v1/trading/orders/\(try #require(answers[0]["order_id"]))")
            expect(foreign, isProblem: "not_found", 404, outcome: "not_applicable")
            let cancel = try await third.delete("/v1/trading/orders/\(try #require(answers[0]["order_id"]))")
            expect(cancel, isProblem: "not_found", 404, outcome: "not_applicable")
        }

        @Test func `the same key with other bodies is one order, and 422 for all others names it`() async throws {
            let client = try await served.client()
            let key = Draft.newKey()
            let answers = try await all((1...20).map { number in (client, client.draft { ($0.key, $0.quantity) = (key, String(number)) }) })
            let accepted = answers.filter { $0.status == 201 }
            #expect(accepted.count == 1)
            let others = answers.filter { $0.status != 201 }
            #expect(others.count == 19)
            for answer in others {
                expect(answer, isProblem: "idempotency_key_reused", 422, outcome: "accepted", final: true)
                #expect(answer["order_id"] == accepted.first?["order_id"])
            }
        }

        @Test func `a fence that races its order leaves one truth`() async throws {
            for _ in 0..<10 {
                let client = try await served.client()
                let draft = client.draft()
                async let fencing = client.post("/v1/trading/orders/by-key/\(draft.key)/fence")
                async let placing = client.place(draft)
                let (fenced, placed) = (try await fencing, try await placing)
                #expect(fenced.status == 200)
                if placed.status == 201 {
                    #expect(fenced["outcome"] == "accepted")
                    #expect(fenced["order.order_id"] == placed["order_id"])
                } else {
                    expect(placed, isProblem: "key_fenced", 409, outcome: "not_accepted", final: true)
                    #expect(fenced["outcome"] == "not_accepted")
                    #expect(fenced["fenced"] == "true")
                }
            }
        }
    }
}
