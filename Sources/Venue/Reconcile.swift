import FIX
import Storage
import Trading

/// reconcile: all that the venue has, asked for at once (OrderMassStatusRequest) and compared with what is here.
///
/// After each start of a router, and when an operator asks. The answers come through the inbox and are settled as every status is: one whose CumQty is not
/// ours makes its order UNKNOWN and alarms. Nothing is booked from them: an execution that is missing here is booked when the venue reports it, by its
/// ExecID. What is open here and missing in the answer is UNKNOWN, and asked about by itself; only that answer ends it.
extension VenueSession {
    /// How long the venue may take for the whole answer, ms: a day's orders come at thousands a second. Later ones are settled all the same.
    static let massStatusPatience: Int64 = 60_000
    /// Between two looks whether the answer is there, ms: an operator waits.
    static let massStatusInterval: Int64 = 250

    /// Asks for what was not asked for, and concludes what was answered.
    func reconcile(_ session: inout SessionState, at wall: Int64) throws -> [OutgoingMessage] {
        let open = try database.openReconciliations(of: settings.sessionID)
        if !open.isEmpty { askDue = min(askDue, wall + Self.massStatusInterval) }
        var outgoing: [OutgoingMessage] = []
        for reconciliation in open {
            if let sentAt = reconciliation.sentAt {
                try conclude(reconciliation, sentAt: sentAt, at: wall)
            } else {
                outgoing.append(try ask(for: reconciliation, &session, at: wall))
            }
        }
        return outgoing
    }

    private func ask(for reconciliation: Reconciliation, _ session: inout SessionState, at wall: Int64) throws -> OutgoingMessage {
        let record = try held()
        let message = session.send(reconciliation.massStatusRequest, at: wall)
        try database.commitMassStatus(
            // Asked for again after a loss: the answer is as good then.
            message.kept(at: wall, resendBy: wall + Self.resendable, orderID: "", shard: 0),
            of: reconciliation.id,
            session: settings.sessionID,
            record: record,
            nextOut: Int64(session.numbers.nextOut),
            nextIn: Int64(session.numbers.nextIn)
        )
        try committed(session.numbers)
        return message
    }

    private func conclude(_ reconciliation: Reconciliation, sentAt: Int64, at wall: Int64) throws {
        let answer = try database.answer(to: reconciliation.id)
        if let refusal = answer.refusal {
            observer.trouble("the venue refuses OrderMassStatusRequest: \(refusal)")
            try database.end(reconciliation.id, .refused, reports: answer.reports, detail: refusal, at: wall)
        } else if answer.isComplete, answer.isSettled {
            let differences = try compare(reconciliation)
            let missing = differences.filter { $0.what == "not_at_venue" }.compactMap { OrderID($0.orderID) }
            try doubt(try database.orders(missing).values.byShard, reason: "not_in_mass_status")
            if !differences.isEmpty { observer.trouble("\(differences.count) differences with the venue in reconciliation \(reconciliation.id)") }
            try database.end(
                reconciliation.id,
                differences.isEmpty ? .agrees : .differs,
                reports: answer.reports,
                differences: differences,
                at: wall
            )
        } else if wall - sentAt > Self.massStatusPatience {
            let detail = "\(answer.reports) reports in \((wall - sentAt) / 1_000) s, not all of the answer"
            observer.trouble("the venue leaves OrderMassStatusRequest unanswered: \(detail)")
            try database.end(reconciliation.id, .unanswered, reports: answer.reports, detail: detail, at: wall)
        }
    }
}

extension Sequence<OrderState> {
    fileprivate var byShard: [Int16: [OrderID]] { Dictionary(grouping: self, by: \.account.shard).mapValues { $0.map(\.id) } }
}
