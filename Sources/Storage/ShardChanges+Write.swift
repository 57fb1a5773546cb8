import Postgres
import Trading

/// The set-based statements of a leg, in an order that takes locks the same way everywhere. Nothing is written that did not change.
extension ShardChanges {
    func write(into pipeline: inout Pipeline) {
        writeShards(into: &pipeline)
        writeKeys(into: &pipeline)
        writeNewOrders(into: &pipeline)
        writeChangedOrders(into: &pipeline)
        writeTerms(into: &pipeline)
        writeBalances(into: &pipeline)
        writeEntries(into: &pipeline)
        writeEvents(into: &pipeline)
        writeExecutions(into: &pipeline)
        writeParked(into: &pipeline)
        writeAlarms(into: &pipeline)
        writeRecovery(into: &pipeline)
    }

    private func writeShards(into pipeline: inout Pipeline) {
        let advances = advances
        var values = Parameters()
        values.append(advances.map(\.lock.shard))
        values.append(advances.map(\.lock.nextLog))
        values.append(advances.map(\.nextLog))
        values.append(advances.map(\.lock.nextJournal))
        values.append(advances.map(\.nextJournal))
        values.append(advances.map(\.sentLog))
        values.append(advances.map(\.settledInbox))
        values.append(advances.map(\.replays))
        pipeline.add(SQL.advanceShards, values)
    }

    private func writeKeys(into pipeline: inout Pipeline) {
        if newKeys.isEmpty { return }
        var values = Parameters()
        values.append(newKeys.map(\.id.account.text))
        values.append(newKeys.map(\.id.bits))
        values.append(newKeys.map(\.createdAt))
        values.append(newKeys.map(\.outcome.rawValue))
        values.append(newKeys.map(\.fingerprint))
        values.append(newKeys.map(\.orderID?.text))
        values.append(newKeys.map { key in key.httpStatus.map { Int16($0) } })
        values.append(newKeys.map { key in key.answer.map { PackedAnswer.pack($0, orderID: key.orderID?.text) } })
        pipeline.add(SQL.insertKeys, values)
    }

    private func writeNewOrders(into pipeline: inout Pipeline) {
        if newOrders.isEmpty { return }
        // An order that was accepted and changed again in the same leg is written as it stands at the end.
        let states = newOrders.map { changedOrders[$0.state.id] ?? $0.state }
        var values = Parameters()
        values.append(states.map(\.id.text))
        values.append(states.map(\.account.text))
        values.append(states.map { UUIDBits(high: $0.key.high, low: $0.key.low) })
        values.append(states.map(\.terms.symbol.text))
        values.append(states.map(\.terms.side.rawValue))
        values.append(states.map(\.terms.type.rawValue))
        values.append(states.map(\.terms.timeInForce.rawValue))
        values.append(states.map(\.terms.quantity))
        values.append(states.map(\.terms.limitPrice?.units))
        values.append(states.map(\.terms.stopPrice?.units))
        values.append(states.map(\.holdPrice.units))
        values.append(states.map(\.held.units))
        values.append(states.map(\.routeBy))
        values.append(newOrders.map(\.clientTimestamp))
        values.append(newOrders.map(\.quoteReference))
        values.append(newOrders.map(\.credentialID))
        values.append(states.map(\.status.rawValue))
        values.append(states.map(\.createdAt))
        values.append(states.map(\.account.shard))
        pipeline.add(SQL.insertOrders, values)
    }

    private func writeChangedOrders(into pipeline: inout Pipeline) {
        let fresh = Set(newOrders.map(\.state.id))
        let changed = changedOrders.values.filter { !fresh.contains($0.id) }
        if changed.isEmpty { return }
        var values = Parameters()
        values.append(changed.map(\.id.text))
        values.append(changed.map(\.status.rawValue))
        values.append(changed.map(\.held.units))
        values.append(changed.map(\.filledQuantity))
        values.append(changed.map(\.filledValue.units))
        values.append(changed.map(\.cancels))
        values.append(changed.map(\.cancelPending))
        values.append(changed.map(\.reason))
        values.append(changed.map(\.updatedAt))
        values.append(leastOf: changed.map(\.id.text))
        values.append(changed.map { $0.resends == 0 ? nil : $0.resends })
        values.append(changed.map(\.unansweredIn))
        pipeline.add(SQL.updateOrders, values)
    }

    /// After the rows themselves: orders of this leg's own among them.
    private func writeTerms(into pipeline: inout Pipeline) {
        let replaced = changedOrders.values.filter { $0.replaces.requests > 0 }
        if replaced.isEmpty { return }
        var values = Parameters()
        values.append(replaced.map(\.id.text))
        values.append(replaced.map(\.terms.quantity))
        values.append(replaced.map(\.terms.limitPrice?.units))
        values.append(replaced.map(\.terms.stopPrice?.units))
        values.append(replaced.map(\.holdPrice.units))
        values.append(replaced.map(\.replaces.requests))
        values.append(replaced.map(\.replaces.taken))
        let pending = replaced.map(\.replaces.pending)
        values.append(pending.map(\.?.terms.quantity))
        values.append(pending.map(\.?.terms.limitPrice?.units))
        values.append(pending.map(\.?.terms.stopPrice?.units))
        values.append(pending.map(\.?.holdPrice.units))
        let first = replaced.map(\.replaces.first)
        values.append(first.map(\.?.quantity))
        values.append(first.map(\.?.limitPrice?.units))
        values.append(first.map(\.?.stopPrice?.units))
        values.append(leastOf: replaced.map(\.id.text))
        values.append(pending.map(\.?.number))
        values.append(pending.map { $0?.lostIn })
        pipeline.add(SQL.changeTerms, values)
    }

    private func writeBalances(into pipeline: inout Pipeline) {
        let (changed, opened) = balanceChanges
        for (statement, rows) in [(SQL.changeBalances, changed), (SQL.openBalances, opened)] where !rows.isEmpty {
            var values = Parameters()
            values.append(rows.map(\.0.account.description))
            values.append(rows.map(\.0.asset.text))
            values.append(rows.map(\.1.available.units))
            values.append(rows.map(\.1.held.units))
            values.append(rows.map(\.1.owed.units))
            values.append(rows.map(\.1.settlement.units))
            values.append(rows.map(\.1.cost.units))
            pipeline.add(statement, values)
        }
    }

    private func writeEntries(into pipeline: inout Pipeline) {
        if balances.journals.isEmpty { return }
        var numbers = Dictionary(uniqueKeysWithValues: locks.map { ($0.shard, $0.nextJournal) })
        var lines: [(shard: Int16, journal: Int64, line: Int16, cause: Int16, orderID: String?, entry: Entry)] = []
        for journal in balances.journals {
            guard let number = numbers[journal.shard] else { preconditionFailure("A leg writes journals of the shards that it has locked.") }
            numbers[journal.shard] = number + 1
            for (line, entry) in journal.entries.enumerated() {
                // A journal's first entry names its order, for all of them: the id would be a third of each.
                let order = line == 0 ? journal.orderID?.text : journal.orderID.map { _ in "" }
                lines.append((journal.shard, number, Int16(line), journal.cause.rawValue, order, entry))
            }
        }
        var values = Parameters()
        values.append(at)
        values.append(lines.map(\.shard))
        values.append(lines.map(\.journal))
        values.append(lines.map(\.line))
        values.append(lines.map(\.cause))
        values.append(lines.map(\.orderID))
        values.append(lines.map(\.entry.account.description))
        values.append(lines.map(\.entry.asset.text))
        values.append(lines.map(\.entry.bucket.rawValue))
        values.append(lines.map(\.entry.direction.rawValue))
        values.append(lines.map(\.entry.amount.units))
        pipeline.add(SQL.insertEntries, values)
    }

    private func writeEvents(into pipeline: inout Pipeline) {
        if events.isEmpty { return }
        let accounts = eventNow.keys.sorted { $0.text < $1.text }
        var numbers = Parameters()
        numbers.append(accounts.map(\.text))
        numbers.append(accounts.map { eventBase[$0] ?? 0 })
        numbers.append(accounts.map { eventNow[$0] ?? 0 })
        pipeline.add(SQL.advanceEvents, numbers)

        var values = Parameters()
        values.append(at)
        values.append(events.map(\.order.account.shard))
        values.append(events.map(\.position))
        values.append(events.map(\.order.account.text))
        values.append(events.map(\.number))
        values.append(events.map(\.type.rawValue))
        values.append(events.map(\.order.id.text))
        values.append(events.map(\.order.status.rawValue))
        values.append(events.map(\.order.filledQuantity))
        values.append(events.map(\.order.filledValue.units))
        values.append(events.map(\.order.held.units))
        values.append(events.map(\.order.reason))
        values.append(events.map(\.lastQuantity))
        values.append(events.map(\.lastPrice?.units))
        // An order that was never to be replaced has the terms of its row.
        let terms = events.map { $0.order.replaces.requests > 0 ? $0.order.terms : nil }
        values.append(terms.map(\.?.quantity))
        values.append(terms.map(\.?.limitPrice?.units))
        values.append(terms.map(\.?.stopPrice?.units))
        pipeline.add(SQL.insertLog, values)
    }

    private func writeExecutions(into pipeline: inout Pipeline) {
        if executions.isEmpty { return }
        var values = Parameters()
        values.append(at)
        values.append(executions.map(\.order.account.shard))
        values.append(executions.map(\.venue))
        values.append(executions.map(\.key.tradeDate))
        values.append(executions.map(\.key.execID))
        values.append(executions.map(\.order.account.text))
        values.append(executions.map(\.order.id.text))
        values.append(executions.map(\.order.terms.symbol.text))
        values.append(executions.map(\.order.terms.side.rawValue))
        values.append(executions.map(\.content.trade.quantity))
        values.append(executions.map(\.content.trade.price.units))
        values.append(executions.map(\.inboxID))
        values.append(executions.map(\.content.correction?.kind.rawValue))
        values.append(executions.map(\.content.correction?.reverses))
        pipeline.add(SQL.insertExecutions, values)
    }

    private func writeParked(into pipeline: inout Pipeline) {
        if parked.isEmpty { return }
        var values = Parameters()
        values.append(at)
        values.append(parked.map(\.shard))
        values.append(parked.map(\.inboxID))
        values.append(parked.map(\.why))
        pipeline.add(SQL.parkReports, values)
    }

    private func writeAlarms(into pipeline: inout Pipeline) {
        if alarms.isEmpty { return }
        var values = Parameters()
        values.append(at)
        values.append(alarms.map(\.alarm.kind.rawValue))
        values.append(alarms.map(\.account?.text))
        values.append(alarms.map(\.orderID))
        values.append(alarms.map(\.alarm.detail))
        pipeline.add(SQL.raiseAlarms, values)
    }
}
