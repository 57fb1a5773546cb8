import Quotes
package import Trading

/// Where a client's events go. Used on its loop's thread.
package protocol TickerSink: AnyObject {
    /// The client has not taken what was sent before: it gets nothing now, and the newest later.
    var isBehind: Bool { get }
    func write(_ events: [UInt8])
    /// The token has expired.
    func end()
}

/// One client of one loop: what it watches, in which form, and until when.
package final class TickerClient {
    fileprivate let sink: any TickerSink
    fileprivate let form: Int
    fileprivate let isDelayed: Bool
    /// ms since the epoch.
    fileprivate let expiresAt: Int64
    fileprivate var watching = Watching()
    fileprivate var asOfDue: Int64 = 0
    fileprivate var slice = -1
    fileprivate var position = 0

    package init(_ sink: any TickerSink, form: Int, isDelayed: Bool, expiresAt: Int64) {
        self.sink = sink
        self.form = form
        self.isDelayed = isDelayed
        self.expiresAt = expiresAt
    }
}

/// publish, for prices: the clients of one loop, each served once a window with what has changed against what it last saw. The window is cut into slices, and
/// every client belongs to one, so that the work is spread evenly and a change waits one window at most. Belongs to one thread.
package final class TickerRounds {
    package struct Counts: Sendable {
        package var clients = 0
        package var events = 0
        package var writes = 0
        /// Windows that a client missed because it had not taken the one before.
        package var missed = 0

        package init() {
            // Nothing has happened.
        }

        package static func + (left: Counts, right: Counts) -> Counts {
            var sum = left
            sum.clients += right.clients
            sum.events += right.events
            sum.writes += right.writes
            sum.missed += right.missed
            return sum
        }
    }

    private let live: TickerTable
    private let delayed: TickerTable
    private var slices: [[TickerClient]]
    private var slice = 0
    private var output: [UInt8] = []
    private var asOf: [UInt8] = []
    private let forms: [TickerForm]
    package private(set) var counts = Counts()

    /// Milliseconds between two slices: some hundred clients of ten thousand at a time, a few ms of work.
    package static let sliceMilliseconds: Int64 = 10
    /// How often `asof` comes, in ms (design section 8).
    static let asOfInterval: Int64 = 1_000

    /// - Parameter window: milliseconds between two looks at a client (conflation).
    package init(board: QuoteBoard, conditions: Conditions, forms: [TickerForm], window: Int64) {
        self.forms = forms
        live = TickerTable(EntitledPrices(board, conditions, isDelayed: false), forms: forms)
        delayed = TickerTable(EntitledPrices(board, conditions, isDelayed: true), forms: forms)
        slices = Array(repeating: [], count: max(1, Int(window / Self.sliceMilliseconds)))
    }

    // MARK: Clients

    /// Adds a client to the slice with the fewest.
    package func add(_ client: TickerClient) {
        guard let fewest = slices.indices.min(by: { slices[$0].count < slices[$1].count }) else { return }
        client.slice = fewest
        client.position = slices[fewest].count
        slices[fewest].append(client)
        counts.clients += 1
    }

    package func remove(_ client: TickerClient) {
        guard client.slice >= 0 else { return }
        for place in client.watching.places { table(of: client).unwatch(place) }
        client.watching = Watching()
        let last = slices[client.slice].count - 1
        slices[client.slice].swapAt(client.position, last)
        slices[client.slice][client.position].position = client.position
        slices[client.slice].removeLast()
        client.slice = -1
        counts.clients -= 1
    }

    /// Watches symbols, and shows each at once as it stands.
    ///
    /// - Parameter every: windows between two looks.
    package func watch(_ symbols: [(place: Int, symbol: Symbol)], every: Int, for client: TickerClient, at now: Int64) {
        let table = table(of: client)
        for (place, symbol) in symbols where client.watching.add(place, every: every) { table.watch(place, symbol, at: now) }
        serve(client, at: now)
    }

    package func unwatch(_ places: [Int], for client: TickerClient) {
        for place in places where client.watching.remove(place) { table(of: client).unwatch(place) }
    }

    private func table(of client: TickerClient) -> TickerTable { client.isDelayed ? delayed : live }

    // MARK: Rounds

    /// One slice. Called every `sliceMilliseconds`.
    package func turn(at now: Int64) {
        live.refresh(at: now)
        delayed.refresh(at: now)
        // Backwards: a client may leave the slice while it is served.
        for position in slices[slice].indices.reversed() where position < slices[slice].count { serve(slices[slice][position], at: now) }
        slice = (slice + 1) % slices.count
    }

    private func serve(_ client: TickerClient, at now: Int64) {
        if now >= client.expiresAt { return client.sink.end() }
        if client.sink.isBehind {
            counts.missed += 1
            return
        }
        let table = table(of: client)
        output.removeAll(keepingCapacity: true)
        var events = 0
        client.watching.nextWindow { item in
            guard let entry = table.entries[item.place] else { return }
            if item.values == 0 {
                table.snapshot(item.place, client.form, at: now, to: &output)
                events += 1
            } else {
                if item.values != entry.values {
                    table.tick(item.place, client.form, to: &output)
                    events += 1
                }
                if item.state != entry.state {
                    table.market(item.place, client.form, at: now, to: &output)
                    events += 1
                }
            }
            item.values = entry.values
            item.state = entry.state
        }
        // Never so far away unless the clock was set back: nobody waits until it has caught up.
        if client.asOfDue - now > Self.asOfInterval + Self.sliceMilliseconds { client.asOfDue = now }
        // A window that comes a little early is the one: the next would come half a second late.
        if now >= client.asOfDue - Self.sliceMilliseconds {
            client.asOfDue = max(client.asOfDue + Self.asOfInterval, now + Self.asOfInterval / 2)
            events += appendAsOf(client, table, at: now)
        }
        guard events > 0 else { return }
        counts.events += events
        counts.writes += 1
        client.sink.write(output)
    }

    /// Which of its symbols are alive, and as of when. Nothing where none is: silence vouches for nothing.
    private func appendAsOf(_ client: TickerClient, _ table: TickerTable, at now: Int64) -> Int {
        asOf.removeAll(keepingCapacity: true)
        asOf.append(contentsOf: "{\"as_of\":\(table.asOf(at: now)),\"symbols\":[".utf8)
        var isFirst = true
        for item in client.watching.items {
            guard let entry = table.entries[item.place], entry.isLive else { continue }
            if !isFirst { asOf.append(UInt8(ascii: ",")) }
            asOf.append(contentsOf: entry.name)
            isFirst = false
        }
        if isFirst { return 0 }
        asOf.append(contentsOf: "]}".utf8)
        forms[client.form].append("asof", asOf, &output)
        return 1
    }
}
