/// A message as ordered fields over one buffer: no String and no allocation per field.
///
/// A message made here holds its body alone (what stands between header and trailer); the session adds the header when it numbers it.
/// A message that was received holds every field, header and trailer included, and the bytes that came.
package struct FIXMessage: Sendable, Equatable {
    package let type: MessageType
    /// `tag=value` and the delimiter, over and over.
    package private(set) var bytes: [UInt8]
    private(set) var spans: [Span]
    /// What makes the fields unreadable although the frame was sound: the first such field, nil for a readable message.
    package let defect: Defect?

    static let delimiter: UInt8 = 1

    /// Where a field's value stands in the buffer.
    struct Span: Equatable {
        let tag: FIXTag
        let start: Int32
        let end: Int32
    }

    /// Why a field cannot be read; the reason is a SessionRejectReason (tag 373).
    package struct Defect: Error, Hashable, Sendable {
        /// The field (RefTagID, tag 371), where it has a number.
        package let tag: FIXTag?
        package let reason: Int
    }

    /// An empty body of this type.
    package init(_ type: MessageType) {
        self.type = type
        bytes = []
        spans = []
        defect = nil
        // What an order or a report needs, so that neither grows while it is written.
        bytes.reserveCapacity(256)
        spans.reserveCapacity(20)
    }

    /// A body from stored bytes (`tag=value` and delimiter, as `bytes` gives them).
    package init(_ type: MessageType, body: [UInt8]) {
        let read = Self.read(body)
        self.type = type
        bytes = body
        spans = read.spans
        defect = read.defect
    }

    /// A whole frame. Nil when MsgType is not the third field: such a frame is garbled (FIX 4.4 volume 2, "Garbled messages").
    package init?(frame: [UInt8]) {
        let read = Self.read(frame)
        guard read.spans.count > 3, read.spans[0].tag == .beginString, read.spans[1].tag == .bodyLength, read.spans[2].tag == .msgType
        else { return nil }
        type = MessageType(rawValue: String(decoding: frame[Int(read.spans[2].start)..<Int(read.spans[2].end)], as: UTF8.self))
        bytes = frame
        spans = read.spans
        defect = read.defect
    }

    package static func == (left: FIXMessage, right: FIXMessage) -> Bool { left.type == right.type && left.bytes == right.bytes }

    // MARK: Writing

    package mutating func append(_ tag: FIXTag, _ value: String) {
        append(tag) { $0.append(contentsOf: value.utf8) }
    }

    package mutating func append(_ tag: FIXTag, _ value: Int64) {
        append(tag) { $0.appendDecimal(value) }
    }

    package mutating func append(_ tag: FIXTag, _ value: Int) { append(tag, Int64(value)) }

    /// - Precondition: the value is within Int64.
    package mutating func append(_ tag: FIXTag, _ value: some FixedWidthInteger) { append(tag, Int64(value)) }

    package mutating func append(_ tag: FIXTag, bytes value: some Collection<UInt8>) {
        append(tag) { $0.append(contentsOf: value) }
    }

    /// `Y` or `N`.
    package mutating func append(_ tag: FIXTag, flag: Bool) {
        append(tag) { $0.append(UInt8(ascii: flag ? "Y" : "N")) }
    }

    /// UTCTimestamp with milliseconds.
    package mutating func append(_ tag: FIXTag, time milliseconds: Int64) {
        append(tag) { FIXTime.append(milliseconds, to: &$0) }
    }

    private mutating func append(_ tag: FIXTag, _ write: (inout [UInt8]) -> Void) {
        bytes.appendDecimal(Int64(tag.rawValue))
        bytes.append(UInt8(ascii: "="))
        let start = bytes.count
        write(&bytes)
        spans.append(Span(tag: tag, start: Int32(start), end: Int32(bytes.count)))
        bytes.append(Self.delimiter)
    }

    // MARK: Looking up: the first field with that tag.

    package func bytes(_ tag: FIXTag) -> ArraySlice<UInt8>? {
        guard let span = spans.first(where: { $0.tag == tag }) else { return nil }
        return bytes[Int(span.start)..<Int(span.end)]
    }

    package func string(_ tag: FIXTag) -> String? {
        bytes(tag).map { String(decoding: $0, as: UTF8.self) }
    }

    /// A whole number as FIX writes it: digits, perhaps a minus sign, perhaps leading zeros. Nil when absent or not one.
    package func int(_ tag: FIXTag) -> Int64? {
        bytes(tag).flatMap { $0.wholeNumber }
    }

    /// A field of one byte.
    package func character(_ tag: FIXTag) -> Character? {
        guard let value = bytes(tag), value.count == 1, let byte = value.first else { return nil }
        return Character(Unicode.Scalar(byte))
    }

    /// True for `Y`, false for `N`, nil when absent or neither.
    package func flag(_ tag: FIXTag) -> Bool? {
        switch character(tag) {
        case "Y": true
        case "N": false
        default: nil
        }
    }

    /// A UTCTimestamp in milliseconds since the epoch; nil when absent or unreadable.
    package func time(_ tag: FIXTag) -> Int64? {
        spans.first { $0.tag == tag }.flatMap { FIXTime.milliseconds(bytes, Int($0.start)..<Int($0.end)) }
    }

    package func has(_ tag: FIXTag) -> Bool { spans.contains { $0.tag == tag } }

    package var fieldCount: Int { spans.count }

    package func field(at index: Int) -> (tag: FIXTag, value: ArraySlice<UInt8>) {
        let span = spans[index]
        return (span.tag, bytes[Int(span.start)..<Int(span.end)])
    }

    /// The entries of a repeating group, each a message of its own fields. An entry begins with `first`; the last one holds all that follows.
    package func group(countedBy count: FIXTag, first: FIXTag) -> [FIXMessage] {
        guard let start = spans.firstIndex(where: { $0.tag == count }) else { return [] }
        var entries: [FIXMessage] = []
        for index in (start + 1)..<max(start + 1, spans.count) where !Self.isTrailer(spans[index].tag) {
            let (tag, value) = field(at: index)
            if tag == first {
                entries.append(FIXMessage(type))
            } else if entries.isEmpty {
                break
            }
            entries[entries.count - 1].append(tag, bytes: value)
        }
        return entries
    }

    /// A header field that stands behind the body's first one, or a second time: the first such, with its SessionRejectReason.
    var headerDefect: Defect? {
        var seen: [FIXTag] = []
        var inBody = false
        for span in spans {
            guard span.tag.isHeader else {
                inBody = true
                continue
            }
            if seen.contains(span.tag), !span.tag.isHop { return Defect(tag: span.tag, reason: SessionRejectReason.tagAppearsTwice) }
            if inBody { return Defect(tag: span.tag, reason: SessionRejectReason.tagOutOfOrder) }
            seen.append(span.tag)
        }
        return nil
    }

    private static func isTrailer(_ tag: FIXTag) -> Bool { tag == .checkSum || tag == 93 || tag == 89 }

    // MARK: Reading

    /// Cuts the buffer into fields. After the first unreadable field the rest is still cut, so that the header can be looked at.
    private static func read(_ bytes: [UInt8]) -> (spans: [Span], defect: Defect?) {
        var spans: [Span] = []
        spans.reserveCapacity(24)
        var defect: Defect?
        var index = 0
        while index < bytes.count {
            var tag: Int32 = 0
            var cursor = index
            while cursor < bytes.count, bytes[cursor] >= 0x30, bytes[cursor] <= 0x39, tag < 100_000_000 {
                tag = tag * 10 + Int32(bytes[cursor] - 0x30)
                cursor += 1
            }
            guard cursor > index, cursor < bytes.count, bytes[cursor] == UInt8(ascii: "="), tag > 0, bytes[index] != 0x30 else {
                defect = defect ?? Defect(tag: wrongTag(bytes[index...]), reason: SessionRejectReason.invalidTagNumber)
                index = (bytes[index...].firstIndex(of: delimiter) ?? bytes.count) + 1
                continue
            }
            let start = cursor + 1
            let found = FIXTag(rawValue: tag)
            let end = self.end(of: found, from: start, in: bytes, after: spans.last)
            if start == end { defect = defect ?? Defect(tag: found, reason: SessionRejectReason.tagWithoutValue) }
            spans.append(Span(tag: found, start: Int32(start), end: Int32(min(end, bytes.count))))
            index = end + 1
        }
        return (spans, defect)
    }

    /// The number before a field's `=` where it is one, although no field has it (0, -1, 007).
    private static func wrongTag(_ field: ArraySlice<UInt8>) -> FIXTag? {
        field.prefix { $0 != UInt8(ascii: "=") && $0 != delimiter }.wholeNumber.flatMap { Int32(exactly: $0) }.map { FIXTag(rawValue: $0) }
    }

    /// The next delimiter, or for raw data what the length field just before it says, if a delimiter stands there.
    private static func end(of tag: FIXTag, from start: Int, in bytes: [UInt8], after previous: Span?) -> Int {
        if let lengthTag = tag.lengthOfData, let previous, previous.tag == lengthTag,
            let length = bytes[Int(previous.start)..<Int(previous.end)].wholeNumber, length >= 0, length < Int64(bytes.count),
            start + Int(length) < bytes.count, bytes[start + Int(length)] == delimiter
        {
            return start + Int(length)
        }
        return bytes[min(start, bytes.count)...].firstIndex(of: delimiter) ?? bytes.count
    }
}

extension FIXMessage: CustomStringConvertible {
    /// The fields with `|` for the delimiter, as FIX people write them.
    package var description: String { String(decoding: bytes.map { $0 == Self.delimiter ? UInt8(ascii: "|") : $0 }, as: UTF8.self) }
}

extension ArraySlice<UInt8> {
    /// Digits with perhaps a minus sign, within Int64.
    var wholeNumber: Int64? {
        let negative = first == UInt8(ascii: "-")
        let digits = negative ? dropFirst() : self
        guard !digits.isEmpty, digits.count <= 18 else { return nil }
        var value: Int64 = 0
        for digit in digits {
            guard digit >= 0x30, digit <= 0x39 else { return nil }
            value = value * 10 + Int64(digit - 0x30)
        }
        return negative ? -value : value
    }
}

extension [UInt8] {
    /// Appends a whole number in decimal, without a String.
    mutating func appendDecimal(_ value: Int64) {
        if value < 0 { append(UInt8(ascii: "-")) }
        var rest = value.magnitude
        var digits = InlineArray<20, UInt8>(repeating: 0)
        var count = 0
        repeat {
            digits[count] = 0x30 + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
            count += 1
        } while rest > 0
        while count > 0 {
            count -= 1
            append(digits[count])
        }
    }
}
