/// Finds the ticks in what a price stream sends, without reading JSON: each ends with the router's time of its change.
struct PriceScanner {
    /// Of one client: the beginning of a line or frame whose end has not come.
    var carry: [UInt8] = []
    private var hasHead = false
    private let form: StreamSettings.Form

    init(_ form: StreamSettings.Form) { self.form = form }

    private static let at = Array("\"at\":".utf8)
    private static let digits = 13

    /// - Parameter tick: called with the time of each tick, ms since the epoch.
    /// - Returns: how many ticks there were; nil where the server refuses.
    mutating func take(_ bytes: [UInt8], count: Int, _ tick: (Int64) -> Void) -> Int? {
        if carry.isEmpty { return scan(bytes, count, tick) }
        let joined = carry + bytes[..<count]
        carry = []
        return scan(joined, joined.count, tick)
    }

    private mutating func scan(_ bytes: [UInt8], _ end: Int, _ tick: (Int64) -> Void) -> Int? {
        var place = 0
        if !hasHead {
            guard case .head(let head) = ResponseReader.head(bytes, 0, end) else {
                carry = Array(bytes[..<end])
                return 0
            }
            guard head.status == (form == .sse ? 200 : 101) else { return nil }
            hasHead = true
            place = head.bodyStart
        }
        return form == .sse ? lines(bytes, place, end, tick) : frames(bytes, place, end, tick)
    }

    private mutating func lines(_ bytes: [UInt8], _ start: Int, _ end: Int, _ tick: (Int64) -> Void) -> Int {
        var place = start
        var count = 0
        while let newline = ByteSearch.newline(in: bytes, place, end) {
            if let time = Self.time(bytes, place, newline - 1) {
                tick(time)
                count += 1
            }
            place = newline + 1
        }
        carry = Array(bytes[place..<end])
        return count
    }

    /// RFC 6455 section 5.2: a server's frames are not masked.
    private mutating func frames(_ bytes: [UInt8], _ start: Int, _ end: Int, _ tick: (Int64) -> Void) -> Int {
        var place = start
        var count = 0
        while place + 4 <= end {
            let short = Int(bytes[place + 1] & 0x7F)
            let header = short < 126 ? 2 : 4
            let length = short < 126 ? short : Int(bytes[place + 2]) << 8 | Int(bytes[place + 3])
            guard place + header + length <= end else { break }
            if let time = Self.time(bytes, place + header, place + header + length - 2) {
                tick(time)
                count += 1
            }
            place += header + length
        }
        carry = Array(bytes[place..<end])
        return count
    }

    /// The time at the end of a tick's object, whose closing brace stands at `brace`.
    private static func time(_ bytes: [UInt8], _ start: Int, _ brace: Int) -> Int64? {
        let first = brace - digits
        guard first - at.count >= start, bytes[brace] == UInt8(ascii: "}"), ByteSearch.matches(at, bytes, first - at.count) else { return nil }
        var time: Int64 = 0
        for place in first..<brace {
            guard bytes[place] >= 0x30, bytes[place] <= 0x39 else { return nil }
            time = time * 10 + Int64(bytes[place] - 0x30)
        }
        return time
    }
}
