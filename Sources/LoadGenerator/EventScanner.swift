/// Finds fills in the bytes of an event stream as they come. Chunked framing needs no reading: its lines begin neither with `data:` nor with `id:`,
/// and a router writes whole events into a chunk.
struct EventScanner {
    /// The id of the last event: where a stream that broke goes on.
    private(set) var lastID: [UInt8] = []
    /// The head has come, and its status was 200.
    private(set) var isOpen = false
    /// A status other than 200.
    private(set) var refusal: Int?
    /// The beginning of a line whose end has not come.
    private var rest: [UInt8] = []

    mutating func reset() {
        rest = []
        isOpen = false
        refusal = nil
    }

    /// Takes `bytes[0..<count]` and tells the digest of each filled order.
    mutating func take(_ bytes: [UInt8], _ count: Int, filled: (UInt64) -> Void) {
        if rest.isEmpty {
            scan(bytes, count, filled)
        } else {
            let joined = rest + bytes[0..<count]
            rest = []
            scan(joined, joined.count, filled)
        }
    }

    private mutating func scan(_ bytes: [UInt8], _ count: Int, _ filled: (UInt64) -> Void) {
        var line = 0
        if !isOpen {
            switch ResponseReader.head(bytes, 0, count) {
            case .incomplete:
                rest = Array(bytes[0..<count])
                return
            case .malformed:
                refusal = 0
                return
            case .head(let head):
                guard head.status == 200 else {
                    refusal = head.status
                    return
                }
                isOpen = true
                line = head.bodyStart
            }
        }
        var idStart = -1
        var idEnd = 0
        while let end = ByteSearch.newline(in: bytes, line, count) {
            if ByteSearch.hasPrefix(Self.fill, bytes, line, end) {
                let from = line + Self.fill.count
                if let found = ByteSearch.find(Self.orderID, in: bytes, from, end),
                    let digest = OrderDigest.read(bytes, found + Self.orderID.count, end)
                {
                    filled(digest)
                }
            } else if ByteSearch.hasPrefix(Self.id, bytes, line, end) {
                (idStart, idEnd) = (line + Self.id.count, end)
            }
            line = end + 1
        }
        if idStart >= 0 { lastID = Array(bytes[idStart..<idEnd]) }
        if line < count { rest = Array(bytes[line..<count]) }
    }

    private static let fill = Array(#"data: {"type":"fill","#.utf8)
    private static let id = Array("id: ".utf8)
    private static let orderID = Array(#""order_id":""#.utf8)
}
