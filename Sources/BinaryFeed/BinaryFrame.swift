/// One frame of the binary feed: 40 bytes, little-endian.
///
/// | bytes | picture (change, refresh, snapshot) | definition | heartbeat | requests |
/// | --- | --- | --- | --- | --- |
/// | 0–2 | symbol id | symbol id | 0 | symbol id, or `everySymbol` |
/// | 3 | kind in bits 0–3, generation in bits 4–6, halted in bit 7 | the same, never halted | | |
/// | 4–7 | number: u32 per symbol, +1 with each change, from 2^32 - 1 to 1; 0 never | symbols in all | symbols in all | 0 |
/// | 8–15 | bid, i64 in 1/10,000 | name, ASCII, bytes 1–8, padded with 0 | 0 | 0 |
/// | 16–23 | ask | name, bytes 9–16 | 0 | 0 |
/// | 24–31 | last, 0 = nothing traded yet | session id, u64 | session id | session id, 0 = any |
/// | 32–35 | shares traded today, u32, stays at its highest | 0 | 0 | 0 |
/// | 36–39 | ms since midnight UTC, or `noTime` | the same | the same | the same |
///
/// A feed takes a new session id with each start. Ids and numbers mean something within a session alone: the generation, which is the session id modulo 8,
/// tells frames of two sessions apart while no heartbeat or definition has said so. A halt is part of the picture: entering or leaving one is a change with
/// a number, and each refresh and snapshot repeats it, so that no loss hides it.
package struct BinaryFrame: Hashable, Sendable {
    package enum Kind: UInt8, Sendable, CaseIterable {
        /// Something of the symbol changed.
        case change = 1
        /// The picture still stands: carries the number of the last change.
        case refresh = 2
        /// The answer to a request.
        case snapshot = 3
        /// What a symbol id means.
        case definition = 4
        /// The feed is alive, and this is its session: at least once a second on every line.
        case heartbeat = 5
        /// To the feed: send the snapshot of a symbol.
        case snapshotRequest = 8
        /// To the feed: send the definition of an id.
        case definitionRequest = 9
    }

    package static let size = 40
    /// Frames of one datagram at most: 1,440 bytes stay within an Ethernet frame.
    package static let perDatagram = 36
    /// In a request: all symbols.
    package static let everySymbol: UInt32 = 0xFF_FFFF
    /// A feed that has no clock.
    package static let noTime: UInt32 = .max

    /// 24 bits.
    package var id: UInt32
    /// As it stands in the frame: bits 0–3 of byte 3. Any value may come.
    package var rawKind: UInt8
    package var isHalted: Bool
    /// 0 to 7.
    package var generation: UInt8
    package var number: UInt32
    package var bid: Int64
    package var ask: Int64
    package var last: Int64
    package var volume: UInt32
    package var ofDay: UInt32

    @inlinable package init(
        _ kind: Kind,
        id: UInt32 = 0,
        isHalted: Bool = false,
        generation: UInt8 = 0,
        number: UInt32 = 0,
        bid: Int64 = 0,
        ask: Int64 = 0,
        last: Int64 = 0,
        volume: UInt32 = 0,
        ofDay: UInt32 = Self.noTime
    ) {
        self.id = id & 0xFF_FFFF
        rawKind = kind.rawValue
        self.isHalted = isHalted
        self.generation = generation & 7
        self.number = number
        self.bid = bid
        self.ask = ask
        self.last = last
        self.volume = volume
        self.ofDay = ofDay
    }

    /// Reads the 40 bytes from `offset` on: any bytes give a frame, its kind alone may be unknown.
    ///
    /// - Precondition: they are there.
    @inlinable package init(_ bytes: RawSpan, at offset: Int) {
        let head = UInt32(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self))
        id = head & 0xFF_FFFF
        rawKind = UInt8(truncatingIfNeeded: head >> 24) & 0x0F
        generation = UInt8(truncatingIfNeeded: head >> 28) & 7
        isHalted = head >> 31 == 1
        number = UInt32(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset + 4, as: UInt32.self))
        bid = Int64(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset + 8, as: Int64.self))
        ask = Int64(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset + 16, as: Int64.self))
        last = Int64(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset + 24, as: Int64.self))
        volume = UInt32(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset + 32, as: UInt32.self))
        ofDay = UInt32(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset + 36, as: UInt32.self))
    }

    @inlinable package var kind: Kind? { Kind(rawValue: rawKind) }

    package func append(to bytes: inout [UInt8]) {
        let head = id & 0xFF_FFFF | UInt32(rawKind & 0x0F) << 24 | UInt32(generation & 7) << 28 | (isHalted ? 1 << 31 : 0)
        Self.append(head, &bytes)
        Self.append(number, &bytes)
        for value in [bid, ask, last] { Self.append(value, &bytes) }
        Self.append(volume, &bytes)
        Self.append(ofDay, &bytes)
    }

    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return bytes
    }

    private static func append(_ value: some FixedWidthInteger, _ bytes: inout [UInt8]) {
        var rest = value.littleEndian
        unsafe withUnsafeBytes(of: &rest) { unsafe bytes.append(contentsOf: $0) }
    }
}

// MARK: Frames without prices

extension BinaryFrame {
    /// - Precondition: the name has 1 to 16 ASCII characters.
    package static func definition(_ name: String, id: UInt32, session: UInt64, count: UInt32, ofDay: UInt32) -> BinaryFrame {
        let text = Array(name.utf8)
        precondition((1...16).contains(text.count), "A symbol's name fits into its definition.")
        var frame = BinaryFrame(.definition, id: id, number: count, ofDay: ofDay)
        (frame.bid, frame.ask) = (packed(text.prefix(8)), packed(text.dropFirst(8)))
        frame.session = session
        return frame
    }

    package static func heartbeat(session: UInt64, count: UInt32, ofDay: UInt32) -> BinaryFrame {
        var frame = BinaryFrame(.heartbeat, number: count, ofDay: ofDay)
        frame.session = session
        return frame
    }

    package static func request(_ kind: Kind, of id: UInt32) -> BinaryFrame { BinaryFrame(kind, id: id) }

    /// The feed's session, in heartbeats and definitions.
    package var session: UInt64 {
        get { UInt64(bitPattern: last) }
        set {
            last = Int64(bitPattern: newValue)
            generation = Self.generation(of: newValue)
        }
    }

    package static func generation(of session: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: session & 7) }

    /// A definition's symbol; nil where it is no text.
    package var name: String? {
        var text: [UInt8] = []
        for half in [bid, ask] {
            for byte in 0..<8 { text.append(UInt8(truncatingIfNeeded: UInt64(bitPattern: half) >> (8 * UInt64(byte)))) }
        }
        while text.last == 0 { text.removeLast() }
        guard !text.isEmpty, text.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        return String(decoding: text, as: UTF8.self)
    }

    private static func packed(_ text: some Collection<UInt8>) -> Int64 {
        var value: UInt64 = 0
        for (place, byte) in text.enumerated() { value |= UInt64(byte) << (8 * UInt64(place)) }
        return Int64(bitPattern: value)
    }
}

// MARK: Time

extension BinaryFrame {
    package static let millisecondsPerDay: Int64 = 86_400_000

    /// - Parameter now: ms since the epoch.
    package static func ofDay(_ now: Int64) -> UInt32 { UInt32(truncatingIfNeeded: now % millisecondsPerDay) }
}
