import Testing

@testable import Cryptography

private func parse(_ text: String) throws -> JOSEValue { try JOSEValue(parsing: Array(text.utf8)) }

@Suite struct `A JSON text` {
    @Test func `is read into its values`() throws {
        let text = " {\"a\" : [1, -0, 2.50, 1e3, 1E-2, true, false, null, {}, []] ,\n\t\"b\":\"\"}\r\n"
        let numbers = ["1", "-0", "2.50", "1e3", "1E-2"].map(JOSEValue.number)
        let rest: [JOSEValue] = [.bool(true), .bool(false), .null, .object([:]), .array([])]
        #expect(try parse(text) == .object(["a": .array(numbers + rest), "b": .string("")]))
    }

    @Test func `has its escapes undone`() throws {
        #expect(try parse(#""\"\\\/\b\f\n\r\t\u0041\u00e9\u20AC\uD83D\uDE00\u0000""#) == .string("\"\\/\u{8}\u{C}\n\r\tA\u{E9}\u{20AC}\u{1F600}\0"))
        #expect(try parse("\"\u{1F600}\"") == .string("\u{1F600}"))
    }

    @Test(arguments: [
        #"{"alg":"RS256","alg":"none"}"#, #"{"a":1,"b":{"c":1,"c":1}}"#, #"{"alg":1,"\u0061lg":2}"#, #"{"a":1,"b":2,"a":1}"#,
    ])
    func `with a member that stands twice is refused`(_ text: String) {
        #expect(throws: CryptographyError.self) { try parse(text) }
    }

    @Test(arguments: [
        "", " ", "{", "[", "\"", "{}{}", "{} x", "{,}", "[,]", "[1,]", "{\"a\":1,}", "{a:1}", "{'a':1}", "{\"a\"}", "{\"a\":}", "{\"a\" 1}", "[1 2]",
        "01", "-", "+1", "1.", ".5", "1e", "1e+", "0x1", "NaN", "Infinity", "tru", "nul", "True", "// x\n1", "1 /* x */", "\u{FEFF}1", "[1}",
        "{\"a\":1]",
        "\"\n\"", "\"\u{1}\"", "\"\\x\"", "\"\\u12\"", "\"\\u12G4\"", "\"\\uD800\"", "\"\\uDC00\"", "\"\\uD800\\u0041\"", "\"\\uD800x\"",
        "\"\\u+123\"",
    ])
    func `outside the grammar is refused`(_ text: String) {
        #expect(throws: CryptographyError.self) { try parse(text) }
    }

    @Test(arguments: [[0x22, 0xFF, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22], [0x22, 0xE2, 0x82, 0x22]] as [[UInt8]])
    func `that is not UTF-8 is refused`(_ bytes: [UInt8]) {
        #expect(throws: CryptographyError.self) { try JOSEValue(parsing: bytes) }
    }

    @Test func `nested deeper than 16 is refused`() throws {
        _ = try parse(String(repeating: "[", count: 17) + String(repeating: "]", count: 17))
        #expect(throws: CryptographyError.self) { try parse(String(repeating: "[", count: 18) + String(repeating: "]", count: 18)) }
        #expect(throws: CryptographyError.self) { try parse(String(repeating: "[", count: 1_000_000)) }
    }

    @Test func `is written so that it is read back`() throws {
        let value: JOSEValue = .object([
            "z": .array([.null, .bool(true), .number("1.50")]), "a": .string("\"\\\n\u{0}\u{1F600}/"), "\"": .object([:]),
        ])
        #expect(try parse(value.json) == value)
        #expect(JOSEValue.object(["b": .number("1"), "a": .string("x\n")]).json == #"{"a":"x\u000a","b":1}"#)
    }

    @Test(
        arguments: [
            ("0", 0), ("1773648000", 1_773_648_000_000), ("1773648000.5", 1_773_648_000_500), ("1.773648e9", 1_773_648_000_000), ("0.0009", 0),
            ("-1", nil), ("1e300", nil), ("1e999", nil), ("253402300800", nil), ("\"1\"", nil), ("true", nil), ("null", nil),
        ] as [(String, Int64?)]
    )
    func `gives a date in milliseconds`(_ text: String, _ milliseconds: Int64?) throws {
        #expect(try parse(text).millisecondsSinceEpoch == milliseconds)
    }
}
