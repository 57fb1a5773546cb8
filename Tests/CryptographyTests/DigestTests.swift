import Testing

@testable import Cryptography

@Suite struct `A digest` {
    // FIPS 180-4's own examples.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        ("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"),
    ])
    func `is that of the standard`(_ message: String, _ digest: String) {
        #expect(sha256(Array(message.utf8)) == hex(digest))
    }

    @Test func `of a million letters is that of the standard`() {
        let digest = sha256([UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000))
        #expect(digest == hex("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"))
    }
}

@Suite struct `Comparing in constant time` {
    @Test func `tells equal from different`() {
        #expect(constantTimeEquals([], []))
        #expect(constantTimeEquals([1, 2, 3], [1, 2, 3]))
        #expect(!constantTimeEquals([1, 2, 3], [1, 2, 4]))
        #expect(!constantTimeEquals([0, 2, 3], [1, 2, 3]))
        #expect(!constantTimeEquals([1, 2], [1, 2, 3]))
        #expect(!constantTimeEquals([], [0]))
    }
}

@Suite struct `Random bytes` {
    @Test func `come in the wanted number and never twice the same`() throws {
        #expect(try randomBytes(count: 0) == [])
        let draws = try Set((0..<100).map { _ in try randomBytes(count: 32) })
        #expect(draws.count == 100)
        #expect(draws.allSatisfy { $0.count == 32 })
    }
}
