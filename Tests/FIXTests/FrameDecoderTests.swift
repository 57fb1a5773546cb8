import Testing

@testable import FIX

private func frame(_ number: Int, _ body: String = "112=x\u{1}") -> [UInt8] {
    let header = Frame.Header(type: .heartbeat, senderCompID: "A", targetCompID: "B", number: number, sendingTime: 1_773_648_000_180)
    return Frame.encode(header, body: Array(body.utf8))
}

private func replacing(_ old: String, _ new: String, in bytes: [UInt8]) -> [UInt8] {
    let text = String(decoding: bytes, as: UTF8.self)
    guard let range = text.firstRange(of: old) else { return bytes }
    return Array(text.replacingCharacters(range, with: new).utf8)
}

extension String {
    fileprivate func replacingCharacters(_ range: Range<String.Index>, with new: String) -> String {
        self[..<range.lowerBound] + new + self[range.upperBound...]
    }
}

@Suite struct `A frame` {
    @Test func `has its header in order and a sum that is right`() {
        var header = Frame.Header(type: .newOrderSingle, senderCompID: "ORDERS", targetCompID: "EXCH", number: 7, sendingTime: 180)
        header.origSendingTime = 0
        let text = String(decoding: Frame.encode(header, body: Array("97=Y\u{1}11=a\u{1}".utf8)), as: UTF8.self)
        let expected =
            "8=FIX.4.4|9=94|35=D|49=ORDERS|56=EXCH|34=7|43=Y|97=Y|52=19700101-00:00:00.180|122=19700101-00:00:00.000|11=a|10="
        #expect(text.replacing("\u{1}", with: "|").hasPrefix(expected))
        let sum = expected.replacing("|", with: "\u{1}").dropLast(3).utf8.reduce(0) { ($0 + Int($1)) % 256 }
        #expect(text.hasSuffix("10=" + (sum < 10 ? "00" : sum < 100 ? "0" : "") + "\(sum)\u{1}"))
    }

    @Test func `is read back as it was written`() throws {
        var decoder = FrameDecoder()
        decoder.append(frame(3))
        let read = decoder.next()
        let message = try #require(read)
        #expect(message.type == .heartbeat)
        #expect(message.int(.msgSeqNum) == 3)
        #expect(message.string(.testReqID) == "x")
        #expect(message.bytes == frame(3))
        #expect(decoder.next() == nil)
        #expect(decoder.garbledCount == 0)
        #expect(decoder.pendingBytes == 0)
    }
}

@Suite struct `The frame decoder` {
    /// The numbers of the messages that come out, and how many garbled stretches were counted.
    private func decode(_ bytes: [UInt8], chunk: Int = .max) -> (numbers: [Int64], garbled: Int) {
        var decoder = FrameDecoder()
        var numbers: [Int64] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            decoder.append(rest.prefix(chunk))
            rest = rest.dropFirst(chunk)
            while let message = decoder.next() { numbers.append(message.int(.msgSeqNum) ?? -1) }
        }
        return (numbers, decoder.garbledCount)
    }

    @Test(arguments: 1...200)
    func `does not care how the bytes were cut`(_ chunk: Int) {
        let result = decode(frame(1) + frame(2, "58=longer text\u{1}") + frame(3), chunk: chunk)
        #expect(result.numbers == [1, 2, 3])
        #expect(result.garbled == 0)
    }

    private static let garbled: [(String, [UInt8])] = [
        ("CheckSum wrong", replacing("112=x", "112=y", in: frame(2))),
        ("CheckSum no number", Array(frame(2).dropLast(4)) + Array("abc\u{1}".utf8)),
        ("BodyLength too small", replacing("9=5", "9=4", in: frame(2))),
        ("BodyLength too large", replacing("9=5", "9=6", in: frame(2))),
        ("BodyLength far too large", replacing("9=5", "9=55", in: frame(2))),
        ("BodyLength beyond the maximum", replacing("9=5", "9=999995", in: frame(2))),
        ("BodyLength of nothing", Array("8=FIX.4.4\u{1}9=0\u{1}10=000\u{1}".utf8)),
        ("BodyLength negative", replacing("9=5", "9=-5", in: frame(2))),
        ("BodyLength no number", replacing("9=5", "9=x", in: frame(2))),
        ("BodyLength missing", Array("8=FIX.4.4\u{1}35=0\u{1}10=000\u{1}".utf8)),
        ("BeginString without end", Array("8=FIX.4.4.4.4.4.4.4.4.4.4".utf8)),
        ("BeginString of nobody", replacing("8=FIX", "8=XIF", in: frame(2))),
        ("MsgType not third", Frame.close(Array("49=A\u{1}35=0\u{1}34=2\u{1}".utf8))),
        ("junk", Array("hello\u{1}8=\u{1}10=FIX".utf8)),
        ("a torn frame", Array(frame(2).dropLast(9))),
    ]

    @Test(arguments: garbled.indices)
    func `skips a garbled frame and nothing else`(_ index: Int) {
        let (name, bytes) = Self.garbled[index]
        for chunk in [1, 7, .max] {
            let result = decode(frame(1) + bytes + frame(3) + frame(4), chunk: chunk)
            #expect(result.numbers == [1, 3, 4], "\(name), in pieces of \(chunk)")
            #expect(result.garbled >= 1, "\(name)")
        }
    }

    @Test func `delivers a sound frame of another version, for the session to judge`() {
        let other = Frame.close(Array("35=0\u{1}49=A\u{1}56=B\u{1}34=2\u{1}52=20260316-08:00:00\u{1}".utf8), beginString: "FIX.4.2")
        let result = decode(frame(1) + other + frame(3))
        #expect(result.numbers == [1, 2, 3])
        #expect(result.garbled == 0)
    }

    @Test func `holds no more than a frame of junk`() {
        var decoder = FrameDecoder()
        for _ in 0..<1_000 {
            decoder.append([UInt8](repeating: UInt8(ascii: "x"), count: 1_000))
            #expect(decoder.next() == nil)
            #expect(decoder.pendingBytes < 8)
        }
        #expect(decoder.garbledCount == 1)
        decoder.append(Array("8=FIX.4.4\u{1}9=60000\u{1}35=0\u{1}".utf8))
        for _ in 0..<200 {
            decoder.append([UInt8](repeating: UInt8(ascii: "x"), count: 1_000))
            #expect(decoder.next() == nil)
            #expect(decoder.pendingBytes <= FrameDecoder.maximumFrameBytes)
        }
    }

    @Test func `takes whatever bytes come without a crash`() {
        var generator = SeededGenerator(seed: 4)
        for _ in 0..<300 {
            var bytes = frame(1) + frame(2) + frame(3)
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                let index = Int.random(in: bytes.indices, using: &generator)
                bytes[index] = [UInt8](arrayLiteral: 1, 8, 56, 61, 48, 57, 255, 45).randomElement(using: &generator) ?? 0
            }
            let result = decode(bytes + frame(9) + frame(10) + frame(11), chunk: Int.random(in: 1...80, using: &generator))
            #expect(result.numbers.suffix(2) == [10, 11])
        }
    }
}

/// SplitMix64: the same numbers for the same seed, everywhere.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
