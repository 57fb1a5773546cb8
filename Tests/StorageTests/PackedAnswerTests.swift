import Testing

@testable import Storage

@Suite struct `An answer as a key keeps it` {
    private let id = "ord_20260916_aaaaaaaaaaaaaaaaaaaaaaaaaa"

    private func accepted(_ side: String, limit: String) -> String {
        #"{"order_id":"\#(id)","status":"ACCEPTED","symbol":"NVDA","side":"\#(side)","quantity":100,"limit_price":\#(limit),"#
            + #""reserved_funds_usd":12550.00,"created_at":1773648000180}"#
    }

    @Test func `is the same bytes again`() {
        let answers = [
            accepted("BUY", limit: "125.50"), accepted("SELL", limit: "null"), "", id, id + id, #"{"code":"insufficient_funds","side":"BUY"}"#,
            #"{"order_id":"#, "a\u{1}b", "\u{1F}", "\u{0}" + id, "ü",
        ]
        for answer in answers {
            for order in [id, nil] {
                let packed = PackedAnswer.pack(Array(answer.utf8), orderID: order)
                #expect(PackedAnswer.unpack(packed, orderID: order) == Array(answer.utf8), "\(answer)")
            }
        }
    }

    @Test func `takes a quarter of the bytes of an accepted one`() {
        let answer = Array(accepted("BUY", limit: "125.50").utf8)
        #expect(PackedAnswer.pack(answer, orderID: id).count * 4 <= answer.count)
    }

    /// What rows of long ago hold. A program that reads one of these otherwise has changed what was answered.
    @Test func `is read by a list that never changes`() {
        let kept: [UInt8] = [1, 0, 2, 78, 86, 3, 49, 5, 50, 7, 51, 8, 52, 125]
        #expect(
            String(decoding: PackedAnswer.unpack(kept, orderID: "x"), as: UTF8.self)
                == #"{"order_id":"x","status":"ACCEPTED","symbol":"NV","side":"BUY","quantity":1,"limit_price":2,"reserved_funds_usd":3,"created_at":4}"#
        )
        let sold: [UInt8] = [1, 0, 2, 78, 4, 49, 6, 7, 51, 8, 52, 125]
        #expect(
            String(decoding: PackedAnswer.unpack(sold, orderID: "x"), as: UTF8.self)
                == #"{"order_id":"x","status":"ACCEPTED","symbol":"N","side":"SELL","quantity":1,"limit_price":null,"reserved_funds_usd":3,"created_at":4}"#
        )
        // From before answers were packed.
        #expect(PackedAnswer.unpack(Array(#"{"a":1}"#.utf8), orderID: nil) == Array(#"{"a":1}"#.utf8))
    }
}
