import Foundation
import Testing
import Trading

@testable import ExchangeSimulator
@testable import FIX

/// A venue that is killed again and again between any two of its records, and a client that keeps count.
@Suite struct `The venue's state` {
    @Test(arguments: UInt64(1)...6)
    func `is the same after a kill, and tells each report once`(_ seed: UInt64) throws {
        let path = NSTemporaryDirectory() + "venue-state-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: path) }
        var world = try World(seed: seed, path: path)
        for _ in 0..<250 { try world.turn() }
        try world.settle()
        let told = world.received.compactMap { $0.string(.execID) }
        let history = world.state.parties["ORDERS"]?.history.compactMap { $0.string(.execID) } ?? []
        #expect(told == history, "SEED=\(seed)")
        #expect(world.state.exchange.orders.count > 50, "SEED=\(seed): the test itself is too quiet")
        #expect(world.kills > 5, "SEED=\(seed)")
        for (id, order) in world.state.exchange.orders {
            let fills = world.received.filter { $0.string(.orderID) == order.orderID && $0.string(.execType) == "F" }
            let byID = Dictionary(fills.map { ($0.string(.execID) ?? "", $0.int(.lastQty) ?? 0) }, uniquingKeysWith: { first, _ in first })
            #expect(byID.values.reduce(0, +) == order.cumQty, "SEED=\(seed) \(id)")
        }
    }
}

private struct World {
    /// What has to survive.
    struct Picture: Equatable {
        let orders: [String: ExchangeOrder]
        let seen: [String: Int]
        let doubles: [String]
        let requests: [String: String]
        let counter: Int64
        let numbers: SessionNumbers?
        let sent: [Int: StoredMessage]
        let history: [FIXMessage]
        let waiting: [Int64: Int64]

        init(_ state: VenueState) {
            let party = state.parties["ORDERS"]
            orders = state.exchange.orders
            seen = state.exchange.seen
            doubles = state.exchange.doubles
            requests = state.exchange.requests
            counter = state.exchange.counter
            numbers = party?.numbers
            sent = party?.sent ?? [:]
            history = party?.history ?? []
            let entries = Array(party?.ready ?? []) + (party?.delayed ?? [])
            waiting = Dictionary(uniqueKeysWithValues: entries.map { ($0.id, $0.due) })
        }
    }

    let path: String
    var state: VenueState
    var generator: SeededGenerator
    var client = SessionState(SessionSettings(role: .initiator, senderCompID: "ORDERS", targetCompID: "EXCH"), numbers: SessionNumbers())
    var venue = SessionState(SessionSettings(role: .acceptor, senderCompID: "EXCH", targetCompID: "ORDERS"), numbers: SessionNumbers())
    var sent: [Int: StoredMessage] = [:]
    var received: [FIXMessage] = []
    var time = SessionTime(wall: 1_773_648_000_000, monotonic: 0)
    var orders = 0
    var kills = 0
    var toVenue: [[UInt8]] = []
    var toClient: [[UInt8]] = []

    init(seed: UInt64, path: String) throws {
        self.path = path
        generator = SeededGenerator(seed: seed)
        state = try Self.open(path)
        try connect()
    }

    static func open(_ path: String) throws -> VenueState {
        try VenueState(settings: ExchangeSettings(), seed: 1, stateDirectory: path, volatileParties: [])
    }

    mutating func turn() throws {
        time.wall += 100
        time.monotonic += 100
        switch Int.random(in: 0..<13, using: &generator) {
        case 0...4: try send(newOrder())
        case 5: try send(request(Bool.random(using: &generator) ? .orderCancelRequest : .orderCancelReplaceRequest))
        case 6: try send(request(.orderStatusRequest))
        case 7: try state.tick(frozen: false, at: time.wall)
        case 8...10: try pull()
        case 11:
            guard let id = state.exchange.orders.keys.sorted().randomElement(using: &generator) else { return }
            state.exchange.forget(id)
            try state.record([], [], at: time.wall)
        default: try kill()
        }
    }

    /// Everything that is due goes out.
    mutating func settle() throws {
        time.wall += 60_000
        try state.releaseWithheld(at: time.wall)
        try kill()
        for _ in 0..<200 { try pull() }
    }

    /// The process ends where it stands. What it has on the wire is lost.
    mutating func kill() throws {
        kills += 1
        let before = Picture(state)
        try state.close()
        state = try Self.open(path)
        #expect(Picture(state) == before)
        try connect()
    }

    mutating func connect() throws {
        client = SessionState(client.settings, numbers: client.numbers)
        venue = SessionState(venue.settings, numbers: state.parties["ORDERS"]?.numbers ?? SessionNumbers())
        _ = venue.connected(at: time)
        toClient = []
        toVenue = client.connected(at: time).frames
        try pump()
    }

    mutating func newOrder() -> FIXMessage {
        var message = FIXMessage(.newOrderSingle)
        let isAgain = orders > 0 && Int.random(in: 0..<10, using: &generator) == 0
        if isAgain {
            message.append(.possResend, flag: true)
        } else {
            orders += 1
        }
        message.append(.clOrdID, "o\(isAgain ? Int.random(in: 1...orders, using: &generator) : orders)")
        let suffixes = ["", "", ".PART", ".DUP", ".LATE", ".MUTE", ".OVER", ".LATEFILL", ".REJ"]
        message.append(.symbol, "NVDA" + (suffixes.randomElement(using: &generator) ?? ""))
        message.append(.side, Int.random(in: 1...2, using: &generator))
        message.append(.orderQty, Int.random(in: 1...50, using: &generator))
        message.append(.ordType, 2)
        message.append(.price, "125.\(Int.random(in: 30...70, using: &generator))")
        message.append(.timeInForce, Int.random(in: 0...1, using: &generator))
        return message
    }

    mutating func request(_ type: MessageType) -> FIXMessage {
        var message = FIXMessage(type)
        let id = "o\(Int.random(in: 1...max(1, orders), using: &generator))"
        message.append(.clOrdID, type == .orderStatusRequest ? id : "\(id)-c\(sent.count)")
        if type != .orderStatusRequest { message.append(.origClOrdID, id) }
        if type == .orderCancelReplaceRequest, let order = state.exchange.orders[id] {
            message.append(.symbol, order.symbol)
            message.append(.side, order.side.rawValue)
            message.append(.orderQty, Int.random(in: 1...50, using: &generator))
            message.append(.ordType, 2)
            message.append(.price, "125.\(Int.random(in: 30...70, using: &generator))")
        }
        return message
    }

    mutating func send(_ message: FIXMessage) throws {
        let outgoing = client.send(message, at: time.wall)
        sent[outgoing.number] = StoredMessage(outgoing)
        // Now and then the wire eats a message: the session asks for it again.
        if Int.random(in: 0..<8, using: &generator) > 0 { toVenue.append(outgoing.frame) }
        try pump()
    }

    mutating func pull() throws {
        let outgoing = try state.pull(&venue, party: "ORDERS", at: time.wall)
        for message in outgoing where Int.random(in: 0..<8, using: &generator) > 0 { toClient.append(message.frame) }
        try pump()
    }

    /// Delivers what is on the wires, each in its order, until both are silent.
    mutating func pump() throws {
        while true {
            if let frame = toVenue.first {
                toVenue.removeFirst()
                guard let message = FIXMessage(frame: frame) else { continue }
                let step = venue.received(message, at: time)
                try state.commit(step, numbers: venue.numbers, party: "ORDERS", at: time.wall)
                toClient += step.frames
                for range in step.replays {
                    let stored = (range.from...range.through).compactMap { state.parties["ORDERS"]?.sent[$0] }
                    toClient += venue.retransmit(stored, of: range, at: time).frames
                }
            } else if let frame = toClient.first {
                toClient.removeFirst()
                guard let message = FIXMessage(frame: frame) else { continue }
                let step = client.received(message, at: time)
                received += step.deliveries.map(\.message)
                toVenue += step.frames
                for range in step.replays {
                    let stored = (range.from...range.through).compactMap { sent[$0] }
                    toVenue += client.retransmit(stored, of: range, at: time).frames
                }
            } else {
                return
            }
        }
    }
}

@Suite struct `A journal entry` {
    @Test func `is read back as it was written`() throws {
        var order = ExchangeOrder(
            party: "ORDERS",
            clOrdID: "a",
            orderID: "X1",
            account: nil,
            symbol: "NVDA",
            side: .sell,
            type: .stopLimit,
            timeInForce: .goodTillCancel,
            quantity: 100,
            limitPrice: Amount("125.5025"),
            stopPrice: Amount("126"),
            receivedAt: 1_773_648_000_000
        )
        order.status = "1"
        order.cumQty = 7
        order.turnover = Amount(units: 8_785_175)
        order.isTriggered = true
        order.replacedAs = "a-r2"
        order.replacedFrom = "a-r1"
        var message = FIXMessage(.executionReport)
        message.append(.clOrdID, "a")
        let entries: [JournalEntry] = [
            .numbers(party: "ORDERS", SessionNumbers(generation: 3, nextOut: 17, nextIn: 29)), .generation(party: "ORDERS"), .order(order),
            .seen("a"), .double("a"), .request(id: "a-c1", original: "a"), .counter(.max),
            .queued(OutboxEntry(id: 5, party: "ORDERS", message: message, due: Report.never, fault: .isLost)),
            .sent(party: "ORDERS", entry: 5, number: 16, sendingTime: 1_773_648_000_180), .released(party: "ORDERS"),
        ]
        let bytes = JournalEntry.encode(entries)
        #expect(JournalEntry.decode(bytes) == entries)
        for length in 1..<bytes.count {
            let part = JournalEntry.decode(Array(bytes.prefix(length)))
            #expect(part == nil || part?.count ?? 0 < entries.count)
        }
        #expect(JournalEntry.decode([99] + bytes) == nil)
    }
}
