import ExchangeSimulator
import Foundation
import JourneySupport
import Postgres
import Storage
import TestSupport
import Testing
import Trading

extension Faults {
    /// What may happen between a router and its database, while clients try again until they know.
    @Suite struct `A database` {
        /// What a leg's commit is known by: the statement that it alone has, and COMMIT itself.
        static let legs = ["insert_orders", "insert_sent", "insert_inbox", "insert_executions", "commit"]

        @Test func `that is cut off during the commit of any leg costs no order and doubles none`() async throws {
            let town = try await Town(accounts: 3)
            let proxy = try PostgresProxy(to: town.database.url)
            defer { proxy.stop() }
            try await town.run { town in
                let load = Load()
                let router = try town.router(["ORDER_ROUTER_DATABASE_URL": proxy.url])
                load.serve(at: [try #require(await router.ready(), "\(router.log)")])
                try await load.during(town, threads: 2, seed: 4) {
                    for cut in [PostgresProxy.Cut.beforeServer, .afterServer] {
                        for leg in Self.legs {
                            let cuts = proxy.cuts
                            proxy.cut(cut, at: leg)
                            try await eventually("the cut at \(leg)") { proxy.cuts > cuts }
                            try await load.progress(3)
                        }
                    }
                    proxy.cutAll()
                    try await load.progress(20)
                    // The server has done it, says nothing and keeps the line open: the router gives up after its deadline and looks.
                    for leg in ["insert_orders", "insert_inbox"] {
                        let cuts = proxy.cuts
                        proxy.cut(.silenceAfterServer, at: leg)
                        try await eventually("the silence at \(leg)") { proxy.cuts > cuts }
                    }
                    try await load.progress(20)
                }
                #expect(load.now.statuses[500] == nil)
                try await load.verify(town)
            }
        }

        @Test func `that is restarted under load costs no order and doubles none`() async throws {
            let cluster = try PrivateCluster(at: TestServer.temporaryPath() + "-restart")
            try cluster.stopWhenThisProcessEnds(removingFolder: true)
            try cluster.start()
            let town = try await Town(accounts: 3, database: TestDatabase(on: cluster))
            try await town.run { town in
                let load = Load()
                let router = try town.router()
                load.serve(at: [try #require(await router.ready(), "\(router.log)")])
                try await load.during(town, threads: 2, seed: 5) {
                    for _ in 0..<3 {
                        try await load.progress(30)
                        try await Task.detached { try cluster.restart() }.value
                    }
                    try await load.progress(30)
                }
                print("restarts: answers by status \(load.now.statuses)")
                #expect(!router.hasEnded)
                try await load.verify(town)
            }
            try cluster.stop()
        }

        /// A router that has its prices and waits for its venue: nobody listens where its orders are to go.
        private static func waiting(_ town: Town) async throws -> (RouterProcess, SimulatedVenue.Configuration) {
            var configuration = SimulatedVenue.Configuration()
            configuration.frozen = true
            configuration.port = try SimulatedVenue(configuration, log: { _ in }).start()
            let router = try town.router([
                "ORDER_ROUTER_VENUE": "127.0.0.1:\(configuration.port)", "ORDER_ROUTER_MARKET_DATA": "127.0.0.1:\(town.venuePort)",
            ])
            try await eventually("a router that waits") { router.listenPort != nil || router.hasEnded }
            return (router, configuration)
        }

        @Test func `that goes away while a router waits for its venue is waited for as well`() async throws {
            let cluster = try PrivateCluster(at: TestServer.temporaryPath() + "-waiting")
            try cluster.stopWhenThisProcessEnds(removingFolder: true)
            try cluster.start()
            let town = try await Town(accounts: 1, database: TestDatabase(on: cluster))
            try await town.run { town in
                let (router, configuration) = try await Self.waiting(town)
                try await Task.detached { try cluster.stop() }.value
                try await eventually("its trouble") { router.log.contains { $0.contains("part=start") } || router.hasEnded }
                #expect(!router.hasEnded, "\(router.log)")
                try await Task.detached { try cluster.start() }.value
                let venue = try SimulatedVenue(configuration, log: { _ in })
                _ = try venue.start()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await venue.run() }
                    let port = try #require(await router.ready(), "\(router.log)")
                    let answer = try await town.phones[0].place(Circle.terms(.buy, 1), key: Circle.newKey(), port: port)
                    #expect(answer.status == 201, "\(answer.text)")
                    try await town.quiet()
                    group.cancelAll()
                }
                #expect(!router.log.contains { $0.contains("station_failed") })
                try await town.readers.verify(venue)
            }
            try cluster.stop()
        }

        @Test func `that answers nobody while a router waits for its venue does not end it`() async throws {
            let town = try await Town(accounts: 1)
            try await town.run { town in
                let (router, _) = try await Self.waiting(town)
                let port = try #require(router.listenPort)
                let probes = { @Sendable () async throws -> [Int] in
                    try await withThrowingTaskGroup(of: Int.self) { group in
                        for _ in 0..<8 { group.addTask { try await Phone.exchange("GET", "/readyz", port: port).status } }
                        return try await group.reduce(into: []) { $0.append($1) }
                    }
                }
                // A connection's first call also prepares what names the table that is locked then: both are in use by now.
                let connections = """
                    SELECT count(*)::text FROM pg_stat_activity
                    WHERE datname = current_database() AND application_name = 'order-router orders'
                    """
                try await eventually("both connections") {
                    let answers = try await probes()
                    let count = try await town.readers.texts(connections)
                    return answers == Array(repeating: 503, count: 8) && count == ["2"]
                }
                // Probes stand before this lock with the two connections that there are, and the router's own question gives up in line.
                let lock = try town.database.connect()
                try lock.execute("BEGIN")
                try lock.execute("LOCK TABLE halts IN ACCESS EXCLUSIVE MODE")
                async let held = probes()
                try await eventually("its trouble") { router.log.contains { $0.contains("part=start") } || router.hasEnded }
                try lock.execute("ROLLBACK")
                #expect(try await held == Array(repeating: 503, count: 8))
                #expect(!router.hasEnded && !router.log.contains { $0.contains("station_failed") }, "\(router.log)")
            }
        }
    }
}
