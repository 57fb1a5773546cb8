import Foundation
import Identity
import JourneySupport
import Testing

extension `The HTTP contract` {
    @Suite struct `Stocks and their history` {
        let served: Served

        init() throws { served = try Served.router() }

        private static let day: Int64 = 86_400_000

        /// Days of the symbol that ended yesterday, the last one with this close; all of them loaded by an operator's command.
        private func load(_ symbol: String, days: Int64, close: Int64) async throws {
            let today = Town.now() / Self.day
            var lines = ["symbol,time,open,high,low,close,volume"]
            for back in (1...days).reversed() {
                let day = Date(timeIntervalSince1970: Double((today - back) * 86_400)).formatted(.iso8601.year().month().day())
                // A day of its own stands out on either side.
                let (high, low) = (back == 40 ? close + 90 : close + 5, back == 45 ? close - 20 : close - 5)
                lines.append("\(symbol),\(day),\(close),\(high).00,\(low).00,\(close).50,\(1_000 + back)")
            }
            try await load(lines)
        }

        private func load(_ lines: [String]) async throws {
            let folder = try ScratchFolder()
            let file = try folder.write(lines.joined(separator: "\n"), to: "candles.csv")
            let loaded = try await served.town.operate("candles", "load", file, "--by", "ann")
            #expect(loaded.status == 0, "\(loaded.text)")
        }

        @Test func `tells what a symbol is and costs, and its change since the close before`() async throws {
            let client = try await served.client()
            try await load("XOM", days: 2, close: 100)
            let answer = try await client.get("/v1/stocks/XOM")
            #expect(answer.status == 200, "\(answer.text)")
            #expect(
                answer.names("") == [
                    "age_ms", "as_of", "ask", "bid", "change", "change_percent", "entitlement", "exchange", "high", "low", "market_state", "name",
                    "next_close", "next_open", "open", "previous_close", "price", "reason", "seq", "server_time", "state", "symbol", "volume",
                ]
            )
            // 117.80 after 100.50.
            let shown = ["symbol", "name", "price", "bid", "ask", "previous_close", "change", "change_percent", "market_state", "state"].map {
                answer[$0]
            }
            #expect(shown == ["XOM", "XOM", "117.80", "117.80", "117.82", "100.50", "17.30", "17.21", "OPEN", "LIVE"], "\(answer.text)")
            #expect(
                answer.text.contains(#""exchange":null"#) && answer.text.contains(#""next_open":null"#) && answer.text.contains(#""high":"117.80""#)
            )
            let unloaded = try await client.get("/v1/stocks/PFE")
            #expect(unloaded.text.contains(#""previous_close":null,"change":null,"change_percent":null"#), "\(unloaded.text)")
        }

        @Test func `tells a halt before the hours of the market`() async throws {
            let client = try await served.client()
            #expect(try await client.post("/v1/operator/halts", #"{"scope":"symbol","subject":"UBER","reason":"news pending"}"#).status == 200)
            let answer = try await client.get("/v1/stocks/UBER")
            #expect(answer["market_state"] == "HALTED" && answer["state"] == "HALTED" && answer["reason"] == "news pending", "\(answer.text)")
            #expect(try await client.delete("/v1/operator/halts?scope=symbol&subject=UBER").status == 200)
            #expect(try await client.get("/v1/stocks/UBER")["market_state"] == "OPEN")
        }

        @Test func `finds symbols by their beginning`() async throws {
            let client = try await served.client()
            try await served.eventually("the symbols of the feed") { try await client.get("/v1/symbols?query=pltr").count("symbols") == 1 }
            #expect(try await client.get("/v1/symbols?query=pltr").text == #"{"symbols":[{"symbol":"PLTR","name":"PLTR","exchange":null}]}"#)
            let found = try await client.get("/v1/symbols?query=m&limit=3")
            #expect([0, 1, 2].map { found["symbols.\($0).symbol"] } == ["MA", "META", "MRK"], "\(found.text)")
            #expect(try await client.get("/v1/symbols?query=nosuch").text == #"{"symbols":[]}"#)
            for query in ["", "?query=", "?query=a&limit=0", "?query=a&limit=51", "?query=a&q=b", "?query=\(String(repeating: "a", count: 65))"] {
                expect(try await client.get("/v1/symbols\(query)"), isProblem: "invalid_field", 400, outcome: "not_applicable")
            }
        }

        @Test func `draws a line of the points that were asked for, with the first, the last and the extremes`() async throws {
            let client = try await served.client()
            try await load("GE", days: 300, close: 200)
            let all = try await client.get("/v1/symbols/GE/history?range=1Y")
            #expect(all.status == 200, "\(all.text)")
            // Today is not over, and there where the router has written a minute of it.
            let count = all.count("points")
            #expect((300...301).contains(count))
            #expect(all["symbol"] == "GE" && all["range"] == "1Y" && all["interval"] == "1d" && all["downsampled"] == "none")
            #expect(all["source"]?.contains("loaded") == true)
            #expect(all.names("points.0") == ["close", "day", "high", "low", "open", "t", "volume"])
            #expect(all["points.0.close"] == "200.50" && all["points.0.volume"] == "1300", "\(all.text.prefix(300))")
            let few = try await client.get("/v1/symbols/GE/history?range=1Y&points=10")
            #expect(few.count("points") == 10 && few["downsampled"] == "lttb")
            #expect(few["points.0.day"] == all["points.0.day"] && few["points.9.t"] == all["points.\(count - 1).t"])
            #expect(few.text.contains(#""high":"290.00""#) && few.text.contains(#""low":"180.00""#), "\(few.text)")
            let month = try await client.get("/v1/symbols/GE/history?range=1M").count("points")
            #expect((31...32).contains(month))
            #expect(try await client.get("/v1/symbols/GE/history?range=MAX&points=2").count("points") == 2)
            let empty = try await client.get("/v1/symbols/BA/history?range=MAX")
            // At most the minute in which the router has met it.
            #expect(empty.status == 200 && empty.count("points") <= 1 && empty["downsampled"] == "none", "\(empty.text)")
        }

        @Test func `merges candles exactly and leaves gaps where nothing was traded`() async throws {
            let client = try await served.client()
            // Three minutes of one hour, and one of another.
            let hour = (Town.now() / 3_600_000 - 5) * 60
            func minute(_ number: Int64) -> String {
                Date(timeIntervalSince1970: Double(number * 60)).formatted(.iso8601).prefix(16) + "Z"
            }
            try await load(
                ["symbol,time,open,high,low,close,volume"]
                    + ([(0, "10,12,9,11,5"), (1, "11,15,11,14,6"), (59, "14,14,8,9,7"), (120, "20,21,19,20,8")] as [(Int64, String)]).map {
                        "INTC,\(minute(hour + $0.0)),\($0.1)"
                    }
            )
            let answer = try await client.get("/v1/stocks/INTC/history?interval=1h&period=5d")
            #expect(answer["points.0.t"] == String(hour * 60_000) && answer["points.1.t"] == String((hour + 120) * 60_000), "\(answer.text)")
            let first = ["open", "high", "low", "close", "volume"].map { answer["points.0.\($0)"] }
            #expect(first == ["10.00", "15.00", "8.00", "9.00", "18"], "\(answer.text)")
            #expect(answer["interval"] == "1h" && answer["period"] == "5d" && answer["downsampled"] == "none")
            let five = try await client.get("/v1/stocks/INTC/history?interval=5m&period=1d")
            #expect(
                ["open", "high", "low", "close", "volume"].map { five["points.0.\($0)"] } == ["10.00", "15.00", "9.00", "14.00", "11"],
                "\(five.text)"
            )
            #expect(try await client.get("/v1/stocks/INTC/history?interval=1m&period=1d").text.contains(#""high":"21.00""#))
        }

        @Test func `shows a delayed token what was a quarter of an hour ago, under a tag of its own`() async throws {
            let client = try await served.client()
            let minute = Town.now() / 60_000
            func row(_ back: Int64, _ price: Int) -> String {
                "ORCL,\(Date(timeIntervalSince1970: Double((minute - back) * 60)).formatted(.iso8601).prefix(16))Z,\(price),\(price),\(price),\(price),1"
            }
            try await load(["symbol,time,open,high,low,close,volume", row(40, 70), row(5, 90)])
            let token = try served.town.issuer.issue(
                subject: "late",
                accounts: [],
                scopes: [.marketDelayed],
                lifetime: .seconds(600),
                now: Town.now()
            )
            let late = client.with(token: token)
            for path in ["/v1/symbols/ORCL/history?range=1D", "/v1/stocks/ORCL/history?interval=1m&period=1d"] {
                let (now, then) = (try await client.get(path), try await late.get(path))
                #expect(now.status == 200 && then.status == 200, "\(then.text)")
                #expect(now.text.contains(#""close":"90.00""#) && now["entitlement"] == "REALTIME", "\(now.text)")
                #expect(then.text.contains(#""close":"70.00""#) && !then.text.contains(#""close":"90.00""#), "\(then.text)")
                let asOf = try #require(then["as_of"].flatMap { Int64($0) })
                #expect(asOf <= Town.now() - 900_000 && then["entitlement"] == "DELAYED")
                #expect(now.header("ETag") != then.header("ETag") && then.header("Vary") == "Authorization")
            }
            #expect(try await late.get("/v1/stocks/ORCL/history?interval=1d&period=1mo").status == 200)
        }

        @Test func `says how long an answer is good for, and nothing anew where the client has it`() async throws {
            let client = try await served.client()
            try await load("CSCO", days: 5, close: 50)
            let path = "/v1/symbols/CSCO/history?range=1M"
            let answer = try await client.get(path)
            let tag = try #require(answer.header("ETag"))
            #expect(tag.hasPrefix("\"") && tag.hasSuffix("\"") && tag.count == 26)
            let control = try #require(answer.header("Cache-Control"))
            let age = try #require(control.wholeMatch(of: /private, max-age=(\d+)/)?.1)
            #expect((1...305).contains(Int(age)!), "\(control)")
            let curl = ["curl", "-sS", "-i", "--max-time", "20", "-H", "Authorization: Bearer \(client.phone.token)", "-H"]
            let url = "http://127.0.0.1:\(served.port)\(path)"
            for given in [tag, "W/\(tag)", "\"other\", \(tag)", "*"] {
                let same = try await Program.run(curl + ["If-None-Match: \(given)", url])
                #expect(same.text.hasPrefix("HTTP/1.1 304 Not Modified") && same.text.contains("ETag: \(tag)"), "\(same.text)")
                // What it stands for has a length, an answer without a body has none.
                #expect(!same.text.contains("Content-Length") && !same.text.contains("points"), "\(same.text)")
            }
            #expect(try await Program.run(curl + ["If-None-Match: \"other\"", url]).text.hasPrefix("HTTP/1.1 200 OK"))
        }

        @Test func `refuses what it does not know, and says what it does`() async throws {
            let client = try await served.client()
            for path in [
                "/v1/stocks/NOSUCH", "/v1/stocks/nvda", "/v1/symbols/NOSUCH/history?range=1D", "/v1/stocks/NOSUCH/history?interval=1d&period=1y",
            ] {
                expect(try await client.get(path), isProblem: "unknown_symbol", 404, outcome: "not_applicable")
            }
            let wrong = [
                ("/v1/symbols/NVDA/history", "range", "1D, 1W, 1M, 1Y, MAX"), ("/v1/symbols/NVDA/history?range=2D", "range", "MAX"),
                ("/v1/symbols/NVDA/history?range=1D&points=1", "points", "2 to 2000"),
                ("/v1/symbols/NVDA/history?range=1D&points=2001", "points", "2 to 2000"),
                ("/v1/symbols/NVDA/history?range=1D&period=1d", "period", "range, points"),
                ("/v1/stocks/NVDA/history?interval=2m&period=1d", "interval", "1m, 5m, 1h, 1d"),
                ("/v1/stocks/NVDA/history?interval=1m", "period", "1mo"),
                ("/v1/stocks/NVDA/history?interval=1m&period=1mo", "period", "1d"),
                ("/v1/stocks/NVDA/history?interval=1d&period=1d", "period", "1mo, 3mo"),
                ("/v1/stocks/NVDA?range=1D", "range", "none"),
            ]
            for (path, field, words) in wrong {
                let answer = try await client.get(path)
                expect(answer, isProblem: "invalid_field", 400, outcome: "not_applicable")
                #expect(answer["field"] == field && answer["detail"]?.contains(words) == true, "\(answer.text)")
            }
            for path in ["/v1/symbols/NVDA", "/v1/stocks", "/v1/stocks/NVDA/history/x", "/v1/symbols/NVDA/quotes"] {
                expect(try await client.get(path), isProblem: "not_found", 404, outcome: "not_applicable")
            }
            #expect(try await client.post("/v1/stocks/NVDA").status == 405)
            let token = try served.town.issuer.issue(
                subject: "trader",
                accounts: [client.phone.account],
                scopes: [.ordersRead],
                lifetime: .seconds(600),
                now: Town.now()
            )
            for path in [
                "/v1/stocks/NVDA", "/v1/symbols?query=a", "/v1/symbols/NVDA/history?range=1D", "/v1/stocks/NVDA/history?interval=1d&period=1y",
            ] {
                expect(try await client.with(token: token).get(path), isProblem: "scope_missing", 403, outcome: "not_applicable")
            }
        }
    }
}
