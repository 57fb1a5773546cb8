/// A whole request: nothing of it is still under way when a handler sees it. An object, because it goes through many hands and never changes.
package final class HTTPRequest: Sendable {
    /// Unique within one `HTTPListener`.
    package let id: UInt64
    package let method: HTTPMethod
    /// Percent-decoded, without the query. Never contains an encoded slash or NUL: those targets are refused.
    package let path: String
    /// Decoded as HTML forms are (`+` is a space), in the order of the target; a name without `=` has an empty value.
    package let query: [(name: String, value: String)]
    package let headers: HTTPHeaders
    package let body: [UInt8]
    /// The peer of the TCP connection, without its port.
    package let peerAddress: String
    /// When the last byte had been read.
    package let receivedAt: ContinuousClock.Instant
    package let isVersion10: Bool

    package init(
        id: UInt64 = 0,
        method: HTTPMethod,
        path: String,
        query: [(name: String, value: String)] = [],
        headers: HTTPHeaders = HTTPHeaders(),
        body: [UInt8] = [],
        peerAddress: String = "127.0.0.1",
        receivedAt: ContinuousClock.Instant = .now,
        isVersion10: Bool = false
    ) {
        self.id = id
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
        self.peerAddress = peerAddress
        self.receivedAt = receivedAt
        self.isVersion10 = isVersion10
    }

    /// The value of the first query parameter of this name.
    package func query(_ name: String) -> String? { query.first { $0.name == name }?.value }
}

/// The methods that are handed to the program (RFC 9110 section 9, RFC 5789). All others are answered 501; 405 is the router's business.
package enum HTTPMethod: String, Sendable, CaseIterable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
    case delete = "DELETE"
    case options = "OPTIONS"
}

/// Header fields in the order received, in one block of bytes: most are never looked at.
package struct HTTPHeaders: Sendable {
    struct Field: Sendable {
        var nameStart: Int32
        var nameEnd: Int32
        var valueStart: Int32
        var valueEnd: Int32
    }

    /// Names in lower case.
    private(set) var bytes: [UInt8]
    private(set) var fields: [Field]

    init(bytes: [UInt8], fields: [Field]) {
        self.bytes = bytes
        self.fields = fields
    }

    package init() {
        self.init(bytes: [], fields: [])
    }

    /// For tests and for requests that were not received.
    package init(_ list: [(name: String, value: String)]) {
        self.init()
        for (name, value) in list {
            let start = Int32(bytes.count)
            bytes.append(contentsOf: name.utf8.map(Self.lowercased))
            let middle = Int32(bytes.count)
            bytes.append(contentsOf: value.utf8)
            fields.append(Field(nameStart: start, nameEnd: middle, valueStart: middle, valueEnd: Int32(bytes.count)))
        }
    }

    package var count: Int { fields.count }

    /// The value of the first field of this name, any case. Bytes that are not UTF-8 become U+FFFD.
    package func first(_ name: String) -> String? {
        for field in fields where isNamed(field, name) { return text(field) }
        return nil
    }

    /// The values of all fields of this name, in order.
    package func all(_ name: String) -> [String] {
        fields.filter { isNamed($0, name) }.map(text)
    }

    /// How often a field of this name, any case, stands there, and the bytes of the first one's value: what must be single is checked by the
    /// count, and no text is made of what is only compared.
    package func single(_ name: String) -> (count: Int, value: ArraySlice<UInt8>) {
        var found = (count: 0, value: bytes[0..<0])
        for field in fields where isNamed(field, name) {
            if found.count == 0 { found.value = value(of: field) }
            found.count += 1
        }
        return found
    }

    /// All fields, names in lower case.
    package var list: [(name: String, value: String)] {
        fields.map { (String(decoding: bytes[Int($0.nameStart)..<Int($0.nameEnd)], as: UTF8.self), text($0)) }
    }

    func value(of field: Field) -> ArraySlice<UInt8> { bytes[Int(field.valueStart)..<Int(field.valueEnd)] }

    func isNamed(_ field: Field, _ name: String) -> Bool {
        let start = Int(field.nameStart)
        guard Int(field.nameEnd) - start == name.utf8.count else { return false }
        var name = name
        return name.withUTF8 { name in
            for index in 0..<name.count where unsafe bytes[start + index] != Self.lowercased(name[index]) { return false }
            return true
        }
    }

    private func text(_ field: Field) -> String { String(decoding: value(of: field), as: UTF8.self) }

    @inline(__always)
    static func lowercased(_ byte: UInt8) -> UInt8 { byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte }
}
