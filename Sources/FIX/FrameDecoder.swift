/// Bytes in, frames out, however they were cut on their way.
///
/// A garbled frame (junk before it, BodyLength or CheckSum wrong, MsgType not third) is skipped, counted and never answered; reading goes
/// on at the next `8=FIX` (FIX 4.4 volume 2, "Garbled messages": the resend mechanism brings back what was in it). A sound frame of another
/// FIX version is a frame: the session logs out over it.
package struct FrameDecoder: Sendable {
    /// The largest frame that is read. Beyond it, a BodyLength is a lie or an attack: the buffer must not grow with it. Our largest
    /// message, a market-data snapshot, is below 1 KiB.
    package static let maximumFrameBytes = 65_536

    /// Garbled stretches skipped so far.
    package private(set) var garbledCount = 0
    private var buffer: [UInt8] = []
    private var start = 0
    private var inJunk = false
    /// Up to where an unfinished frame has been searched for the next one, so that slow arrival costs no second search.
    private var searched = 0

    private static let anchor = Array("8=FIX".utf8)
    private static let nextFrame = Array("\u{1}8=FIX".utf8)
    private static let longestBeginString = 16
    private static let longestBodyLength = 7
    private static let trailerLength = 7

    package init() {}

    /// Bytes held for a frame that is not whole yet.
    package var pendingBytes: Int { buffer.count - start }

    package mutating func append(_ bytes: some Collection<UInt8>) {
        if start > 0 {
            buffer.removeFirst(start)
            searched = max(0, searched - start)
            start = 0
        }
        buffer.append(contentsOf: bytes)
    }

    /// The next whole frame, or nil when more bytes are needed.
    package mutating func next() -> FIXMessage? {
        while true {
            guard seekAnchor() else { return nil }
            switch measure() {
            case .garbled: skip()
            case .incomplete:
                guard anotherFrameBegins() else { return nil }
                skip()
            case .whole(let length):
                guard let message = FIXMessage(frame: Array(buffer[start..<(start + length)])) else {
                    skip()
                    continue
                }
                start += length
                searched = start
                inJunk = false
                return message
            }
        }
    }

    private enum Measure {
        case garbled
        case incomplete
        case whole(Int)
    }

    /// Moves to the next `8=FIX`, counting what lies before it as one garbled stretch. False when none is there yet.
    private mutating func seekAnchor() -> Bool {
        let available = buffer.count - start
        let prefix = min(available, Self.anchor.count)
        if buffer[start..<(start + prefix)].elementsEqual(Self.anchor[..<prefix]) { return prefix == Self.anchor.count }
        if !inJunk { garbledCount += 1 }
        inJunk = true
        while start < buffer.count {
            guard let found = buffer[start...].firstIndex(of: Self.anchor[0]) else {
                start = buffer.count
                return false
            }
            start = found
            let length = min(buffer.count - start, Self.anchor.count)
            if buffer[start..<(start + length)].elementsEqual(Self.anchor[..<length]) { return length == Self.anchor.count }
            start += 1
        }
        return false
    }

    /// Leaves the frame that begins here; the search for the next one begins right behind its anchor, since its length cannot be trusted.
    private mutating func skip() {
        garbledCount += 1
        inJunk = true
        start += Self.anchor.count
        searched = start
    }

    private func measure() -> Measure {
        let text = buffer[start...]
        guard let versionEnd = text.prefix(Self.longestBeginString).firstIndex(of: FIXMessage.delimiter) else {
            return text.count < Self.longestBeginString ? .incomplete : .garbled
        }
        var cursor = versionEnd + 1
        for expected in [UInt8(ascii: "9"), UInt8(ascii: "=")] {
            guard cursor < buffer.count else { return .incomplete }
            guard buffer[cursor] == expected else { return .garbled }
            cursor += 1
        }
        guard let lengthEnd = buffer[cursor...].prefix(Self.longestBodyLength + 1).firstIndex(of: FIXMessage.delimiter) else {
            return buffer.count - cursor <= Self.longestBodyLength ? .incomplete : .garbled
        }
        guard let bodyLength = buffer[cursor..<lengthEnd].wholeNumber, bodyLength > 0 else { return .garbled }
        let trailer = lengthEnd + 1 + Int(bodyLength)
        let total = trailer + Self.trailerLength - start
        guard total <= Self.maximumFrameBytes else { return .garbled }
        guard start + total <= buffer.count else { return .incomplete }
        return isTrailer(at: trailer) ? .whole(total) : .garbled
    }

    private func isTrailer(at trailer: Int) -> Bool {
        guard buffer[trailer - 1] == FIXMessage.delimiter, buffer[trailer..<(trailer + 3)].elementsEqual("10=".utf8),
            buffer[trailer + 6] == FIXMessage.delimiter, let sum = buffer[(trailer + 3)..<(trailer + 6)].wholeNumber
        else { return false }
        return sum == Int64(Frame.checkSum(buffer[start..<trailer]))
    }

    /// True when, inside what looks like an unfinished frame, a CheckSum is followed by the beginning of another frame: BodyLength was too
    /// large, and waiting for that many bytes would hold up the sound messages behind it.
    private mutating func anotherFrameBegins() -> Bool {
        var index = max(searched, start + Self.anchor.count)
        while index + Self.nextFrame.count <= buffer.count {
            guard let delimiter = buffer[index...].firstIndex(of: FIXMessage.delimiter) else {
                index = buffer.count
                break
            }
            index = delimiter
            guard index + Self.nextFrame.count <= buffer.count else { break }
            if buffer[index..<(index + Self.nextFrame.count)].elementsEqual(Self.nextFrame), index - 6 > start,
                buffer[(index - 6)..<(index - 3)].elementsEqual("10=".utf8)
            {
                return true
            }
            index += 1
        }
        searched = index
        return false
    }
}
