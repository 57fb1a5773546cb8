/// How a session says no (FIX 4.4 volume 2, "Reject").
extension SessionState {
    /// Session Reject (3) of one message. A Reject is never rejected: two sides that do not understand one another would go on for ever.
    mutating func reject(_ message: FIXMessage, _ number: Int, _ defect: FIXMessage.Defect, _ step: inout SessionStep) {
        guard message.type != .reject else { return }
        var reject = FIXMessage(.reject)
        appendReturnRoute(of: message, to: &reject)
        reject.append(.refSeqNum, number)
        reject.append(.text, SessionRejectReason.text(defect.reason))
        if let tag = defect.tag { reject.append(.refTagID, tag.rawValue) }
        if !message.type.rawValue.isEmpty { reject.append(.refMsgType, message.type.rawValue) }
        reject.append(.sessionRejectReason, defect.reason)
        sendAdmin(reject, &step)
    }

    mutating func reject(_ message: FIXMessage, _ number: Int, tag: FIXTag?, reason: Int, _ step: inout SessionStep) {
        reject(message, number, FIXMessage.Defect(tag: tag, reason: reason), &step)
    }

    /// BusinessMessageReject (j) of a sound message that the application does not know, BusinessRejectReason 3.
    mutating func rejectUnsupported(_ message: FIXMessage, _ number: Int, _ step: inout SessionStep) {
        var reject = FIXMessage(.businessMessageReject)
        appendReturnRoute(of: message, to: &reject)
        reject.append(.refSeqNum, number)
        reject.append(.text, "Unsupported Message Type")
        reject.append(.refMsgType, message.type.rawValue)
        reject.append(.businessRejectReason, 3)
        sendAdmin(reject, &step)
    }

    /// On behalf of whom a message came, to them its refusal goes, and the other way round (FIX 4.4 volume 2, "Third party routing").
    private func appendReturnRoute(of message: FIXMessage, to reject: inout FIXMessage) {
        let routes: [(from: FIXTag, to: FIXTag)] = [
            (.onBehalfOfCompID, .deliverToCompID), (.onBehalfOfSubID, .deliverToSubID), (.onBehalfOfLocationID, .deliverToLocationID),
            (.deliverToCompID, .onBehalfOfCompID), (.deliverToSubID, .onBehalfOfSubID), (.deliverToLocationID, .onBehalfOfLocationID),
        ]
        for route in routes {
            if let value = message.bytes(route.from), !value.isEmpty { reject.append(route.to, bytes: value) }
        }
    }

    mutating func tooLow(_ number: Int, _ step: inout SessionStep) {
        fail("MsgSeqNum too low, expecting \(numbers.nextIn) but received \(number)", &step)
    }

    mutating func wrongCompID(_ message: FIXMessage, _ number: Int, _ step: inout SessionStep) {
        guard phase == .loggedOn else { return end("wrong SenderCompID or TargetCompID", &step) }
        for tag in [FIXTag.senderCompID, .targetCompID] where !message.has(tag) {
            reject(message, number, tag: tag, reason: SessionRejectReason.requiredTagMissing, &step)
            if number == numbers.nextIn { numbers.nextIn += 1 }
            return leave("wrong SenderCompID or TargetCompID", &step)
        }
        let wrong: FIXTag = message.string(.senderCompID) == settings.targetCompID ? .targetCompID : .senderCompID
        reject(message, number, tag: wrong, reason: SessionRejectReason.compIDProblem, &step)
        if number == numbers.nextIn { numbers.nextIn += 1 }
        leave("wrong SenderCompID or TargetCompID", &step)
    }

    /// Refuses what a message of any type must not be. True when it may be worked on.
    mutating func isAcceptable(_ message: FIXMessage, _ number: Int, _ step: inout SessionStep) -> Bool {
        if let defect = defect(of: message) {
            reject(message, number, defect, &step)
            if defect.reason == SessionRejectReason.sendingTimeAccuracy { leave(SessionRejectReason.text(defect.reason), &step) }
            if !message.type.isAdmin { step.refused.append(Delivery(number, message)) }
            return false
        }
        return true
    }

    private func defect(of message: FIXMessage) -> FIXMessage.Defect? {
        typealias Reason = SessionRejectReason
        if let defect = message.defect { return defect }
        if settings.rules == nil || message.type == .reject, let defect = message.headerDefect { return defect }
        guard message.type.isKnown else { return .init(tag: .msgType, reason: Reason.invalidMsgType) }
        guard let sendingTime = message.time(.sendingTime) else {
            return .init(tag: .sendingTime, reason: message.has(.sendingTime) ? Reason.incorrectDataFormat : Reason.requiredTagMissing)
        }
        if message.flag(.possDupFlag) == true, let defect = originalTimeDefect(of: message, sent: sendingTime) { return defect }
        if let tolerance = settings.sendingTimeTolerance, abs(sendingTime - now.wall) > tolerance {
            return .init(tag: .sendingTime, reason: Reason.sendingTimeAccuracy)
        }
        // What the counterparty refuses of ours has to reach the application, whatever else is in it.
        guard let rules = settings.rules, message.type != .reject else { return nil }
        return message.defect(under: rules)
    }

    /// What is wrong with the OrigSendingTime of a possible duplicate.
    func originalTimeDefect(of message: FIXMessage, sent: Int64?) -> FIXMessage.Defect? {
        typealias Reason = SessionRejectReason
        guard message.has(.origSendingTime) else { return .init(tag: .origSendingTime, reason: Reason.requiredTagMissing) }
        guard let original = message.time(.origSendingTime) else { return .init(tag: .origSendingTime, reason: Reason.incorrectDataFormat) }
        return sent.map { original > $0 } == true ? .init(tag: .origSendingTime, reason: Reason.sendingTimeAccuracy) : nil
    }
}
