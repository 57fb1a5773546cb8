import Foundation
import HTTPServer
import Testing

/// SplitMix64: small, and the same everywhere for the same seed.
private struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

@Suite struct `Nonsense` {
    private static func mutated(_ text: String, _ random: inout Seeded) -> [UInt8] {
        var bytes = Array(text.utf8)
        let telling = Array("\r\n\0 :;,\t%0fF\u{7f}".utf8)
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes[place] = telling.randomElement(using: &random)!
            case 2: bytes.insert(telling.randomElement(using: &random)!, at: place)
            default: bytes.remove(at: place)
            }
        }
        return bytes
    }

    @Test(arguments: [1, 2, 3, 4, 5] as [UInt64])
    func `is answered or dropped, and hurts nobody`(_ seed: UInt64) async throws {
        try await withServer { server in
            let statuses = try await blocking {
                var random = Seeded(state: seed)
                var statuses: [Int] = []
                for _ in 0..<200 {
                    let client = try RawClient(server)
                    try client.send(Self.mutated(`A request`.splittable, &random))
                    client.endSending()
                    // The end must come, whatever was understood.
                    let all = String(decoding: try client.readToEnd(), as: UTF8.self)
                    statuses += all.matches(of: #/HTTP/1\.1 (\d{3}) /#).compactMap { Int($0.1) }
                }
                return statuses
            }
            #expect(statuses.count >= 200, "SEED=\(seed)")
            #expect(Set(statuses).isSubset(of: [100, 200, 400, 413, 417, 431, 501, 505]), "SEED=\(seed): \(Set(statuses))")
            #expect(server.counters.requests + server.counters.requestsRefused == statuses.count { $0 != 100 }, "SEED=\(seed)")
            let answer = try await blocking {
                let client = try RawClient(server)
                try client.send("GET /after HTTP/1.1\r\nHost: a\r\n\r\n")
                return try client.readAnswer()
            }
            #expect(answer.text == "GET /after [] ")
        }
    }
}
