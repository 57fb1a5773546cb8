package import FIX

/// A venue to trade against: a FIX 4.4 acceptor with orders, quotes and faults on request.
///
/// Reading order: `Exchange` (orders and matching), `VenueState` (sessions and journal), `Feed` (market data), this driver.
package final class SimulatedVenue: Sendable {
    package struct Configuration: Sendable {
        package var host = "127.0.0.1"
        /// 0 = any free port.
        package var port: UInt16 = 0
        /// TLS on every connection; nil = none on any.
        package var tls: LineTLS?
        /// The venue's own SenderCompID.
        package var compID = "EXCH"
        /// Who may log on for orders. Their sessions and orders are kept in the state directory.
        package var orderParties: Set<String> = ["ORDERS"]
        /// Who may log on for market data. Their sessions are kept in memory alone: they begin again with each logon.
        package var marketDataParties: Set<String> = ["QUOTES"]
        /// Anybody else may log on as well, with a session like those of the order parties.
        package var acceptsAnyParty = false
        /// Seed of the prices.
        package var seed: UInt64 = 1
        /// Quote moves in a second, for each symbol.
        package var ticksPerSecond = 4
        /// Prices stay where they are until they are set.
        package var frozen = false
        /// Where orders and sessions outlive the process; nil = in memory.
        package var stateDirectory: String?
        /// Where to note when each new order came; nil = nowhere.
        package var receiptsFile: String?
        package var exchange = ExchangeSettings()
        /// Symbols beside the named ones, S00001 and on.
        package var madeUpSymbols = 0
        /// The binary feed; nil = FIX alone.
        package var ticks: TickPublisher.Settings?
        /// What is agreed upon with every party beyond the names: told the session's settings, which are strict about the dictionary.
        package var agree: @Sendable (inout SessionSettings) -> Void = { _ in }
        package var clock = SessionClock.system

        package init() {}
    }

    let configuration: Configuration
    let books: Books
    let acceptor: Acceptor
    /// The binary feed, for tests and faults.
    package let ticks: TickPublisher?
    private let receiptFile: ReceiptFile?
    private let log: @Sendable (String) -> Void

    /// - Parameter log: told of connections, and of each ClOrdID that came twice, one line each.
    package init(_ configuration: Configuration, log: @escaping @Sendable (String) -> Void) throws(SimulatorError) {
        precondition(configuration.ticksPerSecond > 0, "A venue ticks.")
        self.configuration = configuration
        self.log = log
        let books = Books(
            try VenueState(
                settings: configuration.exchange,
                seed: configuration.seed,
                stateDirectory: configuration.stateDirectory,
                volatileParties: configuration.marketDataParties
            )
        )
        self.books = books
        books.with { $0.exchange.addSymbols(configuration.madeUpSymbols) }
        do {
            ticks = try configuration.ticks.map {
                try TickPublisher($0, seed: configuration.seed, books: books, clock: configuration.clock, log: log)
            }
        } catch {
            throw SimulatorError(code: .feedUnusable, operation: "open the binary feed", message: String(describing: error))
        }
        let receiptFile = try configuration.receiptsFile.map { path throws(SimulatorError) in try ReceiptFile(path) }
        self.receiptFile = receiptFile
        var acceptance = Acceptor.Configuration()
        acceptance.host = configuration.host
        acceptance.port = configuration.port
        acceptance.tls = configuration.tls
        acceptor = Acceptor(
            acceptance,
            clock: configuration.clock,
            report: log,
            open: { logon in
                let party = logon.senderCompID
                let isKnown =
                    configuration.orderParties.contains(party) || configuration.marketDataParties.contains(party) || configuration.acceptsAnyParty
                guard isKnown, logon.targetCompID == configuration.compID else { return nil }
                var settings = SessionSettings(role: .acceptor, senderCompID: configuration.compID, targetCompID: party)
                settings.rules = .strict
                settings.isTest = true
                configuration.agree(&settings)
                let control = SessionControl()
                books.with { $0.lines[party] = control }
                let store = VenueSessionStore(
                    books,
                    party: party,
                    clock: configuration.clock,
                    receipts: receiptFile,
                    control: control,
                    log: log
                )
                return Acceptor.Session(settings: settings, store: store, control: control)
            }
        )
    }

    /// Binds and listens; returns the port.
    package func start() throws(FIXError) -> UInt16 { try acceptor.start() }

    /// Serves and ticks until it is cancelled or stopped; sessions log out with the handshake. Throws when the journal cannot be written.
    package func run() async throws {
        try await withThrowingTaskGroup { group in
            group.addTask { try await self.acceptor.run() }
            group.addTask { try await self.tickUntilCancelled() }
            if let ticks = self.ticks { group.addTask { try await ticks.run(wake: { self.acceptor.wakeAll() }) } }
            // Whichever ends first ends the other: a venue that cannot write its journal must not go on.
            try await group.next()
            group.cancelAll()
            try await group.waitForAll()
        }
        // No session lives any more: whoever starts on the same directory next finds it free.
        try receiptFile?.write()
        try books.with { try $0.close() }
    }

    package func stop() { acceptor.stop() }

    private func tickUntilCancelled() async throws {
        let pause = Duration.milliseconds(1_000 / configuration.ticksPerSecond)
        // At least once a second: venues tick that often.
        while !Task.isCancelled {
            do {
                try await Task.sleep(for: pause)
            } catch {
                return
            }
            try tick()
            try receiptFile?.write()
        }
    }

    /// One tick now: quotes move unless they are frozen, resting orders meet them, partial fills go on.
    package func tick() throws(SimulatorError) {
        try change { state, now throws(SimulatorError) in try state.tick(frozen: configuration.frozen, at: now) }
    }

    /// Changes the state and wakes the sessions.
    func change(_ body: (inout VenueState, Int64) throws(SimulatorError) -> Void) throws(SimulatorError) {
        let now = configuration.clock.wall()
        let failure: SimulatorError? = books.with { state in
            do throws(SimulatorError) {
                try body(&state, now)
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw failure }
        acceptor.wakeAll()
    }
}
