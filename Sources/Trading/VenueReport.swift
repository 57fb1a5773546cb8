/// What the venue told us, decoded from FIX and not yet believed: the row that receive commits to the inbox and settle reads.
///
/// Numbers that are not whole shares or exact 1/10,000 prices are absent here, which makes their report unbookable: it is parked, never guessed at.
package struct VenueReport: Sendable, Hashable {
    /// Raw values are stored.
    package enum Kind: Int16, Sendable {
        /// ExecutionReport (35=8).
        case execution = 1
        /// OrderCancelReject (35=9).
        case cancelReject = 2
        /// Session Reject (35=3) or BusinessMessageReject (35=j) of a NewOrderSingle of ours, matched by RefSeqNum.
        case orderRefused = 3
        /// The same of an OrderCancelRequest of ours.
        case cancelRefused = 4
        /// The same of an OrderStatusRequest (asked again later) or OrderMassStatusRequest of ours.
        case statusRefused = 6
        /// The same of an OrderCancelReplaceRequest of ours.
        case replaceRefused = 7
        /// Anything else that names no order of ours: parked.
        case other = 5
    }

    package let kind: Kind
    /// The order that it speaks of: tag 11, or 41; of a request of ours, the order that it is about.
    package var orderID: String?
    /// Tag 11 where it names a cancel (`<order_id>-c<n>`) or a replace (`-r<n>`).
    package var requestID: String?
    /// Tag 17.
    package var execID: String?
    /// Tag 19: the execution that a trade cancel or correction speaks of.
    package var execRefID: String?
    /// Tag 75, else the UTC date of tag 60 or 52; yyyymmdd.
    package var tradeDate: String?
    /// Tag 150.
    package var execType: String?
    /// Tag 39.
    package var orderStatus: String?
    /// Tag 32, whole shares.
    package var lastQuantity: Int64?
    /// Tag 31.
    package var lastPrice: Amount?
    /// Tag 14, whole shares.
    package var cumulativeQuantity: Int64?
    /// Tag 38, whole shares.
    package var orderQuantity: Int64?
    /// Tag 103, 102, 373 or 380, by kind.
    package var rejectReason: Int64?
    /// Tag 55.
    package var symbol: String?
    /// Tag 54.
    package var side: String?
    /// Tag 58.
    package var text: String?
    /// Tag 790: the question of ours that a status answers.
    package var statusQuestion: String?
    /// The generation of the session's numbers in which it arrived; nil where that is not known.
    package var receivedIn: Int64?
    /// Tag 43: sent before under this number, perhaps long ago. What it says was so then.
    package var isRepeated = false

    package init(kind: Kind) {
        self.kind = kind
    }

    /// The venue never heard of the order (OrdRejReason 5): the answer to a status request.
    package var saysUnknownOrder: Bool { execType == "I" && orderStatus == "8" && rejectReason == 5 }

    /// The same said as a rejection (ExecType 8), as some venues answer a status request: nobody rejects a new order as unknown.
    package var rejectsAsUnknown: Bool { kind == .execution && execType == "8" && rejectReason == 5 }

    /// It speaks of the order as one that it has, or had. So does the refusal of a cancel or replace that tells where the order stands.
    package var saysThatItCame: Bool {
        switch kind {
        case .execution: !saysUnknownOrder && !rejectsAsUnknown
        case .cancelReject: orderStatus != nil && orderStatus != "8" && !refusesAsUnknown
        case .other: true
        case .orderRefused, .cancelRefused, .statusRefused, .replaceRefused: false
        }
    }

    /// The refusal of a cancel or replace of an order that the venue does not know (CxlRejReason 1).
    package var refusesAsUnknown: Bool { kind == .cancelReject && rejectReason == 1 }

    /// The venue has the order and it may still trade.
    package var isLive: Bool { orderStatus == "0" || orderStatus == "1" }

    /// The refusal of a cancel or replace because the order has ended at the venue (OrdStatus 2, 4, 8, C).
    package var refusesWhatHasEnded: Bool { kind == .cancelReject && !refusesAsUnknown && ["2", "4", "8", "C"].contains(orderStatus) }

    /// Why a question has to tell where the order stands after such a refusal; nil where the order goes on.
    package var doubtOfRefusal: String? { refusesAsUnknown ? "venue_says_unknown_order" : refusesWhatHasEnded ? "venue_says_it_ended" : nil }

    /// A status, or the refusal to say one: it tells where an order stands and is no event of it.
    package var answersAQuestion: Bool { kind == .statusRefused || (kind == .execution && execType == "I") }
}

/// What a report means for its order.
package enum ReportMeaning: Hashable, Sendable {
    case event(OrderEvent)
    /// A booked trade is taken back, or corrected.
    case correction(to: Trade?)
    /// The venue does not know an order that was sent before its numbers began again, and of which it has never said anything.
    case lostInReset
    /// The venue does not know an order that it had.
    case forgotten
    /// Says nothing new by its nature (pending states, a status that agrees).
    case nothing
    /// Cannot be booked or understood: parked, the order UNKNOWN.
    case unbookable(String)
}

extension VenueReport {
    /// Reads the report against the order as it stands (FIX 4.4 volume 4, ExecType 150 and OrdStatus 39).
    package func meaning(for order: OrderState) -> ReportMeaning {
        if let symbol, symbol != order.terms.symbol.text { return .unbookable("symbol \(symbol) is not the order's \(order.terms.symbol)") }
        if let side, side != String(order.terms.side.rawValue) { return .unbookable("side \(side) is not the order's") }
        switch kind {
        case .execution: return meaningOfExecution(for: order)
        case .cancelReject where replaceNumber != nil:
            return requestID == order.replaceID ? .event(.replaceRejected(reason: reasonText("replace_rejected"))) : .nothing
        case .replaceRefused: return .event(.replaceRejected(reason: reasonText("refused_by_venue_session")))
        case .cancelReject, .cancelRefused:
            // The refusal of an earlier cancel says nothing of the one that is pending now.
            if let requestID, requestID != order.cancelID { return .nothing }
            return .event(.cancelRejected(reason: reasonText("cancel_rejected")))
        // A session or business reject of an order that the venue has acknowledged contradicts itself: it is asked, and the hold stays.
        case .orderRefused where order.status == .working || order.status == .partiallyFilled:
            return .event(.doubted(reason: "refused_after_acknowledgement"))
        // By RefSeqNum alone: in a time that is lost the numbers may have begun again, and that number may have been another order's.
        case .orderRefused where order.unansweredIn == OrderState.lostInRestore: return .event(.doubted(reason: "refused_before_restore"))
        case .orderRefused: return .event(.rejected(reason: reasonText("refused_by_venue_session")))
        case .statusRefused: return .nothing
        case .other: return .unbookable("a report of a kind that is not handled")
        }
    }

    private func meaningOfExecution(for order: OrderState) -> ReportMeaning {
        switch execType {
        case "0": return .event(.acknowledged)
        // Trade; 1 and 2 are how FIX 4.2 said it, and venues still do.
        case "F", "1", "2":
            guard execID != nil, tradeDate != nil else { return .unbookable("a fill without ExecID (17) or trade date") }
            guard let lastQuantity, let lastPrice, lastQuantity > 0, lastPrice.units > 0 else {
                return .unbookable("a fill without a whole LastQty (32) and an exact LastPx (31) above zero")
            }
            return .event(.filled(quantity: lastQuantity, price: lastPrice))
        case "G", "H": return meaningOfCorrection
        case "5": return meaningOfReplaced(for: order)
        case "4": return .event(.cancelled(reason: text))
        // Done for day: the end of every order but one that is good till cancelled, which lives on tomorrow.
        case "3" where order.terms.timeInForce == .goodTillCancel: return .nothing
        case "C", "3": return .event(.expired(reason: text ?? "expired"))
        case "8": return rejection(of: order)
        case "A", "6", "E": return .nothing
        case "D":
            if let orderQuantity, orderQuantity != order.terms.quantity { return .unbookable("the venue restated the quantity to \(orderQuantity)") }
            return .nothing
        case "I": return meaningOfStatus(for: order)
        case let other: return .unbookable("ExecType (150) \(other ?? "absent") is not handled")
        }
    }

    /// n of the replace request that it names.
    private var replaceNumber: Int16? {
        guard let requestID, let dash = requestID.lastIndex(of: "-"), requestID[dash...].hasPrefix("-r") else { return nil }
        return Int16(requestID[dash...].dropFirst(2))
    }

    /// Trade cancel (150=H) and trade correct (150=G). What was booked under ExecRefID is found when it is settled.
    private var meaningOfCorrection: ReportMeaning {
        guard execID != nil, execRefID != nil, tradeDate != nil else {
            return .unbookable("a correction without ExecID (17), ExecRefID (19) or trade date")
        }
        if execType == "H" { return .correction(to: nil) }
        guard let lastQuantity, let lastPrice, lastQuantity > 0, lastPrice.units > 0 else {
            return .unbookable("a correction without a whole LastQty (32) and an exact LastPx (31) above zero")
        }
        return .correction(to: Trade(quantity: lastQuantity, price: lastPrice))
    }

    /// The replace that is under way is in force, with the venue's OrderQty: never more than was asked, but for what is filled already, to which a venue
    /// amends a smaller total (FIX 4.4 volume 4, order state change matrices). An earlier one is known.
    private func meaningOfReplaced(for order: OrderState) -> ReportMeaning {
        guard let replaceNumber else { return .unbookable("the venue replaced an order without a request of ours") }
        guard let pending = order.replaces.pending, replaceNumber == pending.number else {
            return replaceNumber <= order.replaces.taken || !order.status.isOpen ? .nothing : .unbookable("the venue replaced what is not asked for")
        }
        let quantity = orderQuantity ?? pending.terms.quantity
        guard (1...pending.terms.quantity).contains(quantity) || quantity == cumulativeQuantity else {
            return .unbookable("the venue replaced the quantity by \(quantity), asked were \(pending.terms.quantity)")
        }
        return .event(.replaced(quantity: quantity))
    }

    private func rejection(of order: OrderState) -> ReportMeaning {
        // OrdRejReason 5, unknown order, in place of a status. The order is asked about; in doubt already it has been, and this answers.
        if rejectReason == 5, order.mayHaveBeenHeardOf {
            if order.status != .unknown { return .unbookable("the venue rejects an order as unknown that it had") }
            return isRepeated ? .nothing : .forgotten
        }
        // OrdRejReason 6, duplicate order: the venue has an order of this ClOrdID already. That is no end of it.
        if rejectReason == 6 { return .event(.doubted(reason: "venue_says_duplicate_order")) }
        return .event(.rejected(reason: reasonText("rejected_by_venue")))
    }

    /// An answer to OrderStatusRequest books nothing; it is evidence of where the order stands when its fills agree with ours.
    private func meaningOfStatus(for order: OrderState) -> ReportMeaning {
        if saysUnknownOrder { return meaningOfUnknownOrder(for: order) }
        if let cumulativeQuantity, cumulativeQuantity != order.filledQuantity {
            return .unbookable("the venue says CumQty (14) \(cumulativeQuantity), booked are \(order.filledQuantity)")
        }
        // It has the order, which works, under the id of the replace: that is in force.
        if order.replaces.pending != nil, requestID == order.replaceID, ["0", "1", "2", "5"].contains(orderStatus) {
            return meaningOfReplaced(for: order)
        }
        if isLive, let difference = termsThatDiffer(from: order) { return .unbookable(difference) }
        if isLive, tellsThatReplaceIsLost(from: order) { return .event(.replaceRejected(reason: "replace_rejected")) }
        switch orderStatus {
        case "0", "1": return .event(.acknowledged)
        case "3" where order.terms.timeInForce == .goodTillCancel: return .event(.acknowledged)
        case "4": return .event(.cancelled(reason: text))
        case "C", "3": return .event(.expired(reason: text ?? "expired"))
        case "8": return rejection(of: order)
        default: return .nothing
        }
    }

    /// OrdRejReason 5, unknown order: the venue never heard of it, so it never will: the request came after the order on the same session. Of an order that it
    /// has spoken of it contradicts itself.
    private func meaningOfUnknownOrder(for order: OrderState) -> ReportMeaning {
        // An answer of before, which the venue sends again: the order may have reached it since, and so it has where a restore has lost that. It is asked anew.
        if isRepeated { return .nothing }
        if let replaceNumber {
            // It was asked under the id of a replace: that never reached it, which says nothing of the order. Nor does the second of two such answers.
            if order.replaces.pending?.number == replaceNumber { return .event(.replaceRejected(reason: "not_routed")) }
            if order.replaces.taken != replaceNumber { return .nothing }
        }
        // What has ended it need not know any more.
        if !order.status.isOpen { return .nothing }
        let question = question
        // Ours alone, or asked before it was sent again: the answer tells of the past. Without a question's name nobody can tell.
        if order.status == .accepted || (question?.resends ?? 0) != order.resends { return .nothing }
        if order.mayHaveBeenHeardOf { return .forgotten }
        if let question, let sentIn = order.unansweredIn, sentIn > 0, question.generation > sentIn { return .lostInReset }
        return .event(.notRouted)
    }

    /// The question of ours that it answers; nil where it names none, or one that nobody can have asked: of a generation of the numbers that had not begun
    /// when it arrived.
    private var question: StatusQuestion? {
        guard let question = statusQuestion.flatMap({ StatusQuestion($0) }), let receivedIn, question.generation <= receivedIn else { return nil }
        return question
    }

    /// How the venue has an open order otherwise than we do: with another total, or by a replace that is not in force here. So it is after a restore to before
    /// that replace. What it may fill then is not what is held: no status takes that doubt away.
    private func termsThatDiffer(from order: OrderState) -> String? {
        let pending = order.replaces.pending
        if let replaceNumber, replaceNumber > pending?.number ?? order.replaces.taken {
            return "the venue has it as replaced by \(requestID ?? ""), which is not in force here"
        }
        guard pending == nil, let orderQuantity, orderQuantity != order.terms.quantity else { return nil }
        return "the venue says OrderQty (38) \(orderQuantity), here are \(order.terms.quantity)"
    }

    /// Asked, under the id of the replace, in later numbers than those in which its answer may have been lost, the venue has the order by its former id, and
    /// no replace pending (OrdStatus E, which takes precedence): it has refused the replace. Only our question's name tells that it was asked then.
    private func tellsThatReplaceIsLost(from order: OrderState) -> Bool {
        guard let lostIn = order.replaces.pending?.lostIn, let question, !isRepeated else { return false }
        return question.generation > lostIn
    }

    private func reasonText(_ fallback: String) -> String {
        if let text, !text.isEmpty { return text }
        return rejectReason.map { "\(fallback) (\($0))" } ?? fallback
    }
}
