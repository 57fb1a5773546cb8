/// Object ids of the built-in types that cross this edge (pg_type.dat; fixed for ever by PostgreSQL).
package enum TypeOID {
    package static let bool: UInt32 = 16
    package static let bytea: UInt32 = 17
    package static let name: UInt32 = 19
    package static let int8: UInt32 = 20
    package static let int2: UInt32 = 21
    package static let int4: UInt32 = 23
    package static let text: UInt32 = 25
    package static let json: UInt32 = 114
    package static let bpchar: UInt32 = 1042
    package static let varchar: UInt32 = 1043
    package static let uuid: UInt32 = 2950

    package static let boolArray: UInt32 = 1000
    package static let byteaArray: UInt32 = 1001
    package static let int2Array: UInt32 = 1005
    package static let int4Array: UInt32 = 1007
    package static let textArray: UInt32 = 1009
    package static let varcharArray: UInt32 = 1015
    package static let int8Array: UInt32 = 1016
    package static let uuidArray: UInt32 = 2951

    /// The first id that PostgreSQL gives to types made by users.
    private static let firstUserDefined: UInt32 = 16_384

    private static let names: [UInt32: String] = [
        bool: "bool", bytea: "bytea", name: "name", int8: "int8", int2: "int2", int4: "int4", text: "text", json: "json",
        bpchar: "char", varchar: "varchar", uuid: "uuid", boolArray: "bool[]", byteaArray: "bytea[]", int2Array: "int2[]",
        int4Array: "int4[]", textArray: "text[]", varcharArray: "varchar[]", int8Array: "int8[]", uuidArray: "uuid[]",
        700: "float4", 701: "float8", 1082: "date", 1114: "timestamp", 1184: "timestamptz", 1700: "numeric", 3802: "jsonb", 2278: "void",
    ]

    static func describe(_ oid: UInt32) -> String { names[oid] ?? "the type with oid \(oid)" }

    /// Whether a value in the binary form of `given` is also one of `wanted`. Text serves every type whose binary form is text, and
    /// enums; the server itself judges all other types made by users.
    static func accepts(_ given: UInt32, as wanted: UInt32) -> Bool {
        if given == wanted || wanted >= firstUserDefined { return true }
        switch given {
        case text: return [varchar, bpchar, name, json].contains(wanted)
        case textArray: return wanted == varcharArray
        default: return false
        }
    }
}

/// A UUID as its two halves, big-endian: PostgreSQL's binary form without an object around it.
package struct UUIDBits: Hashable, Sendable {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}
