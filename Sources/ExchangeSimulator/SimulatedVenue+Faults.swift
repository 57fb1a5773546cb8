package import FIX
package import Trading

/// What a test or a person may ask of a running venue, from any thread.
extension SimulatedVenue {
    // MARK: Inspection

    /// How many NewOrderSingles have come with this ClOrdID; what the session itself repeated is not among them.
    package func ordersSeen(_ clOrdID: String) -> Int { books.with { $0.exchange.seen[clOrdID] ?? 0 } }

    /// ClOrdIDs that came again as a new order without PossResend. None of them was executed again.
    package var doubles: [String] { books.with { $0.exchange.doubles } }

    /// NewOrderSingles received since the start of the process.
    package var receivedCount: Int { books.with { $0.receivedCount } }

    /// The newest application messages with their times, oldest first.
    package var receipts: [Receipt] { books.with { $0.receipts } }

    package func order(_ clOrdID: String) -> ExchangeOrder? { books.with { $0.exchange.orders[clOrdID] } }

    package var orders: [ExchangeOrder] { books.with { Array($0.exchange.orders.values) } }

    /// Every symbol that it lists.
    package var symbols: [String] { books.with { $0.exchange.symbols } }

    package func quote(of symbol: String) -> Quote? { books.with { $0.exchange.quote(of: symbol) } }

    /// Reports that were sent to this party, in order.
    package func sentReports(to party: String) -> [FIXMessage] { books.with { $0.parties[party]?.history ?? [] } }

    /// Reports that are yet to be sent to this party: withheld, late, or waiting for its connection.
    package func waitingReports(to party: String) -> [FIXMessage] {
        books.with { state in
            let waiting = Array(state.parties[party]?.ready ?? []) + (state.parties[party]?.delayed ?? [])
            return waiting.sorted { $0.id < $1.id }.map(\.message)
        }
    }

    // MARK: Quotes

    /// Sets a symbol's quote; a scenario variant may get one of its own. Resting orders meet it at once.
    package func setQuote(_ symbol: String, bid: Amount, ask: Amount) throws(SimulatorError) {
        try change { state, now throws(SimulatorError) in
            state.exchange.setQuote(symbol, Quote(bid: bid, ask: ask))
            try state.record(state.exchange.match(at: now), [], at: now)
        }
    }

    /// The symbol (and its variants) falls silent: no tick and no vouching.
    package func stopQuotes(_ symbol: String) { books.with { _ = $0.stoppedQuotes.insert(symbol) } }

    package func resumeQuotes(_ symbol: String) { books.with { _ = $0.stoppedQuotes.remove(symbol) } }

    /// Whether nothing is said of the symbol: itself, its base symbol or everything is silent.
    package func isSilent(_ symbol: String) -> Bool { books.with { $0.isStopped(symbol) } }

    /// The feed stays connected and says nothing.
    package func stopAllQuotes() { books.with { $0.allQuotesStopped = true } }

    package func resumeAllQuotes() {
        books.with {
            $0.allQuotesStopped = false
            $0.stoppedQuotes = []
        }
    }

    /// Halts or resumes trading in a symbol; subscribers get a SecurityStatus.
    package func setHalted(_ symbol: String, _ halted: Bool) {
        books.with {
            if halted { $0.exchange.settings.halted.insert(symbol) } else { $0.exchange.settings.halted.remove(symbol) }
        }
        acceptor.wakeAll()
    }

    /// Whether orders of the symbol are refused: itself or its base symbol is halted.
    package func isHalted(_ symbol: String) -> Bool { books.with { $0.exchange.isHalted(symbol) } }

    // MARK: Orders

    package func setScenario(_ scenario: Scenario?, for symbol: String) { books.with { $0.exchange.settings.scenarios[symbol] = scenario } }

    /// How the exchange behaves now.
    package var settings: ExchangeSettings { books.with { $0.exchange.settings } }

    /// Changes any other setting of the exchange.
    package func adjust(_ body: @Sendable (inout ExchangeSettings) -> Void) { books.with { body(&$0.exchange.settings) } }

    /// While true the venue takes orders and sends no report, not even an answer to a status request; later they all go out. Quotes go on.
    package func setMute(_ mute: Bool) {
        books.with { $0.isMute = mute }
        acceptor.wakeAll()
    }

    /// Sends what symbols of the mute scenario have withheld.
    package func releaseWithheld() throws(SimulatorError) {
        try change { state, now throws(SimulatorError) in try state.releaseWithheld(at: now) }
    }

    /// DAY orders expire.
    package func endDay() throws(SimulatorError) {
        try change { state, now throws(SimulatorError) in try state.record(state.exchange.endDay(at: now), [], at: now) }
    }

    /// Loses an order from its memory: asked about, it is unknown. The error is `unknownOrder` where it is unknown already.
    package func forget(_ clOrdID: String) throws(SimulatorError) {
        try change { state, now throws(SimulatorError) in
            guard state.exchange.orders[clOrdID] != nil else {
                throw SimulatorError(code: .unknownOrder, operation: "forget \(clOrdID)", message: "no order came with this ClOrdID")
            }
            state.exchange.forget(clOrdID)
            try state.record([], [], at: now)
        }
    }

    /// Sends any message, such as a report about an unknown order or a fill that never was.
    package func inject(_ message: FIXMessage, to party: String) throws(SimulatorError) {
        try change { state, now throws(SimulatorError) in
            try state.record([Report(party: party, message: message, due: now)], [], at: now)
        }
    }

    package func inject(_ report: ExecutionReport, to party: String) throws(SimulatorError) {
        try inject(report.message, to: party)
    }

    /// Sends the last reports again, as new messages with their old content. Returns how many there were.
    @discardableResult
    package func resendLast(_ count: Int, to party: String) throws(SimulatorError) -> Int {
        var sent = 0
        try change { state, now throws(SimulatorError) in
            let last = state.parties[party]?.history.suffix(count) ?? []
            sent = last.count
            try state.record(last.map { Report(party: party, message: $0, due: now) }, [], at: now)
        }
        return sent
    }

    /// Sends every report again, as new messages with their old content.
    package func replayReports(to party: String) throws(SimulatorError) {
        try resendLast(.max, to: party)
    }

    // MARK: Connections

    /// Every session logs out with the handshake; the counterparties may log on again.
    package func logoutAll(_ text: String) {
        for line in books.with({ Array($0.lines.values) }) { line.stop(text) }
    }

    package func disconnectAll() { acceptor.disconnectAll("disconnected by the simulator") }

    /// While true, connections are closed as soon as they are accepted.
    package func refuseConnections(_ refuse: Bool) { acceptor.refuseConnections(refuse) }
}
