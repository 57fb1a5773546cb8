import FIX
import Synchronization
import Testing

@testable import ExchangeSimulator

/// What the line does to an order's reports, and what the session makes of it: each report once, whatever happens.
@Suite(.timeLimit(.minutes(1))) struct `A line` {
    @Test(arguments: [
        Scenario.drop, .dropInFrame, .dropAfter, .badCheckSum, .gap, .split, .replayed, .asksAgain, .logout, .unheard,
    ])
    func `that fails brings each report once all the same`(_ scenario: Scenario) async throws {
        let client = Client()
        client.state.withLock { $0.outbox = [order("a", "NVDA." + scenario.rawValue)] }
        try await trade(client) { venue, initiator in
            await client.wait { $0.received.count >= 2 }
            #expect(client.told == ["0 a", "F a"])
            let again = order("b")
            client.state.withLock { $0.outbox = [again] }
            initiator.wake()
            await client.wait { $0.received.count >= 4 }
            #expect(client.told == ["0 a", "F a", "0 b", "F b"])
            #expect(venue.ordersSeen("a") == 1 && venue.doubles.isEmpty)
            let orders = venue.receipts.filter { $0.type == "D" }
            #expect(orders.map(\.clOrdID) == ["a", "b"])
            // That something went wrong shows.
            let isSentAgain = client.received.first?.flag(.possDupFlag) == true
            let logons = client.state.withLock { $0.logons }
            switch scenario {
            case .drop, .logout: #expect(logons == 2)
            case .dropInFrame: #expect(logons == 2 && isSentAgain)
            case .dropAfter: #expect(logons == 2 && !isSentAgain)
            case .badCheckSum, .gap: #expect(logons == 1 && isSentAgain)
            case .unheard: #expect(logons == 2 && orders.first?.isPossDup == true)
            default: #expect(logons == 1 && !isSentAgain)
            }
            if scenario == .logout { #expect(client.state.withLock { $0.logouts.first } == "the simulator logs out") }
        }
    }

    @Test func `that repeats a report does so with PossDupFlag and its first SendingTime`() throws {
        let frame = Array("8=FIX.4.4\u{1}9=55\u{1}35=8\u{1}49=EXCH\u{1}56=ORDERS\u{1}34=7\u{1}52=20261201-00:00:00.000\u{1}58=x\u{1}10=005\u{1}".utf8)
        let repeated = try #require(FIXMessage(frame: SpoiledFrame.repeated(frame)))
        #expect(repeated.flag(.possDupFlag) == true && repeated.string(.origSendingTime) == "20261201-00:00:00.000" && repeated.int(.msgSeqNum) == 7)
        var decoder = FrameDecoder()
        decoder.append(SpoiledFrame.repeated(frame)[...])
        #expect(decoder.next()?.string(.text) == "x")
        var garbled = FrameDecoder()
        garbled.append(SpoiledFrame.badCheckSum(SpoiledFrame.repeated(frame))[...])
        #expect(garbled.next() == nil)
    }

    @Test func `is logged out on request, and logs on again`() async throws {
        let client = Client()
        try await trade(client) { venue, _ in
            await client.wait { $0.logons == 1 }
            venue.logoutAll("maintenance")
            await client.wait { $0.logons == 2 }
            #expect(client.state.withLock { $0.logouts } == ["maintenance"])
        }
    }

    @Test func `says in its Logon that the venue is a test system`() async throws {
        let client = Client()
        try await trade(client) { _, initiator in
            await client.wait { $0.logons == 1 }
            client.state.withLock { $0.outbox = [order("a")] }
            initiator.wake()
            await client.wait { !$0.received.isEmpty && $0.venueIsTest }
        }
    }
}

@Suite(.timeLimit(.minutes(1))) struct `An echo` {
    private func echo(
        _ client: Client,
        _ configuration: EchoVenue.Configuration = EchoVenue.Configuration(),
        _ body: (Initiator) async throws -> Void
    ) async throws {
        let venue = EchoVenue(configuration, log: { _ in })
        let initiator = connecting(client, "CLIENT", to: configuration.compID, port: try venue.start())
        try await withThrowingTaskGroup { group in
            group.addTask { try await venue.run() }
            group.addTask { try await initiator.run() }
            try await body(initiator)
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    @Test func `sends orders and definitions back with a header of its own, and refuses what else there is`() async throws {
        var definition = FIXMessage(.securityDefinition)
        definition.append(320, "r1")
        // Raw data may hold the delimiter.
        definition.append(322, "s")
        definition.append(323, 1)
        definition.append(.text, "a")
        definition.append(354, 3)
        definition.append(355, bytes: [0x41, 1, 0x42])
        var question = FIXMessage(.orderStatusRequest)
        question.append(.clOrdID, "a")
        question.append(.symbol, "NVDA")
        question.append(.side, 1)
        let client = Client()
        client.state.withLock { [definition, question] in
            $0.outbox = [order("a"), definition, order("a", resend: true), order("b", resend: true), question, order("a")]
        }
        try await echo(client) { _ in
            await client.wait { $0.received.count >= 5 }
            let received = client.received
            #expect(received.map(\.type) == [.newOrderSingle, .securityDefinition, .newOrderSingle, .businessMessageReject, .newOrderSingle])
            #expect(received.map { $0.string(.clOrdID) } == ["a", nil, "b", nil, "a"])
            #expect(received[0].description.contains("|11=a|55=NVDA|54=1|60=20260921-14:13:20.000|38=100|40=1|59=0|10="))
            #expect(received[0].string(.senderCompID) == "ECHO-SIM" && received[0].string(.targetCompID) == "CLIENT")
            #expect(received[1].bytes(355).map(Array.init) == [0x41, 1, 0x42])
            #expect(received[3].int(.businessRejectReason) == 3 && received[3].string(.refMsgType) == "H" && received[3].int(.refSeqNum) == 6)
            #expect(!received[2].has(.possResend))
        }
    }

    @Test(arguments: [false, true]) func `begins again at logon when it is told to`(_ resets: Bool) async throws {
        var configuration = EchoVenue.Configuration()
        configuration.resetOnLogon = resets
        configuration.parties = ["CLIENT"]
        let (log, told) = AsyncStream<String>.makeStream()
        let venue = EchoVenue(configuration, log: { told.yield($0) })
        let port = try venue.start()
        try await withThrowingTaskGroup { group in
            group.addTask { try await venue.run() }
            // Two clients of one name, the second one without the first one's numbers: its Logon is number 1 again.
            for id in ["a", "b"] {
                let client = Client()
                client.state.withLock { $0.outbox = [order(id)] }
                let initiator = connecting(client, "CLIENT", to: configuration.compID, port: port)
                try await withThrowingTaskGroup { line in
                    line.addTask { try await initiator.run() }
                    await client.wait { !$0.received.isEmpty || !$0.logouts.isEmpty }
                    line.cancelAll()
                    try await line.waitForAll()
                }
                // The venue has seen that the line is closed: who comes before that is refused in the end, and its next Logon has another number.
                for await line in log where line.hasPrefix("CLIENT: ") { break }
                if id == "a" || resets {
                    #expect(client.received.compactMap { $0.string(.clOrdID) } == [id])
                } else {
                    // It tries again with the next number, and is served once that is high enough, if nobody ends it before: its first try counts.
                    #expect(client.state.withLock { $0.logouts.first?.hasPrefix("MsgSeqNum too low") } == true)
                }
            }
            group.cancelAll()
            try await group.waitForAll()
        }
    }
}
