import Trading

// The client's side: each answer reads back what the router's side wrote.

extension AcceptedAnswer {
    package static func read(_ body: [UInt8]) throws(AnswerError) -> AcceptedAnswer {
        let fields = try AnswerFields(body, "accepted order")
        guard try fields.text("status") == OrderStatus.accepted.text else { throw fields.invalid("status") }
        return AcceptedAnswer(
            orderID: try fields.parsed("order_id", OrderID.init),
            symbol: try fields.parsed("symbol", Symbol.init),
            side: try fields.parsed("side", Side.init(text:)),
            quantity: try fields.wholeNumber("quantity"),
            limitPrice: try fields.optionalMoney("limit_price"),
            reservedFunds: try fields.money("reserved_funds_usd"),
            createdAt: try fields.wholeNumber("created_at")
        )
    }
}

extension OrderView {
    package static func read(_ body: [UInt8]) throws(AnswerError) -> OrderView {
        try read(AnswerFields(body, "order"))
    }

    static func read(_ fields: AnswerFields) throws(AnswerError) -> OrderView {
        OrderView(
            orderID: try fields.parsed("order_id", OrderID.init),
            accountID: try fields.parsed("account_id", AccountID.init),
            key: try fields.parsed("idempotency_key", IdempotencyKey.init),
            terms: try readTerms(fields),
            filledQuantity: try fields.wholeNumber("filled_quantity"),
            averagePrice: try fields.optionalMoney("average_price"),
            status: try fields.parsed("status", OrderStatus.init(text:)),
            reason: try fields.optionalText("reason"),
            reservedFunds: try fields.money("reserved_funds_usd"),
            createdAt: try fields.wholeNumber("created_at"),
            updatedAt: try fields.wholeNumber("updated_at")
        )
    }

    private static func readTerms(_ fields: AnswerFields) throws(AnswerError) -> OrderTerms {
        let type = try fields.parsed("order_type", OrderType.init(text:))
        let quantity = try fields.wholeNumber("quantity")
        let limitPrice = try fields.optionalMoney("limit_price")
        let stopPrice = try fields.optionalMoney("stop_price")
        guard OrderTerms.quantityRange.contains(quantity) else { throw fields.invalid("quantity") }
        guard (limitPrice != nil) == type.hasLimitPrice else { throw fields.invalid("limit_price") }
        guard (stopPrice != nil) == type.hasStopPrice else { throw fields.invalid("stop_price") }
        return OrderTerms(
            symbol: try fields.parsed("symbol", Symbol.init),
            side: try fields.parsed("side", Side.init(text:)),
            type: type,
            timeInForce: try fields.parsed("time_in_force", TimeInForce.init(text:)),
            quantity: quantity,
            limitPrice: limitPrice,
            stopPrice: stopPrice
        )
    }
}

extension OrderPage {
    package static func read(_ body: [UInt8]) throws(AnswerError) -> OrderPage {
        let fields = try AnswerFields(body, "page of orders")
        guard case .array(let values) = try fields.required("orders") else { throw fields.invalid("orders") }
        var orders: [OrderView] = []
        for value in values { orders.append(try OrderView.read(AnswerFields(value, "order"))) }
        return OrderPage(orders: orders, next: try fields.optionalParsed("next", OrderCursor.init))
    }
}

extension CancelAnswer {
    package static func read(_ body: [UInt8]) throws(AnswerError) -> CancelAnswer {
        let fields = try AnswerFields(body, "cancel request")
        return CancelAnswer(orderID: try fields.parsed("order_id", OrderID.init), cancelID: try fields.text("cancel_id"))
    }
}

extension KeyAnswer {
    package static func read(_ body: [UInt8]) throws(AnswerError) -> KeyAnswer {
        let fields = try AnswerFields(body, "key")
        let key = try fields.parsed("key", IdempotencyKey.init)
        if try fields.flag("fenced") { return .fenced(key: key) }
        switch try fields.parsed("outcome", KeyOutcome.init(rawValue:)) {
        case .accepted:
            let order: OrderView? = if let order = fields.optional("order") { try OrderView.read(AnswerFields(order, "order")) } else { nil }
            return .accepted(key: key, firstStatus: Int(try fields.wholeNumber("status")), firstBody: try fields.json("answer"), order: order)
        case .notAccepted:
            return .refused(key: key, firstStatus: Int(try fields.wholeNumber("status")), firstBody: try fields.json("answer"))
        case .unknown, .notApplicable: throw fields.invalid("outcome")
        }
    }
}

extension StreamedEvent {
    package static func read(_ data: [UInt8]) throws(AnswerError) -> StreamedEvent {
        let fields = try AnswerFields(data, "order event")
        return StreamedEvent(
            type: try fields.parsed("type") { text in OrderEventType.allCases.first { $0.text == text } },
            at: try fields.wholeNumber("at"),
            lastQuantity: try fields.optionalWholeNumber("last_quantity"),
            lastPrice: try fields.optionalMoney("last_price"),
            order: try OrderView.read(AnswerFields(fields.required("order"), "order"))
        )
    }
}

extension EventReset {
    package static func read(_ data: [UInt8]) throws(AnswerError) -> EventReset {
        let fields = try AnswerFields(data, "event reset")
        return EventReset(oldest: try fields.optionalParsed("oldest", EventID.init), latest: try fields.optionalParsed("latest", EventID.init))
    }
}

extension CredentialView {
    package static func read(_ body: [UInt8]) throws(AnswerError) -> CredentialView {
        try read(AnswerFields(body, "credential"))
    }

    package static func readList(_ body: [UInt8]) throws(AnswerError) -> [CredentialView] {
        let fields = try AnswerFields(body, "list of credentials")
        guard case .array(let values) = try fields.required("credentials") else { throw fields.invalid("credentials") }
        var credentials: [CredentialView] = []
        for value in values { credentials.append(try read(AnswerFields(value, "credential"))) }
        return credentials
    }

    /// The challenge of a 201, as it is to be signed: base64url.
    package static func readChallenge(_ body: [UInt8]) throws(AnswerError) -> String {
        try AnswerFields(body, "credential").text("challenge")
    }

    private static func read(_ fields: AnswerFields) throws(AnswerError) -> CredentialView {
        CredentialView(
            credentialID: try fields.parsed("credential_id") { $0.isCredentialID ? $0 : nil },
            accountID: try fields.parsed("account_id", AccountID.init),
            keyAlias: try fields.text("key_alias"),
            status: try fields.parsed("status", CredentialStatus.init(rawValue:)),
            createdAt: try fields.wholeNumber("created_at"),
            pairedAt: try fields.optionalWholeNumber("paired_at"),
            invalidatedAt: try fields.optionalWholeNumber("invalidated_at")
        )
    }
}

/// A problem as a client receives it.
package struct ReceivedProblem: Error, Hashable, Sendable {
    package let status: Int
    /// Nil when this client does not know the code; `codeText` has it.
    package let code: ErrorCode?
    package let codeText: String
    package let detail: String
    package let outcome: KeyOutcome
    package let isFinal: Bool
    package let isRetrySafe: Bool
    /// Milliseconds since the epoch, the router's clock.
    package let serverTime: Int64
    /// The whole problem, for the members that belong to its code.
    package let members: JSONValue

    package static func read(_ body: [UInt8]) throws(AnswerError) -> ReceivedProblem {
        let fields = try AnswerFields(body, "problem")
        let code = try fields.text("code")
        return ReceivedProblem(
            status: Int(try fields.wholeNumber("status")),
            code: ErrorCode(rawValue: code),
            codeText: code,
            detail: try fields.text("detail"),
            outcome: try fields.parsed("outcome", KeyOutcome.init(rawValue:)),
            isFinal: try fields.flag("final"),
            isRetrySafe: try fields.flag("retry_safe"),
            serverTime: try fields.wholeNumber("server_time"),
            members: fields.value
        )
    }
}
