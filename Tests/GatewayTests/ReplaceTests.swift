import Cryptography
import Foundation
import JourneySupport
import Testing

/// A replace as the author of a client writes it from the published contract alone.
private struct ReplaceDraft {
    let order: String
    var quantity: String
    var limit: String?
    var stop: String?
    var key = Draft.newKey()
    var clientTime = Town.now()
    var quoteTime = Town.now()

    init(_ order: String, to quantity: Int, at limit: String? = "100.00", stop: String? = nil) {
        self.order = order
        self.quantity = String(quantity)
        self.limit = limit
        self.stop = stop
    }

    var body: String {
        var members = [#""quantity":\#(quantity)"#]
        if let limit { members.append(#""limit_price":\#(limit)"#) }
        if let stop { members.append(#""stop_price":\#(stop)"#) }
        return "{" + members.joined(separator: ",") + "}"
    }

    func form(_ account: String) -> String {
        [
            "TRADING-REPLACE-V1", "account_id=\(account)", "order_id=\(order)", "quantity=\(quantity)",
            "limit_price=\(limit.map { $0 + "00" } ?? "")",
            "stop_price=\(stop.map { $0 + "00" } ?? "")", "idempotency_key=\(key)", "client_timestamp=\(clientTime)",
            "quote_reference_timestamp=\(quoteTime)",
        ].joined(separator: "\n")
    }
}

extension Client {
    fileprivate func replace(_ draft: ReplaceDraft, signed form: String? = nil, body: String? = nil) async throws -> Phone.Answer {
        let signature = Data(try phone.key.sign(Array((form ?? draft.form(account)).utf8))).base64EncodedString()
        Secrets.keep(signature)
        let headers = [
            "Authorization": "Bearer \(phone.token)", "Content-Type": "application/json", "Idempotency-Key": draft.key,
            "X-Biometric-Signature": signature, "X-Client-Timestamp": String(draft.clientTime),
            "X-Quote-Reference-Timestamp": String(draft.quoteTime),
        ]
        let path = "/v1/trading/orders/\(draft.order)"
        return try await Phone.exchange("PATCH", path, port: port, headers: headers, body: Array((body ?? draft.body).utf8))
    }
}

extension `The HTTP contract` {
    @Suite struct `A replace` {
        let served: Served

        init() throws { served = try Served.router() }

        /// A limit order that rests at the venue.
        private func resting(_ client: Client, _ change: (inout Draft) -> Void = { _ in }) async throws -> String {
            let id = try #require(try await client.place(client.draft(change))["order_id"])
            try await served.reached("WORKING", client, id)
            return id
        }

        private func told(_ reader: EventReader, until type: String) async throws -> [EventReader.Frame] {
            try await reader.frames(until: type) { $0.data.contains(#""type":"\#(type)""#) }
        }

        @Test func `is a request whose outcome is an event, and the venue has one order under a new id`() async throws {
            let client = try await served.client()
            let id = try await resting(client)
            let reader = try await EventReader(client).opened()
            let draft = ReplaceDraft(id, to: 25, at: "101.50")
            let answer = try await client.replace(draft)
            #expect(answer.status == 202, "\(answer.text)")
            #expect(
                answer.text
                    == #"{"order_id":"\#(id)","replace_id":"\#(id)-r1","status":"REPLACE_REQUESTED","quantity":25,"limit_price":101.50,"stop_price":null,"reserved_funds_usd":2537.50}"#
            )
            let frames = try await told(reader, until: "replaced")
            #expect(frames.map { $0.answer["type"] } == ["replace_requested", "replaced"])
            #expect(frames[0].answer["order.quantity"] == "10" && frames[0].data.contains(#""limit_price":100.00"#))
            #expect(frames[1].answer["order.quantity"] == "25" && frames[1].data.contains(#""limit_price":101.50"#))
            let order = try await client.get("/v1/trading/orders/\(id)")
            #expect(order["quantity"] == "25" && order["status"] == "WORKING" && order.text.contains(#""reserved_funds_usd":2537.50"#))
            // The first answer again, under the key and by key.
            let again = try await client.replace(draft)
            #expect(again.body == answer.body && again.status == 202 && again.header("Idempotency-Replayed") == "true")
            let byKey = try await client.get("/v1/trading/orders/by-key/\(draft.key)")
            #expect(byKey["status"] == "202" && byKey["outcome"] == "accepted" && byKey["answer.replace_id"] == "\(id)-r1")
            #expect(try await served.number("SELECT count(*) FROM fix_sent WHERE order_id = '\(id)' AND msg_type = 'G'") == 1)
            // A cancel names the order as the venue has it now.
            _ = try await client.delete("/v1/trading/orders/\(id)")
            try await served.reached("CANCELLED", client, id)
            let cancel = try await served.number(
                "SELECT count(*) FROM fix_sent WHERE order_id = '\(id)' AND msg_type = 'F' AND position(convert_to('41=\(id)-r1', 'UTF8') IN body) > 0"
            )
            #expect(cancel == 1)
        }

        @Test func `tells events from before it as they were`() async throws {
            let client = try await served.client()
            let reader = try await EventReader(client).opened()
            let id = try await resting(client)
            let first = try await told(reader, until: "working")
            _ = try await client.replace(ReplaceDraft(id, to: 5))
            _ = try await told(reader, until: "replaced")
            let generation = try #require(first[0].id?.split(separator: "-").first)
            let whole = try await EventReader(client, lastID: "\(generation)-0").opened()
            let all = try await told(whole, until: "replaced")
            #expect(all.prefix(3).map(\.data) == first.suffix(3).map(\.data))
            #expect(all.map { $0.answer["order.quantity"] } == ["10", "10", "10", "10", "5"])
        }

        @Test func `that the venue refuses, or that comes too late, ends in a definite event`() async throws {
            let client = try await served.client()
            let reader = try await EventReader(client).opened()
            let refused = try await resting(client) { $0.symbol = "NVDA.NOREPL" }
            _ = try await client.replace(ReplaceDraft(refused, to: 50))
            let frames = try await told(reader, until: "replace_rejected")
            #expect(frames.last?.answer["order.quantity"] == "10" && frames.last?.answer["order.status"] == "WORKING")
            #expect(frames.last?.data.contains(#""reserved_funds_usd":1000.00"#) == true)
            let late = try await resting(client) { $0.symbol = "NVDA.TOOLATE" }
            _ = try await client.replace(ReplaceDraft(late, to: 20))
            let end = try await told(reader, until: "replace_rejected")
            #expect(end.last?.answer["order.order_id"] == late)
            try await served.reached("FILLED", client, late)
        }

        @Test func `crossed by a fill counts what is filled`() async throws {
            let client = try await served.client()
            let reader = try await EventReader(client).opened()
            let id = try await resting(client) { $0.symbol = "NVDA.CROSS" }
            _ = try await client.replace(ReplaceDraft(id, to: 8))
            let frames = try await told(reader, until: "replaced")
            let last = try #require(frames.last)
            // Half of ten was filled on the way: three are left of eight.
            #expect(last.answer["order.filled_quantity"] == "5" && last.answer["order.quantity"] == "8")
            #expect(last.answer["order.status"] == "PARTIALLY_FILLED" && last.data.contains(#""reserved_funds_usd":300.00"#))
        }

        @Test func `is signed over what the order becomes, and a signature for anything else is none`() async throws {
            let client = try await served.client()
            let id = try await resting(client)
            let draft = ReplaceDraft(id, to: 12)
            expect(
                try await client.replace(draft, body: #"{"quantity":13,"limit_price":100.00}"#),
                isProblem: "signature_invalid",
                403,
                outcome: "unknown"
            )
            let order = client.draft { $0.key = draft.key }
            expect(try await client.replace(draft, signed: order.form), isProblem: "signature_invalid", 403, outcome: "unknown")
            #expect(try await client.replace(draft).status == 202)
            // The key belongs to the replace: an order under it is told so, and another replace as well.
            let taken = try await client.place(order)
            expect(taken, isProblem: "idempotency_key_reused", 422, outcome: "accepted", final: true)
            try await served.eventually("the venue's word") {
                try await served.number("SELECT count(*) FROM orders WHERE order_id = '\(id)' AND quantity = 12") == 1
            }
            var other = ReplaceDraft(id, to: 14)
            other.key = draft.key
            expect(try await client.replace(other), isProblem: "idempotency_key_reused", 422, outcome: "accepted", final: true)
        }

        @Test(
            arguments: [
                (#"{"limit_price":100.00}"#, "quantity"), (#"{"quantity":5}"#, "limit_price"), (#"{"quantity":5,"limit_price":0}"#, "limit_price"),
                (#"{"quantity":5,"limit_price":100.00,"stop_price":90.00}"#, "stop_price"),
                (#"{"quantity":5,"limit_price":100.00,"side":"SELL"}"#, "side"),
                (#"{"quantity":0,"limit_price":100.00}"#, "quantity"), (#"{"quantity":5,"limit_price":999999999999999}"#, "limit_price"),
            ]
        )
        func `of a wrong form names the field`(_ body: String, _ field: String) async throws {
            let client = try await served.client()
            let id = try #require(try await client.place(client.draft())["order_id"])
            let answer = try await client.replace(ReplaceDraft(id, to: 5), body: body)
            expect(answer, isProblem: "invalid_field", 400, outcome: "unknown")
            #expect(answer["field"] == field, "\(answer.text)")
        }

        @Test func `of what has ended, or of nobody's order, is refused and burns nothing`() async throws {
            let client = try await served.client()
            let id = try await resting(client)
            _ = try await client.delete("/v1/trading/orders/\(id)")
            try await served.reached("CANCELLED", client, id)
            let draft = ReplaceDraft(id, to: 5)
            expect(try await client.replace(draft), isProblem: "order_not_open", 409, outcome: "not_accepted", final: false)
            #expect(try await client.get("/v1/trading/orders/by-key/\(draft.key)").status == 404)
            let stranger = try await served.client()
            expect(try await stranger.replace(ReplaceDraft(id, to: 5)), isProblem: "not_found", 404, outcome: "not_applicable")
        }
    }

    @Suite struct `All of an account's orders` {
        let served: Served

        init() throws { served = try Served.router() }

        private func place(_ client: Client, _ count: Int, symbol: String = "NVDA") async throws -> Set<String> {
            var ids: Set<String> = []
            for _ in 0..<count { ids.insert(try #require(try await client.place(client.draft { $0.symbol = symbol })["order_id"])) }
            return ids
        }

        private func open(_ client: Client) async throws -> Int64 {
            try await served.number("SELECT count(*) FROM orders WHERE account_id = '\(client.account)' AND status IN (1, 2, 3, 4, 9)")
        }

        @Test func `are cancelled by one request, which names each and asks once`() async throws {
            let (client, other) = (try await served.client(), try await served.client())
            let ids = try await place(client, 5)
            let kept = try await place(other, 1)
            let answer = try await client.delete("/v1/trading/orders?account_id=\(client.account)")
            #expect(answer.status == 202 && answer["account_id"] == client.account && answer.count("orders") == 5, "\(answer.text)")
            #expect(Set((0..<5).compactMap { answer["orders.\($0).order_id"] }) == ids)
            #expect(answer["orders.0.cancel_id"]?.hasSuffix("-c1") == true)
            try await served.eventually("all cancelled") { try await open(client) == 0 }
            #expect(try await client.delete("/v1/trading/orders").count("orders") == 0)
            #expect(try await open(other) == Int64(kept.count))
        }

        @Test func `are named again when the answer was lost, while the venue has not answered`() async throws {
            let client = try await served.client()
            let ids = try await place(client, 3, symbol: "NVDA.MUTE")
            // An order that is not numbered yet needs no word of the venue: its cancel ends it at once.
            let routed = "SELECT count(*) FROM orders WHERE account_id = '\(client.account)' AND status = 2"
            try await served.eventually("all numbered") { try await served.number(routed) == 3 }
            let first = try await client.delete("/v1/trading/orders?account_id=\(client.account)")
            let again = try await client.delete("/v1/trading/orders?account_id=\(client.account)")
            #expect(first.count("orders") == 3 && again.text == first.text, "\(again.text)")
            #expect(Set((0..<3).compactMap { again["orders.\($0).order_id"] }) == ids)
        }

        @Test func `are cancelled when their client falls silent, not while it pushes the timer back`() async throws {
            let client = try await served.client()
            _ = try await place(client, 3)
            let armed = try await client.post("/v1/trading/cancel-all-after", #"{"timeout_ms":60000}"#)
            #expect(armed.status == 200, "\(armed.text)")
            let (now, at) = (Int64(armed["now"] ?? "") ?? 0, Int64(armed["cancels_at"] ?? "") ?? 0)
            #expect(at - now == 60_000)
            let disarmed = try await client.post("/v1/trading/cancel-all-after", #"{"timeout_ms":0}"#)
            #expect(disarmed.text.contains(#""cancels_at":null"#))
            #expect(try await served.number("SELECT count(*) FROM cancel_timers WHERE account_id = '\(client.account)'") == 0)
            #expect(try await open(client) == 3)
            _ = try await client.post("/v1/trading/cancel-all-after", #"{"account_id":"\#(client.account)","timeout_ms":1000}"#)
            try await served.eventually("the timer's cancels") { try await open(client) == 0 }
            let told = "SELECT count(*) FROM log WHERE account_id = '\(client.account)' AND type = 5 AND reason = 'cancel_all_after'"
            #expect(try await served.number(told) == 3)
            #expect(try await served.number("SELECT count(*) FROM cancel_timers WHERE account_id = '\(client.account)'") == 0)
            for body in [#"{"timeout_ms":999}"#, #"{"timeout_ms":86400001}"#, #"{"timeout_ms":"5000"}"#, "{}"] {
                expect(try await client.post("/v1/trading/cancel-all-after", body), isProblem: "invalid_field", 400, outcome: "unknown")
            }
            let stranger = #"{"account_id":"acc_nobody","timeout_ms":5000}"#
            expect(try await client.post("/v1/trading/cancel-all-after", stranger), isProblem: "account_forbidden", 403, outcome: "unknown")
        }
    }
}
