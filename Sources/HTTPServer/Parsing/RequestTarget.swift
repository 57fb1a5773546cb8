/// The request target of RFC 9112 section 3.2, taken apart and decoded.
struct RequestTarget {
    let path: String
    let query: [(name: String, value: String)]

    /// Takes origin-form, absolute-form, and `*` for OPTIONS. The bytes are known to be visible ASCII.
    init(_ target: ArraySlice<UInt8>, method: HTTPMethod) throws(RequestFault) {
        var rest = target
        if rest.first != UInt8(ascii: "/") {
            if method == .options, rest.elementsEqual("*".utf8) {
                path = "*"
                query = []
                return
            }
            rest = try Self.withoutAuthority(rest)
        }
        let mark = rest.firstIndex(of: UInt8(ascii: "?"))
        let rawPath = rest[..<(mark ?? rest.endIndex)]
        path = rawPath.isEmpty ? "/" : try Self.decode(rawPath, isQuery: false)
        guard let mark else {
            query = []
            return
        }
        var pairs: [(name: String, value: String)] = []
        for part in rest[(mark + 1)...].split(separator: UInt8(ascii: "&")) {
            let equals = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            let name = try Self.decode(part[..<equals], isQuery: true)
            let value = try Self.decode(part[min(equals + 1, part.endIndex)...], isQuery: true)
            pairs.append((name, value))
        }
        query = pairs
    }

    /// `http://host:port/path` becomes `/path`: RFC 9112 section 3.2.2 asks every server to take it.
    private static func withoutAuthority(_ target: ArraySlice<UInt8>) throws(RequestFault) -> ArraySlice<UInt8> {
        for scheme in ["http://", "https://"] where target.count > scheme.utf8.count {
            guard zip(target, scheme.utf8).allSatisfy({ HTTPHeaders.lowercased($0) == $1 }) else { continue }
            let authority = target.dropFirst(scheme.utf8.count)
            let end = authority.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? authority.endIndex
            guard end > authority.startIndex else { break }
            return authority[end...]
        }
        throw .malformed("The request target is neither a path nor a URL.")
    }

    private static func decode(_ bytes: ArraySlice<UInt8>, isQuery: Bool) throws(RequestFault) -> String {
        if !bytes.contains(where: { $0 == UInt8(ascii: "%") || (isQuery && $0 == UInt8(ascii: "+")) }) {
            return String(decoding: bytes, as: UTF8.self)
        }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            if byte == UInt8(ascii: "%") {
                guard index + 2 < bytes.endIndex, let high = hexadecimal(bytes[index + 1]), let low = hexadecimal(bytes[index + 2]) else {
                    throw .malformed("The request target has a percent sign without two hexadecimal digits.")
                }
                let value = high << 4 | low
                guard value != 0, isQuery || value != UInt8(ascii: "/") else {
                    throw .malformed("The request target has an encoded NUL or slash.")
                }
                decoded.append(value)
                index += 3
            } else {
                decoded.append(isQuery && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
                index += 1
            }
        }
        guard let text = String(validating: decoded, as: UTF8.self) else { throw .malformed("The request target is not UTF-8.") }
        return text
    }

    static func hexadecimal(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }
}
