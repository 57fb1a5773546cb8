/// The limits of a driver, with their reasons.
package struct RunnerSettings: Sendable {
    /// How often the store is asked for messages when nothing wakes the driver: the shortest right after something happened, doubling to the
    /// longest. Polling is what guarantees; a wake-up only hastens.
    package var pollInterval: ClosedRange<Int32> = 5...100
    /// Deliveries in one commit: a batch must not hold its locks for long.
    package var batchCapacity = 512
    /// Messages loaded at once for a resend: an open-ended request may cover a day.
    package var replayCapacity = 500
    /// Bytes that wait for the socket before nothing more is pulled or resent.
    package var writeMark = 262_144
    /// Bytes that wait for the socket before the counterparty is given up as one that does not read.
    package var writeLimit = 16 << 20
    /// How long a last word (a Logout) may take to get out, in milliseconds.
    package var lingerTimeout: Int64 = 1_000
    /// Reads of 64 KiB in a row before what they brought is committed: all that waits in a busy socket, so that receiving keeps up with sending.
    package var readRounds = 16
    /// Pulls in a row before the socket is looked at again.
    package var pullRounds = 16

    package init() {}
}

/// Drives one session over one connection, on the calling thread, until it ends.
///
/// Everything that one read brings is one batch: committed once, then answered. Owned by its thread.
final class SessionRunner {
    private let socket: FIXSocket
    private let store: any SessionStore
    private let clock: SessionClock
    private let control: SessionControl
    private let settings: RunnerSettings
    private var session: SessionState
    private var committed: SessionNumbers
    private var decoder: FrameDecoder
    private var pending: [UInt8] = []
    private var replays = ReplayQueue()
    private var buffer = [UInt8](repeating: 0, count: 65_536)
    private var interval: Int32
    private var pullDue: Int64 = 0
    private(set) var wasLoggedOn = false

    /// Why a connection ends; not an error of this edge alone, so it carries just the words.
    private struct Ended: Error {
        let reason: String
    }

    init(
        socket: FIXSocket,
        session: SessionState,
        store: any SessionStore,
        clock: SessionClock,
        control: SessionControl,
        settings: RunnerSettings,
        decoder: FrameDecoder = FrameDecoder()
    ) {
        self.socket = socket
        self.session = session
        self.store = store
        self.clock = clock
        self.control = control
        self.settings = settings
        self.decoder = decoder
        committed = session.numbers
        interval = settings.pollInterval.lowerBound
    }

    /// Returns why the connection ended.
    ///
    /// - Parameter first: a message that was read before it was known whose session this is.
    func run(first: FIXMessage? = nil) -> String {
        let reason: String
        do {
            try perform(session.connected(at: clock.now), numbers: session.numbers)
            if let first { try process(first) }
            while true { try turn() }
        } catch let ended as Ended {
            reason = beginAgain(after: ended.reason)
        } catch {
            // What is in memory may be ahead of what is committed: nothing more is written, the next connection loads.
            reason = String(describing: error)
        }
        socket.close()
        for event in session.disconnected(reason, at: clock.now).events { store.changed(event) }
        return reason
    }

    /// The line is lost or was left: numbers begin again where the settings ask for that. Returns why the connection ended.
    private func beginAgain(after reason: String) -> String {
        for event in session.disconnected(reason, at: clock.now).events { store.changed(event) }
        guard let step = session.beginAgain() else { return reason }
        do {
            try store.commit(step, numbers: session.numbers)
            for event in step.events { store.changed(event) }
            return reason
        } catch {
            return "\(reason); the numbers did not begin again: \(error)"
        }
    }

    private func turn() throws {
        if let reason = control.takeDrop() { throw Ended(reason: reason) }
        if let text = control.stopText { try perform(session.logout(text, at: clock.now)) }
        try decodeAndProcess()
        try pullIfDue()
        try replayNext()
        let ready = socket.wait(writing: !pending.isEmpty, wakeUp: control.wakeUp, timeout: timeout())
        if ready.woken { pullDue = 0 }
        if ready.writable { try flush() }
        if ready.readable { try read() }
        try perform(session.tick(at: clock.now))
    }

    private func timeout() -> Int32 {
        if !replays.isEmpty, pending.count < settings.writeMark { return 0 }
        // Before logon, or while the socket takes nothing, nothing is pulled: only the socket, a wake-up or a time-out brings something.
        guard session.isLoggedOn, pending.count < settings.writeMark else { return settings.pollInterval.upperBound }
        return Int32(clamping: max(0, min(pullDue - clock.monotonic(), Int64(settings.pollInterval.upperBound))))
    }

    // MARK: Receiving

    private func read() throws {
        var isClosed = false
        reading: for _ in 0..<settings.readRounds {
            switch try socket.read(into: &buffer) {
            case .nothing: break reading
            case .closed:
                isClosed = true
                break reading
            case .bytes(let count): decoder.append(buffer[..<count])
            }
        }
        try decodeAndProcess()
        if isClosed { throw Ended(reason: "the counterparty closed the connection") }
        pullDue = 0
    }

    private func decodeAndProcess() throws {
        var batch = SessionStep()
        while let message = decoder.next() {
            let before = session.numbers
            let step = session.received(message, at: clock.now)
            if step.newGeneration != nil {
                try perform(batch, numbers: before)
                batch = step
            } else {
                batch.append(step)
            }
            if batch.disconnect != nil { break }
            if batch.deliveries.count + batch.refused.count >= settings.batchCapacity {
                try perform(batch)
                batch = SessionStep()
            }
        }
        try perform(batch)
    }

    private func process(_ message: FIXMessage) throws {
        try perform(session.received(message, at: clock.now))
    }

    // MARK: Sending

    private func pullIfDue() throws {
        // What was asked for again goes out first: a new message between would be one more that the counterparty has to put aside.
        guard session.isLoggedOn, replays.isEmpty, pending.count < settings.writeMark, clock.monotonic() >= pullDue else { return }
        var rounds = 0
        while rounds < settings.pullRounds, session.isLoggedOn, pending.count < settings.writeMark {
            let outgoing = try store.pull(&session, at: clock.wall())
            guard !outgoing.isEmpty else {
                interval = rounds > 0 ? settings.pollInterval.lowerBound : min(interval * 2, settings.pollInterval.upperBound)
                pullDue = clock.monotonic() + Int64(interval)
                return
            }
            rounds += 1
            committed = session.numbers
            for message in outgoing { pending += message.frame }
            try flush()
        }
        // There is more: it is due at once, after a look at the socket.
        interval = settings.pollInterval.lowerBound
    }

    /// One part of what the counterparty asked for again, when the socket takes it.
    private func replayNext() throws {
        guard pending.count < settings.writeMark, let range = replays.first else { return }
        let stored = try store.stored(from: range.from, through: range.through, atMost: settings.replayCapacity)
        // Numbers that hold no message cost one gap fill, however many they are: after a restore a million.
        let isAll = stored.count < settings.replayCapacity
        let part = ReplayRange(from: range.from, through: isAll ? range.through : stored[stored.count - 1].number)
        replays.removeFirst(through: part.through)
        try perform(session.retransmit(stored, of: part, at: clock.now))
    }

    /// Commit, then write, then close if that is asked for.
    private func perform(_ step: SessionStep) throws { try perform(step, numbers: session.numbers) }

    private func perform(_ step: SessionStep, numbers: SessionNumbers) throws {
        if numbers != committed || !step.deliveries.isEmpty || !step.outgoing.isEmpty {
            try store.commit(step, numbers: numbers)
            committed = numbers
            interval = settings.pollInterval.lowerBound
        }
        if step.newGeneration != nil { replays.removeAll() }
        for range in step.replays { replays.add(range) }
        for event in step.events {
            if event == .loggedOn { wasLoggedOn = true }
            store.changed(event)
        }
        for frame in step.frames { pending += frame }
        try flush()
        if let reason = step.disconnect {
            try linger()
            throw Ended(reason: reason)
        }
    }

    private func flush() throws {
        var written = 0
        defer { pending.removeFirst(written) }
        while written < pending.count {
            guard store.mayWrite(at: clock.monotonic()) else { throw Ended(reason: "the right to write is lost") }
            let count = try socket.write(pending[written...])
            if count == 0 { break }
            written += count
        }
        if pending.count - written > settings.writeLimit { throw Ended(reason: "the counterparty does not read") }
    }

    private func linger() throws {
        let deadline = clock.monotonic() + settings.lingerTimeout
        while !pending.isEmpty, clock.monotonic() < deadline {
            let left = Int32(clamping: deadline - clock.monotonic())
            guard Readiness.wait(reading: nil, writing: socket.descriptor, wakeUp: nil, timeout: left).writable else { return }
            try flush()
        }
    }
}
