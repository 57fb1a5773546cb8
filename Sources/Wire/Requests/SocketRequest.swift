package import Trading

/// What a WebSocket's client asks for: one JSON object a message.
///
///     {"action":"subscribe","channel":"stock-prices","symbols":["NVDA"],"rate_ms":500,"id":"1"}
///     {"action":"unsubscribe","channel":"stock-prices","symbols":["NVDA"]}
///     {"action":"subscribe","channel":"order-updates","account_id":"acc_1","last_event_id":"1-17"}
///     {"action":"subscribe","channel":"portfolio-updates","account_id":"acc_1"}
///     {"action":"ping"}
package struct SocketRequest: Hashable, Sendable {
    package enum Action: Hashable, Sendable {
        /// nil rate = the router's window.
        case watch([Symbol], rateMilliseconds: Int64?)
        /// nil = all.
        case unwatch([Symbol]?)
        case follow(AccountChannel, AccountID?, lastEventID: String?)
        case unfollow(AccountChannel, AccountID?)
        case ping
    }

    package enum AccountChannel: String, Hashable, Sendable {
        case orders = "order-updates"
        case portfolio = "portfolio-updates"
    }

    package static let prices = "stock-prices"

    package let action: Action
    /// The client's name for this request, given back in the answer.
    package let id: String?

    package init(action: Action, id: String?) {
        self.action = action
        self.id = id
    }

    private static let fields = ["action", "channel", "symbols", "rate_ms", "account_id", "last_event_id", "id"]
    /// Long enough for a UUID with a prefix.
    static let idLimitBytes = 64
    /// What a client may ask for between two looks at a symbol: as fast as the window, as slow as a minute.
    package static let rates: ClosedRange<Int64> = 100...60_000

    /// - Parameter symbolLimit: how many symbols one message may name.
    /// - Throws: `malformed_request` or `invalid_field`, which says what is taken.
    package static func read(_ text: [UInt8], symbolLimit: Int) throws(Problem) -> SocketRequest {
        let fields = try RequestFields(text, expecting: fields)
        let id =
            try fields.optional("id") == nil
            ? nil
            : fields.parsed("id", "up to \(idLimitBytes) characters of ASCII") { $0.utf8.count <= idLimitBytes ? $0 : nil }
        let action = try fields.text("action", "subscribe, unsubscribe or ping")
        switch action {
        case "ping":
            try fields.only(["action", "id"], "a ping")
            return SocketRequest(action: .ping, id: id)
        case "subscribe", "unsubscribe":
            let action = try channel(fields, begins: action == "subscribe", symbolLimit)
            return SocketRequest(action: action, id: id)
        default: throw .invalid("action", "There is no action \(action.quotedForMessage). Send subscribe, unsubscribe or ping.")
        }
    }

    /// The client's name for a request that is not carried out: its answer has it as well, where it can be read at all.
    package static func id(of text: [UInt8]) -> String? {
        guard case .object(let members)? = try? JSONReader.read(text), case .string(let id)? = members.first(where: { $0.name == "id" })?.value
        else { return nil }
        return id.isASCII && id.utf8.count <= idLimitBytes ? id : nil
    }

    private static func channel(_ fields: RequestFields, begins: Bool, _ symbolLimit: Int) throws(Problem) -> Action {
        let name = try fields.text("channel", "\(prices), \(AccountChannel.orders.rawValue) or \(AccountChannel.portfolio.rawValue)")
        let what = begins ? "a subscription to \(name)" : "the end of a subscription to \(name)"
        if name == prices {
            try fields.only(["action", "channel", "symbols", "id"] + (begins ? ["rate_ms"] : []), what)
            if !begins { return .unwatch(try fields.optional("symbols") == nil ? nil : symbols(fields, symbolLimit)) }
            let rate = try fields.optional("rate_ms") == nil ? nil : fields.wholeNumber("rate_ms", in: rates)
            return .watch(try symbols(fields, symbolLimit), rateMilliseconds: rate)
        }
        guard let channel = AccountChannel(rawValue: name) else {
            throw .invalid("channel", "There is no channel \(name.quotedForMessage). Send \(prices), order-updates or portfolio-updates.")
        }
        let resumes = begins && channel == .orders
        try fields.only(["action", "channel", "account_id", "id"] + (resumes ? ["last_event_id"] : []), what)
        let account = try fields.optional("account_id") == nil ? nil : fields.parsed("account_id", "an account id", AccountID.init)
        if !begins { return .unfollow(channel, account) }
        let last = try fields.optional("last_event_id") == nil ? nil : fields.text("last_event_id", "the id of an event")
        return .follow(channel, account, lastEventID: last)
    }

    private static func symbols(_ fields: RequestFields, _ limit: Int) throws(Problem) -> [Symbol] {
        guard case .array(let values) = try fields.required("symbols"), (1...limit).contains(values.count) else {
            throw .invalid("symbols", "Send \"symbols\":[\"NVDA\",…], 1 to \(limit) of them.")
        }
        var symbols: [Symbol] = []
        for value in values {
            guard case .string(let text) = value, text.isASCII, let symbol = Symbol(text) else {
                throw .invalid("symbols", "Each of the symbols is a text of 1 to 16 capital letters, digits and points.")
            }
            symbols.append(symbol)
        }
        return symbols
    }
}
