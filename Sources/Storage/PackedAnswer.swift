/// An answer as its key's row keeps it: the bytes that were sent, with what nearly every answer says written as one byte. Keys are kept for ever, so
/// what a key's row holds is what the database grows by; this takes 150 bytes of 200 from an accepted one.
///
/// JSON has no byte below a space of its own: here each stands for a fragment. An answer that has one all the same is kept as it is, behind `verbatim`.
enum PackedAnswer {
    /// Byte n stands for fragment n - 1. For ever: kept rows are read by this list, so fragments may be added behind the last, and none ever changes.
    private static let fragments: [[UInt8]] = [
        #"{"order_id":""#, #"","status":"ACCEPTED","symbol":""#, #"","side":"BUY","quantity":"#, #"","side":"SELL","quantity":"#, #","limit_price":"#,
        #","limit_price":null"#, #","reserved_funds_usd":"#, #","created_at":"#,
    ].map { Array($0.utf8) }

    private static let orderID: UInt8 = 0
    private static let verbatim: UInt8 = 0x1F
    private static let firstOwn: UInt8 = 0x20

    static func pack(_ answer: [UInt8], orderID id: String?) -> [UInt8] {
        guard answer.allSatisfy({ $0 >= firstOwn }) else { return [verbatim] + answer }
        let id = Array((id ?? "").utf8)
        var packed: [UInt8] = []
        packed.reserveCapacity(64)
        var rest = answer[...]
        while let byte = rest.first {
            let (fragment, code) = longest(at: rest, id)
            packed.append(code ?? byte)
            rest = rest.dropFirst(code == nil ? 1 : fragment)
        }
        return packed
    }

    /// The length and the code of the longest fragment that begins here.
    private static func longest(at rest: ArraySlice<UInt8>, _ id: [UInt8]) -> (length: Int, code: UInt8?) {
        var best: (length: Int, code: UInt8?) = (0, nil)
        if !id.isEmpty, rest.starts(with: id) { best = (id.count, orderID) }
        for (index, fragment) in fragments.enumerated() where fragment.count > best.length && rest.starts(with: fragment) {
            best = (fragment.count, UInt8(index + 1))
        }
        return best
    }

    static func unpack(_ packed: [UInt8], orderID id: String?) -> [UInt8] {
        if packed.first == verbatim { return Array(packed.dropFirst()) }
        var answer: [UInt8] = []
        answer.reserveCapacity(256)
        for byte in packed {
            switch byte {
            case orderID: answer += (id ?? "").utf8
            case ..<firstOwn:
                precondition(Int(byte) <= fragments.count, "A kept answer names fragments that this program knows.")
                answer += fragments[Int(byte) - 1]
            default: answer.append(byte)
            }
        }
        return answer
    }
}
