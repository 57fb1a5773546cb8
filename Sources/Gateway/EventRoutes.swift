import HTTPServer
import Identity
import Storage
import Trading
import Wire

/// GET /v1/trading/orders/events (design section 4.4): the account's events as Server-Sent Events, resumed by `Last-Event-ID`.
extension APIHandler {
    func events(_ call: inout Call) async throws -> HTTPResponse {
        let parameters = try parameters(call, ["account_id"])
        let principal = try await principal(call, .ordersRead)
        let account = try account(try parameters.account(), of: principal)
        call.account = account
        let lastID = try single("last-event-id", call)
        guard let bounds = try await read({ try $0.eventBounds(of: account) }) else {
            throw Problem(.accountForbidden, "No account of this id exists here.")
        }
        let start = EventStart(lastID: lastID, bounds)
        let (streams, metrics) = (api.streams, api.metrics)
        let left = principal.expiresAt - call.receivedAt
        return .eventStream { writer in
            metrics.count("order_router_streams_total")
            // The stream ends when the token does, when the client goes, and when the router stops: whichever is first.
            let hasExpired = await withTaskGroup(of: Bool.self) { group in
                group.addTask { (try? await Task.sleep(for: .milliseconds(max(0, left)))) != nil }
                group.addTask {
                    await Self.pump(streams, account, start, into: writer)
                    return false
                }
                let first = await group.next()
                group.cancelAll()
                return first ?? false
            }
            // Whoever has gone meanwhile is told nothing.
            if hasExpired { try? writer.send(Array(": \(Self.tokenHasExpired)\n\n".utf8)) }
        }
    }

    /// What a stream ends with when its token does.
    static let tokenHasExpired = "The token has expired. Connect again with a new one."

    /// Writes until the stream is over.
    private static func pump(
        _ streams: EventStreams,
        _ account: AccountID,
        _ start: EventStart,
        into writer: EventStreamWriter
    ) async {
        var after = start.after
        do {
            // A comment at once tells the client that the stream stands; a reset where its id is too old or foreign.
            var opening = Array(": stream of \(account)\nretry: 1000\n\n".utf8)
            if let reset = start.reset { opening += frame(id: nil, event: EventReset.eventName, data: reset.data) }
            try writer.send(opening)
            while !Task.isCancelled {
                let events = await streams.next(account, after: after)
                guard let last = events.last else { return }
                try writer.send(
                    events.flatMap { event in
                        frame(id: EventID(generation: start.generation, number: event.number), event: nil, data: StreamedEvent(event).data)
                    }
                )
                after = last.number
                try await writer.drained()
            }
        } catch {
            // The client has gone, or reads too slowly and was cut: there is nobody to tell.
        }
    }

    /// One event in the form of the HTML standard, section 9.2.
    private static func frame(id: EventID?, event: String?, data: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        if let id { bytes += Array("id: \(id)\n".utf8) }
        if let event { bytes += Array("event: \(event)\n".utf8) }
        return bytes + Array("data: ".utf8) + data + Array("\n\n".utf8)
    }
}

/// Where a stream of events begins, and the reset that it begins with when the id cannot be resumed from.
struct EventStart: Sendable {
    let generation: Int64
    let after: Int64
    let reset: EventReset?

    /// - Parameter lastID: the last event that the client has; nil = from now on.
    init(lastID: String?, _ bounds: EventBounds) {
        generation = bounds.generation
        let last = lastID.flatMap { EventID($0) }
        if let last, last.generation == bounds.generation, last.number >= bounds.oldest - 1, last.number <= bounds.latest {
            (after, reset) = (last.number, nil)
            return
        }
        func id(_ number: Int64) -> EventID? { number >= 1 && number <= bounds.latest ? EventID(generation: bounds.generation, number: number) : nil }
        after = bounds.latest
        reset = lastID == nil ? nil : EventReset(oldest: id(bounds.oldest), latest: id(bounds.latest))
    }
}

extension StreamedEvent {
    init(_ record: EventRecord) {
        self.init(type: record.type, at: record.at, lastQuantity: record.lastQuantity, lastPrice: record.lastPrice, order: OrderView(record.order))
    }
}
