import Testing
import Trading

@testable import Wire

@Suite struct `A JSON writer` {
    @Test func `puts commas where they belong`() {
        var json = JSONWriter()
        json.beginObject()
        json.member("a", 1)
        json.member("b", "x{")
        json.name("c")
        json.beginArray()
        json.string(":")
        json.beginArray()
        json.endArray()
        json.beginObject()
        json.endObject()
        json.null()
        json.bool(false)
        json.verbatim(Array("{\"z\":0}".utf8))
        json.endArray()
        json.member("d", true)
        json.member("e", nil as String?)
        json.member("f", nil as Int64?)
        json.endObject()
        #expect(text(json.bytes) == #"{"a":1,"b":"x{","c":[":",[],{},null,false,{"z":0}],"d":true,"e":null,"f":null}"#)
    }

    @Test func `escapes what must be escaped and nothing else`() {
        var json = JSONWriter()
        json.string("\"\\/\u{8}\u{9}\u{A}\u{C}\u{D}\u{0}\u{1F}\u{7F}é😀")
        #expect(text(json.bytes) == #""\"\\/\b\t\n\f\r\u0000\u001f"# + "\u{7F}é😀\"")
    }

    @Test(
        arguments: [
            (1_255_000, "125.50"),
            (1_255_025, "125.5025"),
            (1_255_020, "125.502"),
            (0, "0.00"),
            (-1, "-0.0001"),
            (10_000, "1.00"),
            (1, "0.0001"),
            (Int64.max, "922337203685477.5807"),
            (Int64.min, "-922337203685477.5808"),
        ] as [(Int64, String)]
    )
    func `writes money exactly, as number and as string`(_ units: Int64, _ money: String) {
        var json = JSONWriter()
        json.beginObject()
        json.member("n", Amount(units: units), as: .number)
        json.member("s", Amount(units: units), as: .string)
        json.member("none", nil, as: .string)
        json.endObject()
        #expect(text(json.bytes) == #"{"n":\#(money),"s":"\#(money)","none":null}"#)
        #expect(money == Amount(units: units).description)
    }

    @Test(arguments: [0, 1, -1, 10, 1_773_648_000_120, Int64.max, Int64.min])
    func `writes whole numbers`(_ number: Int64) {
        var json = JSONWriter()
        json.integer(number)
        #expect(text(json.bytes) == String(number))
    }

    @Test(arguments: 0..<300 as Range<UInt64>)
    func `writes what the reader reads back`(_ seed: UInt64) throws {
        var source = ValueSource(state: seed)
        let value = source.value(depth: 0)
        var json = JSONWriter()
        json.value(value)
        let read = try JSONReader.read(json.bytes, limits: .answer)
        #expect(read == value, "seed \(seed)")
        var again = JSONWriter()
        again.value(read)
        #expect(again.bytes == json.bytes, "seed \(seed)")
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `and the reader never crash on a bent text`(_ seed: UInt64) {
        var source = ValueSource(state: seed)
        var json = JSONWriter()
        json.value(source.value(depth: 0))
        var bent = json.bytes
        for _ in 0...source.below(3) {
            bent[Int(source.below(UInt64(bent.count)))] = UInt8(source.below(256))
        }
        do throws(JSONError) {
            let value = try JSONReader.read(bent, limits: .answer)
            var again = JSONWriter()
            again.value(value)
            #expect((try? JSONReader.read(again.bytes, limits: .answer)) == value, "seed \(seed)")
        } catch {
            #expect((0...bent.count).contains(error.position), "seed \(seed)")
        }
    }
}

@Suite struct `Text as bytes` {
    @Test func `has numbers and money as their own texts have them`() {
        let edges: [Int64] = [0, 1, -1, 9, 10, 99, 100, 9_999, 10_000, 10_001, -10_000, .max, .min, .max - 1, .min + 1]
        for number in edges + (0..<2_000).map({ _ in Int64.random(in: .min ... .max) >> Int64.random(in: 0..<64) }) {
            var json = JSONWriter()
            json.integer(number)
            #expect(json.bytes == Array(String(number).utf8))
            json = JSONWriter()
            json.number(Amount(units: number))
            #expect(json.bytes == Array(Amount(units: number).description.utf8))
            if number >= 0 { #expect(Amount(Amount(units: number).description) == Amount(units: number)) }
        }
    }

    @Test func `is the same only byte by byte`() {
        // Pieces that Swift's own equality mixes up: composed and not, in either order, the Kelvin sign.
        let pieces = ["a", "K", "\u{212A}", "e\u{301}", "\u{E9}", "\u{323}\u{307}", "\u{307}\u{323}", "name_long_enough"]
        for _ in 0..<3_000 {
            let (first, second) = ((0..<2).map { _ in pieces.randomElement()! }.joined(), (0..<2).map { _ in pieces.randomElement()! }.joined())
            #expect(first.hasSameBytes(as: second) == (Array(first.utf8) == Array(second.utf8)))
        }
    }
}

/// Random JSON from a seed (SplitMix64).
private struct ValueSource {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func below(_ bound: UInt64) -> UInt64 { next() % bound }

    mutating func value(depth: Int) -> JSONValue {
        switch below(depth < 5 ? 7 : 5) {
        case 0: return .null
        case 1: return .bool(below(2) == 0)
        case 2: return .number(["0", "-0", "125.50", "1e400", "-3.25E-7", "9007199254740993"][Int(below(6))])
        case 3, 4: return .string(text())
        case 5: return .array((0..<below(5)).map { _ in value(depth: depth + 1) })
        default: return .object((0..<below(5)).map { JSONMember("\($0)" + text(), value(depth: depth + 1)) })
        }
    }

    mutating func text() -> String {
        var scalars = String.UnicodeScalarView()
        for _ in 0..<below(12) {
            let bound: UInt64 = [0x20, 0x80, 0x800, 0x1_0000, 0x11_0000][Int(below(5))]
            if let scalar = Unicode.Scalar(UInt32(below(bound))) { scalars.append(scalar) }
        }
        return String(scalars)
    }
}
