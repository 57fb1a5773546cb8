import FIX
import Synchronization

/// What a store of the tests keeps across connections, and where it says that something has changed.
final class Disk: Sendable {
    struct State {
        var numbers = SessionNumbers()
        var sent: [Int: StoredMessage] = [:]
        var received: [String] = []
        var outbox: [String] = []
        var events: [SessionEvent] = []
        var mayWrite = true
        var failCommits = 0
        var failPulls = 0
        /// How often it was asked for what is to be resent.
        var reads = 0
        /// What is received is sent back.
        var echoes = false
    }

    let state = Mutex(State())
    let changes: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init(outbox: [String] = []) {
        (changes, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        state.withLock { $0.outbox = outbox }
    }

    func change<T: Sendable>(_ body: (inout State) throws -> T) rethrows -> T {
        defer { continuation.yield() }
        return try state.withLock { try body(&$0) }
    }

    func wait(until condition: @Sendable (State) -> Bool) async {
        if state.withLock({ condition($0) }) { return }
        for await _ in changes where state.withLock({ condition($0) }) { return }
    }
}

struct DiskFull: Error {}

final class DiskStore: SessionStore {
    let disk: Disk

    init(_ disk: Disk) { self.disk = disk }

    func load() -> SessionNumbers { disk.state.withLock { $0.numbers } }

    func commit(_ step: SessionStep, numbers: SessionNumbers) throws {
        try disk.change { state in
            if state.failCommits > 0, !step.deliveries.isEmpty {
                state.failCommits -= 1
                throw DiskFull()
            }
            if step.newGeneration != nil { state.sent = [:] }
            state.numbers = numbers
            for message in step.outgoing { state.sent[message.number] = StoredMessage(message) }
            let received = step.deliveries.compactMap { $0.message.string(.clOrdID) }
            state.received += received
            if state.echoes { state.outbox += received }
        }
    }

    func stored(from: Int, through: Int, atMost most: Int) -> [StoredMessage] {
        let sent = disk.state.withLock { state in
            state.reads += 1
            return state.sent
        }
        return Array(sent.values.filter { (from...through).contains($0.number) }.sorted { $0.number < $1.number }.prefix(most))
    }

    static func order(_ name: String, at wall: Int64) -> FIXMessage {
        var order = FIXMessage(.newOrderSingle)
        order.append(.clOrdID, name)
        order.append(.symbol, "NVDA")
        order.append(.side, 1)
        order.append(.transactTime, time: wall)
        order.append(.orderQty, 100)
        order.append(.ordType, 1)
        return order
    }

    func pull(_ session: inout SessionState, at wall: Int64) throws -> [OutgoingMessage] {
        var current = session
        defer { session = current }
        return try disk.state.withLock { state in
            guard !state.outbox.isEmpty else { return [] }
            let batch = state.outbox.prefix(7)
            let outgoing = batch.map { current.send(Self.order($0, at: wall), at: wall) }
            if state.failPulls > 0 {
                state.failPulls -= 1
                throw DiskFull()
            }
            state.outbox.removeFirst(batch.count)
            for message in outgoing { state.sent[message.number] = StoredMessage(message) }
            state.numbers = current.numbers
            return outgoing
        }
    }

    func mayWrite(at monotonic: Int64) -> Bool { disk.state.withLock { $0.mayWrite } }

    func changed(_ event: SessionEvent) { disk.change { $0.events.append(event) } }
}
