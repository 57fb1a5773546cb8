import FIX
package import Trading

/// Trades that the venue has reported, and what it may say of them later.
extension SimulatedVenue {
    /// The trades of an order as they stand now, oldest first: without those taken back, corrected ones as corrected.
    package func trades(of clOrdID: String) -> [Exchange.Trade] {
        books.with { state in
            guard let order = state.exchange.order(named: clOrdID) else { return [] }
            return state.trades(of: order)
        }
    }

    /// Whether an order has this ClOrdID, its own or that of a request about it.
    package func knows(_ clOrdID: String) -> Bool { books.with { $0.exchange.order(named: clOrdID) != nil } }

    /// Takes a trade back (ExecType H). The error is `unknownTrade` when no trade has this ExecID, or not any more.
    package func bust(_ execID: String) throws(SimulatorError) {
        try change { state, now throws(SimulatorError) in
            try state.record(state.exchange.bust(try state.trade(execID), at: now), [], at: now)
        }
    }

    /// Corrects a trade (ExecType G) to another quantity and price. The error is `unknownTrade` when no trade has this ExecID, or not any more, and
    /// `outOfRange` when the order's turnover would leave its range.
    package func correct(_ execID: String, quantity: Int64, price: Amount) throws(SimulatorError) {
        precondition(quantity > 0 && price.units > 0, "A trade that is corrected is still one.")
        try change { state, now throws(SimulatorError) in
            let reports = state.exchange.correct(try state.trade(execID), quantity: quantity, price: price, at: now)
            guard !reports.isEmpty else {
                let message = "with \(quantity) at \(price) the order's turnover would leave its range: correct it to less"
                throw SimulatorError(code: .outOfRange, operation: "correct \(execID)", message: message)
            }
            try state.record(reports, [], at: now)
        }
    }
}

extension VenueState {
    fileprivate func trades(of order: ExchangeOrder) -> [Exchange.Trade] {
        var trades: [Exchange.Trade] = []
        // Of a report that was sent twice the first counts, also when what it tells of was corrected or taken back since.
        var seen: Set<String> = []
        for report in reports(to: order.party) where report.string(.orderID) == order.orderID {
            guard let execID = report.string(.execID), seen.insert(execID).inserted else { continue }
            switch report.string(.execType) {
            case "F", "G":
                guard let quantity = report.shares(.lastQty), let price = report.amount(.lastPx) else { continue }
                let trade = Exchange.Trade(clOrdID: order.clOrdID, execID: execID, quantity: quantity, price: price)
                if let index = trades.firstIndex(where: { $0.execID == report.string(.execRefID) }) {
                    trades[index] = trade
                } else if !report.has(.execRefID) {
                    trades.append(trade)
                }
            case "H": trades.removeAll { $0.execID == report.string(.execRefID) }
            default: continue
            }
        }
        return trades
    }

    fileprivate func trade(_ execID: String) throws(SimulatorError) -> Exchange.Trade {
        for name in parties.keys {
            guard let report = reports(to: name).first(where: { $0.string(.execID) == execID }), let id = report.string(.orderID),
                let order = exchange.orders.values.first(where: { $0.orderID == id }),
                let trade = trades(of: order).first(where: { $0.execID == execID })
            else { continue }
            return trade
        }
        throw SimulatorError(code: .unknownTrade, operation: "find \(execID)", message: "no trade with the ExecID \(execID) stands")
    }

    /// What was made, sent or not, in the order in which it was made.
    private func reports(to name: String) -> [FIXMessage] {
        guard let party = parties[name] else { return [] }
        return party.history + party.ready.map(\.message) + party.delayed.sorted { $0.id < $1.id }.map(\.message)
    }
}
