import Testing
import Trading

@Suite struct `An identifier` {
    @Test func `of a key is a UUIDv7, bare or quoted, in any case`() throws {
        let key = try #require(IdempotencyKey("018E3D2A-7F12-7000-8000-123456789ABC"))
        #expect(key.description == "018e3d2a-7f12-7000-8000-123456789abc")
        #expect(IdempotencyKey("\"018e3d2a-7f12-7000-8000-123456789abc\"") == key)
        #expect(key.milliseconds == 0x018e_3d2a_7f12)
    }

    @Test(arguments: [
        "", "018e3d2a-7f12-4000-8000-123456789abc", "018e3d2a-7f12-7000-c000-123456789abc", "018e3d2a7f1270008000123456789abc",
        "018e3d2a-7f12-7000-8000-123456789abg", "\"018e3d2a-7f12-7000-8000-123456789abc", "018e3d2a-7f12-7000-8000-123456789abc ",
    ])
    func `of a key refuses other versions, variants and forms`(_ text: String) {
        #expect(IdempotencyKey(text) == nil)
    }

    @Test func `of an order carries the date of its key and 128 bits of the digest`() throws {
        let key = try #require(IdempotencyKey("018e3d2a-7f12-7000-8000-123456789abc"))
        let order = OrderID(key: key, digest: Array(repeating: 0xFF, count: 16) + Array(repeating: 0, count: 16))
        #expect(order.text == "ord_20240314_77777777777777777777777774")
        #expect(OrderID(order.text) == order)
        #expect(OrderID("ord_20240314_7777777777777777777777777") == nil)
    }

    @Test func `of an order is base32 of the digest, five bits a character`() throws {
        let key = try #require(IdempotencyKey("018e3d2a-7f12-7000-8000-123456789abc"))
        let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567")
        for _ in 0..<500 {
            let digest = (0..<32).map { _ in UInt8.random(in: 0...255) }
            let bits = digest[..<16].flatMap { byte in (0..<8).map { Int(byte >> UInt8(7 - $0)) & 1 } } + [0, 0]
            let characters = stride(from: 0, to: 130, by: 5).map { alphabet[bits[$0..<$0 + 5].reduce(0) { $0 * 2 + $1 }] }
            #expect(OrderID(key: key, digest: digest).text == "ord_20240314_" + String(characters))
        }
    }

    @Test func `of a key is read as it is written, and nothing else is`() {
        for _ in 0..<500 {
            let high = UInt64.random(in: 0...UInt64.max) & ~0xF000 | 0x7000
            let low = UInt64.random(in: 0...UInt64.max) >> 2 | 1 << 63
            guard let key = IdempotencyKey(high: high, low: low) else {
                Issue.record("\(high) \(low) are no key")
                continue
            }
            #expect(IdempotencyKey(key.description) == key && IdempotencyKey("\"\(key.description)\"") == key)
            #expect(IdempotencyKey(key.description.uppercased()[...]) == key)
            var bent = Array(key.description.utf8)
            bent[Int.random(in: 0..<36)] = UInt8(ascii: "g")
            #expect(IdempotencyKey(String(decoding: bent, as: UTF8.self)) == nil)
        }
        for text in ["", "\"", String(repeating: "\"", count: 38), String(repeating: "-", count: 36), "\"018e3d2a-7f12-7000-8000-123456789abc"] {
            #expect(IdempotencyKey(text) == nil)
        }
    }

    @Test func `of a side, a type or a time in force is read as it is written`() {
        for side in Side.allCases { #expect(Side(text: side.text) == side && Side(text: side.text.lowercased()) == nil) }
        for type in OrderType.allCases { #expect(OrderType(text: type.text) == type && OrderType(text: type.text + " ") == nil) }
        for time in TimeInForce.allCases { #expect(TimeInForce(text: time.text) == time && TimeInForce(text: "") == nil) }
    }

    @Test(arguments: [("acc_demo", true), ("", false), ("a b", false), ("é", false), (String(repeating: "a", count: 65), false)])
    func `of an account has one to 64 plain characters`(_ text: String, _ valid: Bool) {
        #expect((AccountID(text) != nil) == valid)
    }

    @Test func `of an account always falls on the same shard`() {
        #expect(AccountID("acc_998124a87")?.shard == AccountID("acc_998124a87")?.shard)
        let shards = Set((0..<200).compactMap { AccountID("acc_\($0)")?.shard })
        #expect(shards == Set(0..<AccountID.shardCount))
    }

    @Test(arguments: [(0, "19700101"), (951_782_400_000, "20000229"), (1_773_648_000_120, "20260316"), (-1, "19691231")] as [(Int64, String)])
    func `of a day is the UTC date`(_ milliseconds: Int64, _ text: String) {
        #expect(CivilDate(millisecondsSinceEpoch: milliseconds).compact == text)
        #expect(CivilDate(compact: text) == CivilDate(millisecondsSinceEpoch: milliseconds))
    }

    @Test(arguments: ["", "ABC", "2026031", "202603160", "20260230", "20230229", "20261399", "20260001", "20260100", "99999999", "+2026031"])
    func `of a day is refused where there is no such day`(_ text: String) { #expect(CivilDate(compact: text) == nil) }
}
