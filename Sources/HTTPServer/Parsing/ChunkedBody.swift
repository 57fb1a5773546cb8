/// The chunked transfer coding of RFC 9112 section 7.1, read strictly: what two readers could read differently is refused.
///
/// Lines end in CR LF and nothing else; sizes are 1 to 8 hexadecimal digits; extensions and trailer lines are checked, counted and dropped.
struct ChunkedBody {
    private enum State {
        case size
        case chunkExtension
        case sizeLineFeed
        case data
        case dataCarriageReturn
        case dataLineFeed
        case trailerStart
        case trailerName
        case trailerValue
        case trailerLineFeed
        case lastLineFeed
        case complete
    }

    /// Extensions and trailers together: none is known to be used; some proxies add a few bytes.
    static let maximumOverheadBytes = 4096

    private(set) var body: [UInt8] = []
    private var state = State.size
    private var remaining = 0
    private var digits = 0
    private var overhead = 0
    private let maximumBytes: Int

    init(maximumBytes: Int) {
        self.maximumBytes = maximumBytes
    }

    var isComplete: Bool { state == .complete }

    /// Takes what belongs to the body and returns how many bytes that were.
    mutating func take(_ bytes: UnsafeRawBufferPointer) throws(RequestFault) -> Int {
        var index = 0
        while index < bytes.count, state != .complete {
            if state == .data {
                let count = min(remaining, bytes.count - index)
                unsafe body.append(contentsOf: bytes[index..<index + count])
                remaining -= count
                index += count
                if remaining == 0 { state = .dataCarriageReturn }
            } else {
                try take(unsafe bytes[index])
                index += 1
            }
        }
        return index
    }

    private mutating func take(_ byte: UInt8) throws(RequestFault) {
        switch state {
        case .size: try takeSize(byte)
        case .chunkExtension:
            if byte == 0x0D { state = .sizeLineFeed } else { try skip(byte) }
        case .sizeLineFeed:
            try demand(byte == 0x0A)
            digits = 0
            state = remaining == 0 ? .trailerStart : .data
        case .dataCarriageReturn:
            try demand(byte == 0x0D)
            state = .dataLineFeed
        case .dataLineFeed:
            try demand(byte == 0x0A)
            state = .size
        case .trailerStart:
            if byte == 0x0D {
                state = .lastLineFeed
            } else {
                try demand(RequestParser.isToken(byte))
                state = .trailerName
            }
        case .trailerName:
            if byte == UInt8(ascii: ":") { state = .trailerValue } else { try demand(RequestParser.isToken(byte)) }
            try skip(byte)
        case .trailerValue:
            if byte == 0x0D { state = .trailerLineFeed } else { try skip(byte) }
        case .trailerLineFeed:
            try demand(byte == 0x0A)
            state = .trailerStart
        case .lastLineFeed:
            try demand(byte == 0x0A)
            state = .complete
        case .data, .complete:
            preconditionFailure("Data is taken in whole pieces, and nothing follows the end.")
        }
    }

    private mutating func takeSize(_ byte: UInt8) throws(RequestFault) {
        if let digit = RequestTarget.hexadecimal(byte) {
            digits += 1
            try demand(digits <= 8)
            remaining = remaining << 4 | Int(digit)
            return
        }
        try demand(digits > 0)
        guard body.count + remaining <= maximumBytes else {
            throw RequestFault(status: 413, detail: "The body may have at most \(maximumBytes) bytes.")
        }
        switch byte {
        case 0x0D: state = .sizeLineFeed
        case UInt8(ascii: ";"): state = .chunkExtension
        default: try demand(false)
        }
    }

    private mutating func skip(_ byte: UInt8) throws(RequestFault) {
        try demand(RequestParser.isFieldText(byte))
        overhead += 1
        guard overhead <= Self.maximumOverheadBytes else {
            throw RequestFault(status: 431, detail: "The chunk extensions and trailers are too long.")
        }
    }

    private func demand(_ condition: Bool) throws(RequestFault) {
        guard condition else { throw .malformed("The chunked body is malformed.") }
    }
}
