package import Trading

/// What the router says on a WebSocket: one JSON object a message, `type` first.
package enum SocketMessage {
    /// An event of a channel: its data as it is.
    package static func event(_ type: String, channel: String, account: AccountID? = nil, id: String? = nil, data: [UInt8]) -> [UInt8] {
        var json = JSONWriter(reservingBytes: data.count + 96)
        json.beginObject()
        json.member("type", type)
        json.member("channel", channel)
        if let account { json.member("account_id", account.text) }
        if let id { json.member("id", id) }
        json.name("data")
        json.verbatim(data)
        json.endObject()
        return json.bytes
    }

    /// A request was carried out; `symbols` are those that are watched from now on, of those that were named.
    package static func done(
        _ type: String,
        channel: String,
        symbols: [Symbol]? = nil,
        account: AccountID? = nil,
        to id: String?,
        at now: Int64
    ) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("type", type)
        json.member("channel", channel)
        if let symbols {
            json.name("symbols")
            json.beginArray()
            for symbol in symbols { json.string(symbol.text) }
            json.endArray()
        }
        if let account { json.member("account_id", account.text) }
        json.member("id", id)
        json.member("server_time", now)
        json.endObject()
        return json.bytes
    }

    package static func pong(to id: String?, at now: Int64) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("type", "pong")
        json.member("id", id)
        json.member("server_time", now)
        json.endObject()
        return json.bytes
    }

    /// A request was not carried out; nothing that was subscribed before has changed.
    package static func error(_ problem: Problem, to id: String?, at now: Int64) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("type", "error")
        json.member("code", problem.code.rawValue)
        json.member("detail", problem.detail)
        json.member("id", id)
        json.member("server_time", now)
        json.endObject()
        return json.bytes
    }
}

/// What an account has, at a moment: cash, positions, and what they are worth at the last prices. Money and worth as strings.
package struct PortfolioView: Hashable, Sendable {
    package struct Position: Hashable, Sendable {
        package let symbol: Symbol
        /// Whole shares.
        package let available: Int64
        package let held: Int64
        package let owed: Int64
        package let averageCost: Amount?
        /// The price last traded at, and its worth; nil where there is no price.
        package let price: Amount?

        package init(symbol: Symbol, available: Int64, held: Int64, owed: Int64, averageCost: Amount?, price: Amount?) {
            self.symbol = symbol
            self.available = available
            self.held = held
            self.owed = owed
            self.averageCost = averageCost
            self.price = price
        }
    }

    package let account: AccountID
    package let available: Amount
    package let held: Amount
    package let owed: Amount
    package let positions: [Position]

    package init(account: AccountID, available: Amount, held: Amount, owed: Amount, positions: [Position]) {
        self.account = account
        self.available = available
        self.held = held
        self.owed = owed
        self.positions = positions
    }

    /// One line of JSON.
    package func data(at now: Int64) -> [UInt8] {
        var json = JSONWriter(reservingBytes: 256 + positions.count * 160)
        json.beginObject()
        json.member("account_id", account.text)
        json.name("cash")
        json.beginObject()
        json.member("available", available, as: .string)
        json.member("held", held, as: .string)
        json.member("owed", owed, as: .string)
        json.endObject()
        json.name("positions")
        json.beginArray()
        for position in positions {
            json.beginObject()
            json.member("symbol", position.symbol.text)
            json.member("quantity", position.available + position.held)
            json.member("available", position.available)
            json.member("held", position.held)
            json.member("owed", position.owed)
            json.member("average_cost", position.averageCost, as: .string)
            json.member("price", position.price, as: .string)
            json.member("value", position.price?.times(position.available + position.held), as: .string)
            json.endObject()
        }
        json.endArray()
        json.member("as_of", now)
        json.endObject()
        return json.bytes
    }
}
