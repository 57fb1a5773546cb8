import ExchangeSimulator
import Foundation
import JourneySupport
import Storage
import Testing
import Trading

extension Faults {
    /// Routers side by side on one database: all accept, one speaks for the venue's session.
    @Suite struct `Two routers` {
        @Test func `take over from one another after a kill and at once after a graceful end`() async throws {
            let town = try await Town(accounts: 3)
            try await town.run { town in
                let load = Load()
                // Long enough to tell a handover from a lease that runs out.
                let long = ["ORDER_ROUTER_LEASE": "20s"]
                let first = try town.router()
                let firstPort = try #require(await first.ready(), "\(first.log)")
                let second = try town.secondRouter(long)
                let secondPort = try #require(await second.ready(), "\(second.log)")
                load.serve(at: [firstPort, secondPort])
                try await load.during(town, threads: 2, seed: 1) {
                    try await load.progress(40)
                    let epoch = try #require(try await town.epochLoggedOn())
                    first.signal(SIGKILL)
                    await first.ended()
                    load.serve(at: [secondPort])
                    let next = try await town.loggedOn(after: epoch)
                    #expect(next == epoch + 1)
                    try await load.progress(40)

                    let third = try town.router(long)
                    let thirdPort = try #require(await third.ready(), "\(third.log)")
                    load.serve(at: [secondPort, thirdPort])
                    try await load.progress(20)
                    load.serve(at: [thirdPort])
                    second.signal(SIGTERM)
                    await second.ended()
                    let ended = ContinuousClock.now
                    #expect(try await town.loggedOn(after: next) == next + 1)
                    #expect(ContinuousClock.now - ended < .seconds(10))
                    try await load.progress(40)
                }
                try await load.verify(town)
            }
        }

        @Test func `leave the session to one when the other is woken after its lease`() async throws {
            let town = try await Town(accounts: 3)
            try await town.run { town in
                let load = Load()
                // With a heartbeat of a second the venue soon notices that nobody reads at the other end, and takes the next logon.
                let quick = ["ORDER_ROUTER_HEARTBEAT": "1"]
                let first = try town.router(quick)
                let firstPort = try #require(await first.ready(), "\(first.log)")
                let second = try town.secondRouter(quick)
                let secondPort = try #require(await second.ready(), "\(second.log)")
                load.serve(at: [firstPort, secondPort])
                try await load.during(town, threads: 2, seed: 2) {
                    for round in 0..<2 {
                        let (sleeper, other) = round == 0 ? (first, secondPort) : (second, firstPort)
                        try await load.progress(30)
                        let epoch = try #require(try await town.epochLoggedOn())
                        sleeper.signal(SIGSTOP)
                        load.serve(at: [other])
                        _ = try await town.loggedOn(after: epoch)
                        try await load.progress(20)
                        let said = sleeper.log.count
                        sleeper.signal(SIGCONT)
                        // It finds its lease gone, and says so.
                        try await eventually("the woken router's word") {
                            sleeper.log.dropFirst(said).contains { $0.contains("lease") || $0.contains("right to write") }
                        }
                        load.serve(at: [firstPort, secondPort])
                        try await load.progress(40)
                    }
                }
                try await load.verify(town)
                // One numbering, whoever spoke: no number came with two contents, none came twice but as a possible duplicate.
                let received = town.venue.receipts.filter { $0.party == "ORDERS" }
                #expect(Set(received.map(\.number)).count == received.count)
                #expect(received.map(\.number) == received.map(\.number).sorted())
                // Those past their deadline when the venue asked for them again were gap-filled, and ended so.
                let sent = try await town.texts(
                    """
                    SELECT number || ' ' || order_id FROM fix_sent JOIN orders USING (order_id)
                    WHERE msg_type = 'D' AND reason IS DISTINCT FROM 'not_routed' ORDER BY number
                    """
                )
                #expect(received.filter { $0.type == "D" }.map { "\($0.number) \($0.clOrdID ?? "")" } == sent)
            }
        }

        @Test func `of different sessions do not share a database: the second is refused at its start, and is told what to do`() async throws {
            let town = try await Town(accounts: 1)
            try await town.run { town in
                let first = try town.router()
                let port = try #require(await first.ready(), "\(first.log)")
                for other in [["ORDER_ROUTER_TARGET_COMP_ID": "OTHER"], ["ORDER_ROUTER_SENDER_COMP_ID": "ORDERS2"]] {
                    let second = try town.secondRouter(other)
                    try await eventually("the end of the second") { second.hasEnded }
                    let refusal = "orders of this database go by the session ORDERS->EXCH, and --sender-comp-id"
                    #expect(second.log.contains { $0.contains(refusal) && $0.contains("order-router change-session") }, "\(second.log)")
                }
                let change = ["change-session", "--target-comp-id", "OTHER", "--by", "ann"]
                let early = try await town.operate(change)
                #expect(early.status == 1 && early.text.contains("a router speaks for the session ORDERS->EXCH"), "\(early.text)")
                // The first has noticed nothing.
                let resting = try await town.phones[0].place(Circle.terms(.buy, 1, "NVDA", .limit, limit: "120.00"), key: Circle.newKey(), port: port)
                #expect(resting.status == 201, "\(resting.text)")
                try await town.quiet()
                #expect(!first.log.contains { $0.contains("lease") || $0.contains("leg_failed") }, "\(first.log)")
                first.signal(SIGTERM)
                await first.ended()
                let open = try await town.operate(change)
                #expect(open.status == 1 && open.text.contains("1 WORKING"), "\(open.text)")
                try await Self.changeTheVenue(town, change)
            }
        }

        /// Deliberately: what is open is ended by the session of before, then orders go by another one to the same simulator under another name.
        private static func changeTheVenue(_ town: Town, _ change: [String]) async throws {
            let last = try town.router()
            _ = try #require(await last.ready(), "\(last.log)")
            #expect(try await town.operate(["kill-switch", "on", "--reason", "the venue changes"]).status == 0)
            last.signal(SIGTERM)
            await last.ended()
            let changed = try await town.operate(change)
            #expect(changed.status == 0 && changed.text.contains("ORDERS->OTHER from now on"), "\(changed.text)")
            #expect(try await town.operate(change).text.contains("already"))
            #expect(try await town.operate(["kill-switch", "off"]).status == 0)
            let old = try town.router()
            try await eventually("the end of the old one") { old.hasEnded }
            #expect(old.log.contains { $0.contains("go by the session ORDERS->OTHER") }, "\(old.log)")

            var configuration = SimulatedVenue.Configuration()
            configuration.frozen = true
            configuration.compID = "OTHER"
            let venue = try SimulatedVenue(configuration, log: { _ in })
            let venuePort = try venue.start()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await venue.run() }
                let new = try town.router(["ORDER_ROUTER_VENUE": "127.0.0.1:\(venuePort)", "ORDER_ROUTER_TARGET_COMP_ID": "OTHER"])
                let port = try #require(await new.ready(), "\(new.log)")
                // Reports of the new venue are counted behind the old one's, and settled.
                let filled = try await town.phones[0].place(Circle.terms(.buy, 1), key: Circle.newKey(), port: port)
                let id = try #require(filled.member("order_id"), "\(filled.text)")
                try await eventually("its fill") {
                    try await town.texts("SELECT venue FROM executions WHERE order_id = '\(id)'") == ["OTHER"]
                }
                new.signal(SIGTERM)
                await new.ended()
                group.cancelAll()
            }
            try await town.readers.verify(venue)
        }

        @Test func `accept nothing once a halt has been answered, and let cancels pass`() async throws {
            let town = try await Town(accounts: 3)
            try await town.run { town in
                let load = Load()
                let (one, other) = (try town.router(), try town.secondRouter())
                let ports = [try #require(await one.ready(), "\(one.log)"), try #require(await other.ready(), "\(other.log)")]
                load.serve(at: ports)
                try await load.during(town, threads: 3, seed: 3) {
                    try await load.progress(40)
                    let phone = town.phones[0]
                    let resting = try await phone.place(Circle.terms(.buy, 1, "NVDA", .limit, limit: "115.00"), key: Circle.newKey(), port: ports[0])
                    let id = try #require(resting.member("order_id"), "\(resting.text)")
                    // A halt would end it before it has its number.
                    try await eventually("the venue's word") {
                        try await town.texts("SELECT status::text FROM orders WHERE order_id = '\(id)'") == [String(OrderStatus.working.rawValue)]
                    }
                    for _ in 0..<3 {
                        try await load.progress(10)
                        try await town.readers.read {
                            try $0.halt(Halt(scope: .venue, subject: "", reason: "a test of it"), by: "test", at: Circle.now())
                        }
                        let counts = "SELECT (SELECT count(*) FROM orders) || ' ' || (SELECT count(*) FROM fix_sent WHERE msg_type = 'D')"
                        let atHalt = try await town.texts(counts)
                        for phone in town.phones {
                            for port in ports {
                                let answer = try await phone.place(Circle.terms(.buy, 1), key: Circle.newKey(), port: port)
                                #expect(answer.status == 503 && answer.member("code") == "trading_halted", "\(answer.text)")
                            }
                        }
                        #expect(try await town.texts(counts) == atHalt)
                        _ = try await town.readers.read { try $0.resume(.venue, subject: "", by: "test", at: Circle.now()) }
                    }
                    try await town.readers.read {
                        try $0.halt(Halt(scope: .venue, subject: "", reason: "a test of it"), by: "test", at: Circle.now())
                    }
                    let answer = try await phone.send("DELETE", "/v1/trading/orders/\(id)", port: ports[1])
                    #expect(answer.status == 202, "\(answer.text)")
                    try await eventually("the cancel under the halt") {
                        try await town.texts("SELECT status::text FROM orders WHERE order_id = '\(id)'") == [String(OrderStatus.cancelled.rawValue)]
                    }
                    _ = try await town.readers.read { try $0.resume(.venue, subject: "", by: "test", at: Circle.now()) }
                    try await load.progress(10)
                }
                try await load.verify(town)
            }
        }
    }
}
