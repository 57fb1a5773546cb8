import Cryptography
import ExchangeSimulator
import HTTPServer
import Postgres
import Synchronization
import Testing
import Trading
import Wire

@testable import LoadGenerator

/// A router that does what a test wants to see noticed.
private final class FakeRouter: HTTPHandler {
    enum Manner: Sendable {
        case honest
        /// Each repetition gets another body.
        case forgetful
        /// Each repetition is accepted as if it were new.
        case doubling
        /// Repetitions are refused.
        case denying
        /// Every order belongs to somebody else.
        case foreign
        /// Busy once for each key, and the connection closes.
        case busyFirst
        /// Takes what must be refused.
        case credulous
        /// Never decides anything.
        case alwaysBusy
    }

    private let manner: Manner
    private let seen = Mutex<[String: Int]>([:])

    init(_ manner: Manner) { self.manner = manner }

    func respond(to request: HTTPRequest) async -> HTTPResponse {
        if request.path == "/v1/quotes" {
            let body = #"{"quotes":[{"symbol":"NVDA","bid":"125.50","ask":"125.52"}]}"#
            return HTTPResponse(status: 200, contentType: "application/json", body: Array(body.utf8))
        }
        guard request.path == OrderPath.orders, let key = request.headers.first("Idempotency-Key").flatMap({ IdempotencyKey($0) }) else {
            return HTTPResponse(status: 200, contentType: "text/plain", body: Array(#"order_router_batch_size_sum{leg="accept"} 12.0"#.utf8))
        }
        let count = seen.withLock { seen in
            seen[key.description, default: 0] += 1
            return seen[key.description] ?? 0
        }
        return answer(request, key, count)
    }

    private func answer(_ request: HTTPRequest, _ key: IdempotencyKey, _ count: Int) -> HTTPResponse {
        if manner != .credulous, request.body.contains(Array("ZZZZ".utf8)) { return problem("unknown_symbol") }
        if manner == .alwaysBusy { return problem("busy") }
        if manner == .busyFirst, count == 1 {
            var busy = problem("busy")
            busy.headers.append(("Connection", "close"))
            return busy
        }
        let isFirst = count == 1 || manner == .busyFirst && count == 2
        if manner == .denying, !isFirst { return problem("quote_reference_stale") }
        let account = AccountID(manner == .foreign ? "other" : "acc")!
        let id = OrderID(key: key, digest: sha256(SignedForm.orderIdentityText(account: account, key: key)))
        let at = manner == .forgetful ? count : 1
        let headers = isFirst || manner == .doubling ? [] : [("Idempotency-Replayed", "true")]
        return HTTPResponse(status: 201, headers: headers, body: .bytes(Array(#"{"order_id":"\#(id)","created_at":\#(at)}"#.utf8)))
    }

    private func problem(_ code: String) -> HTTPResponse {
        HTTPResponse(status: 409, contentType: "application/problem+json", body: Array(#"{"type":"urn","code":"\#(code)","final":false}"#.utf8))
    }
}

@Suite struct `The load generator` {
    private func load(_ manner: FakeRouter.Manner, refusals: Double = 0, change: (inout LoadSettings) -> Void = { _ in }) async throws -> LoadResult {
        let listener = try HTTPListener(HTTPConfiguration(), handler: FakeRouter(manner))
        var settings = LoadSettings()
        settings.port = listener.port
        settings.traders = [Trader(account: AccountID("acc")!, credential: "cred_1", token: "token", key: try P256PrivateKey())]
        settings.symbols = ["NVDA"]
        settings.connections = 4
        settings.orders = 100
        settings.ahead = 100
        settings.duplicates = 0.3
        settings.refusals = refusals
        settings.streams = false
        settings.warmUp = 0
        settings.duration = 60_000_000_000
        settings.retryPause = 1_000_000
        settings.showsProgress = false
        change(&settings)
        let told = settings
        return try await withThrowingTaskGroup(of: LoadResult?.self) { group in
            group.addTask {
                try await listener.run()
                return nil
            }
            let result = try await DedicatedThread(name: "load").run { try Run(told).perform() }
            await listener.stop(within: .seconds(5))
            try await group.waitForAll()
            return result
        }
    }

    @Test func `is content with a router that keeps its promises`() async throws {
        let result = try await load(.honest)
        #expect(result.holds && result.unexpected == 0 && result.examples == [])
        #expect(result.accepted == 100 && result.answers["201"] == 100)
        #expect(result.toReplay.count == result.answers["201 replayed"] && result.toReplay.count > 0)
    }

    @Test(arguments: [FakeRouter.Manner.forgetful, .doubling, .denying, .foreign])
    fileprivate func `notices answers that contradict one another`(_ manner: FakeRouter.Manner) async throws {
        let result = try await load(manner)
        #expect(!result.holds)
        #expect(result.contradictions > 0 && result.unanswered == 0)
        #expect(!result.examples.isEmpty)
    }

    @Test func `sends the same request again after busy and a closed connection`() async throws {
        let result = try await load(.busyFirst) { $0.duplicates = 0 }
        #expect(result.holds && result.examples == [])
        #expect(result.answers == ["busy": 100, "201": 100])
        #expect(result.retried == 100)
    }

    @Test func `lists the keys to which it got no answer`() async throws {
        let result = try await load(.alwaysBusy) {
            ($0.orders, $0.ahead, $0.duplicates, $0.patience) = (3, 3, 0, 50_000_000)
        }
        #expect(!result.holds)
        #expect(result.unanswered == 3 && result.retried > 3)
        #expect(Set(result.unansweredKeys).count == 3)
        #expect(result.unansweredKeys.allSatisfy { IdempotencyKey($0) != nil })
    }

    @Test func `tells what it could not send because everything was busy`() async throws {
        let result = try await load(.alwaysBusy) {
            $0.pace = .open(rate: 1_000, isPoisson: false)
            ($0.duplicates, $0.connections, $0.duration, $0.patience) = (0, 1, 50_000_000, 50_000_000)
        }
        #expect(result.unanswered > 0)
        // Fifty were to be sent in that time, less the one that falls on its end.
        #expect(result.orders + result.unsent == 49 || result.orders + result.unsent == 50)
    }

    @Test func `does not send what was signed too long ago`() async throws {
        let result = try await load(.honest) {
            $0.pace = .open(rate: 1_000, isPoisson: false)
            ($0.duplicates, $0.duration, $0.oldestSigned) = (0, 50_000_000, 0)
        }
        #expect(result.orders == 0 && result.holds)
        #expect(result.unsent == 49 || result.unsent == 50)
    }

    @Test func `notices that an order was taken which must be refused`() async throws {
        #expect(try await load(.honest, refusals: 0.5) { $0.duplicates = 0 }.answers["unknown_symbol"] ?? 0 > 0)
        let result = try await load(.credulous, refusals: 0.5) { $0.duplicates = 0 }
        #expect(result.unexpected > 0)
    }

    @Test func `sends as many orders a second as it is told`() async throws {
        let result = try await load(.honest) {
            $0.pace = .open(rate: 500, isPoisson: false)
            $0.duplicates = 0
            $0.duration = 150_000_000
        }
        // 500 a second for 0.15 s, by the plan and not by how fast this machine is.
        #expect(result.orders == 74 || result.orders == 75)
        #expect(result.holds)
    }
}
