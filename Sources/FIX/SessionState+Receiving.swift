extension SessionState {
    /// A sound frame has arrived.
    package mutating func received(_ message: FIXMessage, at time: SessionTime) -> SessionStep {
        var step = SessionStep()
        now = time
        guard phase != .disconnected else { return step }
        lastReceived = time.monotonic
        testRequestSent = nil
        guard message.string(.beginString) == Frame.beginString else {
            leave("BeginString is not \(Frame.beginString)", &step)
            return step
        }
        if phase == .awaitingLogon, message.type != .logon {
            refusedBeforeLogon(message, &step)
            return step
        }
        let isReset = message.type == .sequenceReset && (message.flag(.gapFillFlag) == false || !message.has(.gapFillFlag))
        // A reset is what helps when the numbers themselves are lost: it may have any.
        guard let number = message.int(.msgSeqNum).map(Int.init), number > 0 || isReset, number <= SessionNumbers.largest else {
            if phase == .awaitingLogon { end("Logon without MsgSeqNum", &step) } else { fail("MsgSeqNum is missing", &step) }
            return step
        }
        guard isBetweenUs(message) else {
            wrongCompID(message, number, &step)
            return step
        }
        let resets = message.flag(.resetSeqNumFlag) == true && message.flag(.possDupFlag) != true
        if message.type == .logon, phase == .awaitingLogon || resets {
            receivedLogon(message, number, &step)
        } else if isReset {
            receivedReset(message, number, &step)
        } else {
            inSequence(message, number, &step)
        }
        if phase != .disconnected { advance(&step) }
        return step
    }

    /// A CompID without a value is no wrong one: the message is refused for it, the session goes on.
    private func isBetweenUs(_ message: FIXMessage) -> Bool {
        func names(_ tag: FIXTag, _ compID: String) -> Bool {
            guard let value = message.bytes(tag) else { return false }
            return value.elementsEqual(compID.utf8) || (value.isEmpty && phase != .awaitingLogon)
        }
        return names(.senderCompID, settings.targetCompID) && names(.targetCompID, settings.senderCompID)
    }

    // MARK: In sequence

    private mutating func inSequence(_ message: FIXMessage, _ number: Int, _ step: inout SessionStep) {
        if number > numbers.nextIn { return tooHigh(message, number, &step) }
        if number < numbers.nextIn {
            guard message.flag(.possDupFlag) == true else { return tooLow(number, &step) }
            // Seen before: ignored, except that a duplicate which does not say soundly when it was first sent is refused.
            guard message.type != .sequenceReset, let defect = originalTimeDefect(of: message, sent: message.time(.sendingTime)) else { return }
            reject(message, number, defect, &step)
            if defect.reason == SessionRejectReason.sendingTimeAccuracy { leave(SessionRejectReason.text(defect.reason), &step) }
            return
        }
        process(message, number, &step)
    }

    private mutating func tooHigh(_ message: FIXMessage, _ number: Int, _ step: inout SessionStep) {
        switch message.type {
        case .logout:
            // Answered once what is missing has come, or after a while; who has said goodbye already leaves. Either way its number is not taken as
            // received while there is a gap before it.
            if phase == .loggingOut { return receivedLogout(message, &step) }
            pendingLogout = pendingLogout ?? (message, now.monotonic)
            keepEarly(number, message, &step)
        case .resendRequest:
            // Answered before our own request: otherwise two sides that both have gaps would wait for one another. A second copy is one request.
            guard !early.holds(number) else { return }
            if isAcceptable(message, number, &step) { receivedResendRequest(message, number, &step) }
            if phase != .disconnected { keepEarly(number, nil, &step) }
        default:
            keepEarly(number, message, &step)
        }
    }

    /// The next expected message: its number is taken, whatever becomes of it.
    mutating func process(_ message: FIXMessage, _ number: Int, _ step: inout SessionStep) {
        if message.type == .sequenceReset, message.defect == nil, message.flag(.gapFillFlag) == true {
            return receivedGapFill(message, number, &step)
        }
        numbers.nextIn = number + 1
        guard isAcceptable(message, number, &step) else { return }
        switch message.type {
        case .heartbeat: break
        case .testRequest: receivedTestRequest(message, number, &step)
        case .resendRequest: receivedResendRequest(message, number, &step)
        case .logout: receivedLogout(message, &step)
        case .logon: reject(message, number, tag: nil, reason: SessionRejectReason.other, &step)
        case .sequenceReset: reject(message, number, tag: .gapFillFlag, reason: SessionRejectReason.incorrectDataFormat, &step)
        case .reject, .businessMessageReject: step.deliveries.append(Delivery(number, message))
        default:
            if settings.supportedTypes?.contains(message.type) == false {
                rejectUnsupported(message, number, &step)
            } else {
                step.deliveries.append(Delivery(number, message))
            }
        }
    }

    private mutating func receivedTestRequest(_ message: FIXMessage, _ number: Int, _ step: inout SessionStep) {
        guard let id = message.bytes(.testReqID) else {
            return reject(message, number, tag: .testReqID, reason: SessionRejectReason.requiredTagMissing, &step)
        }
        var answer = FIXMessage(.heartbeat)
        answer.append(.testReqID, bytes: id)
        sendAdmin(answer, &step)
    }

    /// The answer to our Logout, or the counterparty's own, which is answered.
    mutating func receivedLogout(_ message: FIXMessage, _ step: inout SessionStep) {
        owesReset = owesReset || settings.resetOnLogout
        if phase == .loggingOut { return end(logoutText.isEmpty ? "logged out" : logoutText, &step) }
        sendLogout("", &step)
        end(message.string(.text) ?? "the counterparty logged out", &step)
    }
}
