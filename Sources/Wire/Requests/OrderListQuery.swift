package import Trading

/// Where a page of orders begins: after this order, in the order newest first. Orders of one commit share a time, so the id breaks the tie.
package struct OrderCursor: Hashable, Sendable {
    /// Milliseconds since the epoch.
    package let createdAt: Int64
    package let orderID: OrderID

    package init(createdAt: Int64, orderID: OrderID) {
        self.createdAt = createdAt
        self.orderID = orderID
    }

    /// Reads the exact form that ``text`` writes; nil for everything else.
    package init?(_ text: String) {
        let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let createdAt = String(parts[0]).wholeNumber, let orderID = OrderID(String(parts[1])) else { return nil }
        self.init(createdAt: createdAt, orderID: orderID)
    }

    /// `<created_at>-<order_id>`: needs no escaping in a query.
    package var text: String { "\(createdAt)-\(orderID.text)" }
}

/// `GET /v1/trading/orders?account_id=&status=&symbol=&after=&limit=&page=`; an empty parameter counts as absent.
package struct OrderListQuery: Hashable, Sendable {
    package let account: AccountID?
    package let status: OrderStatus?
    package let symbol: Symbol?
    /// Begin after this order; excludes a page beyond the first.
    package let after: OrderCursor?
    package let limit: Int
    /// From 1. Pages move under the reader's feet when orders arrive; `after` does not.
    package let page: Int

    package init(
        account: AccountID? = nil,
        status: OrderStatus? = nil,
        symbol: Symbol? = nil,
        after: OrderCursor? = nil,
        limit: Int = defaultLimit,
        page: Int = 1
    ) {
        self.account = account
        self.status = status
        self.symbol = symbol
        self.after = after
        self.limit = limit
        self.page = page
    }

    package static let parameterNames = ["account_id", "status", "symbol", "after", "limit", "page"]

    /// 500 orders are about 300 KB of JSON: what one answer may cost.
    package static let limitRange = 1...500
    package static let defaultLimit = 100
    /// A page number is an offset, which the database walks: 100 pages of 500 are as far as that goes. `after` has no such end.
    package static let pageRange = 1...100

    /// - Throws: `invalid_field` naming the parameter, or `malformed_request`.
    package static func read(_ query: String?) throws(Problem) -> OrderListQuery {
        try read(QueryParameters(query, expecting: parameterNames))
    }

    /// - Throws: `invalid_field` naming the parameter.
    package static func read(_ parameters: QueryParameters) throws(Problem) -> OrderListQuery {
        let account = try parameters.account()
        let status = try parameters.parsed(
            "status",
            "one of \(OrderStatus.allCases.map(\.text).joined(separator: ", "))",
            OrderStatus.init(text:)
        )
        let symbol = try parameters.parsed("symbol", "a symbol such as NVDA", Symbol.init)
        let after = try parameters.parsed("after", "the 'next' of an earlier page as it was", OrderCursor.init)
        let limit = try parameters.wholeNumber("limit", in: limitRange)
        let page = try parameters.wholeNumber("page", in: pageRange)
        if after != nil, page != nil {
            throw .invalid("page", "'page' and 'after' exclude each other. Send one of them.")
        }
        return OrderListQuery(account: account, status: status, symbol: symbol, after: after, limit: limit ?? defaultLimit, page: page ?? 1)
    }

    /// The query that a client sends. No value that these types can hold needs escaping.
    package var text: String {
        var parts = ["limit=\(limit)"]
        if let account { parts.append("account_id=\(account)") }
        if let status { parts.append("status=\(status.text)") }
        if let symbol { parts.append("symbol=\(symbol)") }
        if let after { parts.append("after=\(after.text)") } else { parts.append("page=\(page)") }
        return parts.joined(separator: "&")
    }
}
