import Testing
import Wire

@Suite struct `Base64 text` {
    @Test(
        arguments: [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ]
    )
    func `meets the vectors of RFC 4648`(_ plain: String, _ encoded: String) {
        #expect(Base64.encode(Array(plain.utf8)) == encoded)
        #expect(Base64.decode(encoded, limitBytes: 10) == Array(plain.utf8))
    }

    @Test(
        arguments: [
            "Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "Zm9v\n", " Zm9", "Zm9v Zm9v", "Zm-_", "Z===", "====", "=Zm9", "Zm=v", "Zg==Zg==", "Zm9é",
            "Zm9\u{0}",
        ]
    )
    func `refuses every second spelling`(_ encoded: String) {
        #expect(Base64.decode(encoded, limitBytes: 100) == nil)
    }

    @Test func `gives every byte back, at every length`() {
        for count in 0...256 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 37 + count) }
            #expect(Base64.decode(Base64.encode(bytes), limitBytes: count) == bytes)
            if count > 0 { #expect(Base64.decode(Base64.encode(bytes), limitBytes: count - 1) == nil) }
        }
    }

    @Test func `has a form that is safe in addresses`() {
        #expect(Base64.encode([0xFB, 0xFF, 0xFE]) == "+//+")
        #expect(Base64.encodeURLSafe([0xFB, 0xFF, 0xFE]) == "-__-")
        #expect(Base64.encodeURLSafe(Array(repeating: 0xFF, count: 32)) == String(repeating: "_", count: 42) + "8")
    }
}
