import Foundation
import Testing

@testable import Cryptography

@Suite struct `A base64 text` {
    // RFC 4648 section 10.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
    ])
    func `reads and writes the examples of its RFC`(_ plain: String, _ text: String) {
        #expect(Base64.standard.encode(Array(plain.utf8)) == text)
        #expect(Base64.standard.decode(text) == Array(plain.utf8))
        let unpadded = text.filter { $0 != "=" }
        #expect(Base64.url.encode(Array(plain.utf8)) == unpadded)
        #expect(Base64.url.decode(unpadded) == Array(plain.utf8))
    }

    @Test func `agrees with Foundation on every byte and length`() {
        for length in 0..<300 {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ length) }
            let text = Data(bytes).base64EncodedString()
            #expect(Base64.standard.encode(bytes) == text)
            #expect(Base64.standard.decode(text) == bytes)
            let url = text.replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_").filter { $0 != "=" }
            #expect(Base64.url.encode(bytes) == url)
            #expect(Base64.url.decode(url) == bytes)
        }
    }

    @Test(arguments: [
        "Zg", "Zg=", "Zg===", "Zg==\n", " Zg==", "Z g==", "Zm8", "Zm8==", "Zm9v=", "Zm9v====", "=", "==", "===", "====", "Z===", "Z",
        "Zm=v", "Zg==Zg==", "Zm9v-A==", "Zm9v_w==", "Zm9\u{0}", "Zm9\u{E9}", "Zh==", "Zm9=", "!m9v",
    ])
    func `refuses what is not exactly standard`(_ text: String) {
        #expect(Base64.standard.decode(text) == nil)
    }

    @Test(arguments: ["Zg==", "Zm8=", "Z", "Zm9vY", "Zh", "Zm9", "Zm9v+w", "Zm9v/w", "Zm 9v", "Zm9v\n", "Zm9v.", "Zm9\u{E9}"])
    func `refuses what is not exactly the form for URLs`(_ text: String) {
        #expect(Base64.url.decode(text) == nil)
    }

    @Test func `decodes just one text to each byte string`() {
        // All texts of one group: those accepted are exactly those that encode would write.
        let alphabet = Array("AQgw/+z=-".utf8)
        for a in alphabet {
            for b in alphabet {
                for c in alphabet {
                    for d in alphabet {
                        for form in [Base64.standard, .url] {
                            if let bytes = form.decode([a, b, c, d]) { #expect(Array(form.encode(bytes).utf8) == [a, b, c, d]) }
                        }
                    }
                }
            }
        }
    }
}
