extension SessionState {
    /// A sound frame has arrived.
    package mutating func received(_ message: FIXMessage, at time: SessionTime) -> SessionStep {
        var step = SessionStep()
        now = time
        guard phase != .disconnected else { return step }
        lastReceived = time.monotonic
        testRequestSent = nil
        guard message.string(.beginString) == Frame.beginString else {
            fail("BeginString is not \(Frame.beginString)", &step)
            return step
        }
        if phase == .awaitingLogon, message.type != .logon {
            refusedBeforeLogon(message, &step)
            return step
        }
        guard let number = message.int(.msgSeqNum).map(Int.init), number > 0 else {
            if phase == .awaitingLogon { end("Logon without MsgSeqNum", &step) } else { fail("MsgSeqNum is missing", &step) }
            return step
        }
        guard message.string(.senderCompID) == settings.targetCompID, message.string(.targetCompID) == settings.senderCompID else {
            wrongCompID(message, number, &step)
            return step
        }
        let resets = message.flag(.resetSeqNumFlag) == true && message.flag(.possDupFlag) != true
        if message.type == .logon, phase == .awaitingLogon || resets {
            receivedLogon(message, number, &step)
        } else if message.type == .sequenceReset, message.flag(.gapFillFlag) != true {
            receivedReset(message, number, &step)
        } else {
            inSequence(message, number, &step)
        }
        if phase != .disconnected { advance(&step) }
        return step
    }

    // MARK: Before logon

    /// The first message has to be a Logon. An initiator may get a Logout or Reject that says why it was refused.
    private mutating func refusedBeforeLogon(_ message: FIXMessage, _ step: inout SessionStep) {
        guard settings.role == .initiator, message.type == .logout || message.type == .reject else {
            return end("the first message is \(message.type), not Logon", &step)
        }
        if message.int(.msgSeqNum) == Int64(numbers.nextIn) { numbers.nextIn += 1 }
        let text = message.string(.text) ?? "no reason given"
        step.events.append(.loggedOut(text))
        end("logon refused: \(text)", &step)
    }

    private mutating func wrongCompID(_ message: FIXMessage, _ number: Int, _ step: inout SessionStep) {
        if phase == .awaitingLogon { return end("wrong SenderCompID or TargetCompID", &step) }
        let missing: FIXTag? = message.has(.senderCompID) ? (message.has(.targetCompID) ? nil : .targetCompID) : .senderCompID
        let reason = missing == nil ? SessionRejectReason.compIDProblem : SessionRejectReason.requiredTagMissing
        reject(message, number, tag: missing ?? .senderCompID, reason: reason, "wrong SenderCompID or TargetCompID", &step)
        if number == numbers.nextIn { numbers.nextIn += 1 }
        fail("wrong SenderCompID or TargetCompID", &step)
    }

    private mutating func receivedLogon(_ message: FIXMessage, _ number: Int, _ step: inout SessionStep) {
        let wasAwaiting = phase == .awaitingLogon
        guard message.defect == nil, message.int(.encryptMethod) == 0, let interval = message.int(.heartBtInt),
            (0...SessionSettings.longestHeartbeatSeconds).contains(interval)
        else { return fail("Logon without usable EncryptMethod and HeartBtInt", &step) }
        let resets = message.flag(.resetSeqNumFlag) == true
        if resets, number != 1 { return fail("ResetSeqNumFlag=Y with MsgSeqNum \(number), not 1", &step) }
        if sentReset, !resets, number != 1 { return fail("the sequence number reset was not confirmed", &step) }
        let answers = settings.role == .acceptor ? wasAwaiting || (resets && !sentReset) : resets && !sentReset
        if resets, !sentReset { beginGeneration(&step) }
        if number < numbers.nextIn {
            return fail("MsgSeqNum too low, expecting \(numbers.nextIn) but received \(number)", &step)
        }
        sentReset = false
        counterpartyIsTest = message.flag(.testMessageIndicator) == true
        if settings.role == .acceptor { heartbeat = interval * 1_000 }
        if answers { sendLogon(reset: resets, &step) }
        if wasAwaiting {
            enter(.loggedOn)
            step.events.append(.loggedOn)
        }
        if number == numbers.nextIn {
            numbers.nextIn += 1
        } else {
            keepEarly(number, nil, &step)
        }
    }

    // MARK: In sequence

    private mutating func inSequence(_ message: FIXMessage, _ number: Int, _ step: inout SessionStep) {
        if number > numbers.nextIn { return tooHigh(message, number, &step) }
        if number < numbers.nextIn {
            guard message.flag(.possDupFlag) == true else {
                return fail("MsgSeqNum too low, expecting \(numbers.nextIn) but received \(number)", &step)
            }
            // Seen before: ignored, except that a duplicate which does not say when it was first sent is refused.
            if !message.has(.origSendingTime), message.type != .sequenceReset {
                reject(message, number, tag: .origSendingTime, reason: SessionRejectReason.requiredTagMissing, "PossDup without it", &step)
            }
            return
        }
        process(message, number, &step)
    }

    private mutating func tooHigh(_ message: FIXMessage, _ number: Int, _ step: inout SessionStep) {
        switch message.type {
        case .logout:
            // Answered now; its number is not taken as received, so that the gap before it is asked for after the next logon.
            receivedLogout(message, &step)
        case .resendRequest:
            // Answered before our own request: otherwise two sides that both have gaps would wait for one another.
            if message.defect == nil { receivedResendRequest(message, number, &step) }
            if phase != .disconnected { keepEarly(number, nil, &step) }
        default:
            keepEarly(number, message, &step)
        }
    }

    /// The next expected message: its number is taken, whatever becomes of it.
    mutating func process(_ message: FIXMessage, _ number: Int, _ step: inout SessionStep) {
        if message.type == .sequenceReset, message.defect == nil { return receivedGapFill(message, number, &step) }
        numbers.nextIn = number + 1
        guard isAcceptable(message, number, &step) else { return }
        switch message.type {
        case .heartbeat: break
        case .testRequest: receivedTestRequest(message, number, &step)
        case .resendRequest: receivedResendRequest(message, number, &step)
        case .logout: receivedLogout(message, &step)
        case .logon: reject(message, number, tag: nil, reason: SessionRejectReason.other, "already logged on", &step)
        default:
            step.deliveries.append(
                Delivery(
                    number: number,
                    message: message,
                    isPossDup: message.flag(.possDupFlag) == true,
                    isPossResend: message.flag(.possResend) == true
                )
            )
        }
    }

    /// Refuses what a message of any type must not be. True when it may be worked on.
    private mutating func isAcceptable(_ message: FIXMessage, _ number: Int, _ step: inout SessionStep) -> Bool {
        if let defect = message.defect {
            reject(message, number, tag: defect.tag, reason: defect.reason, "a field cannot be read", &step)
            return false
        }
        if let defect = message.headerDefect {
            reject(message, number, tag: defect.tag, reason: defect.reason, "a header field at the wrong place or twice", &step)
            return false
        }
        guard message.type.isKnown else {
            reject(message, number, tag: .msgType, reason: SessionRejectReason.invalidMsgType, "not a FIX 4.4 message type", &step)
            return false
        }
        guard message.has(.sendingTime) else {
            reject(message, number, tag: .sendingTime, reason: SessionRejectReason.requiredTagMissing, "SendingTime is missing", &step)
            return false
        }
        guard let sendingTime = message.time(.sendingTime) else {
            reject(message, number, tag: .sendingTime, reason: SessionRejectReason.incorrectDataFormat, "not a UTCTimestamp", &step)
            return false
        }
        if message.flag(.possDupFlag) == true {
            guard message.has(.origSendingTime) else {
                reject(message, number, tag: .origSendingTime, reason: SessionRejectReason.requiredTagMissing, "PossDup without it", &step)
                return false
            }
            guard let original = message.time(.origSendingTime), original <= sendingTime else {
                inaccurate(message, number, .origSendingTime, "OrigSendingTime is after SendingTime", &step)
                return false
            }
        }
        if let tolerance = settings.sendingTimeTolerance, abs(sendingTime - now.wall) > tolerance {
            inaccurate(message, number, .sendingTime, "SendingTime is too far from our clock", &step)
            return false
        }
        return true
    }

    private mutating func inaccurate(_ message: FIXMessage, _ number: Int, _ tag: FIXTag, _ text: String, _ step: inout SessionStep) {
        reject(message, number, tag: tag, reason: SessionRejectReason.sendingTimeAccuracy, text, &step)
        fail(text, &step)
    }

    private mutating func receivedTestRequest(_ message: FIXMessage, _ number: Int, _ step: inout SessionStep) {
        guard let id = message.bytes(.testReqID) else {
            return reject(message, number, tag: .testReqID, reason: SessionRejectReason.requiredTagMissing, "TestReqID is missing", &step)
        }
        var answer = FIXMessage(.heartbeat)
        answer.append(.testReqID, bytes: id)
        sendAdmin(answer, &step)
    }

    private mutating func receivedLogout(_ message: FIXMessage, _ step: inout SessionStep) {
        if phase == .loggingOut { return end(logoutText.isEmpty ? "logged out" : logoutText, &step) }
        sendLogout("", &step)
        end(message.string(.text) ?? "the counterparty logged out", &step)
    }

    /// Session Reject (3) of one message. A Reject is never rejected: two sides that do not understand one another would go on for ever.
    mutating func reject(_ message: FIXMessage, _ number: Int, tag: FIXTag?, reason: Int, _ text: String, _ step: inout SessionStep) {
        guard message.type != .reject else { return }
        var reject = FIXMessage(.reject)
        reject.append(.refSeqNum, number)
        if let tag { reject.append(.refTagID, tag.rawValue) }
        if !message.type.rawValue.isEmpty { reject.append(.refMsgType, message.type.rawValue) }
        reject.append(.sessionRejectReason, reason)
        reject.append(.text, text)
        sendAdmin(reject, &step)
    }
}
