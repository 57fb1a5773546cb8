import BinaryFeed
import Testing

@Suite struct `A frame of the binary feed` {
    @Test func `is 40 bytes, little-endian, as documented`() {
        let frame = BinaryFrame(
            .change,
            id: 0x030201,
            isHalted: true,
            generation: 5,
            number: 0x0706_0504,
            bid: 0x0F0E_0D0C_0B0A_0908,
            ask: 0x1716_1514_1312_1110,
            last: 0x1F1E_1D1C_1B1A_1918,
            volume: 0x2322_2120,
            ofDay: 0x2726_2524
        )
        var expected = [UInt8](0...39)
        (expected[0], expected[1], expected[2]) = (1, 2, 3)
        expected[3] = 0b1101_0001
        #expect(frame.bytes == expected)
        let bytes = frame.bytes
        let read = BinaryFrame(unsafe bytes.span.bytes, at: 0)
        #expect(read == frame)
        #expect(read.kind == .change)
    }

    @Test(arguments: ["A", "BRK.B", "ABCDEFGH", "ABCDEFGHIJKLMNOP"])
    func `carries a name and the session`(_ name: String) {
        let session: UInt64 = 1_800_000_000_123
        let bytes = BinaryFrame.definition(name, id: 7, session: session, count: 40, ofDay: 1_000).bytes
        let read = BinaryFrame(unsafe bytes.span.bytes, at: 0)
        #expect((read.name, read.session, read.id, read.number, read.kind) == (name, session, 7, 40, .definition))
        #expect(read.generation == BinaryFrame.generation(of: session))
    }

    @Test func `has no name in bytes that are no text`() {
        var frame = BinaryFrame(.definition)
        #expect(frame.name == nil)
        frame.bid = 0x41_0041
        #expect(frame.name == nil)
        frame.bid = -1
        #expect(frame.name == nil)
    }
}
