import ExchangeSimulator
import FIX
import Synchronization

/// What a client of the tests was told, and what it is yet to say.
final class Client: Sendable {
    struct State {
        var numbers = SessionNumbers()
        var sent: [Int: StoredMessage] = [:]
        var outbox: [FIXMessage] = []
        var received: [FIXMessage] = []
        var logons = 0
        var logouts: [String] = []
        /// What the venue's Logon said.
        var venueIsTest = false
    }

    let state: Mutex<State>
    private let changes: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init(_ start: State = State()) {
        (changes, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        state = Mutex(start)
    }

    func change<T: Sendable>(_ body: (inout State) throws -> T) rethrows -> T {
        defer { continuation.yield() }
        return try state.withLock { try body(&$0) }
    }

    func wait(until condition: @Sendable (State) -> Bool) async {
        if state.withLock({ condition($0) }) { return }
        for await _ in changes where state.withLock({ condition($0) }) { return }
    }

    var received: [FIXMessage] { state.withLock { $0.received } }

    /// ExecType and ClOrdID of the reports.
    var told: [String] { received.map { "\($0.string(.execType) ?? "-") \($0.string(.clOrdID) ?? "-")" } }
}

final class ClientStore: SessionStore {
    let client: Client

    init(_ client: Client) { self.client = client }

    func load() -> SessionNumbers { client.state.withLock { $0.numbers } }

    func commit(_ step: SessionStep, numbers: SessionNumbers) {
        client.change { state in
            state.numbers = numbers
            state.received += step.deliveries.map(\.message)
        }
    }

    func stored(from: Int, through: Int, atMost most: Int) -> [StoredMessage] {
        client.state.withLock { $0.sent.first(most, from: from, through: through) }
    }

    func pull(_ session: inout SessionState, at wall: Int64) -> [OutgoingMessage] {
        var current = session
        defer { session = current }
        return client.state.withLock { state in
            let outgoing = state.outbox.map { current.send($0, at: wall) }
            state.outbox = []
            state.venueIsTest = current.counterpartyIsTest
            for message in outgoing { state.sent[message.number] = StoredMessage(message) }
            state.numbers = current.numbers
            return outgoing
        }
    }

    func mayWrite(at monotonic: Int64) -> Bool { true }

    func changed(_ event: SessionEvent) {
        client.change { state in
            if event == .loggedOn { state.logons += 1 }
            if case .loggedOut(let text) = event { state.logouts.append(text) }
        }
    }
}

func order(_ id: String, _ symbol: String = "NVDA", resend: Bool = false) -> FIXMessage {
    var message = FIXMessage(.newOrderSingle)
    if resend { message.append(.possResend, flag: true) }
    message.append(.clOrdID, id)
    message.append(.symbol, symbol)
    message.append(.side, 1)
    message.append(.transactTime, time: 1_790_000_000_000)
    message.append(.orderQty, 100)
    message.append(.ordType, 1)
    message.append(.timeInForce, 0)
    return message
}

func subscription(_ id: String, _ symbols: String..., kind: String = "1") -> FIXMessage {
    var message = FIXMessage(.marketDataRequest)
    message.append(.mdReqID, id)
    message.append(.subscriptionRequestType, kind)
    message.append(.marketDepth, 1)
    message.append(.noMDEntryTypes, 1)
    message.append(.mdEntryType, 0)
    message.append(.noRelatedSym, symbols.count)
    for symbol in symbols { message.append(.symbol, symbol) }
    return message
}

func connecting(_ client: Client, _ compID: String, to venue: String = "EXCH", port: UInt16) -> Initiator {
    var settings = SessionSettings(role: .initiator, senderCompID: compID, targetCompID: venue)
    settings.resetOnLogon = compID == "QUOTES"
    var configuration = Initiator.Configuration(host: "127.0.0.1", port: port, session: settings)
    configuration.backoff = 1...20
    return Initiator(configuration, random: { 0.5 }, report: { _ in }, openStore: { ClientStore(client) })
}

/// A venue and one client over a real line, until the body returns.
func trade(
    _ client: Client,
    as compID: String = "ORDERS",
    directory: String? = nil,
    log: @escaping @Sendable (String) -> Void = { _ in },
    _ body: (SimulatedVenue, Initiator) async throws -> Void
) async throws {
    var configuration = SimulatedVenue.Configuration()
    configuration.frozen = true
    configuration.stateDirectory = directory
    configuration.exchange.lateness = 50
    let venue = try SimulatedVenue(configuration, log: log)
    let initiator = connecting(client, compID, port: try venue.start())
    try await withThrowingTaskGroup { group in
        group.addTask { try await venue.run() }
        group.addTask { try await initiator.run() }
        try await body(venue, initiator)
        group.cancelAll()
        try await group.waitForAll()
    }
}
