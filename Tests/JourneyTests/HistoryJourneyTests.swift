import ExchangeSimulator
import FIX
import Foundation
import Gateway
import HTTPServer
import Identity
import JourneySupport
import MarketData
import OrderDesk
import Postgres
import Quotes
import Storage
import TestSupport
import Testing
import Trading

/// From the simulator's ticks to a line on a screen, by a clock that the test moves on by a minute.
@Suite struct `The price of a symbol` {
    private static func api(_ town: Town, _ room: MarketRoom) async throws -> API {
        let options = try town.database.options
        let keys = KeySetSource(location: try KeySetLocation(town.folder + "/jwks.json"), report: { _ in })
        try await keys.load()
        let book = CredentialBook(database: options, trouble: { print("credentials: \($0)") })
        let clock = room.clock
        return API(
            tokens: TokenVerifier(settings: .init(issuer: Town.issuerName, audience: Town.audience), source: keys),
            credentials: book,
            enrolment: Enrolment(database: options, book: book, trouble: { print("enrolment: \($0)") }),
            queue: OrderQueue(capacity: 64, batchCap: 64, lanes: 1),
            reads: Reads(options),
            streams: EventStreams(database: options, signal: CommitSignal(), trouble: { print("streams: \($0)") }),
            prices: PriceStreams(
                board: room.board,
                conditions: Conditions(freshness: Freshness(), instruments: room.instruments),
                window: 500,
                loops: 1
            ),
            instruments: room.instruments,
            accountLimits: RateLimits(RateLimit(perSecond: 1_000, burst: 1_000)),
            addressLimits: RateLimits(RateLimit(perSecond: 1_000, burst: 1_000)),
            metrics: Metrics(),
            readiness: { Readiness(database: true, migrations: true, venue: true, marketData: true) },
            gauges: {},
            answered: { _ in },
            now: { clock.now },
            runID: "test"
        )
    }

    @Test func `goes from the simulator's ticks through candles in PostgreSQL to the history that a client sees`() async throws {
        let town = try await Town(accounts: 1)
        let clock = MovedClock()
        let nvda = Symbol("NVDA")!
        let listed = [Instrument(symbol: nvda, name: "NVIDIA Corporation", exchange: ExchangeCode("SIM"))]
        let room = try MarketRoom(clock, database: town.database, listed: listed)
        let feed = QuoteFeed(
            settings: FeedSettings(
                host: "127.0.0.1",
                port: town.venuePort,
                senderCompID: "QUOTES",
                targetCompID: "EXCH",
                heartbeatSeconds: 30,
                symbols: ["NVDA"]
            ),
            board: room.board,
            clock: .system,
            random: { 0.5 },
            trouble: { print("feed: \($0)") }
        )
        let listener = try HTTPListener(HTTPConfiguration(), handler: APIHandler(try await Self.api(town, room)))
        try await town.run { town in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await listener.run() }
                group.addTask { try await feed.run() }
                let board = room.board
                try await eventually("a price") { board.listing(of: nvda)?.quote != nil }
                // A minute later, and its writing.
                clock.move(by: 70_000)
                room.recorder.record()
                #expect(try await town.readers.texts("SELECT symbol || ' ' || source FROM candles_1m") == ["NVDA 1"])
                let phone = town.phones[0]
                let path = "/v1/symbols/NVDA/history?range=1D"
                let answer = try await phone.send("GET", path, port: listener.port)
                #expect(answer.status == 200, "\(answer.text)")
                let price = try #require(try await town.readers.texts("SELECT trim_scale(close / 10000.0)::text FROM candles_1m").first)
                #expect(
                    answer.text.contains("\"close\":\"\(price)") && answer.text.contains(#""source":"feed","downsampled":"none""#),
                    "\(answer.text)"
                )
                let candles = try await phone.send("GET", "/v1/stocks/NVDA/history?interval=1m&period=1d", port: listener.port)
                #expect(candles.text.contains("\"close\":\"\(price)"), "\(candles.text)")
                let tag = try #require(answer.header("ETag"))
                let again = try await phone.send("GET", path, port: listener.port, headers: ["If-None-Match": "\"x\", W/\(tag)"])
                #expect(again.status == 304 && again.body.isEmpty && again.header("ETag") == tag)
                // The next minute brings another answer, and nothing was made up for a minute without ticks.
                clock.move(by: 60_000)
                let later = try await phone.send("GET", path, port: listener.port, headers: ["If-None-Match": tag])
                #expect(later.status == 200 && later.header("ETag") != tag, "\(later.text)")
                group.cancelAll()
                await listener.stop(within: .seconds(5))
                while let result = await group.nextResult() {
                    if case .failure(let error) = result, !(error is CancellationError) { throw error }
                }
            }
        }
    }
}
