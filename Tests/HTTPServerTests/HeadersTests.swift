import HTTPServer
import Testing

@Suite struct `Headers` {
    let headers = HTTPHeaders([("Content-Type", "application/json"), ("X-Many", "1"), ("x-many", "2"), ("X-Empty", "")])

    @Test func `are found in any case`() {
        #expect(headers.first("content-type") == "application/json")
        #expect(headers.first("CONTENT-TYPE") == "application/json")
        #expect(headers.first("content-typ") == nil)
        #expect(headers.first("content-type2") == nil)
        #expect(headers.first("x-empty")?.isEmpty == true)
    }

    @Test func `keep each line apart and in order`() {
        #expect(headers.all("X-MANY") == ["1", "2"])
        #expect(headers.all("none").isEmpty)
        #expect(headers.count == 4)
        #expect(headers.list.map(\.name) == ["content-type", "x-many", "x-many", "x-empty"])
    }
}
