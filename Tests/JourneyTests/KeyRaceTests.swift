import ExchangeSimulator
import Foundation
import JourneySupport
import Testing
import Trading
import Wire

extension Faults {
    /// A key is an order or it is none, whoever asks and however often.
    @Suite struct `A key` {
        @Test func `that is fenced while its order arrives becomes one or the other, and every answer agrees`() async throws {
            let town = try await Town(accounts: 2)
            try await town.run { town in
                let (one, other) = (try town.router(), try town.secondRouter())
                let ports = [try #require(await one.ready(), "\(one.log)"), try #require(await other.ready(), "\(other.log)")]
                var outcomes: [String: Int] = [:]
                try await withThrowingTaskGroup(of: String.self) { group in
                    for (number, phone) in town.phones.enumerated() {
                        for round in 0..<60 {
                            group.addTask { try await Self.race(phone, ports, fenceFirst: (round + number) % 2 == 0, town) }
                        }
                    }
                    for try await outcome in group { outcomes[outcome, default: 0] += 1 }
                }
                print("fence against order: \(outcomes)")
                #expect(outcomes.keys.allSatisfy { ["accepted", "not_accepted"].contains($0) })
                try await town.quiet()
                #expect(try await town.texts("SELECT order_id FROM orders").count == outcomes["accepted"] ?? 0)
                try await town.verify()
            }
        }

        private static func race(_ phone: Phone, _ ports: [UInt16], fenceFirst: Bool, _ town: Town) async throws -> String {
            let key = Circle.newKey()
            let path = "/v1/trading/orders/by-key/\(key)"
            @Sendable func fence() async throws -> Phone.Answer { try await phone.send("POST", path + "/fence", port: ports[1]) }
            @Sendable func order() async throws -> Phone.Answer { try await phone.place(Circle.terms(.buy, 1), key: key, port: ports[0]) }
            async let first = fenceFirst ? fence() : order()
            async let second = fenceFirst ? order() : fence()
            let (placed, fenced) = try await fenceFirst ? (second, first) : (first, second)
            let asked = try await phone.send("GET", path, port: ports[0])
            let again = try await phone.place(Circle.terms(.buy, 1), key: key, port: ports[1])
            #expect(fenced.status == 200 && asked.status == 200, "\(fenced.text) \(asked.text)")
            let outcome = try #require(fenced.member("outcome"))
            #expect(asked.member("outcome") == outcome)
            #expect(fenced.member("final") == "true")
            if outcome == "accepted" {
                #expect(placed.status == 201 && again.status == 201 && placed.body == again.body, "\(placed.text) \(again.text)")
                #expect(fenced.member("fenced") == "false")
            } else {
                for answer in [placed, again] {
                    #expect(answer.status == 409 && answer.member("code") == "key_fenced" && answer.member("final") == "true", "\(answer.text)")
                }
                #expect(try await town.texts("SELECT order_id FROM orders WHERE key = '\(key)'").isEmpty)
            }
            return outcome
        }

        @Test func `whose answer was lost gives the same order again`() async throws {
            let town = try await Town(accounts: 1)
            try await town.run { town in
                let router = try town.router()
                let port = try #require(await router.ready(), "\(router.log)")
                let phone = town.phones[0]
                for round in 0..<20 {
                    let request = try phone.signed(Circle.terms(.buy, 1), key: Circle.newKey())
                    // Gone right after the last byte, at times without even a goodbye.
                    try Self.sendAndLeave(phone.rawRequest(request), port: port, reset: round % 2 == 0)
                    let first = try await phone.post(request, port: port)
                    let second = try await phone.post(request, port: port)
                    #expect(first.status == 201 && first.body == second.body, "\(first.text) \(second.text)")
                    #expect(second.header("Idempotency-Replayed") == "true")
                }
                try await town.quiet()
                #expect(try await town.texts("SELECT order_id FROM orders").count == 20)
                #expect(town.venue.receivedCount == 20)
                try await town.verify()
            }
        }

        private static func sendAndLeave(_ bytes: [UInt8], port: UInt16, reset: Bool) throws {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(descriptor) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            let connected = unsafe withUnsafePointer(to: &address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            let sent = unsafe bytes.withUnsafeBytes { unsafe send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard connected == 0, sent == bytes.count else { throw POSIXError(POSIXError.Code(rawValue: errno) ?? .EIO) }
            if reset {
                var hard = linger(l_onoff: 1, l_linger: 0)
                _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &hard, socklen_t(MemoryLayout<linger>.size))
            }
        }
    }
}

extension Phone {
    /// The bytes of a request that places this order.
    func rawRequest(_ request: PlaceOrderRequest) -> [UInt8] {
        var head = "POST \(OrderPath.orders) HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer \(token)\r\n"
        head += "Content-Type: application/json\r\nContent-Length: \(request.body.count)\r\n"
        let headers: [(String, String?)] = [
            (PlaceOrderHeaders.Name.idempotencyKey, request.headers.idempotencyKey), (PlaceOrderHeaders.Name.signature, request.headers.signature),
            (PlaceOrderHeaders.Name.credential, request.headers.credential),
            (PlaceOrderHeaders.Name.clientTimestamp, request.headers.clientTimestamp),
            (PlaceOrderHeaders.Name.quoteReferenceTimestamp, request.headers.quoteReferenceTimestamp),
        ]
        for case (let name, let value?) in headers { head += "\(name): \(value)\r\n" }
        return Array((head + "\r\n").utf8) + request.body
    }
}
