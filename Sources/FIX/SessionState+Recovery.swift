/// Messages that the counterparty has sent and we have asked for again.
struct Gap: Sendable {
    /// The last number that was asked for.
    var through: Int
    var askedAt: Int64
    /// Where we stood when we asked: no progress beyond it for a while means asking again.
    var nextIn: Int
    var attempts = 1
}

/// What came before its turn, kept until the gap before it is filled. Bounded: what does not fit is asked for again.
struct EarlyMessages: Sendable {
    /// Nil for a number that was already worked on and needs just to be passed over.
    private var messages: [Int: FIXMessage?] = [:]
    private var bytes = 0
    /// The highest number seen, kept or not.
    private(set) var highest = 0

    var lowest: Int? { messages.keys.min() }

    func holds(_ number: Int) -> Bool { messages[number] != nil }

    mutating func keep(_ number: Int, _ message: FIXMessage?, capacity: Int, capacityBytes: Int) {
        highest = max(highest, number)
        let size = message?.bytes.count ?? 0
        guard messages[number] == nil, messages.count < capacity, bytes + size <= capacityBytes else { return }
        messages[number] = .some(message)
        bytes += size
    }

    mutating func take(_ number: Int) -> FIXMessage?? {
        guard let found = messages.removeValue(forKey: number) else { return nil }
        bytes -= found?.bytes.count ?? 0
        return found
    }

    mutating func drop(below number: Int) {
        for key in messages.keys where key < number { _ = take(key) }
    }
}

extension SessionState {
    // MARK: Gaps in what we receive

    mutating func keepEarly(_ number: Int, _ message: FIXMessage?, _ step: inout SessionStep) {
        early.keep(number, message, capacity: settings.earlyCapacity, capacityBytes: settings.earlyCapacityBytes)
        if gap == nil { ask(through: number - 1, attempts: 1, &step) }
    }

    /// Works off what had come early, and asks for what is still missing.
    mutating func advance(_ step: inout SessionStep) {
        while phase != .disconnected, let entry = early.take(numbers.nextIn) {
            if let message = entry {
                process(message, numbers.nextIn, &step)
            } else {
                numbers.nextIn += 1
            }
        }
        guard phase != .disconnected else { return }
        if let open = gap, numbers.nextIn > open.through { gap = nil }
        if gap == nil, numbers.nextIn <= early.highest {
            early.drop(below: numbers.nextIn)
            ask(through: (early.lowest ?? early.highest + 1) - 1, attempts: 1, &step)
        }
    }

    func describeGap() -> String { "messages from \(numbers.nextIn) on were not resent" }

    mutating func checkGap(_ step: inout SessionStep) {
        guard let open = gap else { return }
        if numbers.nextIn > open.nextIn {
            gap?.nextIn = numbers.nextIn
            gap?.askedAt = now.monotonic
            gap?.attempts = 1
        } else if now.monotonic - open.askedAt >= settings.resendTimeout {
            if open.attempts >= settings.resendAttempts { return fail(describeGap(), &step) }
            ask(through: open.through, attempts: open.attempts + 1, &step)
        }
    }

    private mutating func ask(through: Int, attempts: Int, _ step: inout SessionStep) {
        // What is beyond the portion is asked for once the portion is here.
        let portion = min(through - numbers.nextIn, settings.resendPortion - 1) + numbers.nextIn
        gap = Gap(through: portion, askedAt: now.monotonic, nextIn: numbers.nextIn, attempts: attempts)
        var request = FIXMessage(.resendRequest)
        request.append(.beginSeqNo, numbers.nextIn)
        request.append(.endSeqNo, settings.asksToInfinity && portion == through ? 0 : portion)
        sendAdmin(request, &step)
    }

    /// SequenceReset-GapFill in its turn: the numbers up to NewSeqNo hold nothing for us.
    mutating func receivedGapFill(_ message: FIXMessage, _ number: Int, _ step: inout SessionStep) {
        guard let next = newNumber(in: message, number, atLeast: number + 1, &step) else {
            numbers.nextIn = number + 1
            return
        }
        numbers.nextIn = next
        early.drop(below: next)
    }

    /// SequenceReset-Reset: whatever its own number, we expect NewSeqNo from now on; never a lower one than we already expect.
    mutating func receivedReset(_ message: FIXMessage, _ number: Int, _ step: inout SessionStep) {
        guard let next = newNumber(in: message, number, atLeast: numbers.nextIn, &step) else { return }
        if next > numbers.nextIn { step.events.append(.inboundSkipped(from: numbers.nextIn, through: next - 1)) }
        numbers.nextIn = next
        gap = nil
        early.drop(below: next)
    }

    /// NewSeqNo of a SequenceReset; nil when it was refused.
    private mutating func newNumber(in message: FIXMessage, _ number: Int, atLeast least: Int, _ step: inout SessionStep) -> Int? {
        if let defect = message.defect {
            reject(message, number, defect, &step)
            return nil
        }
        guard let next = message.int(.newSeqNo).map(Int.init) else {
            rejectUnreadable(.newSeqNo, of: message, number, &step)
            return nil
        }
        guard next >= least, next <= SessionNumbers.largest else {
            reject(message, number, tag: .newSeqNo, reason: SessionRejectReason.valueIncorrect, &step)
            return nil
        }
        return next
    }

    /// A field that the session needs is not there, or is no number.
    private mutating func rejectUnreadable(_ tag: FIXTag, of message: FIXMessage, _ number: Int, _ step: inout SessionStep) {
        let isThere = message.bytes(tag)?.isEmpty == false
        let reason = isThere ? SessionRejectReason.incorrectDataFormat : SessionRejectReason.requiredTagMissing
        reject(message, number, tag: tag, reason: reason, &step)
    }

    // MARK: What the counterparty misses

    mutating func receivedResendRequest(_ message: FIXMessage, _ number: Int, _ step: inout SessionStep) {
        guard let from = message.int(.beginSeqNo).map(Int.init) else { return rejectUnreadable(.beginSeqNo, of: message, number, &step) }
        guard let end = message.int(.endSeqNo).map(Int.init) else { return rejectUnreadable(.endSeqNo, of: message, number, &step) }
        guard from >= 1 else { return reject(message, number, tag: .beginSeqNo, reason: SessionRejectReason.valueIncorrect, &step) }
        // EndSeqNo 0 = whatever was sent.
        guard end == 0 || end >= from else { return reject(message, number, tag: .endSeqNo, reason: SessionRejectReason.valueIncorrect, &step) }
        let lastSent = numbers.nextOut - 1
        guard from <= lastSent else {
            step.events.append(.askedBeyondSent(from: from, nextOut: numbers.nextOut))
            return reject(message, number, tag: .beginSeqNo, reason: SessionRejectReason.valueIncorrect, &step)
        }
        step.replays.append(ReplayRange(from: from, through: end == 0 ? lastSent : min(end, lastSent)))
    }

    /// Answers a resend request, or one part of it, with what the store holds: PossDupFlag=Y and OrigSendingTime on each message; gap fills
    /// over what is absent (session messages), expired or not the application's.
    package mutating func retransmit(_ stored: [StoredMessage], of range: ReplayRange, at time: SessionTime) -> SessionStep {
        var step = SessionStep()
        now = time
        guard phase != .disconnected else { return step }
        var next = range.from
        for message in stored where message.number >= next && message.number <= range.through && !message.isExpired && !message.type.isAdmin {
            if message.number > next { step.frames.append(gapFill(from: next, to: message.number)) }
            step.frames.append(frame(message.number, message.type, message.body, original: message.sendingTime))
            next = message.number + 1
        }
        if next <= range.through { step.frames.append(gapFill(from: next, to: range.through + 1)) }
        lastSent = time.monotonic
        return step
    }

    private func gapFill(from number: Int, to next: Int) -> [UInt8] {
        var fill = FIXMessage(.sequenceReset)
        fill.append(.gapFillFlag, flag: true)
        fill.append(.newSeqNo, next)
        return frame(number, .sequenceReset, fill.bytes, original: now.wall)
    }

    private func frame(_ number: Int, _ type: MessageType, _ body: [UInt8], original: Int64) -> [UInt8] {
        Frame.encode(
            Frame.Header(
                type: type,
                senderCompID: settings.senderCompID,
                targetCompID: settings.targetCompID,
                number: number,
                sendingTime: max(now.wall, original),
                origSendingTime: original
            ),
            body: body
        )
    }
}
