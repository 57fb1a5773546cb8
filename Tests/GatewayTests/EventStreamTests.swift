import Foundation
import Identity
import JourneySupport
import Postgres
import Storage
import Testing

extension `The HTTP contract` {
    @Suite struct `An event stream` {
        let served: Served

        init() throws { served = try Served.router() }

        private func number(_ id: String?) -> Int { id.flatMap { Int($0.split(separator: "-").last ?? "") } ?? -1 }

        /// A market buy that fills, or a limit that rests.
        private func place(_ client: Client, market: Bool = true) async throws -> String {
            let draft = client.draft { if market { ($0.type, $0.limit) = ("MARKET", nil) } }
            return try #require(try await client.place(draft)["order_id"])
        }

        @Test func `tells each event once, numbered without a gap`() async throws {
            let client = try await served.client()
            let reader = try await EventReader(client).opened()
            let head = reader.watched.now.head
            #expect(head.first?.contains("200") == true)
            #expect(head.contains { $0.hasPrefix("content-type: text/event-stream") })
            #expect(head.contains("cache-control: no-store"))
            let first = try await place(client)
            let second = try await place(client, market: false)
            try await served.reached("WORKING", client, second)
            _ = try await client.delete("/v1/trading/orders/\(second)")
            let frames = try await reader.frames(until: "the cancel") { $0.data.contains(#""type":"cancelled""#) }
            #expect(frames.map { number($0.id) } == Array(1...frames.count))
            #expect(Set(frames.map { $0.id?.split(separator: "-").first }).count == 1)
            #expect(frames.allSatisfy { $0.event == nil })
            let told = frames.map { ($0.answer["order.order_id"], $0.answer["type"]) }
            #expect(told.filter { $0.0 == first }.map(\.1) == ["accepted", "routed", "working", "fill"])
            #expect(told.filter { $0.0 == second }.map(\.1) == ["accepted", "routed", "working", "cancel_requested", "cancelled"])
            let fill = try #require(frames.first { $0.answer["type"] == "fill" })
            #expect(fill.answer.names() == ["at", "last_price", "last_quantity", "order", "type"])
            #expect(fill.data.contains(#""last_quantity":10,"last_price":125.52,"#), "\(fill.data)")
            #expect(fill.answer.names("order") == `Keys and orders`.orderMembers)
            #expect(fill.answer["order.status"] == "FILLED")
            #expect(frames[0].data.contains(#""last_quantity":null,"last_price":null"#))
        }

        @Test func `resumes after the last id, and begins now without one`() async throws {
            let client = try await served.client()
            let before = try await EventReader(client).opened()
            let first = try await place(client)
            let seen = try await before.frames(until: "the fill") { $0.data.contains(#""type":"fill""#) }
            before.stop()
            #expect(seen.count == 4)
            let generation = try #require(seen[0].id?.split(separator: "-").first)
            let fresh = try await EventReader(client).opened()
            let resumed = try await EventReader(client, lastID: seen[1].id).opened()
            let whole = try await EventReader(client, query: "?account_id=\(client.account)", lastID: "\(generation)-0").opened()
            let second = try await place(client)
            let isEnd: @Sendable (EventReader.Frame) -> Bool = { $0.data.contains(#""type":"fill""#) && $0.data.contains(second) }
            #expect(try await fresh.frames(until: "the second fill", isEnd).map { number($0.id) } == [5, 6, 7, 8])
            #expect(try await resumed.frames(until: "the second fill", isEnd).map { number($0.id) } == [3, 4, 5, 6, 7, 8])
            let all = try await whole.frames(until: "the second fill", isEnd)
            #expect(all.map { number($0.id) } == Array(1...8))
            // Told again, an event is the same.
            #expect(all.prefix(4).map(\.data) == seen.map(\.data))
            #expect(all[0].answer["order.order_id"] == first)
        }

        @Test func `is reset for an id that is foreign, ahead, or no id`() async throws {
            let client = try await served.client()
            let empty = try await EventReader(client, lastID: "77-5").opened()
            #expect(try await empty.frames(until: "a reset") { $0.event == "reset" }.map(\.data) == [#"{"oldest":null,"latest":null}"#])
            let id = try await place(client)
            try await served.reached("FILLED", client, id)
            let generation = try await served.number("SELECT generation FROM event_generation")
            for lastID in ["\(generation + 1)-2", "\(generation)-5", "\(generation)--1", "nonsense", "\(generation)-99999999999999999999"] {
                let reader = try await EventReader(client, lastID: lastID).opened()
                let frames = try await reader.frames(until: "a reset") { $0.event == "reset" }
                #expect(frames.map(\.data) == [#"{"oldest":"\#(generation)-1","latest":"\#(generation)-4"}"#], "\(lastID)")
                #expect(frames[0].id == nil)
            }
        }

        @Test func `is reset for an id that is no longer kept, and goes on from now`() async throws {
            let client = try await served.client()
            let id = try await place(client)
            try await served.reached("FILLED", client, id)
            let generation = try await served.number("SELECT generation FROM event_generation")
            let account = client.phone.account
            try await served.town.readers.read { database in
                // What the sweep does after seven days.
                let connection = try database.connection()
                try connection.execute("DELETE FROM log WHERE account_id = '\(account)' AND event_number <= 2")
                try connection.execute("UPDATE accounts SET oldest_event = 3 WHERE account_id = '\(account)'")
            }
            let kept = try await EventReader(client, lastID: "\(generation)-2").opened()
            #expect(try await kept.frames(until: "the fill") { $0.data.contains("\"fill\"") }.map { number($0.id) } == [3, 4])
            let old = try await EventReader(client, lastID: "\(generation)-1").opened()
            _ = try await place(client)
            let frames = try await old.frames(until: "the next order's fill") { $0.data.contains("\"fill\"") }
            #expect(frames[0].event == "reset")
            #expect(frames[0].data == #"{"oldest":"\#(generation)-3","latest":"\#(generation)-4"}"#)
            #expect(frames.dropFirst().map { number($0.id) } == [5, 6, 7, 8])
        }

        @Test func `ends when its token does`() async throws {
            let client = try await served.client()
            // 30 s of leeway: two seconds are left.
            let token = try served.town.issuer.issue(
                subject: "person",
                accounts: [client.phone.account],
                scopes: [.ordersRead],
                lifetime: .seconds(-28),
                now: Town.now()
            )
            let reader = try await EventReader(client.with(token: token)).opened()
            let lasting = try await EventReader(client).opened()
            let state = try await reader.ended()
            #expect(state.frames.isEmpty)
            #expect(lasting.watched.now.hasEnded == false)
            expect(try await client.with(token: token).get("/v1/trading/orders/events"), isProblem: "token_expired", 401, outcome: "not_applicable")
        }

        @Test func `reaches two readers alike, and tells nobody of another account`() async throws {
            let (client, other) = (try await served.client(), try await served.client())
            let readers = [try await EventReader(client).opened(), try await EventReader(client).opened()]
            let foreign = try await EventReader(other).opened()
            _ = try await place(client)
            let own = try await place(other)
            let told = try await withThrowingTaskGroup(of: [String].self) { group in
                for reader in readers { group.addTask { try await reader.frames(until: "a fill") { $0.data.contains("\"fill\"") }.map(\.data) } }
                return try await group.reduce(into: [[String]]()) { $0.append($1) }
            }
            #expect(told[0] == told[1] && told[0].count == 4)
            let frames = try await foreign.frames(until: "its own fill") { $0.data.contains("\"fill\"") }
            #expect(frames.allSatisfy { $0.data.contains(own) })
        }

        @Test func `answers other methods and readers without rights`() async throws {
            let client = try await served.client()
            let path = "/v1/trading/orders/events"
            let head = try await Program.run(
                [
                    "curl", "-sS", "-I", "--max-time", "20", "-H", "Authorization: Bearer \(client.phone.token)",
                    "http://127.0.0.1:\(served.port)\(path)",
                ]
            )
            #expect(head.status == 0 && head.text.contains("200 OK") && head.text.contains("text/event-stream"))
            for method in ["POST", "DELETE", "PUT"] {
                let answer = try await client.phone.send(method, path, port: served.port)
                expect(answer, isProblem: "method_not_allowed", 405, outcome: "not_applicable")
                #expect(answer.header("Allow") == "GET, HEAD")
            }
            expect(try await client.get("\(path)/1"), isProblem: "not_found", 404, outcome: "not_applicable")
            expect(try await client.get("\(path)?since=1"), isProblem: "invalid_field", 400, outcome: "not_applicable")
            expect(try await client.get("\(path)?account_id=acc_other"), isProblem: "account_forbidden", 403, outcome: "not_applicable")
            let answer = try await Phone.exchange("GET", path, port: served.port)
            expect(answer, isProblem: "token_invalid", 401, outcome: "not_applicable")
        }
    }
}

/// These have routers of their own, with settings that others could not live with.
@Suite struct `An event stream of a router` {
    @Test func `that is silent beats, and says goodbye when the router stops`() async throws {
        try await Served.run(["ORDER_ROUTER_STREAM_HEARTBEAT": "1s"]) { served in
            let client = try await served.client()
            let reader = try await EventReader(client).opened()
            // The first comment opens the stream; those after it are the beats.
            _ = try await reader.watched.wait(for: "two heartbeats") { $0.comments.count >= 3 }
            #expect(reader.watched.now.frames.isEmpty)
            served.router.signal(SIGTERM)
            let state = try await reader.ended()
            #expect(state.comments.count >= 3)
            await served.router.ended()
        }
    }

    @Test func `cuts a reader that takes nothing, and resumes it where it was`() async throws {
        try await Served.run { served in
            let client = try await served.client(cash: 100_000_000)
            let reader = try await EventReader(client).opened()
            reader.freeze()
            // More than the buffers on the way hold: some 500 KB of events.
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<200 { group.addTask { _ = try await client.place(client.draft { ($0.type, $0.limit) = ("MARKET", nil) }) } }
                try await group.waitForAll()
            }
            // Others are served meanwhile.
            let lively = try await EventReader(client, lastID: "\(try await served.number("SELECT generation FROM event_generation"))-0").opened()
            let account = client.account
            try await served.eventually("all fills") {
                try await served.number("SELECT last_event FROM accounts WHERE account_id = '\(account)'") == 800
            }
            let all = try await lively.watched.wait(for: "all events") { $0.frames.count >= 800 }.frames
            try await served.eventually("the cut") {
                try await Phone.exchange("GET", "/metrics", port: served.port).text.contains("order_router_streams_cut_total 1")
            }
            reader.thaw()
            let seen = try await reader.ended().frames
            #expect(seen.count < 800)
            let last = try #require(seen.last?.id)
            let resumed = try await EventReader(client, lastID: last).opened()
            let rest = try await resumed.watched.wait(for: "the rest") { $0.frames.count >= 800 - seen.count }.frames
            #expect((seen + rest).map(\.id) == all.map(\.id))
            #expect((seen + rest).map(\.data) == all.map(\.data))
        }
    }
}
