package import Trading

/// The identity of an order event on the stream, `<generation>-<n>`: n per account, from 1, gapless; the generation changes when a database
/// is restored from a backup, so that numbers which were given out before it are recognised as foreign.
package struct EventID: Hashable, Sendable, CustomStringConvertible {
    package let generation: Int64
    package let number: Int64

    package init(generation: Int64, number: Int64) {
        self.generation = generation
        self.number = number
    }

    /// Reads the exact form that ``description`` writes; nil for everything else.
    package init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let generation = String(parts[0]).wholeNumber, let number = String(parts[1]).wholeNumber else { return nil }
        self.init(generation: generation, number: number)
    }

    package var description: String { "\(generation)-\(number)" }
}

/// What happened to an order: the data of one event on the stream (design section 4.4).
package struct StreamedEvent: Hashable, Sendable {
    package let type: OrderEventType
    /// Milliseconds since the epoch, the router's clock.
    package let at: Int64
    /// Shares and price of this fill; nil for other types.
    package let lastQuantity: Int64?
    package let lastPrice: Amount?
    /// The order after the event.
    package let order: OrderView

    package init(type: OrderEventType, at: Int64, lastQuantity: Int64?, lastPrice: Amount?, order: OrderView) {
        self.type = type
        self.at = at
        self.lastQuantity = lastQuantity
        self.lastPrice = lastPrice
        self.order = order
    }

    /// One line of JSON without a line break, as the `data` field of a server-sent event must be.
    package var data: [UInt8] {
        var json = JSONWriter(reservingBytes: 768)
        json.beginObject()
        json.member("type", type.text)
        json.member("at", at)
        json.member("last_quantity", lastQuantity)
        json.member("last_price", lastPrice, as: .number)
        json.name("order")
        order.write(to: &json)
        json.endObject()
        return json.bytes
    }
}

/// The data of `event: reset`: the client asked to resume where we cannot; these are the ids between which we can.
package struct EventReset: Hashable, Sendable {
    package static let eventName = "reset"

    /// The oldest event still kept, and the latest; nil when the account has none.
    package let oldest: EventID?
    package let latest: EventID?

    package init(oldest: EventID?, latest: EventID?) {
        self.oldest = oldest
        self.latest = latest
    }

    package var data: [UInt8] {
        var json = JSONWriter(reservingBytes: 96)
        json.beginObject()
        json.member("oldest", oldest?.description)
        json.member("latest", latest?.description)
        json.endObject()
        return json.bytes
    }
}
