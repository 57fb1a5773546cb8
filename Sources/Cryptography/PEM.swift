/// Textual encoding of keys (RFC 7468), strict: one block, its label named on both sides, base64 in between.
enum PEM {
    static func encode(_ bytes: [UInt8], label: String) -> String {
        let digits = Array(Base64.standard.encode(bytes).utf8)
        var lines = ["-----BEGIN \(label)-----"]
        for start in stride(from: 0, to: digits.count, by: 64) {
            lines.append(String(decoding: digits[start..<min(start + 64, digits.count)], as: UTF8.self))
        }
        lines.append("-----END \(label)-----")
        return lines.joined(separator: "\n") + "\n"
    }

    /// The bytes of the only block in the text; lines may end in CR LF or LF, white space around the block is forgiven.
    static func decode(_ text: String, label: String, operation: String) throws(CryptographyError) -> [UInt8] {
        // CR LF is one Character in Swift: split by code units.
        var lines = text.utf8.split { $0 == 0x0A || $0 == 0x0D }.map { String(Substring($0)) }
        while lines.last?.allSatisfy(\.isWhitespace) == true { lines.removeLast() }
        while lines.first?.allSatisfy(\.isWhitespace) == true { lines.removeFirst() }
        guard lines.count >= 3, lines[0].hasPrefix("-----BEGIN "), lines[0].hasSuffix("-----") else {
            throw CryptographyError(.malformed, operation, "there is no PEM block")
        }
        guard lines[0] == "-----BEGIN \(label)-----" else {
            throw CryptographyError(.wrongKeyType, operation, "the PEM block is not labelled \(label)")
        }
        guard lines[lines.count - 1] == "-----END \(label)-----" else {
            throw CryptographyError(.malformed, operation, "the PEM block does not end with its label, or something follows it")
        }
        guard let bytes = Base64.standard.decode(lines[1..<(lines.count - 1)].joined()) else {
            throw CryptographyError(.malformed, operation, "the PEM block is not base64")
        }
        return bytes
    }
}
