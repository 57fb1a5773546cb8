import ExchangeSimulator
import FIX
import Foundation
import Synchronization
import Testing
import Trading

@Suite(.timeLimit(.minutes(1))) struct `The venue, over a real line,` {
    @Test func `acknowledges and fills`() async throws {
        let client = Client()
        client.state.withLock { $0.outbox = [order("a"), order("b", "NVDA.REJ")] }
        try await trade(client) { venue, _ in
            await client.wait { $0.received.count >= 3 }
            #expect(client.told == ["0 a", "F a", "8 b"])
            #expect(venue.receivedCount == 2)
            #expect(venue.ordersSeen("a") == 1)
            #expect(venue.receipts.map(\.clOrdID) == ["a", "b"])
            #expect(venue.order("a")?.cumQty == 100)
        }
    }

    @Test func `breaks the line before it acknowledges, once`() async throws {
        let client = Client()
        client.state.withLock { $0.outbox = [order("a", "NVDA.DROP")] }
        try await trade(client) { venue, _ in
            // The reports may come in one read with the second Logon, which is told of after them.
            await client.wait { $0.received.count >= 2 && $0.logons >= 2 }
            #expect(client.told == ["0 a", "F a"])
            #expect(client.state.withLock { $0.logons } == 2)
            #expect(venue.ordersSeen("a") == 1)
            #expect(venue.doubles.isEmpty)
        }
    }

    @Test func `is late, silent, and speaks again`() async throws {
        let client = Client()
        client.state.withLock { $0.outbox = [order("late", "NVDA.LATE"), order("mute", "NVDA.MUTE"), order("a")] }
        try await trade(client) { venue, initiator in
            await client.wait { $0.received.count >= 4 }
            #expect(client.told == ["0 a", "F a", "0 late", "F late"])
            try venue.releaseWithheld()
            await client.wait { $0.received.count >= 5 }
            #expect(client.told.last == "0 mute")
            venue.setMute(true)
            client.state.withLock { $0.outbox = [order("b")] }
            initiator.wake()
            try venue.inject(order("marker"), to: "ORDERS")
            venue.setMute(false)
            await client.wait { $0.received.contains { $0.string(.clOrdID) == "b" } && $0.received.contains { $0.type == .newOrderSingle } }
        }
    }

    @Test func `sends old reports again, and reports that never were`() async throws {
        let client = Client()
        client.state.withLock { $0.outbox = [order("a")] }
        try await trade(client) { venue, _ in
            await client.wait { $0.received.count >= 2 }
            try venue.replayReports(to: "ORDERS")
            await client.wait { $0.received.count >= 4 }
            try venue.resendLast(1, to: "ORDERS")
            await client.wait { $0.received.count >= 5 }
            var report = ExecutionReport(try #require(venue.order("a")), execID: "never", execType: "F", at: 0)
            report.clOrdID = "nobody"
            try venue.inject(report, to: "ORDERS")
            await client.wait { $0.received.count >= 6 }
            #expect(client.told == ["0 a", "F a", "0 a", "F a", "F a", "F nobody"])
            let ids = client.received.map { $0.string(.execID) }
            #expect(ids[2] == ids[0] && ids[3] == ids[1] && ids[4] == ids[1])
        }
    }

    @Test func `tells of a double, and of none when the order says that it may be one`() async throws {
        let client = Client()
        let lines = Mutex<[String]>([])
        client.state.withLock { $0.outbox = [order("a"), order("a", resend: true), order("a")] }
        let log: @Sendable (String) -> Void = { line in lines.withLock { $0.append(line) } }
        try await trade(client, log: log) { venue, _ in
            await client.wait { $0.received.count >= 4 }
            #expect(client.told == ["0 a", "F a", "I a", "8 a"])
            #expect(venue.doubles == ["a"])
            #expect(venue.ordersSeen("a") == 3)
        }
        #expect(lines.withLock { $0.filter { $0.contains("double_order") } } == ["event=double_order party=ORDERS cl_ord_id=a"])
    }

    @Test func `expires the day's orders and moves quotes on request`() async throws {
        let client = Client()
        var resting = order("rest")
        resting.append(.price, "1.00")
        var limit = FIXMessage(.newOrderSingle)
        for (tag, value) in [(FIXTag.clOrdID, "rest"), (.symbol, "AAPL"), (.side, "1"), (.orderQty, "5"), (.ordType, "2"), (.price, "200.00")] {
            limit.append(tag, value)
        }
        limit.append(.transactTime, time: 1_790_000_000_000)
        client.state.withLock { [limit] in $0.outbox = [limit] }
        try await trade(client) { venue, initiator in
            await client.wait { $0.received.count >= 1 }
            try venue.setQuote("AAPL", bid: #require(Amount("199.90")), ask: #require(Amount("199.95")))
            await client.wait { $0.received.count >= 2 }
            #expect(client.received.last?.string(.lastPx) == "199.95")
            client.state.withLock { $0.outbox = [order("day", "NVDA.LATEFILL")] }
            initiator.wake()
            await client.wait { $0.received.count >= 3 }
            try venue.endDay()
            await client.wait { $0.received.count >= 4 }
            #expect(client.told.last == "C day")
        }
    }

    @Test func `refuses connections and takes them again`() async throws {
        let client = Client()
        try await trade(client) { venue, _ in
            await client.wait { $0.logons == 1 }
            venue.refuseConnections(true)
            venue.disconnectAll()
            await client.wait { !$0.logouts.isEmpty }
            #expect(client.state.withLock { $0.logons } == 1)
            venue.refuseConnections(false)
            await client.wait { $0.logons == 2 }
        }
    }
}

@Suite(.timeLimit(.minutes(1))) struct `The venue's memory` {
    private func directory() -> String { NSTemporaryDirectory() + "venue-" + UUID().uuidString }

    @Test func `keeps orders, numbers and unsent reports through a restart`() async throws {
        let path = directory()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let client = Client()
        client.state.withLock { $0.outbox = [order("a"), order("part", "NVDA.PART"), order("mute", "NVDA.MUTE")] }
        try await trade(client, directory: path) { venue, _ in
            await client.wait { $0.received.contains { $0.string(.clOrdID) == "part" && $0.string(.ordStatus) == "2" } }
            #expect(venue.receivedCount == 3)
        }
        let before = client.state.withLock { $0 }
        #expect(before.numbers.nextIn > 8)
        client.state.withLock { $0.outbox = [order("a", resend: true), order("b")] }
        try await trade(client, directory: path) { venue, _ in
            await client.wait { $0.received.count >= before.received.count + 3 }
            #expect(Array(client.told.suffix(3)) == ["I a", "0 b", "F b"])
            #expect(venue.ordersSeen("a") == 2)
            #expect(venue.order("part")?.cumQty == 100)
            try venue.releaseWithheld()
            await client.wait { $0.received.count >= before.received.count + 4 }
            #expect(client.told.last == "0 mute")
            #expect(venue.sentReports(to: "ORDERS").count == client.received.count)
        }
        let ids = client.received.compactMap { $0.string(.execID) }
        #expect(Set(ids).count == ids.count)
    }

    @Test func `sends again after a restart what the client says it has not received`() async throws {
        let path = directory()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let client = Client()
        client.state.withLock { $0.outbox = [order("a")] }
        try await trade(client, directory: path) { _, _ in await client.wait { $0.received.count >= 2 } }
        // The client goes back to an older backup: its inbound number is lower, the reports are gone.
        let behind = client.state.withLock { state in
            var older = state
            older.numbers.nextIn = 2
            older.received = []
            return older
        }
        let again = Client(behind)
        try await trade(again, directory: path) { venue, _ in
            await again.wait { $0.received.count >= 2 }
            #expect(again.told == ["0 a", "F a"])
            #expect(again.received.allSatisfy { $0.flag(.possDupFlag) == true && $0.has(.origSendingTime) })
            #expect(venue.ordersSeen("a") == 1)
        }
    }

    @Test func `drops a torn last record and nothing before it`() async throws {
        let path = directory()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let client = Client()
        client.state.withLock { $0.outbox = [order("a")] }
        try await trade(client, directory: path) { _, _ in await client.wait { $0.received.count >= 2 } }
        let file = path + "/venue.journal"
        let whole = try Data(contentsOf: URL(filePath: file))
        for torn in [Data([9, 0, 0, 0, 1, 2]), whole.prefix(30), Data([1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7])] {
            try (whole + torn).write(to: URL(filePath: file))
            var configuration = SimulatedVenue.Configuration()
            configuration.stateDirectory = path
            let venue = try SimulatedVenue(configuration, log: { _ in })
            #expect(venue.order("a")?.cumQty == 100)
            #expect(try Data(contentsOf: URL(filePath: file)) == whole)
        }
    }

    @Test func `does not start on a file that is damaged in its middle`() async throws {
        let path = directory()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let client = Client()
        client.state.withLock { $0.outbox = [order("a")] }
        try await trade(client, directory: path) { _, _ in await client.wait { $0.received.count >= 2 } }
        let file = URL(filePath: path + "/venue.journal")
        var bytes = try Data(contentsOf: file)
        bytes[20] ^= 1
        try bytes.write(to: file)
        var configuration = SimulatedVenue.Configuration()
        configuration.stateDirectory = path
        #expect(throws: SimulatorError.self) { _ = try SimulatedVenue(configuration, log: { _ in }) }
    }

    @Test func `belongs to one process at a time`() throws {
        let path = directory()
        defer { try? FileManager.default.removeItem(atPath: path) }
        var configuration = SimulatedVenue.Configuration()
        configuration.stateDirectory = path
        let first = try SimulatedVenue(configuration, log: { _ in })
        let failure = #expect(throws: SimulatorError.self) { _ = try SimulatedVenue(configuration, log: { _ in }) }
        #expect(failure?.code == .journalInUse)
        withExtendedLifetime(first) {}
    }
}

@Suite(.timeLimit(.minutes(1))) struct `The venue's market data` {
    @Test func `vouches for each symbol again and again, and is silent when it is told to be`() async throws {
        let client = Client()
        client.state.withLock { $0.outbox = [subscription("r1", "NVDA", "AAPL.REJ")] }
        try await trade(client, as: "QUOTES") { venue, _ in
            await client.wait { $0.received.filter { $0.string(.symbol) == "NVDA" }.count >= 3 }
            let quote = try #require(client.received.first { $0.string(.symbol) == "NVDA" })
            let sides = quote.group(countedBy: .noMDEntries, first: .mdEntryType)
            #expect(quote.type == .marketDataSnapshotFullRefresh)
            #expect(quote.string(.mdReqID) == "r1")
            #expect(sides.map { $0.string(.mdEntryType) } == ["0", "1", "2"])
            #expect(sides.map { $0.string(.mdEntryPx) } == ["125.50", "125.52", "125.50"])
            #expect(client.received.contains { $0.string(.symbol) == "AAPL.REJ" })
            venue.stopQuotes("NVDA")
            let before = client.received.filter { $0.string(.symbol) == "NVDA" }.count
            let others = client.received.filter { $0.string(.symbol) == "AAPL.REJ" }.count
            await client.wait { $0.received.filter { $0.string(.symbol) == "AAPL.REJ" }.count >= others + 2 }
            #expect(client.received.filter { $0.string(.symbol) == "NVDA" }.count <= before + 1)
        }
    }

    @Test func `tells of changes at once and of halts`() async throws {
        let client = Client()
        client.state.withLock { $0.outbox = [subscription("r1", "NVDA")] }
        try await trade(client, as: "QUOTES") { venue, _ in
            await client.wait { !$0.received.isEmpty }
            try venue.setQuote("NVDA", bid: #require(Amount("99.98")), ask: #require(Amount("100.00")))
            await client.wait {
                $0.received.last?.group(countedBy: .noMDEntries, first: .mdEntryType).first?.string(.mdEntryPx) == "99.98"
            }
            venue.setHalted("NVDA", true)
            await client.wait { $0.received.contains { $0.type == .securityStatus && $0.string(.securityTradingStatus) == "2" } }
            venue.setHalted("NVDA", false)
            await client.wait { $0.received.contains { $0.type == .securityStatus && $0.string(.securityTradingStatus) == "3" } }
        }
    }

    @Test func `serves everything, one look, and refuses what it does not know`() async throws {
        let client = Client()
        client.state.withLock {
            $0.outbox = [subscription("one", "NVDA", kind: "0"), subscription("bad", "NOSUCH"), subscription("all", "*"), subscription("all", "F")]
        }
        try await trade(client, as: "QUOTES") { _, _ in
            await client.wait { Set($0.received.compactMap { $0.string(.symbol) }).count >= 70 }
            #expect(client.received.filter { $0.string(.mdReqID) == "one" }.count == 1)
            let refused = client.received.filter { $0.type == .marketDataRequestReject }
            #expect(refused.map { $0.string(.mdReqID) } == ["bad", "all"])
            #expect(refused.map { $0.string(.mdReqRejReason) } == ["0", "1"])
        }
    }

    @Test func `begins again with each logon`() async throws {
        let client = Client()
        client.state.withLock { $0.outbox = [subscription("r1", "NVDA")] }
        try await trade(client, as: "QUOTES") { venue, _ in
            await client.wait { !$0.received.isEmpty }
            venue.disconnectAll()
            await client.wait { $0.logons == 2 }
            #expect(client.state.withLock { $0.numbers } == SessionNumbers(generation: 3, nextOut: 2, nextIn: 2))
        }
    }

    @Test func `walks the same way from the same seed`() throws {
        func walk(seed: UInt64) throws -> [Quote?] {
            var configuration = SimulatedVenue.Configuration()
            configuration.seed = seed
            let venue = try SimulatedVenue(configuration, log: { _ in })
            for _ in 0..<200 { try venue.tick() }
            return ["NVDA", "F", "BRK.B"].map { venue.quote(of: $0) }
        }
        #expect(try walk(seed: 7) == walk(seed: 7))
        #expect(try walk(seed: 7) != walk(seed: 8))
        for quote in try walk(seed: 7) {
            let quote = try #require(quote)
            #expect((100...500).contains(quote.ask.units - quote.bid.units))
            #expect(quote.bid.units % 100 == 0)
        }
    }
}
