import Foundation
import Identity
import JourneySupport
import Testing
import Trading

extension `The HTTP contract` {
    @Suite struct `Keys and orders` {
        let served: Served

        init() throws { served = try Served.router() }

        static let orderMembers = [
            "account_id", "average_price", "created_at", "filled_quantity", "idempotency_key", "limit_price", "order_id", "order_type", "quantity",
            "reason", "reserved_funds_usd", "side", "status", "stop_price", "symbol", "time_in_force", "updated_at",
        ]

        @Test func `a key that was never seen is unknown, and may still come`() async throws {
            let client = try await served.client()
            let draft = client.draft()
            let answer = try await client.get("/v1/trading/orders/by-key/\(draft.key)")
            expect(answer, isProblem: "key_unknown", 404, outcome: "unknown")
            #expect(answer["key"] == draft.key)
            #expect(try await client.place(draft.again).status == 201)
        }

        @Test func `a key that became an order tells the first answer and the order now`() async throws {
            let client = try await served.client()
            let draft = client.draft()
            let first = try await client.place(draft)
            let id = try #require(first["order_id"])
            try await served.reached("WORKING", client, id)
            for answer in [
                try await client.get("/v1/trading/orders/by-key/\(draft.key)"),
                try await client.get("/v1/trading/orders/by-key/\(draft.key.uppercased())?account_id=\(client.account)"),
                try await client.post("/v1/trading/orders/by-key/\(draft.key)/fence"),
            ] {
                #expect(answer.status == 200, "\(answer.text)")
                #expect(answer["outcome"] == "accepted")
                #expect(answer["final"] == "true")
                #expect(answer["fenced"] == "false")
                #expect(answer["status"] == "201")
                #expect(answer.text.contains(first.text))
                #expect(answer["order.status"] == "WORKING")
                #expect(answer.names("order") == Self.orderMembers)
            }
            // A fence does not take an order back.
            #expect(try await client.place(draft).body == first.body)
        }

        @Test func `a key that was refused for good tells so`() async throws {
            let client = try await served.client(cash: 1)
            let draft = client.draft()
            let first = try await client.place(draft)
            for answer in [
                try await client.get("/v1/trading/orders/by-key/\(draft.key)"), try await client.post("/v1/trading/orders/by-key/\(draft.key)/fence"),
            ] {
                #expect(answer.status == 200, "\(answer.text)")
                #expect(answer["outcome"] == "not_accepted")
                #expect(answer["status"] == "422")
                #expect(answer.text.contains(first.text))
                #expect(answer["order"] == nil)
            }
        }

        @Test func `a fenced key can never become an order`() async throws {
            let client = try await served.client()
            let draft = client.draft()
            for _ in 0..<2 {
                let answer = try await client.post("/v1/trading/orders/by-key/\(draft.key)/fence")
                #expect(answer.status == 200, "\(answer.text)")
                #expect(answer["outcome"] == "not_accepted")
                #expect(answer["final"] == "true")
                #expect(answer["fenced"] == "true")
            }
            let placed = try await client.place(draft)
            expect(placed, isProblem: "key_fenced", 409, outcome: "not_accepted", final: true)
            let found = try await client.get("/v1/trading/orders/by-key/\(draft.key)")
            #expect(found["fenced"] == "true")
            // Fenced comes before what is wrong with clock and market.
            var late = draft
            (late.clientTime, late.symbol) = (1, "NOSUCH")
            expect(try await client.place(late), isProblem: "key_fenced", 409, outcome: "not_accepted", final: true)
            #expect(try await served.number("SELECT count(*) FROM orders WHERE account_id = '\(client.account)'") == 0)
        }

        @Test func `an order is shown with all its members, absent ones null`() async throws {
            let client = try await served.client()
            let draft = client.draft()
            let id = try #require(try await client.place(draft)["order_id"])
            try await served.reached("WORKING", client, id)
            let order = try await client.get("/v1/trading/orders/\(id)")
            #expect(order.status == 200)
            #expect(order.header("Content-Type") == "application/json")
            #expect(order.names() == Self.orderMembers)
            let (created, updated) = (try #require(order["created_at"]), try #require(order["updated_at"]))
            #expect(
                order.text
                    == #"{"order_id":"\#(id)","account_id":"\#(client.account)","idempotency_key":"\#(draft.key)","symbol":"NVDA","side":"BUY","#
                    + #""order_type":"LIMIT","limit_price":100.00,"stop_price":null,"time_in_force":"DAY","quantity":10,"filled_quantity":0,"#
                    + #""average_price":null,"status":"WORKING","reason":null,"reserved_funds_usd":1000.00,"created_at":\#(created),"updated_at":\#(updated)}"#
            )
        }

        @Test func `a filled order shows its average price and holds nothing`() async throws {
            let client = try await served.client()
            let draft = client.draft { ($0.type, $0.limit) = ("MARKET", nil) }
            let id = try #require(try await client.place(draft)["order_id"])
            try await served.reached("FILLED", client, id)
            let order = try await client.get("/v1/trading/orders/\(id)")
            #expect(order["filled_quantity"] == "10")
            #expect(order.text.contains(#""average_price":125.52"#), "\(order.text)")
            #expect(order.text.contains(#""reserved_funds_usd":0.00"#))
            let again = try await client.place(draft)
            #expect(again.header("X-Order-Status") == "FILLED")
            #expect(again.text.contains(#""status":"ACCEPTED""#))
            let cancel = try await client.delete("/v1/trading/orders/\(id)")
            expect(cancel, isProblem: "order_not_open", 409, outcome: "accepted", final: true)
            #expect(cancel["order.status"] == "FILLED")
            #expect(cancel["order.order_id"] == id)
        }

        @Test func `a cancel is a request that is asked once`() async throws {
            let client = try await served.client()
            // Reports of this symbol come late, so that the cancel stays pending for a while.
            let draft = client.draft { $0.symbol = "NVDA.LATE" }
            let id = try #require(try await client.place(draft)["order_id"])
            try await served.reached("WORKING", client, id)
            let answers = [try await client.delete("/v1/trading/orders/\(id)"), try await client.delete("/v1/trading/orders/\(id)")]
            for answer in answers {
                #expect(answer.status == 202, "\(answer.text)")
                #expect(answer.text == #"{"order_id":"\#(id)","cancel_id":"\#(id)-c1","status":"CANCEL_REQUESTED"}"#)
            }
            try await served.reached("CANCELLED", client, id)
            let ended = try await client.delete("/v1/trading/orders/\(id)")
            expect(ended, isProblem: "order_not_open", 409, outcome: "accepted", final: true)
            #expect(ended["order.status"] == "CANCELLED")
            #expect(ended.text.contains(#""reserved_funds_usd":0.00"#))
            #expect(try await served.number("SELECT count(*) FROM fix_sent WHERE order_id = '\(id)' AND msg_type = 'F'") == 1)
            let replay = try await client.place(draft)
            #expect(replay.status == 201 && replay.header("X-Order-Status") == "CANCELLED")
        }

        @Test func `a cancel that the venue refuses may be asked anew`() async throws {
            let client = try await served.client()
            let id = try #require(try await client.place(client.draft { $0.symbol = "NVDA.NOCXL" })["order_id"])
            try await served.reached("WORKING", client, id)
            #expect(try await client.delete("/v1/trading/orders/\(id)")["cancel_id"] == "\(id)-c1")
            try await served.eventually("the cancel's refusal") {
                try await served.number("SELECT count(*) FROM orders WHERE order_id = '\(id)' AND NOT cancel_pending") == 1
            }
            #expect(try await client.get("/v1/trading/orders/\(id)")["status"] == "WORKING")
            #expect(try await client.delete("/v1/trading/orders/\(id)")["cancel_id"] == "\(id)-c2")
        }

        @Test func `reading needs orders:read, cancelling and fencing orders:write`() async throws {
            let client = try await served.client()
            let draft = client.draft()
            let id = try #require(try await client.place(draft)["order_id"])
            func with(_ scope: String) throws -> Client {
                client.with(
                    token: try served.town.issuer.issue(
                        subject: "person",
                        accounts: [client.phone.account],
                        scopes: [.init(rawValue: scope)!],
                        lifetime: .seconds(600),
                        now: Town.now()
                    )
                )
            }
            let (reader, writer) = (try with("orders:read"), try with("orders:write"))
            let orders = "/v1/trading/orders"
            for path in ["\(orders)/\(id)", orders, "\(orders)/by-key/\(draft.key)", "\(orders)/events"] {
                expect(try await writer.get(path), isProblem: "scope_missing", 403, outcome: path.contains("by-key") ? "unknown" : "not_applicable")
                if !path.hasSuffix("events") { #expect(try await reader.get(path).status == 200) }
            }
            expect(try await reader.delete("\(orders)/\(id)"), isProblem: "scope_missing", 403, outcome: "unknown")
            expect(try await reader.post("\(orders)/by-key/\(draft.key)/fence"), isProblem: "scope_missing", 403, outcome: "unknown")
            #expect(try await writer.delete("\(orders)/\(id)").status == 202)
        }

        @Test func `a token of two accounts names the one that it means`() async throws {
            let (one, two) = (try await served.client(), try await served.client())
            let token = try served.town.issuer.issue(
                subject: "adviser",
                accounts: [one.phone.account, two.phone.account],
                scopes: [.ordersRead, .ordersWrite],
                lifetime: .seconds(600),
                now: Town.now()
            )
            let (first, second) = (one.with(token: token), two.with(token: token))
            let draft = first.draft()
            let id = try #require(try await first.place(draft)["order_id"])
            for path in ["/v1/trading/orders", "/v1/trading/orders/by-key/\(draft.key)", "/v1/trading/orders/events"] {
                let answer = try await second.get(path)
                expect(answer, isProblem: "invalid_field", 400, outcome: path.contains("by-key") ? "unknown" : "not_applicable")
                #expect(answer["field"] == "account_id")
            }
            #expect(try await second.get("/v1/trading/orders/\(id)")["account_id"] == one.account)
            #expect(try await second.get("/v1/trading/orders?account_id=\(one.account)").count("orders") == 1)
            #expect(try await second.get("/v1/trading/orders?account_id=\(two.account)").count("orders") == 0)
        }

        @Test func `orders are listed newest first, filtered, and page by page`() async throws {
            let client = try await served.client()
            var ids: [String] = []
            for number in 0..<7 {
                let draft = client.draft { ($0.symbol, $0.limit) = (number % 2 == 0 ? "NVDA" : "AAPL", "90.00") }
                ids.insert(try #require(try await client.place(draft)["order_id"]), at: 0)
            }
            let orders = "/v1/trading/orders"
            try await served.eventually("all work") { try await client.get("\(orders)?status=WORKING").count("orders") == 7 }
            _ = try await client.delete("\(orders)/\(ids[0])")
            try await served.reached("CANCELLED", client, ids[0])
            let whole = try await client.get(orders)
            // Two orders of one millisecond stand in the order of their ids.
            let listed = (0..<7).compactMap { whole["orders.\($0).order_id"] }
            let times = (0..<7).compactMap { whole["orders.\($0).created_at"].flatMap { Int($0) } }
            #expect(Set(listed) == Set(ids))
            #expect(times == times.sorted(by: >))
            #expect(whole["next"] == nil && whole.text.hasSuffix(#""next":null}"#))
            #expect(whole.names("orders.0") == Self.orderMembers)
            var (walked, after, pages) = ([String](), "", 0)
            repeat {
                let page = try await client.get("\(orders)?limit=3&after=\(after)")
                walked += (0..<page.count("orders")).compactMap { page["orders.\($0).order_id"] }
                after = page["next"] ?? ""
                pages += 1
            } while !after.isEmpty && pages < 10
            #expect(walked == listed)
            #expect(pages == 3)
            let second = try await client.get("\(orders)?limit=3&page=2")
            #expect((0..<3).compactMap { second["orders.\($0).order_id"] } == Array(listed[3..<6]))
            #expect(try await client.get("\(orders)?symbol=AAPL").count("orders") == 3)
            #expect(try await client.get("\(orders)?status=CANCELLED")["orders.0.order_id"] == ids[0])
            #expect(try await client.get("\(orders)?status=FILLED").text == #"{"orders":[],"next":null}"#)
            #expect(try await client.get("\(orders)?status=WORKING&symbol=NVDA&limit=500").count("orders") == 3)
        }
    }
}
