/// A FIX 4.4 session, either role, as a pure state machine: no clock, no input or output (FIX 4.4 volume 2, "Session protocol").
///
/// Each input returns what has to be done. The driver commits numbers, deliveries and outgoing messages, then writes the frames. If the
/// commit fails, the state must be thrown away and loaded again: what was not committed was not received.
package struct SessionState: Sendable {
    enum Phase: Sendable {
        case disconnected
        /// Connected; the counterparty's Logon is the only thing that may come (an initiator has sent its own).
        case awaitingLogon
        case loggedOn
        /// Our Logout is out, its answer is not here yet.
        case loggingOut
    }

    package let settings: SessionSettings
    package internal(set) var numbers: SessionNumbers
    var phase = Phase.disconnected
    var now = SessionTime(wall: 0, monotonic: 0)
    var lastReceived: Int64 = 0
    var lastSent: Int64 = 0
    /// When the phase began, for its time-out.
    var phaseBegan: Int64 = 0
    var heartbeat: Int64 = 0
    var testRequestSent: Int64?
    /// We began this connection with ResetSeqNumFlag=Y and wait for the echo.
    var sentReset = false
    var gap: Gap?
    var early = EarlyMessages()
    /// The Text with which we began to log out.
    var logoutText = ""
    /// The counterparty's Logout, with messages before it that are still missing here: answered when they have come, or after a while.
    var pendingLogout: (message: FIXMessage, since: Int64)?
    /// When these numbers were first used, as far as it is known; for a session with a schedule.
    let began: Int64?
    /// The schedule's period that the session is logged on in.
    var period: Int64?
    /// The connection has ended in a way after which the settings ask for new numbers.
    var owesReset = false

    /// - Parameter began: when these numbers were first used; nil = not known. Matters only with a schedule.
    package init(_ settings: SessionSettings, numbers: SessionNumbers, began: Int64? = nil) {
        self.settings = settings
        self.numbers = numbers
        self.began = began
    }

    /// The counterparty's last Logon said that it is no live system (TestMessageIndicator 464=Y).
    package internal(set) var counterpartyIsTest = false

    /// True while application messages may be numbered and sent.
    package var isLoggedOn: Bool { phase == .loggedOn && pendingLogout == nil }
    package var isConnected: Bool { phase != .disconnected }
    /// True while messages that the counterparty has sent are still missing here.
    package var isFillingGap: Bool { gap != nil }

    // MARK: Inputs

    /// The transport is connected: an initiator logs on.
    package mutating func connected(at time: SessionTime) -> SessionStep {
        precondition(phase == .disconnected, "A session has one connection at a time.")
        var step = SessionStep()
        now = time
        lastReceived = time.monotonic
        lastSent = time.monotonic
        enter(.awaitingLogon)
        heartbeat = Int64(settings.heartbeatSeconds) * 1_000
        sentReset = false
        testRequestSent = nil
        owesReset = false
        forgetGap()
        if settings.role == .initiator {
            let resets = settings.resetOnLogon || isOfEarlierPeriod
            if resets { beginGeneration(&step) }
            sendLogon(reset: resets, &step)
            sentReset = resets
        }
        return step
    }

    /// Assigns the next number to an application message. Only while logged on.
    ///
    /// - Parameter wall: milliseconds since the epoch, the SendingTime.
    package mutating func send(_ message: FIXMessage, at wall: Int64) -> OutgoingMessage {
        precondition(phase == .loggedOn, "Application messages are numbered only while the session is logged on.")
        return number(message, wall: wall, isAdmin: false)
    }

    /// Time has passed: heartbeats, test requests, time-outs.
    package mutating func tick(at time: SessionTime) -> SessionStep {
        var step = SessionStep()
        now = time
        let inPhase = time.monotonic - phaseBegan
        switch phase {
        case .disconnected: break
        case .awaitingLogon:
            if inPhase >= settings.logonTimeout { end("no Logon in time", &step) }
        case .loggingOut:
            if inPhase >= settings.logoutTimeout { end("no answer to Logout in time", &step) }
        case .loggedOn:
            checkSilence(&step)
            if phase == .loggedOn { checkGap(&step) }
            if phase == .loggedOn { checkPendingLogout(&step) }
            if phase == .loggedOn, let schedule = settings.schedule, schedule.opening(at: time.wall) != period {
                leave("the session's hours are over", &step)
            }
        }
        return step
    }

    /// Begins the Logout handshake; before logon there is nothing to hand-shake about.
    package mutating func logout(_ text: String, at time: SessionTime) -> SessionStep {
        var step = SessionStep()
        now = time
        switch phase {
        case .disconnected, .loggingOut: break
        case .awaitingLogon: end(text, &step)
        case .loggedOn: leave(text, &step)
        }
        return step
    }

    /// The transport is gone.
    package mutating func disconnected(_ reason: String, at time: SessionTime) -> SessionStep {
        var step = SessionStep()
        now = time
        end(reason, &step)
        return step
    }

    /// After a connection has ended: a step that begins the numbers again where the settings ask for that, else nil. To be committed.
    package mutating func beginAgain() -> SessionStep? {
        precondition(phase == .disconnected, "Numbers begin again between connections.")
        guard owesReset, numbers.nextOut > 1 || numbers.nextIn > 1 else { return nil }
        owesReset = false
        var step = SessionStep()
        beginGeneration(&step)
        return step
    }

    // MARK: Sending

    mutating func number(_ message: FIXMessage, wall: Int64, isAdmin: Bool) -> OutgoingMessage {
        let number = numbers.nextOut
        numbers.nextOut += 1
        lastSent = now.monotonic
        let header = Frame.Header(
            type: message.type,
            senderCompID: settings.senderCompID,
            targetCompID: settings.targetCompID,
            number: number,
            sendingTime: wall
        )
        return OutgoingMessage(
            number: number,
            type: message.type,
            isAdmin: isAdmin,
            sendingTime: wall,
            body: message.bytes,
            frame: Frame.encode(header, body: message.bytes)
        )
    }

    mutating func sendAdmin(_ message: FIXMessage, _ step: inout SessionStep) {
        let outgoing = number(message, wall: now.wall, isAdmin: true)
        step.outgoing.append(outgoing)
        step.frames.append(outgoing.frame)
    }

    mutating func sendLogout(_ text: String, _ step: inout SessionStep) {
        var logout = FIXMessage(.logout)
        if !text.isEmpty { logout.append(.text, text) }
        sendAdmin(logout, &step)
    }

    /// The counterparty broke the protocol beyond repair: say so and leave at once.
    mutating func fail(_ text: String, _ step: inout SessionStep) {
        sendLogout(text, &step)
        end(text, &step)
    }

    /// Say so and leave when the counterparty has answered; who is leaving already leaves at once.
    mutating func leave(_ text: String, _ step: inout SessionStep) {
        guard phase == .loggedOn else { return end(text, &step) }
        logoutText = text
        sendLogout(text, &step)
        enter(.loggingOut)
    }

    mutating func end(_ reason: String, _ step: inout SessionStep) {
        guard phase != .disconnected else { return }
        if phase == .loggedOn || phase == .loggingOut { step.events.append(.loggedOut(reason)) }
        step.events.append(.disconnected(reason))
        step.disconnect = reason
        enter(.disconnected)
        forgetGap()
        owesReset = owesReset || settings.resetOnDisconnect
    }

    mutating func enter(_ next: Phase) {
        phase = next
        phaseBegan = now.monotonic
    }

    /// Begins both numbers again at 1.
    mutating func beginGeneration(_ step: inout SessionStep) {
        precondition(step.outgoing.isEmpty && step.deliveries.isEmpty, "A new generation begins its step.")
        numbers = SessionNumbers(generation: numbers.generation + 1)
        forgetGap()
        step.newGeneration = numbers.generation
        step.events.append(.generationBegan(numbers.generation))
    }

    private mutating func forgetGap() {
        gap = nil
        early = EarlyMessages()
        pendingLogout = nil
    }

    // MARK: Time

    /// The numbers are of an earlier period of the schedule than now, or nobody knows of which one. What counts is when they began: the last of them may have
    /// been used past the end of their period, by what came while the session was being left.
    var isOfEarlierPeriod: Bool {
        guard let schedule = settings.schedule, let opening = schedule.opening(at: now.wall), numbers.nextOut > 1 || numbers.nextIn > 1 else {
            return false
        }
        return began.map { $0 < opening } ?? true
    }

    private mutating func checkSilence(_ step: inout SessionStep) {
        guard heartbeat > 0 else { return }
        if let sent = testRequestSent {
            if now.monotonic - sent >= heartbeat { return end("no answer to TestRequest in time", &step) }
        } else if now.monotonic - lastReceived >= heartbeat + heartbeat / 5 {
            // "Some reasonable transmission time" beyond HeartBtInt is a fifth of it, as other engines have it.
            var request = FIXMessage(.testRequest)
            request.append(.testReqID, now.wall)
            sendAdmin(request, &step)
            testRequestSent = now.monotonic
        }
        if now.monotonic - lastSent >= heartbeat { sendAdmin(FIXMessage(.heartbeat), &step) }
    }

    private mutating func checkPendingLogout(_ step: inout SessionStep) {
        guard let pending = pendingLogout, now.monotonic - pending.since >= settings.logoutTimeout else { return }
        receivedLogout(pending.message, &step)
    }
}
