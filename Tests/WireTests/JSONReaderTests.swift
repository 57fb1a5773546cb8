import Testing
import Wire

@Suite struct `A JSON reader` {
    private func error(_ bytes: [UInt8], _ limits: JSONLimits = .request) -> JSONError? {
        do throws(JSONError) {
            let value = try JSONReader.read(bytes, limits: limits)
            Issue.record("Was read as \(value)")
            return nil
        } catch {
            return error
        }
    }

    @Test(
        arguments: [
            ("null", .null),
            (" true ", .bool(true)),
            ("\t\r\nfalse", .bool(false)),
            ("\"\"", .string("")),
            ("[]", .array([])),
            ("{}", .object([])),
            ("[ 1 , 2 ]", .array([.number("1"), .number("2")])),
            ("[[],{}]", .array([.array([]), .object([])])),
            (
                #"{"b":1,"a":{"b":null}}"#,
                .object([JSONMember("b", .number("1")), JSONMember("a", .object([JSONMember("b", .null)]))])
            ),
        ] as [(String, JSONValue)]
    )
    func `reads every kind of value`(_ json: String, _ value: JSONValue) throws {
        #expect(try JSONReader.read(Array(json.utf8)) == value)
    }

    @Test(
        arguments: [
            "0", "-0", "125.50", "12550.00", "1e400", "1E+5", "-1.5e-3", "100000000000000000000000000000000000000000000", "0.1", "0e0",
        ]
    )
    func `keeps a number's own text`(_ text: String) throws {
        #expect(try JSONReader.read(Array(text.utf8)) == .number(text))
        #expect(try JSONReader.read(Array("[\(text)]".utf8)) == .array([.number(text)]))
    }

    @Test(
        arguments: [
            (#""a\"\\\/\b\f\n\r\tz""#, "a\"\\/\u{8}\u{C}\n\r\tz"),
            (#""\u0041\u00e9\u20AC""#, "Aé€"),
            (#""\ud83d\ude00!""#, "😀!"),
            (#""\u0000""#, "\u{0}"),
            ("\"é€😀\"", "é€😀"),
            ("\"\u{7F}\"", "\u{7F}"),
            (#""\uD7FF\uE000\uFFFF""#, "\u{D7FF}\u{E000}\u{FFFF}"),
            (#""\uDBFF\uDFFF""#, "\u{10FFFF}"),
            (#""x\ny\n""#, "x\ny\n"),
        ]
    )
    func `unescapes strings`(_ json: String, _ text: String) throws {
        let value = try JSONReader.read(Array(json.utf8))
        guard case .string(let read) = value else { return #expect(Bool(false), "\(value) is no string") }
        #expect(Array(read.utf8) == Array(text.utf8))
    }

    @Test(
        arguments: [
            ("", .unexpectedEnd, 0),
            ("   ", .unexpectedEnd, 3),
            ("{", .unexpectedEnd, 1),
            ("[1", .unexpectedEnd, 2),
            ("\"a", .unexpectedEnd, 2),
            ("{\"a\"", .unexpectedEnd, 4),
            ("{\"a\":", .unexpectedEnd, 5),
            ("{\"a\":1,", .unexpectedEnd, 7),
            ("-", .unexpectedEnd, 1),
            ("1.", .unexpectedEnd, 2),
            ("1e", .unexpectedEnd, 2),
            ("1e+", .unexpectedEnd, 3),
            ("tru", .unexpectedEnd, 3),
            ("\"\\", .unexpectedEnd, 2),
            ("\"\\u12", .unexpectedEnd, 5),
            ("\"\\ud800", .loneSurrogate, 1),
            ("\"\\ud800\\u", .unexpectedEnd, 9),
            ("{}x", .trailingBytes, 2),
            ("1 2", .trailingBytes, 2),
            ("null\u{0}", .trailingBytes, 4),
            ("{}{}", .trailingBytes, 2),
            ("{a:1}", .unexpectedByte, 1),
            ("{'a':1}", .unexpectedByte, 1),
            ("{\"a\" 1}", .unexpectedByte, 5),
            ("{\"a\":1,}", .unexpectedByte, 7),
            ("[1,]", .unexpectedByte, 3),
            ("[,1]", .unexpectedByte, 1),
            ("[1 2]", .unexpectedByte, 3),
            ("[1}", .unexpectedByte, 2),
            ("{\"a\":1 \"b\":2}", .unexpectedByte, 7),
            ("{1:2}", .unexpectedByte, 1),
            ("NaN", .unexpectedByte, 0),
            ("Infinity", .unexpectedByte, 0),
            ("+1", .unexpectedByte, 0),
            (".5", .unexpectedByte, 0),
            ("True", .unexpectedByte, 0),
            ("nul0", .unexpectedByte, 3),
            ("/**/1", .unexpectedByte, 0),
            ("\u{FEFF}{}", .unexpectedByte, 0),
            ("\u{A0}1", .unexpectedByte, 0),
            ("\u{C}1", .unexpectedByte, 0),
            ("01", .invalidNumber, 0),
            ("-01", .invalidNumber, 1),
            ("1.x", .invalidNumber, 2),
            ("1ex", .invalidNumber, 2),
            ("-x", .invalidNumber, 1),
            ("-Infinity", .invalidNumber, 1),
            ("0x10", .trailingBytes, 1),
            (#"{"a":1,"a":2}"#, .duplicateMember, 7),
            (#"{"a":1,"\u0061":2}"#, .duplicateMember, 7),
            (#"{"":1,"":2}"#, .duplicateMember, 6),
            (#"{"x":{"a":1,"a":1}}"#, .duplicateMember, 12),
            (#"[{"a":1,"b":2,"a":1}]"#, .duplicateMember, 14),
            ("\"a\nb\"", .controlCharacter, 2),
            ("\"\u{0}\"", .controlCharacter, 1),
            ("\"\u{1F}\"", .controlCharacter, 1),
            (#""\x""#, .invalidEscape, 1),
            (#""\u12G4""#, .invalidEscape, 1),
            (#""\U0041""#, .invalidEscape, 1),
            (#""\u+041""#, .invalidEscape, 1),
            (#""\ud800""#, .loneSurrogate, 1),
            (#""\udc00""#, .loneSurrogate, 1),
            (#""\ud800x""#, .loneSurrogate, 1),
            (#""\ud800\u0041""#, .loneSurrogate, 1),
            (#""\ud800\ud800""#, .loneSurrogate, 1),
            (#""\udc00\udc00""#, .loneSurrogate, 1),
            (#""\udc00\ud800""#, .loneSurrogate, 1),
            (#"{"a\ud800":1}"#, .loneSurrogate, 3),
        ] as [(String, JSONError.Code, Int)]
    )
    func `refuses what is not strict JSON and says where`(_ json: String, _ code: JSONError.Code, _ position: Int) {
        let error = error(Array(json.utf8))
        #expect(error?.code == code)
        #expect(error?.position == position)
        #expect(error?.message.isEmpty == false)
    }

    @Test(
        arguments: [
            [0x80],
            [0xBF],
            [0xC0, 0x80],
            [0xC1, 0xBF],
            [0xC3],
            [0xC3, 0x28],
            [0xE0, 0x80, 0x80],
            [0xE0, 0x9F, 0xBF],
            [0xE2, 0x82],
            [0xED, 0xA0, 0x80],
            [0xED, 0xBF, 0xBF],
            [0xF0, 0x80, 0x80, 0x80],
            [0xF0, 0x8F, 0xBF, 0xBF],
            [0xF4, 0x90, 0x80, 0x80],
            [0xF5, 0x80, 0x80, 0x80],
            [0xF8, 0x88, 0x80, 0x80, 0x80],
            [0xFE],
            [0xFF],
            [0xF0, 0x9F, 0x98],
        ] as [[UInt8]]
    )
    func `refuses invalid UTF-8 in strings and names`(_ bytes: [UInt8]) {
        let inString = error([0x22, 0x61] + bytes + [0x22])
        #expect(inString?.code == .invalidUTF8)
        #expect(inString?.position == 2)
        #expect(error([0x7B, 0x22] + bytes + Array("\":1}".utf8))?.code == .invalidUTF8)
        #expect(error([0x22] + bytes)?.code == .invalidUTF8)
        #expect(error(bytes)?.code == .unexpectedByte)
    }

    @Test(
        arguments: [
            [0xC2, 0x80],
            [0xDF, 0xBF],
            [0xE0, 0xA0, 0x80],
            [0xED, 0x9F, 0xBF],
            [0xEE, 0x80, 0x80],
            [0xEF, 0xBF, 0xBF],
            [0xF0, 0x90, 0x80, 0x80],
            [0xF4, 0x8F, 0xBF, 0xBF],
        ] as [[UInt8]]
    )
    func `takes the first and last of each length of UTF-8`(_ bytes: [UInt8]) throws {
        #expect(try JSONReader.read([0x22] + bytes + [0x22]) == .string(String(decoding: bytes, as: UTF8.self)))
    }

    @Test func `tells names apart by their bytes`() throws {
        let value = try JSONReader.read(Array("{\"K\":1,\"\u{212A}\":2,\"é\":3,\"e\u{301}\":4}".utf8))
        #expect(value["K"] == .number("1"))
        #expect(value["\u{212A}"] == .number("2"))
        #expect(value["e\u{301}"] == .number("4"))
        #expect(value["k"] == nil)
        #expect(JSONValue.null["K"] == nil)
    }

    @Test(arguments: ["[", "{\"a\":", "[{\"a\":", "["], [500, 1_000_000])
    func `refuses depth bombs without falling in`(_ opening: String, _ count: Int) {
        let bomb = Array(String(repeating: opening, count: count).utf8)
        let roomy = JSONLimits(bytes: bomb.count, depth: 16, members: 64)
        #expect(error(bomb, roomy)?.code == .tooDeep)
        #expect(error(bomb)?.code == (bomb.count > JSONLimits.request.bytes ? .tooLarge : .tooDeep))
    }

    @Test func `takes exactly the named depth, size and number of members`() throws {
        let limits = JSONLimits(bytes: 12, depth: 3, members: 2)
        #expect(try JSONReader.read(Array("[[[1]]]".utf8), limits: limits) == .array([.array([.array([.number("1")])])]))
        #expect(error(Array("[[[[]]]]".utf8), limits)?.code == .tooDeep)
        #expect(try JSONReader.read(Array("123456789012".utf8), limits: limits) == .number("123456789012"))
        let large = error(Array("1234567890123".utf8), limits)
        #expect(large?.code == .tooLarge)
        #expect(large?.position == 12)
        let roomy = JSONLimits(bytes: 100, depth: 3, members: 2)
        #expect(try JSONReader.read(Array(#"{"a":1,"b":2}"#.utf8), limits: roomy)["b"] == .number("2"))
        #expect(error(Array(#"{"a":1,"b":2,"c":3}"#.utf8), roomy)?.code == .tooManyMembers)
    }

    @Test func `names each kind`() {
        let values: [JSONValue] = [.object([]), .array([]), .string(""), .number("1"), .bool(true), .null]
        #expect(values.map(\.kind) == ["an object", "an array", "a string", "a number", "a boolean", "null"])
    }
}
