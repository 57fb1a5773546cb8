/// How a session begins (FIX 4.4 volume 2, "Logon").
extension SessionState {
    mutating func sendLogon(reset: Bool, _ step: inout SessionStep) {
        var logon = FIXMessage(.logon)
        logon.append(.encryptMethod, 0)
        logon.append(.heartBtInt, heartbeat / 1_000)
        if reset { logon.append(.resetSeqNumFlag, flag: true) }
        if settings.isTest { logon.append(.testMessageIndicator, flag: true) }
        if settings.announcesNextExpected { logon.append(.nextExpectedMsgSeqNum, numbers.nextIn) }
        sendAdmin(logon, &step)
    }

    /// The first message has to be a Logon. An initiator may get a Logout or Reject that says why it was refused.
    mutating func refusedBeforeLogon(_ message: FIXMessage, _ step: inout SessionStep) {
        guard settings.role == .initiator, message.type == .logout || message.type == .reject else {
            return end("the first message is \(message.type), not Logon", &step)
        }
        if message.int(.msgSeqNum) == Int64(numbers.nextIn) { numbers.nextIn += 1 }
        let text = message.string(.text) ?? "no reason given"
        step.events.append(.loggedOut(text))
        end("logon refused: \(text)", &step)
    }

    mutating func receivedLogon(_ message: FIXMessage, _ number: Int, _ step: inout SessionStep) {
        let wasAwaiting = phase == .awaitingLogon
        guard let interval = soundLogon(message, number, &step) else { return }
        let resets = message.flag(.resetSeqNumFlag) == true
        if resets, number != 1 { return fail("ResetSeqNumFlag=Y with MsgSeqNum \(number), not 1", &step) }
        if sentReset, !resets, number != 1 { return fail("the sequence number reset was not confirmed", &step) }
        let answers = settings.role == .acceptor ? wasAwaiting || (resets && !sentReset) : resets && !sentReset
        let beginsByItself = settings.role == .acceptor && wasAwaiting && (settings.resetOnLogon || isOfEarlierPeriod)
        if (resets && !sentReset) || (!resets && beginsByItself) { beginGeneration(&step) }
        if number < numbers.nextIn {
            step.events.append(.numbersLost(expected: numbers.nextIn, received: number))
            return tooLow(number, &step)
        }
        let known = numbers.nextOut
        if settings.announcesNextExpected, let expected = message.int(.nextExpectedMsgSeqNum), expected > known {
            step.events.append(.askedBeyondSent(from: Int(expected), nextOut: known))
            return fail("NextExpectedMsgSeqNum too high, our next is \(known) but received \(expected)", &step)
        }
        sentReset = false
        counterpartyIsTest = message.flag(.testMessageIndicator) == true
        if settings.role == .acceptor { heartbeat = interval * 1_000 }
        let isNext = number == numbers.nextIn
        if isNext { numbers.nextIn += 1 }
        if answers { sendLogon(reset: resets, &step) }
        if wasAwaiting {
            enter(.loggedOn)
            period = settings.schedule?.opening(at: now.wall)
            step.events.append(.loggedOn)
        }
        if settings.announcesNextExpected, let expected = message.int(.nextExpectedMsgSeqNum), expected >= 1, expected < known {
            // With the Logon that answers, whose number the counterparty has not expected yet either.
            step.replays.append(ReplayRange(from: Int(expected), through: numbers.nextOut - 1))
        }
        if !isNext {
            // Our Logon has told what is missing: it comes by itself, or is asked for when it does not.
            if settings.announcesNextExpected { gap = Gap(through: number - 1, askedAt: now.monotonic, nextIn: numbers.nextIn) }
            keepEarly(number, nil, &step)
        }
    }

    /// HeartBtInt of a Logon that may be worked on; nil when it was refused.
    private mutating func soundLogon(_ message: FIXMessage, _ number: Int, _ step: inout SessionStep) -> Int64? {
        let wasAwaiting = phase == .awaitingLogon
        if let tolerance = settings.sendingTimeTolerance, let sent = message.time(.sendingTime), abs(sent - now.wall) > tolerance, wasAwaiting {
            // Perhaps somebody plays back a Logon of the past: no word to them.
            end("the Logon's SendingTime is too far from our clock", &step)
            return nil
        }
        if let defect = message.defect ?? message.headerDefect ?? settings.rules.flatMap({ message.defect(under: $0) }) {
            refuse(message, number, defect, SessionRejectReason.text(defect.reason), &step)
            return nil
        }
        guard message.int(.encryptMethod) == 0 else {
            refuse(message, number, Self.defect(of: .encryptMethod, in: message), "EncryptMethod is not 0", &step)
            return nil
        }
        let bounds = settings.role == .acceptor ? settings.heartbeatBounds : 0...Int64.max
        guard let interval = message.int(.heartBtInt), bounds.contains(interval) else {
            let text = message.int(.heartBtInt) == nil ? "no HeartBtInt" : "HeartBtInt is not from \(bounds.lowerBound) to \(bounds.upperBound)"
            refuse(message, number, Self.defect(of: .heartBtInt, in: message), text, &step)
            return nil
        }
        if wasAwaiting, let schedule = settings.schedule, schedule.opening(at: now.wall) == nil {
            fail("the session is closed at this time", &step)
            return nil
        }
        return interval
    }

    private static func defect(of tag: FIXTag, in message: FIXMessage) -> FIXMessage.Defect {
        FIXMessage.Defect(tag: tag, reason: message.has(tag) ? SessionRejectReason.valueIncorrect : SessionRejectReason.requiredTagMissing)
    }

    /// A Logon that cannot be taken: Reject says which field, Logout that it is over.
    private mutating func refuse(_ message: FIXMessage, _ number: Int, _ defect: FIXMessage.Defect, _ text: String, _ step: inout SessionStep) {
        reject(message, number, defect, &step)
        if number == numbers.nextIn { numbers.nextIn += 1 }
        fail("Logon refused: \(text)", &step)
    }
}
