import Testing
import Trading
import Wire

@Suite struct `A query` {
    private func parameters(_ query: String?) throws(Problem) -> QueryParameters {
        try QueryParameters(query, expecting: ["a", "b"])
    }

    @Test(
        arguments: [
            (nil, nil, nil),
            ("", nil, nil),
            ("a=1", "1", nil),
            ("a=1&b=2", "1", "2"),
            ("b=2&a=1", "1", "2"),
            ("a", nil, nil),
            ("a=", nil, nil),
            ("a=x%20y", "x y", nil),
            ("a=x+y", "x y", nil),
            ("a=%C3%A9", "é", nil),
            ("%61=1", "1", nil),
            ("a=1=2", "1=2", nil),
            ("a=%26", "&", nil),
            ("&a=1&&b=2&", "1", "2"),
            ("a=%2B", "+", nil),
        ] as [(String?, String?, String?)]
    )
    func `is decoded`(_ query: String?, _ a: String?, _ b: String?) throws {
        let parameters = try parameters(query)
        #expect(parameters["a"] == a)
        #expect(parameters["b"] == b)
    }

    @Test(arguments: ["a=%", "a=%2", "a=%zz", "a=%2x", "%=1", "a=%FF", "a=%C3", "a=%ED%A0%80", "a=%C0%80"])
    func `with a broken escape is malformed`(_ query: String) {
        #expect(problem { () throws(Problem) in try parameters(query) }?.code == .malformedRequest)
    }

    @Test func `that is too long is malformed`() throws {
        let longest = "a=" + String(repeating: "x", count: QueryParameters.limitBytes - 2)
        #expect(try parameters(longest)["a"]?.count == QueryParameters.limitBytes - 2)
        #expect(problem { () throws(Problem) in try parameters(longest + "x") }?.code == .malformedRequest)
    }

    @Test(arguments: [("c=1", "c"), ("A=1", "A"), ("a=1&c", "c"), ("=1", ""), ("a=1&a=1", "a"), ("a=1&%61=2", "a"), ("a=&a=1", "a")])
    func `with an unknown or repeated parameter is refused, naming it`(_ query: String, _ name: String) {
        let problem = problem { () throws(Problem) in try parameters(query) }
        #expect(problem?.code == .invalidField)
        #expect(problem?.extras == field(name))
    }

    @Test func `where none is expected says so`() {
        let problem = problem { () throws(Problem) in try QueryParameters("x=1", expecting: []) }
        #expect(problem?.detail.contains("none is") == true)
    }
}

@Suite struct `A list of orders` {
    private let cursor = "1773648000180-ord_20240314_77777777777777777777777774"

    @Test(arguments: [nil, "", "status=&symbol=&after=&limit=&page=", "account_id="])
    func `without conditions is the first hundred`(_ query: String?) throws {
        let list = try OrderListQuery.read(query)
        #expect(list.account == nil)
        #expect(list.status == nil)
        #expect(list.symbol == nil)
        #expect(list.after == nil)
        #expect(list.limit == 100)
        #expect(list.page == 1)
    }

    @Test func `takes all its conditions`() throws {
        let list = try OrderListQuery.read("account_id=acc_1&status=PARTIALLY_FILLED&symbol=BRK.B&after=\(cursor)&limit=500")
        #expect(list.account == AccountID("acc_1"))
        #expect(list.status == .partiallyFilled)
        #expect(list.symbol == Symbol("BRK.B"))
        #expect(list.after == OrderCursor(createdAt: 1_773_648_000_180, orderID: Example.orderID))
        #expect(list.after?.text == cursor)
        #expect(list.limit == 500)
        #expect(try OrderListQuery.read("page=100").page == 100)
    }

    @Test func `is asked for by a query that reads back`() throws {
        let cursor = OrderCursor(createdAt: 3, orderID: Example.orderID)
        let lists = [
            OrderListQuery(),
            OrderListQuery(page: 7),
            OrderListQuery(account: Example.account, after: cursor, limit: 500),
            OrderListQuery(symbol: Symbol("BRK.B"), limit: 1),
        ]
        for list in lists + OrderStatus.allCases.map({ OrderListQuery(status: $0) }) {
            #expect(try OrderListQuery.read(list.text) == list)
        }
    }

    @Test func `of one account names it, or leaves it to the token`() throws {
        #expect(try QueryParameters("account_id=acc_1", expecting: ["account_id"]).account() == AccountID("acc_1"))
        #expect(try QueryParameters(nil, expecting: ["account_id"]).account() == nil)
        let problem = problem { () throws(Problem) in try QueryParameters("account_id=%C3%A9", expecting: ["account_id"]).account() }
        #expect(problem?.extras == field("account_id"))
    }

    @Test(
        arguments: [
            ("limit=0", "limit"),
            ("limit=501", "limit"),
            ("limit=-1", "limit"),
            ("limit=1e2", "limit"),
            ("limit=x", "limit"),
            ("limit=010", "limit"),
            ("limit=99999999999999999999", "limit"),
            ("page=0", "page"),
            ("page=101", "page"),
            ("page=1.5", "page"),
            ("status=filled", "status"),
            ("status=OPEN", "status"),
            ("status=WOR%E2%84%AAING", "status"),
            ("status=FILLED,EXPIRED", "status"),
            ("symbol=nvda", "symbol"),
            ("after=x", "after"),
            ("after=1", "after"),
            ("after=1-ord_x", "after"),
            ("after=-ord_20240314_77777777777777777777777774", "after"),
            ("after=01-ord_20240314_77777777777777777777777774", "after"),
            ("account_id=a%20b", "account_id"),
            ("sort=asc", "sort"),
            ("after=1-ord_20240314_77777777777777777777777774&page=1", "page"),
        ]
    )
    func `refuses and names a wrong condition`(_ query: String, _ name: String) {
        let problem = problem { () throws(Problem) in try OrderListQuery.read(query) }
        #expect(problem?.code == .invalidField)
        #expect(problem?.extras == field(name))
        #expect(problem?.detail.isEmpty == false)
    }
}
