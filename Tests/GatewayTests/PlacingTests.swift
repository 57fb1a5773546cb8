import Cryptography
import ExchangeSimulator
import Foundation
import JourneySupport
import Testing

extension `The HTTP contract` {
    @Suite struct `A placed order` {
        let served: Served

        init() throws { served = try Served.router() }

        @Test func `is answered 201 with exactly the published members and number forms`() async throws {
            let client = try await served.client()
            let draft = client.draft {
                $0.limit = "125.5"
                $0.quantity = "100"
                $0.total = "12550"
            }
            let before = Town.now()
            let answer = try await client.place(draft)
            #expect(answer.status == 201, "\(answer.text)")
            #expect(answer.header("Content-Type") == "application/json")
            let id = try #require(answer["order_id"])
            let createdAt = try #require(answer["created_at"].flatMap { Int64($0) })
            #expect((before - 1_000...Town.now() + 1_000).contains(createdAt))
            #expect(
                answer.text
                    == #"{"order_id":"\#(id)","status":"ACCEPTED","symbol":"NVDA","side":"BUY","quantity":100,"limit_price":125.50,"#
                    + #""reserved_funds_usd":12550.00,"created_at":\#(createdAt)}"#
            )
            #expect(answer.header("Location") == "/v1/trading/orders/\(id)")
            #expect(answer.header("Idempotency-Replayed") == nil)
            #expect(answer.header("X-Request-Id")?.isEmpty == false)
        }

        @Test func `gets its id from account and key alone`() async throws {
            let client = try await served.client()
            let time = Town.now()
            let draft = client.draft { $0.key = Draft.newKey(at: time) }
            let answer = try await client.place(draft)
            let folder = try ScratchFolder()
            let file = try folder.write("\(client.account)\n\(draft.key)", to: "identity")
            let digest = try await Program.run([
                "sh", "-c", "openssl dgst -sha256 -binary '\(file)' | head -c 16 | base32 | tr -d '=\\n' | tr A-Z a-z",
            ])
            let formatter = DateFormatter()
            formatter.dateFormat = "yyyyMMdd"
            formatter.timeZone = TimeZone(identifier: "UTC")
            let day = formatter.string(from: Date(timeIntervalSince1970: Double(time) / 1_000))
            #expect(answer["order_id"] == "ord_\(day)_\(digest.text)")
        }

        @Test(
            arguments: [
                ("MARKET", nil, nil, "DAY", "BUY"), ("STOP", nil, "130.00", "GTC", "BUY"), ("STOP_LIMIT", "131.0025", "130", "DAY", "BUY"),
                ("LIMIT", "100.00", nil, "IOC", "BUY"), ("LIMIT", "100.00", nil, "FOK", "BUY"), ("LIMIT", "150.00", nil, "GTC", "SELL"),
                ("STOP", nil, "100.00", "DAY", "SELL"),
            ] as [(String, String?, String?, String, String)]
        )
        func `may be of every type and time in force`(
            _ type: String,
            _ limit: String?,
            _ stop: String?,
            _ timeInForce: String,
            _ side: String
        ) async throws {
            let client = try await served.client()
            let draft = client.draft {
                ($0.type, $0.limit, $0.stop, $0.timeInForce, $0.side) = (type, limit, stop, timeInForce, side)
            }
            let answer = try await client.place(draft)
            #expect(answer.status == 201, "\(answer.text)")
            if limit == nil { #expect(answer.text.contains(#""limit_price":null"#)) }
            if side == "SELL" { #expect(answer.text.contains(#""reserved_funds_usd":0.00,"#)) }
            if type == "STOP_LIMIT" { #expect(answer.text.contains(#""limit_price":131.0025,"#)) }
            // MARKET: ask × 1.1, STOP: stop × 1.1, LIMIT: the limit; ten shares.
            if type == "MARKET" { #expect(answer.text.contains(#""reserved_funds_usd":1380.72,"#), "\(answer.text)") }
            if type == "STOP", side == "BUY" { #expect(answer.text.contains(#""reserved_funds_usd":1430.00,"#), "\(answer.text)") }
            let order = try await client.get("/v1/trading/orders/\(try #require(answer["order_id"]))")
            #expect(order["time_in_force"] == timeInForce)
            #expect(order["order_type"] == type)
        }

        @Test func `is answered again byte for byte, with its status now`() async throws {
            let client = try await served.client()
            let draft = client.draft()
            let first = try await client.place(draft)
            let id = try #require(first["order_id"])
            try await served.reached("WORKING", client, id)
            let written = try await served.written(client)
            // The same bytes; a new signature over fresh timestamps; another spelling; a key in quotes and in capitals.
            var respelt = draft.again
            respelt.limit = "\"100.0\""
            let spellings: [(Draft, [String: String], String?)] = [
                (draft, [:], nil), (draft.again, [:], nil), (respelt, [:], nil),
                (draft, ["Idempotency-Key": "\"\(draft.key)\""], nil), (draft, ["Idempotency-Key": draft.key.uppercased()], nil),
                (
                    draft, [:],
                    #" { "time_in_force" : "DAY", "quantity":10, "limit_price":100, "order_type":"LIMIT","side":"BUY","symbol":"NVDA","account_id":"\#(client.account)"}"#
                ),
            ]
            for (draft, headers, body) in spellings {
                let again = try await client.place(draft, headers: headers, body: body)
                #expect(again.status == 201, "\(again.text)")
                #expect(again.body == first.body)
                #expect(again.header("Location") == first.header("Location"))
                #expect(again.header("Content-Type") == first.header("Content-Type"))
                #expect(again.header("Idempotency-Replayed") == "true")
                #expect(again.header("X-Order-Status") == "WORKING")
            }
            #expect(try await served.written(client) == written)
            #expect(served.town.venue.ordersSeen(id) == 1)
        }

        @Test func `is answered again when the funds are spent, the clock is off and the phone is re-paired`() async throws {
            let client = try await served.client(cash: 1_000)
            let draft = client.draft()
            let first = try await client.place(draft)
            #expect(first.status == 201, "\(first.text)")
            // The same order under another key finds nothing left.
            expect(try await client.place(client.draft()), isProblem: "insufficient_funds", 422, outcome: "not_accepted", final: true)
            var late = draft
            (late.clientTime, late.quoteTime) = (Town.now() - 3_600_000, Town.now() - 3_600_000)
            #expect(try await client.place(late).body == first.body)
            let invalidated = try await client.delete("/v1/credentials/\(try #require(client.phone.credentialID))")
            #expect(invalidated["status"] == "INVALIDATED", "\(invalidated.text)")
            for who in [client, client.anonymous] {
                let again = try await who.place(draft.again)
                #expect(again.status == 201, "\(again.text)")
                #expect(again.body == first.body)
            }
            expect(try await client.place(client.draft()), isProblem: "credential_invalidated", 403, outcome: "unknown")
        }

        @Test func `is signed by openssl and sent by curl`() async throws {
            let client = try await served.client()
            let folder = try ScratchFolder()
            let draft = client.draft()
            let key = try folder.write(client.phone.key.pem(), to: "key.pem")
            let form = try folder.write(draft.form, to: "form")
            let signature = try await Program.run(["sh", "-c", "openssl dgst -sha256 -sign '\(key)' '\(form)' | base64 -w0"]).text
            Secrets.keep(signature)
            let arguments = [
                "http://127.0.0.1:\(served.port)/v1/trading/orders", "-H", "Authorization: Bearer \(client.phone.token)", "-H",
                "Content-Type: application/json; charset=utf-8", "-H", "Idempotency-Key: \(draft.key)", "-H", "X-Biometric-Signature: \(signature)",
                "-H", "X-Client-Timestamp: \(draft.clientTime)", "-H", "X-Quote-Reference-Timestamp: \(draft.quoteTime)", "-d", draft.body,
            ]
            let answer = try await Program.curl(arguments)
            #expect(answer.status == 201, "\(answer.head) \(answer.body)")
            #expect(answer.body.contains("\"status\":\"ACCEPTED\""))
        }
    }
}
