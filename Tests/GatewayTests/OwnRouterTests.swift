import ExchangeSimulator
import Foundation
import JourneySupport
import Postgres
import Storage
import TestSupport
import Testing

/// Routers with settings, halts and faults that other tests could not live with.
@Suite struct `A router of its own` {
    @Test func `limits the requests of an account and of an address`() async throws {
        try await Served.run(["ORDER_ROUTER_ACCOUNT_RATE": "1/3", "ORDER_ROUTER_ADDRESS_RATE": "1/30"]) { served in
            let (one, two) = (try await served.client(), try await served.client())
            var limited: Phone.Answer?
            var accepted = 0
            for _ in 0..<10 where limited == nil {
                let answer = try await one.place(one.draft())
                if answer.status == 201 { accepted += 1 } else { limited = answer }
            }
            let answer = try #require(limited)
            expect(answer, isProblem: "rate_limited", 429, outcome: "unknown")
            #expect(accepted >= 3)
            let seconds = try #require(answer.header("Retry-After").flatMap { Int($0) })
            #expect((1...2).contains(seconds))
            #expect(answer.header("RateLimit-Limit") == "1" && answer.header("RateLimit-Remaining") == "0")
            #expect(answer.header("RateLimit-Reset").flatMap { Int($0) } == seconds)
            // Token before rate, rate before signature.
            let stranger = try await one.place(one.draft(), headers: ["Authorization": "Bearer x"])
            expect(stranger, isProblem: "token_invalid", 401, outcome: "unknown")
            var unsigned = stranger
            for _ in 0..<20 where unsigned["code"] != "rate_limited" {
                // On a slow machine the account may have an allowance again; then it is the signature's turn.
                unsigned = try await one.place(one.draft(), headers: ["X-Biometric-Signature": "AAAA"])
            }
            expect(unsigned, isProblem: "rate_limited", 429, outcome: "unknown")
            // Another account of the same address goes on until the address has had enough.
            #expect(try await two.place(two.draft()).status == 201)
            var three = two
            for number in 0..<200 {
                // Three of each account, which its own limit admits.
                if number % 3 == 0 { three = try await served.client() }
                let answer = try await three.place(three.draft())
                if answer.status == 201 { continue }
                expect(answer, isProblem: "rate_limited", 429, outcome: "unknown")
                return
            }
            Issue.record("The address was never limited.")
        }
    }

    @Test func `is not ready without its venue, and accepts nothing new`() async throws {
        try await Served.run { served in
            let client = try await served.client()
            let draft = client.draft()
            let first = try await client.place(draft)
            let id = try #require(first["order_id"])
            try await served.reached("WORKING", client, id)
            served.town.venue.refuseConnections(true)
            served.town.venue.disconnectAll()
            try await served.eventually("not ready") { try await client.get("/readyz").status == 503 }
            #expect(try await client.get("/readyz").text.hasPrefix(#"{"ready":false,"database":true,"migrations":true,"venue":false,"market_data":"#))
            #expect(try await client.get("/healthz").status == 200)
            let refused = client.draft { $0.symbol = "NOSUCH" }
            let answer = try await client.place(refused)
            expect(answer, isProblem: "venue_unavailable", 503, outcome: "not_accepted")
            #expect(answer.header("Retry-After") != nil)
            #expect(try await client.place(draft.again).body == first.body)
            // A cancel is taken; it waits for the venue.
            #expect(try await client.delete("/v1/trading/orders/\(id)").status == 202)
            // A halt comes before the venue's session.
            #expect(try await client.post("/v1/operator/halts", #"{"scope":"venue","reason":"outage"}"#).status == 200)
            #expect(try await client.post("/v1/operator/halts", #"{"scope":"symbol","subject":"NOSUCH","reason":"news"}"#).status == 200)
            let halted = try await client.place(refused.again)
            expect(halted, isProblem: "trading_halted", 503, outcome: "not_accepted")
            #expect(halted["halt.scope"] == "venue")
            #expect(try await client.delete("/v1/operator/halts?scope=venue").status == 200)
            #expect(try await client.place(refused.again)["halt.scope"] == "symbol")
            served.town.venue.refuseConnections(false)
            try await served.eventually("ready again") { try await client.get("/readyz").status == 200 }
            try await served.reached("CANCELLED", client, id)
            try await served.priced()
            #expect(try await client.place(client.draft()).status == 201)
        }
    }

    @Test func `says when a calendar has no holidays left to tell`() async throws {
        let folder = try ScratchFolder()
        let day = Date(timeIntervalSince1970: Double(Town.now() / 1_000 + 10 * 86_400)).formatted(.iso8601.year().month().day())
        let hours = "hours OPEN 00:00-24:00\n"
        let calendars = try folder.write("exchange XNYS UTC\n\(hours)closed \(day)\nexchange XNAS UTC\n\(hours)", to: "days")
        try await Served.run(["ORDER_ROUTER_CALENDARS": calendars]) { served in
            #expect(served.router.log.contains { $0.contains("level=warning event=calendar_ends exchange=XNYS last_day=\(day)") })
            #expect(!served.router.log.contains { $0.contains("exchange=XNAS") })
            let answer = try await Phone.exchange("GET", "/metrics", port: served.port)
            let gauge = try #require(answer.text.split(separator: "\n").first { $0.hasPrefix("order_router_calendar_days_left{") })
            // Midnight may have passed.
            #expect([10, 9].map { #"order_router_calendar_days_left{exchange="XNYS"} \#($0)"# }.contains(String(gauge)))
            // What a body of Served expects of a log: somebody asked.
            try await served.listed()
        }
    }

    @Test func `that is live gives a venue that says it is a test system no order`() async throws {
        let town = try await Town(accounts: 1)
        try await town.run { town in
            let router = try town.router(["ORDER_ROUTER_LIVE": "yes"])
            try await eventually("the refusal of the venue") { router.log.contains { $0.contains("464=Y") && $0.contains("event=trouble") } }
            // It logs on to it again and again, and sends nothing.
            #expect(town.venue.receivedCount == 0)
            router.signal(SIGTERM)
            await router.ended()
        }
    }

    @Test func `accepts nothing after a halt has been answered`() async throws {
        try await Served.run { served in
            var clients: [Client] = []
            for _ in 0..<8 { clients.append(try await served.client()) }
            let seen = Watched((isHalted: false, refused: 0, wrong: [String]()))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for client in clients {
                    group.addTask {
                        for _ in 0..<2_000 {
                            // Begun after the halt was answered: it must not be accepted.
                            let isLate = seen.now.isHalted
                            let answer = try await client.place(client.draft { $0.quantity = "1" })
                            guard isLate else { continue }
                            seen.change { if answer["code"] == "trading_halted" { $0.refused += 1 } else { $0.wrong.append(answer.text) } }
                            return
                        }
                    }
                }
                let accounts = clients.map { "'\($0.account)'" }.joined(separator: ",")
                try await served.eventually("orders") {
                    try await served.number("SELECT count(*) FROM orders WHERE account_id IN (\(accounts))") > 30
                }
                let answer = try await clients[0].post("/v1/operator/halts", #"{"scope":"venue","reason":"kill switch"}"#)
                #expect(answer.status == 200, "\(answer.text)")
                let count = try await served.number("SELECT count(*) FROM orders")
                seen.change { $0.isHalted = true }
                try await group.waitForAll()
                #expect(seen.now.wrong == [])
                #expect(seen.now.refused == clients.count)
                #expect(try await served.number("SELECT count(*) FROM orders") == count)
            }
        }
    }

    @Test func `is busy when its queue is full, and takes the same request later`() async throws {
        let settings = [
            "ORDER_ROUTER_LANES": "1", "ORDER_ROUTER_QUEUE_CAPACITY": "1", "ORDER_ROUTER_BATCH_CAP": "1",
            // However long this machine takes until the lock is gone, quotes are not what is refused here.
            "ORDER_ROUTER_STALE_AFTER": "60s",
        ]
        try await Served.run(settings) { served in
            let client = try await served.client()
            let lock = try served.town.database.connect()
            try lock.execute("BEGIN")
            try lock.execute("SELECT 1 FROM shards FOR UPDATE")
            // One is with the lane, one waits: of eight that come together six and more find no room, whichever they are.
            var busy: [Draft] = []
            var taken = 0
            try await withThrowingTaskGroup { group in
                for _ in 0..<8 {
                    let draft = client.draft()
                    group.addTask { (draft, try await client.place(draft)) }
                }
                while let (draft, answer) = try await group.next() {
                    if answer.status == 201 {
                        taken += 1
                    } else {
                        expect(answer, isProblem: "busy", 503, outcome: "unknown")
                        #expect(answer.header("Retry-After") != nil)
                        busy.append(draft)
                    }
                    if busy.count == 6, taken == 0 { try lock.execute("ROLLBACK") }
                }
            }
            #expect((1...2).contains(taken))
            for draft in busy { #expect(try await client.place(draft.again).status == 201) }
            #expect(try await served.number("SELECT count(*) FROM orders") == 8)
        }
    }

    @Test func `whose commit is not confirmed looks it up, and says what it found`() async throws {
        let database = try TestDatabase()
        let proxy = try PostgresProxy(to: database.url)
        defer { proxy.stop() }
        let town = try await Town(accounts: 0, through: proxy.url, database: database)
        try await Served.run(town: town) { served in
            let client = try await served.client()
            for cut: PostgresProxy.Cut in [.afterServer, .beforeServer] {
                proxy.cut(cut, at: "insert_keys")
                let draft = client.draft()
                let answer = try await client.place(draft)
                #expect(answer.status == 201, "\(answer.text)")
                #expect(try await client.place(draft.again).body == answer.body)
            }
            #expect(proxy.cuts == 2)
            #expect(try await served.number("SELECT count(*) FROM orders") == 2)
        }
    }

    @Test func `says that an outcome is unknown when it is, and the next router knows it`() async throws {
        let database = try TestDatabase()
        let proxy = try PostgresProxy(to: database.url)
        let town = try await Town(accounts: 0, through: proxy.url, database: database)
        try await town.run { town in
            let router = try town.router()
            let port = try #require(await router.ready(), "\(router.log)")
            let first = Served(town: town, router: router, port: port)
            try await first.priced()
            let client = try await first.client()
            #expect(try await client.place(client.draft()).status == 201)
            proxy.cut(.afterServer, at: "insert_keys")
            let draft = client.draft()
            async let answering = client.place(draft)
            try await first.eventually("the cut") { proxy.cuts == 1 }
            // The database is gone before anyone could look.
            proxy.stop()
            let answer = try await answering
            expect(answer, isProblem: "outcome_unknown", 503, outcome: "unknown")
            #expect(answer.header("Location") == "/v1/trading/orders/by-key/\(draft.key)")
            #expect(answer["key"] == draft.key)
            // Nothing was sent to be committed: that is certain.
            expect(try await client.place(client.draft()), isProblem: "busy", 503, outcome: "unknown")
            let ready = try await client.get("/readyz")
            #expect(ready.status == 503 && ready.text.hasPrefix(#"{"ready":false,"database":false,"migrations":false,"venue":false,"market_data":"#))
            #expect(try await client.get("/healthz").status == 200)
            #expect(try await client.get("/metrics").text.contains("order_router_database_up 0\n"))
            expect(try await client.get("/v1/trading/orders"), isProblem: "busy", 503, outcome: "not_applicable")
            router.signal(SIGKILL)
            await router.ended()
            try await Served.run(["ORDER_ROUTER_DATABASE_URL": database.url], in: town) { second in
                let client = Client(phone: client.phone, port: second.port)
                let found = try await client.get(try #require(answer.header("Location")))
                #expect(found["outcome"] == "accepted")
                let again = try await client.place(draft.again)
                #expect(again.status == 201 && again.header("Idempotency-Replayed") == "true", "\(again.text)")
                #expect(again["order_id"] == found["order.order_id"])
                #expect(try await second.number("SELECT count(*) FROM orders") == 2)
            }
        }
    }

    @Test func `answers what is pending when it is stopped`() async throws {
        try await Served.run { served in
            let client = try await served.client()
            let draft = client.draft()
            let lock = try served.town.database.connect()
            try lock.execute("BEGIN")
            try lock.execute("SELECT 1 FROM shards FOR UPDATE")
            async let answering = client.place(draft)
            try await served.blocked()
            served.router.signal(SIGTERM)
            try await served.eventually("the end of accepting") { served.router.log.contains { $0.contains("event=ending") } }
            try lock.execute("ROLLBACK")
            let answer = try await answering
            #expect(answer.status == 201, "\(answer.text)")
            await served.router.ended()
            #expect(try await served.number("SELECT count(*) FROM orders") == 1)
            // What it had no time to send, the next one does: nothing is left under way.
            try await Served.run(in: served.town) { next in
                let again = try await Client(phone: client.phone, port: next.port).place(draft.again)
                #expect(again.body == answer.body)
            }
        }
    }

    @Test func `shares keys, revocations and halts with a router beside it at once`() async throws {
        try await Served.run { one in
            // Orders go out through one session, whose lease one router holds; each has a market-data session of its own.
            try await Served.run(["ORDER_ROUTER_MARKET_DATA_SENDER_COMP_ID": "QUOTES2"], in: one.town) { two in
                let here = try await one.client()
                let there = Client(phone: here.phone, port: two.port)
                // One request at both at once is one order.
                let draft = here.draft()
                async let first = here.place(draft)
                async let second = there.place(draft)
                let (answer, other) = (try await first, try await second)
                #expect(answer.status == 201 && answer.body == other.body)
                // What one fences, the other knows.
                let fenced = here.draft()
                #expect(try await here.post("/v1/trading/orders/by-key/\(fenced.key)/fence").status == 200)
                expect(try await there.place(fenced), isProblem: "key_fenced", 409, outcome: "not_accepted", final: true)
                // What one halts, the other accepts no more.
                #expect(try await here.post("/v1/operator/halts", #"{"scope":"symbol","subject":"AAPL","reason":"news"}"#).status == 200)
                let halted = there.draft { ($0.symbol, $0.limit) = ("AAPL", "200.00") }
                expect(try await there.place(halted), isProblem: "trading_halted", 503, outcome: "not_accepted")
                #expect(try await there.delete("/v1/operator/halts?scope=symbol&subject=AAPL").status == 200)
                #expect(try await here.place(halted.again).status == 201)
                // Events of orders placed there are told here.
                let reader = try await EventReader(here).opened()
                let id = try #require(try await there.place(there.draft())["order_id"])
                _ = try await reader.frames(until: "the other router's order") { $0.data.contains(id) && $0.data.contains("\"working\"") }
                // What one invalidates signs nothing new at the other.
                #expect(try await here.delete("/v1/credentials/\(try #require(here.phone.credentialID))").status == 200)
                expect(try await there.place(there.draft()), isProblem: "credential_invalidated", 403, outcome: "unknown")
                #expect(try await there.place(draft.again).body == answer.body)
            }
        }
    }

    @Test func `keeps its log free of secrets, and a leak would be seen`() async throws {
        Secrets.keep("a-secret-that-only-this-test-knows")
        #expect(try await Secrets.leaks(in: ["time=1 token=a-secret-that-only-this-test-knows end"]) != "")
        #expect(try await Secrets.leaks(in: ["time=1 token=that-only-this-test-knows end"]) != "")
        #expect(try await Secrets.leaks(in: ["time=1 nothing=here"]) == "")
    }
}
