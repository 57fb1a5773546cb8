import JourneySupport
import Postgres
import Storage
import TestSupport
import Testing

/// Prices and orders have connections of their own to the database: what is slow on one side is not slow on the other.
@Suite(.serialized) struct `Reads of the market` {
    @Test func `hold up no order, however many and however slow they are`() async throws {
        try await Served.run { served in
            let client = try await served.client()
            let draft = client.draft()
            let id = try #require(try await client.place(draft)["order_id"])
            let symbols = ["NVDA", "AAPL", "MSFT", "AMZN", "META", "TSLA", "V", "MA", "HD", "KO", "T", "F"]
            let histories = ["/v1/symbols/%/history?range=1Y", "/v1/symbols/%/history?range=1D", "/v1/stocks/%/history?interval=1h&period=1mo"]
            let answers = try await whileCandlesAreLocked(served) { flood in
                flood.ask(client, symbols.flatMap { symbol in histories.map { $0.replacing("%", with: symbol) } })
                try await served.eventually("every connection for history to be taken") { try await waiting(served, "history") == 2 }
                #expect(try await client.get("/v1/trading/orders").count("orders") == 1)
                #expect(try await client.get("/v1/trading/orders/\(id)")["order_id"] == id)
                #expect(try await client.get("/v1/trading/orders/by-key/\(draft.key)").status == 200)
                #expect(try await client.place(draft.again)["order_id"] == id)
                #expect(try await client.place(client.draft()).status == 201)
                #expect(try await client.get("/v1/quotes?symbols=NVDA")["quotes.0.state"] == "LIVE")
                #expect(try await client.get("/readyz").status == 200)
                // Prices that need candles as well take the connections for prices, and none of the orders'.
                flood.ask(client, symbols.map { "/v1/stocks/\($0)" })
                try await served.eventually("every connection for prices to be taken") { try await waiting(served, "prices") == 2 }
                #expect(try await client.get("/v1/trading/orders").count("orders") == 2)
                #expect(try await client.delete("/v1/trading/orders/\(id)").status == 202)
                // All of that while the others have waited.
                #expect(try await waiting(served, "history") == 2)
            }
            // Who has waited for too long is told so, and nobody anything else.
            #expect(answers.count == 48 && Set(answers).isSubset(of: ["200", "503"]) && answers.contains("200"), "\(answers)")
        }
    }

    @Test func `of what many look at are one, and beyond their line are refused with when to come again`() async throws {
        try await Served.run { served in
            let client = try await served.client()
            let path = "/v1/symbols/NVDA/history?range=1M"
            let answers = try await whileCandlesAreLocked(served) { flood in
                // A hundred who ask the same take one connection, and whoever asks something else has the other.
                flood.ask(client, Array(repeating: path, count: 100))
                try await served.eventually("a hundred clients") { try await metric(client, "order_router_connections") >= 100 }
                #expect(try await waiting(served, "history") == 1)
                // Each of these is another question: one gets the other connection, and 200 stand in line.
                flood.ask(client, (2..<232).map { "\(path)&points=\($0)" })
                try await served.eventually("refusals") { try await metric(client, #"order_router_problems_total{code="busy"}"#) >= 29 }
                let refused = try await client.get("\(path)&points=500")
                expect(refused, isProblem: "busy", 503, outcome: "not_applicable")
                #expect(refused.header("Retry-After") == "1")
                #expect(try await waiting(served, "history") == 2)
            }
            #expect(answers.count == 330 && Set(answers).isSubset(of: ["200", "503"]), "\(Set(answers))")
            // On a slow machine somebody in line may have waited for too long.
            #expect(answers.count { $0 == "503" } >= 29 && answers.count { $0 == "200" } > 100, "\(answers.count { $0 == "200" })")
        }
    }

    /// Requests that are under way beside the test, by curl: of each the status.
    private final class Flood: Sendable {
        private let (questions, asked) = AsyncStream<(client: Client, paths: [String])>.makeStream()

        func ask(_ client: Client, _ paths: [String]) { asked.yield((client, paths)) }
        func end() { asked.finish() }

        func answers() async throws -> [String] {
            try await withThrowingTaskGroup(of: [String].self) { group in
                for await (client, paths) in questions {
                    group.addTask {
                        let folder = try ScratchFolder()
                        let requests = paths.map { path in
                            """
                            url = "http://127.0.0.1:\(client.port)\(path)"
                            header = "Authorization: Bearer \(client.phone.token)"
                            output = "/dev/null"
                            write-out = "%{http_code}\\n"
                            max-time = 30
                            """
                        }
                        let file = try folder.write(requests.joined(separator: "\nnext\n"), to: "requests")
                        let many = ["--parallel", "--parallel-immediate", "--parallel-max", "300"]
                        return try await Program.run(["curl", "-sS"] + many + ["-K", file]).text.split(separator: "\n").map(String.init)
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
        }
    }

    /// Runs the body while whoever reads candles waits, then lets them go on; what has become of the flood.
    private func whileCandlesAreLocked(_ served: Served, _ body: (Flood) async throws -> Void) async throws -> [String] {
        let lock = try served.town.database.connect()
        try lock.execute("BEGIN")
        try lock.execute("LOCK TABLE candles_1m, candles_1d")
        let flood = Flood()
        async let answers = flood.answers()
        do {
            try await body(flood)
        } catch {
            flood.end()
            try lock.execute("ROLLBACK")
            throw error
        }
        flood.end()
        try lock.execute("ROLLBACK")
        return try await answers
    }

    /// The router's connections of this kind that wait for the lock on the candles, with a read or while they are made.
    private func waiting(_ served: Served, _ kind: String) async throws -> Int64 {
        try await served.number(
            """
            SELECT count(*) FROM pg_stat_activity
            WHERE wait_event_type = 'Lock' AND datname = current_database() AND application_name = 'order-router \(kind)'
            """
        )
    }

    private func metric(_ client: Client, _ name: String) async throws -> Double {
        let lines = try await client.get("/metrics").text.split(separator: "\n")
        return lines.first { $0.hasPrefix(name + " ") }.flatMap { Double($0.dropFirst(name.count + 1)) } ?? 0
    }
}
