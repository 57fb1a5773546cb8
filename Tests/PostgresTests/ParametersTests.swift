import Postgres
import TestSupport
import Testing

@Suite struct `A parameter` {
    let connection: PostgresConnection

    init() throws {
        connection = try TestServer.connect()
    }

    private func echo(_ fill: (inout Parameters) -> Void) throws -> Rows {
        var parameters = Parameters()
        fill(&parameters)
        let columns = (1...parameters.count).map { "$\($0)" }.joined(separator: ", ")
        return try connection.query("SELECT \(columns)", parameters)
    }

    @Test(arguments: [Int64.min, -1, 0, 1, 0x0102_0304_0506_0708, Int64.max])
    func `of whole numbers comes back as it went`(_ value: Int64) throws {
        let rows = try echo {
            $0.append(value)
            $0.append(Int32(truncatingIfNeeded: value))
            $0.append(Int16(truncatingIfNeeded: value))
        }
        #expect(rows.int64(0, 0) == value)
        #expect(rows.int32(0, 1) == Int32(truncatingIfNeeded: value))
        #expect(rows.int16(0, 2) == Int16(truncatingIfNeeded: value))
    }

    @Test func `of every other type comes back as it went`() throws {
        let uuid = UUIDBits(high: 0x018e_3d2a_7f12_7000, low: 0x8000_1234_5678_9abc)
        let rows = try echo {
            $0.append(true)
            $0.append(false)
            $0.append("")
            $0.append("naïve \u{1F4B6}")
            $0.append([UInt8]())
            $0.append([0, 255, 10] as [UInt8])
            $0.append(uuid)
        }
        #expect(rows.bool(0, 0))
        #expect(!rows.bool(0, 1))
        #expect(rows.text(0, 2).isEmpty && !rows.isNull(0, 2))
        #expect(rows.text(0, 3) == "naïve \u{1F4B6}")
        #expect(rows.bytes(0, 4).isEmpty && !rows.isNull(0, 4))
        #expect(rows.bytes(0, 5) == [0, 255, 10])
        #expect(rows.uuid(0, 6) == uuid)
        var parameters = Parameters()
        parameters.append(uuid)
        #expect(try connection.query("SELECT $1::text", parameters).text(0, 0) == "018e3d2a-7f12-7000-8000-123456789abc")
    }

    @Test func `that is empty needs no buffer`() throws {
        let rows = try echo { $0.append("") }
        #expect(rows.optionalText(0, 0) == "")
    }

    @Test func `may be NULL`() throws {
        let rows = try echo {
            $0.append(nil as Int64?)
            $0.append(nil as Int32?)
            $0.append(nil as Int16?)
            $0.append(nil as Bool?)
            $0.append(nil as String?)
            $0.append(nil as [UInt8]?)
            $0.append(nil as UUIDBits?)
        }
        #expect((0..<7).allSatisfy { rows.isNull(0, $0) })
        #expect(rows.optionalInt64(0, 0) == nil)
        #expect(rows.optionalInt32(0, 1) == nil)
        #expect(rows.optionalInt16(0, 2) == nil)
        #expect(rows.optionalBool(0, 3) == nil)
        #expect(rows.optionalText(0, 4) == nil)
        #expect(rows.optionalBytes(0, 5) == nil)
        #expect(rows.optionalUUID(0, 6) == nil)
    }

    private func unnest<Value>(_ get: (Rows) -> (Int, Int) -> Value, _ fill: (inout Parameters) -> Void) throws -> [Value] {
        var parameters = Parameters()
        fill(&parameters)
        let rows = try connection.query("SELECT x FROM unnest($1) WITH ORDINALITY u(x, n) ORDER BY n", parameters)
        return (0..<rows.count).map { get(rows)($0, 0) }
    }

    @Test func `array comes back element by element, NULL among them`() throws {
        let uuid = UUIDBits(high: .max, low: 1)
        #expect(try unnest(Rows.optionalInt64) { $0.append([1, nil, -3] as [Int64?]) } == [1, nil, -3])
        #expect(try unnest(Rows.optionalInt32) { $0.append([1, nil, -3] as [Int32?]) } == [1, nil, -3])
        #expect(try unnest(Rows.optionalInt16) { $0.append([1, nil, -3] as [Int16?]) } == [1, nil, -3])
        #expect(try unnest(Rows.optionalBool) { $0.append([true, nil, false] as [Bool?]) } == [true, nil, false])
        #expect(try unnest(Rows.optionalText) { $0.append(["a", nil, ""] as [String?]) } == ["a", nil, ""])
        #expect(try unnest(Rows.optionalBytes) { $0.append([[1, 2], nil, []] as [[UInt8]?]) } == [[1, 2], nil, []])
        #expect(try unnest(Rows.optionalUUID) { $0.append([uuid, nil] as [UUIDBits?]) } == [uuid, nil])
    }

    @Test func `array without NULL comes back element by element`() throws {
        let uuid = UUIDBits(high: 2, low: .max)
        let many = (0..<70_000).map(Int64.init)
        #expect(try unnest(Rows.int64) { $0.append(many) } == many)
        #expect(try unnest(Rows.int32) { $0.append([Int32.min, .max]) } == [Int32.min, .max])
        #expect(try unnest(Rows.int16) { $0.append([Int16.min, .max]) } == [Int16.min, .max])
        #expect(try unnest(Rows.bool) { $0.append([true, false]) } == [true, false])
        #expect(try unnest(Rows.text) { $0.append(["a", "{\"b\",}"]) } == ["a", "{\"b\",}"])
        #expect(try unnest(Rows.bytes) { $0.append([[0], [1, 2]] as [[UInt8]]) } == [[0], [1, 2]])
        #expect(try unnest(Rows.uuid) { $0.append([uuid]) } == [uuid])
    }

    @Test func `array may be empty`() throws {
        var parameters = Parameters()
        parameters.append([Int64]())
        let rows = try connection.query("SELECT cardinality($1), $1 = '{}'", parameters)
        #expect(rows.int32(0, 0) == 0)
        #expect(rows.bool(0, 1))
    }

    @Test func `buffer serves again after it was emptied`() throws {
        var parameters = Parameters()
        parameters.append([1, 2] as [Int64])
        parameters.append("gone")
        parameters.removeAll()
        #expect(parameters.count == 0)
        parameters.append(Int16(3))
        parameters.append(arrayOf: .int8) { writer in
            writer.append(Int64(4))
            writer.appendNull()
        }
        let rows = try connection.query("SELECT $1, $2 = ARRAY[4, NULL]::int8[]", parameters)
        #expect(rows.int16(0, 0) == 3)
        #expect(rows.bool(0, 1))
    }

    @Test func `text serves varchar, json and enums`() throws {
        try connection.execute("CREATE TYPE pg_temp.side AS ENUM ('BUY', 'SELL'); CREATE TEMP TABLE t (a varchar(9), b json, c pg_temp.side)")
        let insert = Statement(name: "insert", sql: "INSERT INTO t VALUES ($1, $2, $3) RETURNING a, b, c::text")
        try connection.prepare([insert])
        var parameters = Parameters()
        for value in ["nine", "{\"n\":1}", "SELL"] { parameters.append(value) }
        let rows = try connection.run(insert, parameters)
        #expect((0..<3).map { rows.text(0, $0) } == ["nine", "{\"n\":1}", "SELL"])
    }

    @Test func `element of another type than its array is a fault`() async {
        let r7 = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            var parameters = Parameters()
            parameters.append(arrayOf: .int8) { $0.append("text") }
        }
        #expect(r7.says("An element of type text was written into an array of int8."))
    }
}

@Suite struct `A result` {
    init() throws {
        // Before the processes of the exit tests, so that they need not start a server each.
        _ = try TestServer.url
    }

    @Test func `read as another type, beyond its end or through NULL is a fault`() async {
        let first = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try TestServer.connect().query("SELECT 1::int4").int64(0, 0)
        }
        #expect(first.says("column int4 is int4 and was read as int8"))
        let second = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try TestServer.connect().query("SELECT 1::int8").text(0, 0)
        }
        #expect(second.says("column int8 is int8 and was read as text"))
        let third = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try TestServer.connect().query("SELECT 1::int8").int64(1, 0)
        }
        #expect(third.says("returned 1 rows, none at 1"))
        let fourth = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try TestServer.connect().query("SELECT 1::int8").int64(0, 1)
        }
        #expect(fourth.says("returned 1 columns, none at 1"))
        let fifth = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try TestServer.connect().query("SELECT NULL::int8").int64(0, 0)
        }
        #expect(fifth.says("column int8 of row 0 is NULL"))
        let sixth = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try TestServer.connect().execute("SELECT 1::int8")[0].int64(0, 0)
        }
        #expect(sixth.says("is int8 as text and was read as int8"))
    }
}
