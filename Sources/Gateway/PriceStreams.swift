package import HTTPServer
package import MarketData
import Synchronization
import Trading
import Wire

/// The price streams of this router: rounds on each stream loop, which serve the clients that live there.
package final class PriceStreams: Sendable {
    /// The rounds of one loop.
    ///
    /// @unchecked Sendable: used on its loop's thread alone.
    final class Rounds: @unchecked Sendable {
        let rounds: TickerRounds

        init(_ rounds: TickerRounds) { self.rounds = rounds }
    }

    private let loops: [Rounds]
    private let written = Mutex<[TickerRounds.Counts]>([])
    let board: QuoteBoard
    let conditions: Conditions
    /// Prices as they stand, and as they stood fifteen minutes ago.
    let live: EntitledPrices
    let delayed: EntitledPrices
    /// Milliseconds between two looks at a client.
    package let window: Int64

    package init(board: QuoteBoard, conditions: Conditions, window: Int64, loops: Int) {
        self.board = board
        self.conditions = conditions
        live = EntitledPrices(board, conditions, isDelayed: false)
        delayed = EntitledPrices(board, conditions, isDelayed: true)
        self.window = window
        self.loops = (0..<loops).map { _ in
            Rounds(TickerRounds(board: board, conditions: conditions, forms: [.serverSentEvents, .webSocket], window: window))
        }
        written.withLock { $0 = Array(repeating: .init(), count: loops) }
    }

    /// Has the loops' timers turn the rounds, from when the listener runs until it stops.
    package func start(on streams: StreamLoops) {
        precondition(streams.count == loops.count, "Each stream loop has its rounds.")
        streams.every(.milliseconds(TickerRounds.sliceMilliseconds)) { [self] loop in
            let rounds = loops[loop].rounds
            rounds.turn(at: board.now())
            written.withLock { $0[loop] = rounds.counts }
        }
    }

    /// For metrics.
    package var counts: TickerRounds.Counts {
        written.withLock { $0.reduce(TickerRounds.Counts(), +) }
    }

    /// The rounds that a connection's client belongs to. On its loop's thread.
    func rounds(of connection: PushConnection) -> TickerRounds { loops[connection.loop].rounds }

    /// Where symbols stand on the board, for whoever watches them.
    ///
    /// - Throws: `unknown_symbol`, or `busy` while the feed's list of symbols is still arriving.
    func places(of symbols: [Symbol]) throws(Problem) -> [(place: Int, symbol: Symbol)] {
        let places = board.places(of: symbols)
        guard places.count < symbols.count else { return places }
        let missing = Set(symbols).subtracting(places.map(\.symbol))
        for symbol in symbols where missing.contains(symbol) && board.listing(of: symbol) == nil { throw Self.unknown(symbol) }
        throw Problem(.busy, "The feed's list of symbols is still arriving. Try again.", retryAfterSeconds: 1)
    }

    static func unknown(_ symbol: Symbol) -> Problem {
        Problem(.unknownSymbol, "\(symbol) is not traded here. GET /v1/symbols?query= finds symbols.")
    }

    /// Windows between two looks at a symbol that is shown every so many milliseconds.
    func windows(in milliseconds: Int64?) -> Int { Int(max(1, ((milliseconds ?? window) + window / 2) / window)) }
}

extension TickerForm {
    /// The order in which `PriceStreams` gives them to the rounds.
    static let indexOfEvents = 0
    static let indexOfSocket = 1

    /// HTML standard, section 9.2.
    static let serverSentEvents = TickerForm { event, data, output in
        output.append(text: "event: ")
        output.append(text: event)
        output.append(text: "\ndata: ")
        output.append(contentsOf: data)
        output.append(text: "\n\n")
    }

    static let webSocket = TickerForm { event, data, output in
        WebSocketFrame.append(text: SocketMessage.event("\(event)", channel: SocketRequest.prices, data: data), to: &output)
    }
}

extension [UInt8] {
    fileprivate mutating func append(text: StaticString) {
        unsafe append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}

/// A connection as its prices see it.
final class PriceSink: TickerSink {
    private let connection: PushConnection

    init(_ connection: PushConnection) { self.connection = connection }

    var isBehind: Bool { connection.outstanding > 0 }

    func write(_ events: [UInt8]) {
        if connection.isWebSocket { connection.send(frames: events) } else { connection.send(events) }
    }

    func end() { connection.end(.policyViolation, reason: APIHandler.tokenHasExpired) }
}
