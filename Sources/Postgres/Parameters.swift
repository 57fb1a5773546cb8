/// The values of `$1…` in PostgreSQL's binary form, in one buffer that can be used again: no object per value or per row.
///
/// `append` in the order of the parameters; `removeAll()` keeps the memory. Arrays are for `unnest($1::int8[], …)`.
package struct Parameters: Sendable {
    var bytes: [UInt8] = []
    /// Where each value begins in `bytes`, and its length; the length of NULL is -1.
    var values: [(offset: Int, length: Int)] = []
    private(set) var types: [UInt32] = []

    package init() {}

    package var count: Int { types.count }

    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        values.removeAll(keepingCapacity: true)
        types.removeAll(keepingCapacity: true)
    }

    package mutating func append(_ value: Int64?) { scalar(TypeOID.int8, value) { $0.appendBigEndian($1) } }
    package mutating func append(_ value: Int32?) { scalar(TypeOID.int4, value) { $0.appendBigEndian($1) } }
    package mutating func append(_ value: Int16?) { scalar(TypeOID.int2, value) { $0.appendBigEndian($1) } }
    package mutating func append(_ value: Bool?) { scalar(TypeOID.bool, value) { $0.append($1 ? 1 : 0) } }
    package mutating func append(_ value: String?) { scalar(TypeOID.text, value) { $0.append(contentsOf: $1.utf8) } }
    package mutating func append(_ value: [UInt8]?) { scalar(TypeOID.bytea, value) { $0.append(contentsOf: $1) } }
    package mutating func append(_ value: UUIDBits?) {
        scalar(TypeOID.uuid, value) {
            $0.appendBigEndian($1.high)
            $0.appendBigEndian($1.low)
        }
    }

    package mutating func append(_ values: [Int64]) { append(arrayOf: .int8) { for value in values { $0.append(value) } } }
    package mutating func append(_ values: [Int64?]) { append(arrayOf: .int8) { for value in values { $0.append(value) } } }
    package mutating func append(_ values: [Int32]) { append(arrayOf: .int4) { for value in values { $0.append(value) } } }
    package mutating func append(_ values: [Int32?]) { append(arrayOf: .int4) { for value in values { $0.append(value) } } }
    package mutating func append(_ values: [Int16]) { append(arrayOf: .int2) { for value in values { $0.append(value) } } }
    package mutating func append(_ values: [Int16?]) { append(arrayOf: .int2) { for value in values { $0.append(value) } } }
    package mutating func append(_ values: [Bool]) { append(arrayOf: .bool) { for value in values { $0.append(value) } } }
    package mutating func append(_ values: [Bool?]) { append(arrayOf: .bool) { for value in values { $0.append(value) } } }
    package mutating func append(_ values: [String]) { append(arrayOf: .text) { for value in values { $0.append(value) } } }
    package mutating func append(_ values: [String?]) { append(arrayOf: .text) { for value in values { $0.append(value) } } }
    package mutating func append(_ values: [[UInt8]]) { append(arrayOf: .bytea) { for value in values { $0.append(value) } } }
    package mutating func append(_ values: [[UInt8]?]) { append(arrayOf: .bytea) { for value in values { $0.append(value) } } }
    package mutating func append(_ values: [UUIDBits]) { append(arrayOf: .uuid) { for value in values { $0.append(value) } } }
    package mutating func append(_ values: [UUIDBits?]) { append(arrayOf: .uuid) { for value in values { $0.append(value) } } }

    /// Appends an array whose elements the body writes one after the other, straight from where they are.
    package mutating func append(arrayOf element: ArrayWriter.Element, _ body: (inout ArrayWriter) -> Void) {
        let start = bytes.count
        // The buffer moves into the writer and back: two owners at once would copy it.
        var writer = ArrayWriter(element: element, bytes: bytes)
        bytes = []
        writer.begin()
        body(&writer)
        writer.end()
        swap(&bytes, &writer.bytes)
        values.append((start, bytes.count - start))
        types.append(element.arrayType)
    }

    private mutating func scalar<Value>(_ type: UInt32, _ value: Value?, _ write: (inout [UInt8], Value) -> Void) {
        let start = bytes.count
        if let value { write(&bytes, value) }
        values.append((start, value == nil ? -1 : bytes.count - start))
        types.append(type)
    }
}

/// Writes the elements of one array parameter. An element of another type than the array's is a fault.
package struct ArrayWriter {
    package enum Element: Sendable {
        case bool
        case bytea
        case int2
        case int4
        case int8
        case text
        case uuid

        var elementType: UInt32 {
            switch self {
            case .bool: TypeOID.bool
            case .bytea: TypeOID.bytea
            case .int2: TypeOID.int2
            case .int4: TypeOID.int4
            case .int8: TypeOID.int8
            case .text: TypeOID.text
            case .uuid: TypeOID.uuid
            }
        }

        var arrayType: UInt32 {
            switch self {
            case .bool: TypeOID.boolArray
            case .bytea: TypeOID.byteaArray
            case .int2: TypeOID.int2Array
            case .int4: TypeOID.int4Array
            case .int8: TypeOID.int8Array
            case .text: TypeOID.textArray
            case .uuid: TypeOID.uuidArray
            }
        }
    }

    private let element: Element
    fileprivate var bytes: [UInt8]
    private var start = 0
    private var count: Int32 = 0
    private var hasNull = false

    fileprivate init(element: Element, bytes: consuming [UInt8]) {
        self.element = element
        self.bytes = bytes
    }

    package mutating func appendNull() {
        count += 1
        hasNull = true
        bytes.appendBigEndian(Int32(-1))
    }

    package mutating func append(_ value: Int64?) {
        guard let value, admit(.int8, 8) else { return appendNull() }
        bytes.appendBigEndian(value)
    }

    package mutating func append(_ value: Int32?) {
        guard let value, admit(.int4, 4) else { return appendNull() }
        bytes.appendBigEndian(value)
    }

    package mutating func append(_ value: Int16?) {
        guard let value, admit(.int2, 2) else { return appendNull() }
        bytes.appendBigEndian(value)
    }

    package mutating func append(_ value: Bool?) {
        guard let value, admit(.bool, 1) else { return appendNull() }
        bytes.append(value ? 1 : 0)
    }

    package mutating func append(_ value: String?) {
        guard let value, admit(.text, value.utf8.count) else { return appendNull() }
        bytes.append(contentsOf: value.utf8)
    }

    package mutating func append(_ value: UUIDBits?) {
        guard let value, admit(.uuid, 16) else { return appendNull() }
        bytes.appendBigEndian(value.high)
        bytes.appendBigEndian(value.low)
    }

    package mutating func append(_ value: [UInt8]?) {
        guard let value, admit(.bytea, value.count) else { return appendNull() }
        bytes.append(contentsOf: value)
    }

    /// Writes the length of an element that follows; always true, so that it can stand in the guard.
    private mutating func admit(_ given: Element, _ length: Int) -> Bool {
        precondition(given == element, "An element of type \(given) was written into an array of \(element).")
        count += 1
        bytes.appendBigEndian(Int32(length))
        return true
    }

    /// The head of an array (array_recv in PostgreSQL): dimensions, whether there are NULLs, type, length, lower bound.
    fileprivate mutating func begin() {
        start = bytes.count
        bytes.appendBigEndian(Int32(1))
        bytes.appendBigEndian(Int32(0))
        bytes.appendBigEndian(Int32(element.elementType))
        bytes.appendBigEndian(Int32(0))
        bytes.appendBigEndian(Int32(1))
    }

    fileprivate mutating func end() {
        bytes[start + 7] = hasNull ? 1 : 0
        for place in 0..<4 { bytes[start + 12 + place] = UInt8(truncatingIfNeeded: count >> (8 * (3 - Int32(place)))) }
    }
}

extension [UInt8] {
    fileprivate mutating func appendBigEndian(_ value: some FixedWidthInteger) {
        unsafe Swift.withUnsafeBytes(of: value.bigEndian) { unsafe append(contentsOf: $0) }
    }
}
